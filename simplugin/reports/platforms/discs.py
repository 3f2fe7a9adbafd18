"""Graphs of hosts: discs joined by lines, with names where there is room."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from simplugin.reports.platforms.contents import speed_words
from simplugin.reports.platforms.items import Item, Part
from simplugin.reports.platforms.layouts import Layout, layout
from simplugin.reports.platforms.sheet import (
    Block,
    Disc,
    Label,
    Stroke,
    Words,
    cut,
    label_along,
    measured,
)

_FONT = 6.5
_LARGEST, _SMALLEST = 0.17, 0.012
# With more points, names and rates are not tried.
_MOST_NAMES, _MOST_RATES = 400, 60
_TALLEST = 9.0
_LINE = 0.105
# Directions of the places beside a point, y downwards.
_SLANT = math.sqrt(0.5)
_SIDES = (
    (0.0, 1.0), (0.0, -1.0), (1.0, 0.0), (-1.0, 0.0),
    (_SLANT, _SLANT), (-_SLANT, _SLANT), (_SLANT, -_SLANT), (-_SLANT, -_SLANT),
)  # fmt: skip
_COLOURS = ("#222222", "#666666")


def discs(part: Part, page: float, share: float = 1.0) -> Block:
    """Return a graph of hosts, routers and places where links meet.

    Parameters
    ----------
    part : Part
        Connected, or points without lines.
    page : float
        Maximum width [inch].
    share : float
        Which share of all points it has.
    """
    page = max(page * math.sqrt(share), min(page, 3.0))
    tallest = max(_TALLEST * math.sqrt(share), 2.5)
    count = len(part.items)
    names = [_words(item, count) for item in part.items] if count <= _MOST_NAMES else [[]] * count
    laid = _laid(part)
    widest = max((measured(text, _FONT)[0] for lines in names for text in lines), default=0.0)
    spots, step = _scaled(laid, widest, page, tallest)
    radii = _radii(part.items, min(_LARGEST, max(0.36 * step, _SMALLEST)))
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
    towards: list[list[tuple[float, float]]] = [[] for _ in names]
    for one, other in part.edges:
        ahead = spots[other] - spots[one]
        ahead /= max(float(np.hypot(*ahead)), 1e-12)
        towards[one].append((float(ahead[0]), float(ahead[1])))
        towards[other].append((float(-ahead[0]), float(-ahead[1])))
    for i, (x, y) in enumerate(spots.tolist()):
        radius = float(radii[i])
        block.discs.append(_disc(part.items[i], x, y, radius))
        if names[i]:
            block.labels.append(_name_label(x, y, radius, names[i], towards[i]))
    return block


def _words(item: Item, count: int) -> list[str]:
    """Return the text beside a point."""
    if not item.name:
        return []
    name = cut(item.name, _FONT, 1.5)
    if item.kind != "host" or count > 60:
        return [name]
    group = item.contents.groups[0]
    cores = f"{group.cores} \u00d7 " if group.cores > 1 else ""
    return [name, cores + speed_words(group.speed)]


def _laid(part: Part) -> Layout:
    """Return positions: those that the platform gives, or those of the graph."""
    given = [item.coordinates for item in part.items]
    count = len(given)
    if count > 1 and all(given) and len(set(given)) == count:
        return Layout("free", np.array(given, dtype=float))
    if not part.edges:
        across = math.ceil(math.sqrt(1.6 * count))
        return Layout("grid", np.array([[i % across, i // across] for i in range(count)], float))
    return layout(count, part.edges)


def _scaled(
    laid: Layout, widest: float, page: float, tallest: float
) -> tuple[NDArray[np.float64], float]:
    """Return positions in inches, and the approximate distance of neighbours."""
    spots = laid.spots
    span = np.ptp(spots, axis=0)
    count = len(spots)
    room = page - 1.2
    if laid.kind in ("tree", "row", "grid", "point"):
        across = min(max(widest + 0.1, 0.42), 1.15, room / max(float(span[0]), 1e-9))
        if laid.kind == "grid":
            across = min(max(widest + 0.3, 0.75), room / max(float(span[0]), 1e-9))
        if laid.kind == "row":
            across = min(max(widest + 0.6, 1.3), room / max(float(span[0]), 1e-9))
        down = min(1.0 if span[1] <= 4 else 0.85, tallest / max(float(span[1]), 1e-9))
        return spots * [across, down], min(across, down)
    if laid.kind == "lying":
        across = min(1.6, room / max(float(span[0]), 1e-9))
        down = min(0.2, tallest / max(float(span[1]), 1e-9))
        return spots * [across, down], 1.2 * down
    if laid.kind in ("star", "ring"):
        if laid.kind == "star":
            step = 1.05 if count <= 9 else 0.75
        else:
            step = 1.4 if count <= 8 else max(0.75, min(widest + 0.1, 1.1))
        step = min(step, tallest / max(float(span.max()), 1e-9))
        return spots * step, step
    return _free(spots, span, page, tallest)


def _free(
    spots: NDArray[np.float64], span: NDArray[np.float64], page: float, tallest: float
) -> tuple[NDArray[np.float64], float]:
    """Return positions of a graph without regularity in inches."""
    from scipy.spatial import KDTree

    nearest = np.asarray(KDTree(spots).query(spots, k=2)[0])[:, 1]
    typical = max(float(np.quantile(nearest, 0.15)), 1e-9)
    longest = min((page - 1.2) / max(float(span[0]), 1e-9), tallest / max(float(span[1]), 1e-9))
    factor = min(0.72 / typical, longest)
    factor = max(factor, min(longest, 3.0 / max(float(span.max()), 1e-9)))
    return spots * factor, factor * max(float(np.quantile(nearest, 0.3)), 1e-9)


def _radii(items: list[Item], largest: float) -> NDArray[np.float64]:
    """Return radii: the area of a host is proportional to its total speed."""
    power = np.array([sum(group.power for group in item.contents.groups) for item in items])
    radii = largest * np.sqrt(power / max(float(power.max()), 1e-300))
    points = np.array([item.kind != "host" for item in items])
    radii = np.maximum(radii, 0.3 * largest)
    radii[points] = np.minimum(0.07, 0.5 * largest)
    return radii


def _disc(item: Item, x: float, y: float, radius: float) -> Disc:
    """Return the disc of an item."""
    if item.kind != "host":
        return Disc(x, y, radius, item.kind)
    group = item.contents.groups[0]
    return Disc(x, y, radius, "host", group.power, group.speed)


def _name_label(
    x: float, y: float, radius: float, lines: list[str], towards: list[tuple[float, float]]
) -> Label:
    """Return the label beside a point: all of its text, or the name alone.

    Places without lines of the point come first.
    """
    away, side = radius + 0.07, radius + 0.04
    rise = _LINE * (len(lines) - 1)
    corners = [
        (x, y + away, "center"),
        (x, y - away - rise, "center"),
        (x + side, y - rise / 2, "left"),
        (x - side, y - rise / 2, "right"),
        (x + side * 0.6, y + away * 0.9, "left"),
        (x - side * 0.6, y + away * 0.9, "right"),
        (x + side * 0.6, y - away * 0.9 - rise, "left"),
        (x - side * 0.6, y - away * 0.9 - rise, "right"),
    ]
    order = sorted(range(len(corners)), key=lambda i: (_in_the_way(_SIDES[i], towards), i))
    corners = [corners[i] for i in order]
    every = [
        tuple(
            Words(left, top + i * _LINE, text, _FONT if i == 0 else 6.0, False, _COLOURS[i], align)
            for i, text in enumerate(lines)
        )
        for left, top, align in corners
    ]
    return Label((*every, *(place[:1] for place in every)), name=True)


def _in_the_way(side: tuple[float, float], towards: list[tuple[float, float]]) -> int:
    """Count the lines within about 40 degrees of a side."""
    return sum(side[0] * x + side[1] * y > 0.75 for x, y in towards)
