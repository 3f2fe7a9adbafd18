"""Concave curves: the value that a subtree makes of each byte per second, at given prices.

A point of a curve is a way to use a subtree: bytes per second that it receives, port seconds per
second spent inside it, and tasks of each type per second computed there. A curve lists points by
increasing bytes; their values are concave in the bytes; between two points a subtree mixes them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
# Bytes/s received, port time used [s/s], and tasks/s of each type; the position of the first type.
Point = Floats
# A curve, of shape (n_points, 2 + n_types).
Points = Floats
FIRST = 2
# Of slopes that differ by rounding only, so that a curve has no point inside a segment.
_IN_LINE = 1 - 1e-12


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


def worth(points: Points, posted: Posted) -> Floats:
    """Return the value per second of each way to use a subtree, less its rent."""
    terms = points[:, 1:] * np.array((-posted.rent, *posted.prices))
    # One by one, unlike the sums of `numpy.sum`.
    values: Floats = np.add.accumulate(terms, axis=1)[:, -1]
    return values


def at(points: Points, received: float) -> Point:
    """Return the mix of points that receives these bytes per second, or the last point."""
    place = max(int(points[:, 0].searchsorted(received)), 1)
    if place >= len(points):
        last: Point = points[-1]
        return last
    low, high = points[place - 1], points[place]
    share = max(0.0, (received - float(low[0])) / float(high[0] - low[0]))
    mix: Point = low + share * (high - low)
    return mix


def cpu_curve(
    speed: float,
    flop: tuple[float, ...],
    byte: tuple[float, ...],
    prices: tuple[float, ...],
    most: float = math.inf,
) -> tuple[Points, list[float]]:
    """Return the curve of a CPU that computes tasks of positive value.

    Parameters
    ----------
    speed : float
        Of the CPU [flop/s]; 0 if it computes nothing.
    flop, byte : tuple of float, shape (n_types,)
        Of a task of each type.
    prices : tuple of float, shape (n_types,)
        Value of a task of each type; 0 for one that must not come here.
    most : float
        Bytes per second that can arrive; the curve ends there.

    Returns
    -------
    float64, shape (n_points, 2 + n_types)
        Its points.
    list of float, shape (n_points,)
        Their values.
    """
    hull = _hull(flop, byte, prices)
    received: list[float] = []
    rates: list[float] = []
    for _, work, size, _ in hull if speed else hull[:1]:
        rates.append(speed / work)
        received.append(size * rates[-1])
        if received[-1] >= most:
            break
    points = np.zeros((len(rates), FIRST + len(flop)))
    values = []
    for row, ((kind, _, _, price), rate) in enumerate(zip(hull, rates, strict=False)):
        points[row, FIRST + kind] = rate
        values.append(price * rate)
    points[:, 0] = received
    if received[-1] >= most:
        # The last point is a mix of two points, of one type each.
        points[-1] = at(points, most)
        kinds = [kind for kind, *_ in hull[len(received) - 2 : len(received)]]
        values[-1] = sum(prices[kind] * float(points[-1, FIRST + kind]) for kind in kinds)
    return points, values


# Nodes differ in their speeds only, which do not change the types on the hull.
@lru_cache(maxsize=64)
def _hull(
    flop: tuple[float, ...], byte: tuple[float, ...], prices: tuple[float, ...]
) -> list[tuple[int, float, float, float]]:
    """Return the upper hull of idleness and of the types that a CPU can compute.

    Each point is a type, and the flop, the bytes and the price of its task.
    """
    received = [size / work for size, work in zip(byte, flop, strict=True)]
    values = [price / work for price, work in zip(prices, flop, strict=True)]
    # Bytes and value for a flop at each point, and its type. Idleness, a task of infinite length
    # and rate 0, comes first.
    chosen = [(0.0, 0.0, -1)]
    for kind in sorted(range(len(flop)), key=received.__getitem__):
        far, value = received[kind], values[kind]
        if value <= chosen[-1][1]:
            continue
        # Remove points on or below the line from the one before them to the new one.
        while len(chosen) > 1:
            (low, least, _), (here, best, _) = chosen[-2:]
            if (value - best) * (here - low) < (best - least) * (far - here) * _IN_LINE:
                break
            chosen.pop()
        if not far:
            chosen.pop()
        chosen.append((far, value, kind))
    return [
        (kind, flop[kind], byte[kind], prices[kind]) if kind >= 0 else (kind, math.inf, 0.0, 0.0)
        for _, _, kind in chosen
    ]


def condensed(
    received: Sequence[float], values: Sequence[float], segments: int
) -> tuple[list[int], float]:
    """Choose the points of a curve to send.

    Remove points that differ by rounding only, then those of the smallest loss. The result lies
    on or below the curve, so that each answer is feasible.

    Parameters
    ----------
    received, values : sequence of float, shape (n_points,)
        Of the curve.
    segments : int
        Maximum number of segments of the result.

    Returns
    -------
    list of int, float
        Positions of the remaining points, the first and the last among them, and the largest loss
        of value per second.
    """
    last, least = len(received) - 1, 1e-12 * received[-1]
    kept = [0]
    for place in range(1, last):
        if min(received[place] - received[kept[-1]], received[last] - received[place]) > least:
            kept.append(place)
    if last:
        kept.append(last)
    losses = [_sag(received, values, *kept[place : place + 3]) for place in range(len(kept) - 2)]
    while len(kept) > segments + 1:
        gone = losses.index(min(losses))
        del kept[gone + 1], losses[gone]
        for place in range(max(gone - 1, 0), min(gone + 1, len(losses))):
            losses[place] = _sag(received, values, *kept[place : place + 3])
    lost = 0.0
    for low, high in itertools.pairwise(kept):
        for middle in range(low + 1, high):
            lost = max(lost, _sag(received, values, low, middle, high))
    return kept, lost


def _sag(
    received: Sequence[float], values: Sequence[float], low: int, middle: int, high: int
) -> float:
    """Return how far a point lies above the line between two others."""
    share = (received[middle] - received[low]) / (received[high] - received[low])
    return values[middle] - values[low] - share * (values[high] - values[low])


@dataclass(slots=True, eq=False)
class NodeCurve:
    """A node's curve, with its composition from the curves of its worker and its children.

    Attributes
    ----------
    points : float64, shape (n_points, 2 + n_types)
        Its points.
    values : list of float, shape (n_points,)
        Their values per second.
    shares : list of list of float, shape (n_points, 1 + n_children)
        The bytes per second of each target at each point, the worker first.
    parts : sequence of float64, each of shape (n_points, 2 + n_types)
        The curves of all targets.
    kept : list of int
        The points that were in the offer to the parent.
    """

    points: Points
    values: list[float]
    shares: list[list[float]]
    parts: Sequence[Points]
    kept: list[int] = field(default_factory=list)


@dataclass(slots=True)
class _Segment:
    """A piece of a target's curve: value of a byte [1/byte], width [byte/s], its number of all."""

    value: float
    width: float
    target: int
    speed: float
    number: int
    used: float = 0.0


