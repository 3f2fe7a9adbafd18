"""Layouts of graphs: trees as trees, rings as rings, grids as grids."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from networkx import Graph
    from numpy.typing import NDArray

Edges = Sequence[tuple[int, int]]

# Maximum numbers of points for `kamada_kawai` and `spring`, which take seconds beyond.
_MOST_STRESS, _MOST_SPRING = 160, 1200
# Maximum numbers of leaves of a tree across and down.
_MOST_ACROSS, _MOST_DOWN = 26, 80


@dataclass(frozen=True)
class PointLayout:
    """Positions of points, y downwards.

    Attributes
    ----------
    kind : str
        ``point``, ``row``, ``star``, ``ring``, ``tree``, ``lying`` (a tree from
        the left to the right), ``grid``, ``free`` or ``radial``. All but
        the last two are spaced by 1 or more.
    spots : float64, shape (n, 2)
        Positions.
    """

    kind: str
    spots: NDArray[np.float64]


def layout(n: int, edges: Edges) -> PointLayout:
    """Lay out a connected graph.

    Parameters
    ----------
    n : int
        Number of points, numbered from 0; the first is the root if it is a tree.
    edges : sequence of (int, int)
        Each pair once.
    """
    graph = _graph(n, edges)
    degrees = [graph.degree[point] for point in range(n)]
    if n == 1:
        return PointLayout("point", np.zeros((1, 2)))
    if len(edges) == n - 1:
        return _tree(graph, degrees)
    if max(degrees) == 2:
        return PointLayout("ring", _circle(_walk(graph, 0)))
    if len(edges) == n * (n - 1) // 2 and n <= 40:
        return PointLayout("ring", _circle(list(range(n))))
    spots = _grid(graph, degrees)
    if spots is not None:
        return PointLayout("grid", spots)
    return _free(graph)


def _walk(graph: Graph, start: int) -> list[int]:
    """Follow points of two neighbours from one of them."""
    from networkx import dfs_preorder_nodes

    return list(dfs_preorder_nodes(graph, start))


def _tree(graph: Graph, degrees: list[int]) -> PointLayout:
    """Lay out a tree."""
    n = len(degrees)
    if max(degrees) <= 2 and n <= 10:
        order = _walk(graph, degrees.index(1))
        if order[-1] == 0:
            order.reverse()
        spots = np.zeros((n, 2))
        spots[order, 0] = np.arange(n)
        return PointLayout("row", spots)
    if max(degrees) == n - 1 and n <= 80:
        hub = degrees.index(n - 1)
        spots = np.zeros((n, 2))
        leaves = [i for i in range(n) if i != hub]
        spots[leaves] = _circle(leaves, least=1.0)[leaves] if n > 2 else [[1.0, 0.0]]
        return PointLayout("star", spots)
    depth, leaf = _levels(graph)
    if leaf.max() + 1 <= _MOST_ACROSS:
        return PointLayout("tree", np.column_stack([leaf, depth]))
    if leaf.max() + 1 <= _MOST_DOWN and depth.max() <= 8:
        return PointLayout("lying", np.column_stack([depth, leaf]))
    return PointLayout("radial", _rounds(*_levels(graph, _heart(graph))))


def _heart(graph: Graph) -> int:
    """Return the centroid of a tree: no branch has more than half of all points."""
    from networkx import bfs_tree, dfs_postorder_nodes

    below = bfs_tree(graph, 0)
    size: dict[int, int] = {}
    for point in dfs_postorder_nodes(below, 0):
        size[point] = 1 + sum(size[child] for child in below[point])
        if 2 * size[point] >= len(graph):
            return int(point)
    return 0


def _levels(graph: Graph, root: int = 0) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the depth of each point below a root, and its place among the leaves.

    Follows a tree of shortest paths if there are more edges than that has.
    """
    from networkx import bfs_tree, dfs_postorder_nodes, single_source_shortest_path_length

    below = bfs_tree(graph, root)
    depth, leaf = np.zeros(len(graph)), np.zeros(len(graph))
    for point, steps in single_source_shortest_path_length(below, root).items():
        depth[point] = steps
    count = 0
    for point in dfs_postorder_nodes(below, root):
        if children := list(below[point]):
            leaf[point] = (leaf[children[0]] + leaf[children[-1]]) / 2
        else:
            leaf[point], count = count, count + 1
    return depth, leaf


def _rounds(depth: NDArray[np.float64], leaf: NDArray[np.float64]) -> NDArray[np.float64]:
    """Place a tree around its root, a circle for each depth."""
    angle = 2 * math.pi * leaf / (leaf.max() + 1) - math.pi / 2
    return np.column_stack([depth * np.cos(angle), depth * np.sin(angle)])


def _circle(order: Sequence[int], *, least: float = 0.0) -> NDArray[np.float64]:
    """Place points on a circle, neighbours at a distance of 1, from the top clockwise."""
    count = len(order)
    radius = max(0.5 / math.sin(math.pi / count), least) if count > 1 else least
    angle = 2 * math.pi * np.arange(count) / count - math.pi / 2
    spots = np.zeros((max(order) + 1, 2))
    spots[list(order)] = radius * np.column_stack([np.cos(angle), np.sin(angle)])
    return spots


