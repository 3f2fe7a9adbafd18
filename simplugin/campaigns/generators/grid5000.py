"""Grid'5000, as scenarios ask for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from simplugin.errors import PlatformError
from simplugin.formats.grid5000_catalogue import read_facts, shipped_catalogue
from simplugin.formats.grid5000_latencies import read_latencies
from simplugin.platforms import Platform
from simplugin.platforms.grid5000_platform import grid5000_platform
from simplugin.platforms.grid5000_selection import selected


def grid5000(
    site: str | Sequence[str] | None = None,
    cluster: str | Sequence[str] | None = None,
    reference: str | None = None,
    interconnect: str = "ethernet",
    latencies: str | None = None,
) -> Platform:
    """Return the platform of Grid'5000, or of a part of it.

    Parameters
    ----------
    site, cluster : str or sequence of str, optional
        Only these.
    reference : str, optional
        Path of the reference or of a catalogue, from the current directory; the catalogue that
        comes with simplugin without.
    interconnect : str
        ``ethernet`` or ``fast``, as in `simplugin.platforms.grid5000_platform.grid5000_platform`.
    latencies : str, optional
        Path of a table of latencies, as `simplugin.formats.grid5000_latencies` reads it.
    """
    try:
        facts, _ = shipped_catalogue() if reference is None else read_facts(reference)
        facts = selected(facts, sites=_names("site", site), clusters=_names("cluster", cluster))
        table = None if latencies is None else read_latencies(latencies)
        return grid5000_platform(facts, table, interconnect)
    except PlatformError as error:
        raise ValueError(str(error)) from error


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
