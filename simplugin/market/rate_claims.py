"""What discount rates of each peer buy, the paper's future work, and bundles of mixed sizes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from simplugin.claims import Claim
from simplugin.errors import InfeasibleError
from simplugin.figures import Figure
from simplugin.market.discount_rates import (
    balanced_split,
    balancing_rates,
    completion_bound,
    rates_for,
)
from simplugin.market.front import least_completion
from simplugin.market.instances import instance
from simplugin.market.model import HOUR, completion_times
from simplugin.market.outcomes import Outcome
from simplugin.market.policies import POLICIES
from simplugin.market.section5 import ALPHA
from simplugin.market.section5_sites import SEED, TASKS, chosen_site, consistent_site
from simplugin.optimum.bundle_benefit import (
    identical_benefit,
    largest_benefit,
    mixed_benefit,
    scaled_benefit,
)
from simplugin.workloads.bundle_markets import BundleMarket
from simplugin.workloads.bundles import CLASSES, MEGA, Bundle, drawn_sizes, lcg_bundles

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from simplugin.workloads.bundle_markets import Floats

# Sites that fit the paper, and random markets.
SITES, QUICK_SITES = 200, 20
MARKETS, QUICK_MARKETS = 1000, 60
# Completion times up to which finishing together counts as reached, over the bound.
NEAR = 1.03
SAME = 1e-9
# How close a price comes to the lowest value.
_BELOW = 1 - 1e-6
# Tasks of the largest bundle of the trace that are paired with places, and what a second of run
# time is taken to compute [flop].
MIXED_TASKS, QUICK_TASKS = 400, 105
REFERENCE_SPEED = 25 * MEGA
PAST = "past the paper"
FUTURE = "section 6, future work"


@dataclass(frozen=True, eq=False)
class Balanced:
    """The optimum under a common rate and under rates of each peer with the same benefit.

    Attributes
    ----------
    common, own : Outcome
        Estimated outcomes.
    alpha : float64, shape (n_peers,)
        Rates of each peer.
    bound : float
        Of the completion time [s].
    exact : bool
        Whether the optimum under these rates is the assignment wanted, at the same benefit.
    """

    common: Outcome
    own: Outcome
    alpha: Floats
    bound: float
    exact: bool

    @property
    def rates(self) -> Floats:
        """Rates of the peers that have tasks."""
        return self.alpha[self.own.amounts > 0]


def balanced(times: Floats, values: Floats, m: int, alpha: float) -> Balanced:
    """Return what rates of each peer do to a market without N_max.

    Raises
    ------
    InfeasibleError
        No rates have the same benefit.
    """
    market = BundleMarket(values, m, m, 1 - alpha)
    best = largest_benefit(values, m, m, 1 - alpha)
    wanted = balancing_rates(values, times, m, best.benefit)
    priced = BundleMarket(values, m, m, 1 - wanted.alpha)
    found = largest_benefit(values, m, m, 1 - wanted.alpha)
    exact = np.array_equal(found.amounts, wanted.amounts) and found.clears(wanted.price)
    return Balanced(
        Outcome.estimated(market, best.amounts, best.price, times),
        Outcome.estimated(priced, found.amounts, wanted.price, times),
        wanted.alpha,
        completion_bound(times, m),
        exact and abs(found.benefit / best.benefit - 1) <= SAME,
    )


@cache
def on_site(kind: str, seed: int = SEED) -> Balanced:
    """Return the same for a class of tasks on a site that fits the paper."""
    times = completion_times(consistent_site(seed), Bundle.of_class(kind, TASKS))
    return balanced(times, HOUR / times, TASKS, ALPHA)


def provenance(**further: object) -> dict[str, object]:
    """Return what determines measurements of sites."""
    known = {"alpha": ALPHA, "N_max": "none", "m": TASKS, "times": "estimated"}
    return {**known, **further}


def rates(quick: bool) -> list[Claim]:
    """Return whether rates of each peer balance the workload."""
    sites = QUICK_SITES if quick else SITES
    here = {kind: on_site(kind) for kind in CLASSES}
    many = [on_site(kind, seed) for seed in range(sites) for kind in CLASSES]
    exact = sum(each.exact for each in many)
    benefit, best = (
        float(np.mean([getattr(each, name).benefit for each in many])) for name in ("own", "common")
    )
    return [
        _fairer(here, many),
        Claim(
            "Some rates of each peer make balance the exact optimum, at the common rate's benefit",
            "not said",
            f"in {exact} of {len(many)} settings; benefit {benefit:.1f} G$ on average",
            exact == len(many),
            f"agrees if in all, the benefit to {SAME:g}. Other rates are other prices of the same"
            " tasks, so that without a benefit held the two could not be compared. Optimum: that"
            " under the common rate",
            PAST,
            optimum=best,
            provenance=provenance(sites=sites),
        ),
        _earlier(here, many),
        _everyone(here),
        _random(quick),
    ]


def _fairer(here: Mapping[str, Balanced], many: Sequence[Balanced]) -> Claim:
    """Judge the fairness of the workload on the chosen site and on many."""
    sites = len(many) // len(here)
    fairer = sum(each.own.fairness > each.common.fairness for each in many)
    return Claim(
        "Different discount rates of peers make the workload more balanced",
        "to be explored",
        "; ".join(
            f"{kind}: FI {each.common.fairness:.3f} becomes {each.own.fairness:.3f},"
            f" rates {each.rates.min():.2g} to {each.rates.max():.3g}"
            for kind, each in here.items()
        )
        + f"; on {sites} sites FI rises in {fairer} of {len(many)} settings",
        fairer == len(many),
        "rates ln(1/q) = ln(V/p) / (A - 1/2) at the price p that leaves the benefit as it is."
        " Agrees if FI rises in all settings. A slow peer whose first task is worth less than"
        " p stays idle, and FI counts it",
        FUTURE,
        provenance=provenance(sites=sites, rates="of peers with tasks"),
    )


def _earlier(here: Mapping[str, Balanced], many: Sequence[Balanced]) -> Claim:
    """Judge the completion time on the chosen site, beside that on many."""
    sites = len(many) // len(here)
    earlier = sum(each.own.completion < each.common.completion for each in many)
    over = np.array([each.own.completion / each.bound for each in many])
    plain = np.array([each.common.completion / each.bound for each in many])
    least = [_least(each) / each.bound for each in many]
    return Claim(
        "With rates of each peer a bundle completes about as early as it can, at the same benefit",
        f"not said; bar {NEAR:g} times the bound",
        "; ".join(
            f"{kind}: {each.common.completion:.0f} s becomes {each.own.completion:.0f} s,"
            f" bound {each.bound:.0f} s"
            for kind, each in here.items()
        )
        + f"; on {sites} sites {plain.mean():.3f} times the bound becomes {over.mean():.3f},"
        f" at most {over.max():.3f}; earlier in {earlier} of {len(many)} settings",
        all(each.own.completion <= NEAR * each.bound for each in here.values()),
        f"bound m / (sum of 1/t). Agrees if up to {NEAR:g} times it in each class on the chosen"
        " site. A price that leaves the benefit as it is may leave slow peers idle, or with"
        " fewer tasks than balance asks for. Optimum: the least completion of whole tasks over the"
        " bound, mean of all settings",
        PAST,
        optimum=float(np.mean(least)),
        provenance=provenance(sites=sites),
    )


def _least(each: Balanced) -> float:
    """Return the least completion time of whole tasks [s]."""
    market = each.common.market
    return least_completion(HOUR / market.values, market.m, market.caps)


def _everyone(here: Mapping[str, Balanced]) -> Claim:
    """Judge what it costs to have all peers finish together, the slowest too."""
    words, parts, over, least = [], [], [], []
    for kind, each in here.items():
        market, bound = each.common.market, each.bound
        times = HOUR / market.values
        amounts = balanced_split(times, market.m)
        active = amounts > 0
        price = _BELOW * float(market.values[active].min())
        alpha = rates_for(market.values, amounts, price)
        most = BundleMarket(market.values, market.m, market.caps, 1 - alpha).benefit(amounts)
        parts.append(most / each.common.benefit)
        over.append(float(np.max(amounts * times)) / bound)
        least.append(_least(each) / bound)
        words.append(f"{kind}: {over[-1]:.4f} times the bound at {parts[-1]:.0%} of the benefit")
    return Claim(
        "All peers can finish together, the slowest too, but at less benefit",
        "not said",
        "; ".join(words),
        max(over) <= NEAR and max(parts) < 1,
        "the price must then be below the first price of the slowest peer with tasks, and rates"
        f" high; that is the highest such price. Agrees if up to {NEAR:g} times the bound and less"
        " benefit than under the common rate in each class. Optimum: the least completion of whole"
        " tasks over the bound, mean of the classes",
        PAST,
        optimum=float(np.mean(least)),
        provenance=provenance(site=f"chosen site, seed {SEED}"),
    )


def _random(quick: bool) -> Claim:
    """Judge rates of each peer in random markets."""
    seeds = QUICK_MARKETS if quick else MARKETS
    found, refused = [], 0
    for seed in range(seeds):
        drawn = instance(seed)
        try:
            found.append(balanced(HOUR / drawn.values, drawn.values, drawn.m, drawn.alpha))
        except InfeasibleError:
            refused += 1
    exact = sum(each.exact for each in found)
    sooner = np.array([each.own.completion / each.common.completion for each in found])
    fairer = sum(each.own.fairness > each.common.fairness for each in found)
    return Claim(
        "Any market has rates of each peer that make balance the optimum, at the same benefit",
        "not said",
        f"for {len(found)} of {seeds}, the optimum as wanted in {exact}; completion"
        f" {np.median(sooner):.3f} times that of the common rate in the middle, earlier in"
        f" {np.sum(sooner < 1)}, later in {np.sum(sooner > 1)}; fairer in {fairer}; benefit"
        f" {np.mean([each.own.benefit for each in found]):.1f} G$ on average",
        refused == 0 and exact == len(found),
        "random markets without caps, discount rates from 1e-4 to 0.5. Agrees if there are rates"
        " for all. There are none where peers have few tasks and the benefit lies between what can"
        " be had, and where the last of many tasks under a high rate is worth next to nothing."
        " Optimum: the largest benefit under the common rate, mean of the markets that have rates",
        PAST,
        optimum=float(np.mean([each.common.benefit for each in found])),
        provenance={"seeds": f"0 to {seeds - 1}", "tasks": "2 to 1500"},
    )


def finishing(quick: bool) -> list[Claim]:
    """Return what prices by finishing times give, beside Proportional Share."""
    sites = QUICK_SITES if quick else SITES
    ahead = behind = same = 0
    excess, shared, worst = [], [], 0.0
    for seed in range(sites):
        for kind in CLASSES:
            times = completion_times(consistent_site(seed), Bundle.of_class(kind, TASKS))
            ours = float((balanced_split(times, TASKS) * times).max())
            shares, _ = POLICIES["proportional_share"](1 / times, TASKS, TASKS, 1 - ALPHA)
            theirs = float((shares * times).max())
            ahead, behind = ahead + (ours < theirs), behind + (ours > theirs)
            same += ours == theirs
            bound = completion_bound(times, TASKS)
            excess.append(ours / bound)
            shared.append(theirs / bound)
            worst = max(worst, theirs / ours)
    total = 3 * sites
    return [
        Claim(
            "With the k-th task worth c / (k t), Proportional Share is the optimum",
            "not said",
            f"the same completion time in {same} of {total} settings, shorter in {ahead}, longer in"
            f" {behind}; Proportional Share is up to {worst:.3f} times as long, and"
            f" {np.mean(shared):.4f} times the bound on average, the optimum {np.mean(excess):.4f}",
            ahead == behind == 0,
            "without any discount rate, prices by finishing times pick the m earliest finishing"
            " times, the shortest completion there is. Both are roundings of shares in proportion"
            " to V, by d'Hondt and by largest remainder, and a slow peer makes one task rounded up"
            " long. Agrees if completion times are the same in all settings. Optimum: the least"
            " completion of whole tasks over the bound, mean of all settings",
            PAST,
            optimum=float(np.mean(excess)),
            provenance=provenance(sites=sites),
        )
    ]


@cache
def kept(place: int, transfers: bool) -> tuple[float, float]:
    """Return what is left of the benefit if tasks of a bundle of the trace are dealt as identical.

    Parameters
    ----------
    place : int
        Of the bundle in the trace.
    transfers : bool
        Whether each task also moves as many bytes as one of mean size computes flop; otherwise
        tasks only compute.

    Returns
    -------
    kept, variation : float
        Part of the optimum's benefit, and the coefficient of variation of the sizes drawn.
    """
    known = lcg_bundles()[place]
    sizes = drawn_sizes(known.count, known.variation, np.random.default_rng([SEED, place]))
    site = chosen_site()
    flop = known.mean * REFERENCE_SPEED
    computing = flop / site.speed
    sending = flop / site.bandwidth if transfers else np.zeros(site.n_peers)
    values = HOUR / (sending[:, None] + np.outer(computing, sizes))
    best = (
        mixed_benefit(values, known.count, 1 - ALPHA)
        if transfers
        else scaled_benefit(HOUR / computing, sizes, known.count, 1 - ALPHA)
    )
    dealt = identical_benefit(values, HOUR / (sending + computing), known.count, 1 - ALPHA)
    return dealt.benefit / best.benefit, float(np.std(sizes))


def mixed_sizes(quick: bool) -> list[Claim]:
    """Return what it costs to take tasks for identical that are not."""
    bundles = lcg_bundles()
    most = QUICK_TASKS if quick else MIXED_TASKS
    few = [place for place, each in enumerate(bundles) if each.count <= most]
    computing = np.array([kept(place, False) for place in range(len(bundles))]).T
    sending = np.array([kept(place, True) for place in few]).T
    uneven = computing[1] > np.median(computing[1])
    return [
        Claim(
            "Tasks of a bundle can be taken for identical",
            "assumed",
            f"{computing[0].mean():.3f} of the optimum's benefit is kept on average,"
            f" {computing[0].min():.3f} at least, over {len(bundles)} bundles of tasks that only"
            f" compute ({computing[0][~uneven].mean():.3f} for the half with the smaller variation,"
            f" {computing[0][uneven].mean():.3f} for the other); with transfers"
            f" {sending[0].mean():.3f}, {sending[0].min():.3f} at least, over {len(few)}",
            bool(min(computing[0].min(), sending[0].min()) >= 0.99),
            "bundles of a real trace, sizes lognormal with the variation of its run times (median"
            f" {np.median(computing[1]):.2f}). Tasks are dealt in their order by the optimum for"
            " the mean size, against the exact assignment of tasks to places, of whose benefit all"
            " are parts. Agrees if all keep 99 %",
            "section 3.1",
            optimum=1.0,
            provenance=provenance(
                m="of each bundle",
                seed=SEED,
                trace=f"LCG 2005; with transfers bundles of up to {most} jobs",
                site="chosen site",
                speed="25 Mflop/s of the trace's processors, invented",
                byte="as many as a task of mean size has flop, invented",
            ),
        )
    ]


def finishing_times(quick: bool) -> list[Figure]:
    """Return when each peer finishes under a common rate and under its own."""
    del quick
    found = on_site("computation")
    edges = np.arange(len(found.alpha) + 1) + 0.5
    return [
        Figure(
            "discount-rates",
            "When each peer finishes (computation)",
            "peer",
            "time [s]",
            {
                f"common rate {ALPHA:g}": (edges, found.common.times),
                "rates of each peer, same benefit": (edges, found.own.times),
            },
            lines={"lower bound of completion": found.bound},
            bars=True,
        )
    ]


PARTS: dict[str, Callable[[bool], list[Claim]]] = {
    "rates": rates,
    "finishing_times": finishing,
    "mixed_sizes": mixed_sizes,
}
FIGURES: dict[str, Callable[[bool], list[Figure]]] = {"rates": finishing_times}
