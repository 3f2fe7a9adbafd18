"""What a subtree can make of each byte per second, at given prices: concave curves.

A point of a curve is a way to use a subtree: bytes per second that it receives, port seconds per
second spent inside it, and tasks of each type per second computed there. A curve lists points by
increasing bytes, whose values (at the prices that it was made for) are concave; between two
points a subtree mixes them.
"""

from __future__ import annotations

import itertools

from simplugin.bags.prices.messages import Point, Points, Posted

# Position of the first type in a point.
FIRST = 2


def worth(point: Point, posted: Posted) -> float:
    """Return the value per second of a way to use a subtree, less its rent."""
    total = -posted.rent * point[1]
    for price, rate in zip(posted.prices, point[FIRST:], strict=True):
        total += price * rate
    return total


def at(points: Points, received: float) -> Point:
    """Return the mix of points that receives so many bytes per second, or the last point."""
    for low, high in itertools.pairwise(points):
        if received <= high[0]:
            share = max(0.0, (received - low[0]) / (high[0] - low[0]))
            return tuple(x + share * (y - x) for x, y in zip(low, high, strict=True))
    return points[-1]


def worker_points(
    speed: float, flop: list[float], byte: list[float], posted: Posted
) -> list[Point]:
    """Return the curve of a CPU: the upper hull of its types and of idleness.

    Parameters
    ----------
    speed : float
        Of the CPU [flop/s].
    flop, byte : list of float, shape (n_types,)
        Of a task of each type.
    posted : Posted
        Prices.
    """
    n_types = len(flop)
    idle: Point = (0.0,) * (FIRST + n_types)
    if speed <= 0:
        return [idle]
    full = []
    for kind, price in enumerate(posted.prices):
        rate = speed / flop[kind]
        if price > 0 and price * rate > 0:
            full.append((byte[kind] * rate, price * rate, kind))
    here, value = 0.0, 0.0
    points = [idle]
    for bytes_, best, kind in full:
        if bytes_ == 0 and best > value:
            value, points = best, [_only(kind, speed / flop[kind], 0.0, n_types)]
    while True:
        ahead = [each for each in full if each[0] > here and each[1] > value]
        if not ahead:
            return points
        # Among points in line the farthest, so that a curve has no point inside a segment.
        found = max(ahead, key=lambda each: ((each[1] - value) / (each[0] - here), each[0]))
        here, value, kind = found
        points.append(_only(kind, speed / flop[kind], here, n_types))


def _only(kind: int, rate: float, received: float, n_types: int) -> Point:
    """Return the point of a CPU that computes one type."""
    rates = [0.0] * n_types
    rates[kind] = rate
    return (received, 0.0, *rates)


def condensed(points: Points, posted: Posted) -> tuple[list[int], float]:
    """Choose points of a curve to tell.

    Points that rounding alone makes go, then those whose loss costs least. What is left lies on
    or below the curve, so that nobody promises what it cannot do.

    Parameters
    ----------
    points : list of Point
        The curve.
    posted : Posted
        Its prices, and how many segments there may be.

    Returns
    -------
    list of int, float
        Places of the points kept, the first and the last among them, and the largest loss of
        value per second.
    """
    values = [worth(point, posted) for point in points]
    kept = _apart(points)
    losses = [_sag(points, values, *kept[place : place + 3]) for place in range(len(kept) - 2)]
    while len(kept) > posted.segments + 1:
        gone = losses.index(min(losses))
        del kept[gone + 1], losses[gone]
        for place in range(max(gone - 1, 0), min(gone + 1, len(losses))):
            losses[place] = _sag(points, values, *kept[place : place + 3])
    return kept, _lost(points, values, kept)


def _apart(points: Points) -> list[int]:
    """Return the places of the points, without those that rounding alone makes."""
    last, least = len(points) - 1, 1e-12 * points[-1][0]
    kept = [0]
    for place in range(1, last):
        received = points[place][0]
        if received - points[kept[-1]][0] > least and points[last][0] - received > least:
            kept.append(place)
    return [*kept, last] if last else kept


def _sag(points: Points, values: list[float], low: int, middle: int, high: int) -> float:
    """Return how far a point lies above the line between two others."""
    share = (points[middle][0] - points[low][0]) / (points[high][0] - points[low][0])
    return values[middle] - values[low] - share * (values[high] - values[low])


def _lost(points: Points, values: list[float], kept: list[int]) -> float:
    """Return the largest distance from the points to the lines between those kept."""
    lost = 0.0
    for low, high in itertools.pairwise(kept):
        for middle in range(low + 1, high):
            lost = max(lost, _sag(points, values, low, middle, high))
    return lost
