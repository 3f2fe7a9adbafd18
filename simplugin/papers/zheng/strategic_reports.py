"""Peers that report another speed than they have, and what that does to all."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from simplugin.core.elementary import exp, expm1, log
from simplugin.core.errors import WorkloadError
from simplugin.market.mechanisms import MECHANISMS, Settlement, reported
from simplugin.optimum.bundle_benefit import largest_benefit
from simplugin.workloads.bundle_markets import LOWEST, BundleMarket, Floats
from simplugin.workloads.parameter_ranges import one_of, whole

Income = Literal["measured", "verified", "reported"]
INCOMES: tuple[Income, ...] = ("measured", "verified", "reported")
# Rules under which the best report is known exactly, `best_report`.
RULES = ("uniform", "lowest_uniform", "vcg")
# How far beyond a tie a peer reports to win it, and the least that it ever reports.
_BEYOND, _LEAST = 1e-9, 1e-9
# Part of a peer's profit for which it does not bother to report otherwise.
_WORTHWHILE = 1e-6


def profit(
    truth: BundleMarket, settlement: Settlement, peer: int, income: Income = "measured"
) -> float:
    """Return what a peer really earns at a settlement less what it pays.

    That speed shows once tasks have run, so that tasks need not pay what peers claim, is what [1]_
    call verification. It changes which lies pay: with reported times, claims of more speed and of
    less do; with measured ones, under the uniform price, only claims of less; and none where a
    peer is held to its report.

    Parameters
    ----------
    truth : BundleMarket
        The true market.
    settlement : Settlement
        The settlement of the reports.
    peer : int
        Which.
    income : {"measured", "verified", "reported"}
        Income from tasks: by measured time, the peer being as fast as it can; by that, but nothing
        if the peer is not exactly as fast as it reported; or by the reported time.

    References
    ----------
    .. [1] N. Nisan, A. Ronen (2001). Algorithmic mechanism design. Games and Economic Behavior 35,
       section 5 (mechanisms with verification, compensation and bonus).
    """
    one_of("income", income, INCOMES)
    paid = float(settlement.payments[peer])
    true = float(truth.sums(settlement.amounts)[peer])
    claimed = float(settlement.market.sums(settlement.amounts)[peer])
    if income == "measured":
        return true - paid
    if income == "verified":
        return (claimed if claimed <= true * (1 + 1e-12) else 0.0) - paid
    return claimed - paid


@dataclass(frozen=True, eq=False)
class PeerReport:
    """A report of one peer, and its consequences.

    Attributes
    ----------
    peer : int
        Which.
    factor : float
        Reported speed as part of the true one.
    settlement : Settlement
        That follows.
    profit : float
        Profit of the peer then, income measured [price].
    before : float
        Its profit with its former report [price].
    benefit : float
        Global benefit U^G, as tasks are really worth [price].
    """

    peer: int
    factor: float
    settlement: Settlement
    profit: float
    before: float
    benefit: float

    @property
    def gain(self) -> float:
        """Gain of the peer [price]."""
        return self.profit - self.before


def best_report(
    truth: BundleMarket,
    peer: int,
    rule: str = "uniform",
    reports: BundleMarket | None = None,
    tick: float | None = None,
) -> PeerReport:
    r"""Return the report with which a peer earns most while the others keep theirs.

    With the values o of the others sorted, the peer gets k tasks once it reports
    :math:`x V_i q_i^{k-1} > o_{m-k+1}`. Just then it pays :math:`o_{m-k+1}` for each under both
    uniform prices, and no lie of any kind gets k tasks for less, as that value stays unserved; so
    it is enough to compare one factor x for each k. Under VCG it pays
    :math:`\sum_{j \le k} o_{m-j+1}` whatever it reports. Of tasks of equal value, as a table may
    have them, a factor gets all or none; nothing is a multiple of 0 but 0.

    Parameters
    ----------
    truth : BundleMarket
        The true market.
    peer : int
        Which.
    rule : {"uniform", "lowest_uniform", "vcg"}
        Rule of payments, see `simplugin.market.mechanisms.MECHANISMS`.
    reports : BundleMarket, optional
        The market as all report it now; None for the truth.
    tick : float, optional
        Factors are whole powers of exp(tick), of which the next one wins a tie. Without, a part in
        1e9 does, so that profits are that much below their supremum.

    Returns
    -------
    PeerReport
        The present report where no other earns more by 1e-6 of its profit.
    """
    one_of("rule", rule, RULES)
    now = truth if reports is None else reports
    before = MECHANISMS[rule](now)
    earned = profit(truth, before, peer)
    kept = PeerReport(
        peer,
        float(now.values[peer] / truth.values[peer]) if truth.values[peer] else 1.0,
        before,
        earned,
        earned,
        truth.benefit(before.amounts),
    )
    factor = _best_factor(truth, now, peer, rule, tick) if truth.values[peer] else None
    if factor is None:
        return kept
    values = now.arguments[0].copy()
    values[peer] = truth.arguments[0][peer] * factor
    after = MECHANISMS[rule](BundleMarket(values, now.m, now.caps, now.arguments[3]))
    found = profit(truth, after, peer)
    if found - earned <= _WORTHWHILE * abs(earned):
        return kept
    return PeerReport(peer, factor, after, found, earned, truth.benefit(after.amounts))


def _best_factor(
    truth: BundleMarket, now: BundleMarket, peer: int, rule: str, tick: float | None
) -> float | None:
    """Return the factor that gets the most profitable number of tasks; None to get none."""
    prices = rival_prices(now, peer)
    counts = np.arange(1, len(prices) + 1)
    paid = exp(prices)
    cost = np.cumsum(paid) if rule == "vcg" else counts * paid
    least = max(1, truth.m - int(np.delete(now.caps, peer).sum()))
    if least > len(counts):
        return None
    # At the factors `ties` the peer ties for one task more.
    if truth.table is None:
        log_q = float(truth.log_q[peer])
        earned = truth.values[peer] * expm1(counts * log_q) / expm1(log_q)
        ties = prices - truth.log_value[peer] - np.arange(len(prices)) * log_q
        step = min(_BEYOND, -log_q / 4)
    else:
        worth = truth.log_worth(counts, np.full_like(counts, peer))
        # No factor gets what is worth nothing.
        ties = np.where(worth > -np.inf, prices - np.maximum(worth, LOWEST), np.inf)
        together = np.append(ties[1:] <= ties[:-1], False)
        earned = np.where(together, -np.inf, np.cumsum(exp(worth)))
        apart = np.diff(np.unique(ties[np.isfinite(ties)]))
        step = min(_BEYOND, float(apart.min(initial=np.inf)) / 4)
    at = least - 1 + int(np.argmax((earned - cost)[least - 1 :]))
    if earned[at] < cost[at] or ties[at] == np.inf:
        return None
    if ties[at] == -np.inf:
        # The least that it can get; anything low does, as long as it gets no more.
        following = ties[at + 1] - step if at + 1 < len(ties) else np.inf
        low = min(following, log(_LEAST))
        return exp(low if tick is None else np.floor(low / tick) * tick)
    if tick is None:
        return exp(float(ties[at] + step))
    return exp(float(np.floor(ties[at] / tick) + 1) * tick)


def rival_prices(market: BundleMarket, peer: int) -> Floats:
    """Return the logarithm of what others' tasks that a peer displaces are worth, the least first.

    Parameters
    ----------
    market : BundleMarket
        As reported.
    peer : int
        Which; at most its cap of tasks can be its own.

    Returns
    -------
    float64, shape (caps[peer],)
        Rising; -inf for tasks that no other takes.
    """
    others = np.arange(market.n_peers) != peer
    cap = int(market.caps[peer])
    tasks = min(market.m, int(market.caps[others].sum()))
    worth = np.full(market.m, -np.inf)
    if tasks:
        served = largest_benefit(*market.among(others, tasks).arguments).amounts
        who = np.repeat(np.flatnonzero(others), served)
        number = np.arange(1, tasks + 1) - np.repeat(np.cumsum(served) - served, served)
        worth[market.m - tasks :] = np.sort(market.log_worth(number, who))
    return worth[:cap]


def deviations(truth: BundleMarket, rule: str = "uniform") -> list[PeerReport]:
    """Return the best report of each peer while all others tell the truth."""
    return [best_report(truth, peer, rule) for peer in range(truth.n_peers)]


@dataclass(frozen=True, eq=False)
class Game:
    """Final reports of peers that answer each other's reports.

    Attributes
    ----------
    truth : BundleMarket
        The true market.
    ended : {"settled", "cycle", "open"}
        Nobody gains by another report, by more than 1e-6 of its profit; or all reports came back;
        or neither, when passes were used up.
    passes : int
        Number of turns of all peers, with a last one in which nobody moved.
    settlements : tuple of Settlement
        After each pass at the end: one where it settled, those of the cycle, or all.
    """

    truth: BundleMarket
    ended: Literal["settled", "cycle", "open"]
    passes: int
    settlements: tuple[Settlement, ...]

    @cached_property
    def benefit(self) -> float:
        """Global benefit U^G as tasks are really worth, mean of the settlements [price]."""
        return float(np.mean([self.truth.benefit(each.amounts) for each in self.settlements]))

    @cached_property
    def anarchy(self) -> float:
        """The optimum over the worst settlement's benefit, at least 1."""
        best = largest_benefit(*self.truth.arguments)
        worst = min(self.truth.benefit(each.amounts) for each in self.settlements)
        return best.benefit / worst if best.benefit else 1.0

    @cached_property
    def revenue(self) -> float:
        """Of the local scheduler, mean of the settlements [price]."""
        return float(np.mean([each.revenue for each in self.settlements]))

    @cached_property
    def profits(self) -> Floats:
        """True profit of each peer, mean of the settlements [price]; shape (n_peers,)."""
        profits: Floats = np.mean([each.profits(self.truth) for each in self.settlements], axis=0)
        return profits

    @property
    def factors(self) -> Floats:
        """Last reported speeds as part of the true ones; shape (n_peers,)."""
        reported, true = self.settlements[-1].market.values, self.truth.values
        return np.where(true > 0, reported / np.where(true > 0, true, 1.0), 1.0)


