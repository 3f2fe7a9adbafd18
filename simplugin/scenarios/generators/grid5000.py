"""Grid'5000, as scenarios ask for it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from simplugin.errors import PlatformError
from simplugin.formats.grid5000_catalogue import read_facts, shipped_catalogue
from simplugin.formats.grid5000_latencies import read_latencies
from simplugin.platforms import Platform
from simplugin.platforms.grid5000.platform import grid5000_platform
from simplugin.platforms.grid5000.selection import selected


def grid5000(
    site: str | Sequence[str] | None = None,
    cluster: str | Sequence[str] | None = None,
    reference: str | None = None,
    interconnect: str = "ethernet",
    latencies: str | None = None,
    *,
    directory: str | os.PathLike[str] = ".",
) -> Platform:
    """Return the platform of Grid'5000, or of a part of it.

    Parameters
    ----------
    site, cluster : str or sequence of str, optional
        Only these.
    reference : str, optional
        Path of the reference or of a catalogue; the catalogue that comes with simplugin without.
    interconnect : str
        ``ethernet`` or ``fast``, as in `simplugin.platforms.grid5000.platform.grid5000_platform`.
    latencies : str, optional
        Path of a table of latencies, as `simplugin.formats.grid5000_latencies` reads it.
    directory : path
        Where paths start; for a scenario, that of its file.
    """
    source = _path("reference", reference, directory)
    table = _path("latencies", latencies, directory)
    sites, clusters = _names("site", site), _names("cluster", cluster)
    try:
        facts, remarks = shipped_catalogue() if source is None else read_facts(source)
        times = None if table is None else read_latencies(table, facts)
        return grid5000_platform(selected(facts, sites, clusters, remarks), times, interconnect)
    except PlatformError as error:
        raise ValueError(str(error)) from error


def _path(key: str, value: Any, directory: str | os.PathLike[str]) -> Path | None:
    """Take a path."""
    if value is None:
        return None
    if not isinstance(value, str | os.PathLike) or not str(value):
        raise ValueError(f"{key} is {value!r}; give a path")
    return Path(directory) / value


def _names(key: str, value: str | Sequence[str] | None) -> tuple[str, ...]:
    """Take one name or several."""
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,)
    names: Any = value  # of a scenario, which may hold anything
    if not isinstance(names, Sequence) or not all(isinstance(each, str) for each in names):
        raise ValueError(f"{key} is {value!r}; give a name, or a list of names")
    return tuple(names)
