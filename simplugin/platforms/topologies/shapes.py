"""Topologies: graphs of hosts by their shape, alike or drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simplugin.elementary import log2
from simplugin.errors import PlatformError
from simplugin.platforms.graphs import Graph
from simplugin.platforms.laws import Law
from simplugin.platforms.sites import GIGABIT, LATENCY
from simplugin.platforms.topologies import random_graphs
from simplugin.platforms.topologies.random_graphs import geometric_graph
from simplugin.platforms.validation import require_count, require_not_negative, require_positive

Edges = NDArray[np.int64]

# Of a host [flop/s]; an assumption, and a round one.
SPEED = 1e9


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
            ("speed", "hosts", require_positive, "flop/s"),
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
    """Return a number so many times, or draws from a law, shape (size,)."""
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
    edges = random_graphs.path(n_hosts, generator)
    return capacities.graph(n_hosts, edges, generator)


def ring(n_hosts: int, generator: np.random.Generator, capacities: Capacities = ALIKE) -> Graph:
    """Return hosts in a circle, from 3 on."""
    require_count("the number of hosts of a ring", n_hosts, 3)
    hosts = np.arange(n_hosts)
    edges = np.column_stack([hosts, (hosts + 1) % n_hosts])
    return capacities.graph(n_hosts, edges, generator)


def grid(
    rows: int, columns: int, generator: np.random.Generator, capacities: Capacities = ALIKE
) -> Graph:
    """Return hosts in rows and columns, each joined to those beside, above and below.

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
    sons = np.arange(1, n_hosts)
    edges = np.column_stack([(sons - 1) // arity, sons])
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
        Within which hosts are neighbours, see `spatial_graphs.geometric_graph`.
    side_latency : float
        What a link as long as a side of the square is later than a short one, others in
        proportion to their lengths [s].
    """
    require_count("the number of hosts", n_hosts, 2)
    require_not_negative("the latency over a side", side_latency, "s")
    shape = geometric_graph(n_hosts, generator, radius)
    further = shape.length * side_latency
    return capacities.graph(n_hosts, shape.edges, generator, further_latency=further)


def preferential_attachment(
    n_hosts: int,
    generator: np.random.Generator,
    capacities: Capacities = ALIKE,
    *,
    links: int = 2,
) -> Graph:
    """Return a graph with hubs: each host joins some that have many neighbours already.

    Parameters
    ----------
    n_hosts, generator, capacities
        As for `chain`.
    links : int
        Number of neighbours that each host joins, see `random_graphs.preferential_attachment`.
    """
    edges = random_graphs.preferential_attachment(n_hosts, links, generator)
    return capacities.graph(n_hosts, edges, generator)


def small_world(
    n_hosts: int,
    generator: np.random.Generator,
    capacities: Capacities = ALIKE,
    *,
    neighbours: int = 4,
    rewired: float = 0.1,
) -> Graph:
    """Return a ring of neighbourhoods with some links to anywhere.

    Parameters
    ----------
    n_hosts, generator, capacities
        As for `chain`.
    neighbours, rewired
        See `random_graphs.rewired_ring`.
    """
    edges = random_graphs.rewired_ring(n_hosts, neighbours, rewired, generator)
    return capacities.graph(n_hosts, edges, generator)


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
