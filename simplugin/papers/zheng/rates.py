"""Discount rates of each peer, section 6, and tasks that are not identical."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from simplugin.core.errors import InfeasibleError
from simplugin.market.discount_rates import balancing_rates, completion_bound
from simplugin.market.model import HOUR, PricedAssignment
from simplugin.papers.statements import Quantity, determined_by, share
from simplugin.papers.zheng.mixed_bundles import identical_benefit, mixed_benefit, scaled_benefit
from simplugin.papers.zheng.random_markets import random_market
from simplugin.papers.zheng.settings import (
    ALPHA,
    EQUAL,
    ON_SITE,
    SETTINGS,
    ExperimentSetting,
    best_of,
)
from simplugin.papers.zheng.trade_offs import least_completion
from simplugin.platforms.twelve_peers import SEED, chosen_site, consistent_site
from simplugin.workloads.bundle_markets import BundleMarket, Floats
from simplugin.workloads.bundles import MEGA, drawn_sizes, lcg_bundles

SITES, QUICK_SITES = 200, 20
MARKETS, QUICK_MARKETS = 1000, 60
# Number of tasks of the largest bundle of the trace that is solved with transfers, and assumed work
# of a second of run time [flop].
MIXED_TASKS, QUICK_TASKS = 400, 105
REFERENCE_SPEED = 25 * MEGA


class Balanced(NamedTuple):
    """The optimum under a common rate and under rates of each peer with the same benefit.

    Attributes
    ----------
    common, own : PricedAssignment
        Estimated outcomes.
    alpha : float64, shape (n_peers,)
        Rates of each peer.
    bound : float
        Of the completion time [s].
    exact : bool
        True if the optimum under these rates is the assignment wanted, at the same benefit.
    """

    common: PricedAssignment
    own: PricedAssignment
    alpha: Floats
    bound: float
    exact: bool

    @property
    def least(self) -> float:
        """The least completion time of whole tasks, over the bound."""
        market = self.common.market
        return least_completion(HOUR / market.values, market.m, market.caps) / self.bound


def balanced(market: BundleMarket, times: Floats) -> Balanced:
    """Return the effect of individual rates of peers on a market, without its N_max.

    Raises
    ------
    InfeasibleError
        No rates give the same benefit.
    """
    values, m = market.values, market.m
    market = BundleMarket(values, m, m, market.q)
    best = best_of(market)
    wanted = balancing_rates(values, times, m, best.benefit)
    priced = BundleMarket(values, m, m, 1 - wanted.alpha)
    found = best_of(priced)
    exact = np.array_equal(found.amounts, wanted.amounts) and found.clears(wanted.price)
    return Balanced(
        PricedAssignment(market, best.amounts, best.price, best.amounts * times),
        PricedAssignment(priced, found.amounts, wanted.price, found.amounts * times),
        wanted.alpha,
        completion_bound(times, m),
        exact and abs(found.benefit / best.benefit - 1) <= EQUAL,
    )


@cache
def on_site(setting: ExperimentSetting, seed: int = SEED) -> Balanced:
    """Return the effect for a class of tasks on a site that agrees with the paper."""
    return balanced(*setting.market(consistent_site(seed)))


def rates(quick: bool) -> dict[str, Quantity]:
    """Measure fairness, completion and benefit under rates of each peer."""
    sites = QUICK_SITES if quick else SITES
    here = {each.kind: on_site(each) for each in SETTINGS}
    many = [on_site(each, seed) for seed in range(sites) for each in SETTINGS]
    known = ON_SITE | {"site": f"{sites} consistent ones", "times": "estimated"}
    changes = "; ".join(
        f"{kind}: FI {each.common.fairness:.3f} becomes {each.own.fairness:.3f}, rates"
        f" {each.alpha[each.own.amounts > 0].min():.2g} to"
        f" {each.alpha[each.own.amounts > 0].max():.3g}"
        for kind, each in here.items()
    )
    found = {
        "own_rates.fairer": share(
            [each.own.fairness > each.common.fairness for each in many],
            f" settings; chosen site, {changes}",
            quick=quick,
            over="settings",
        ),
        "own_rates.completion": _completion(here, many),
        "own_rates.exist": _everywhere(many, QUICK_MARKETS if quick else MARKETS),
        "identical.kept": _mixed_sizes(QUICK_TASKS if quick else MIXED_TASKS),
    }
    return determined_by(known, found)


def _completion(here: dict[str, Balanced], many: list[Balanced]) -> Quantity:
    """Return the completion time under own rates over the bound, worst of the classes."""
    own, common = (
        np.array([getattr(each, name).completion / each.bound for each in many])
        for name in ("own", "common")
    )
    words = "; ".join(
        f"{kind}: {each.common.completion:.0f} s becomes {each.own.completion:.0f} s, bound"
        f" {each.bound:.0f} s"
        for kind, each in here.items()
    )
    return Quantity(
        max(each.own.completion / each.bound for each in here.values()),
        note=f"{words}; on all sites {common.mean():.3f} times the bound becomes {own.mean():.3f},"
        f" at most {own.max():.3f}, earlier in {np.sum(own < common)} of {len(many)} settings",
        optimum=float(np.mean([each.least for each in many])),
    )


def _everywhere(many: list[Balanced], seeds: int) -> Quantity:
    """Return for which part of random markets such rates exist."""
    found = []
    for market in map(random_market, range(seeds)):
        try:
            found.append(balanced(market, HOUR / market.values))
        except InfeasibleError:
            continue
    exact = [sum(each.exact for each in some) for some in (found, many)]
    sooner = np.array([each.own.completion / each.common.completion for each in found])
    fairer = sum(each.own.fairness > each.common.fairness for each in found)
    return Quantity(
        exact[0] / seeds,
        note=f"{exact[0]} of {seeds} random markets, {exact[1]} of {len(many)} settings of sites;"
        f" completion {np.median(sooner):.3f} times that of the common rate in the median, earlier"
        f" in {np.sum(sooner < 1)}, later in {np.sum(sooner > 1)}; fairer in {fairer}",
        provenance={"seeds": f"0-{seeds - 1}", "N_max": "none"},
    )


@cache
def kept(place: int, transfers: bool) -> tuple[float, float]:
    """Return the remaining benefit if tasks of a bundle of the trace are assigned as identical.

    Parameters
    ----------
    place : int
        Number of the bundle in the trace.
    transfers : bool
        True if each task also moves as many bytes as a task of mean size computes flop.

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


def _mixed_sizes(most: int) -> Quantity:
    """Return the least part of the benefit that is kept if tasks are taken for identical."""
    bundles = lcg_bundles()
    few = [place for place, each in enumerate(bundles) if each.count <= most]
    computing = np.array([kept(place, False) for place in range(len(bundles))]).T
    sending = np.array([kept(place, True) for place in few]).T
    return Quantity(
        float(min(computing[0].min(), sending[0].min())),
        note=f"{computing[0].mean():.3f} on average, {computing[0].min():.3f} at least, over"
        f" {len(bundles)} bundles that only compute; with transfers {sending[0].mean():.3f},"
        f" {sending[0].min():.3f} at least, over {len(few)};"
        f" median coefficient of variation {np.median(computing[1]):.2f}",
        optimum=1.0,
        provenance=ON_SITE | {"m": "of each bundle", "trace": "LCG 2005"},
    )
