"""Strategic reports: peers that misreport their speed, and the effect on all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from simplugin.core.elementary import exp, expm1, log
from simplugin.core.errors import WorkloadError
from simplugin.market.mechanisms import Settlement, uniform, vickrey_clarke_groves
from simplugin.optimum.bundle_benefit import largest_benefit
from simplugin.workloads.bundle_markets import LOWEST, BundleMarket, Floats
from simplugin.workloads.parameter_ranges import one_of, whole

Income = Literal["measured", "verified", "reported"]
INCOMES: tuple[Income, ...] = ("measured", "verified", "reported")
# Distance of a report beyond a tie, and the least report.
_BEYOND, _LEAST = 1e-9, 1e-9
# Smallest gain, relative to its profit, for which a peer changes its report.
_WORTHWHILE = 1e-6


MECHANISMS: dict[str, Callable[[BundleMarket], Settlement]] = {
    "uniform": uniform,
    "vcg": vickrey_clarke_groves,
}


def reported(market: BundleMarket, factors: Floats | float) -> BundleMarket:
    """Return the market reported by peers that scale their values by factors.

    Parameters
    ----------
    market : BundleMarket
        The true market.
    factors : float64, shape (n_peers,)
        Reported speed over the true one, for each peer or all.

    Raises
    ------
    WorkloadError
        A factor is not positive.
    """
    given = np.broadcast_to(np.asarray(factors, dtype=np.float64), market.values.shape)
    if not np.all(np.isfinite(given) & (given > 0)):
        raise WorkloadError(f"factors are {factors!r}; give positive numbers")
    return market.among(factors=given)


def profit(
    truth: BundleMarket, settlement: Settlement, peer: int, income: Income = "measured"
) -> float:
    """Return the true profit of a peer at a settlement.

    Verification [1]_ means that income follows from the speed measured during execution. It
    changes which misreports gain: with reported times, claims of higher and lower speeds do; with
    measured times, under the uniform price, only claims of lower speeds; and no misreport if a peer
    is held to its report.

    Parameters
    ----------
    truth : BundleMarket
        The true market.
    settlement : Settlement
        The settlement of the reports.
    peer : int
        Number of the peer.
    income : {"measured", "verified", "reported"}
        Income from tasks: by the true time; by the true time, but 0 unless it is exactly the
        reported one; or by the reported time.

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
    r"""Return the most profitable report of a peer while the others keep theirs.

    With the values o of the others sorted, the peer gets k tasks once it reports
    :math:`x V_i q_i^{k-1} > o_{m-k+1}`. At that point it pays :math:`o_{m-k+1}` for each under the
    uniform price, and no other report gets k tasks for less, as that value stays unserved; so it
    suffices to compare one factor x for each k. Under VCG it pays
    :math:`\sum_{j \le k} o_{m-j+1}` for any report. Of tasks of equal value in a table, a factor
    gets all or none; tasks of value 0 cannot be scaled.

    Parameters
    ----------
    truth : BundleMarket
        The true market.
    peer : int
        Number of the peer.
    rule : {"uniform", "vcg"}
        Rule of payments, see `MECHANISMS`.
    reports : BundleMarket, optional
        The market as currently reported; None for the truth.
    tick : float, optional
        Factors are whole powers of exp(tick); the next larger one wins a tie. None for factors a
        part of 1e9 beyond a tie, so that profits are this part below their supremum.

    Returns
    -------
    PeerReport
        The current report if no other is more profitable by 1e-6 of its profit.
    """
    one_of("rule", rule, MECHANISMS)
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
    """Return the factor of the most profitable number of tasks; None for no task."""
    prices = rival_prices(now, peer)
    counts = np.arange(1, len(prices) + 1)
    paid = exp(prices)
    cost = np.cumsum(paid) if rule == "vcg" else counts * paid
    least = max(1, truth.m - int(np.delete(now.caps, peer).sum()))
    if least > len(counts):
        return None
    # The peer ties for a further task at the factors `ties`.
    if truth.table is None:
        log_q = float(truth.log_q[peer])
        earned = truth.values[peer] * expm1(counts * log_q) / expm1(log_q)
        ties = prices - truth.log_value[peer] - np.arange(len(prices)) * log_q
        step = min(_BEYOND, -log_q / 4)
    else:
        worth = truth.log_worth(counts, np.full_like(counts, peer))
        # No factor gets a task of value 0.
        ties = np.where(worth > -np.inf, prices - np.maximum(worth, LOWEST), np.inf)
        together = np.append(ties[1:] <= ties[:-1], False)
        earned = np.where(together, -np.inf, np.cumsum(exp(worth)))
        apart = np.diff(np.unique(ties[np.isfinite(ties)]))
        step = min(_BEYOND, float(apart.min(initial=np.inf)) / 4)
    at = least - 1 + int(np.argmax((earned - cost)[least - 1 :]))
    if earned[at] < cost[at] or ties[at] == np.inf:
        return None
    if ties[at] == -np.inf:
        # The minimum number of tasks, which any low report gets.
        following = ties[at + 1] - step if at + 1 < len(ties) else np.inf
        low = min(following, log(_LEAST))
        return exp(low if tick is None else np.floor(low / tick) * tick)
    if tick is None:
        return exp(float(ties[at] + step))
    return exp(float(np.floor(ties[at] / tick) + 1) * tick)


def rival_prices(market: BundleMarket, peer: int) -> Floats:
    """Return the logarithms of the rivals' values that a peer displaces, in ascending order.

    Parameters
    ----------
    market : BundleMarket
        The market as reported.
    peer : int
        Number of the peer.

    Returns
    -------
    float64, shape (caps[peer],)
        Ascending; -inf for tasks without another taker.
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
    """Return the best report of each peer while all others report the truth."""
    return [best_report(truth, peer, rule) for peer in range(truth.n_peers)]


@dataclass(frozen=True, eq=False)
class Game:
    """Final reports of peers that answer each other's reports.

    Attributes
    ----------
    truth : BundleMarket
        The true market.
    ended : {"settled", "cycle", "open"}
        No peer gains more than 1e-6 of its profit by another report; all reports recur; or the
        maximum number of passes was reached.
    passes : int
        Number of turns of all peers, including a last one without a change.
    settlements : tuple of Settlement
        Settlements after the last passes: the final one, those of the cycle, or all.
    """

    truth: BundleMarket
    ended: Literal["settled", "cycle", "open"]
    passes: int
    settlements: tuple[Settlement, ...]

    @cached_property
    def anarchy(self) -> float:
        """The optimum over the worst settlement's benefit, at least 1."""
        best = largest_benefit(*self.truth.arguments)
        worst = min(self.truth.benefit(each.amounts) for each in self.settlements)
        return best.benefit / worst if best.benefit else 1.0

    @cached_property
    def revenue(self) -> float:
        """Revenue of the local scheduler, mean of the settlements [price]."""
        return float(np.mean([each.revenue for each in self.settlements]))


def play(
    truth: BundleMarket, rule: str = "uniform", *, tick: float = 0.001, passes: int = 200
) -> Game:
    """Return the game in which peers in turn give their best reports against the others'.

    Parameters
    ----------
    truth : BundleMarket
        The true market, which all report first.
    rule : {"uniform", "vcg"}
        Rule of payments.
    tick : float
        Reported factors are whole powers of exp(tick), so that there are finitely many, without
        outbidding by ever smaller differences.
    passes : int
        Maximum number of turns of all peers.

    Returns
    -------
    Game
        The final reports.

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