def _segments(
    parts: Sequence[Points], speeds: Sequence[float], posted: Posted
) -> tuple[list[list[_Segment]], Floats]:
    """Split the curves of targets into segments; a child's bytes cost the rent of the port.

    The first target is the worker, with the speed 0; its bytes cost no rent.

    Returns
    -------
    list of list of _Segment
        Those of each target.
    float64, shape (n_segments, 2 + n_types)
        Use of the tree by a byte of each segment.
    """
    targets = np.repeat(np.arange(len(parts)), [len(points) - 1 for points in parts])
    ends = np.arange(len(targets)) + targets
    points = np.concatenate(parts)
    per_byte = points[ends + 1] - points[ends]
    width = per_byte[:, 0].copy()
    per_byte /= width[:, None]
    per_byte[:, 0] = 1.0
    per_byte[:, 1] += np.array([1.0 / speed if speed else 0.0 for speed in speeds])[targets]
    pieces: list[list[_Segment]] = [[] for _ in parts]
    numbers = zip(worth(per_byte, posted).tolist(), width.tolist(), targets.tolist(), strict=True)
    for number, (value, wide, target) in enumerate(numbers):
        found = pieces[target]
        # Rounding must not change the order of a target's segments.
        value = min(value, found[-1].value) if found else value
        found.append(_Segment(value, wide, target, speeds[target], number))
    return pieces, per_byte


