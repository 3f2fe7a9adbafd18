"""What payments cost that leave peers no reason to misreport, and how a clock finds them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from simplugin.claims import Claim
from simplugin.market import game_claims, misreport_claims, simulated_misreports
from simplugin.market.clinching import ascending_clock
from simplugin.market.execution import execute
from simplugin.market.instances import instance
from simplugin.market.mechanisms import first_mean_price, uniform, vickrey_clarke_groves
from simplugin.market.misreport_claims import (
    ALPHA,
    MARKETS,
    MOST_TASKS,
    NOTHING,
    PAST,
    QUICK_MARKETS,
    QUICK_TRIED,
    REPORTS,
    TRIED,
    defined_vcg,
    most_gain,
    on_site,
    provenance,
    site_market,
    surveys,
)
from simplugin.market.model import Terms
from simplugin.market.negotiation_times import LATENCY
from simplugin.market.negotiations.clinching import clinching
from simplugin.market.section5_sites import TASKS, chosen_site
from simplugin.workloads.bundles import CLASSES, Bundle

if TYPE_CHECKING:
    from collections.abc import Callable

    from simplugin.market.deals import Deal

CLOCK_TICK = 0.01


def vcg(quick: bool) -> list[Claim]:
    """Return whether VCG is truthful, what it costs, and what Eq. (8) would."""
    return [_truthful(quick), _income(quick), _mean_price(quick)]


def _truthful(quick: bool) -> Claim:
    """Judge whether a report gains anything under VCG."""
    gain = most_gain(quick, defined_vcg, "measured")
    return Claim(
        "Under VCG no report gains anything",
        "not said",
        f"the most is {gain:.1e} of U^G",
        gain <= NOTHING,
        "each pays the best values of others that are not served, which its report does not"
        f" change; tasks pay by measured time. Agrees if no gain is above {NOTHING:g}",
        PAST,
        provenance=provenance(QUICK_TRIED if quick else TRIED, reports=REPORTS),
    )


def _income(quick: bool) -> Claim:
    """Judge what VCG brings the local scheduler."""
    found = surveys(quick)
    free = [each for each in found if not each.captive]
    ratio = np.array([each.ratio for each in free])
    sites = ", ".join(
        f"{kind} {vickrey_clarke_groves(market).revenue / uniform(market).revenue:.3f}"
        for kind, market in ((kind, site_market(kind)) for kind in CLASSES)
    )
    return Claim(
        "Truth costs the local scheduler a part of its income",
        "not said",
        f"VCG brings {ratio.mean():.2f} of the uniform price's income on average"
        f" ({ratio.min():.2f} to {ratio.max():.2f}); on the chosen site {sites}",
        bool(np.all(ratio <= 1 + NOTHING)) and all(each.rational for each in found),
        "same assignment, so U^G is the optimum. Agrees if it never brings more and payments are"
        f" from 0 to what tasks are worth. {len(found) - len(free)} of {len(found)} markets are"
        " left out: there caps leave tasks over without some peer, and VCG is undefined",
        PAST,
        provenance=provenance(len(found)),
    )


def _mean_price(quick: bool) -> Claim:
    """Judge the first mean price as what peers really pay."""
    charged = {kind: first_mean_price(site_market(kind)) for kind in CLASSES}
    losing = np.array([each.losers for each in surveys(quick)])
    return Claim(
        "At the mean of first prices, Eq. (8), charged for all tasks, peers have profits",
        "p* = (sum of v_i) / n",
        "; ".join(
            f"{kind}: {paid.losers()} of {int(np.sum(paid.amounts > 0))} peers lose, all pay"
            f" {paid.revenue:.0f} for tasks worth {paid.market.benefit(paid.amounts):.0f} G$"
            for kind, paid in charged.items()
        )
        + f"; random markets: {losing.mean():.0%} of peers lose on average",
        all(paid.losers() == 0 for paid in charged.values()),
        "first prices know no discount. Agrees if nobody loses on the chosen site",
        "Eq. (8), Definition 2",
        provenance=on_site() | {"random markets": len(losing)},
    )


def clock(quick: bool) -> list[Claim]:
    """Return whether a rising clock with clinching gives VCG's payments, and in how many rounds."""
    seeds = QUICK_MARKETS if quick else MARKETS
    worst, rounds, coarse = 0.0, [], []
    for seed in range(seeds):
        market = instance(seed, MOST_TASKS).market
        wanted, found = defined_vcg(market), ascending_clock(market)
        scale = max(wanted.revenue, NOTHING * market.benefit(wanted.amounts))
        apart = np.abs(found.settlement.payments - wanted.payments).max() / scale
        worst = max(worst, float(apart))
        rounds.append(found.rounds)
        coarse.append(ascending_clock(market, tick=CLOCK_TICK).rounds)
    fine, ticking = clock_deal(None), clock_deal(CLOCK_TICK)
    wanted = defined_vcg(fine.market)
    best = fine.market.benefit(wanted.amounts)
    on_network = float(np.abs(fine.outcome().paid - wanted.payments).max()) / wanted.revenue
    lost = 1 - ticking.outcome().benefit / best
    return [
        Claim(
            "A rising clock at which peers clinch tasks gives VCG's payments",
            "Ausubel (2004)",
            f"random markets, in one process: apart by {worst:.1e} of the income at most; rounds"
            f" median {np.median(rounds):.0f}, at most {max(rounds)}; with ticks of"
            f" {CLOCK_TICK:.0%} median {np.median(coarse):.0f}, at most {max(coarse)}. Chosen site,"
            f" on SimGrid: apart by {on_network:.1e}, {_effort(fine)}; with ticks"
            f" {_effort(ticking)}, which costs {lost:.1e} of U^G and charges"
            f" {ticking.outcome().revenue / wanted.revenue - 1:+.1%}",
            worst <= NOTHING and on_network <= NOTHING,
            f"agrees if apart by {NOTHING:g} at most. Peers only answer how many they want, and up"
            " to which price, or without the latter at each tick. It is the same negotiation in"
            f" one process and on SimGrid, there with {LATENCY:g} s to each peer",
            PAST,
            optimum=wanted.revenue,
            provenance=provenance(seeds)
            | on_site()
            | {"class": "computation", "optimum": "VCG's income at the chosen site [G$]"},
        )
    ]


def clock_deal(tick: float | None) -> Deal:
    """Return how 1000 computation-intensive tasks are sold by a clock on SimGrid, and executed."""
    site = replace(chosen_site(), latency=LATENCY)
    bundle = Bundle.of_class("computation", TASKS)
    (deal,) = execute(site, bundle, Terms(alpha=ALPHA), clinching(tick)).deals
    return deal


def _effort(deal: Deal) -> str:
    """Say what a negotiation took."""
    share = deal.negotiation / deal.outcome().completion
    return (
        f"{deal.rounds} rounds, {deal.messages} messages, {deal.negotiation:.2f} s, {share:.1e} of"
        " the completion time"
    )


# With what peers gain where payments are others.
PARTS: dict[str, Callable[[bool], list[Claim]]] = {
    **misreport_claims.PARTS,
    **game_claims.PARTS,
    **simulated_misreports.PARTS,
    "vcg": vcg,
    "clock": clock,
}
FIGURES = misreport_claims.FIGURES
