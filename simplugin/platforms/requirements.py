"""Rules of the energy plug-ins and of some options, which not every platform meets."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from simplugin.platforms.hosts import HOSTS, Cluster, Host, Router
from simplugin.platforms.links import WIFI, Link
from simplugin.platforms.platform import Config, Platform, Zone
from simplugin.platforms.validation import ERROR, WARNING, PlatformProblem

_YES = ("yes", "on", "true", "1")
_TRACING = ("tracing/platform", "tracing/categorized", "tracing/uncategorized")
_TI_REMEDY = "choose Lazy or Full"
# Of hosts, and of links: today's names of properties by the old ones.
_RENAMED_OF_HOSTS = {"watt_per_state": "wattage_per_state", "watt_off": "wattage_off"}
_RENAMED_OF_LINKS = {"watt_range": "wattage_range", "watt_off": "wattage_off"}


def options_in_force(platform: Platform) -> dict[str, str]:
    """Return the options that a platform sets; of several values the first counts."""
    chosen: dict[str, str] = {}
    for config in platform.config:
        if isinstance(config, Config):
            chosen = {**config.options, **chosen}
    return chosen


def option_requirements(
    platform: Platform, options: Mapping[str, str]
) -> Iterator[PlatformProblem]:
    """Yield the parts of a platform that SimGrid refuses or crashes on under some options.

    Parameters
    ----------
    platform : Platform
        The platform.
    options : mapping of str to str
        The options in force.
    """
    if options.get("cpu/optim") == "TI":
        for part, _ in platform.walk():
            if not isinstance(part, HOSTS):
                continue
            if getattr(part, "cores", 1) > 1:
                message = f"cpu/optim:TI takes no host of several cores, as {part.id!r}"
                yield PlatformProblem(message, _TI_REMEDY, part)
            elif not part.speed:
                message = f"cpu/optim:TI takes no speed of 0, as that of {part.id!r}"
                yield PlatformProblem(message, _TI_REMEDY, part)
    if options.get("tracing", "").lower() not in _YES:
        return
    if any(options.get(each, "").lower() in _YES for each in _TRACING):
        parts = [part for part, _ in platform.walk()]
        links = {name for part in parts if isinstance(part, Link) for name in part.simgrid_names}
        remedy = "remove the options that begin with tracing"
        for part in parts:
            if isinstance(part, Router) or (isinstance(part, Cluster) and part.router_name):
                message = f"SimGrid 4.1 crashes when it traces routers, as that of {part.id!r}"
                yield PlatformProblem(message, remedy, part)
            elif isinstance(part, Zone | Host) and part.id in links:
                message = f"SimGrid cannot trace {part.id!r}, the name of a link too"
                yield PlatformProblem(message, f"name them apart, or {remedy}", part)


def energy_problems(platform: Platform) -> Iterator[PlatformProblem]:
    """Yield the properties that SimGrid's energy plug-ins refuse or pass over."""
    for part, _ in platform.walk():
        # Most parts have no properties, and nothing is wrong with these.
        if not getattr(part, "properties", None):
            continue
        if isinstance(part, Host | Cluster):
            yield from _energy_of(part, "wattage_per_state", _RENAMED_OF_HOSTS, len(part.speeds))
        elif isinstance(part, Link) and part.sharing_policy != WIFI:
            yield from _energy_of(part, "wattage_range", _RENAMED_OF_LINKS, 1)


def _energy_of(
    part: Host | Cluster | Link, key: str, renamed: Mapping[str, str], count: int
) -> Iterator[PlatformProblem]:
    """Yield the faults in the wattages of hosts or of a link."""
    what = f"{type(part).__name__.lower()} {part.id!r}"
    of_host = "per_state" in key
    for old, today in renamed.items():
        if old in part.properties:
            message = f"{what} has the property {old!r}, which is called {today!r} today"
            # SimGrid still takes the first of links, and passes over the others.
            severity = WARNING if old == "watt_range" else ERROR
            yield PlatformProblem(message, "rename it", part, severity)
    given = part.properties.get(key)
    each = "two or three numbers of W (idle, perhaps one core, all cores), e.g. '95:120:200'"
    remedy = f"give {each}" if of_host else "give two numbers of W (idle, busy), e.g. '10:30'"
    if given is not None:
        states = given.split(",") if of_host else [given]
        sizes = (2, 3) if of_host else (2,)
        if of_host and len(states) != count:
            message = f"{what} has {len(states)} wattages for {count} power state(s)"
            yield PlatformProblem(message, f"give one for each, separated by commas: {each}", part)
        elif not all(_are_numbers(state.split(":"), sizes) for state in states):
            yield PlatformProblem(f"the {key} of {what} is {given!r}", remedy, part)
    off = part.properties.get("wattage_off")
    if off is not None and not _are_numbers([off], (1,)):
        yield PlatformProblem(f"the wattage_off of {what} is {off!r}", "give a number of W", part)


def _are_numbers(texts: list[str], sizes: tuple[int, ...]) -> bool:
    """Return True if there is one of some numbers of texts, each of them a number of W."""
    if len(texts) not in sizes:
        return False
    try:
        return all(0 <= float(text) < math.inf and text[-1:].isalnum() for text in texts)
    except ValueError:
        return False
