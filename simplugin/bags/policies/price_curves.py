"""Concave curves of what a subtree can make of each byte per second, at given prices.

A point of a curve is a way to use a subtree: bytes per second that it receives, port seconds per
second spent inside it, and tasks of each type per second computed there. A curve lists points by
increasing bytes, whose values at its prices are concave; between two points a subtree mixes them.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter

# Bytes/s received, port time used [s/s], and tasks/s of each type; the position of the first type.
Point = tuple[float, ...]
Points = Sequence[Point]
FIRST = 2


@dataclass(frozen=True, slots=True)
class Posted:
    """Message to a child: the value of tasks, in one round.

    Attributes
    ----------
    round : int
        Counted from 0 in each negotiation.
    prices : tuple of float, shape (n_types,)
        Value of a task of each type; 0 for one that must not come here.
    rent : float
        Charge for a second of any port.
    most : float
        Bytes per second that can arrive at the very most: the bandwidth of the link from the
        parent, so that the few segments of an answer lie where they matter. The narrowest on the
        way from the root would save some rounds, but is nothing that neighbours know.
    segments : int
        Most segments of an answer.
    """

    round: int
    prices: tuple[float, ...]
    rent: float
    most: float
    segments: int

    @property
    def numbers(self) -> int:
        """Return the length of the message in numbers."""
        return len(self.prices) + 4


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
    """Choose the points of a curve to send.

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


@dataclass(slots=True)
class Curve:
    """A node's curve, with the way in which it is made from its worker's and its children's.

    Attributes
    ----------
    points : list of Point
        The curve.
    moves : list of list of (int, float)
        For each point, which targets (the worker is 0) get how many more bytes per second than at
        the point before.
    parts : sequence of sequence of Point
        The curves of the targets.
    """

    points: list[Point]
    moves: list[list[tuple[int, float]]]
    parts: Sequence[Points]


@dataclass(slots=True)
class _Segment:
    """A piece of a target's curve: value of a byte [1/byte], width [byte/s], where, per byte."""

    value: float
    width: float
    target: int
    speed: float
    per_byte: Point
    used: float = 0.0


def _segments(target: int, points: Points, speed: float, posted: Posted) -> list[_Segment]:
    """Cut a target's curve into segments; a child's bytes pay the rent of the port."""
    found: list[_Segment] = []
    port = 1.0 / speed if target else 0.0
    for low, high in itertools.pairwise(points):
        width = high[0] - low[0]
        # A list within is much quicker than a generator, and this is where the time goes.
        per_byte: Point = tuple([(y - x) / width for x, y in zip(low, high, strict=True)])
        per_byte = (1.0, per_byte[1] + port, *per_byte[FIRST:])
        value = worth(per_byte, posted)
        if found:
            # Rounding must not turn the order of a target's segments round.
            value = min(value, found[-1].value)
        found.append(_Segment(value, width, target, speed, per_byte))
    return found


