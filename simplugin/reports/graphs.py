"""Drawings of graphs that are laid out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from simplugin.core.errors import SimpluginError
from simplugin.reports.colours import group_colour
from simplugin.reports.image_files import Chart, drawn
from simplugin.reports.platforms.layouts import packed

if TYPE_CHECKING:
    from os import PathLike

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from simplugin.results.charts import GraphChart

# The light colours of P. Tol, distinct from those of groups of a schedule.
_LIGHT = (
    "#99ddff", "#ffaabb", "#eedd88", "#bbcc33", "#ee8866", "#44bb99", "#77aadd", "#dddddd",
)  # fmt: skip
# Horizontal and vertical unit distance, maximum width and height of a panel [inch].
_ACROSS, _DOWN, _WIDEST, _TALLEST = 0.74, 0.86, 17.0, 22.0
# Minimum width of a panel, and maximum width of a row of panels [inch].
_LEAST_WIDTH, _WIDEST_ROW = 3.6, 26.0
# Around a graph: left, right, above, below [inch].
_MARGINS = (0.55, 0.55, 0.95, 0.8)
# Diameter of a node, in distances across [inch].
_SMALLEST, _LARGEST = 0.25, 0.62
_FONT, _LEAST_FONT = 7.0, 3.2
_LETTER = 0.6
_EDGE, _MARK = "#9a9a9a", "#222222"


def draw_graphs(
    charts: Sequence[GraphChart], path: str | PathLike[str] | None = None, *, title: str = ""
) -> Chart:
    """Draw several graphs on one sheet.

    Parameters
    ----------
    charts : sequence of GraphChart
        Charts to draw.
    path : path, optional
        A PNG, SVG or PDF file, by its suffix; an existing file is replaced.
    title : str
        Above everything.

    Returns
    -------
    Chart
        The drawing, which a notebook shows.

    Raises
    ------
    SimpluginError
        There is nothing to draw, the suffix is unknown, or the file cannot be written.
    """
    from matplotlib.figure import Figure
    from matplotlib.text import Text

    if not charts:
        raise SimpluginError("there is no graph to draw")
    panels = [_Panel(chart) for chart in charts]
    sizes = [(panel.width, panel.height) for panel in panels]
    corners = packed(sizes, max(_WIDEST_ROW, *(panel.width for panel in panels)))
    ends = [(x + wide, y + high) for (x, y), (wide, high) in zip(corners, sizes, strict=True)]
    width, height = max(x for x, _ in ends), max(y for _, y in ends) + (0.45 if title else 0.0)
    figure = Figure(figsize=(width, height))
    for panel, (left, top) in zip(panels, corners, strict=True):
        low = height - top - panel.height - (0.45 if title else 0.0)
        box = (left / width, low / height, panel.width / width, panel.height / height)
        panel.draw(figure.add_axes(box))
    if title:
        figure.text(
            0.15 / width, 1 - 0.15 / height, title, va="top", fontsize=13, fontweight="bold"
        )
    for written in figure.findobj(Text):
        written.set_parse_math(False)
    return drawn(figure, path)


class _Panel:
    """One graph, measured in inches."""

    def __init__(self, chart: GraphChart) -> None:
        self.chart = chart
        points = [(node.x, node.y) for node in chart.nodes]
        points += [point for edge in chart.edges for point in edge.through]
        spots = np.array(points)
        self.origin = spots.min(axis=0)
        span = spots.max(axis=0) - self.origin
        left, right, above, below = _MARGINS
        self.across = min(_ACROSS, (_WIDEST - left - right) / max(float(span[0]), 1e-9))
        # Wide graphs get higher, or their edges would be flat.
        slope = 1.0 + min(float(span[0]) / 16, 1.6)
        room = _TALLEST - above - below
        self.down = min(_DOWN * slope, room / max(float(span[1]), 1e-9))
        inner = float(span[0]) * self.across
        legend = sum(len(name) * 0.075 + 0.35 for name in chart.groups)
        words = max(len(chart.facts) * 0.062, legend) + 0.3
        self.width = max(inner + left + right, _LEAST_WIDTH, words)
        self.left = (self.width - inner) / 2
        self.height = float(span[1]) * self.down + above + below
        scale = self.across / _ACROSS
        self.head = 0.075 * max(math.sqrt(min(scale, 1.0)), 0.4)
        self.centres = [self.place(node.x, node.y) for node in chart.nodes]
        # The area of a node is proportional to its size.
        smallest, largest = _SMALLEST * max(scale, 0.25), _LARGEST * max(scale, 0.25)
        self.radii = [
            max(smallest, largest * math.sqrt(max(node.size, 0.0))) / 2 for node in chart.nodes
        ]

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Return a point in inches, y upwards."""
        return (
            (x - float(self.origin[0])) * self.across + self.left,
            self.height - _MARGINS[2] - (y - float(self.origin[1])) * self.down,
        )

    def draw(self, axes: Axes) -> None:
        """Draw the graph."""
        axes.set_xlim(0, self.width)
        axes.set_ylim(0, self.height)
        axes.axis("off")
        for marked in (False, True):
            self._edges(axes, marked=marked)
        self._nodes(axes)
        self._words(axes)

    def _edges(self, axes: Axes, *, marked: bool) -> None:
        """Draw edges as smooth curves, with a head at each end of one."""
        from matplotlib.collections import PathCollection, PolyCollection

        paths, heads = [], []
        for edge in self.chart.edges:
            if edge.marked == marked:
                inner = [self.place(*point) for point in edge.through]
                points = [self.centres[edge.source], *inner, self.centres[edge.target]]
                path, head = _arrow(np.array(points), self.radii[edge.target], self.head)
                paths.append(path)
                heads.append(head)
        if not paths:
            return
        colour, width = (_MARK, 1.5) if marked else (_EDGE, 0.7)
        lines = PathCollection(
            paths, facecolors="none", edgecolors=colour, linewidths=width, zorder=2 + marked
        )
        axes.add_collection(lines, autolim=False)
        tips: Any = np.array(heads)
        axes.add_collection(
            PolyCollection(tips, facecolors=colour, linewidths=0, zorder=2 + marked), autolim=False
        )

    def _nodes(self, axes: Axes) -> None:
        """Draw nodes with their texts and names."""
        from matplotlib.patches import Circle

        # So that names can be read across edges.
        paper = {"facecolor": "white", "edgecolor": "none", "pad": 0.6, "alpha": 0.8}
        longest = max(len(node.name) for node in self.chart.nodes)
        font = min(_FONT, 72 * self.across * 0.95 / (max(longest, 4) * _LETTER))
        for node, (x, y), radius in zip(self.chart.nodes, self.centres, self.radii, strict=True):
            colour = "#ffffff" if node.group is None else _LIGHT[node.group % len(_LIGHT)]
            edge, width = (_MARK, 1.5) if node.marked else ("#777777", 0.7)
            axes.add_patch(
                Circle((x, y), radius, facecolor=colour, edgecolor=edge, linewidth=width, zorder=5)
            )
            on = min(_FONT, 2 * radius * 72 * 0.95 / (max(len(node.text), 2) * _LETTER))
            axes.text(x, y, node.text, ha="center", va="center_baseline", fontsize=on, zorder=6)
            if font >= _LEAST_FONT:
                axes.text(
                    x, y - radius - 0.025, node.name, ha="center", va="top", fontsize=font,
                    color="#333333", bbox=paper, zorder=4,
                )  # fmt: skip

    def _words(self, axes: Axes) -> None:
        """Write title, facts and legend."""
        from matplotlib.patches import Rectangle

        chart, top = self.chart, self.height
        left = 0.15
        if chart.colour is not None:
            swatch = Rectangle(
                (left, top - 0.32), 0.15, 0.15, facecolor=group_colour(chart.colour), linewidth=0
            )
            axes.add_patch(swatch)
            left += 0.24
        axes.text(left, top - 0.245, chart.title, va="center", fontsize=10.5, fontweight="bold")
        axes.text(0.15, top - 0.45, chart.facts, va="center", fontsize=7.5, color="#555555")
        left = 0.15
        used = {node.group for node in chart.nodes}
        for number, name in enumerate(chart.groups):
            if number in used:
                axes.add_patch(
                    Rectangle(
                        (left, 0.09), 0.13, 0.13, facecolor=_LIGHT[number % len(_LIGHT)],
                        edgecolor="#777777", linewidth=0.7,
                    )
                )  # fmt: skip
                axes.text(left + 0.19, 0.155, name, va="center", fontsize=7.5)
                left += len(name) * 0.075 + 0.35


def _arrow(
    points: NDArray[np.float64], radius: float, head: float
) -> tuple[Any, NDArray[np.float64]]:
    """Return the path of an edge and the corners of its head, which touches the target."""
    from matplotlib.path import Path as Outline

    # The last piece is straight, so that the head has the direction of the line.
    way = points[-1] - points[-2]
    way = way / (np.hypot(*way) or 1.0)
    tip = points[-1] - way * radius
    base = tip - way * head
    side = np.array([-way[1], way[0]]) * head * 0.42
    corners = np.array([tip, base + side, base - side])
    stops = [*points[:-1], base]
    if len(stops) == 2:
        return Outline(stops, [Outline.MOVETO, Outline.LINETO]), corners
    # Smooth around each bend: a quadratic curve from the middle of one stretch to that of the next.
    vertices, codes = [stops[0]], [int(Outline.MOVETO)]
    for number in range(1, len(stops) - 1):
        last = number == len(stops) - 2
        end = stops[-1] if last else (stops[number] + stops[number + 1]) / 2
        vertices += [stops[number], end]
        codes += [int(Outline.CURVE3)] * 2
    return Outline(vertices, codes), corners
