"""SimGrid's plug-ins in the process of a simulation, on either back end."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from simplugin.errors import PlatformError, SimulationError
from simplugin.formats.config_options import GOVERNORS, option_refusal, refused_options
from simplugin.simulation import _driver

# They take the fraction of a task that is left for its work.
_NOT_WITH_PARALLEL_TASKS = ("host_dvfs", "host_load", "link_load")


def prepare_plugins(arguments: Sequence[str], platform: str, *, energy: bool) -> frozenset[str]:
    """Let the loaded plug-ins hear of the platform; to be called when it is loaded.

    Parameters
    ----------
    arguments : sequence of str
        SimGrid's command-line options.
    platform : str
        Path of the platform's file.
    energy : bool
        Whether the energy plug-ins were started.

    Returns
    -------
    frozenset of str
        Names of the plug-ins that are loaded.

    Raises
    ------
    PlatformError
        The file sets an option, or loads a plug-in, that is refused; the message has its line.
    SimulationError
        A plug-in does not understand the host model.
    """
    for option in refused_options():
        # SimGrid's Python bindings set contexts/factory, and a platform's file cannot.
        if option != "contexts/factory" and not _driver.is_default(option):
            raise _refused_by_file(platform, option, option_refusal(option))
    loaded = frozenset(_driver.prepare_plugins(list(arguments), energy))
    for plugin in sorted(loaded):
        why = option_refusal("plugin", plugin)
        if why:
            raise _refused_by_file(platform, plugin, why)
    if "host_dvfs" in loaded:
        for host, governor in _driver.host_properties("plugin/dvfs/governor").items():
            if governor.lower() not in GOVERNORS:
                raise PlatformError(
                    f"host {host!r} has the governor {governor!r}",
                    file=platform,
                    line=_line_of(platform, governor),
                    remedy=f"choose among {', '.join(GOVERNORS)}",
                )
    if _driver.option("host/model", "s") == "ptask_L07":
        for plugin in _NOT_WITH_PARALLEL_TASKS:
            if plugin in loaded:
                raise SimulationError(
                    f"SimGrid's plug-in {plugin} gives wrong figures with the host model "
                    "ptask_L07; choose another host_model or leave the plug-in out"
                )
    return loaded


def plugin_figures() -> dict[str, dict[str, NDArray[np.float64]]]:
    """Return what the plug-ins measured: by plug-in and quantity, an entry a host or link."""
    return {
        plugin: {name: np.frombuffer(column) for name, column in columns.items()}
        for plugin, columns in _driver.plugin_figures().items()
    }


def _refused_by_file(platform: str, name: str, why: str) -> PlatformError:
    """Say which line of the platform's file sets what is refused."""
    return PlatformError(
        f"{name} is refused: {why}",
        file=platform,
        line=_line_of(platform, name),
        remedy="remove it",
    )


def _line_of(platform: str, text: str) -> int | None:
    """Return the first line that has `text` between quotation marks, None if no line has."""
    lines = Path(platform).read_text(errors="replace").splitlines()
    quoted = (f'"{text}"', f"'{text}'")
    return next((i for i, line in enumerate(lines, 1) if any(q in line for q in quoted)), None)
