"""The tree that schedulers form on any SimGrid platform."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterable, Mapping

import numpy as np

from simplugin.core.errors import WorkloadError
from simplugin.formats.platform_xml import read_platform
from simplugin.platforms.graphs import NO_SPEED, Tree, neighbours
from simplugin.platforms.platform import Platform
from simplugin.simulation.resolve import ResolvedPlatform, refuse_wifi, resolve

Pair = tuple[str, str]


def tree_of(
    platform: Platform | str | os.PathLike[str],
    root: str,
    parents: Mapping[str, str] | None = None,
    *,
    distributors: Collection[str] = (),
) -> Tree:
    """Return the tree on which tasks travel over a SimGrid platform.

    If the platform is one flat zone of routing ``Full`` that lacks routes between some hosts, as
    made by `Graph.platform` and `Tree.platform`, it is the breadth-first tree from the root over
    the existing routes. Otherwise SimGrid has a route between any two hosts, and the root is the
    parent of all others.

    Parameters
    ----------
    platform : Platform or path
        The platform or its file.
    root : str
        The host at which all tasks start.
    parents : mapping of str to str, optional
        The parent of each host of another tree, except the root; a parent reaches its child along
        the route between them. Other hosts are left out.
    distributors : collection of str
        Hosts that compute no tasks, regardless of their speed.

    Returns
    -------
    Tree
        The tree of the hosts with routes from and to the root. A host computes one task after the
        other, at the speed of one of its cores; up to `NO_SPEED` flop/s counts as none. The
        bandwidth from a parent is the nominal one of the narrowest link on the route, and the
        latency that of the whole route.

    Raises
    ------
    PlatformError
        SimGrid refuses the platform.
    WorkloadError
        A host is unknown, `parents` is no tree, a parent has no route to a child or back, or a
        route passes a Wi-Fi link, which has no single bandwidth.
    """
    described = platform if isinstance(platform, Platform) else read_platform(platform)
    hosts = tuple(described.host_names())
    _check_names(hosts, root, parents or {}, distributors)
    adjacent = neighbours(described, hosts)
    if parents is not None:
        wanted = _breadth_first(root, [(parent, host) for host, parent in parents.items()])
        _check_parents(root, parents, wanted)
    elif adjacent is not None:
        both = dict.fromkeys(adjacent)
        wanted = _breadth_first(root, [pair for pair in both if pair[::-1] in both])
    else:
        wanted = {host: root for host in hosts if host != root}
    down = [(parent, host) for host, parent in wanted.items()]
    resolved = resolve(platform, [*down, *(pair[::-1] for pair in down)])
    lost = {pair for a, b, _ in resolved.unreachable for pair in ((a, b), (b, a))}
    for source, destination, reason in resolved.unreachable if parents is not None else ():
        ends = (source, destination)
        parent, host = ends if ends in down else ends[::-1]
        raise WorkloadError(
            f"parents makes {parent!r} the parent of {host!r}, but there is no route from"
            f" {source!r} to {destination!r} ({reason.strip()}); choose a neighbour",
            argument="parents",
        )
    return _tree(root, [pair for pair in down if pair not in lost], resolved, set(distributors))


def _check_names(
    hosts: Collection[str], root: str, parents: Mapping[str, str], distributors: Iterable[str]
) -> None:
    """Raise if a name is that of no host."""
    known = set(hosts)
    if root not in known:
        raise WorkloadError(f"the root {root!r} is no host of the platform")
    for what, names in (
        ("parents", [name for pair in parents.items() for name in pair]),
        ("distributors", distributors),
    ):
        for name in names:
            if name not in known:
                raise WorkloadError(
                    f"{what} names {name!r}, which is no host of the platform", argument=what
                )


def _check_parents(root: str, parents: Mapping[str, str], reached: Collection[str]) -> None:
    """Raise unless the given parents are a tree."""
    if root in parents:
        raise WorkloadError(
            f"parents gives the root {root!r} a parent, {parents[root]!r}; leave it out",
            argument="parents",
        )
    for host, parent in parents.items():
        if host not in reached:
            raise WorkloadError(
                f"parents does not lead from {host!r} by way of {parent!r} to the root {root!r};"
                " give each host on the way a parent, and no two one another",
                argument="parents",
            )


def _breadth_first(root: str, pairs: Iterable[Pair]) -> dict[str, str]:
    """Return the parent of each host that pairs of parent and child reach from the root."""
    import networkx

    graph = networkx.DiGraph(pairs)
    graph.add_node(root)
    return {host: parent for parent, host in networkx.bfs_edges(graph, root)}


def _tree(
    root: str, down: Iterable[Pair], resolved: ResolvedPlatform, distributors: Collection[str]
) -> Tree:
    """Return the tree of some parents and children, hosts after their parents."""
    speeds = {host.name: host.speed for host in resolved.hosts}
    links = {link.name: link for link in resolved.links}
    routes = {(route.source, route.destination): route for route in resolved.routes}
    number = {root: 0}
    parent, bandwidth, latency = [-1], [math.inf], [0.0]
    for above, host in down:
        if above not in number:
            # It has no route to the root.
            continue
        number[host] = len(number)
        parent.append(number[above])
        route = routes[above, host]
        refuse_wifi(route, links, "give parents that leave the host out")
        bandwidth.append(min(links[name].bandwidth for name in route.links))
        latency.append(route.latency)
    speed = np.array([0.0 if name in distributors else speeds[name] for name in number])
    return Tree(
        tuple(number),
        np.array(parent),
        np.where(speed <= NO_SPEED, 0.0, speed),
        np.array(bandwidth),
        np.array(latency),
    )
