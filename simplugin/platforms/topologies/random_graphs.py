"""Random trees and graphs: with or without cycles, uniform or uneven, in the plane."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from simplugin.core.elementary import exp, log, power
from simplugin.core.errors import PlatformError
from simplugin.platforms.graphs import Graph, Tree
from simplugin.platforms.validation import (
    require_between,
    require_choice,
    require_count,
    require_not_negative,
    require_truth,
)

Edges = NDArray[np.int64]
Shape = Callable[[int, np.random.Generator], Edges]
Floats = NDArray[np.float64]

# Geometric mean of speeds [flop/s] and bandwidths [byte/s].
MEAN = 5e8
# More powers of ten than any platform spreads over, and far from where floats end.
_MOST_DECADES = 100


def recursive_tree(n_hosts: int, generator: np.random.Generator) -> Edges:
    """Return a tree in which each host joins one drawn evenly among those before it.

    Parameters
    ----------
    n_hosts : int
        Number of hosts.
    generator : numpy.random.Generator
        Source of the draws.

    Returns
    -------
    int64, shape (n_edges, 2)
        The hosts that each edge joins; so for every shape of this module.
    """
    return _tree(generator.integers(0, np.arange(1, n_hosts)))


def preferential_tree(n_hosts: int, generator: np.random.Generator) -> Edges:
    """Return a tree in which each host joins one drawn in proportion to its neighbours."""
    ends = [0]
    parents = []
    for child in range(1, n_hosts):
        parent = ends[int(generator.integers(len(ends)))]
        parents.append(parent)
        ends += [parent, child]
    return _tree(np.array(parents, dtype=np.int64))


def binary_tree(n_hosts: int, generator: np.random.Generator) -> Edges:  # noqa: ARG001 - a Shape
    """Return the complete binary tree, filled level by level."""
    return _tree(np.arange(n_hosts - 1) // 2)


def deep_tree(n_hosts: int, generator: np.random.Generator) -> Edges:
    """Return a tree in which each host joins one of the three before it."""
    children = np.arange(1, n_hosts)
    return _tree(np.maximum(children - generator.integers(1, 4, size=n_hosts - 1), 0))


def path(n_hosts: int, generator: np.random.Generator) -> Edges:  # noqa: ARG001 - a Shape
    """Return a line of hosts."""
    return _tree(np.arange(n_hosts - 1))


def star(n_hosts: int, generator: np.random.Generator) -> Edges:  # noqa: ARG001 - a Shape
    """Return a centre, host 0, with all others around it."""
    return _tree(np.zeros(n_hosts - 1, dtype=np.int64))


def clusters(n_hosts: int, generator: np.random.Generator) -> Edges:
    """Return a centre with heads around it, and around each head its cluster.

    There are about as many heads as hosts in a cluster; which head a host has is drawn.
    """
    heads = max(1, math.isqrt(n_hosts) - 1)
    children = np.arange(1, n_hosts)
    return _tree(np.where(children <= heads, 0, generator.integers(1, heads + 1, size=n_hosts - 1)))


def small_world(n_hosts: int, generator: np.random.Generator) -> Edges:
    """Return a ring with half as many chords as hosts, drawn evenly."""
    ring = np.arange(n_hosts)
    ends = np.concatenate(
        [
            _edges(ring, (ring + 1) % n_hosts),
            generator.integers(0, n_hosts, size=(n_hosts // 2, 2)),
        ]
    )
    ends = np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1)
    return np.unique(ends, axis=0)


def grid(n_hosts: int, generator: np.random.Generator) -> Edges:  # noqa: ARG001 - a Shape
    """Return a square mesh, with a possibly incomplete last row."""
    columns = max(1, math.isqrt(n_hosts))
    hosts = np.arange(n_hosts)
    right = hosts[(hosts % columns < columns - 1) & (hosts + 1 < n_hosts)]
    below = hosts[hosts + columns < n_hosts]
    return np.concatenate([_edges(right, right + 1), _edges(below, below + columns)])


SHAPES: dict[str, Shape] = {
    "recursive": recursive_tree,
    "preferential": preferential_tree,
    "binary": binary_tree,
    "deep": deep_tree,
    "path": path,
    "star": star,
    "clusters": clusters,
    "small_world": small_world,
    "grid": grid,
}


def random_graph(
    shape: str,
    n_hosts: int,
    generator: np.random.Generator,
    *,
    decades: float = 0.0,
    forwarding: float = 0.0,
    latency: float = 1e-3,
) -> Graph:
    """Return a random platform.

    Parameters
    ----------
    shape : str
        A key of `SHAPES`.
    n_hosts : int
        Number of hosts, from 2 on; named ``h0``, ``h1``...
    generator : numpy.random.Generator
        Source of the draws.
    decades : float
        Over how many powers of ten speeds and bandwidths spread, log-uniformly around 5e8; the
        two directions of a link are drawn apart. From 0 to 100.
    forwarding : float
        The probability that a host only forwards; the first always computes.
    latency : float
        Of every link [s].

    Returns
    -------
    Graph
        Connected, with one link a direction between neighbours.

    Raises
    ------
    PlatformError
        There is no such shape, or a number is out of its range.
    """
    require_choice("the shape", shape, SHAPES)
    require_count("the number of hosts", n_hosts, 2)
    require_between("the number of decades", decades, 0, _MOST_DECADES)
    require_between("the probability of forwarding only", forwarding, 0, 1)
    require_not_negative("the latency of links", latency, "s")
    ends = SHAPES[shape](n_hosts, generator)
    speed = _spread(n_hosts, decades, generator)
    speed[1:][generator.random(n_hosts - 1) < forwarding] = 0.0
    bandwidth = _spread(2 * len(ends), decades, generator).reshape(-1, 2)
    names = [f"h{host}" for host in range(n_hosts)]
    return Graph.duplex(names, speed, ends, bandwidth, latency)


def _tree(parents: NDArray[np.int64]) -> Edges:
    """Return the edges of a tree from the parents of the hosts from the second on."""
    return _edges(parents, np.arange(1, len(parents) + 1))


def _edges(first: Edges, second: Edges) -> Edges:
    """Return pairs of ends."""
    return np.column_stack([first, second]).astype(np.int64)


def sorted_edges(pairs: Iterable[tuple[int, int]]) -> Edges:
    """Return edges as networkx has them, the lower end first, in order."""
    ends = sorted((min(pair), max(pair)) for pair in pairs)
    return np.array(ends, dtype=np.int64).reshape(-1, 2)


def _spread(count: int, decades: float, generator: np.random.Generator) -> NDArray[np.float64]:
    """Return log-uniform values around `MEAN`."""
    exponent = generator.uniform(-decades / 2, decades / 2, size=count)
    return np.asarray(MEAN * power(10.0, exponent), dtype=float)


def usual_radius(n_hosts: int) -> float:
    """Return the radius of a disk with 2 ln(n) hosts on average, 1 at least.

    Twice the area at which large random geometric graphs become connected [1]_.

    References
    ----------
    .. [1] P. Gupta, P. R. Kumar (1998). Critical power for asymptotic connectivity in wireless
       networks. In Stochastic Analysis, Control, Optimization and Applications, 547-566.
    """
    return math.sqrt(max(2 * log(n_hosts), 1.0) / (math.pi * n_hosts))


def geometric_graph(
    n_hosts: int, generator: np.random.Generator, radius: float | None = None
) -> tuple[Floats, Edges, Floats]:
    """Return a connected random geometric graph.

    Positions are drawn evenly in the unit square; hosts not further apart than the radius are
    neighbours (`networkx.random_geometric_graph`). Where that leaves parts, they are joined by
    the shortest edges that do: those of a minimum spanning tree of the parts.

    Parameters
    ----------
    n_hosts : int
        Number of hosts.
    generator : numpy.random.Generator
        Source of the positions.
    radius : float, optional
        Within which hosts are neighbours, in sides of the square; `usual_radius` without.

    Returns
    -------
    position : float64, shape (n_hosts, 2)
        Of each host, in the unit square.
    edges : int64, shape (n_edges, 2)
        The hosts that each edge joins, the lower one first, in order.
    length : float64, shape (n_edges,)
        Of each edge, in sides of the square.

    Raises
    ------
    PlatformError
        The radius is negative or no number.
    """
    import networkx as nx

    within = usual_radius(n_hosts) if radius is None else radius
    if not 0 <= within < math.inf:
        raise PlatformError(f"the radius is {within!r}", remedy="give a number from 0 to 1.5")
    near = n_hosts * min(1.0, math.pi * within**2) / 2
    require_count("the number of links of all hosts", int(n_hosts * near), 0)
    position = generator.random((n_hosts, 2))
    places = dict(enumerate(map(tuple, position.tolist())))
    graph = nx.random_geometric_graph(n_hosts, within, pos=places)
    parts = [sorted(part) for part in nx.connected_components(graph)]
    graph.add_edges_from(_bridges(position, parts))
    edges = sorted_edges(graph.edges())
    across = position[edges[:, 0]] - position[edges[:, 1]]
    return position, edges, _length(across)


def _bridges(position: Floats, parts: list[list[int]]) -> list[tuple[int, int]]:
    """Return the edges that join the parts, as Prim's algorithm finds them from the first part."""
    part_of = {host: part for part in parts for host in part}
    outside = np.ones(len(position), dtype=bool)
    distance = np.full(len(position), np.inf)
    nearest = np.zeros(len(position), dtype=np.int64)
    joined, bridges = parts[0], []
    for _ in parts[1:]:
        outside[joined] = False
        for host in joined:
            away = _length(position - position[host])
            closer = away < distance
            distance[closer], nearest[closer] = away[closer], host
        host = int(np.argmin(np.where(outside, distance, np.inf)))
        bridges.append((int(nearest[host]), host))
        joined = part_of[host]
    return bridges


