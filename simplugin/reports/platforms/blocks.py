"""Blocks of a drawing: a zone with everything in it, and boxes of words."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from simplugin.reports.platforms.columns import MOST_IN_COLUMNS, columns
from simplugin.reports.platforms.contents import Group
from simplugin.reports.platforms.discs import discs
from simplugin.reports.platforms.items import Item, Part, Survey
from simplugin.reports.platforms.layouts import apart, layout, parts
from simplugin.reports.platforms.sheet import Block, Box, Stroke, Words, cut, measured

# Preferred maximum width of a sheet [inch]: 1,600 dots.
WIDTH = 10.4
_GAP = 0.25
_HEAD, _ROW = 7.5, 6.2
_GREY = "#4a4a4a"
_PAD = 0.06
# Maximum width of a name [inch].
_LONGEST = 1.7
_ROW_HEIGHT = 0.125
# Length of the bar for the most cores [inch].
BAR = 0.55


def blocks(survey: Survey, item: Item) -> Block:
    """Return a platform, or a zone of it, as shapes.

    Parameters
    ----------
    survey : Survey
        Source of the links.
    item : Item
        Of kind ``zone``.
    """
    groups = [
        group for each in item.walk() if each.kind == "listing" for group in each.contents.groups
    ]
    most = max((group.core_count for group in groups), default=1)
    return _Blocks(survey, most).of_zone(item, outermost=True)


class _Blocks:
    """Builds blocks from the inside."""

    def __init__(self, survey: Survey, most_cores: int) -> None:
        self.survey = survey
        self.most_cores = most_cores

    def _block(self, item: Item) -> Block:
        """Return the block of an item among boxes."""
        if item.kind != "zone":
            return one_box(item, self.most_cores)
        inner = self.of_zone(item)
        title = f"{item.contents.total_words()}, {item.contents.power_words()}"
        block = Block()
        block.put(inner, 0.1, 0.3)
        wide = measured(item.name, 8.0, bold=True)[0]
        facts = Words(wide + 0.16, 0.14, title, 6.5, colour="#555555")
        block.words += [Words(0.08, 0.14, item.name, 8.0, bold=True), facts]
        block.width = max(block.width + 0.1, facts.area[2] + 0.08)
        block.height += 0.1
        block.boxes.insert(0, Box(0, 0, block.width, block.height, "zone"))
        return block

    def of_zone(self, item: Item, *, outermost: bool = False) -> Block:
        """Return the block of the contents of a zone."""
        edges = [(line.start, line.stop) for line in item.lines]
        found = parts(len(item.inner), edges)
        alone = [part[0] for part in found if len(part) == 1]
        joined = [part for part in found if len(part) > 1]
        total = len(item.inner)
        made = [
            self._part(Part(item, part, self.survey), len(part) / total, outermost=outermost)
            for part in joined
        ]
        boxes = [self._block(item.inner[i]) for i in alone if item.inner[i].is_box]
        points = [i for i in alone if not item.inner[i].is_box]
        if points:
            made.append(
                discs(
                    Part(item, sorted(points), self.survey),
                    WIDTH,
                    len(points) / len(item.inner),
                )
            )
        width = WIDTH if outermost else 0.8 * WIDTH
        if not made and len(boxes) > 8:
            return _packed(boxes, width, 0.07)
        return _packed([*made, *boxes], width)

    def _part(self, part: Part, share: float, *, outermost: bool) -> Block:
        """Return the block of a connected part."""
        if not any(item.is_box for item in part.items):
            return discs(part, WIDTH, share)
        made = [self._block(item) for item in part.items]
        if outermost and sum(item.is_box for item in part.items) > MOST_IN_COLUMNS:
            return _spread(part, made)
        return columns(part, made, WIDTH)


def _packed(made: Sequence[Block], width: float, gap: float = _GAP) -> Block:
    """Put blocks beside and below each other."""
    if len(made) == 1:
        return made[0]
    sheet = Block()
    area = sum((block.width + gap) * (block.height + gap) for block in made)
    widest = max([block.width for block in made], default=0.0)
    limit = max(widest, min(width, 1.25 * math.sqrt(area)))
    x = y = row = 0.0
    aligned = gap < _GAP
    for block in sorted(made, key=lambda block: -block.height):
        if x and x + (widest if aligned else block.width) > limit + 1e-9:
            x, y, row = 0.0, y + row + gap, 0.0
        sheet.put(block, x, y)
        x += (widest if aligned else block.width) + gap
        row = max(row, block.height)
    return sheet


def _spread(part: Part, made: Sequence[Block]) -> Block:
    """Place many boxes near their neighbours."""
    sizes = np.array([[block.width, block.height] for block in made])
    spots = layout(len(made), part.edges).spots
    span = np.maximum(np.ptp(spots, axis=0), 1e-9)
    area = float(((sizes[:, 0] + 0.1) * (sizes[:, 1] + 0.1)).sum())
    width = min(WIDTH, 1.5 * math.sqrt(area))
    target = np.array([width, 1.6 * area / width])
    spots = apart((spots - spots.min(axis=0)) / span * target, sizes, 0.05)
    spots -= (spots - sizes / 2).min(axis=0)
    sheet = Block()
    for line, (one, other) in zip(part.lines, part.edges, strict=True):
        ends = (tuple(spots[one].tolist()), tuple(spots[other].tolist()))
        sheet.strokes.append(Stroke(ends, part.bandwidth(line), part.is_fat(line)))
    for block, (x, y) in zip(made, spots.tolist(), strict=True):
        sheet.put(block, x - block.width / 2, y - block.height / 2)
    return sheet


def one_box(item: Item, most_cores: int) -> Block:
    """Return the block of an item that is one box of words."""
    if item.kind == "listing":
        return _listing(item, most_cores)
    if item.kind == "group":
        return _group(item)
    return _pill(item)


def _group(item: Item) -> Block:
    """Return a box of one line, or of two if that would be long."""
    group = item.contents.groups[0]
    name = cut(item.name, _HEAD, 2.2, bold=True)
    facts = group.size_words()
    wide, _ = measured(name, _HEAD, bold=True)
    more, _ = measured(facts, _ROW)
    block = Block()
    if wide + more < 2.9:
        block.width, block.height = wide + more + 3 * _PAD, 0.2
        block.words = [
            Words(_PAD, 0.1, name, _HEAD, bold=True),
            Words(wide + 2 * _PAD, 0.1, facts, _ROW, colour=_GREY),
        ]
    else:
        block.width, block.height = max(wide, more) + 2 * _PAD, 0.32
        block.words = [
            Words(_PAD, 0.1, name, _HEAD, bold=True),
            Words(_PAD, 0.23, facts, _ROW, colour=_GREY),
        ]
    block.boxes = [Box(0, 0, block.width, block.height, "group", group.speed)]
    return block


def _pill(item: Item) -> Block:
    """Return a small box with a name: a router, a host, a link that is a point."""
    if item.kind == "meeting" and not item.name:
        return Block(0.08, 0.12)
    name = cut(item.name, 6.5, _LONGEST)
    speed = 0.0
    if item.kind == "host":
        group = item.contents.groups[0]
        speed = group.speed
        name = f"{name}  {group.host_words()}"
    width = measured(name, 6.5)[0] + 2 * _PAD
    kind = "group" if item.kind == "host" else item.kind
    block = Block(width, 0.19)
    block.words = [Words(width / 2, 0.095, name, 6.5, align="center")]
    block.boxes = [Box(0, 0, width, 0.19, kind, speed)]
    return block


def _listing(item: Item, most_cores: int) -> Block:
    """Return a box that names the clusters with the most cores."""
    held = item.contents
    block = Block()
    y = 0.12
    name = cut(item.name, 8.0, 2.4, bold=True)
    power = held.power_words() if item.rows else held.power_words().split(", ")[-1]
    facts = f"{held.total_words()}, {power}"
    wide = measured(name, 8.0, bold=True)[0]
    block.words.append(Words(_PAD, y, name, 8.0, bold=True))
    block.width = wide + 2 * _PAD
    inline = wide + measured(facts, _ROW)[0] + 3 * _PAD
    if inline <= 2.9:
        block.words.append(Words(wide + 2 * _PAD, y, facts, _ROW, colour=_GREY))
        block.width = inline
    else:
        y += 0.13
        block.words.append(Words(_PAD, y, facts, _ROW, colour=_GREY))
        block.width = max(block.width, measured(facts, _ROW)[0] + 2 * _PAD)
    shown = sorted(held.groups, key=lambda group: (-group.core_count, group.name))
    rest = shown[item.rows :]
    if len(rest) == 1:
        rest = []
    shown = shown[: len(shown) - len(rest)] if item.rows else []
    left = len(held.groups) - len(shown)
    names = [cut(group.name, _ROW, _LONGEST) for group in shown]
    column = max((measured(each, _ROW)[0] for each in names), default=0.0)
    for name, group in zip(names, shown, strict=True):
        y += _ROW_HEIGHT
        _row(block, y, name, group, column, most_cores)
    if shown and left:
        y += _ROW_HEIGHT
        hosts = sum(group.count for group in rest)
        block.words.append(
            Words(_PAD, y, f"and {left:,} more with {hosts:,} hosts", _ROW, colour=_GREY)
        )
        block.width = max(block.width, measured(block.words[-1].text, _ROW)[0] + 2 * _PAD)
    block.height = y + 0.1
    block.boxes.insert(0, Box(0, 0, block.width, block.height, "listing"))
    return block


def _row(block: Block, y: float, name: str, group: Group, column: float, most_cores: int) -> None:
    """Add the line of a cluster: its name, a bar for its cores, its size."""
    length = max(BAR * group.core_count / max(most_cores, 1), 0.012)
    start = _PAD + column + 0.06
    block.words.append(Words(_PAD, y, name, _ROW))
    block.boxes.append(Box(start, y - 0.04, length, 0.08, "bar", group.speed))
    facts = group.size_words()
    block.words.append(Words(start + BAR + 0.06, y, facts, _ROW, colour=_GREY))
    block.width = max(block.width, start + BAR + 0.06 + measured(facts, _ROW)[0] + _PAD)
