"""Negotiation of rates by prices, between nodes that know their neighbours only.

A negotiation is a sequence of sweeps. Prices go down and curves go up until the root has a mix of
rounds that is good enough; then shares of these rounds go down and verdicts go up. If links were
banned, all is repeated without them; else the mix is settled. A node decides by its own knowledge
and messages; there is no simulator here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from simplugin.bags.policies.price_curves import (
    FIRST,
    Floats,
    NodeCurve,
    Point,
    Points,
    Posted,
    at,
    best_response,
    condensed,
    cpu_curve,
    node_curve,
    replayed,
    worth,
)
from simplugin.bags.policy import PARENT, NodeKnowledge, NodePlan, Posts
from simplugin.core.errors import InfeasibleError, WorkloadError

# Below this, relative to payoffs of about 1, a reduced cost counts as 0.
_TOLERANCE = 1e-13

# Smallest part in the value of a type with a price; tolerance of a level.
_PRICED, _LEVEL = 1e-9, 1e-8
# Factor by which aims grow until some type is held back.
_STRIDE = 16.0

# Tasks per second of each type for each target, the worker first.
Rates = tuple[tuple[float, ...], ...]

# A round, its weight, and the bytes per second for each target.
Replay = tuple[int, float, tuple[float, ...]]


@dataclass(frozen=True, slots=True, eq=False)
class CurveOffer:
    """Message to the parent: the curve of a subtree at the prices posted.

    Attributes
    ----------
    points : float64, shape (n_points, 2 + n_types)
        Of its curve.
    loss : float
        Largest loss of value per second by points that the subtree left out.
    """

    points: Points
    loss: float


@dataclass(frozen=True, slots=True)
class ShareAward:
    """Message to a child: the shares of rounds that its subtree gets.

    Attributes
    ----------
    shares : tuple of (int, float, float)
        Rounds, their weights, and the bytes per second of each.
    inflow : tuple of float, shape (n_types,)
        Tasks of each type that will arrive [tasks/s].
    least : tuple of float, shape (n_types,)
        Smaller flows are left out [tasks/s].
    last : bool
        True if the award is final.
    """

    shares: tuple[tuple[int, float, float], ...]
    inflow: tuple[float, ...]
    least: tuple[float, ...]
    last: bool


@dataclass(frozen=True, slots=True)
class LinkVerdict:
    """Message to the parent: the judgement of the links of a subtree on an award.

    Attributes
    ----------
    lost : tuple of float, shape (n_types,)
        Tasks of each type that will be lost there, as transfers last too long [tasks/s].
    banned : bool
        True if a type was banned from a link there, so that another negotiation is needed.
    """

    lost: tuple[float, ...]
    banned: bool


@dataclass(frozen=True, slots=True)
class Settled:
    """Message to a child: the end.

    Attributes
    ----------
    award : int
        The award to follow, counted from 0.
    """

    award: int


Down = Posted | ShareAward | Settled
Up = CurveOffer | LinkVerdict


@dataclass(frozen=True, slots=True)
class LinkFilter:
    """Decides which links a parent stops using for a type, as they cost more than they yield.

    A link is banned for small flows of types that mostly take other links. Where all tasks of a
    type cross one port, the fastest of its links there is never banned with a `ban_threshold` from
    1 on: as a port is busy at most all the time, a transfer of the type lasts no longer there than
    the tree takes to compute as many tasks of each other type.

    Attributes
    ----------
    buffer : int
        Tasks that the buffer of a node holds.
    ban_threshold : float
        Minimum ratio of the loss by a flow to its yield for a ban.
    """

    buffer: int
    ban_threshold: float = 1.0

    def judge(
        self, known: NodeKnowledge, rates: Sequence[Sequence[float]]
    ) -> tuple[tuple[float, ...], frozenset[tuple[int, int]]]:
        """Return the losses by long transfers, and the links to ban.

        While a task of type k travels to a child, no child gets another one, and each consumes
        its buffered tasks (all slots but one) at its planned rate. The tasks that it could have
        computed after that are lost.

        Parameters
        ----------
        known : NodeKnowledge
            Measurements of the node.
        rates : sequence of sequence of float, shape (1 + n_children, n_types)
            Planned flow to each target [task/s].

        Returns
        -------
        tuple of float, shape (n_types,)
            Tasks of each type that children lose [tasks/s].
        frozenset of (int, int)
            Children, from 0 on, and the types that must not go to them.
        """
        flows = [(row, (self.buffer - 1) / sum(row)) for row in rates[1:] if sum(row) > 0]
        total, found = [0.0] * len(known.flop), set()
        for child, row in enumerate(rates[1:]):
            for kind, rate in enumerate(row):
                if rate <= 0:
                    continue
                long = known.byte[kind] / known.bandwidth[child]
                lost = [0.0] * len(total)
                for other, lasts in flows:
                    if long > lasts:
                        lost = [x + y * (long - lasts) for x, y in zip(lost, other, strict=True)]
                total = [x + rate * y for x, y in zip(total, lost, strict=True)]
                worst = max(x / weight for x, weight in zip(lost, known.weight, strict=True))
                if worst * known.weight[kind] > self.ban_threshold:
                    found.add((child, kind))
        return tuple(total), frozenset(found)


@dataclass(frozen=True, slots=True)
class NegotiationParameters:
    """Parameters of a negotiation.

    Attributes
    ----------
    rent : float
        Price of a second of port, as a fraction of the value of the tree at the first prices. That
        value is an upper bound of the optimal fair throughput (up to points left out of answers):
        usually one to two times the optimum, and over a hundred times if the first prices are far
        off. The rent selects an optimum with little traffic, and rejects traffic of less value.
    segments : int
        Number of segments of an answer; doubled when the root needs more detail.
    tolerance : float
        Relative gap to the optimum at which the negotiation ends.
    cut : float
        Flows below this fraction of their type's throughput are left out.
    limit : int
        Maximum number of rounds of one negotiation, and of negotiations.

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


