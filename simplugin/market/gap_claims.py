"""How near policies come to the largest benefit of random markets, and whether that is exact."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from simplugin.claims import Claim
from simplugin.figures import Figure
from simplugin.listings import Listing
from simplugin.market.divisible_tasks import divided
from simplugin.market.instances import Instance, instance
from simplugin.market.isgbmat import run_isgbmat
from simplugin.market.policies import POLICIES, RANDOM
from simplugin.optimum.bundle_benefit import largest_benefit
from simplugin.optimum.bundle_programs import assignment_program, dynamic_programming

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from simplugin.workloads.bundle_markets import Amounts, Floats

INSTANCES, QUICK_INSTANCES = 1000, 100
# Markets that are small enough for dynamic programming and a column a task.
SMALL, QUICK_SMALL, _SMALL_TASKS = 200, 20, 60
# Benefits that differ by less are equal; relative.
EQUAL = 1e-9
# How near Clarabel comes to the closed form, and rounding; relative.
NEAR, _ROUNDING = 1e-3, 1e-12
EXACT = ("isgbmat", "double_auction_marginal", "bisection", "median", "secant")


class Reading(NamedTuple):
    """A policy as a reading of one of the paper's algorithms.

    Attributes
    ----------
    words : str
        What it does.
    published : float, optional
        By which part its benefit is below ISGBMAT's in Table 1.
    """

    words: str
    published: float | None = None


# Of the readings of what the paper only cites, the first of each is the one chosen.
READINGS: Mapping[str, Reading] = {
    "isgbmat": Reading("ISGBMAT, repaired", 0.0),
    "commodity": Reading(
        "flat commodity market, the unsold rest dealt in turns", 1 - 60424 / 62765
    ),
    "commodity_equal": Reading("flat commodity market, all peers at one price"),
    "commodity_cheapest": Reading("flat commodity market, the cheapest peer first"),
    "double_auction": Reading("continuous double auction of zero intelligence", 1 - 61976 / 62765),
    "double_auction_rounds": Reading("double auction of the same bids in rounds, best bid served"),
    "double_auction_marginal": Reading("double auction, bids of a next task's value"),
    "double_auction_mean": Reading("double auction, bids of the mean deal price"),
    "double_auction_dearest": Reading("double auction, bids of the base price"),
    "proportional_share": Reading("proportional share", 1 - 60790 / 62765),
    "bisection": Reading("negotiation by bisection of the price"),
    "median": Reading("negotiation by weighted medians"),
    "secant": Reading("negotiation by interpolation of the demand"),
}


@dataclass(frozen=True, eq=False)
class Survey:
    """What policies came to on random markets.

    Attributes
    ----------
    gaps : mapping of str to float64, shape (n_instances,)
        By which part each policy's benefit is below the largest.
    best : float64, shape (n_instances,)
        The largest benefit of each market [price].
    placed : int
        Assignments, of all policies, that place all tasks under the caps.
    passes, tasks : int64, shape (n_instances,)
        Of ISGBMAT, S, and of each market, m.
    """

    gaps: Mapping[str, Floats]
    best: Floats
    placed: int
    passes: Amounts
    tasks: Amounts

    @property
    def count(self) -> int:
        """How many markets there are."""
        return len(self.tasks)


@cache
def survey(quick: bool) -> Survey:
    """Return what all policies come to on the markets of the first seeds.

    Parameters
    ----------
    quick : bool
        100 markets instead of 1000.
    """
    markets = [instance(seed) for seed in range(QUICK_INSTANCES if quick else INSTANCES)]
    gaps: dict[str, list[float]] = {name: [] for name in READINGS}
    bests = [largest_benefit(*drawn.arguments).benefit for drawn in markets]
    placed = 0
    for drawn, best in zip(markets, bests, strict=True):
        market = drawn.market
        for name, found in gaps.items():
            amounts = assigned(name, drawn)
            placed += bool(
                np.all((amounts >= 0) & (amounts <= drawn.caps)) and amounts.sum() == drawn.m
            )
            found.append(1 - market.benefit(amounts) / best)
    return Survey(
        {name: np.array(found) for name, found in gaps.items()},
        np.array(bests),
        placed,
        np.array([run_isgbmat(*drawn.arguments).passes for drawn in markets]),
        np.array([drawn.m for drawn in markets]),
    )


def assigned(name: str, drawn: Instance) -> Amounts:
    """Return the tasks of each peer by a policy; random ones draw by the market's seed."""
    own = {"seed": drawn.seed} if name in RANDOM else {}
    return POLICIES[name](*drawn.arguments, **own)[0]


