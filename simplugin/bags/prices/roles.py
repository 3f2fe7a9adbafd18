"""What a node of the tree, but the root, does when its parent or its children tell it something.

A negotiation is a sequence of sweeps. Down come prices, up go curves, as often as the root wants;
then down come shares of those rounds, up go verdicts; and either all begins anew, without the
links that were banned, or it is settled. A node sees its own messages only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from simplugin.bags.prices.curves import FIRST, at, condensed, worker_points
from simplugin.bags.prices.messages import Award, Down, Offer, Posted, Settled, Up, Verdict
from simplugin.bags.prices.tracing import Curve, node_curve, replayed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from simplugin.bags.nodes import Known
    from simplugin.bags.prices.filter import Sieve
    from simplugin.bags.prices.messages import Points

# Tasks per second of each type for each target, the worker first.
Rates = tuple[tuple[float, ...], ...]

# A round, its weight, and the bytes per second for each target.
Replay = tuple[int, float, tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class Round:
    """What a node keeps of a round: how it would serve what it offered.

    Attributes
    ----------
    curve : Curve
        All that it can do.
    kept : tuple of int
        The points of it that it told.
    """

    curve: Curve
    kept: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PriceNode:
    """A node between two messages.

    Attributes
    ----------
    known : Known
        What it has measured.
    sieve : Sieve, optional
        How it judges its links; it does not without.
    bans : frozenset of (int, int)
        Its children, from 0 on, and the types that must not go to them.
    heard : Posted, Award or Settled, optional
        What its parent said last.
    rounds : tuple of Round
        Of this negotiation.
    awards : tuple of Rates
        What it would do with each award so far.
    settled : int
        Which of them it follows; -1 before the end.
    """

    known: Known
    sieve: Sieve | None = None
    bans: frozenset[tuple[int, int]] = frozenset()
    heard: Down | None = None
    rounds: tuple[Round, ...] = ()
    awards: tuple[Rates, ...] = ()
    settled: int = -1

    @property
    def n_children(self) -> int:
        """How many children it has."""
        return len(self.known.bandwidth)

    @property
    def rates(self) -> Rates:
        """What it is to do in the end."""
        return self.awards[self.settled]


def hear(node: PriceNode, message: Down) -> tuple[PriceNode, list[Down]]:
    """Return what a node is after a message of its parent, and what it tells each child."""
    node = replace(node, heard=message)
    if isinstance(message, Posted):
        if not message.round:
            node = replace(node, rounds=())
        return node, list(posts(node.known, node.bans, message))
    if isinstance(message, Settled):
        return replace(node, settled=message.award), [message] * node.n_children
    replays = _replays(node, message)
    parts = {number: node.rounds[number].curve.parts for number, _, _ in message.shares}
    rates = scaled(mixed(replays, parts), message.inflow, message.least)
    awards = (*node.awards, rates)
    settled = len(awards) - 1 if message.last else -1
    return replace(node, awards=awards, settled=settled), list(shared(message, replays, rates))


def answer(node: PriceNode, messages: Sequence[Up]) -> tuple[PriceNode, Up]:
    """Return what a node is after all its children's messages, and what it tells its parent."""
    if isinstance(node.heard, Posted):
        return _offer(node, node.heard, [each for each in messages if isinstance(each, Offer)])
    assert isinstance(node.heard, Award)
    assert node.sieve is not None
    lost, found = node.sieve.judge(node.known, node.awards[-1])
    verdicts = [each for each in messages if isinstance(each, Verdict)]
    banned = bool(found - node.bans) or any(each.banned for each in verdicts)
    total = added([lost, *(each.lost for each in verdicts)])
    return replace(node, bans=node.bans | found), Verdict(total, banned)


def added(vectors: Sequence[Sequence[float]]) -> tuple[float, ...]:
    """Return the sum of vectors."""
    return tuple(map(sum, zip(*vectors, strict=True)))


def is_over(node: PriceNode) -> bool:
    """Whether a node knows what it is to do."""
    return node.settled >= 0


def posts(known: Known, bans: frozenset[tuple[int, int]], posted: Posted) -> Iterator[Posted]:
    """Yield what each child is told: the same prices, but for types that must not go there."""
    for child, bandwidth in enumerate(known.bandwidth):
        prices = tuple(
            0.0 if (child, kind) in bans else price for kind, price in enumerate(posted.prices)
        )
        yield replace(posted, prices=prices, most=bandwidth)


def _offer(node: PriceNode, posted: Posted, offers: Sequence[Offer]) -> tuple[PriceNode, Offer]:
    """Make the curve of a round, and tell its best points."""
    known = node.known
    worker = worker_points(known.speed, known.flop, known.byte, posted)
    curve = node_curve(worker, [each.points for each in offers], known.bandwidth, posted)
    kept, loss = condensed(curve.points, posted)
    told = Offer(
        tuple(curve.points[place] for place in kept), loss + sum(each.loss for each in offers)
    )
    return replace(node, rounds=(*node.rounds, Round(curve, tuple(kept)))), told


def _replays(node: PriceNode, award: Award) -> list[Replay]:
    """Return what a node does with an award, round by round."""
    replays: dict[tuple[int, tuple[float, ...]], float] = {}
    for number, weight, received in award.shares:
        done = node.rounds[number]
        for part, shares in replayed(done.curve, done.kept, received):
            key = (number, tuple(shares))
            replays[key] = replays.get(key, 0.0) + weight * part
    return [(number, weight, shares) for (number, shares), weight in replays.items()]


def mixed(replays: Sequence[Replay], parts: Mapping[int, Sequence[Points]]) -> list[list[float]]:
    """Return the tasks per second of each target: a mix of what it does in each round."""
    total: list[list[float]] = []
    for number, weight, shares in replays:
        for target, (points, share) in enumerate(zip(parts[number], shares, strict=True)):
            rates = at(points, share)[FIRST:]
            if len(total) == target:
                total.append([0.0] * len(rates))
            for kind, rate in enumerate(rates):
                total[target][kind] += weight * rate
    return total


def scaled(rates: list[list[float]], inflow: Sequence[float], least: Sequence[float]) -> Rates:
    """Return rates without the smallest, which for each type sum to what flows in.

    Where all are small, the largest stays: a task that arrives must have somewhere to go.
    """
    result = [[0.0] * len(inflow) for _ in rates]
    for kind, arriving in enumerate(inflow):
        column = [row[kind] for row in rates]
        largest = max(column)
        if arriving <= 0 or largest <= 0:
            continue
        bound = min(least[kind], largest)
        stays = [rate if rate >= bound else 0.0 for rate in column]
        factor = arriving / sum(stays)
        for target, rate in enumerate(stays):
            result[target][kind] = rate * factor
    return tuple(map(tuple, result))


def shared(award: Award, replays: Sequence[Replay], rates: Rates) -> Iterator[Award]:
    """Yield what each child gets of an award."""
    for target in range(1, len(rates)):
        shares = tuple((number, weight, shares[target]) for number, weight, shares in replays)
        yield replace(award, shares=shares, inflow=rates[target])
