"""Topologies by shape: those that SimGrid knows itself, and graphs of hosts, alike or drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from simplugin.core.elementary import log2
from simplugin.core.errors import PlatformError
from simplugin.platforms.graphs import Graph
from simplugin.platforms.hosts import Cluster, Host, spoke
from simplugin.platforms.laws import Law
from simplugin.platforms.links import SPLITDUPLEX, Link, LinkUse, ZoneRoute
from simplugin.platforms.platform import Platform, Zone
from simplugin.platforms.sites import GIGABIT, LATENCY
from simplugin.platforms.topologies.random_graphs import geometric_graph, path, sorted_edges
from simplugin.platforms.validation import (
    require_between,
    require_count,
    require_not_negative,
    require_positive,
)

# Of a host [flop/s]; an assumption, and a round one.
SPEED = 1e9
_US = 1e-6
# How many seeds networkx is given one of.
_SEEDS = 2**32
# Of a star's links [s]; to the last bit that of the files that it was first written to.
STAR_LATENCY = 50 * _US


@dataclass(frozen=True)
class Parts:
    """Equal hosts and equal links of a cluster; links are split-duplex.

    The defaults are those of `Capacities`.

    Attributes
    ----------
    speed : float
        Of each core [flop/s].
    cores : int
        Of each host.
    bandwidth : float
        Of each link, in each direction [byte/s].
    latency : float
        Of each link [s].
    """

    speed: float = SPEED
    cores: int = 1
    bandwidth: float = GIGABIT
    latency: float = LATENCY

    def cluster(self, name: str, n_hosts: int, topology: str, parameters: str) -> Cluster:
        """Return a cluster of hosts ``<name>-0``, ``<name>-1``, ...

        Parameters
        ----------
        name : str
            Of the cluster.
        n_hosts : int
            Number of hosts that its topology has places for.
        topology, parameters : str
            As for `Cluster`.
        """
        require_count(f"the number of hosts of cluster {name!r}", n_hosts, 1)
        return Cluster(
            name,
            f"0-{n_hosts - 1}",
            self.speed,
            self.bandwidth,
            self.latency,
            prefix=f"{name}-",
            cores=self.cores,
            topology=topology,
            topology_parameters=parameters,
        )

    def platform(self, name: str, n_hosts: int, topology: str, parameters: str) -> Platform:
        """Return the platform of a cluster, see `cluster`."""
        # SimGrid crashes on these clusters outside of a zone.
        cluster = self.cluster(name, n_hosts, topology, parameters)
        return Platform((Zone("all", "Full", (cluster,)),))


# One core, a gigabit link.
PLAIN = Parts()


def star(
    workers: int,
    generator: np.random.Generator,
    *,
    speed: float | Law | None = None,
    bandwidth: float | Law | None = None,
    latency: float | Law = STAR_LATENCY,
) -> Platform:
    """Return a heterogeneous star: a master and workers, each behind a link of its own.

    Parameters
    ----------
    workers : int
        Number of hosts ``worker-1``, ``worker-2``, ... around ``master``.
    generator : numpy.random.Generator
        Source of the draws.
    speed : float or Law, optional
        Of each host, the master included [flop/s]; multiples of 0.1 Gflop/s drawn evenly from 1
        to 9.9 Gflop/s without, round figures as one would write them by hand.
    bandwidth : float or Law, optional
        Of each link, in each direction [byte/s]; whole numbers from 10 to 125 MB/s without.
    latency : float or Law
        Of each link [s].

    Raises
    ------
    PlatformError
        A number is out of its range.
    """
    require_count("the number of workers", workers, 1)
    names = ["master", *(f"worker-{number}" for number in range(1, workers + 1))]
    speeds = generator.integers(10, 100, len(names)) * 1e8
    bandwidths = generator.integers(10, 126, len(names)) * 1e6
    if speed is not None:
        speeds = drawn(speed, generator, len(names))
    if bandwidth is not None:
        bandwidths = drawn(bandwidth, generator, len(names))
    late = drawn(latency, generator, len(names))
    spokes = [
        spoke(Host(name, speed), Link(f"{name}-link", width, delay, SPLITDUPLEX))
        for name, speed, width, delay in zip(
            names, speeds.tolist(), bandwidths.tolist(), late.tolist(), strict=True
        )
    ]
    hosts, links, ends = zip(*spokes, strict=True)
    return Platform((Zone("star", "Cluster", (*hosts, *links, *ends)),))


def flat_cluster(n_hosts: int, parts: Parts = PLAIN) -> Platform:
    """Return equal hosts around a switch that limits nothing, as one element.

    Parameters
    ----------
    n_hosts : int
        Number of hosts ``cluster-0``, ``cluster-1``, ... there are.
    parts : Parts
        Of hosts and links; so in each topology.

    Raises
    ------
    PlatformError
        A number is out of its range; so in each topology.
    """
    require_count("the number of hosts", n_hosts, 1)
    return parts.platform("cluster", n_hosts, "FLAT", "")


def fat_tree(
    children: Sequence[int],
    parents: Sequence[int] | None = None,
    parallel: Sequence[int] | None = None,
    parts: Parts = PLAIN,
) -> Platform:
    """Return a fat tree, a parallel-ports generalized one [1]_; hosts are only at the bottom.

    Parameters
    ----------
    children : sequence of int
        Number of children of a switch of each level, the lowest level first; there are as many
        hosts as their product.
    parents : sequence of int, optional
        Number of parents of each host and of each switch below the top, hosts first. Without, a
        host has one and each switch as many as children, so that nothing is oversubscribed.
    parallel : sequence of int, optional
        Number of links between a child and a parent, hosts first; one without.
    parts : Parts
        Of hosts and links.

    References
    ----------
    .. [1] E. Zahavi (2010). D-Mod-K routing providing non-blocking traffic for shift permutations
       on real life fat trees. Technion.
    """
    _require_counts("children", children)
    levels = len(children)
    above = [1, *children[:-1]] if parents is None else parents
    links = [1] * levels if parallel is None else parallel
    for what, given in (("parents", above), ("parallel", links)):
        _require_counts(what, given)
        if len(given) != levels:
            raise PlatformError(
                f"{what} has {len(given)} numbers", remedy=f"give {levels}, one for each level"
            )
    text = ";".join([str(levels), *(",".join(map(str, each)) for each in (children, above, links))])
    return parts.platform("tree", prod(children), "FAT_TREE", text)


def torus(sizes: Sequence[int], parts: Parts = PLAIN) -> Platform:
    """Return a torus of any number of dimensions; hosts are joined directly.

    Parameters
    ----------
    sizes : sequence of int
        Of the dimensions; host numbers count the first one fastest.
    parts : Parts
        Of hosts and links.
    """
    _require_counts("sizes", sizes)
    return parts.platform("torus", prod(sizes), "TORUS", ",".join(map(str, sizes)))


def dragonfly(
    groups: int = 4,
    routers: int = 4,
    hosts_per_router: int = 2,
    *,
    chassis: int = 1,
    group_links: int = 1,
    chassis_links: int = 1,
    router_links: int = 1,
    parts: Parts = PLAIN,
) -> Platform:
    """Return a dragonfly [1]_: groups of routers, all groups joined, all routers of one joined.

    Router n of each group leads to group n; what goes from group to group passes up to two links
    between routers and one between groups. The default is a small one, of 32 hosts.

    Parameters
    ----------
    groups : int
        Number of groups, not more than routers of a chassis.
    routers : int
        Number of routers of a chassis.
    hosts_per_router : int
        Number of hosts of each router.
    chassis : int
        Number of chassis of a group; routers of equal number are joined from chassis to chassis.
        With more than one, SimGrid 4.1 leaves the link between chassis out of some routes within
        a group, and puts it into others that stay in one chassis.
    group_links, chassis_links, router_links : int
        Number of links, side by side, between two groups, two chassis, two routers of a chassis.
    parts : Parts
        Of hosts and links.

    References
    ----------
    .. [1] J. Kim, W. J. Dally, S. Scott, D. Abts (2008). Technology-driven, highly-scalable
       dragonfly topology. ISCA, 77-88.
    """
    given = {
        "groups": groups,
        "routers": routers,
        "hosts_per_router": hosts_per_router,
        "chassis": chassis,
        "group_links": group_links,
        "chassis_links": chassis_links,
        "router_links": router_links,
    }
    for what, value in given.items():
        require_count(what, value, 1)
    # SimGrid looks for router n of a chassis to leave for group n, and aborts without it.
    if groups > routers:
        raise PlatformError(
            f"a dragonfly of {groups} groups has {routers} routers a chassis",
            remedy="give at least as many routers as groups",
        )
    text = (
        f"{groups},{group_links};{chassis},{chassis_links};"
        f"{routers},{router_links};{hosts_per_router}"
    )
    count = groups * chassis * routers * hosts_per_router
    return parts.platform("dragonfly", count, "DRAGONFLY", text)


def two_topologies() -> Platform:
    """Return a 64-host fat tree and a 64-host torus, joined by a 10 Gb/s link.

    An example: its figures are assumptions.
    """
    tree = Parts(4e9, 16, 1.25e9, 1 * _US).cluster("tree", 64, "FAT_TREE", "2;8,8;1,4;1,1")
    torus = Parts(3e9, 32, 1.25e9, 1 * _US).cluster("torus", 64, "TORUS", "4,4,4")
    # These topologies lack a router: a host of each is the gateway.
    route = ZoneRoute("tree", "torus", "tree-0", "torus-0", [LinkUse("wan", "UP")])
    wan = Link("wan", 1.25e9, 5e-3, SPLITDUPLEX)
    return Platform((Zone("centre", "Full", (tree, torus, wan), (route,)),))


def _require_counts(what: str, values: object) -> None:
    """Raise unless values are a sequence of whole numbers."""
    if isinstance(values, str) or not isinstance(values, Sequence) or not values:
        raise PlatformError(f"{what} is {values!r}", remedy="give a list of whole numbers")
    for value in values:
        require_count(f"a number of {what}", value, 1)


Edges = NDArray[np.int64]


@dataclass(frozen=True)
class Capacities:
    """Capacities of hosts and links: numbers, or laws that they are drawn from.

    The defaults are those of `MultiCluster` for a host's gigabit link, and a round speed.

    Attributes
    ----------
    speed : float or Law
        Of each host [flop/s].
    bandwidth : float or Law
        Of each link, in each direction [byte/s].
    latency : float or Law
        Of each link [s]; 0 as a number only.

    Raises
    ------
    PlatformError
        A number is out of its range.
    """

    speed: float | Law = SPEED
    bandwidth: float | Law = GIGABIT
    latency: float | Law = LATENCY

    def __post_init__(self) -> None:
        """Check the numbers."""
        for field, what, check, unit in (
            ("speed", "hosts", require_not_negative, "flop/s"),
            ("bandwidth", "links", require_positive, "byte/s"),
            ("latency", "links", require_not_negative, "s"),
        ):
            value = getattr(self, field)
            if not isinstance(value, Law):
                object.__setattr__(self, field, check(f"the {field} of {what}", value, unit))

    def graph(
        self,
        n_hosts: int,
        edges: Edges,
        generator: np.random.Generator,
        *,
        names: Sequence[str] = (),
        further_latency: NDArray[np.float64] | float = 0.0,
    ) -> Graph:
        """Return hosts of a shape; speeds are drawn first, then bandwidths, then latencies.

        Parameters
        ----------
        n_hosts : int
            Number of hosts.
        edges : int64, shape (n_edges, 2)
            The hosts that each edge joins.
        generator : numpy.random.Generator
            Source of the draws.
        names : sequence of str
            Of the hosts; ``h0``, ``h1`` and so on without.
        further_latency : float or float64, shape (n_edges,)
            Added to the latency of each edge [s].

        Returns
        -------
        Graph
            With one link a direction between neighbours, both alike.
        """
        speed = drawn(self.speed, generator, n_hosts)
        bandwidth = drawn(self.bandwidth, generator, len(edges))
        latency = drawn(self.latency, generator, len(edges)) + further_latency
        hosts = names or [f"h{host}" for host in range(n_hosts)]
        return Graph.duplex(hosts, speed, edges, bandwidth, latency)


# Equal hosts, equal links.
ALIKE = Capacities()


def drawn(what: float | Law, generator: np.random.Generator, size: int) -> NDArray[np.float64]:
    """Return a number, or draws from a law, as an array of a size."""
    if isinstance(what, Law):
        return what.draw(generator, size)
    return np.full(size, float(what))


def chain(n_hosts: int, generator: np.random.Generator, capacities: Capacities = ALIKE) -> Graph:
    """Return hosts in a line, each joined to the next.

    Parameters
    ----------
    n_hosts : int
        Number of hosts, from 2 on; so in each topology.
    generator : numpy.random.Generator
        Source of the draws; so in each topology.
    capacities : Capacities
        Of hosts and links; so in each topology.

    Raises
    ------
    PlatformError
        A number is out of its range; so in each topology.
    """
    require_count("the number of hosts", n_hosts, 2)
    return capacities.graph(n_hosts, path(n_hosts, generator), generator)


def ring(n_hosts: int, generator: np.random.Generator, capacities: Capacities = ALIKE) -> Graph:
    """Return hosts in a circle, from 3 on.

    Parameters
    ----------
    n_hosts, generator, capacities
        As for `chain`.
    """
    require_count("the number of hosts of a ring", n_hosts, 3)
    hosts = np.arange(n_hosts)
    edges = np.column_stack([hosts, (hosts + 1) % n_hosts])
    return capacities.graph(n_hosts, edges, generator)


def grid(
    rows: int, columns: int, generator: np.random.Generator, capacities: Capacities = ALIKE
) -> Graph:
    """Return hosts in rows and columns, each joined to its nearest neighbours.

    Parameters
    ----------
    rows, columns : int
        Numbers; host ``h2-5`` is the sixth of the third row.
    generator, capacities
        As for `chain`.
    """
    require_count("the number of rows", rows, 1)
    require_count("the number of columns", columns, 1)
    require_count("the number of hosts of a grid", rows * columns, 2)
    hosts = np.arange(rows * columns).reshape(rows, columns)
    edges = np.concatenate(
        [
            np.column_stack([hosts[:, :-1].ravel(), hosts[:, 1:].ravel()]),
            np.column_stack([hosts[:-1].ravel(), hosts[1:].ravel()]),
        ]
    )
    names = [f"h{row}-{column}" for row in range(rows) for column in range(columns)]
    return capacities.graph(rows * columns, edges, generator, names=names)


def complete_tree(
    arity: int, depth: int, generator: np.random.Generator, capacities: Capacities = ALIKE
) -> Graph:
    """Return a tree in which each host has equally many children, down to one depth.

    Parameters
    ----------
    arity : int
        Number of children of each host but the last ones.
    depth : int
        Number of links between the last hosts and the root, ``h0``.
    generator, capacities
        As for `chain`.
    """
    require_count("the number of children", arity, 1)
    require_count("the depth of a tree", depth, 1)
    # More than SimGrid ever loads, and an overflow soon.
    if depth * log2(arity) > 24 or depth > 2**24:
        raise PlatformError(
            f"a tree of {arity} children a host and depth {depth} is too large",
            remedy="give less than 2^24 hosts",
        )
    n_hosts = sum(arity**level for level in range(depth + 1))
    children = np.arange(1, n_hosts)
    edges = np.column_stack([(children - 1) // arity, children])
    return capacities.graph(n_hosts, edges, generator)


def random_geometric(
    n_hosts: int,
    generator: np.random.Generator,
    capacities: Capacities = ALIKE,
    *,
    radius: float | None = None,
    side_latency: float = 0.0,
) -> Graph:
    """Return hosts drawn in a square, each joined to those near it.

    Parameters
    ----------
    n_hosts, generator, capacities
        As for `chain`. Positions are drawn before capacities.
    radius : float, optional
        Within which hosts are neighbours, see `random_graphs.geometric_graph`.
    side_latency : float
        What a link as long as a side of the square is later than a short one, others in
        proportion to their lengths [s].
    """
    require_count("the number of hosts", n_hosts, 2)
    require_not_negative("the latency over a side", side_latency, "s")
    _, edges, length = geometric_graph(n_hosts, generator, radius)
    further = length * side_latency
    return capacities.graph(n_hosts, edges, generator, further_latency=further)


def preferential_attachment(
    n_hosts: int,
    generator: np.random.Generator,
    capacities: Capacities = ALIKE,
    *,
    links: int = 2,
) -> Graph:
    """Return a graph with hubs: each host prefers neighbours with many neighbours.

    `networkx.barabasi_albert_graph` [1]_: it starts from a star of ``links + 1`` hosts.

    Parameters
    ----------
    n_hosts, capacities
        As for `chain`.
    generator : numpy.random.Generator
        Source of the seed that networkx is given, then of the capacities.
    links : int
        Number of neighbours that each host joins, from 1 to `n_hosts` - 1.

    References
    ----------
    .. [1] A.-L. Barabási, R. Albert (1999). Emergence of scaling in random networks. Science 286,
       509-512.
    """
    import networkx as nx

    require_count("the number of hosts", n_hosts, 2)
    require_count("the number of links of a host", links, 1)
    if links >= n_hosts:
        raise PlatformError(
            f"each host joins {links} of {n_hosts} hosts", remedy=f"give 1 to {n_hosts - 1} links"
        )
    require_count("the number of links of all hosts", n_hosts * links, 1)
    graph = nx.barabasi_albert_graph(n_hosts, links, seed=int(generator.integers(_SEEDS)))
    return capacities.graph(n_hosts, sorted_edges(graph.edges()), generator)


def small_world(
    n_hosts: int,
    generator: np.random.Generator,
    capacities: Capacities = ALIKE,
    *,
    neighbours: int = 4,
    rewired: float = 0.1,
) -> Graph:
    """Return a ring of neighbourhoods with some links to anywhere.

    A small world [1]_, `networkx.connected_watts_strogatz_graph`: drawn again, up to 100 times,
    until connected.

    Parameters
    ----------
    n_hosts, capacities
        As for `chain`.
    generator : numpy.random.Generator
        Source of the seed that networkx is given, then of the capacities.
    neighbours : int
        Number of nearest hosts on the ring that each is joined to: even, from 2 on.
    rewired : float
        The probability that an edge gets another end.

    Raises
    ------
    PlatformError
        A number is out of its range, or no graph was connected.

    References
    ----------
    .. [1] D. J. Watts, S. H. Strogatz (1998). Collective dynamics of 'small-world' networks.
       Nature 393, 440-442.
    """
    import networkx as nx

    require_count("the number of hosts of a small world", n_hosts, 3)
    require_count("the number of neighbours", neighbours, 2)
    if neighbours % 2 or neighbours >= n_hosts:
        raise PlatformError(
            f"each of {n_hosts} hosts has {neighbours} neighbours",
            remedy="give an even number, from 2 to the number of hosts less 1",
        )
    require_count("the number of links of all hosts", n_hosts * neighbours // 2, 1)
    require_between("the probability that an edge is rewired", rewired, 0, 1)
    seed = int(generator.integers(_SEEDS))
    try:
        graph = nx.connected_watts_strogatz_graph(n_hosts, neighbours, rewired, 100, seed=seed)
    except nx.NetworkXError as error:
        raise PlatformError(
            f"no connected small world was found: {error}", remedy="give more neighbours"
        ) from error
    return capacities.graph(n_hosts, sorted_edges(graph.edges()), generator)


# Of [1]_: every host, and every link in each direction.
FIVE_HOSTS = tuple("ABCDE")
FIVE_HOSTS_SPEED = FIVE_HOSTS_BANDWIDTH = 5e8
# Figure 2 of [1]_ is a drawing without names. With a throughput known one round late, most trees
# give its 17 rounds; this one (like its mirror image, with B and E exchanged) also gives unscaled
# throughputs between 5e5 and 6e5, as its Figure 5, and the count nearest to its 498.
FIVE_HOSTS_TREE = ("AD", "AB", "BC", "CE")


def five_hosts(edges: Sequence[str] = FIVE_HOSTS_TREE, latency: float = 1e-3) -> Graph:
    """Return the five equal hosts of [1]_, section 5.1.

    Parameters
    ----------
    edges : sequence of str
        The neighbours, two letters an edge.
    latency : float
        Of each link [s]; [1]_ has none.

    References
    ----------
    .. [1] R. Bertin, A. Legrand, C. Touati (2007). Toward a fully decentralized algorithm for
       multiple bag-of-tasks application scheduling on grids. Research report.
    """
    ends = np.array([[FIVE_HOSTS.index(end) for end in edge] for edge in edges], dtype=np.int64)
    speed = np.full(len(FIVE_HOSTS), FIVE_HOSTS_SPEED)
    bandwidth = np.full(len(ends), FIVE_HOSTS_BANDWIDTH)
    return Graph.duplex(FIVE_HOSTS, speed, ends, bandwidth, latency)
