"""Topologies as scenarios and the command ask for them.

With `routing` ``"Full"`` only neighbours have routes, with ``"Floyd"``, ``"Dijkstra"`` or
``"DijkstraCache"`` all hosts.
"""

from __future__ import annotations

from typing import Annotated, Literal

from numpy.random import default_rng
from pydantic import Field

from simplugin.core.errors import PlatformError
from simplugin.inputs.quantities import HostSpeed, Latency, LinkBandwidth
from simplugin.platforms import Platform
from simplugin.platforms.drawn_quantities import DrawnBandwidth, DrawnLatency, DrawnSpeed
from simplugin.platforms.sites import GIGABIT, LATENCY
from simplugin.platforms.topologies import random_graphs, shapes
from simplugin.platforms.topologies.random_graphs import BANDWIDTHS, SPEEDS
from simplugin.platforms.topologies.shapes import SPEED, STAR_LATENCY, Capacities, Parts

Routing = Annotated[
    str,
    Field(description='"Full": routes between neighbours only; "DijkstraCache": between all.'),
]
Seed = Annotated[int, Field(ge=0, description="Of the draws.")]

# All hosts reach each other, and nothing grows with their square.
ROUTING = "DijkstraCache"


def chain(
    n_hosts: int,
    speed: DrawnSpeed = SPEED,
    bandwidth: DrawnBandwidth = GIGABIT,
    latency: DrawnLatency = LATENCY,
    routing: Routing = ROUTING,
    seed: Seed = 0,
) -> Platform:
    """Return hosts in a line, each joined to the next.

    Parameters
    ----------
    n_hosts
        See `shapes.chain`.
    """
    capacities = Capacities(speed, bandwidth, latency)
    return shapes.chain(n_hosts, default_rng(seed), capacities).platform(routing)


def ring(
    n_hosts: int,
    speed: DrawnSpeed = SPEED,
    bandwidth: DrawnBandwidth = GIGABIT,
    latency: DrawnLatency = LATENCY,
    routing: Routing = ROUTING,
    seed: Seed = 0,
) -> Platform:
    """Return hosts in a circle.

    Parameters
    ----------
    n_hosts
        See `shapes.chain`.
    """
    capacities = Capacities(speed, bandwidth, latency)
    return shapes.ring(n_hosts, default_rng(seed), capacities).platform(routing)


def grid(
    rows: int,
    columns: int,
    speed: DrawnSpeed = SPEED,
    bandwidth: DrawnBandwidth = GIGABIT,
    latency: DrawnLatency = LATENCY,
    routing: Routing = ROUTING,
    seed: Seed = 0,
) -> Platform:
    """Return hosts in rows and columns, each joined to those beside, above and below.

    Parameters
    ----------
    rows, columns
        See `shapes.grid`.
    """
    capacities = Capacities(speed, bandwidth, latency)
    return shapes.grid(rows, columns, default_rng(seed), capacities).platform(routing)


def complete_tree(
    arity: int = 2,
    depth: int = 3,
    speed: DrawnSpeed = SPEED,
    bandwidth: DrawnBandwidth = GIGABIT,
    latency: DrawnLatency = LATENCY,
    routing: Routing = ROUTING,
    seed: Seed = 0,
) -> Platform:
    """Return a tree in which each host has equally many children, binary if nothing is said.

    Parameters
    ----------
    arity, depth
        See `shapes.complete_tree`.
    """
    capacities = Capacities(speed, bandwidth, latency)
    return shapes.complete_tree(arity, depth, default_rng(seed), capacities).platform(routing)


def random_geometric(
    n_hosts: int,
    radius: float | None = None,
    side_latency: Latency = 0.0,
    speed: DrawnSpeed = SPEED,
    bandwidth: DrawnBandwidth = GIGABIT,
    latency: DrawnLatency = LATENCY,
    routing: Routing = ROUTING,
    seed: Seed = 0,
) -> Platform:
    """Return hosts drawn in a square, each joined to those near it.

    Parameters
    ----------
    n_hosts
        See `shapes.chain`.
    radius, side_latency
        See `shapes.random_geometric`.
    """
    capacities = Capacities(speed, bandwidth, latency)
    graph = shapes.random_geometric(
        n_hosts, default_rng(seed), capacities, radius=radius, side_latency=side_latency
    )
    return graph.platform(routing)


def preferential_attachment(
    n_hosts: int,
    links: int = 2,
    speed: DrawnSpeed = SPEED,
    bandwidth: DrawnBandwidth = GIGABIT,
    latency: DrawnLatency = LATENCY,
    routing: Routing = ROUTING,
    seed: Seed = 0,
) -> Platform:
    """Return a graph with hubs: each host joins some that have many neighbours already.

    Parameters
    ----------
    n_hosts
        See `shapes.chain`.
    links
        See `shapes.preferential_attachment`.
    """
    capacities = Capacities(speed, bandwidth, latency)
    graph = shapes.preferential_attachment(n_hosts, default_rng(seed), capacities, links=links)
    return graph.platform(routing)


def small_world(
    n_hosts: int,
    neighbours: int = 4,
    rewired: float = 0.1,
    speed: DrawnSpeed = SPEED,
    bandwidth: DrawnBandwidth = GIGABIT,
    latency: DrawnLatency = LATENCY,
    routing: Routing = ROUTING,
    seed: Seed = 0,
) -> Platform:
    """Return a ring of neighbourhoods with some links to anywhere.

    Parameters
    ----------
    n_hosts
        See `shapes.chain`.
    neighbours, rewired
        See `shapes.small_world`.
    """
    capacities = Capacities(speed, bandwidth, latency)
    graph = shapes.small_world(
        n_hosts, default_rng(seed), capacities, neighbours=neighbours, rewired=rewired
    )
    return graph.platform(routing)


