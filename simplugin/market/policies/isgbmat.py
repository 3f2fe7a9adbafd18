"""ISGBMAT: tasks sold round by round at the mean of retail prices, as printed and repaired."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from simplugin.core.elementary import exp, log, power
from simplugin.core.errors import InfeasibleError
from simplugin.market.policies.clearing import (
    SETTLED,
    Bracket,
    opening,
    settle_by_medians,
    weighted_median,
)
from simplugin.market.policies.negotiation import (
    Agreement,
    AnsweringPeer,
    BundleNegotiation,
    Call,
    Message,
    Scheduler,
    following,
)
from simplugin.workloads.bundle_markets import (
    TOLERANCE,
    Amounts,
    BundleMarket,
    Floats,
    in_order,
    log_mean,
)

# F, the retail price and the value of the next task of each peer; prices as in the loop.
Answers = tuple[Floats, Floats, Floats]
End = Literal["ended", "not a number", "overshoot", "stuck"]


# The defects of Fig. 2 and the smallest changes that cure them, by the names of the repairs:
# idle_price (step 19): division by zero for a peer with F_i = 0, so that p* is no number from then
#   on. The retail price of such a peer is newV_i^b, the value of its next task.
# full_left_out (step 21): peers with UB_i = 0 count in the mean, which can stay above the values of
#   all peers that may still buy, so that all rounds stay empty. They are left out of the mean (8).
# logarithms (steps 9, 14, 19): q^A underflows, and the mean of equal prices can come out above all
#   of them, so that no peer buys. The same formulas in logarithms, with a tolerance of 1e-12.
# trim (step 7): the loop waits for exactly m tasks, although amounts only grow and may pass m. It
#   stops at m or more; the least valuable tasks of the last pass go back.
# refusal (step 7): the loop never ends if the caps leave tasks over, m > n N_max. It is refused.
# last_round (step 27): the result A lacks the last round's F. The result is A + F.
# clearing_price (step 27): the result is the mean of retail prices, at which the demand of peers
#   differs from their tasks. The value of the last task that is sold clears the market.
REPAIRS = (
    "idle_price",
    "full_left_out",
    "logarithms",
    "trim",
    "refusal",
    "last_round",
    "clearing_price",
)
REPAIRED = frozenset(REPAIRS)
PRINTED: frozenset[str] = frozenset()


@dataclass(frozen=True, eq=False)
class Run:
    """A run of ISGBMAT.

    Attributes
    ----------
    end : {"ended", "not a number", "overshoot", "stuck"}
        Normal end; p* or a demand became 0/0; more than m tasks are taken, and never fewer; a round
        was empty, after which all rounds are the same.
    passes : int
        Number of passes of the loop, S.
    rounds : int
        Number of passes that ended a round.
    assigned, latest : int64, shape (n_peers,)
        A and F at the end.
    before : int64, shape (n_peers,)
        A + LF: amounts before the last pass.
    amounts : int64, shape (n_peers,)
        The amounts returned.
    price : float
        The price returned, p* [price].
    """

    end: End
    passes: int
    rounds: int
    assigned: Amounts
    latest: Amounts
    before: Amounts
    amounts: Amounts
    price: float

    @property
    def taken(self) -> Amounts:
        """A + F at the end; shape (n_peers,)."""
        return self.assigned + self.latest


def run_isgbmat(
    values: ArrayLike,
    n_tasks: int,
    capacities: ArrayLike,
    discounts: ArrayLike | None = None,
    repairs: frozenset[str] = REPAIRED,
) -> Run:
    r"""Run ISGBMAT, Fig. 2 of [1]_, until it ends or is known not to end.

    In each pass the local scheduler announces :math:`p^*`, the mean of the peers' retail prices;
    each peer then answers with the number of further tasks that it takes in this round, F. Once no
    F changes, they are added to A and the next round begins from the prices of the peers' next
    tasks.

    With all repairs it reaches the maximum of the benefit: in a round the price never rises,
    since means fall as F grows, and a new round's price is below the last one's, since all further
    tasks have lower values. The tasks taken are thus always those with at least the value of a
    price, and the last pass is cut down to the most valuable. Each pass except those that end a
    round takes a task, and no two of the latter are consecutive: at most 2 m - 1 passes.

    As printed it may not end. A round whose first pass leaves F = 0 changes nothing, so that all
    further rounds are empty; F and A never fall, so that an excess over m tasks remains.

    Parameters
    ----------
    values, n_tasks, capacities, discounts
        As `values`, `m`, `caps` and `q` of `simplugin.workloads.bundle_markets.BundleMarket`.
    repairs : frozenset of str
        Keys of the repairs in `REPAIRS`; all by default, `PRINTED` for none.

    Returns
    -------
    Run
        The run and its end.

    Raises
    ------
    WorkloadError
        A shape or a range is wrong.
    InfeasibleError
        The caps leave tasks over, if that is refused.

    References
    ----------
    .. [1] M. Zheng, Z. Hu, P. Xiao, M. Zheng, K. Zhang (2011). A Global Benefit Maximization
       Task-Bundle Allocation. NPC 2011.
    """
    try:
        market = BundleMarket(values, n_tasks, capacities, discounts)
    except InfeasibleError:
        if "refusal" in repairs:
            raise
        # The market of the tasks that can be placed.
        room = int(np.broadcast_to(np.minimum(capacities, n_tasks), np.shape(values)).sum())
        market = BundleMarket(values, max(room, 1), capacities, discounts)
    peers = _logarithmic if "logarithms" in repairs else _printed
    mean = log_mean if "logarithms" in repairs else _mean
    loop = _Loop(n_tasks, market.caps, repairs)
    passes = loop.passes(market.log_value if "logarithms" in repairs else market.values, mean)
    price, _ = next(passes)
    while True:
        try:
            price, _ = passes.send(peers(market, price, loop, "idle_price" in repairs))
        except StopIteration as stop:
            end: End = stop.value
            break
    amounts = loop.taken if "last_round" in repairs else loop.assigned
    if end == "ended" and "trim" in repairs:
        # The least valuable tasks of the last pass are returned.
        left, _ = _most_valuable(market, n_tasks, loop.before, loop.taken)
        amounts = amounts - (loop.taken - left)
    price = exp(loop.price) if "logarithms" in repairs else loop.price
    if "clearing_price" in repairs and end == "ended":
        price = exp(np.where(amounts > 0, market.log_worth(amounts), np.inf).min())
    return Run(
        end, loop.n_passes, loop.rounds, loop.assigned, loop.latest, loop.before, amounts, price
    )


class _Loop:
    """The local scheduler's side of Fig. 2, steps 7 to 22."""

    def __init__(self, m: int, caps: Amounts, repairs: frozenset[str]) -> None:
        """Initialise as steps 2 to 6."""
        self.m, self.caps, self.repairs = m, caps, repairs
        self.n_passes = self.rounds = 0
        self.assigned = np.zeros_like(caps)
        self.latest = np.zeros_like(caps)
        self.before = np.zeros_like(caps)
        self.price = np.nan

    @property
    def taken(self) -> Amounts:
        """A + F; shape (n_peers,)."""
        return self.assigned + self.latest

    @property
    def counted(self) -> Amounts:
        """The peers whose retail prices enter the mean."""
        everyone = "full_left_out" not in self.repairs
        return np.flatnonzero((self.assigned < self.caps) | everyone)

    def passes(
        self, retail: Floats, mean: Callable[[Floats], float]
    ) -> Generator[tuple[float, bool], Answers, End]:
        """Yield the market price of each pass, and True if the last pass ended a round.

        Receive the answers of all peers, and return the kind of the end.
        """
        over = False
        total = 0
        # Step 4 has v_i = V_i^b.
        self.price = mean(retail[self.counted])
        while not (total >= self.m if "trim" in self.repairs else total == self.m):
            takes, retail, following = yield self.price, over
            if np.isnan(self.price) or np.any(np.isnan(takes)):
                # Without full peers, it is the mean of no price.
                full = "full_left_out" in self.repairs and np.all(self.assigned == self.caps)
                return "stuck" if full else "not a number"
            if total > self.m:
                return "overshoot"
            self.n_passes += 1
            self.before = self.taken
            bought = takes.astype(np.int64)
            over = bool(np.array_equal(bought, self.latest))
            self.latest = bought
            if over:
                self.rounds += 1
                # Otherwise step 19 divides by zero next.
                if "idle_price" in self.repairs and not np.any(bought):
                    return "stuck"
                self.assigned, self.latest = self.taken, np.zeros_like(bought)
                retail = following
            self.price = mean(retail[self.counted])
            total = int(np.sum(self.taken))
        return "ended"