class _Tracing:
    """The state of a node's knapsack while the bytes that it receives grow."""

    def __init__(
        self, worker: Points, children: Sequence[Points], speeds: Sequence[float], posted: Posted
    ) -> None:
        """Start with what needs no bytes."""
        self.posted = posted
        start = list(worker[0])
        for points in children:
            for place, number in enumerate(points[0]):
                start[place] += number
        self.here = start
        self.curve = Curve([tuple(start)], [[]], [worker, *children])
        self.pieces = [_segments(0, worker, 0.0, posted)]
        for child, points in enumerate(children):
            self.pieces.append(_segments(child + 1, points, speeds[child], posted))
        self.full = [0] * len(self.pieces)
        self.port = 1.0
        self.marginal: _Segment | None = None

    def fill(self) -> None:
        """Take what makes most of a byte, until the port is busy or nothing is worth its rent."""
        order = [piece for pieces in self.pieces for piece in pieces if piece.value > 0]
        order.sort(key=attrgetter("value"), reverse=True)
        for piece in order:
            if not piece.target:
                if not self.take(piece, piece.width):
                    return
                self.full[0] += 1
                continue
            need = piece.width / piece.speed
            if need >= self.port:
                self.take(piece, self.port * piece.speed)
                self.marginal = piece
                return
            if not self.take(piece, piece.width):
                return
            self.port -= need
            self.full[piece.target] += 1

    def take(self, piece: _Segment, width: float) -> bool:
        """Give bytes to a segment, and say whether more can come."""
        room = self.posted.most - self.here[0]
        taken = min(width, room)
        piece.used += taken
        self.step([(piece, taken)])
        return width < room

    def step(self, changes: list[tuple[_Segment, float]]) -> None:
        """Add the next point."""
        here = self.here
        for piece, change in changes:
            for place, number in enumerate(piece.per_byte):
                here[place] += change * number
        if here[0] <= self.curve.points[-1][0]:
            # Not a byte more: another segment is served in part, nothing else has changed.
            self.curve.moves[-1] += [(piece.target, change) for piece, change in changes]
            return
        self.curve.points.append(tuple(here))
        self.curve.moves.append([(piece.target, change) for piece, change in changes])

    def exchange(self) -> None:
        """With a busy port: let faster links take its time from slower ones, best value first."""
        while self.marginal is not None:
            value, gains, loses = self.best_exchange(self.marginal)
            worker = self.pieces[0]
            next_worker = worker[self.full[0]] if self.full[0] < len(worker) else None
            if next_worker is not None and next_worker.value > max(0.0, value):
                self.full[0] += 1
                if not self.take(next_worker, next_worker.width):
                    return
                continue
            if gains is None or loses is None or value <= 0 or not self.swap(gains, loses):
                return

    def best_exchange(self, marginal: _Segment) -> tuple[float, _Segment | None, _Segment | None]:
        """Return the exchange at the marginal segment that gains most for a byte."""
        best, gains, loses = 0.0, None, None
        speed, worth_ = marginal.speed, marginal.value * marginal.speed
        for target in range(1, len(self.pieces)):
            pieces, full = self.pieces[target], self.full[target]
            if target == marginal.target or not pieces or pieces[0].speed == speed:
                continue
            other = pieces[0].speed
            if other > speed:
                if full < len(pieces):
                    piece = pieces[full]
                    value = (piece.value * other - worth_) / (other - speed)
                    if value > best:
                        best, gains, loses = value, piece, marginal
            elif full:
                piece = pieces[full - 1]
                value = (worth_ - piece.value * other) / (speed - other)
                if value > best:
                    best, gains, loses = value, marginal, piece
        return best, gains, loses

    def swap(self, gains: _Segment, loses: _Segment) -> bool:
        """Move port time until one of two segments ends, and say whether more can come."""
        slots = (gains.width - gains.used) / gains.speed, loses.used / loses.speed
        time, faster = min(slots), gains.speed - loses.speed
        room = self.posted.most - self.here[0]
        if time * faster >= room:
            time = room / faster
            self.step([(gains, time * gains.speed), (loses, -time * loses.speed)])
            return False
        more, less = time * gains.speed, time * loses.speed
        gains.used, loses.used = gains.used + more, loses.used - less
        marginal_gains = gains is self.marginal
        if slots[0] <= slots[1]:
            gains.used = gains.width
            self.full[gains.target] += 1
            if marginal_gains:
                self.full[loses.target] -= 1
                self.marginal = loses
        else:
            loses.used = 0.0
            if marginal_gains:
                self.full[loses.target] -= 1
            else:
                self.marginal = gains
        self.step([(gains, more), (loses, -less)])
        return True


def node_curve(
    worker: Points, children: Sequence[Points], speeds: Sequence[float], posted: Posted
) -> Curve:
    """Return what a node can make of each byte per second.

    It solves, for all beta at once, a fractional knapsack with two constraints, over the segments
    of the worker's and the children's curves: bytes received sum to at most beta, and the bytes
    sent to child v take 1/speeds[v] of the port each. The curve is traced: first the segments by
    the value of a byte; once the port is busy, bytes come from exchanging port time between a
    faster and a slower link. With a byte price mu, a segment of value sigma on a link of speed s
    makes (sigma - mu) s of a second of port; as mu falls, these lines cross at the segment that
    is partly served, and each crossing is one exchange. So a curve has no more points than
    segments and crossings.

    Parameters
    ----------
    worker : sequence of Point
        The curve of its CPU.
    children : sequence of sequence of Point, shape (n_children,)
        Their curves.
    speeds : sequence of float, shape (n_children,)
        Bandwidths to the children [byte/s].
    posted : Posted
        The prices for which all these curves were made.
    """
    if not children:
        return _leaf_curve(worker, posted)
    tracing = _Tracing(worker, children, speeds, posted)
    tracing.fill()
    tracing.exchange()
    return tracing.curve


