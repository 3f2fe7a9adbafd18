"""Where everything in a platform is drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from simplugin.reports.platforms.boxes import one_box
from simplugin.reports.platforms.columns import columns
from simplugin.reports.platforms.dendrogram import dendrogram
from simplugin.reports.platforms.discs import discs
from simplugin.reports.platforms.items import Item, Survey
from simplugin.reports.platforms.layouts import apart, layout, parts
from simplugin.reports.platforms.part import Part
from simplugin.reports.platforms.sheet import Block, Box, Stroke, Words, measured

# As wide as a sheet may get without need [inch]: 1,600 dots.
WIDTH = 10.4
_GAP = 0.25


def blocks(survey: Survey, item: Item, *, page: float = WIDTH) -> Block:
    """Return a platform, or a zone of it, as shapes.

    Parameters
    ----------
    survey : Survey
        What the links are.
    item : Item
        Of kind ``zone``.
    page : float
        How wide it may get if that can be helped [inch].
    """
    groups = [
        group for each in item.walk() if each.kind == "listing" for group in each.contents.groups
    ]
    most = max((group.core_count for group in groups), default=1)
    return _Blocks(survey, most, page).of_zone(item, outermost=True)


class _Blocks:
    """Builds blocks from the inside."""

    def __init__(self, survey: Survey, most_cores: int, page: float) -> None:
        self.survey = survey
        self.most_cores = most_cores
        self.page = page

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
        """Return what is in a zone."""
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
                    self.page,
                    len(points) / len(item.inner),
                )
            )
        width = self.page if outermost else 0.8 * self.page
        if not made and len(boxes) > 8:
            return _packed(boxes, width, 0.07)
        return _packed([*made, *boxes], width)

    def _part(self, part: Part, share: float, *, outermost: bool) -> Block:
        """Return what hangs together."""
        if not any(item.is_box for item in part.items):
            return discs(part, self.page, share)
        made = [self._block(item) for item in part.items]
        boxes = [i for i, item in enumerate(part.items) if item.is_box]
        core = len(part.items) - len(boxes)
        is_tree = len(part.edges) == len(part.items) - 1
        if outermost and len(boxes) > 34:
            return _spread(part, made, self.page)
        many = sum(item.kind in ("listing", "zone") for item in part.items) >= 4
        in_middle = (core >= 2 and many) or len(boxes) > 18
        if is_tree and not (outermost and in_middle):
            return dendrogram(part, made)
        return columns(part, made, self.page)


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


def _spread(part: Part, made: Sequence[Block], page: float) -> Block:
    """Place many boxes near their neighbours."""
    sizes = np.array([[block.width, block.height] for block in made])
    spots = layout(len(made), part.edges).spots
    span = np.maximum(np.ptp(spots, axis=0), 1e-9)
    area = float(((sizes[:, 0] + 0.1) * (sizes[:, 1] + 0.1)).sum())
    width = min(page, 1.5 * math.sqrt(area))
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
