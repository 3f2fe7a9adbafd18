"""Deployment of applications as trees over a graph or a SimGrid platform."""

from __future__ import annotations

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

    from simplugin.simulation.resolve import ResolvedPlatform
    from simplugin.workloads.applications import Application

    Integers = NDArray[np.int64]
    Trees = Mapping[str, Mapping[str, str]]
    Pair = tuple[str, str]


def deploy(
    graph: Graph, applications: Sequence[Application], trees: Trees | None = None
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
    alone = [[link] for link in range(graph.n_links)]
    return _deployed(graph, applications, trees or {}, alone, graph.links, graph.bandwidth)


def _deployed(
    graph: Graph,
    applications: Sequence[Application],
    trees: Trees,
    chains: Sequence[Sequence[int]],
    links: Sequence[str],
    bandwidth: NDArray[np.float64],
) -> SharedDeployment:
    """Deploy applications over a graph, whose links are chains of shared links."""
    if not applications:
        raise WorkloadError("there is no application; give at least one")
    names = [application.name for application in applications]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise WorkloadError(f"two applications are called {twice!r}; name them apart")
    for name in trees:
        if name not in names:
            raise WorkloadError(f"there is a tree for {name!r}, which is no application")
    index = {name: host for host, name in enumerate(graph.hosts)}
    usable = np.flatnonzero(graph.bandwidth > 0)
    parts, n_agents = [], 0
    for number, application in enumerate(applications):
        tree = trees.get(application.name)
        master = _host(index, application.master, application, "its master")
        edges = usable if tree is None else _tree_links(graph, index, application, tree)
        ends = graph.source[edges], graph.destination[edges]
        order, parent = _breadth_first(*ends, graph.n_hosts, master)
        if tree is not None and len(order) <= len(tree):
            lost = next(name for name in tree if index[name] not in order)
            problem = f"its tree does not join {lost!r} to its master {application.master!r}"
            raise _error(application, problem)
        # The link into each host: that from its parent.
        wanted = parent[graph.destination] == graph.source
        link = np.full(graph.n_hosts, -1, dtype=np.int64)
        link[graph.destination[wanted]] = np.flatnonzero(wanted)
        place = np.full(graph.n_hosts, -1, dtype=np.int64)
        place[order] = n_agents + np.arange(len(order))
        computes = graph.speed > 0
        if application.hosts is not None:
            allowed = [_host(index, name, application, "its host") for name in application.hosts]
            computes &= np.isin(np.arange(graph.n_hosts), allowed)
        above = np.where(parent[order] >= 0, place[parent[order]], -1)
        owner = np.full(len(order), number, dtype=np.int64)
        parts.append((owner, order, above, link[order], computes[order]))
        n_agents += len(order)
    columns = (np.concatenate(column) for column in zip(*parts, strict=True))
    owner, host, parent, link, computes = columns
    passed = [chains[each] if each >= 0 else [-1] for each in link.tolist()]
    length = np.array([len(each) for each in passed])
    # The host of the tree that each agent of a chain stands for, and the last agent of each host.
    origin, agent = np.repeat(np.arange(n_agents), length), np.arange(length.sum())
    last = np.cumsum(length) - 1
    is_first = agent == (last - length + 1)[origin]
    above = parent[origin]
    parent = np.where(is_first, np.where(above >= 0, last[above], -1), agent - 1)
    # By depth, then in the order of their parents; masters in the order of applications.
    root = len(agent)
    order = _breadth_first(np.where(parent < 0, root, parent), agent, root + 1, root)[0][1:]
    place = np.empty_like(order)
    place[order] = agent
    above = parent[order]
    flop = np.array([application.flop for application in applications])
    byte = np.array([application.byte for application in applications])
    weight = np.array([application.weight for application in applications])
    known = tuple(names), graph.hosts, tuple(links), flop, byte, weight, graph.speed, bandwidth
    above = np.where(above >= 0, place[above], -1)
    computes = (computes[origin] & (agent == last[origin]))[order]
    owner, host, link = owner[origin][order], host[origin][order], np.concatenate(passed)[order]
    return SharedDeployment(*known, owner, host, above, link, computes)


def _error(application: Application, problem: str) -> WorkloadError:
    """Return the error of an application."""
    return WorkloadError(f"application {application.name!r}: {problem}", application.name)


def _host(index: Mapping[str, int], name: str, application: Application, what: str) -> int:
    """Return the number of a host."""
    if name not in index:
        raise _error(application, f"{what} {name!r} is no host of the platform")
    return index[name]


def _breadth_first(
    source: Integers, destination: Integers, size: int, root: int
) -> tuple[Integers, Integers]:
    """Return the vertices that a root reaches, in breadth-first order, and the parent of each."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    edges = csr_array((np.ones(len(source)), (source, destination)), shape=(size, size))
    order, before = breadth_first_order(edges, root)
    return order.astype(np.int64), np.where(before >= 0, before, -1).astype(np.int64)


def _tree_links(
    graph: Graph, index: Mapping[str, int], application: Application, tree: Mapping[str, str]
) -> list[int]:
    """Return the links of the tree of an application that is given by the parent of each host."""
    ends = zip(graph.source.tolist(), graph.destination.tolist(), strict=True)
    links = {pair: link for link, pair in enumerate(ends)}
    found = []
    for name, above in tree.items():
        child, parent = (
            _host(index, each, application, "its tree's host") for each in (name, above)
        )
        if (parent, child) not in links:
            problem = f"its tree goes from {above!r} to {name!r}, which no link joins"
            raise _error(application, problem)
        found.append(links[parent, child])
    if application.master in tree:
        problem = f"its tree gives its master {application.master!r} a parent; leave it out"
        raise _error(application, problem)
    return found


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
    least, speed = np.array(narrowest, dtype=np.float64), np.where(speed <= NO_SPEED, 0.0, speed)
    graph = Graph(hosts, speed, ends[:, 0], ends[:, 1], least, np.zeros(len(chains)))
    number = {name: link for link, name in enumerate(bandwidth)}
    passed = [[number[name] for name in chain] for chain in chains.values()]
    bandwidths = np.array([*bandwidth.values()])
    return _deployed(graph, applications, given, passed, tuple(bandwidth), bandwidths)


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