@dataclass(frozen=True, slots=True, eq=False)
class Answered:
    """A round, as stored by the root.

    Attributes
    ----------
    does : Point
        The use of the tree.
    shares : list of float, shape (1 + n_children,)
        Bytes per second for each target.
    parts : sequence of float64, each of shape (n_points, 2 + n_types)
        Curves of the targets.
    """

    does: Point
    shares: list[float]
    parts: Sequence[Points]


# The curves of the targets, by round.
Parts = Mapping[int, Sequence[Points]]


@dataclass(eq=False)
class _Negotiator:
    """A node between two messages; a `simplugin.bags.policy.Negotiator`.

    Attributes
    ----------
    known : NodeKnowledge
        Its knowledge.
    link_filter : LinkFilter, optional
        Decides which links to ban; None to use all links.
    typed_slots : int
        Slots of its buffer if requests name types; 0 if not.
    bans : frozenset of (int, int)
        Its children, from 0 on, and the types that must not go to them.
    awards : list of Rates
        The rates by each award so far.
    settled : int
        The award that it follows; -1 before the end.
    waiting : list of int
        The children with a pending answer.
    answers : dict of int to message
        The answers of the other children.
    sweeps : int
        Number of times that it posted or received prices.
    """

    together = True

    known: NodeKnowledge
    link_filter: LinkFilter | None = None
    typed_slots: int = 0
    bans: frozenset[tuple[int, int]] = field(default=frozenset(), init=False)
    awards: list[Rates] = field(default_factory=list, init=False)
    settled: int = field(default=-1, init=False)
    waiting: list[int] = field(default_factory=list, init=False)
    answers: dict[int, Up] = field(default_factory=dict, init=False)
    sweeps: int = field(default=0, init=False)

    @property
    def plan(self) -> NodePlan | None:
        """Return the plan; None before the end."""
        if self.settled < 0:
            return None
        rates = self.awards[self.settled]
        return NodePlan(rates, slots_for(rates, self.typed_slots) if self.typed_slots else ())

    @property
    def awaits(self) -> int:
        """Return the neighbour of the next message."""
        return self.waiting[0] if self.waiting else PARENT

    def _worker(self, posted: Posted) -> tuple[Points, list[float]]:
        """Return the curve of the node's CPU; a leaf's ends at the bandwidth of its link."""
        prices = posted.prices
        if not all(self.known.allowed):
            may = zip(prices, self.known.allowed, strict=True)
            prices = tuple(price if allowed else 0.0 for price, allowed in may)
        most = math.inf if self.known.bandwidth else posted.most
        flop, byte = tuple(self.known.flop), tuple(self.known.byte)
        return cpu_curve(self.known.speed, flop, byte, prices, most)

    def _down(self, messages: Sequence[Down]) -> Posts:
        """Return messages to the children; their answers are awaited unless it is settled."""
        posts = list(enumerate(messages, 1))
        self.waiting = [] if self.settled >= 0 else [child for child, _ in posts]
        return list(posts)

    def _ask(self, posted: Posted) -> Posts:
        """Return prices for each child, 0 for types that must not go there."""
        messages: list[Down] = []
        for child, bandwidth in enumerate(self.known.bandwidth):
            prices = posted.prices
            if self.bans:
                pairs = ((price, (child, kind)) for kind, price in enumerate(prices))
                prices = tuple(0.0 if pair in self.bans else price for price, pair in pairs)
            messages.append(Posted(posted.round, prices, posted.rent, bandwidth, posted.segments))
        return self._down(messages)

    def _share(self, award: ShareAward, replays: Sequence[Replay], parts: Parts) -> Posts:
        """Adopt the rates of an award, and return the share of each child."""
        rates = scaled(mixed(replays, parts), award.inflow, award.least)
        self.awards.append(rates)
        if award.last:
            self.settled = len(self.awards) - 1
        messages = []
        for target in range(1, len(rates)):
            shares = tuple((number, weight, shares[target]) for number, weight, shares in replays)
            messages.append(replace(award, shares=shares, inflow=rates[target]))
        return self._down(messages)

    def _take_answers(self, source: int, message: Up) -> list[Up] | None:
        """Store the answer of a child; return all of them if it was the last one."""
        self.waiting.remove(source)
        self.answers[source] = message
        if self.waiting:
            return None
        return [self.answers.pop(child) for child in sorted(self.answers)]

    def _judge(self, verdicts: Sequence[Up]) -> LinkVerdict:
        """Ban links by the last award, and return the verdict of the subtree."""
        assert self.link_filter is not None
        lost, found = self.link_filter.judge(self.known, self.awards[-1])
        below = [each for each in verdicts if isinstance(each, LinkVerdict)]
        banned = bool(found - self.bans) or any(each.banned for each in below)
        self.bans |= found
        total = zip(lost, *(each.lost for each in below), strict=True)
        return LinkVerdict(tuple(map(sum, total)), banned)


