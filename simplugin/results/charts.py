"""Schedules and graphs as plain data, to be drawn by whoever can."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from heapq import heappush, heapreplace

from simplugin.core.errors import SimpluginError


@dataclass(frozen=True)
class Bar:
    """Some processors that are busy with one thing.

    Attributes
    ----------
    group : int
        Number of the group whose colour it has.
    processors : tuple of int
        Numbers, counted through all clusters.
    start, finish : float
        When [s].
    label : str
        Written on it where there is room.
    """

    group: int
    processors: tuple[int, ...]
    start: float
    finish: float
    label: str = ""


@dataclass(frozen=True)
class ScheduleChart:
    """A schedule: who uses which processors when.

    Attributes
    ----------
    name : str
        Of the file that it becomes, without a suffix.
    title : str
        Above the drawing.
    clusters : tuple of (str, int)
        Name and number of processors of each, in the order of their numbers.
    groups : tuple of str
        Meaning of the colours.
    bars : tuple of Bar
        In any order; later ones are drawn over earlier ones.
    facts : str
        A line below the title.
    dates : mapping of str to float
        Dates to be marked, by their names [s].
    completion : tuple of float
        When each group ends [s]; empty where that is not to be shown.
    transfers : tuple of int
        Processors that only stand for transfers: drawn thinner, and not counted.

    Raises
    ------
    SimpluginError
        A bar is of no group, or on a processor that is not there.
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
        """Refuse bars that cannot be drawn."""
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
        Where; 1 is the least distance of two nodes of a layer, and that of two layers.
    name : str
        Below it.
    text : str
        On it.
    size : float
        Value of its area, from 0 to 1.
    group : int, optional
        Number of the group whose colour it has; white without.
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
        Points that it passes between them.
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
        Of the file that it becomes, without a suffix.
    title : str
        Above the drawing.
    nodes : tuple of Node
        In the order of their numbers.
    edges : tuple of Curve
        In any order.
    groups : tuple of str
        Meaning of the colours of nodes.
    facts : str
        A line below the title.
    colour : int, optional
        Number of the group of schedules that the graph is, for its colour beside the title.

    Raises
    ------
    SimpluginError
        An edge has an end that is no node, or a node is of no group.
    """

    name: str
    title: str
    nodes: tuple[DrawnNode, ...]
    edges: tuple[DrawnEdge, ...]
    groups: tuple[str, ...] = ()
    facts: str = ""
    colour: int | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be drawn."""
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
    """Assign simultaneous intervals to different lanes, as few as possible.

    Parameters
    ----------
    intervals : iterable of (float, float)
        Starts and ends, sorted.

    Returns
    -------
    list of int
        Of each the number of its lane.
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