def _printed(market: BundleMarket, price: float, loop: _Loop, idle: bool) -> Answers:
    """Return the answers of all peers by the printed formulas."""
    with np.errstate(all="ignore"):
        base = market.values * power(market.q, loop.assigned)
        takes = _limited(np.floor(1 + log(price / base) / log(market.q)), loop)
        retail = base * (1 - power(market.q, takes)) / (1 - market.q) / takes
        following = market.values * power(market.q, loop.taken)
    if idle:
        return takes, np.where(takes == 0, base, retail), following
    return takes, retail, np.full_like(retail, np.nan)


def _logarithmic(market: BundleMarket, price: float, loop: _Loop, idle: bool) -> Answers:
    """Return the answers in logarithms, which neither underflow nor exclude the dearest peer.

    A task is bought if its value is at least the price, to 1e-12.
    """
    if np.isnan(price):
        none = np.full(market.n_peers, np.nan)
        return none, none, none
    takes = _limited((market.response_to_log(price) - loop.assigned).astype(np.float64), loop)
    retail = market.log_means(loop.assigned, takes)
    if idle:
        return takes, retail, market.log_worth(loop.taken + 1)
    retail[takes == 0] = np.nan
    return takes, retail, np.full_like(retail, np.nan)


def _limited(wanted: Floats, loop: _Loop) -> Floats:
    """Return F between LF and UB, step 9."""
    takes: Floats = np.minimum(np.maximum(wanted, loop.latest), loop.caps - loop.assigned)
    return takes