class _Tracing:
    """The state of a node's knapsack while the bytes that it receives grow."""

    def __init__(self, parts: Sequence[Points], speeds: Sequence[float], posted: Posted) -> None:
        """Start with the points that need no bytes."""
        self.posted, self.parts = posted, parts
        self.pieces, self.per_byte = _segments(parts, (0.0, *speeds), posted)
        self.full = [0] * len(parts)
        self.port = 1.0
        self.marginal: _Segment | None = None
        self.start = np.array([points[0] for points in parts]).cumsum(axis=0)[-1]
        # The bytes received, all changes so far, and those before each point with its bytes.
        self.here = self.last = float(self.start[0])
        self.changes: list[tuple[int, float]] = []
        self.places, self.shares = [0], [[0.0] * len(parts)]

    def curve(self) -> NodeCurve:
        """Return the curve that was traced."""
        steps = np.empty((1 + len(self.changes), len(self.start)))
        steps[0] = self.start
        if self.changes:
            numbers, amounts = zip(*self.changes, strict=True)
            steps[1:] = np.array(amounts)[:, None] * self.per_byte[list(numbers)]
        points = steps.cumsum(axis=0)[self.places]
        shares = [[max(0.0, each) for each in row] for row in self.shares]
        return NodeCurve(points, worth(points, self.posted).tolist(), shares, self.parts)

    def fill(self) -> None:
        """Take segments by the value of a byte, until the port is busy or values are negative."""
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
        """Give bytes to a segment; return True if more bytes can arrive."""
        room = self.posted.most - self.here
        taken = min(width, room)
        piece.used += taken
        self.step([(piece, taken)])
        return width < room

    def step(self, changes: list[tuple[_Segment, float]]) -> None:
        """Add the next point."""
        shares = self.shares[-1].copy()
        for piece, change in changes:
            self.here += change
            self.changes.append((piece.number, change))
            shares[piece.target] += change
        if self.here <= self.last:
            # No further byte: only the segment that is partly served has changed.
            self.shares[-1] = shares
            return
        self.last = self.here
        self.places.append(len(self.changes))
        self.shares.append(shares)

    def exchange(self) -> None:
        """With a busy port, move its time from slower to faster links, best value first."""
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
        """Return the exchange with the marginal segment of most value for a byte."""
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
        """Move port time until one of two segments ends; return True if more bytes can arrive."""
        slots = (gains.width - gains.used) / gains.speed, loses.used / loses.speed
        time, faster = min(slots), gains.speed - loses.speed
        room = self.posted.most - self.here
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


def node_curve(parts: Sequence[Points], speeds: Sequence[float], posted: Posted) -> NodeCurve:
    """Return the curve of a node, from those of its worker and its children.

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
    parts : sequence of float64, each of shape (n_points, 2 + n_types)
        The curves of all targets: the worker's, and those of the children.
    speeds : sequence of float, shape (n_children,)
        Bandwidths to the children [byte/s].
    posted : Posted
        The prices for which all these curves were made.
    """
    tracing = _Tracing(parts, speeds, posted)
    tracing.fill()
    tracing.exchange()
    return tracing.curve()


def best_response(
    parts: Sequence[Points], speeds: Sequence[float], posted: Posted
) -> tuple[list[float], Point]:
    """Return the root's best use of the tree at its prices, limited by its port only.

    Parameters
    ----------
    parts : sequence of float64, each of shape (n_points, 2 + n_types)
        The curves of all targets.
    speeds, posted
        As of `node_curve`.

    Returns
    -------
    list of float, Point
        Bytes per second for each target, and the resulting use of the tree.
    """
    shares = [float(parts[0][-1, 0]), *(float(points[0, 0]) for points in parts[1:])]
    cut, _ = _segments(parts, (0.0, *speeds), posted)
    pieces = [piece for pieces in cut[1:] for piece in pieces if piece.value > 0]
    # By the value of a second of the port.
    pieces.sort(key=lambda piece: piece.value * piece.speed, reverse=True)
    port = 1.0
    for piece in pieces:
        width = min(piece.width, port * piece.speed)
        shares[piece.target] += width
        port -= width / piece.speed
        if width < piece.width:
            break
    return shares, total_of(shares, parts, speeds)


def total_of(shares: list[float], parts: Sequence[Points], speeds: Sequence[float]) -> Point:
    """Return the use of a subtree whose targets receive these bytes per second."""
    total = at(parts[0], shares[0]).copy()
    for target in range(1, len(parts)):
        total += at(parts[target], shares[target])
        total[1] += shares[target] / speeds[target - 1]
    return total


def replayed(curve: NodeCurve, received: float) -> list[tuple[float, list[float]]]:
    """Return the use of its targets by a node that receives these bytes per second.

    Between two points of the offer it mixes both, as its parent assumed; this is a single use if
    no point between them was left out.

    Parameters
    ----------
    curve : NodeCurve
        Of the node.
    received : float
        Arriving bytes [byte/s].

    Returns
    -------
    list of (float, list of float)
        Weights, and bytes per second for each target.
    """
    kept = curve.kept
    told: list[float] = curve.points[kept, 0].tolist()
    high = next((n for n in range(1, len(kept)) if received <= told[n]), len(kept) - 1)
    if not high:
        return [(1.0, curve.shares[0])]
    first, second = kept[high - 1], kept[high]
    share = (received - told[high - 1]) / (told[high] - told[high - 1])
    share = min(1.0, max(0.0, share))
    low_shares, high_shares = curve.shares[first], curve.shares[second]
    if second == first + 1:
        return [(1.0, [x + share * (y - x) for x, y in zip(low_shares, high_shares, strict=True)])]
    mix = [(1.0 - share, low_shares), (share, high_shares)]
    return [each for each in mix if each[0] > 0]