@dataclass(eq=False)
class Follower(_Negotiator):
    """Any node but the root.

    Attributes
    ----------
    heard : message, optional
        The last message of its parent.
    rounds : list of NodeCurve
        The curves of all rounds of this negotiation.
    """

    heard: Down | None = field(default=None, init=False)
    rounds: list[NodeCurve] = field(default_factory=list, init=False)

    def begin(self) -> Posts:
        """Return no message: the root begins."""
        return []

    def hear(self, source: int, message: Down | Up) -> Posts:
        """Return the messages that follow from one of its parent, or of a child."""
        posts: Posts = []
        answers: list[Up] | None = []
        if isinstance(message, CurveOffer | LinkVerdict):
            answers = self._take_answers(source, message)
        else:
            posts = self._obey(message)
        if self.settled < 0 and not self.waiting and answers is not None:
            posts.append((PARENT, self._answer(answers)))
        return posts

    def _obey(self, message: Down) -> Posts:
        """Follow the parent, and return the messages to the children."""
        self.heard = message
        if isinstance(message, Posted):
            self.sweeps += 1
            if not message.round:
                self.rounds = []
            return self._ask(message)
        if isinstance(message, Settled):
            self.settled = message.award
            return self._down([message] * len(self.known.bandwidth))
        parts = {number: self.rounds[number].parts for number, _, _ in message.shares}
        replays: dict[tuple[int, tuple[float, ...]], float] = {}
        for number, weight, received in message.shares:
            for part, shares in replayed(self.rounds[number], received):
                key = (number, tuple(shares))
                replays[key] = replays.get(key, 0.0) + weight * part
        listed = [(number, weight, shares) for (number, shares), weight in replays.items()]
        return self._share(message, listed, parts)

    def _answer(self, answers: Sequence[Up]) -> Up:
        """Return the curve of a round with its best points, or the verdict on an award."""
        if not isinstance(self.heard, Posted):
            return self._judge(answers)
        known, posted = self.known, self.heard
        offers = [each for each in answers if isinstance(each, CurveOffer)]
        worker, values = self._worker(posted)
        curve = NodeCurve(worker, values, worker[:, :1].tolist(), [worker])
        if offers:
            parts = [worker, *(each.points for each in offers)]
            curve = node_curve(parts, known.bandwidth, posted)
        points = curve.points
        curve.kept, loss = condensed(points[:, 0].tolist(), curve.values, posted.segments)
        self.rounds.append(curve)
        if len(curve.kept) < len(points):
            points = points[curve.kept]
        return CurveOffer(points, loss + sum(each.loss for each in offers))


