"""What the root does: it posts prices, mixes the answers, and sets the next prices."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from simplugin.bags.prices.curves import FIRST, worker_points, worth
from simplugin.bags.prices.game import solve_game
from simplugin.bags.prices.messages import Award, Down, Offer, Point, Posted, Settled, Up, Verdict
from simplugin.bags.prices.roles import Rates, added, mixed, posts, scaled, shared
from simplugin.bags.prices.tracing import best_response
from simplugin.errors import InfeasibleError, WorkloadError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simplugin.bags.nodes import Known
    from simplugin.bags.prices.filter import Sieve
    from simplugin.bags.prices.messages import Points


@dataclass(frozen=True, slots=True)
class Terms:
    """How a negotiation is led.

    Attributes
    ----------
    rent : float
        What a second of port costs, as a fraction of the root's first bound on the fair
        throughput: the value that the tree makes at the first prices, at least the optimum to
        what short answers hide, as a rule once or twice it, and more than a hundred times it
        where they are far off. Of the ways to reach the optimum it selects one with little
        traffic, and gives up traffic that brings less than its rent.
    segments : int
        How many segments an answer has, until the root finds that it must know more.
    tolerance : float
        Relative gap to the optimum at which it ends.
    cut : float
        Flows below this fraction of their type's throughput are left out.
    limit : int
        The most rounds of one negotiation, and the most negotiations.

    Raises
    ------
    WorkloadError
        A field is out of its range.
    """

    rent: float = 1e-3
    segments: int = 5
    tolerance: float = 1e-10
    cut: float = 1e-9
    limit: int = 200

    def __post_init__(self) -> None:
        """Check the fields."""
        for name, is_valid, remedy in (
            ("rent", 0 <= self.rent < math.inf, "a finite number from 0 on"),
            ("segments", self.segments >= 1, "a number from 1 on"),
            ("tolerance", 0 < self.tolerance < 1, "a number above 0, under 1"),
            ("cut", 0 <= self.cut < 0.5, "a share from 0 on, under 0.5"),
            ("limit", self.limit >= 1, "a number from 1 on"),
        ):
            if not is_valid:
                raise WorkloadError(f"{name} is {getattr(self, name)!r}; give {remedy}")


@dataclass(frozen=True, slots=True)
class Answered:
    """A round, as the root keeps it.

    Attributes
    ----------
    does : Point
        What the tree would do.
    shares : list of float, shape (1 + n_children,)
        Bytes per second for each target.
    parts : sequence of sequence of Point
        Curves of the targets.
    """

    does: Point
    shares: list[float]
    parts: Sequence[Points]


@dataclass(frozen=True, slots=True)
class PriceRoot:
    """The root between two sweeps.

    Attributes
    ----------
    known : Known
        What it has measured.
    terms : Terms
        How it leads.
    sieve : Sieve, optional
        How links are judged; they are not without.
    bans : frozenset of (int, int)
        Its children, from 0 on, and the types that must not go to them.
    posted : Posted
        What it posts, or has posted last.
    rounds : tuple of Answered
        Of this negotiation.
    weights : tuple of float, shape (n_rounds,)
        Of the rounds, in the mix.
    fair, bound : float
        Fair throughput of the mix less its rent, and the most that it could be [tasks/s].
    sweeps : int
        Rounds of all negotiations.
    awards : tuple of Rates
        What it would do, by each mix so far.
    gaps : tuple of float
        Of each mix, the relative distance from the optimum that is possible still, rent counted.
    hopes : tuple of float
        Fair throughput of each mix [tasks/s], less what long transfers will cost.
    settled : int
        Which of them it follows; -1 before the end.
    """

    known: Known
    terms: Terms
    sieve: Sieve | None
    posted: Posted
    bans: frozenset[tuple[int, int]] = frozenset()
    rounds: tuple[Answered, ...] = ()
    weights: tuple[float, ...] = ()
    fair: float = -math.inf
    bound: float = math.inf
    sweeps: int = 0
    awards: tuple[Rates, ...] = ()
    gaps: tuple[float, ...] = ()
    hopes: tuple[float, ...] = ()
    settled: int = -1

    @property
    def rates(self) -> Rates:
        """What it is to do in the end."""
        return self.awards[self.settled]

    @property
    def throughput(self) -> list[float]:
        """Tasks of each type per second of the mix [tasks/s]."""
        rates = [each.does[FIRST:] for each in self.rounds]
        return [
            sum(weight * rate for weight, rate in zip(self.weights, column, strict=True))
            for column in zip(*rates, strict=True)
        ]


def open_negotiation(known: Known, terms: Terms, sieve: Sieve | None) -> PriceRoot:
    """Return the root at the beginning, with its first prices.

    They are the time that a task takes the root's CPU and its fastest link.
    """
    fastest = max(known.bandwidth, default=math.inf)
    speed = known.speed or math.inf
    times = [
        flop / speed + byte / fastest for flop, byte in zip(known.flop, known.byte, strict=True)
    ]
    if not sum(times):
        times = list(known.flop)
    total = sum(time * weight for time, weight in zip(times, known.weight, strict=True))
    prices = tuple(time / total for time in times)
    return PriceRoot(known, terms, sieve, Posted(0, prices, 0.0, math.inf, terms.segments))


def asks(root: PriceRoot) -> list[Down]:
    """Return what the root tells its children at the beginning."""
    return list(posts(root.known, root.bans, root.posted))


def react(root: PriceRoot, messages: Sequence[Up]) -> tuple[PriceRoot, list[Down]]:
    """Return what the root is after all its children's messages, and what it tells each."""
    if len(root.awards) > len(root.hopes):
        return _settle(root, [each for each in messages if isinstance(each, Verdict)])
    return _next_round(root, [each for each in messages if isinstance(each, Offer)])


