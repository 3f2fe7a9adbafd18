"""Boxes in two columns, the network that joins them between the columns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from simplugin.reports.platforms.items import DrawnPart
from simplugin.reports.platforms.layouts import apart, layout
from simplugin.reports.platforms.sheet import (
    WIDTH,
    Block,
    Disc,
    Point,
    Stroke,
    Words,
    label_along,
    measured,
    overlapping,
)

_BETWEEN = 0.14
# Width of the network between the columns: without points, further width for each, and the most.
_LEAST_MIDDLE, _FOR_EACH, _MOST_MIDDLE = 1.8, 0.5, 5.2
_FONT = 7.0
# With more boxes it takes seconds to try all swaps.
_MOST_SWAPPED = 34


class BoxColumns:
    """Boxes at the left and right, all else between them.

    Parameters
    ----------
    part : DrawnPart
        Connected items.
    made : sequence of Block
        One for each item.
    """

    def __init__(self, part: DrawnPart, made: Sequence[Block]) -> None:
        self.part = part
        self.made = made
        self.boxes = [i for i, item in enumerate(part.items) if item.is_box]
        self.core = [i for i, item in enumerate(part.items) if not item.is_box]
        self.weights = np.zeros((len(made), len(made)))
        for one, other in part.edges:
            near_box = part.items[one].is_box or part.items[other].is_box
            self.weights[one, other] = self.weights[other, one] = 1.6 if near_box else 1.0
        self.ends = np.array(part.edges)
        self.sides = self._sides()
        self._swap_boxes()
        left, right = (max((made[i].width for i in side), default=0.0) for side in self.sides)
        wanted = _LEAST_MIDDLE + _FOR_EACH * len(self.core)
        self.left = left
        self.middle = min(max(WIDTH - left - right, _LEAST_MIDDLE), wanted, _MOST_MIDDLE)
        self.width = left + right + self.middle
        self.height = max(*map(self._height, self.sides), 0.45 * len(self.core), 1.2)

    def _height(self, side: Sequence[int]) -> float:
        """Return the minimum height of a column."""
        return sum(self.made[i].height + _BETWEEN for i in side) - _BETWEEN

    def _sides(self) -> tuple[list[int], list[int]]:
        """Divide the boxes into columns of similar heights, neighbours near each other."""
        spots = layout(len(self.made), self.part.edges).spots.round(6).tolist()
        order = sorted(self.boxes, key=lambda i: (*spots[i], i))
        best = min(
            range(1, max(len(order), 2)),
            key=lambda at: abs(self._height(order[:at]) - self._height(order[at:])),
        )
        left, right = (
            sorted(side, key=lambda i: spots[i][1]) for side in (order[:best], order[best:])
        )
        return left, right

    def _swap_boxes(self) -> None:
        """Swap boxes while that makes lines shorter, or columns more equal."""
        sides = self.sides
        slots = [(side, k) for side in sides for k in range(len(side))]
        cost, changed = self._cost(), len(slots) <= _MOST_SWAPPED
        while changed:
            changed = False
            for (one, k), (other, m) in combinations(slots, 2):
                one[k], other[m] = other[m], one[k]
                if (swapped := self._cost()) < cost - 1e-9:
                    cost, changed = swapped, True
                else:
                    one[k], other[m] = other[m], one[k]

    def _cost(self) -> float:
        """Return the length of lines, plus a penalty for unequal columns."""
        spots = self._settled()
        lengths = np.hypot(*(spots[self.ends[:, 0]] - spots[self.ends[:, 1]]).T)
        low, high = sorted(map(self._height, self.sides))
        return float(lengths.sum()) + 0.6 * (high - low) / max(high, 1e-9)

    def _settled(self) -> NDArray[np.float64]:
        """Return the places of all, relative to the middle.

        Those of boxes are the ends of lines at them; each point is between its neighbours
        (Tutte 1963).
        """
        spots = np.full((len(self.made), 2), np.nan)
        total = max(max(map(self._height, self.sides)), 1e-9)
        for x, side in enumerate(self.sides):
            gap = (total - self._height(side)) / max(len(side), 1)
            y = gap / 2
            for i in side:
                spots[i] = (x, (y + self.made[i].height / 2) / total)
                y += self.made[i].height + _BETWEEN + gap
        if self.core:
            laplacian = np.diag(self.weights.sum(axis=0)) - self.weights
            inner = laplacian[np.ix_(self.core, self.core)]
            pull = laplacian[np.ix_(self.core, self.boxes)] @ spots[self.boxes]
            # Points without a path to a box get a place, too.
            spots[self.core] = np.linalg.solve(
                inner + 1e-3 * np.eye(len(inner)), 1e-3 * np.array([0.5, 0.5]) - pull
            )
        return spots

    def block(self) -> Block:
        """Return the drawing."""
        places = self._places()
        for _ in range(8):
            if not self._overlapping(places):
                break
            self.height *= 1.25
            places = self._places()
        sheet = Block(self.width, self.height)
        for column, side in enumerate(self.sides):
            for i in side:
                box, (x, y) = self.made[i], places[i]
                sheet.put(box, x - box.width if column == 0 else x, y - box.height / 2)
        for line, (one, other) in zip(self.part.lines, self.part.edges, strict=True):
            path = self._path(places, one, other)
            sheet.strokes.append(Stroke(path, self.part.bandwidth(line), self.part.is_fat(line)))
            sheet.labels.append(label_along(path, self.part.rate(line)))
        for i in self.core:
            item, own, (x, y) = self.part.items[i], self.made[i], places[i]
            if item.kind != "meeting":
                sheet.put(own, x - own.width / 2, y - own.height / 2)
                continue
            sheet.discs.append(Disc(x, y, 0.05, "meeting"))
            if item.name:
                words = Words(x, y - 0.13, item.name, _FONT, bold=True, align="center", paper=True)
                sheet.words.append(words)
        return sheet

    def _path(self, places: list[Point], one: int, other: int) -> tuple[Point, ...]:
        """Return a straight line, or a bow between boxes of the same column."""
        a, b = places[one], places[other]
        in_boxes = all(self.part.items[i].is_box for i in (one, other))
        if not in_boxes or abs(a[0] - b[0]) > 1e-6:
            return a, b
        depth = min(0.3 + 0.25 * abs(a[1] - b[1]), 0.42 * self.middle)
        inwards = depth if one in self.sides[0] else -depth
        t = np.linspace(0.0, 1.0, 17)
        x = a[0] + 4 * inwards * t * (1 - t)
        y = a[1] + (b[1] - a[1]) * t
        return tuple(zip(x.tolist(), y.tolist(), strict=True))

    def _places(self) -> list[Point]:
        """Return the places of all in inches, points of the network apart from each other."""
        spots = self._settled()
        spots = spots * [self.middle, self.height] + [self.left, 0.0]
        if self.core:
            spots[self.core] = self._loosened(spots[self.core])
        return [(float(x), float(y)) for x, y in spots]

    def _overlapping(self, places: list[Point]) -> bool:
        """Return True if any two points of the network overlap."""
        middles, half = np.array([places[i] for i in self.core]), self._extents() / 2
        areas = np.hstack([middles - half, middles + half]) if self.core else np.zeros((0, 4))
        return any(overlapping(area, areas[:i]).any() for i, area in enumerate(areas))

    def _extents(self) -> NDArray[np.float64]:
        """Return the sizes of the points of the network, names included."""
        sizes = []
        for i in self.core:
            item, own = self.part.items[i], self.made[i]
            wide = measured(item.name, _FONT, bold=True)[0] if item.name else 0.1
            sizes.append([max(own.width, wide) + 0.05, 0.34 if item.kind == "meeting" else 0.26])
        return np.array(sizes).reshape(-1, 2)

    def _loosened(self, spots: NDArray[np.float64]) -> NDArray[np.float64]:
        """Spread points over the middle, and move them apart."""
        extent = self._extents() + np.array([0.25, 0.18])
        # Lines to a single column need space for their labels.
        low = np.array([self.left + (0.55 if self.sides[1] else 1.25), 0.3])
        high = np.array([self.left + self.middle - 0.55, self.height - 0.3])
        if len(spots) > 2:
            span = np.ptp(spots, axis=0)
            fill = np.minimum((high - low) * 0.92 / np.maximum(span, 1e-9), 3.0)
            centre = (spots.max(axis=0) + spots.min(axis=0)) / 2
            goal = np.clip(centre, low + span * fill / 2, np.maximum(high - span * fill / 2, low))
            spots = goal + (spots - centre) * fill
        moved = apart(spots, extent, 0.04)
        return np.clip(moved, low, np.maximum(high, low))
