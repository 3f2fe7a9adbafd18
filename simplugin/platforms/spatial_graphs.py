"""Random geometric graphs: hosts in a square, neighbours where they are near each other."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simplugin.elementary import log
from simplugin.errors import PlatformError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SpatialGraph:
    """Points of the unit square and the edges between some of them.

    Attributes
    ----------
    position : float64, shape (n_hosts, 2)
        Of each host, in the unit square.
    edges : int64, shape (n_edges, 2)
        The hosts that each edge joins, the lower one first, in order.
    length : float64, shape (n_edges,)
        Of each edge, in sides of the square.
    """

    position: Floats
    edges: NDArray[np.int64]
    length: Floats


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
) -> SpatialGraph:
    """Return a connected random geometric graph.

    Positions are drawn evenly in the unit square; hosts not further apart than the radius are
    neighbours (`networkx.random_geometric_graph`). Where that leaves parts, they are joined by
    the shortest edges that do: those of a minimum spanning tree of the parts.

    Parameters
    ----------
    n_hosts : int
        How many hosts.
    generator : numpy.random.Generator
        Source of the positions.
    radius : float, optional
        Within which hosts are neighbours, in sides of the square; `usual_radius` without.

    Raises
    ------
    PlatformError
        The radius is negative or no number.
    """
    import networkx as nx

    within = usual_radius(n_hosts) if radius is None else radius
    if not 0 <= within < math.inf:
        raise PlatformError(f"the radius is {within!r}", remedy="give a number from 0 to 1.5")
    position = generator.random((n_hosts, 2))
    places = dict(enumerate(map(tuple, position.tolist())))
    graph = nx.random_geometric_graph(n_hosts, within, pos=places)
    parts = [sorted(part) for part in nx.connected_components(graph)]
    graph.add_edges_from(_bridges(position, parts))
    edges = np.array(sorted(tuple(sorted(edge)) for edge in graph.edges()), dtype=np.int64)
    edges = edges.reshape(-1, 2)
    across = position[edges[:, 0]] - position[edges[:, 1]]
    return SpatialGraph(position, edges, _length(across))


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
