"""What changes while applications run: capacities, failures, applications that come and go."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from simplugin.errors import WorkloadError
from simplugin.platforms import Platform, Profile, ProfileUse, Zone
from simplugin.workloads.sharing import Sharing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from simplugin.platforms.graphs import Graph
    from simplugin.workloads.applications import Application

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]
    Booleans = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Change:
    """That a host or link has another capacity from a date on.

    Attributes
    ----------
    date : float
        From when on [s].
    resource : str
        Name of the host or link.
    capacity : float
        Speed [flop/s] or bandwidth [byte/s]; 0: it fails, and comes back with the next change.
    """

    date: float
    resource: str
    capacity: float


@dataclass(frozen=True, eq=False)
class Interval:
    """What is to be shared between two dates.

    Attributes
    ----------
    start, end : float
        Dates [s].
    sharing : Sharing
        The applications that are there and the agents that their masters can reach.
    applications, agents : int64
        Their numbers in the deployment.
    """

    start: float
    end: float
    sharing: Sharing
    applications: Integers
    agents: Integers


def changing(graph: Graph, changes: Sequence[Change]) -> Platform:
    """Return a graph's platform with profiles that make changes happen.

    Parameters
    ----------
    graph : Graph
        Hosts and links.
    changes : sequence of Change
        In any order.

    Returns
    -------
    Platform
        One flat zone.

    Raises
    ------
    WorkloadError
        A change is about no host or link of the graph.
    """
    [zone] = graph.platform().elements
    assert isinstance(zone, Zone)
    links = graph.links
    extra: list[Profile | ProfileUse] = []
    for resource in dict.fromkeys(change.resource for change in changes):
        its = sorted((c for c in changes if c.resource == resource), key=lambda c: c.date)
        states = [(c.date, float(c.capacity > 0)) for c in its]
        values = [(c.date, c.capacity) for c in its if c.capacity > 0]
        if resource in graph.hosts:
            speed = float(graph.speed[graph.hosts.index(resource)])
            values = [(date, value / speed) for date, value in values]
            kinds = {"HOST_AVAIL": states, "SPEED": values}
        elif resource in links:
            kinds = {"LINK_AVAIL": states, "BANDWIDTH": values}
        else:
            raise WorkloadError(f"there is a change of {resource!r}, which is no host or link")
        for kind, points in kinds.items():
            if points:
                name = f"{kind} of {resource}"
                extra += [Profile.of_points(name, points), ProfileUse(name, resource, kind)]
    return Platform((replace(zone, elements=(*zone.elements, *extra)),))


def intervals(
    sharing: Sharing,
    applications: Sequence[Application],
    changes: Sequence[Change],
    until: float,
) -> list[Interval]:
    """Return what is to be shared between changes, to find the optimum of each interval.

    Parameters
    ----------
    sharing : Sharing
        The deployment of all applications.
    applications : sequence of Application
        The same, for their dates.
    changes : sequence of Change
        In any order.
    until : float
        Where the last interval ends [s].

    Returns
    -------
    list of Interval
        In order; those without any application are left out.
    """
    dates = {0.0, until} | {change.date for change in changes}
    dates |= {date for each in applications for date in (each.start, each.end)}
    edges = sorted(date for date in dates if date <= until)
    found = []
    for start, end in pairwise(edges):
        there = np.array([each.start <= start < each.end for each in applications])
        speed, bandwidth = sharing.speed.copy(), sharing.bandwidth.copy()
        off: set[str] = set()
        for change in sorted(changes, key=lambda change: change.date):
            if change.date > start:
                continue
            (off.discard if change.capacity > 0 else off.add)(change.resource)
            for names, values in ((sharing.hosts, speed), (sharing.links, bandwidth)):
                if change.resource in names:
                    values[names.index(change.resource)] = change.capacity
        now = replace(sharing, speed=speed, bandwidth=bandwidth)
        part, kept_applications, kept = reachable(now, there, off)
        if part is not None:
            found.append(Interval(start, end, part, kept_applications, kept))
    return found


def reachable(
    sharing: Sharing, there: Booleans, off: set[str]
) -> tuple[Sharing | None, Integers, Integers]:
    """Return the part of a deployment that is left without some applications and resources.

    Parameters
    ----------
    sharing : Sharing
        The deployment.
    there : bool, shape (n_applications,)
        The applications that are there.
    off : set of str
        Hosts and links that are not.

    Returns
    -------
    Sharing or None
        With all hosts and links, and the agents to which a way is left; None if there are none.
    int64, int64
        The numbers of its applications and agents in the deployment.
    """
    host_on = np.array([host not in off for host in sharing.hosts], dtype=bool)
    link_on = np.array([link not in off for link in sharing.links], dtype=bool)
    here = host_on[sharing.host] & there[sharing.application]
    below = sharing.link >= 0
    here[below] &= link_on[sharing.link[below]]
    for level in sharing.levels[1:]:
        here[level] &= here[sharing.father[level]]
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
        father=place[sharing.father[agents]],
        link=sharing.link[agents],
        computes=sharing.computes[agents],
    )
    return part, applications, agents