def _next_round(root: PriceRoot, offers: Sequence[Offer]) -> tuple[PriceRoot, list[Down]]:
    """Answer prices as the curves tell; then post new prices, or award."""
    known, posted, terms = root.known, root.posted, root.terms
    worker = worker_points(known.speed, known.flop, known.byte, posted)
    parts = [worker, *(each.points for each in offers)]
    shares, does = best_response(worker, parts[1:], known.bandwidth, posted)
    value = worth(does, posted)
    bound = min(root.bound, value + sum(each.loss for each in offers))
    rounds = (*root.rounds, Answered(does, shares, parts))
    rent = posted.rent
    if terms.rent and not rent and value > 0:
        # Before the first value there is no scale. It bounds the optimum, if not always closely.
        rent, bound = terms.rent * value, math.inf
    weights, prices, fair = _mix(rounds, known.weight, rent)
    root = replace(
        root,
        rounds=rounds,
        weights=tuple(weights),
        fair=fair,
        bound=bound,
        sweeps=root.sweeps + 1,
    )
    if bound - fair <= terms.tolerance * abs(fair) or len(rounds) >= terms.limit:
        return _award(root, prices)
    segments = posted.segments
    if posted.round and value <= fair + terms.tolerance * abs(fair):
        # The answer is nothing new, so what is missing is in the points that were left out.
        segments *= 2
    root = replace(root, posted=Posted(len(rounds), prices, rent, math.inf, segments))
    return root, asks(root)


def _mix(
    rounds: Sequence[Answered], weight: Sequence[float], rent: float
) -> tuple[list[float], tuple[float, ...], float]:
    """Return the weights of the rounds, the prices of the types, and the fair throughput.

    The best mix is that of a game: one side mixes rounds, the other the types of which the least
    served counts. The dual of this program, whose columns the tree itself makes, is the next
    prices [1]_.

    References
    ----------
    .. [1] G. B. Dantzig and P. Wolfe (1960). Decomposition principle for linear programs.
       Operations Research 8(1).
    """
    payoffs = [
        [
            rate / each - rent * answered.does[1]
            for rate, each in zip(answered.does[FIRST:], weight, strict=True)
        ]
        for answered in rounds
    ]
    weights, prices, fair = solve_game(payoffs)
    return weights, tuple(price / each for price, each in zip(prices, weight, strict=True)), fair


def _award(root: PriceRoot, prices: tuple[float, ...]) -> tuple[PriceRoot, list[Down]]:
    """Tell all what they get."""
    replays = [
        (number, weight, tuple(root.rounds[number].shares))
        for number, weight in enumerate(root.weights)
        if weight > 0
    ]
    parts = {number: root.rounds[number].parts for number, _, _ in replays}
    throughput = root.throughput
    if min(throughput) <= 0:
        if root.hopes:
            # The bans leave a type no host that computes it.
            return _follow_best(root)
        raise InfeasibleError(
            "no host of the tree computes; give the root or one of its descendants a speed"
        )
    least = tuple(root.terms.cut * rate for rate in throughput)
    last = root.sieve is None
    rates = scaled(mixed(replays, parts), throughput, least)
    shares = tuple((number, weight, 0.0) for number, weight, _ in replays)
    award = Award(shares, tuple(throughput), least, last)
    gaps = (*root.gaps, (root.bound - root.fair) / abs(root.fair))
    posted = replace(root.posted, prices=prices)
    root = replace(root, awards=(*root.awards, rates), gaps=gaps, posted=posted)
    if last:
        root = replace(root, hopes=(*root.hopes, _least(root, ())), settled=len(root.awards) - 1)
    return root, list(shared(award, replays, rates))


def _settle(root: PriceRoot, verdicts: Sequence[Verdict]) -> tuple[PriceRoot, list[Down]]:
    """Begin anew if links were banned, else follow the award that promises most."""
    assert root.sieve is not None
    lost, found = root.sieve.judge(root.known, root.awards[-1])
    total = added([lost, *(each.lost for each in verdicts)])
    hopes = (*root.hopes, _least(root, total))
    banned = bool(found - root.bans) or any(each.banned for each in verdicts)
    root = replace(root, hopes=hopes, bans=root.bans | found)
    if banned and len(hopes) < root.terms.limit:
        posted = replace(root.posted, round=0, segments=root.terms.segments)
        root = replace(root, posted=posted, rounds=(), weights=(), fair=-math.inf, bound=math.inf)
        return root, asks(root)
    return _follow_best(root)


def _follow_best(root: PriceRoot) -> tuple[PriceRoot, list[Down]]:
    """End with the award that promises most."""
    settled = max(range(len(root.hopes)), key=root.hopes.__getitem__)
    message: Down = Settled(settled)
    return replace(root, settled=settled), [message] * len(root.known.bandwidth)


def _least(root: PriceRoot, lost: Sequence[float]) -> float:
    """Return the fair throughput of the mix, less what is lost."""
    left = [
        x - y for x, y in zip(root.throughput, lost or [0.0] * len(root.known.flop), strict=True)
    ]
    return min(x / weight for x, weight in zip(left, root.known.weight, strict=True))
