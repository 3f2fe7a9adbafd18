"""ISGBMAT: tasks sold round by round at the mean of the peers' prices, as printed and repaired."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from simplugin.elementary import exp
from simplugin.errors import InfeasibleError
from simplugin.market.retail_prices import LogarithmicPrices, PassPrices, PrintedPrices
from simplugin.workloads.bundle_markets import Amounts, BundleMarket, Floats

End = Literal["ended", "not a number", "overshoot", "stuck"]


@dataclass(frozen=True)
class Repairs:
    """Which defects of the printed algorithm are cured; `REPAIRS` says how.

    Attributes
    ----------
    idle_price, full_left_out, logarithms, trim, refusal, last_round, clearing_price : bool
        Whether each is.
    """

    idle_price: bool = True
    full_left_out: bool = True
    logarithms: bool = True
    trim: bool = True
    refusal: bool = True
    last_round: bool = True
    clearing_price: bool = True


@dataclass(frozen=True)
class Repair:
    """A defect of Fig. 2 and the smallest change that cures it.

    Attributes
    ----------
    key : str
        Field of `Repairs`.
    step : str
        Where it is in Fig. 2.
    defect, cure : str
        What is wrong, and what is done instead.
    """

    key: str
    step: str
    defect: str
    cure: str


REPAIRED = Repairs()
PRINTED = Repairs(False, False, False, False, False, False, False)
REPAIRS: tuple[Repair, ...] = (
    Repair(
        "idle_price",
        "19",
        "divides by zero for a peer with F_i = 0, so that p* is no number from then on",
        "such a peer's retail price is newV_i^b, what its next task is worth",
    ),
    Repair(
        "full_left_out",
        "21",
        "counts peers with UB_i = 0 in the mean, which can stay above all that peers who may still"
        " buy would pay: rounds stay empty for ever",
        "such peers are left out of the mean (8)",
    ),
    Repair(
        "logarithms",
        "9, 14, 19",
        "q^A underflows, and the mean of equal prices can come out above all of them, so that"
        " nobody buys",
        "the same formulas in logarithms; a task worth p* but for 1e-12 is bought",
    ),
    Repair(
        "trim",
        "7",
        "waits for exactly m tasks, although amounts only grow and may pass m",
        "stop at m or more; the least valuable tasks of the last pass go back",
    ),
    Repair(
        "refusal",
        "7",
        "goes on for ever if the caps leave tasks over, m > n N_max",
        "such a bundle is refused",
    ),
    Repair(
        "last_round",
        "27",
        "puts out A, to which the last round's F has not been added",
        "A + F is put out",
    ),
    Repair(
        "clearing_price",
        "27",
        "puts out the mean of the retail prices, at which peers want more or fewer than their"
        " tasks",
        "the value of the last task that is sold, at which they want just these",
    ),
)


@dataclass(frozen=True, eq=False)
class Run:
    """How ISGBMAT went.

    Attributes
    ----------
    end : {"ended", "not a number", "overshoot", "stuck"}
        Properly; p* or what peers want became 0/0; more than m tasks are taken, and amounts only
        grow, so that it never ends; a round was empty, after which all rounds are the same.
    passes : int
        Times that the loop was run through, S.
    rounds : int
        Of them, those that ended a round.
    assigned, latest : int64, shape (n_peers,)
        A and F when it ended.
    before : int64, shape (n_peers,)
        A + LF: what peers had before the last pass.
    amounts : int64, shape (n_peers,)
        What is put out.
    price : float
        What is put out, p* [price].
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
        """A + F when it ended; shape (n_peers,)."""
        return self.assigned + self.latest