def five_hosts(latency: Latency = 1e-3, routing: Routing = "Full") -> Platform:
    """Return five equal hosts in a tree, as Bertin, Legrand and Touati have them.

    Speeds and bandwidths are those of their section 5.1. Which hosts are neighbours is an
    assumption (see `simplugin.platforms.topologies.shapes.FIVE_HOSTS_TREE`), as is the latency.
    """
    return shapes.five_hosts(latency=latency).platform(routing)


def star(
    workers: int = 10,
    speed: DrawnSpeed | None = None,
    bandwidth: DrawnBandwidth | None = None,
    latency: DrawnLatency = STAR_LATENCY,
    seed: Seed = 1,
) -> Platform:
    """Return a master and workers, each behind a link of its own, round figures by default.

    Parameters
    ----------
    workers
        See `shapes.star`.
    """
    generator = default_rng(seed)
    return shapes.star(workers, generator, speed=speed, bandwidth=bandwidth, latency=latency)


def flat_cluster(
    n_hosts: int,
    speed: HostSpeed = SPEED,
    cores: int = 1,
    bandwidth: LinkBandwidth = GIGABIT,
    latency: Latency = LATENCY,
) -> Platform:
    """Return equal hosts around a switch that limits nothing, as one element.

    Parameters
    ----------
    n_hosts
        See `shapes.flat_cluster`.
    cores
        See `Parts`.
    """
    return shapes.flat_cluster(n_hosts, Parts(speed, cores, bandwidth, latency))


def fat_tree(
    children: tuple[int, ...],
    parents: tuple[int, ...] | None = None,
    parallel: tuple[int, ...] | None = None,
    speed: HostSpeed = SPEED,
    cores: int = 1,
    bandwidth: LinkBandwidth = GIGABIT,
    latency: Latency = LATENCY,
) -> Platform:
    """Return a fat tree; of each level, from below, the children of a switch.

    Parameters
    ----------
    children, parents, parallel
        See `shapes.fat_tree`.
    cores
        See `Parts`.
    """
    return shapes.fat_tree(children, parents, parallel, Parts(speed, cores, bandwidth, latency))


def torus(
    sizes: tuple[int, ...],
    speed: HostSpeed = SPEED,
    cores: int = 1,
    bandwidth: LinkBandwidth = GIGABIT,
    latency: Latency = LATENCY,
) -> Platform:
    """Return a torus, by its size in each dimension.

    Parameters
    ----------
    sizes
        See `shapes.torus`.
    cores
        See `Parts`.
    """
    return shapes.torus(sizes, Parts(speed, cores, bandwidth, latency))


def dragonfly(
    groups: int = 4,
    routers: int = 4,
    hosts_per_router: int = 2,
    chassis: int = 1,
    group_links: int = 1,
    chassis_links: int = 1,
    router_links: int = 1,
    speed: HostSpeed = SPEED,
    cores: int = 1,
    bandwidth: LinkBandwidth = GIGABIT,
    latency: Latency = LATENCY,
) -> Platform:
    """Return a dragonfly: groups of routers, all groups joined, all routers of one joined.

    Parameters
    ----------
    groups, routers, hosts_per_router, chassis, group_links, chassis_links, router_links
        See `shapes.dragonfly`.
    cores
        See `Parts`.
    """
    return shapes.dragonfly(
        groups,
        routers,
        hosts_per_router,
        chassis=chassis,
        group_links=group_links,
        chassis_links=chassis_links,
        router_links=router_links,
        parts=Parts(speed, cores, bandwidth, latency),
    )


def two_topologies() -> Platform:
    """Return a fat tree and a torus of 64 hosts each, joined by one link: an example."""
    return shapes.two_topologies()


def random_graph(
    shape: str,
    n_hosts: int,
    decades: float = 0.0,
    forwarding: float = 0.0,
    latency: Latency = 1e-3,
    routing: Routing = "Full",
    seed: Seed = 0,
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
    numbers = {"decades": decades, "forwarding": forwarding, "latency": latency}
    graph = random_graphs.random_graph(shape, n_hosts, default_rng(seed), **numbers)
    return graph.platform(routing)


def random_tree(
    n_hosts: int,
    max_degree: int,
    speeds: tuple[HostSpeed, HostSpeed] = SPEEDS,
    bandwidths: tuple[LinkBandwidth, LinkBandwidth] = BANDWIDTHS,
    bandwidth_law: Literal["log-uniform", "uniform"] = "log-uniform",
    latency: Latency = 0.0,
    latencies: tuple[Latency, Latency] | None = None,
    root_computes: bool = True,
    routing: Routing = "Full",
    seed: Seed = 0,
) -> Platform:
    """Return a random tree of hosts, ``n0`` its root: those of Beaumont et al., but for latencies.

    Links have none if nothing is said; the paper's are ``latencies = ["6ms", "10s"]``.

    Parameters
    ----------
    n_hosts, max_degree, speeds, bandwidths, bandwidth_law, latency, latencies, root_computes
        Those of `simplugin.platforms.topologies.random_graphs.random_tree`.
    routing : str
        As in `simplugin.platforms.graphs.Graph.platform`: routes between parents and children
        only, or between all.
    seed : int
        Of the draws.
    """
    if latency and latencies is not None:
        message = f"latency is {latency!r} and latencies are {latencies!r}"
        raise PlatformError(message, remedy="give one of them")
    tree = random_graphs.random_tree(
        n_hosts,
        max_degree,
        default_rng(seed),
        speeds=speeds,
        bandwidths=bandwidths,
        bandwidth_law=bandwidth_law,
        latency=latency if latencies is None else latencies,
        root_computes=root_computes,
    )
    return tree.platform(routing)
