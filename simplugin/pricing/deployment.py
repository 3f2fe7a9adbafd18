"""Deployment of applications as trees over a graph or a SimGrid platform."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from simplugin.core.errors import WorkloadError
from simplugin.formats.platform_xml import read_platform
from simplugin.platforms.graphs import NO_SPEED, Graph, neighbours
from simplugin.platforms.links import FATPIPE
from simplugin.platforms.platform import Platform
from simplugin.simulation.resolve import refuse_wifi, resolve
from simplugin.workloads.shared_deployment import SharedDeployment

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from simplugin.platforms.graphs import Graph
    from simplugin.simulation.resolve import ResolvedPlatform
    from simplugin.workloads.applications import Application

    Integers = NDArray[np.int64]
    Tree = tuple[Integers, Integers, Integers]
    Trees = Mapping[str, Mapping[str, str]]
    Pair = tuple[str, str]


def deploy(
    graph: Graph,
    applications: Sequence[Application],
    trees: Mapping[str, Mapping[str, str]] | None = None,
) -> SharedDeployment:
    """Deploy applications as trees over a graph.

    Parameters
    ----------
    graph : Graph
        Hosts and links.
    applications : sequence of Application
        The applications.
    trees : mapping of str to mapping of str to str, optional
        For an application's name, the parent of each host of its tree but the master. An
        application without one has the breadth-first tree from its master, neighbours in the
        graph's order, over links with a bandwidth.

    Returns
    -------
    SharedDeployment
        An application has an agent on each host of its tree.

    Raises
    ------
    WorkloadError
        A master or host is not in the graph, a tree uses a link that is not there, or has a
        cycle; the message names the application.
    """
    if not applications:
        raise WorkloadError("there is no application; give at least one")
    names = [application.name for application in applications]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise WorkloadError(f"two applications are called {twice!r}; name them apart")
    for name in trees or ():
        if name not in names:
            raise WorkloadError(f"there is a tree for {name!r}, which is no application")
    index = {name: host for host, name in enumerate(graph.hosts)}
    neighbours = None
    parts = []
    for number, application in enumerate(applications):
        tree = (trees or {}).get(application.name)
        master = _host(index, application.master, application, "its master")
        if tree is None:
            neighbours = _neighbours(graph) if neighbours is None else neighbours
            order, parent, link = _breadth_first(graph, neighbours, master)
        else:
            order, parent, link = _given_tree(graph, index, application, tree)
        place = np.full(graph.n_hosts, -1, dtype=np.int64)
        place[order] = np.arange(len(order))
        computes = graph.speed > 0
        if application.hosts is not None:
            allowed = [_host(index, name, application, "its host") for name in application.hosts]
            computes &= np.isin(np.arange(graph.n_hosts), allowed)
        above = np.where(parent[order] >= 0, place[parent[order]], -1)
        owner = np.full(len(order), number, dtype=np.int64)
        parts.append((owner, order, above, link[order], computes[order], _depth(above)))
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    owner, host, parent, link, computes, depth = columns
    offsets = np.cumsum([0] + [len(part[0]) for part in parts[:-1]])
    parent = np.where(parent >= 0, parent + offsets[owner], -1)
    # By depth, then by application; the order within an application stays.
    order = np.argsort(depth, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return SharedDeployment(
        tuple(names),
        graph.hosts,
        graph.links,
        np.array([application.flop for application in applications]),
        np.array([application.byte for application in applications]),
        np.array([application.weight for application in applications]),
        graph.speed,
        graph.bandwidth,
        owner[order],
        host[order],
        np.where(parent[order] >= 0, place[parent[order]], -1),
        link[order],
        computes[order],
    )


def _host(index: Mapping[str, int], name: str, application: Application, what: str) -> int:
    """Return the number of a host."""
    if name not in index:
        raise WorkloadError(
            f"application {application.name!r}: {what} {name!r} is no host of the platform",
            application.name,
        )
    return index[name]


def _neighbours(graph: Graph) -> csr_array:
    """Return the hosts that each host reaches over one link that has a bandwidth."""
    from scipy.sparse import csr_array

    usable = np.flatnonzero(graph.bandwidth > 0)
    ends = (graph.source[usable], graph.destination[usable])
    return csr_array((np.ones(len(usable)), ends), shape=(graph.n_hosts, graph.n_hosts))


def _breadth_first(graph: Graph, neighbours: csr_array, master: int) -> Tree:
    """Return hosts in breadth-first order, the parent of each host, and the link above it."""
    from scipy.sparse.csgraph import breadth_first_order

    order, before = breadth_first_order(neighbours, master)
    parent = np.where(before >= 0, before, -1).astype(np.int64)
    # The link into each host: that from its parent.
    wanted = parent[graph.destination] == graph.source
    link = np.full(graph.n_hosts, -1, dtype=np.int64)
    link[graph.destination[wanted]] = np.flatnonzero(wanted)
    return order.astype(np.int64), parent, link


def _given_tree(
    graph: Graph,
    index: Mapping[str, int],
    application: Application,
    tree: Mapping[str, str],
) -> Tree:
    """Return the same for a tree that the caller gives."""
    links = {
        ends: link
        for link, ends in enumerate(
            zip(graph.source.tolist(), graph.destination.tolist(), strict=True)
        )
    }
    parent = np.full(graph.n_hosts, -1, dtype=np.int64)
    link = np.full(graph.n_hosts, -1, dtype=np.int64)
    children: dict[int, list[int]] = {}
    for name, above in tree.items():
        child = _host(index, name, application, "its tree's host")
        parent[child] = _host(index, above, application, "its tree's host")
        if (int(parent[child]), child) not in links:
            raise WorkloadError(
                f"application {application.name!r}: its tree goes from {above!r} to {name!r},"
                " which no link joins",
                application.name,
            )
        link[child] = links[int(parent[child]), child]
        children.setdefault(int(parent[child]), []).append(child)
    order = [index[application.master]]
    if parent[order[0]] >= 0:
        raise WorkloadError(
            f"application {application.name!r}: its tree gives its master"
            f" {application.master!r} a parent; leave it out",
            application.name,
        )
    for host in order:
        order += sorted(children.get(host, []))
    if len(order) < len(tree) + 1:
        lost = next(name for name in tree if index[name] not in order)
        raise WorkloadError(
            f"application {application.name!r}: its tree does not join {lost!r}"
            f" to its master {application.master!r}",
            application.name,
        )
    return np.array(order, dtype=np.int64), parent, link


def _depth(above: Integers) -> Integers:
    """Return the depth of each vertex of a tree in breadth-first order."""
    depth = np.zeros(len(above), dtype=np.int64)
    # In breadth-first order parents do not go back, so a level is one run.
    start, stop, level = 0, 1, 0
    while stop < len(above):
        start, stop = stop, int(np.searchsorted(above, stop))
        level += 1
        depth[start:stop] = level
    return depth


def sharing_of(
    platform: Platform | str | os.PathLike[str],
    applications: Sequence[Application],
    trees: Trees | None = None,
) -> SharedDeployment:
    """Deploy applications over a SimGrid platform; the routes come from SimGrid itself.

    Without a tree, an application's master reaches each host directly along its route. Only
    where the platform is one flat zone of routing ``Full`` that lacks routes between some hosts,
    as `Graph.platform` makes, its tree is the breadth-first one over the routes that there are.

    A route of several links is a chain of agents. A ``FATPIPE`` link gives each transfer all of
    its bandwidth, so that it is no capacity to be shared, and left out. Of a route that has no
    other links the narrowest is kept, as if it were shared: less than there is, never more.

    Parameters
    ----------
    platform : Platform or path
        The platform or its file.
    applications : sequence of Application
        The applications.
    trees : mapping of str to mapping of str to str, optional
        For an application's name, the parent of each host of its tree but the master; a parent
        reaches its child along the route between them.

    Returns
    -------
    SharedDeployment
        The speed of a host is that of all its cores, 0 up to `NO_SPEED` flop/s; bandwidths are
        nominal, as in `SimGridOptions.linear`. Hosts that a master has no route to are in no
        tree of its application.

    Raises
    ------
    PlatformError
        SimGrid refuses the platform.
    WorkloadError
        As `deploy`; or a route passes a Wi-Fi link, which has no single capacity.
    """
    described = platform if isinstance(platform, Platform) else read_platform(platform)
    hosts = tuple(described.host_names())
    given = dict(trees or {})
    adjacent = neighbours(described, hosts)
    masters = {each.name: each.master for each in applications if each.name not in given}
    wanted = adjacent
    if wanted is None:
        stars = dict.fromkeys(masters.values())
        wanted = [(master, host) for master in stars for host in hosts if host != master]
    wanted += [(parent, child) for tree in given.values() for child, parent in tree.items()]
    known = set(hosts)
    asked = [pair for pair in dict.fromkeys(wanted) if known.issuperset(pair)]
    resolved = resolve(platform, asked)
    if adjacent is None:
        for name, master in masters.items():
            children = [route.destination for route in resolved.routes if route.source == master]
            given[name] = dict.fromkeys(children, master)
    chains, bandwidth = _shared_links(resolved)
    # The graph's links are the routes, in their order.
    index = {name: host for host, name in enumerate(hosts)}
    speeds = {host.name: host.speed * host.cores for host in resolved.hosts}
    speed = np.array([speeds[name] for name in hosts])
    ends = np.array([(index[a], index[b]) for a, b in chains], dtype=np.int64).reshape(-1, 2)
    narrowest = [min(bandwidth[link] for link in chain) for chain in chains.values()]
    graph = Graph(
        hosts,
        np.where(speed <= NO_SPEED, 0.0, speed),
        ends[:, 0],
        ends[:, 1],
        np.array(narrowest, dtype=np.float64),
        np.zeros(len(chains)),
    )
    return _chained(deploy(graph, applications, given), list(chains.values()), bandwidth)


def _shared_links(
    resolved: ResolvedPlatform,
) -> tuple[dict[Pair, tuple[str, ...]], dict[str, float]]:
    """Return the shared links of each route, and the bandwidths of all links on routes."""
    links = {link.name: link for link in resolved.links}
    chains: dict[Pair, tuple[str, ...]] = {}
    bandwidth: dict[str, float] = {}
    for route in resolved.routes:
        refuse_wifi(route, links, "leave its hosts out")
        shared = tuple(name for name in route.links if links[name].sharing_policy != FATPIPE)
        if not shared:
            shared = (min(route.links, key=lambda name: links[name].bandwidth),)
        bandwidth |= {name: links[name].bandwidth for name in shared}
        chains[route.source, route.destination] = shared
    return chains, bandwidth


def _chained(
    direct: SharedDeployment, chains: Sequence[tuple[str, ...]], bandwidth: Mapping[str, float]
) -> SharedDeployment:
    """Replace each agent behind a route of several links by a chain of agents."""
    names = tuple(bandwidth)
    number = {name: link for link, name in enumerate(names)}
    passed = [
        [number[name] for name in chains[route]] if route >= 0 else [-1]
        for route in direct.link.tolist()
    ]
    length = np.array([len(links) for links in passed])
    # Of each agent, which one becomes it, and the last of the chain that an agent becomes.
    origin, agent = np.repeat(np.arange(direct.n_agents), length), np.arange(length.sum())
    last = np.cumsum(length) - 1
    is_first = agent == (last - length + 1)[origin]
    above = direct.parent[origin]
    parent = np.where(is_first, np.where(above >= 0, last[above], -1), agent - 1)
    depth = np.zeros_like(agent)
    for child, before in enumerate(parent.tolist()):
        depth[child] = depth[before] + 1 if before >= 0 else 0
    order = _by_depth(depth, parent, direct.application[origin])
    place = np.empty_like(order)
    place[order] = agent
    above = parent[order]
    return replace(
        direct,
        links=names,
        bandwidth=np.array(list(bandwidth.values())),
        application=direct.application[origin][order],
        host=direct.host[origin][order],
        parent=np.where(above >= 0, place[above], -1),
        link=np.concatenate(passed)[order],
        computes=(direct.computes[origin] & (agent == last[origin]))[order],
    )


def _by_depth(depth: Integers, parent: Integers, application: Integers) -> Integers:
    """Return agents by depth, then by application, then by the place of their parents."""
    place = np.zeros(len(depth), dtype=np.int64)
    levels = []
    for level in range(int(depth.max()) + 1):
        agents = np.flatnonzero(depth == level)
        # Parents are in the order of their applications already.
        key = application[agents] if level == 0 else place[parent[agents]]
        agents = agents[np.argsort(key, kind="stable")]
        place[agents] = np.arange(len(agents))
        levels.append(agents)
    return np.concatenate(levels)