@dataclass(eq=False)
class Leader(_Negotiator):
    """The root: it posts prices, mixes the answers, and sets the next prices.

    The first price of a task is its time on the root's CPU and fastest link.

    Attributes
    ----------
    parameters : NegotiationParameters
        Of the negotiation.
    gaps : list of float
        Relative distance of each mix from the optimum that is still possible, rent counted.
    hopes : list of float
        Fair throughput of each mix [task/s], less the losses of long transfers.
    """

    parameters: NegotiationParameters = field(default_factory=NegotiationParameters)
    gaps: list[float] = field(default_factory=list, init=False)
    hopes: list[float] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        """Choose the first prices."""
        known = self.known
        fastest = max(known.bandwidth, default=math.inf)
        speed = known.speed or math.inf
        times = [
            flop / speed + byte / fastest for flop, byte in zip(known.flop, known.byte, strict=True)
        ]
        if not sum(times):
            times = list(known.flop)
        total = sum(time * weight for time, weight in zip(times, known.weight, strict=True))
        prices = tuple(time / total for time in times)
        self.posted = Posted(0, prices, 0.0, math.inf, self.parameters.segments)
        self.rent = 0.0
        self._forget_rounds()

    def _forget_rounds(self) -> None:
        """Begin a negotiation: aim at equal throughputs by weight, with no type held back."""
        self.rounds: list[Answered] = []
        self.weights: list[float] = []
        # Fair throughput of the mix less its rent, and the most that it could be [task/s].
        self.fair, self.bound = -math.inf, math.inf
        self.aim = list(self.known.weight)
        self.free = set(range(len(self.aim))) if self.known.restricted else set()
        # The throughput over its aim of each type that is held back, while others are raised.
        self.level = 0.0
        self.blamed: set[int] = set()

    def begin(self) -> Posts:
        """Return the first prices; a root without children negotiates to the end."""
        posts = self._ask(self.posted)
        while self.settled < 0 and not self.known.bandwidth:
            self._react([])
        return posts

    def hear(self, source: int, message: Up) -> Posts:
        """Return the messages that follow from one of a child."""
        answers = self._take_answers(source, message)
        return [] if answers is None else self._react(answers)

    @property
    def throughput(self) -> list[float]:
        """Return the throughput of each type in the mix [task/s]."""
        does = np.array([each.does[FIRST:] for each in self.rounds])
        mixes: list[float] = np.cumsum(np.array(self.weights)[:, None] * does, axis=0)[-1].tolist()
        return mixes

    def _react(self, answers: Sequence[Up]) -> Posts:
        """Return the messages that follow from the answers of all children."""
        if len(self.awards) == len(self.hopes):
            return self._next_round([each for each in answers if isinstance(each, CurveOffer)])
        verdict = self._judge(answers)
        self.hopes.append(self._least(verdict.lost))
        if not verdict.banned or len(self.hopes) >= self.parameters.limit:
            return self._follow_best()
        # Repeat without the banned links.
        self._forget_rounds()
        self.posted = replace(self.posted, round=0, segments=self.parameters.segments)
        return self._ask(self.posted)

    def _next_round(self, offers: Sequence[CurveOffer]) -> Posts:
        """Answer prices by the curves; then post new prices, or award."""
        known, posted, limits = self.known, self.posted, self.parameters
        parts = [self._worker(posted)[0], *(each.points for each in offers)]
        shares, does = best_response(parts, known.bandwidth, posted)
        value = float(worth(does[None], posted)[0])
        self.bound = min(self.bound, value + sum(each.loss for each in offers))
        self.rounds.append(Answered(does, shares, parts))
        if limits.rent and not self.rent and value > 0:
            # The first value sets the scale of the rent.
            self.rent, self.bound = limits.rent * value, math.inf
        prices = self._mixed()
        self.sweeps += 1
        gap = limits.tolerance * abs(self.fair)
        if self.bound - self.fair <= gap or len(self.rounds) >= limits.limit:
            if len(self.rounds) >= limits.limit or not self._aim_higher(prices):
                return self._award(prices)
            prices, self.bound = self._mixed(), math.inf
        segments = posted.segments
        if posted.round and value <= self.fair + gap and self.bound < math.inf:
            # The answer adds nothing: the remaining gap is in the points that were left out.
            segments *= 2
        rent = 0.0 if self.free else self.rent
        self.posted = Posted(len(self.rounds), prices, rent, math.inf, segments)
        return self._ask(self.posted)

    def _mixed(self) -> tuple[float, ...]:
        """Mix the rounds so far, and return the prices that follow.

        The best mix is the solution of a matrix game: one side mixes rounds, the other side the
        types, and the least served type counts. The dual of this program, with columns generated
        by the tree, gives the next prices [1]_.

        References
        ----------
        .. [1] G. B. Dantzig and P. Wolfe (1960). Decomposition principle for linear programs.
           Operations Research 8(1).
        """
        rent = 0.0 if self.free else self.rent
        does = np.array([each.does for each in self.rounds])
        payoffs = does[:, FIRST:] / self.aim - rent * does[:, 1:2]
        self.weights, prices, self.fair = solve_game(payoffs)
        return tuple(price / each for price, each in zip(prices, self.aim, strict=True))

    def _aim_higher(self, prices: tuple[float, ...]) -> bool:
        """Raise the aims of types that can exceed the others; return True if any can.

        With restricted hosts, the bottleneck of one type may not limit others: those without a
        price. Their aims grow until the held-back types would get less, then decrease until these
        are just not affected: prices give the tangent of a concave function as a bound. There is no
        rent before the end, since it would hold all types back.
        """
        if not self.free:
            return False
        parts = {kind: prices[kind] * self.aim[kind] for kind in self.free}
        loose = sum(parts.values())
        priced = {kind for kind in self.free if parts[kind] > _PRICED}
        if self.fair < self.level * (1 - _LEVEL):
            # At the resulting aims, the types with a price limit each other.
            self.blamed = priced
            factor = (self.fair / self.level - (1 - loose)) / max(loose, _PRICED)
            if factor <= 0:  # within rounding errors nothing is left for them
                factor = 1 / _STRIDE
        else:
            self.level = self.level or self.fair
            self.free -= priced | self.blamed
            self.blamed = set()
            factor = _STRIDE
        for kind in self.free:
            self.aim[kind] *= factor
        return True

    def _award(self, prices: tuple[float, ...]) -> Posts:
        """Return the shares of all children."""
        throughput = self.throughput
        if min(throughput) <= 0:
            if self.hopes:
                # The bans leave a type without a host that computes it.
                return self._follow_best()
            raise InfeasibleError(
                "no host of the tree computes; give the root or one of its descendants a speed"
            )
        replays = [
            (number, weight, tuple(self.rounds[number].shares))
            for number, weight in enumerate(self.weights)
            if weight > 0
        ]
        parts = {number: self.rounds[number].parts for number, _, _ in replays}
        shares = tuple((number, weight, 0.0) for number, weight, _ in replays)
        least = tuple(self.parameters.cut * rate for rate in throughput)
        self.gaps.append((self.bound - self.fair) / abs(self.fair))
        self.posted = replace(self.posted, prices=prices)
        if self.link_filter is None:
            self.hopes.append(self._least(()))
        award = ShareAward(shares, tuple(throughput), least, self.link_filter is None)
        return self._share(award, replays, parts)

    def _follow_best(self) -> Posts:
        """End with the award of the largest expected throughput."""
        self.settled = max(range(len(self.hopes)), key=self.hopes.__getitem__)
        return self._down([Settled(self.settled)] * len(self.known.bandwidth))

    def _least(self, lost: Sequence[float]) -> float:
        """Return the fair throughput of the mix, less the losses."""
        weight = self.known.weight
        lost = lost or [0.0] * len(weight)
        left = zip(self.throughput, lost, weight, strict=True)
        return min((rate - loss) / each for rate, loss, each in left)


