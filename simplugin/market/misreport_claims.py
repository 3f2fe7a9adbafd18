"""What peers gain by reporting another speed than they have."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from simplugin.claims import Claim
from simplugin.elementary import exp
from simplugin.figures import Figure
from simplugin.market.instances import instance
from simplugin.market.mechanisms import (
    first_mean_price,
    reported,
    uniform,
    vickrey_clarke_groves,
)
from simplugin.market.misreports import deviations, profit, rival_prices
from simplugin.market.model import Terms, completion_times
from simplugin.market.section5_sites import SEED, TASKS, chosen_site
from simplugin.workloads.bundles import CLASSES, Bundle

if TYPE_CHECKING:
    from collections.abc import Callable

    from simplugin.market.mechanisms import Settlement
    from simplugin.market.misreports import Income, Report
    from simplugin.workloads.bundle_markets import BundleMarket, Floats

    Rule = Callable[[BundleMarket], Settlement]

ALPHA = 0.01
# Random markets, and tasks of each at most.
MARKETS, QUICK_MARKETS, MOST_TASKS = 1000, 60, 200
# Of these all reports that tell are tried, which are how far from ties.
TRIED, QUICK_TRIED = 100, 5
BESIDE = 1e-9
REPORTS = "just below and above each at which the peer gets a task more or less"
# Gains that rounding makes, as parts of the benefit.
NOTHING = 1e-9
PAST = "past the paper"


def site_market(kind: str) -> BundleMarket:
    """Return the market of 1000 tasks of a class on the chosen site, alpha 0.01, without N_max."""
    times = completion_times(chosen_site(), Bundle.of_class(kind, TASKS))
    return Terms(alpha=ALPHA).market(times, TASKS)


def provenance(seeds: int, **further: object) -> dict[str, object]:
    """Return what determines measurements of random markets."""
    return {"seeds": f"0 to {seeds - 1}", "tasks": f"2 to {MOST_TASKS}", **further}


def on_site() -> dict[str, object]:
    """Return what determines measurements of the chosen site."""
    return {"site": f"chosen site, seed {SEED}", "alpha": ALPHA, "N_max": "none", "m": TASKS}


@dataclass(frozen=True, eq=False)
class Survey:
    """What misreports and payments come to in one random market.

    Attributes
    ----------
    gain : float
        The most that a peer gains alone under the uniform price, as part of the benefit.
    loss : float
        What the benefit loses by that report, as part of it.
    captive : bool
        Whether the others cannot take all tasks without some peer, so that VCG is not defined.
    ratio : float
        Income of the local scheduler under VCG as part of that under the uniform price.
    rational : bool
        Whether VCG's payments are from 0 to what tasks are worth to each.
    losers : float
        Part of the peers with tasks that would lose at the price of Eq. (8).
    """

    gain: float
    loss: float
    captive: bool
    ratio: float
    rational: bool
    losers: float


@cache
def survey(seed: int) -> Survey:
    """Return what comes out in the market of a seed."""
    market = instance(seed, MOST_TASKS).market
    fixed = uniform(market)
    benefit = market.benefit(fixed.amounts)
    best = max(deviations(market), key=lambda each: each.gain)
    paid = vickrey_clarke_groves(market, unsold="worthless")
    room = market.caps.sum() - market.caps
    worth = market.sums(fixed.amounts)
    return Survey(
        best.gain / benefit,
        1 - best.benefit / benefit,
        bool(np.any((room < market.m) & (fixed.amounts > 0))),
        paid.revenue / fixed.revenue,
        bool(np.all((paid.payments >= 0) & (paid.payments <= worth * (1 + NOTHING)))),
        first_mean_price(market).losers() / int(np.sum(fixed.amounts > 0)),
    )


def surveys(quick: bool) -> list[Survey]:
    """Return what comes out in all random markets."""
    return [survey(seed) for seed in range(QUICK_MARKETS if quick else MARKETS)]


@cache
def site_reports(kind: str) -> list[Report]:
    """Return the best report of each peer of the chosen site alone, under the uniform price."""
    return deviations(site_market(kind))


def misreports(quick: bool) -> list[Claim]:
    """Return whether peers gain by misreporting under a uniform price."""
    found = surveys(quick)
    free = [each for each in found if not each.captive]
    gains, losses = (np.array([getattr(each, name) for each in free]) for name in ("gain", "loss"))
    count = int(np.sum(gains > NOTHING))
    here = {kind: _told(kind) for kind in CLASSES}
    return [
        Claim(
            "Under one price for all, peers cooperate: none gains by reporting another speed",
            "assumed",
            f"in {count} of {len(free)} markets some peer gains: the most by"
            f" {gains.mean():.2%} of U^G on average, {gains.max():.2%} at most; U^G loses"
            f" {losses.mean():.2%}, {losses.max():.2%} at most",
            count == 0,
            f"{_WHY}. In {len(found) - len(free)} further markets caps leave some peer without a"
            " rival for some tasks, which it gets for nothing if it reports next to no speed",
            "section 3.1",
            provenance=provenance(len(found)),
        ),
        Claim(
            "On the chosen site no peer gains by reporting another speed under one price for all",
            "assumed",
            "; ".join(f"{kind}: {words}" for kind, (_, words) in here.items()),
            sum(liars for liars, _ in here.values()) == 0,
            f"{_WHY}. Who reports less gets a few tasks less, and all at a lower price",
            "section 3.1",
            provenance=on_site(),
        ),
    ]


_WHY = (
    "the best of all reports of each peer while the others tell the truth; tasks pay by the times"
    " that they are measured to take. Agrees if nobody gains"
)


def _told(kind: str) -> tuple[int, str]:
    """Return how many peers of the chosen site gain by misreporting, and in words by what."""
    reports, market = site_reports(kind), site_market(kind)
    lying = [each for each in reports if each.gain > 0]
    words = f"{len(lying)} of {len(reports)}"
    if lying:
        most = max(lying, key=lambda each: each.gain)
        factors = [each.factor for each in lying]
        lost = 1 - most.benefit / market.benefit(uniform(market).amounts)
        words += (
            f", at {min(factors):.3f} to {max(factors):.3f} of their speeds; the most gains"
            f" {most.gain / most.before:.1%} of its profit, and U^G falls by {lost:.3%}"
        )
    return len(lying), words


@cache
def largest_gain(seed: int, rule: Rule, income: Income, low: float) -> float:
    """Return the most that a peer gains by a report, as part of the benefit; 0 for the truth.

    Parameters
    ----------
    seed : int
        Of the market.
    rule : callable
        Of payments.
    income : {"measured", "verified", "reported"}
        What tasks pay.
    low : float
        Least speed reported, as part of the true one.
    """
    market = instance(seed, MOST_TASKS).market
    honest = rule(market)
    most = 0.0
    for peer in range(market.n_peers):
        before = profit(market, honest, peer, income)
        for factor in telling_reports(market, peer, low).tolist():
            after = rule(_with(market, peer, factor))
            most = max(most, profit(market, after, peer, income) - before)
    return float(most) / market.benefit(honest.amounts)


def telling_reports(market: BundleMarket, peer: int, low: float = 0.0) -> Floats:
    r"""Return reports just below and just above each at which a peer gets a task more or less.

    While its number k of tasks stays, VCG charges the same, and the highest clearing price is
    :math:`\min(x V q^{k-1}, o)`, o being the least value of others that is served: who pays that
    earns most just above a tie, and held to its report (:math:`x \sum_j V q^{j-1}` is income) just
    below one. So these reports, and the truth, are enough.

    Parameters
    ----------
    market : BundleMarket
        The truth.
    peer : int
        Which.
    low : float
        Least report, as part of the truth.

    Returns
    -------
    float64, shape (n_reports,)
        Reported speeds over the true one.
    """
    prices, log_q = rival_prices(market, peer), float(market.log_q[peer])
    ties = prices - market.log_value[peer] - np.arange(len(prices)) * log_q
    # Tasks that no other takes are never lost.
    ties = ties[np.isfinite(ties)]
    step = min(BESIDE, -log_q / 4)
    near: Floats = exp(np.concatenate([ties - step, ties + step]))
    return near[near >= low]


def _with(market: BundleMarket, peer: int, factor: float) -> BundleMarket:
    """Return a market in which one peer reports another speed."""
    factors = np.ones(market.n_peers)
    factors[peer] = factor
    return reported(market, factors)


def defined_vcg(market: BundleMarket, /) -> Settlement:
    """Return VCG's settlement where it is defined and where not."""
    return vickrey_clarke_groves(market, unsold="worthless")


