"""ISGBMAT as printed and repaired, and other policies, on random markets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np

from simplugin.market.policies.isgbmat import PRINTED, REPAIRED, REPAIRS, Run, run_isgbmat
from simplugin.market.policies.shares import round_robin
from simplugin.market.policies.shipped import POLICIES, decide
from simplugin.papers.statements import Quantity, determined_by, resampled, share
from simplugin.papers.zheng.divided_bundles import continuous_optimum
from simplugin.papers.zheng.random_markets import Drawn, drawn_markets, seeds
from simplugin.papers.zheng.settings import EQUAL, TASKS, best_of
from simplugin.results.curves import CurvePlot
from simplugin.workloads.bundle_markets import BundleMarket, Floats

INSTANCES, QUICK_INSTANCES = 1000, 100
CURED = PRINTED | {"idle_price"}
# By how much each of Table 1's algorithms is below ISGBMAT there.
PUBLISHED = {
    "commodity": 1 - 60424 / 62765,
    "double_auction": 1 - 61976 / 62765,
    "proportional_share": 1 - 60790 / 62765,
}
OTHERS = (
    "commodity_equal",
    "commodity_cheapest",
    "double_auction_rounds",
    "double_auction_mean",
    "double_auction_dearest",
)
EXACT = ("isgbmat", "double_auction_marginal", "bisection", "median", "secant")
_ROUNDING = 1e-12


class Trial(NamedTuple):
    """A run of ISGBMAT on a market."""

    drawn: Drawn
    run: Run

    @property
    def failure(self) -> str:
        """The error of the result; empty if it is valid."""
        if self.run.end != "ended":
            return self.run.end
        if (placed := int(self.run.amounts.sum())) != self.drawn.market.m:
            return "too few tasks" if placed < self.drawn.market.m else "too many tasks"
        if not self.drawn.is_best(self.run.amounts):
            return "too little benefit"
        return "" if self.drawn.clears(self.run.price) else "no clearing price"


def _count(quick: bool) -> int:
    """Return how many markets there are."""
    return QUICK_INSTANCES if quick else INSTANCES


@cache
def trials(repairs: frozenset[str], quick: bool) -> tuple[Trial, ...]:
    """Return the runs of ISGBMAT with some repairs on the markets of the first seeds."""
    return tuple(
        Trial(each, run_isgbmat(*each.market.arguments, repairs))
        for each in drawn_markets(_count(quick))
    )


def loop(quick: bool) -> dict[str, Quantity]:
    """Measure how ISGBMAT ends as printed, with one defect cured, and repaired."""
    printed, cured, whole = (trials(each, quick) for each in (PRINTED, CURED, REPAIRED))
    means = trials(REPAIRED - {"clearing_price"}, quick)
    ended = [each for each in cured if each.run.end == "ended"]
    priced = [
        [each.run.end == "ended" and bool(np.isfinite(each.run.price)) for each in runs]
        for runs in (printed, cured)
    ]
    optimal = [each.drawn.is_best(each.run.taken) for each in ended]
    clear = [sum(each.drawn.clears(each.run.price) for each in runs) for runs in (ended, means)]
    parts = np.array([each.run.passes / each.drawn.market.m for each in whole])
    single = run_isgbmat((1.0,), TASKS, TASKS, 0.99).passes
    lost = [each.drawn.market.benefit(each.run.amounts) / each.drawn.best.benefit for each in whole]
    found = {
        "printed.ends": share(
            priced[0],
            f" with a price, as printed {_ends(printed)}; with 0/0 cured {_ends(cured)},"
            f" {sum(priced[1])} with a price",
        ),
        "cured.optimal": share(optimal, " runs that end", quick=quick, over="runs"),
        "cured.put_out": share(
            [each.drawn.is_best(each.run.amounts) for each in ended],
            f" runs that end have a complete A; the price clears in {clear[0]}, and with all other"
            f" repairs in {clear[1]} of {len(means)}",
        ),
        "repaired.passes": Quantity(
            float(parts.max()),
            note=f"in parts of m; above 1 in {np.sum(parts > 1)} of {len(parts)} markets, mean"
            f" {parts.mean():.3f}, median {np.median(parts):.3f}; a single peer takes {single} for"
            f" {TASKS} tasks",
        ),
        "repaired.right": replace(
            share(
                [not each.failure for each in whole],
                f"; at most {1 - min(lost):.1e} below the maximum",
                quick=quick,
                over="markets",
            ),
            optimum=1.0,
        ),
        "repairs.failures": _needed(quick),
    }
    return determined_by(seeds(_count(quick)), found)


def _ends(runs: tuple[Trial, ...]) -> str:
    """Return how often runs end in each way."""
    found = Counter(each.run.end for each in runs)
    return ", ".join(f"{count} {end}" for end, count in found.items()) + f" of {len(runs)}"


def _needed(quick: bool) -> Quantity:
    """Return the fewest failures if one of the repairs is left out."""
    found = {each: _without(each, quick) for each in REPAIRS}
    words = [
        f"{key}: {', '.join(f'{count} {how}' for how, count in failures.items())}"
        for key, failures in found.items()
    ]
    fewest = min(each.total() for each in found.values())
    return Quantity(fewest, note=f"{_count(quick)} runs each: {'; '.join(words)}")


def _without(key: str, quick: bool) -> Counter[str]:
    """Return the failures on all markets if one repair is left out.

    Without the refusal, caps leave one task over; without logarithms, all peers are equal.
    """
    repairs = REPAIRED - {key}
    markets = [each.market for each in drawn_markets(_count(quick))]
    if key == "refusal":
        small = [
            run_isgbmat(each.values, each.m, round_robin(each.m - 1, each.caps), each.q, repairs)
            for each in markets
        ]
        return Counter(run.end for run in small if run.end == "stuck")
    found = trials(repairs, quick)
    if key == "logarithms":
        alike = [
            BundleMarket(np.full_like(each.values, each.values[0]), each.m, each.caps, each.q)
            for each in markets
        ]
        found = tuple(
            Trial(Drawn(each, best_of(each)), run_isgbmat(*each.arguments, repairs))
            for each in alike
        )
    return Counter(failure for each in found if (failure := each.failure))


@cache
def gaps(quick: bool) -> tuple[Mapping[str, Floats], int]:
    """Return the part of the benefit that each policy misses, and how many tasks lists are valid.

    Policies that draw do so by the market's seed.
    """
    found: dict[str, list[float]] = {name: [] for name in (*PUBLISHED, *OTHERS, *EXACT)}
    placed = 0
    for seed, drawn in enumerate(drawn_markets(_count(quick))):
        market, best = drawn
        for name, parts in found.items():
            amounts, _ = decide(POLICIES[name], market, seed)
            within = np.all((amounts >= 0) & (amounts <= market.caps))
            placed += bool(within and amounts.sum() == market.m)
            parts.append(1 - market.benefit(amounts) / best.benefit)
    return {name: np.array(parts) for name, parts in found.items()}, placed


def comparison(quick: bool) -> dict[str, Quantity]:
    """Measure what other policies miss of the largest benefit."""
    found, placed = gaps(quick)
    words = [
        f"{name} {each.mean():.2%}, median {np.median(each):.2%}, 95th percentile"
        f" {np.percentile(each, 95):.2%}, worst {each.max():.2%}, maximal in"
        f" {np.sum(np.abs(each) <= EQUAL)}"
        + (f" (Table 1: {PUBLISHED[name]:.1%})" if name in PUBLISHED else "")
        for name, each in found.items()
        if name not in EXACT
    ]
    ahead = any(np.any(each < -EQUAL) for each in found.values())
    exact = max(float(np.abs(found[name]).max()) for name in EXACT)
    published = np.array([found[name] for name in PUBLISHED])
    measured = {
        "comparators.gap": resampled(
            lambda few: -np.inf if ahead else float(published[:, few].mean(axis=1).min()),
            _count(quick),
            f"{'; '.join(words)}; {', '.join(EXACT)} within {exact:.0e}; all tasks placed in"
            f" {placed} of {len(found) * _count(quick)} assignments",
            over="markets",
        ),
        "divisible.clears": _divisible(quick),
    }
    return determined_by(seeds(_count(quick)), measured)


def _divisible(quick: bool) -> Quantity:
    """Return in which part of the markets the price of divisible tasks clears whole ones."""
    clears, above, missed, within = [], [], [], []
    for drawn in drawn_markets(_count(quick)):
        market, best = drawn
        parts = continuous_optimum(*market.arguments)
        clears.append(drawn.clears(parts.price))
        if not clears[-1]:
            missed.append(abs(int(market.response(parts.price).sum()) - market.m))
        gain, rounding = parts.benefit - best.benefit, _ROUNDING * best.benefit
        above.append(gain / best.benefit)
        within.append(-rounding <= gain <= parts.margin + rounding)
    words = f"; elsewhere demand misses m, by {max(missed)} at most" if missed else ""
    return share(
        clears,
        f" markets{words}. Divided, tasks are worth {np.mean(above):.2%} more on average,"
        f" {max(above):.1%} at most, within the proven margin in {sum(within)}",
    )


def gap_figures(quick: bool) -> list[CurvePlot]:
    """Return the distributions of gaps and of passes."""
    found, _ = gaps(quick)
    count = _count(quick)
    part = np.arange(1, count + 1) / count
    terms = seeds(count)
    drawn = f"{count} random markets\nalpha {terms['alpha']}; N_max {terms['N_max']}"
    passes = [each.run.passes / each.drawn.market.m for each in trials(REPAIRED, quick)]
    return [
        CurvePlot(
            "benefit-gaps",
            f"Benefit of each policy against the largest, {drawn}",
            "gap to the largest benefit [%]",
            "markets up to this gap, part",
            {name: (100 * np.sort(found[name]), part) for name in (*PUBLISHED, *OTHERS)},
            whole=True,
        ),
        CurvePlot(
            "isgbmat-passes",
            f"Passes of ISGBMAT, repaired, {drawn}",
            "passes over tasks, S / m",
            "markets up to this, part",
            {"isgbmat": (np.sort(passes), part)},
            whole=True,
        ),
    ]