def _mean(prices: Floats) -> float:
    """Return the mean, Eq. (8); NaN of none."""
    with np.errstate(invalid="ignore"):
        return float(np.sum(prices) / np.float64(len(prices)))


def _most_valuable(
    market: BundleMarket, m: int, least: Amounts, most: Amounts
) -> tuple[Amounts, float]:
    """Return the amounts of the most valuable tasks, and the value of the last of them.

    Each peer gets from `least` to `most` tasks; the sum m is above that of `least`. Of equal tasks
    those of the lowest peer are sold first. Each step settles a quarter of the tasks in doubt, with
    memory proportional to the number of peers.
    """
    while True:
        doubtful = most - least
        worth = weighted_median(market.log_worth(least + (doubtful + 1) // 2), doubtful)
        above = np.clip(market.above(following(worth)), least, most)
        from_ = np.clip(market.above(worth), least, most)
        left = m - int(above.sum())
        if left <= 0:
            most = above
        elif int(from_.sum()) < m:
            least = from_
        else:
            return above + in_order(left, from_ - above), worth


def _returned(
    peers: Amounts, place: Amounts, worth: Floats, taken: Amounts, m: int
) -> tuple[Amounts, float]:
    """Return the number of tasks that each peer returns, and the value of the next task.

    The least valuable tasks are returned; of equal ones those of the highest peer, the last first.
    """
    beyond = int(taken.sum()) - m
    ranked = np.lexsort((place, -peers, worth))
    return np.bincount(peers[ranked[:beyond]], minlength=len(taken)), float(worth[ranked[beyond]])


def isgbmat(
    values: ArrayLike, n_tasks: int, capacities: ArrayLike, discounts: ArrayLike | None = None, /
) -> tuple[Amounts, float]:
    """Return the assignment of ISGBMAT with all repairs, without its passes.

    After each pass peers have all tasks of at least its price, or the least price before it, and
    the last pass is cut down to the most valuable: the m most valuable tasks are sold at any
    prices. Parameters and errors as those of `run_isgbmat`, which runs the passes.

    Returns
    -------
    amounts : int64, shape (n_peers,)
        Tasks of each peer.
    price : float
        Value of the last task that is sold [price].
    """
    market = BundleMarket(values, n_tasks, capacities, discounts)
    amounts, log_price = _most_valuable(market, market.m, np.zeros_like(market.caps), market.caps)
    return amounts, exp(log_price)


def isgbmat_printed(
    values: ArrayLike, n_tasks: int, capacities: ArrayLike, discounts: ArrayLike | None = None, /
) -> tuple[Amounts, float]:
    """Return the assignment of ISGBMAT as printed, A + F, as A alone lacks tasks.

    Parameters
    ----------
    values, n_tasks, capacities, discounts
        As in `run_isgbmat`.

    Returns
    -------
    amounts : int64, shape (n_peers,)
        Tasks of each peer.
    price : float
        The mean of the retail prices at the end [price].

    Raises
    ------
    InfeasibleError
        It does not end, or ends without a price; or the caps leave tasks over.
    """
    run = run_isgbmat(values, n_tasks, capacities, discounts, frozenset({"refusal"}))
    if run.end == "ended" and np.isfinite(run.price):
        return run.taken, run.price
    how = {
        "ended": "its last price is 0/0, step 19",
        "not a number": "its price became 0/0, step 19",
        "overshoot": f"it took {int(run.taken.sum())} tasks of {n_tasks} and waits for"
        f" exactly {n_tasks}",
        "stuck": "its rounds stay empty for ever",
    }
    raise InfeasibleError(
        f"ISGBMAT as printed gives no assignment after {run.passes} passes: {how[run.end]};"
        " use the repaired one, isgbmat"
    )


# Maximum number of values that a peer reports at the end; medians are announced before.
_MOST_REPORTED = 10_000


class RetailPeer(AnsweringPeer):
    """A peer that answers with its tasks of a round, and their mean price."""

    _assigned = _latest = 0

    def reply(self, message: Message, /) -> Message:
        """Return its tasks of this round, or the worths of the last.

        The question ``("pass", x, over)`` has the logarithm of p*, and 1 if the last pass ended a
        round. The answer is F and the logarithms of the retail price after F tasks and of the value
        of the next task, which is the retail price if this pass ends the round. The answer to
        ``("last", count)`` is the values of that many tasks, the last first. Other questions are
        answered as by `AnsweringPeer`.
        """
        kind, *numbers = message
        if kind == "pass":
            log_price, over = numbers
            if over:
                self._assigned, self._latest = self._assigned + self._latest, 0
            room = self.cap - self._assigned
            wanted = self.bought(log_price) - self._assigned
            self._latest = min(max(wanted, self._latest), room)
            last = self._assigned + self._latest
            mean = self.log_mean(self._assigned + 1, self._latest)
            return ("takes", self._latest, mean, self.log_worth(last + 1))
        if kind == "last":
            last, count = self._assigned + self._latest, min(int(numbers[0]), self._latest)
            return ("worths", *map(self.log_worth, range(last, last - count, -1)))
        return super().reply(message)


def _scheduler(n_peers: int, m: int, generator: np.random.Generator) -> Scheduler:  # noqa: ARG001
    """Sell by the repaired loop: in each pass, a round, open peers receive the market price.

    A first round queries caps and base prices, a last one the values of the last pass's tasks, of
    which those beyond m are returned. If these are many, as with slowly falling values, medians are
    announced until few are in doubt.
    """
    caps, (retail,) = yield from opening(n_peers, m, ("begin", m))
    loop = _Loop(m, caps, REPAIRED)
    passes = loop.passes(retail, log_mean)
    price, over = next(passes)
    low = high = np.inf
    while True:
        # After this pass peers have all tasks of values from `low`, and before it from `high`.
        low, high = min(low, price - TOLERANCE), low
        open_ = np.flatnonzero(loop.assigned < caps)
        replies = yield Call(tuple(open_.tolist()), ("pass", price, int(over)))
        answers = loop.latest.astype(np.float64), retail.copy(), retail.copy()
        for values, own in zip(answers, np.array([reply[1:] for reply in replies]).T, strict=True):
            values[open_] = own
        try:
            price, over = passes.send(answers)
        except StopIteration:
            break
    buyers = np.flatnonzero(loop.taken > loop.before)
    beyond = int(loop.taken.sum()) - m
    if min(beyond + 1, int((loop.taken - loop.before).max())) > _MOST_REPORTED:
        bracket = Bracket(m, low, high, loop.taken, loop.before)
        return (yield from settle_by_medians(bracket, SETTLED * n_peers))
    replies = yield Call(tuple(buyers.tolist()), ("last", beyond + 1))
    new = (loop.taken - loop.before)[buyers]
    worths = [reply[1:][:count] for reply, count in zip(replies, new, strict=True)]
    peers = np.repeat(buyers, [len(each) for each in worths])
    place = np.concatenate([np.arange(len(each)) for each in worths])
    returned, log_price = _returned(peers, place, np.concatenate(worths), loop.taken, m)
    return Agreement(loop.taken - returned, exp(log_price))


ISGBMAT = BundleNegotiation("isgbmat", _scheduler, RetailPeer)