def policies(quick: bool) -> list[Claim]:
    """Return by how much each policy misses the largest benefit."""
    found = survey(quick)
    return [_gap(name, reading, found) for name, reading in READINGS.items()]


def _gap(name: str, reading: Reading, found: Survey) -> Claim:
    """Return what is to be said of a policy."""
    gaps = found.gaps[name]
    reached = int(np.sum(np.abs(gaps) <= EQUAL))
    below = f"{reading.published:.1%} below ISGBMAT's in Table 1" if reading.published else ""
    if name in EXACT:
        claim = f"{name} reaches the maximal global benefit"
        why = "agrees if it does in every market, to 1e-9"
        agrees = reached == found.count
    else:
        claim = f"{name} has less global benefit than ISGBMAT, repaired"
        why = (
            "agrees if it has less on average, and more in no market, as nothing can; markets are"
            " not the paper's, so that the amount is not compared"
        )
        agrees = bool(gaps.mean() > EQUAL and np.all(gaps >= -EQUAL))
    return Claim(
        claim,
        "maximal" if name == "isgbmat" else below or "not said",
        f"the largest in {reached} of {found.count} markets; on average {gaps.mean():.2%} below it,"
        f" median {np.median(gaps):.2%}, 95th percentile {np.percentile(gaps, 95):.2%}, at worst"
        f" {gaps.max():.2%}; the mean of all benefits is {np.mean((1 - gaps) * found.best):.1f} G$",
        agrees,
        f"{reading.words}; {why}",
        "Table 1, section 4.2",
        optimum=float(found.best.mean()),
        provenance=_provenance(found.count),
    )


def feasibility(quick: bool) -> list[Claim]:
    """Return whether all tasks are placed under the caps in every case."""
    found = survey(quick)
    total = found.count * len(READINGS)
    return [
        Claim(
            "Every policy places all m tasks, and no peer gets more than N_max",
            "required by Eqs. (1) and (12-2)",
            f"in {found.placed} of {total} assignments",
            found.placed == total,
            f"{len(READINGS)} policies on {found.count} markets; agrees if all do",
            "section 3.1",
            provenance=_provenance(found.count),
        )
    ]


def passes(quick: bool) -> list[Claim]:
    """Return how many passes the repaired ISGBMAT takes."""
    found = survey(quick)
    parts = found.passes / found.tasks
    within = bool(np.all(found.passes <= 2 * found.tasks - 1))
    single = run_isgbmat((1.0,), INSTANCES, INSTANCES, 0.99).passes
    return [
        Claim(
            "ISGBMAT, repaired, takes at most 2 m - 1 passes",
            "not said; m, as printed",
            f"{parts.mean():.3f} m on average, median {np.median(parts):.3f} m, at most"
            f" {parts.max():.3f} m; a single peer takes {single} for {INSTANCES} tasks",
            within and single == 2 * INSTANCES - 1,
            "every pass takes a task but those that end a round, no two of which follow each"
            " other. Agrees if no market takes more, and a single peer takes that many",
            "section 4.3",
            provenance=_provenance(found.count),
        )
    ]


def exactness(quick: bool) -> list[Claim]:
    """Return whether two other methods find the same maximum, and its price."""
    count = QUICK_SMALL if quick else SMALL
    differs, outside, benefits = 0.0, 0, []
    for seed in range(count):
        drawn = instance(seed, _SMALL_TASKS)
        best = largest_benefit(*drawn.arguments)
        benefits.append(best.benefit)
        benefit, price = assignment_program(*drawn.arguments)
        other = dynamic_programming(*drawn.arguments)
        for each in (benefit, other):
            differs = max(differs, abs(each / best.benefit - 1))
        outside += not best.next_price * (1 - 1e-7) <= price <= best.price * (1 + 1e-7)
    return [
        Claim(
            "The exact maximum is that of dynamic programming and of the linear program",
            "not said",
            f"benefits differ by {differs:.1e} at most; the program's dual is a clearing price in"
            f" {count - outside} of {count}",
            differs <= EQUAL and outside == 0,
            f"{count} markets of at most {_SMALL_TASKS} tasks. Agrees if benefits are equal to 1e-9"
            " and every dual lies between the values of the best task left over and of the last"
            " task sold, to 1e-7. Optimum: the mean of the largest benefits",
            "section 4.1",
            optimum=float(np.mean(benefits)),
            provenance=_provenance(count),
        )
    ]


