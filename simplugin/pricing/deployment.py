"""Deploying applications as trees over a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from simplugin.errors import WorkloadError
from simplugin.workloads.sharing import Sharing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from simplugin.platforms.graphs import Graph
    from simplugin.workloads.applications import Application

    Integers = NDArray[np.int64]
    # Of each host: its place in the order (-1 if not reached), father and link above (-1 if none).
    Tree = tuple[Integers, Integers, Integers]


def deploy(
    graph: Graph,
    applications: Sequence[Application],
    trees: Mapping[str, Mapping[str, str]] | None = None,
) -> Sharing:
    """Deploy applications as trees over a graph.

    Parameters
    ----------
    graph : Graph
        Hosts and links.
    applications : sequence of Application
        What shares them.
    trees : mapping of str to mapping of str to str, optional
        For an application's name, the father of each host of its tree but the master. An
        application without one has the breadth-first tree from its master, neighbours in the
        graph's order, over links that have a bandwidth.

    Returns
    -------
    Sharing
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
            order, father, link = _breadth_first(graph, neighbours, master)
        else:
            order, father, link = _given_tree(graph, index, application, tree)
        parts.append(_agents(graph, index, application, number, order, father, link))
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    owner, host, father, link, computes, depth = columns
    offsets = np.cumsum([0] + [len(part[0]) for part in parts[:-1]])
    father = np.where(father >= 0, father + offsets[owner], -1)
    # By depth, then by application; the order within an application stays.
    order = np.argsort(depth, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return Sharing(
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
        np.where(father[order] >= 0, place[father[order]], -1),
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
    shape = (graph.n_hosts, graph.n_hosts)
    return csr_array((np.ones(len(usable)), ends), shape=shape)


def _breadth_first(graph: Graph, neighbours: csr_array, master: int) -> Tree:
    """Return hosts in breadth-first order, the father of each host, and the link above it."""
    from scipy.sparse.csgraph import breadth_first_order

    order, before = breadth_first_order(neighbours, master)
    father = np.where(before >= 0, before, -1).astype(np.int64)
    # The link into each host: that from its father.
    wanted = father[graph.destination] == graph.source
    link = np.full(graph.n_hosts, -1, dtype=np.int64)
    link[graph.destination[wanted]] = np.flatnonzero(wanted)
    return order.astype(np.int64), father, link


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
    father = np.full(graph.n_hosts, -1, dtype=np.int64)
    link = np.full(graph.n_hosts, -1, dtype=np.int64)
    sons: dict[int, list[int]] = {}
    for name, above in tree.items():
        son = _host(index, name, application, "its tree's host")
        father[son] = _host(index, above, application, "its tree's host")
        if (int(father[son]), son) not in links:
            raise WorkloadError(
                f"application {application.name!r}: its tree goes from {above!r} to {name!r},"
                " which no link joins",
                application.name,
            )
        link[son] = links[int(father[son]), son]
        sons.setdefault(int(father[son]), []).append(son)
    order = [index[application.master]]
    if father[order[0]] >= 0:
        raise WorkloadError(
            f"application {application.name!r}: its tree gives its master"
            f" {application.master!r} a father; leave it out",
            application.name,
        )
    for host in order:
        order += sorted(sons.get(host, []))
    if len(order) < len(tree) + 1:
        lost = next(name for name in tree if index[name] not in order)
        raise WorkloadError(
            f"application {application.name!r}: its tree does not join {lost!r}"
            f" to its master {application.master!r}",
            application.name,
        )
    return np.array(order, dtype=np.int64), father, link


def _agents(
    graph: Graph,
    index: Mapping[str, int],
    application: Application,
    number: int,
    order: Integers,
    father: Integers,
    link: Integers,
) -> tuple[NDArray[Any], ...]:
    """Return the columns of an application's agents, and their depths."""
    place = np.full(graph.n_hosts, -1, dtype=np.int64)
    place[order] = np.arange(len(order))
    computes = graph.speed > 0
    if application.hosts is not None:
        allowed = np.zeros(graph.n_hosts, dtype=bool)
        for name in application.hosts:
            allowed[_host(index, name, application, "its host")] = True
        computes &= allowed
    above = np.where(father[order] >= 0, place[father[order]], -1)
    return (
        np.full(len(order), number, dtype=np.int64),
        order,
        above,
        link[order],
        computes[order],
        _depth(above),
    )


def _depth(above: Integers) -> Integers:
    """Return the depth of each vertex of a tree in breadth-first order."""
    depth = np.zeros(len(above), dtype=np.int64)
    # In breadth-first order fathers do not go back, so a level is one run.
    start, stop, level = 0, 1, 0
    while stop < len(above):
        start, stop = stop, int(np.searchsorted(above, stop))
        level += 1
        depth[start:stop] = level
    return depth