def most_gain(quick: bool, rule: Rule, income: Income, low: float = 0.0) -> float:
    """Return the most that anyone gains in the markets that are tried."""
    seeds = QUICK_TRIED if quick else TRIED
    return max(largest_gain(seed, rule, income, low) for seed in range(seeds))


def verification(quick: bool) -> list[Claim]:
    """Return which lies are excluded by what tasks are paid by."""
    tried = provenance(QUICK_TRIED if quick else TRIED, reports=REPORTS)
    over = most_gain(quick, uniform, "measured", 1.0)
    either = most_gain(quick, uniform, "verified")
    return [
        _claimed(),
        Claim(
            "Tasks that pay by measured time: to claim more speed gains nothing at one price",
            "not said",
            f"the most is {over:.1e} of U^G",
            over <= NOTHING,
            "the price rises with reports and the truth is the best answer to any price: the peer"
            " gets tasks that are worth less to it than they cost. Claims of less still pay."
            f" Agrees if no gain is above {NOTHING:g}",
            PAST,
            provenance=tried,
        ),
        Claim(
            "Tasks that pay only if the time is the one reported: no lie gains at one price",
            "not said",
            f"the most is {either:.1e} of U^G",
            either <= NOTHING,
            "who claims x < 1 has to dawdle: tasks are worth x times as much to it, while the"
            f" price falls to x times itself at most. Agrees if no gain is above {NOTHING:g}",
            PAST,
            provenance=tried,
        ),
    ]


