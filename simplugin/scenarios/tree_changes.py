"""What changes on the platform while tasks are handed out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from simplugin.errors import PlatformError, UnitError, WorkloadError
from simplugin.formats.platform_xml import read_platform
from simplugin.platforms import Profile, ProfileUse
from simplugin.simulation.platform_changes import Change, changeable, profiles
from simplugin.simulation.resolve import resolve

if TYPE_CHECKING:
    from simplugin.platforms import Platform
    from simplugin.platforms.graphs import Tree
    from simplugin.scenarios.scenario import Scenario
    from simplugin.simulation.platform_changes import Changeable
    from simplugin.workloads.bag_sections import BagsWorkload


_STATES = ("HOST_AVAIL", "LINK_AVAIL")


@dataclass(frozen=True)
class Changing:
    """A platform on which changes happen.

    Attributes
    ----------
    platform : Platform or Path
        With profiles for them.
    changes, fails : bool
        Whether anything changes, and whether anything goes off.
    """

    platform: Platform | Path
    changes: bool
    fails: bool


def changing(scenario: Scenario, platform: Platform | Path, tree: Tree) -> Changing:
    """Return the platform on which the changes of a scenario happen.

    Raises
    ------
    ScenarioError
        What is to change is no host of the tree that computes, and no link; or the root fails.
    """
    workload: BagsWorkload = scenario.workload
    described = read_platform(platform) if isinstance(platform, Path) else platform
    try:
        followed = profiles(described)
    except PlatformError as error:
        raise scenario.error(str(error), "platform") from error
    fails = any(kind in _STATES for _, kind in followed)
    if (tree.hosts[0], _STATES[0]) in followed:
        message = f"the root {tree.hosts[0]!r} has a profile of its state, but it has all tasks"
        raise scenario.error(message, "platform", remedy="let it be on all the time")
    if not workload.changes:
        return Changing(platform, bool(followed), fails)
    known = changeable(described)
    speeds = {host.name: host.speed * host.cores for host in resolve(platform).hosts}
    values: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for number in range(len(workload.changes)):
        change = _change(scenario, number, known, tree)
        name, of_host = change.resource, change.resource in known.hosts
        fails = fails or change.fails
        state = (name, _STATES[0] if of_host else _STATES[1])
        values.setdefault(state, []).append((change.date, float(not change.fails)))
        if not change.fails:
            value = change.capacity / (speeds[name] if of_host else 1.0)
            capacity = (name, "SPEED" if of_host else "BANDWIDTH")
            values.setdefault(capacity, []).append((change.date, value))
    extra: list[Profile | ProfileUse] = []
    for (name, kind), points in values.items():
        if kind in _STATES and all(on for _, on in points):
            continue
        title = f"{kind} of {name}"
        extra += [Profile.of_points(title, sorted(points)), ProfileUse(title, name, kind)]
    extended = replace(described, elements=(*described.elements, *extra))
    return Changing(extended, changes=True, fails=fails)


def _change(scenario: Scenario, number: int, known: Changeable, tree: Tree) -> Change:
    """Return a change, checked."""
    table = scenario.workload.changes[number]
    key = ("workload", "changes", number)
    of_host = table.resource in known.hosts
    try:
        known.check(table.resource)
        capacity = table.value(of_host=of_host)
    except WorkloadError as error:
        raise scenario.error(str(error), *key, "resource") from error
    except UnitError as error:
        message = f"workload.changes.{number}.capacity: {error}"
        raise scenario.error(message, *key, "capacity") from None
    change = Change(table.date, table.resource, capacity)
    at = tree.hosts.index(table.resource) if table.resource in tree.hosts else -1
    if of_host and not change.fails and (at < 0 or tree.speed[at] <= 0):
        message = f"there is a change of {table.resource!r}, which computes no tasks"
        raise scenario.error(message, *key, "resource", remedy="remove it, or let it fail")
    if of_host and change.fails and at == 0:
        message = f"a change makes the root {table.resource!r} fail, but it has all tasks"
        raise scenario.error(message, *key, "capacity", remedy="give a capacity above 0")
    return change