def _length(vectors: Floats) -> Floats:
    """Return the Euclidean lengths of vectors, shape (n, 2)."""
    return np.sqrt(vectors[:, 0] * vectors[:, 0] + vectors[:, 1] * vectors[:, 1])


# Ranges of section 6.1.2: CPUs measured on hosts from a Pentium Pro to an Athlon [flop/s] ...
SPEEDS = (22.151e6, 171.667e6)
# ... and links, with "Kbps" and "Mbps" taken as kilo- and megabytes per second [byte/s].
BANDWIDTHS = (110e3, 7e6)
# Latencies of the links there [s]; the hosts were "spread across the Internet".
LATENCIES = (6e-3, 10.0)


def random_tree(
    n_hosts: int,
    max_degree: int,
    generator: np.random.Generator,
    *,
    speeds: tuple[float, float] = SPEEDS,
    bandwidths: tuple[float, float] = BANDWIDTHS,
    bandwidth_law: Literal["log-uniform", "uniform"] = "log-uniform",
    latency: float | tuple[float, float] = 0.0,
    root_computes: bool = True,
) -> Tree:
    """Return a random tree, grown breadth first as in section 6.1.2 of [1]_.

    Each host in turn gets 1 to `max_degree` children, until there are enough hosts: the paper's
    "maximum degree" is taken to count children. The law of the draws, which the paper leaves open,
    is uniform for degrees and speeds. The paper draws latencies too, from `LATENCIES`; here links
    have none by default.

    Parameters
    ----------
    n_hosts : int
        Number, the root included.
    max_degree : int
        The most children that a host may have.
    generator : numpy.random.Generator
        Source of the draws.
    speeds : tuple of float
        Smallest and largest speed [flop/s].
    bandwidths : tuple of float
        Smallest and largest bandwidth [byte/s].
    bandwidth_law : {"log-uniform", "uniform"}
        The law of bandwidths.
    latency : float or tuple of float
        Of every link [s]; or smallest and largest latency, drawn log-uniformly: an assumption, as
        the paper names no law. Their stream of draws is spawned from `generator`, so that all
        other draws are the same with any latency.
    root_computes : bool
        True if the root is given a speed; it only distributes otherwise.

    Raises
    ------
    PlatformError
        A number is out of its range.

    References
    ----------
    .. [1] O. Beaumont, L. Carter, J. Ferrante, A. Legrand, L. Marchal and Y. Robert (2008).
       Centralized versus distributed schedulers for bag-of-tasks applications. IEEE TPDS 19(5).
    """
    require_count("the number of hosts of a tree", n_hosts, 1)
    require_count("the largest number of children", max_degree, 1)
    require_choice("bandwidth_law", bandwidth_law, ("log-uniform", "uniform"))
    require_truth("root_computes", root_computes)
    _require_range("speeds", speeds)
    _require_range("bandwidths", bandwidths)
    speed = generator.uniform(speeds[0], speeds[1], n_hosts)
    if bandwidth_law == "uniform":
        bandwidth = generator.uniform(bandwidths[0], bandwidths[1], n_hosts)
    else:
        low, high = log(bandwidths)
        bandwidth = exp(generator.uniform(low, high, n_hosts))
    bandwidth[0] = np.inf
    if not root_computes:
        speed[0] = 0.0
    if isinstance(latency, float | int):
        require_not_negative("the latency of links", latency, "s")
        late = np.full(n_hosts, float(latency))
    else:
        _require_range("latencies", latency)
        low, high = log(latency)
        late = exp(generator.spawn(1)[0].uniform(low, high, n_hosts))
    late[0] = 0.0
    parent = [-1]
    for host in range(n_hosts):
        if len(parent) < n_hosts:
            count = int(generator.integers(1, max_degree + 1))
            parent += [host] * min(count, n_hosts - len(parent))
    names = tuple(f"n{host}" for host in range(n_hosts))
    return Tree(names, np.array(parent, dtype=np.int64), speed, bandwidth, late)


def _require_range(name: str, ends: tuple[float, float]) -> None:
    """Raise unless two ends make a range of positive numbers."""
    low, high = ends
    if not 0 < low <= high < np.inf:
        raise PlatformError(
            f"{name} is ({low}, {high})", remedy="give the smallest and the largest, both positive"
        )
