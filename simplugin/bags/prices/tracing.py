"""How a node's curve is made of its worker's and its children's: a knapsack, traced."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter

from simplugin.bags.prices.curves import FIRST, at, worth
from simplugin.bags.prices.messages import Point, Points, Posted


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

    Between two points that were told it mixes what it does at both, as its parent assumed. Where
    no point between them was left out, that is one way to serve its targets.

    Parameters
    ----------
    curve : Curve
        Of the node.
    kept : sequence of int
        Which of its points were told.
    received : float
        How much arrives [byte/s].

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
