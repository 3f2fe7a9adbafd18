"""Changes of capacities and applications, and the problems between them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from simplugin.core.errors import WorkloadError
from simplugin.platforms import Platform
from simplugin.platforms.graphs import Graph
from simplugin.simulation.platform_changes import (
    CapacityChange,
    changeable,
    failing_links_on_routes,
    profile_changes,
    with_changes,
)
from simplugin.workloads.applications import Application
from simplugin.workloads.shared_deployment import Integers, SharedDeployment

Booleans = NDArray[np.bool_]

__all__ = ["CapacityChange", "ProblemInterval", "changing", "intervals", "reachable"]


@dataclass(frozen=True, eq=False)
class ProblemInterval:
    """The problem between two dates.

    Attributes
    ----------
    start, end : float
        Dates [s].
    sharing : SharedDeployment
        The present applications, and the agents that their masters can reach.
    applications, agents : int64
        Their numbers in the deployment.
    """

    start: float
    end: float
    sharing: SharedDeployment
    applications: Integers
    agents: Integers


def changing(
    platform: Graph | Platform, changes: Sequence[CapacityChange], sharing: SharedDeployment
) -> Platform:
    """Return a platform with profiles that make changes happen.

    Parameters
    ----------
    platform : Graph or Platform
        Where, perhaps with profiles of its own for other resources.
    changes : sequence of CapacityChange
        In any order.
    sharing : SharedDeployment
        The deployment; profiles of speeds are fractions of its speeds.

    Returns
    -------
    Platform
        Of a graph, one flat zone.

    Raises
    ------
    WorkloadError
        A change is about no host or link, about one that has a profile of its own or is a link of
        a cluster, or wants speed of a host that has none.
    """
    made = platform.platform() if isinstance(platform, Graph) else platform
    if not changes:
        return made
    known = changeable(platform)
    speeds = dict(zip(sharing.hosts, sharing.speed.tolist(), strict=True))
    for change in changes:
        known.check(change.resource)
        if speeds.get(change.resource, 1.0) <= 0 and not change.fails and change.capacity > 0:
            raise WorkloadError(f"host {change.resource!r} only forwards; it can but fail")
    return with_changes(made, changes, speeds)


def intervals(
    sharing: SharedDeployment,
    applications: Sequence[Application],
    changes: Sequence[CapacityChange],
    until: float,
    platform: Graph | Platform | str | os.PathLike[str] | None = None,
) -> list[ProblemInterval]:
    """Return the problems between changes; each has an optimum.

    Parameters
    ----------
    sharing : SharedDeployment
        The deployment of all applications.
    applications : sequence of Application
        The same, for their dates.
    changes : sequence of CapacityChange
        In any order.
    until : float
        End of the last interval [s].
    platform : Graph, Platform or path, optional
        The platform, for the changes of its own profiles and for failing links on routes back to
        parents. By default only failures on the routes of an agent's data cut it off.

    Returns
    -------
    list of ProblemInterval
        In order; those without any application are left out.

    Raises
    ------
    PlatformError
        As `profile_changes`.
    """
    dated = [change for change in changes if change.date < until]
    cuts: Mapping[tuple[int, int], frozenset[str]] = {}
    if platform is not None:
        dated += profile_changes(platform, sharing, until)
        failing = {change.resource for change in dated if change.fails}
        cuts = failing_links_on_routes(platform, sharing, failing.difference(sharing.hosts))
    dated.sort(key=lambda change: change.date)
    dates = {0.0, until} | {change.date for change in dated}
    dates |= {date for each in applications for date in (each.start, each.end)}
    found = []
    off: set[str] = set()
    speed, bandwidth = sharing.speed.copy(), sharing.bandwidth.copy()
    hosts = {name: host for host, name in enumerate(sharing.hosts)}
    links = {name: link for link, name in enumerate(sharing.links)}
    for start, end in pairwise(sorted(date for date in dates if date <= until)):
        while dated and dated[0].date <= start:
            change = dated.pop(0)
            (off.add if change.fails else off.discard)(change.resource)
            if change.resource in hosts:
                speed[hosts[change.resource]] = change.capacity
            if change.resource in links:
                bandwidth[links[change.resource]] = change.capacity
        now = replace(sharing, speed=speed.copy(), bandwidth=bandwidth.copy())
        there = np.array([each.start <= start < each.end for each in applications])
        part, kept_applications, kept = reachable(now, there, off, cuts)
        if part is not None:
            found.append(ProblemInterval(start, end, part, kept_applications, kept))
    return found


def reachable(
    sharing: SharedDeployment,
    there: Booleans,
    off: set[str],
    cuts: Mapping[tuple[int, int], frozenset[str]] | None = None,
) -> tuple[SharedDeployment | None, Integers, Integers]:
    """Return the part of a deployment that is left without some applications and resources.

    Parameters
    ----------
    sharing : SharedDeployment
        The deployment.
    there : bool, shape (n_applications,)
        True for each present application.
    off : set of str
        Hosts and links that have failed.
    cuts : mapping of (int, int) to frozenset of str, optional
        For the hosts of a parent and a child, further links that must not be off.

    Returns
    -------
    SharedDeployment or None
        With all hosts and links, and the agents that can still be reached; None without any.
    int64, int64
        The numbers of its applications and agents in the deployment.
    """
    host_on = np.array([host not in off for host in sharing.hosts], dtype=bool)
    link_on = np.array([link not in off for link in sharing.links], dtype=bool)
    here = host_on[sharing.host] & there[sharing.application]
    below = sharing.link >= 0
    here[below] &= link_on[sharing.link[below]]
    # The way from or to a parent can be interrupted.
    cut = {pair for pair, links in (cuts or {}).items() if not links.isdisjoint(off)}
    for agent in np.flatnonzero(sharing.parent >= 0).tolist() if cut else ():
        pair = int(sharing.host[sharing.parent[agent]]), int(sharing.host[agent])
        here[agent] &= pair not in cut
    for level in sharing.levels[1:]:
        here[level] &= here[sharing.parent[level]]
    applications = np.flatnonzero(here[sharing.masters])
    agents = np.flatnonzero(here)
    if len(applications) == 0:
        return None, applications, agents
    place = np.full(sharing.n_agents + 1, -1, dtype=np.int64)
    place[agents] = np.arange(len(agents))
    part = replace(
        sharing,
        applications=tuple(sharing.applications[k] for k in applications),
        flop=sharing.flop[applications],
        byte=sharing.byte[applications],
        weight=sharing.weight[applications],
        application=np.searchsorted(applications, sharing.application[agents]),
        host=sharing.host[agents],
        parent=place[sharing.parent[agents]],
        link=sharing.link[agents],
        computes=sharing.computes[agents],
    )
    return part, applications, agents