def run_isgbmat(
    values: ArrayLike, m: int, caps: ArrayLike, q: ArrayLike, repairs: Repairs = REPAIRED
) -> Run:
    r"""Run ISGBMAT, Fig. 2 of [1]_, until it ends or is known never to.

    In each pass the local scheduler announces :math:`p^*`, the mean of the peers' retail prices;
    each peer then says how many tasks more it takes in this round, F. Once no F changes, they are
    added to A and the next round begins from the prices of the peers' next tasks.

    With all repairs it reaches the maximum of the benefit: in a round the price never rises,
    since means fall as F grows, and a new round's price is below the last one's, since whatever
    peers may still buy is worth less. What is taken is thus always all that is worth a price or
    more, and the last pass is cut down to the most valuable. Each pass but those that end a round
    takes a task, and no two of these follow each other: at most 2 m - 1 passes.

    As printed it need not end. A round whose first pass leaves F = 0 changes nothing, so that
    all further rounds are empty; F and A never fall, so that more than m tasks stay more.

    Parameters
    ----------
    values, m, caps, q
        As in `simplugin.workloads.bundle_markets.BundleMarket`; q may differ between peers.
    repairs : Repairs
        Which are made; all by default, `PRINTED` for none.

    Returns
    -------
    Run
        How it ended.

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
    market = _market(values, m, caps, q, repairs)
    prices: PassPrices = (
        LogarithmicPrices(market) if repairs.logarithms else PrintedPrices(market.values, market.q)
    )
    loop = _Loop(market, m, prices, repairs)
    end = loop.run()
    amounts = loop.assigned + loop.latest if repairs.last_round else loop.assigned
    if end == "ended" and repairs.trim:
        over = int(np.sum(loop.assigned + loop.latest)) - m
        amounts = amounts - _least_valuable(market, loop.before, loop.assigned + loop.latest, over)
    price = prices.plain(loop.price)
    if repairs.clearing_price and end == "ended":
        last = np.where(amounts > 0, market.log_worth(amounts), np.inf)
        price = exp(last.min())
    return Run(
        end, loop.passes, loop.rounds, loop.assigned, loop.latest, loop.before, amounts, price
    )


def _market(
    values: ArrayLike, m: int, caps: ArrayLike, q: ArrayLike, repairs: Repairs
) -> BundleMarket:
    """Return the market; if it lacks room, and that is not refused, of what can be placed."""
    try:
        return BundleMarket(values, m, caps, q)
    except InfeasibleError:
        if repairs.refusal:
            raise
    room = int(np.broadcast_to(np.minimum(caps, m), np.shape(values)).sum())
    return BundleMarket(values, max(room, 1), caps, q)


class _Loop:
    """The loop of Fig. 2, steps 7 to 22."""

    def __init__(self, market: BundleMarket, m: int, prices: PassPrices, repairs: Repairs) -> None:
        """Initialise as steps 2 to 6."""
        self.m, self.caps = m, market.caps
        self.prices, self.repairs = prices, repairs
        self.passes = self.rounds = 0
        self.assigned = np.zeros_like(self.caps)
        self.latest = np.zeros_like(self.caps)
        self.before = np.zeros_like(self.caps)
        everyone = np.ones(market.n_peers, dtype=bool)
        counted = self.caps > 0 if repairs.full_left_out else everyone
        # Step 4 has v_i = V_i^b.
        self.price = prices.market_price(self.assigned, self.latest, counted, idle=True)

    def run(self) -> End:
        """Go on until the end, and return how it ended."""
        total = 0
        while not (total >= self.m if self.repairs.trim else total == self.m):
            wanted = self.prices.wanted(self.price, self.assigned)
            if np.isnan(self.price) or np.any(np.isnan(wanted)):
                # Where full peers are left out, it is the mean of none.
                full = self.repairs.full_left_out and np.all(self.assigned == self.caps)
                return "stuck" if full else "not a number"
            if total > self.m:
                return "overshoot"
            if not self._buy(wanted):
                self.rounds += 1
                # Otherwise step 19 divides by zero next.
                if self.repairs.idle_price and not np.any(self.latest):
                    return "stuck"
                self.assigned = self.assigned + self.latest
                self.latest = np.zeros_like(self.latest)
            self._reprice()
            total = int(np.sum(self.assigned + self.latest))
        return "ended"

    def _buy(self, wanted: Floats) -> bool:
        """Let peers say how many they take, steps 8 to 11; return whether that has changed."""
        former = self.latest
        room = self.caps - self.assigned
        # Step 9: LF <= F <= UB.
        self.latest = np.minimum(np.maximum(wanted, former), room).astype(np.int64)
        self.before = self.assigned + former
        self.passes += 1
        return bool(np.any(self.latest != former))

    def _reprice(self) -> None:
        """Set p* anew, steps 18 to 21."""
        open_ = self.assigned < self.caps
        counted = open_ if self.repairs.full_left_out else np.ones_like(open_)
        self.price = self.prices.market_price(
            self.assigned, self.latest, counted, self.repairs.idle_price
        )


def _least_valuable(market: BundleMarket, before: Amounts, after: Amounts, over: int) -> Amounts:
    """Return how many tasks of the last pass each peer gives back, the least valuable first."""
    new = after - before
    peers = np.repeat(np.arange(market.n_peers), new)
    first = np.cumsum(new) - new
    number = after[peers] - (np.arange(len(peers)) - first[peers])
    worth = market.log_value[peers] + (number - 1) * market.log_q[peers]
    # Of equal tasks, those of the highest peer and there the last go back first.
    ranked = np.lexsort((-number, -peers, worth))[:over]
    return np.bincount(peers[ranked], minlength=market.n_peers)


def isgbmat(values: ArrayLike, m: int, caps: ArrayLike, q: ArrayLike, /) -> tuple[Amounts, float]:
    """Return what ISGBMAT with all repairs assigns, which is the maximum of the benefit.

    Parameters and errors as those of `run_isgbmat`.

    Returns
    -------
    amounts : int64, shape (n_peers,)
        Tasks of each peer.
    price : float
        What the last task that is sold is worth [price].
    """
    run = run_isgbmat(values, m, caps, q)
    return run.amounts, run.price


def isgbmat_printed(
    values: ArrayLike, m: int, caps: ArrayLike, q: ArrayLike, /
) -> tuple[Amounts, float]:
    """Return what ISGBMAT as printed assigns, if it does: A + F, as A alone lacks tasks.

    Parameters
    ----------
    values, m, caps, q
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
        It does not end, or without a price, and the message says how; or caps leave tasks over.
    """
    run = run_isgbmat(values, m, caps, q, replace(PRINTED, refusal=True))
    if run.end == "ended" and np.isfinite(run.price):
        return run.taken, run.price
    how = {
        "ended": "its last price is 0/0, step 19",
        "not a number": "its price became 0/0, step 19",
        "overshoot": f"it took {int(run.taken.sum())} tasks of {m} and waits for exactly {m}",
        "stuck": "its rounds stay empty for ever",
    }
    raise InfeasibleError(
        f"ISGBMAT as printed gives no assignment after {run.passes} passes: {how[run.end]};"
        " use the repaired one, isgbmat"
    )
