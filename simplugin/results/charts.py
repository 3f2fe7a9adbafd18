"""Schedules and graphs as plain data, independent of how they are drawn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from heapq import heappush, heapreplace

from simplugin.core.errors import SimpluginError


@dataclass(frozen=True)
class Bar:
    """One interval of work on some processors.

    Attributes
    ----------
    group : int
        Number of its group, which determines the colour.
    processors : tuple of int
        Numbers, consecutive over all clusters.
    start, finish : float
        Dates [s].
    label : str
        Text on the bar, if it fits.
    """

    group: int
    processors: tuple[int, ...]
    start: float
    finish: float
    label: str = ""


@dataclass(frozen=True)
class ScheduleChart:
    """A schedule of groups on the processors of clusters.

    Attributes
    ----------
    name : str
        Name of its image file, without a suffix.
    title : str
        Title of the drawing.
    clusters : tuple of (str, int)
        Name and number of processors of each, in the order of their numbers.
    groups : tuple of str
        Meaning of the colours.
    bars : tuple of Bar
        In any order; later ones are drawn over earlier ones.
    facts : str
        A line below the title.
    dates : mapping of str to float
        Marked dates by their names [s].
    completion : tuple of float
        Completion date of each group [s]; empty to hide them.
    transfers : tuple of int
        Processors that represent transfers: drawn thinner, and not counted.

    Raises
    ------
    SimpluginError
        The group or a processor of a bar does not exist.
    """

    name: str
    title: str
    clusters: tuple[tuple[str, int], ...]
    groups: tuple[str, ...]
    bars: tuple[Bar, ...]
    facts: str = ""
    dates: Mapping[str, float] = field(default_factory=dict)
    completion: tuple[float, ...] = ()
    transfers: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Check groups and processors of bars."""
        count = sum(size for _, size in self.clusters)
        for bar in self.bars:
            if not 0 <= bar.group < len(self.groups):
                raise SimpluginError(
                    f"bar {bar.label!r} of chart {self.name!r} has group {bar.group};"
                    f" groups are 0 to {len(self.groups) - 1}"
                )
            if any(not 0 <= each < count for each in bar.processors):
                raise SimpluginError(
                    f"bar {bar.label!r} of chart {self.name!r} is on processors"
                    f" {list(bar.processors)}; processors are 0 to {count - 1}"
                )


@dataclass(frozen=True)
class DrawnNode:
    """A node of a drawn graph.

    Attributes
    ----------
    x, y : float
        Position; 1 is the least distance of two nodes of a layer, and that of two layers.
    name : str
        Text below the node.
    text : str
        Text on the node.
    size : float
        Relative area, from 0 to 1.
    group : int, optional
        Number of its group, which determines the colour; None for white.
    marked : bool
        True if it is emphasised.
    """

    x: float
    y: float
    name: str
    text: str = ""
    size: float = 0.5
    group: int | None = None
    marked: bool = False


@dataclass(frozen=True)
class DrawnEdge:
    """An edge of a drawn graph.

    Attributes
    ----------
    source, target : int
        Numbers of nodes.
    through : tuple of (float, float)
        Points on its way.
    marked : bool
        True if it is emphasised.
    """

    source: int
    target: int
    through: tuple[tuple[float, float], ...] = ()
    marked: bool = False


@dataclass(frozen=True)
class GraphChart:
    """A graph that is laid out; y grows downwards.

    Attributes
    ----------
    name : str
        Name of its image file, without a suffix.
    title : str
        Title of the drawing.
    nodes : tuple of DrawnNode
        In the order of their numbers.
    edges : tuple of DrawnEdge
        In any order.
    groups : tuple of str
        Meaning of the colours of nodes.
    facts : str
        A line below the title.
    colour : int, optional
        Number of the graph's own group in schedules, for a coloured mark at the title.

    Raises
    ------
    SimpluginError
        The end of an edge or the group of a node does not exist.
    """

    name: str
    title: str
    nodes: tuple[DrawnNode, ...]
    edges: tuple[DrawnEdge, ...]
    groups: tuple[str, ...] = ()
    facts: str = ""
    colour: int | None = None

    def __post_init__(self) -> None:
        """Check groups of nodes and ends of edges."""
        for node in self.nodes:
            if node.group is not None and not 0 <= node.group < len(self.groups):
                raise SimpluginError(
                    f"node {node.name!r} of chart {self.name!r} has group {node.group};"
                    f" groups are 0 to {len(self.groups) - 1}"
                )
        for edge in self.edges:
            if not all(0 <= end < len(self.nodes) for end in (edge.source, edge.target)):
                raise SimpluginError(
                    f"chart {self.name!r} has an edge from {edge.source} to {edge.target};"
                    f" nodes are 0 to {len(self.nodes) - 1}"
                )


def lanes(intervals: Iterable[tuple[float, float]]) -> list[int]:
    """Assign simultaneous intervals to the smallest number of lanes.

    Parameters
    ----------
    intervals : iterable of (float, float)
        Starts and ends, sorted.

    Returns
    -------
    list of int
        The number of the lane of each.
    """
    found = []
    free: list[tuple[float, int]] = []
    for start, end in intervals:
        if free and free[0][0] <= start:
            found.append(free[0][1])
            heapreplace(free, (end, found[-1]))
        else:
            found.append(len(free))
            heappush(free, (end, found[-1]))
    return found