def play(
    truth: BundleMarket, rule: str = "uniform", *, tick: float = 0.001, passes: int = 200
) -> Game:
    """Let peers report in turn what is best for them against the others' last reports.

    Parameters
    ----------
    truth : BundleMarket
        The true market, which all report first.
    rule : {"uniform", "lowest_uniform", "vcg"}
        Rule of payments.
    tick : float
        Reported factors are whole powers of exp(tick), so that there are finitely many and peers
        cannot outbid each other by ever less.
    passes : int
        Maximum number of turns of all peers.

    Returns
    -------
    Game
        Its end.

    Raises
    ------
    WorkloadError
        `tick` is not positive or `passes` not whole.
    """
    whole("passes", passes)
    if not 0 < tick < np.inf:
        raise WorkloadError(f"tick is {tick!r}; give a positive number")
    factors = np.ones(truth.n_peers)
    # The truth counts as the state after pass 0.
    seen = {np.zeros(truth.n_peers, dtype=np.int64).tobytes(): 0}
    found: list[Settlement] = []
    for turn in range(1, passes + 1):
        for peer in range(truth.n_peers):
            factors[peer] = best_report(truth, peer, rule, reported(truth, factors), tick).factor
        found.append(MECHANISMS[rule](reported(truth, factors)))
        state = np.round(log(factors) / tick).astype(np.int64).tobytes()
        if state in seen:
            again = tuple(found[seen[state] :])
            return Game(truth, "settled" if len(again) == 1 else "cycle", turn, again)
        seen[state] = turn
    return Game(truth, "open", passes, tuple(found))