def divisible(quick: bool) -> list[Claim]:
    """Return what the continuous relaxation says of whole tasks: their benefit and their price."""
    found = divided(*((QUICK_INSTANCES, QUICK_SMALL) if quick else (INSTANCES, SMALL)))
    count, solved = len(found.best), len(found.differs)
    rounding = _ROUNDING * found.best
    within = (found.above >= -rounding) & (found.above <= found.margin + rounding)
    parts, missed = found.above / found.best, found.missed[found.missed > 0]
    near = bool(found.differs.max() <= NEAR)
    words = ""
    if len(missed):
        words = (
            f"; in the others demand misses m, by {np.median(missed):.0f} in the median,"
            f" {missed.max()} at most"
        )
    return [
        Claim(
            "Tasks that can be divided are worth as much as whole ones or, by a margin, more",
            "not said; Eq. (9) divides them",
            f"in {int(within.sum())} of {count} markets; {parts.mean():.2%} more on average,"
            f" {np.median(parts):.4%} in the median, {parts.max():.1%} at most",
            bool(np.all(within)) and near,
            "margin: lowest clearing price times what the right to divide a task is worth to each"
            f" peer, about alpha / 8. Closed form; on {solved} markets Clarabel's benefit differs"
            f" from it by {found.differs.max():.0e} at most. Agrees if the benefit is in this range"
            f" in every market, to 1e-12, and Clarabel's the same to {NEAR:g}",
            "section 4.2, Eq. (9)",
            optimum=float(found.best.mean()),
            provenance=_provenance(count),
        ),
        Claim(
            "The price that sells all tasks if they can be divided sells whole ones too",
            "not said; p* of Eq. (9) is that of Eq. (12-1)",
            f"in {count - len(missed)} of {count} markets{words}",
            not len(missed),
            "Eq. (9) gives about half a task less than Eq. (12-1) before that is rounded down,"
            " so that roundings of several peers need not cancel. The price is the dual of the"
            f" relaxation; Clarabel's differs by {found.duals.max():.0e} of the largest base price"
            " at most. Agrees if it lies, in every market, between the values of the best task"
            " left over and of the last task sold",
            "section 4.2, Eqs. (9) and (12)",
            provenance=_provenance(count),
        ),
    ]


def gap_listing(quick: bool = False) -> Listing:
    """Return by how much each policy misses the largest benefit, as a table.

    Parameters
    ----------
    quick : bool
        100 markets instead of 1000.
    """
    found = survey(quick)
    lines = []
    for name, reading in READINGS.items():
        gaps = np.maximum(found.gaps[name], 0)
        lines.append(
            (
                name,
                reading.words,
                int(np.sum(gaps <= EQUAL)),
                float(gaps.mean()),
                float(np.median(gaps)),
                float(np.percentile(gaps, 95)),
                float(gaps.max()),
            )
        )
    columns = ("Mean gap", "Median", "95th percentile", "Worst")
    return Listing(
        "Benefit below the largest",
        (("Policy", ""), ("Reading", ""), ("Exact", ""), *((name, "%") for name in columns)),
        tuple(lines),
        f"{found.count} random markets, seeds 0 to {found.count - 1}.",
    )


def figures(quick: bool) -> list[Figure]:
    """Return the distributions of gaps and of passes."""
    found = survey(quick)
    part = np.arange(1, found.count + 1) / found.count
    inexact = [name for name in READINGS if name not in EXACT]
    terms = _provenance(found.count)
    drawn = f"{found.count} random markets\nalpha {terms['alpha']}; N_max {terms['N_max']}"
    return [
        Figure(
            "benefit-gaps",
            f"Benefit of each policy against the largest, {drawn}",
            "gap to the largest benefit [%]",
            "markets up to this gap, part",
            {name: (100 * np.sort(found.gaps[name]), part) for name in inexact},
            whole=True,
        ),
        Figure(
            "isgbmat-passes",
            f"Passes of ISGBMAT, repaired, {drawn}",
            "passes over tasks, S / m",
            "markets up to this, part",
            {"isgbmat": (np.sort(found.passes / found.tasks), part)},
            whole=True,
        ),
    ]


def _provenance(count: int) -> dict[str, str]:
    """Return what determines a measurement on random markets."""
    return {
        "seeds": f"0-{count - 1}",
        "alpha": "1e-4 to 0.5, log-uniform",
        "N_max": "none, lambda ceil(m / n) or any, of a third of the markets each",
    }


PARTS: dict[str, Callable[[bool], list[Claim]]] = {
    "gaps": policies,
    "feasibility": feasibility,
    "passes": passes,
    "exactness": exactness,
    "divisible tasks": divisible,
}
FIGURES: dict[str, Callable[[bool], list[Figure]]] = {"gaps": figures}