def mixed(replays: Sequence[Replay], parts: Parts) -> list[list[float]]:
    """Return the tasks per second of each target, mixed from its rounds."""
    total: list[Floats] = []
    for number, weight, shares in replays:
        for target, (points, share) in enumerate(zip(parts[number], shares, strict=True)):
            rates = weight * at(points, share)[FIRST:]
            if len(total) == target:
                total.append(rates)
            else:
                total[target] += rates
    return [rates.tolist() for rates in total]


def scaled(rates: list[list[float]], inflow: Sequence[float], least: Sequence[float]) -> Rates:
    """Return rates without small flows, scaled so that those of each type sum to its inflow.

    The largest flow of a type always stays, so that each arriving task has a target.
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


def slots_for(rates: Sequence[Sequence[float]], capacity: int) -> tuple[int, ...]:
    """Split the slots of a buffer over the types that a node is to get, in proportion.

    Each such type gets one slot; the others are given out one by one, to the type with the most
    rate per slot that it would then have.

    Parameters
    ----------
    rates : sequence of sequence of float, shape (1 + n_children, n_types)
        Planned flow to each target [task/s].
    capacity : int
        Slots of its buffer.

    Returns
    -------
    tuple of int, shape (n_types,)
        Slots of each type; empty where there are not enough slots for one each, so that requests
        must not name a type, or where no type is planned.
    """
    inflow = [sum(column) for column in zip(*rates, strict=True)]
    planned = [kind for kind, rate in enumerate(inflow) if rate > 0]
    if len(planned) > capacity or not planned:
        return ()
    slots = [int(rate > 0) for rate in inflow]
    for _ in range(capacity - len(planned)):
        slots[max(planned, key=lambda kind: inflow[kind] / (slots[kind] + 1))] += 1
    return tuple(slots)


def solve_game(payoffs: Floats) -> tuple[list[float], list[float], float]:
    """Solve the game in which one side mixes columns to raise the least row.

    By the simplex method on the linear program of the row player, with Bland's rule: exact but for
    rounding, and quick for some dozens of rows and some hundreds of columns.

    Parameters
    ----------
    payoffs : float64, shape (n_columns, n_rows)
        Payoff of each column to each row.

    Returns
    -------
    weights : list of float, shape (n_columns,)
        Of the columns; they sum to 1.
    prices : list of float, shape (n_rows,)
        Of the rows, the dual; they sum to 1.
    value : float
        Of the game.

    References
    ----------
    .. [1] G. B. Dantzig (1963). Linear programming and extensions, chapter 13.
    """
    low = float(payoffs.min())
    scale = float(np.abs(payoffs).max()) or 1.0
    # Payoffs must be positive: then the program max sum(y), y'A <= 1, y >= 0 is bounded.
    shift = 1e-2 - low / scale if low < 1e-2 * scale else 0.0
    n_columns, n_rows = payoffs.shape
    table = np.ones((n_columns + 1, n_rows + 1))
    table[:-1, :-1] = payoffs / scale + shift
    table[-1] = [-1.0] * n_rows + [0.0]
    # Names: 0 .. n_rows - 1 are the rows' unknowns, from n_rows on the slacks of the columns.
    outside, inside = np.arange(n_rows), np.arange(n_rows, n_rows + n_columns)
    last, bounds, beyond = table[-1, :-1], table[:-1, -1], n_rows + n_columns
    while True:
        gains = last < -_TOLERANCE
        column = np.where(gains, outside, beyond).argmin()
        if not gains[column]:
            break
        uses = table[:-1, column]
        ratios = np.full(n_columns, np.inf)
        # Two rounds that differ by rounding only must not both be in the basis.
        least = _TOLERANCE * max(1.0, float(uses.max()))
        np.divide(bounds, uses, out=ratios, where=uses > least)
        row = np.where(ratios == ratios.min(), inside, beyond).argmin()
        _pivot(table, row, column)
        outside[column], inside[row] = inside[row], outside[column]
    total = table[-1, -1]
    prices, weights = np.zeros(n_rows), np.zeros(n_columns)
    rows, columns = inside < n_rows, outside >= n_rows
    prices[inside[rows]] = np.maximum(table[:-1, -1][rows] / total, 0.0)
    weights[outside[columns] - n_rows] = np.maximum(table[-1, :-1][columns] / total, 0.0)
    return weights.tolist(), prices.tolist(), float((1.0 / total - shift) * scale)


def _pivot(table: Floats, row: np.intp, column: np.intp) -> None:
    """Exchange an unknown inside the basis for one outside."""
    pivot = table[row, column]
    chosen = table[row] / pivot
    chosen[column] = 1.0 / pivot
    factors = table[:, column].copy()
    table[:, column] = 0.0
    table -= factors[:, None] * chosen
    table[row] = chosen