def _grid(graph: Graph, degrees: list[int]) -> NDArray[np.float64] | None:
    """Return columns and rows if the graph is a grid, else None.

    With x and y the distances from a corner, and w the number of columns, a point is x + y away
    from that corner and w - 1 - x + y from the next; both numbers give x and y.
    """
    from networkx import single_source_shortest_path_length

    n = len(degrees)
    corners = [i for i in range(n) if degrees[i] == 2]
    if len(corners) != 4 or max(degrees) > 4:
        return None
    steps = [single_source_shortest_path_length(graph, corner) for corner in corners]
    first, *others = (np.array([found[point] for point in range(n)]) for found in steps)
    ends = np.array(graph.edges)
    for corner, second in zip(corners[1:], others, strict=True):
        across = first[corner]
        spots = np.column_stack([first - second + across, first + second - across]) / 2
        width, height = spots.max(axis=0) + 1
        fits = width * height == n and graph.size() == 2 * n - width - height
        lengths = np.abs(spots[ends[:, 0]] - spots[ends[:, 1]]).sum(axis=1)
        if fits and np.all(lengths == 1) and len(np.unique(spots, axis=0)) == n:
            return spots if width >= height else spots[:, ::-1]
    return None


def _free(graph: Graph) -> PointLayout:
    """Lay out any graph so that distances along edges show as distances."""
    import networkx as nx

    n = len(graph)
    if n > _MOST_SPRING:
        return PointLayout("radial", _rounds(*_levels(graph)))
    if n <= _MOST_STRESS:
        found = nx.kamada_kawai_layout(graph)
    else:
        found = nx.spring_layout(graph, seed=1, iterations=60)
    spots = np.array([found[i] for i in range(n)])
    # Turned so that points are spread more across than down.
    centred = spots - spots.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    # Signs of singular vectors are arbitrary.
    axes *= np.where(axes[:, :1] + 1e-9 * axes[:, 1:] < 0, -1.0, 1.0)
    return PointLayout("free", centred @ axes.T)


def parts(n: int, edges: Edges) -> list[list[int]]:
    """Return the connected parts of a graph, each with its points in order, largest first."""
    import networkx as nx

    found = map(sorted, nx.connected_components(_graph(n, edges)))
    return sorted(found, key=lambda part: (-len(part), part[0]))


def _graph(n: int, edges: Edges) -> Graph:
    """Return a graph with points numbered from 0."""
    import networkx as nx

    graph: Graph = nx.empty_graph(n)
    graph.add_edges_from(edges)
    return graph


def apart(
    spots: NDArray[np.float64], sizes: NDArray[np.float64], gap: float
) -> NDArray[np.float64]:
    """Move boxes until none overlaps another.

    Parameters
    ----------
    spots, sizes : float64, shape (n, 2)
        Centres, widths and heights.
    gap : float
        Least distance between two boxes.

    Returns
    -------
    float64, shape (n, 2)
        New centres, near the old.
    """
    spots = np.array(spots, dtype=float)
    # Boxes in the same place are separated in their order.
    spots += 1e-6 * np.arange(len(spots))[:, None]
    half = (sizes[:, None, :] + sizes[None, :, :]) / 2 + gap
    for _ in range(400):
        shift = spots[:, None, :] - spots[None, :, :]
        lack = half - np.abs(shift)
        np.fill_diagonal(lack[:, :, 0], -1.0)
        touching = (lack > 1e-9).all(axis=2)
        if not touching.any():
            return spots
        flat = lack[:, :, 0] < lack[:, :, 1]
        push = np.zeros_like(shift)
        push[:, :, 0] = np.where(touching & flat, np.sign(shift[:, :, 0]) * lack[:, :, 0], 0)
        push[:, :, 1] = np.where(touching & ~flat, np.sign(shift[:, :, 1]) * lack[:, :, 1], 0)
        # Each of two boxes moves slightly more than half of the overlap, so that the loop ends.
        spots += 0.52 * push.sum(axis=1) / np.maximum(touching.sum(axis=1), 1)[:, None] ** 0.5
    grown = spots * 1.3
    return apart(grown, sizes, gap) if np.abs(grown).max() < 1e3 else grown


def packed(sizes: Sequence[tuple[float, float]], width: float) -> list[tuple[float, float]]:
    """Place boxes within a width, each as high, then as far left as it goes.

    Parameters
    ----------
    sizes : sequence of (float, float)
        Widths, none above that of all, and heights.
    width : float
        Of all.

    Returns
    -------
    list of (float, float)
        Left and upper edges.
    """
    placed: list[tuple[float, float, float, float]] = []
    for wide, high in sizes:
        spots = []
        for left in [0.0, *(right for _, _, right, _ in placed)]:
            if left + wide <= width + 1e-9:
                above = [low for x, _, end, low in placed if x < left + wide and left < end]
                spots.append((max(above, default=0.0), left))
        top, left = min(spots)
        placed.append((left, top, left + wide, top + high))
    return [(left, top) for left, top, _, _ in placed]