def _claimed() -> Claim:
    """Judge whether ever higher claims gain ever more where nobody measures."""
    growing = []
    for market in map(site_market, CLASSES):
        for peer in np.flatnonzero(uniform(market).amounts).tolist():
            earned = [
                profit(market, uniform(_with(market, peer, factor)), peer, "reported")
                for factor in (1.0, 2.0, 4.0)
            ]
            growing.append(earned[0] < earned[1] < earned[2])
    return Claim(
        "Tasks that pay what peers report: the faster a peer claims to be the more it earns",
        "not said",
        f"by {sum(growing)} of {len(growing)} peers",
        all(growing),
        "each peer with tasks of the chosen site, alone, claims 1, 2 and 4 times its speed, in"
        " all classes. Agrees if all profits grow. No rule of payments helps unless speed is"
        " measured",
        PAST,
        provenance=on_site(),
    )


def gains(quick: bool) -> list[Figure]:
    """Return what the peer that gains most earns by each report, under three rules."""
    market = site_market("computation")
    peer = max(site_reports("computation"), key=lambda each: each.gain).peer
    rules: dict[str, tuple[Rule, Income]] = {
        "uniform price, measured time": (uniform, "measured"),
        "VCG, measured time": (defined_vcg, "measured"),
        "uniform price, held to its report": (uniform, "verified"),
    }
    near = np.linspace(0.8, 1.1, 31 if quick else 301)
    curves = {name: _profits(market, peer, near, *each) for name, each in rules.items()}
    held = curves.pop("uniform price, held to its report")
    words = f"peer {peer + 1} by the speed that it reports (computation, alpha {ALPHA}, no N_max)"
    labels = ("reported speed / true speed", "profit / profit of the truth")
    truth = {"truth": 1.0}
    return [
        Figure("misreports", f"Profit of {words}", *labels, curves, lines=truth),
        Figure(
            "misreports-verified",
            f"Profit of {words}: tasks pay only if they take the time reported",
            *labels,
            {"uniform price": held},
            lines=truth,
        ),
    ]


def _profits(
    market: BundleMarket, peer: int, factors: Floats, rule: Rule, income: Income
) -> tuple[Floats, Floats]:
    """Return what a peer earns by each report, as parts of what the truth earns."""
    honest = profit(market, rule(market), peer, income)
    earned = [profit(market, rule(_with(market, peer, x)), peer, income) for x in factors]
    return factors, np.array(earned) / honest


PARTS: dict[str, Callable[[bool], list[Claim]]] = {
    "misreports": misreports,
    "verification": verification,
}
FIGURES: dict[str, Callable[[bool], list[Figure]]] = {"misreports": gains}
