"""Blocks of a drawing: a zone with everything in it, and boxes of text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from simplugin.reports.platforms.contents import Group, speed_words
from simplugin.reports.platforms.items import DrawnItem, DrawnPart, PlatformItems
from simplugin.reports.platforms.layouts import PointLayout, apart, layout, packed, parts
from simplugin.reports.platforms.sheet import (
    WIDTH,
    Block,
    Disc,
    DrawnBox,
    Label,
    Point,
    Stroke,
    Words,
    cut,
    distinguished,
    label_along,
    measured,
    overlapping,
)

_GAP = 0.25
_HEAD, _ROW = 7.5, 6.2
_GREY = "#4a4a4a"
_PAD = 0.06
# Maximum width of a name [inch].
_LONGEST = 1.7
_ROW_HEIGHT = 0.125
# Length of the bar for the most cores [inch].
BAR = 0.55


def blocks(survey: PlatformItems, item: DrawnItem) -> Block:
    """Return a platform, or a zone of it, as shapes.

    Parameters
    ----------
    survey : PlatformItems
        Source of the links.
    item : DrawnItem
        Of kind ``zone``.
    """
    groups = [
        group for each in item.walk() if each.kind == "listing" for group in each.contents.groups
    ]
    most = max((group.core_count for group in groups), default=1)
    return _Blocks(survey, most).of_zone(item, outermost=True)


class _Blocks:
    """Builds blocks from the inside."""

    def __init__(self, survey: PlatformItems, most_cores: int) -> None:
        self.survey = survey
        self.most_cores = most_cores

    def _block(self, item: DrawnItem) -> Block:
        """Return the block of an item among boxes."""
        if item.kind == "listing":
            return _listing(item, self.most_cores)
        if item.kind == "group":
            return _group(item)
        if item.kind != "zone":
            return _pill(item)
        inner = self.of_zone(item)
        title = f"{item.contents.total_words()}, {item.contents.power_words()}"
        block = Block()
        block.put(inner, 0.1, 0.3)
        edge = block.write(0.08, 0.14, item.name, 8.0, bold=True)
        block.write(edge + 0.08, 0.14, title, 6.5, colour="#555555")
        block.width, block.height = block.width + 0.1, block.height + 0.1
        block.boxes.insert(0, DrawnBox(0, 0, block.width, block.height, "zone"))
        return block

    def of_zone(self, item: DrawnItem, *, outermost: bool = False) -> Block:
        """Return the block of the contents of a zone."""
        total = len(item.inner)
        found = parts(total, [(line.start, line.stop) for line in item.lines])
        alone = [part[0] for part in found if len(part) == 1]
        made = [self._part(item, part) for part in found if len(part) > 1]
        boxes = [self._block(item.inner[i]) for i in alone if item.inner[i].is_box]
        points = [i for i in alone if not item.inner[i].is_box]
        if points:
            made.append(discs(DrawnPart(item, sorted(points), self.survey), len(points) / total))
        width = WIDTH if outermost else 0.8 * WIDTH
        if not made and len(boxes) > 8:
            return _packed(boxes, width, 0.07)
        return _packed([*made, *boxes], width)

    def _part(self, zone: DrawnItem, members: Sequence[int]) -> Block:
        """Return the block of a connected part of a zone."""
        part = DrawnPart(zone, members, self.survey)
        if not any(item.is_box for item in part.items):
            return discs(part, len(members) / len(zone.inner))
        return BoxColumns(part, [self._block(item) for item in part.items]).block()


def _packed(made: Sequence[Block], width: float, gap: float = _GAP) -> Block:
    """Pack blocks on a sheet; with a smaller gap than usual, in columns."""
    if len(made) == 1:
        return made[0]
    sheet = Block()
    area = sum((block.width + gap) * (block.height + gap) for block in made)
    widest = max([block.width for block in made], default=0.0)
    limit = max(widest, min(width, 1.25 * math.sqrt(area))) + gap
    ordered = sorted(made, key=lambda block: -block.height)
    sizes = [
        (gap + (block.width if gap == _GAP else widest), block.height + gap) for block in ordered
    ]
    for block, corner in zip(ordered, packed(sizes, limit), strict=True):
        sheet.put(block, *corner)
    return sheet


def _group(item: DrawnItem) -> Block:
    """Return a box of one line, or of two if that would be long."""
    group = item.contents.groups[0]
    block = Block(height=0.2)
    edge = block.write(_PAD, 0.1, cut(item.name, _HEAD, 2.2, bold=True), _HEAD, bold=True)
    place = (edge + _PAD, 0.1)
    if edge + measured(group.size_words(), _ROW)[0] >= 2.9 + _PAD:
        place, block.height = (_PAD, 0.23), 0.32
    edge = max(edge, block.write(*place, group.size_words(), _ROW, colour=_GREY))
    block.width = edge + _PAD
    block.boxes = [DrawnBox(0, 0, block.width, block.height, "group", group.speed)]
    return block


def _pill(item: DrawnItem) -> Block:
    """Return a small box with a name: a router, a host, a link that is a point."""
    if item.kind == "meeting" and not item.name:
        return Block(0.08, 0.12)
    name, kind, speed = cut(item.name, 6.5, _LONGEST), item.kind, 0.0
    if kind == "host":
        group = item.contents.groups[0]
        name, kind, speed = f"{name}  {group.host_words()}", "group", group.speed
    width = measured(name, 6.5)[0] + 2 * _PAD
    box, words = (
        DrawnBox(0, 0, width, 0.19, kind, speed),
        Words(width / 2, 0.095, name, align="center"),
    )
    return Block(width, 0.19, [box], words=[words])


def _listing(item: DrawnItem, most_cores: int) -> Block:
    """Return a box that names the clusters with the most cores."""
    held, block, y = item.contents, Block(), 0.12
    power = held.power_words() if item.rows else held.power_words().split(", ")[-1]
    facts = f"{held.total_words()}, {power}"
    edge = block.write(_PAD, y, cut(item.name, 8.0, 2.4, bold=True), 8.0, bold=True) + _PAD
    if edge + measured(facts, _ROW)[0] + _PAD > 2.9:
        edge, y = _PAD, y + 0.13
    block.write(edge, y, facts, _ROW, colour=_GREY)
    shown = sorted(held.groups, key=lambda group: (-group.core_count, group.name))
    rest = shown[item.rows :]
    shown = shown if len(rest) == 1 and item.rows else shown[: item.rows]
    names = distinguished([group.name for group in shown], _ROW, _LONGEST)
    start = 2 * _PAD + max((measured(each, _ROW)[0] for each in names), default=0.0)
    for name, group in zip(names, shown, strict=True):
        y += _ROW_HEIGHT
        length = max(BAR * group.core_count / max(most_cores, 1), 0.012)
        block.write(_PAD, y, name, _ROW)
        block.boxes.append(DrawnBox(start, y - 0.04, length, 0.08, "bar", group.speed))
        block.write(start + BAR + _PAD, y, group.size_words(), _ROW, colour=_GREY)
    if shown and len(rest) > 1:
        y += _ROW_HEIGHT
        hosts = sum(group.count for group in rest)
        block.write(_PAD, y, f"and {len(rest):,} more with {hosts:,} hosts", _ROW, colour=_GREY)
    block.width, block.height = block.width + _PAD, y + 0.1
    block.boxes.insert(0, DrawnBox(0, 0, block.width, block.height, "listing"))
    return block


_FONT = 6.5
_LARGEST, _SMALLEST = 0.17, 0.012
# With more points, names and rates are not tried.
_MOST_NAMES, _MOST_RATES = 400, 60
_TALLEST = 9.0
_LINE = 0.105
# Directions from a point to its label, y downwards.
_SLANT = math.sqrt(0.5)
_SIDES = (
    (0.0, 1.0), (0.0, -1.0), (1.0, 0.0), (-1.0, 0.0),
    (_SLANT, _SLANT), (-_SLANT, _SLANT), (_SLANT, -_SLANT), (-_SLANT, -_SLANT),
)  # fmt: skip
_COLOURS = ("#222222", "#666666")


def discs(part: DrawnPart, share: float) -> Block:
    """Return a graph of hosts, routers and places where links meet.

    Parameters
    ----------
    part : DrawnPart
        Connected, or points without lines.
    share : float
        Which share of all points it has.
    """
    page = max(WIDTH * math.sqrt(share), 3.0)
    tallest = max(_TALLEST * math.sqrt(share), 2.5)
    count = len(part.items)
    names: list[list[str]] = [[]] * count
    if count <= _MOST_NAMES:
        shown = distinguished([item.name for item in part.items], _FONT, 1.5)
        names = [_words(*each, count) for each in zip(part.items, shown, strict=True)]
    laid = _laid(part)
    widest = max((measured(text, _FONT)[0] for lines in names for text in lines), default=0.0)
    spots, step = _scaled(laid, widest, page, tallest)
    largest = min(_LARGEST, max(0.36 * step, _SMALLEST))
    # The area of a host is proportional to its total speed.
    power = np.array([sum(group.power for group in item.contents.groups) for item in part.items])
    radii = np.maximum(largest * np.sqrt(power / max(float(power.max()), 1e-300)), 0.3 * largest)
    radii[[item.kind != "host" for item in part.items]] = min(0.07, 0.5 * largest)
    aside = max(0.2, min(widest / 2, 0.7)) + float(radii.max())
    margin = np.array([aside, 0.33 + float(radii.max()) if widest else 0.15])
    spots += margin - spots.min(axis=0)
    block = Block()
    block.width, block.height = (spots.max(axis=0) + margin).tolist()
    sparse = len(part.edges) <= 2 * count
    for line, (one, other) in zip(part.lines, part.edges, strict=True):
        path = (tuple(spots[one].tolist()), tuple(spots[other].tolist()))
        block.strokes.append(Stroke(path, part.bandwidth(line), part.is_fat(line)))
        if len(part.edges) <= _MOST_RATES and (sparse or len(part.edges) <= 12):
            block.labels.append(label_along(path, part.rate(line)))
    towards: list[list[NDArray[np.float64]]] = [[] for _ in names]
    for one, other in part.edges:
        ahead = spots[other] - spots[one]
        ahead /= max(float(np.hypot(*ahead)), 1e-12)
        towards[one].append(ahead)
        towards[other].append(-ahead)
    for i, (x, y) in enumerate(spots.tolist()):
        radius = float(radii[i])
        group = next(iter(part.items[i].contents.groups), Group("", 0, 0, 0.0))
        block.discs.append(Disc(x, y, radius, part.items[i].kind, group.power, group.speed))
        if names[i]:
            block.labels.append(_name_label(x, y, radius, names[i], towards[i]))
    return block


def _words(item: DrawnItem, name: str, count: int) -> list[str]:
    """Return the text next to a point: its name, and the speed of a host."""
    if not name:
        return []
    if item.kind != "host" or count > 60:
        return [name]
    group = item.contents.groups[0]
    cores = f"{group.cores} \u00d7 " if group.cores > 1 else ""
    return [name, cores + speed_words(group.speed)]


def _laid(part: DrawnPart) -> PointLayout:
    """Return positions: those that the platform gives, or those of the graph."""
    given = [item.coordinates for item in part.items]
    count = len(given)
    if count > 1 and all(given) and len(set(given)) == count:
        return PointLayout("free", np.array(given, dtype=float))
    if not part.edges:
        across = math.ceil(math.sqrt(1.6 * count))
        return PointLayout(
            "grid", np.array([[i % across, i // across] for i in range(count)], float)
        )
    return layout(count, part.edges)


def _scaled(
    laid: PointLayout, widest: float, page: float, tallest: float
) -> tuple[NDArray[np.float64], float]:
    """Return positions in inches, and the approximate distance of neighbours."""
    spots, count = laid.spots, len(laid.spots)
    span = np.ptp(spots, axis=0)
    widest_step, tallest_step = np.array([page - 1.2, tallest]) / np.maximum(span, 1e-9)
    # The preferred steps across and down by kind; equal ones keep angles.
    circle = max(0.75, min(widest + 0.1, 1.1))
    steps = {
        "point": (1.0, 1.0),
        "tree": (min(max(widest + 0.1, 0.42), 1.15), 1.0 if span[1] <= 4 else 0.85),
        "grid": (max(widest + 0.3, 0.75), 1.0 if span[1] <= 4 else 0.85),
        "row": (max(widest + 0.6, 1.3), 1.0),
        "lying": (1.6, 0.2),
        "star": (1.05 if count <= 9 else 0.75,) * 2,
        "ring": (1.4 if count <= 8 else circle,) * 2,
    }
    if laid.kind in steps:
        across, down = np.minimum(steps[laid.kind], [widest_step, tallest_step]).tolist()
        if laid.kind in ("star", "ring"):
            across = down = min(steps[laid.kind][0], tallest / max(float(span.max()), 1e-9))
        return spots * [across, down], 1.2 * down if laid.kind == "lying" else min(across, down)

    # A graph without regularity.
    from scipy.spatial import KDTree

    nearest = np.asarray(KDTree(spots).query(spots, k=2)[0])[:, 1]
    typical = max(float(np.quantile(nearest, 0.15)), 1e-9)
    longest = float(min(widest_step, tallest_step))
    factor = min(0.72 / typical, longest)
    factor = max(factor, min(longest, 3.0 / max(float(span.max()), 1e-9)))
    return spots * factor, factor * max(float(np.quantile(nearest, 0.3)), 1e-9)


def _name_label(
    x: float, y: float, radius: float, lines: list[str], towards: list[NDArray[np.float64]]
) -> Label:
    """Return the label next to a point: all of its text, or the name alone.

    Places without lines of the point come first.
    """
    away, side = radius + 0.07, radius + 0.04
    rise = _LINE * (len(lines) - 1)
    corners = []
    for across, down in _SIDES:
        slanted = across and down
        left = x + side * (0.6 * np.sign(across) if slanted else across)
        top = y + away * (0.9 * np.sign(down) if slanted else down)
        top -= rise * (down < 0) + rise / 2 * (down == 0)
        corners.append((left, top, {1: "left", 0: "center", -1: "right"}[int(np.sign(across))]))
    # Within about 40 degrees of a side.
    lines_at = [sum(float(ahead @ each) > 0.75 for ahead in towards) for each in _SIDES]
    corners = [corners[i] for i in sorted(range(len(corners)), key=lambda i: (lines_at[i], i))]
    every = [
        tuple(
            Words(left, top + i * _LINE, text, _FONT if i == 0 else 6.0, False, _COLOURS[i], align)
            for i, text in enumerate(lines)
        )
        for left, top, align in corners
    ]
    return Label((*every, *(place[:1] for place in every)), name=True)


# Gap of boxes in a column.
_BETWEEN = 0.14
# Width of the network between the columns: without points, further width for each, and the most.
_LEAST_MIDDLE, _FOR_EACH, _MOST_MIDDLE = 1.8, 0.5, 5.2
_MEETING = 7.0
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
                words = Words(
                    x, y - 0.13, item.name, _MEETING, bold=True, align="center", paper=True
                )
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
            wide = measured(item.name, _MEETING, bold=True)[0] if item.name else 0.1
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
