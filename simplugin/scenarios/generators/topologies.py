"""Topologies as scenarios and the command ask for them.

Everywhere, `speed` is that of each host (of each core) [flop/s], `bandwidth` that
of each link in each direction [byte/s], `latency` that of each link [s]: a number, a text with a
unit or, for graphs and stars, a law such as ``{ law = "uniform", low = "1Gf", high = "2Gf" }``.
`routing` is as in `simplugin.platforms.graphs.Graph.platform`: with ``"Full"`` only neighbours have
routes, with ``"Floyd"``, ``"Dijkstra"`` or ``"DijkstraCache"`` all hosts. `seed` is that of the
draws. The other parameters are those of `simplugin.platforms.topologies.shapes` and
`simplugin.platforms.topologies.clusters`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from simplugin.errors import PlatformError
from simplugin.platforms import Platform
from simplugin.platforms.sites import GIGABIT, LATENCY
from simplugin.platforms.topologies import clusters, random_graphs, random_trees, shapes
from simplugin.platforms.topologies.clusters import STAR_LATENCY, Parts
from simplugin.platforms.topologies.random_trees import BANDWIDTHS, SPEEDS
from simplugin.platforms.topologies.shapes import SPEED
from simplugin.scenarios.generators.calls import (
    Drawn,
    Quantity,
    draws,
    read_capacities,
    read_drawn,
    read_quantity,
    read_range,
)

# All hosts reach each other, and nothing grows with their square.
ROUTING = "DijkstraCache"


def chain(
    n_hosts: int,
    speed: Drawn = SPEED,
    bandwidth: Drawn = GIGABIT,
    latency: Drawn = LATENCY,
    routing: str = ROUTING,
    seed: int = 0,
) -> Platform:
    """Return hosts in a line, each joined to the next."""
    capacities = read_capacities(speed, bandwidth, latency)
    return shapes.chain(n_hosts, draws(seed), capacities).platform(routing)


def ring(
    n_hosts: int,
    speed: Drawn = SPEED,
    bandwidth: Drawn = GIGABIT,
    latency: Drawn = LATENCY,
    routing: str = ROUTING,
    seed: int = 0,
) -> Platform:
    """Return hosts in a circle."""
    capacities = read_capacities(speed, bandwidth, latency)
    return shapes.ring(n_hosts, draws(seed), capacities).platform(routing)


def grid(
    rows: int,
    columns: int,
    speed: Drawn = SPEED,
    bandwidth: Drawn = GIGABIT,
    latency: Drawn = LATENCY,
    routing: str = ROUTING,
    seed: int = 0,
) -> Platform:
    """Return hosts in rows and columns, each joined to those beside, above and below."""
    capacities = read_capacities(speed, bandwidth, latency)
    return shapes.grid(rows, columns, draws(seed), capacities).platform(routing)


def complete_tree(
    arity: int = 2,
    depth: int = 3,
    speed: Drawn = SPEED,
    bandwidth: Drawn = GIGABIT,
    latency: Drawn = LATENCY,
    routing: str = ROUTING,
    seed: int = 0,
) -> Platform:
    """Return a tree in which each host has equally many children, binary if nothing is said."""
    capacities = read_capacities(speed, bandwidth, latency)
    return shapes.complete_tree(arity, depth, draws(seed), capacities).platform(routing)


def random_geometric(
    n_hosts: int,
    radius: float | None = None,
    side_latency: Quantity = 0.0,
    speed: Drawn = SPEED,
    bandwidth: Drawn = GIGABIT,
    latency: Drawn = LATENCY,
    routing: str = ROUTING,
    seed: int = 0,
) -> Platform:
    """Return hosts drawn in a square, each joined to those near it."""
    if radius is not None and (isinstance(radius, bool) or not isinstance(radius, int | float)):
        raise PlatformError(f"radius is {radius!r}", remedy="give a number, in sides of the square")
    graph = shapes.random_geometric(
        n_hosts,
        draws(seed),
        read_capacities(speed, bandwidth, latency),
        radius=radius,
        side_latency=read_quantity("side_latency", side_latency),
    )
    return graph.platform(routing)


def preferential_attachment(
    n_hosts: int,
    links: int = 2,
    speed: Drawn = SPEED,
    bandwidth: Drawn = GIGABIT,
    latency: Drawn = LATENCY,
    routing: str = ROUTING,
    seed: int = 0,
) -> Platform:
    """Return a graph with hubs: each host joins some that have many neighbours already."""
    capacities = read_capacities(speed, bandwidth, latency)
    graph = shapes.preferential_attachment(n_hosts, draws(seed), capacities, links=links)
    return graph.platform(routing)


def small_world(
    n_hosts: int,
    neighbours: int = 4,
    rewired: float = 0.1,
    speed: Drawn = SPEED,
    bandwidth: Drawn = GIGABIT,
    latency: Drawn = LATENCY,
    routing: str = ROUTING,
    seed: int = 0,
) -> Platform:
    """Return a ring of neighbourhoods with some links to anywhere."""
    capacities = read_capacities(speed, bandwidth, latency)
    graph = shapes.small_world(
        n_hosts, draws(seed), capacities, neighbours=neighbours, rewired=rewired
    )
    return graph.platform(routing)


def five_hosts(latency: Quantity = 1e-3, routing: str = "Full") -> Platform:
    """Return five equal hosts in a tree, as Bertin, Legrand and Touati have them.

    Speeds and bandwidths are those of their section 5.1. Which hosts are neighbours is an
    assumption (see `simplugin.platforms.topologies.shapes.FIVE_HOSTS_TREE`), as is the latency.
    """
    late = read_quantity("latency", latency)
    return shapes.five_hosts(latency=late).platform(routing)


def star(
    workers: int = 10,
    speed: Drawn | None = None,
    bandwidth: Drawn | None = None,
    latency: Drawn = STAR_LATENCY,
    seed: int = 1,
) -> Platform:
    """Return a master and workers, each behind a link of its own, round figures by default."""
    return clusters.star(
        workers,
        draws(seed),
        speed=None if speed is None else read_drawn("speed", speed),
        bandwidth=None if bandwidth is None else read_drawn("bandwidth", bandwidth),
        latency=read_drawn("latency", latency),
    )


def flat_cluster(
    n_hosts: int,
    speed: Quantity = SPEED,
    cores: int = 1,
    bandwidth: Quantity = GIGABIT,
    latency: Quantity = LATENCY,
) -> Platform:
    """Return equal hosts around a switch that limits nothing, as one element."""
    return clusters.flat_cluster(n_hosts, _parts(speed, cores, bandwidth, latency))


def fat_tree(
    children: Sequence[int],
    parents: Sequence[int] | None = None,
    parallel: Sequence[int] | None = None,
    speed: Quantity = SPEED,
    cores: int = 1,
    bandwidth: Quantity = GIGABIT,
    latency: Quantity = LATENCY,
) -> Platform:
    """Return a fat tree; of each level, from below, the children of a switch."""
    parts = _parts(speed, cores, bandwidth, latency)
    return clusters.fat_tree(children, parents, parallel, parts)


def torus(
    sizes: Sequence[int],
    speed: Quantity = SPEED,
    cores: int = 1,
    bandwidth: Quantity = GIGABIT,
    latency: Quantity = LATENCY,
) -> Platform:
    """Return a torus, by its size in each dimension."""
    return clusters.torus(sizes, _parts(speed, cores, bandwidth, latency))


def dragonfly(
    groups: int = 4,
    routers: int = 4,
    hosts_per_router: int = 2,
    chassis: int = 1,
    group_links: int = 1,
    chassis_links: int = 1,
    router_links: int = 1,
    speed: Quantity = SPEED,
    cores: int = 1,
    bandwidth: Quantity = GIGABIT,
    latency: Quantity = LATENCY,
) -> Platform:
    """Return a dragonfly: groups of routers, all groups joined, all routers of one joined."""
    return clusters.dragonfly(
        groups,
        routers,
        hosts_per_router,
        chassis=chassis,
        group_links=group_links,
        chassis_links=chassis_links,
        router_links=router_links,
        parts=_parts(speed, cores, bandwidth, latency),
    )


def two_topologies() -> Platform:
    """Return a fat tree and a torus of 64 hosts each, joined by one link: an example."""
    return clusters.two_topologies()


def _parts(speed: Quantity, cores: int, bandwidth: Quantity, latency: Quantity) -> Parts:
    """Return equal hosts and links."""
    return Parts(
        read_quantity("speed", speed),
        cores,
        read_quantity("bandwidth", bandwidth),
        read_quantity("latency", latency),
    )


def random_graph(
    shape: str,
    n_hosts: int,
    decades: float = 0.0,
    forwarding: float = 0.0,
    latency: Quantity = 1e-3,
    routing: str = "Full",
    seed: int = 0,
) -> Platform:
    """Return a random graph of hosts: one of the shapes on which prices are tried.

    Parameters
    ----------
    shape, n_hosts, decades, forwarding, latency
        Those of `simplugin.platforms.topologies.random_graphs.random_graph`.
    routing : str
        As in `simplugin.platforms.graphs.Graph.platform`: routes between neighbours only, or
        between all.
    seed : int
        Of the draws.
    """
    graph = random_graphs.random_graph(
        shape,
        n_hosts,
        draws(seed),
        decades=decades,
        forwarding=forwarding,
        latency=read_quantity("latency", latency),
    )
    return graph.platform(routing)


def random_tree(
    n_hosts: int,
    max_degree: int,
    speeds: Sequence[Any] = SPEEDS,
    bandwidths: Sequence[Any] = BANDWIDTHS,
    bandwidth_law: str = "log-uniform",
    latency: Quantity = 0.0,
    latencies: Sequence[Any] | None = None,
    root_computes: bool = True,
    routing: str = "Full",
    seed: int = 0,
) -> Platform:
    """Return a random tree of hosts, ``n0`` its root: those of Beaumont et al., but for latencies.

    Links have none if nothing is said; the paper's are ``latencies = ["6ms", "10s"]``.

    Parameters
    ----------
    n_hosts, max_degree, speeds, bandwidths, bandwidth_law, latency, latencies, root_computes
        Those of `simplugin.platforms.topologies.random_trees.random_tree`.
    routing : str
        As in `simplugin.platforms.graphs.Graph.platform`: routes between parents and children
        only, or between all.
    seed : int
        Of the draws.
    """
    tree = random_trees.random_tree(
        n_hosts,
        max_degree,
        draws(seed),
        speeds=read_range("speeds", speeds),
        bandwidths=read_range("bandwidths", bandwidths),
        bandwidth_law=bandwidth_law,  # type: ignore[arg-type]  # it looks itself
        latency=read_quantity("latency", latency),
        latencies=None if latencies is None else read_range("latencies", latencies),
        root_computes=root_computes,
    )
    return tree.platform(routing)