def _leaf_curve(worker: Points, posted: Posted) -> Curve:
    """Return the worker's curve, as far as bytes can arrive: most nodes of a tree are leaves."""
    points = [point for point in worker if point[0] < posted.most]
    if len(points) < len(worker):
        points.append(at(worker, posted.most))
    moves = [[(0, high[0] - low[0])] for low, high in itertools.pairwise(points)]
    return Curve(points, [[], *moves], [worker])


def best_response(
    worker: Points, children: Sequence[Points], speeds: Sequence[float], posted: Posted
) -> tuple[list[float], Point]:
    """Return what the root does at its prices: it has all bytes, so that only its port binds.

    Parameters
    ----------
    worker, children, speeds, posted
        As of `node_curve`.

    Returns
    -------
    list of float, Point
        Bytes per second for each target, and what the tree then does.
    """
    shares = [worker[-1][0]] + [points[0][0] for points in children]
    pieces = [
        piece
        for child, points in enumerate(children)
        for piece in _segments(child + 1, points, speeds[child], posted)
        if piece.value > 0
    ]
    pieces.sort(key=_worth_of_a_second, reverse=True)
    port = 1.0
    for piece in pieces:
        width = min(piece.width, port * piece.speed)
        shares[piece.target] += width
        port -= width / piece.speed
        if width < piece.width:
            break
    return shares, total_of(shares, [worker, *children], speeds)


def _worth_of_a_second(piece: _Segment) -> float:
    """Return what a segment makes of a second of port."""
    return piece.value * piece.speed


def total_of(shares: list[float], parts: Sequence[Points], speeds: Sequence[float]) -> Point:
    """Return what a subtree does when its targets receive so many bytes per second."""
    total = list(at(parts[0], shares[0]))
    for target in range(1, len(parts)):
        for place, number in enumerate(at(parts[target], shares[target])):
            total[place] += number
        total[1] += shares[target] / speeds[target - 1]
    return tuple(total)


def replayed(curve: Curve, kept: Sequence[int], received: float) -> list[tuple[float, list[float]]]:
    """Return what a node does that receives so many bytes per second.

    Between two points of the offer it mixes both, as its parent assumed. Where no point between
    them was left out, that is one way to serve its targets.

    Parameters
    ----------
    curve : Curve
        Of the node.
    kept : sequence of int
        Its points that were in the offer.
    received : float
        Arriving bytes [byte/s].

    Returns
    -------
    list of (float, list of float)
        Weights, and bytes per second for each target.
    """
    points, targets = curve.points, len(curve.parts)
    high = next((n for n in range(1, len(kept)) if received <= points[kept[n]][0]), len(kept) - 1)
    if not high:
        return [(1.0, _after(curve, 0, targets))]
    first, second = kept[high - 1], kept[high]
    share = (received - points[first][0]) / (points[second][0] - points[first][0])
    share = min(1.0, max(0.0, share))
    low_shares, high_shares = _after(curve, first, targets), _after(curve, second, targets)
    if second == first + 1:
        return [(1.0, [x + share * (y - x) for x, y in zip(low_shares, high_shares, strict=True)])]
    mix = [(1.0 - share, low_shares), (share, high_shares)]
    return [each for each in mix if each[0] > 0]


def _after(curve: Curve, last: int, targets: int) -> list[float]:
    """Return the bytes per second for each target at a point of a curve."""
    shares = [0.0] * targets
    for moves in curve.moves[: last + 1]:
        for target, change in moves:
            shares[target] += change
    return [max(0.0, share) for share in shares]
