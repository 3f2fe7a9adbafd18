"""Past the report: its open problem, applications whose throughputs differ by magnitudes.

Measured over seeded platforms, `simplugin.pricing.instances`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from simplugin.claims import Claim
from simplugin.optimum.fair_sharing import fair_sharing
from simplugin.pricing.gradient import Gradient
from simplugin.pricing.instances import SEED, SPREADS, instance
from simplugin.pricing.policies import POLICIES
from simplugin.pricing.survey import examine, spread, written
from simplugin.pricing.trajectory import iterate, settled, throughput_error
from simplugin.workloads import AlphaFair

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from simplugin.optimum.fair_sharing import FairShare
    from simplugin.pricing.instances import Instance
    from simplugin.pricing.survey import Finding
    from simplugin.pricing.trajectory import Method, Trajectory

PROPORTIONAL = AlphaFair(1.0)
# Policies without steps: what they are called, and whether actors can run them.
METHODS = {
    "market_accelerated": ("accelerated markets", True),
    "market": ("markets", True),
}
# Of how many platforms; the step of the quick run meets every family and spread.
_ALL, _QUICK_STEP = 200, 17
# Actors run platforms of so many agents at most, in the quick run and in the full one, of which
# this is what takes long.
_QUICK_AGENTS, _MOST_AGENTS = 150, 1000
# How far actors and pure iterations may be apart, relative to a throughput.
_SAME = 1e-9
# How many rounds each method gets, and what is asked of the one without steps: rounds until
# every throughput is within 1 % (median, worst), and within 1e-6 (median).
_SCALED_ROUNDS, _MARKET_ROUNDS = 2000, 400
_MEDIAN, _WORST, _MEDIAN_EXACT = 25, 150, 60


def scaled_rule(quick: bool) -> list[Claim]:
    """Return on how many platforms Table 1's steps bring every throughput near the optimum."""
    rounds = 500 if quick else _SCALED_ROUNDS
    near: dict[str, list[bool]] = {spread: [] for spread in SPREADS}
    for each, best, trajectory in runs(Gradient(), rounds, quick):
        error = throughput_error(trajectory, best.throughput)
        near[each.spread].append(settled(error, 0.01) is not None)
    count, total = _count(near)
    by_spread = ", ".join(f"{sum(hits)} of {len(hits)} {name}" for name, hits in near.items())
    return [
        Claim(
            "The scaling may not do where throughputs are of different orders of magnitude",
            "may not",
            f"does on {count} of {total} platforms",
            count < total / 2,
            "pure iterations: platforms on which every throughput is within 1 % after"
            f" {rounds} rounds, with the steps and starting values of Table 1, by spread of"
            f" speeds: {by_spread}; agrees if fewer than half",
            "section 6",
            provenance=_provenance(quick, rounds),
        )
    ]


def accelerated(quick: bool) -> list[Claim]:
    """Return how many rounds the accelerated method without steps takes."""
    return _without_steps("market_accelerated", quick)


def local(quick: bool) -> list[Claim]:
    """Return how many rounds the method without steps takes, all of it local."""
    return _without_steps("market", quick)


def _without_steps(policy: str, quick: bool) -> list[Claim]:
    """Return how a method without steps fares on the platforms."""
    what, simulated = METHODS[policy]
    most = _QUICK_AGENTS if quick else _MOST_AGENTS
    found = [
        examine(
            each,
            POLICIES[policy](),
            PROPORTIONAL,
            _MARKET_ROUNDS,
            simulated=simulated and each.sharing.n_agents <= most,
        )
        for each in chosen(quick)
    ]
    return [_fast(what, found, quick), _exact(what, found, quick)]


def _fast(what: str, found: Sequence[Finding], quick: bool) -> Claim:
    """Return how soon every throughput is within 1 %."""
    median, worst = spread(found, "near")
    return Claim(
        f"A scaling of each update to its rate would ensure fast convergence everywhere: {what}",
        "still investigated",
        f"{written(median, _MARKET_ROUNDS)} rounds (median),"
        f" {written(worst, _MARKET_ROUNDS)} (worst)",
        median <= _MEDIAN and worst <= _WORST and not _apart(found) > _SAME,
        f"no step sizes, a cold start, the two sweeps before the first round not counted,"
        f" {len(found)} platforms; from then on every"
        " throughput is within 1 % and no resource overloaded by more; agrees up to"
        f" {_MEDIAN} rounds in the median and {_WORST} in the worst. {_by_actors(found)}",
        "section 6",
        provenance=_provenance(quick, _MARKET_ROUNDS),
    )


def _exact(what: str, found: Sequence[Finding], quick: bool) -> Claim:
    """Return how near it gets."""
    median, _ = spread(found, "exact")
    gap, worst_gap = spread(found, "throughput_gap")
    short, worst_short = spread(found, "objective_gap")
    late = float(np.max([each.worst for each in found]))
    diverged = sum(not each.worst < 1 for each in found)
    return Claim(
        f"More rounds bring every throughput as near to the optimum as one likes: {what}",
        "arbitrarily near",
        f"1e-6 in {written(median, _MARKET_ROUNDS)} rounds (median)",
        median <= _MEDIAN_EXACT and diverged == 0,
        f"{_worst(found, 'exact')} of {len(found)} platforms; after"
        f" {_MARKET_ROUNDS} rounds the worst throughput of a platform is {gap:.1g} off in the"
        f" median and {worst_gap:.1g} at worst, and the objective {short:.1g} and"
        f" {worst_short:.1g} short, per unit of weight; {diverged} diverge, the largest error in"
        f" the last half of the rounds is {late:.1g}; agrees up to {_MEDIAN_EXACT} rounds in the"
        " median if none diverges",
        "section 5.3",
        provenance=_provenance(quick, _MARKET_ROUNDS),
    )


def _worst(found: Sequence[Finding], column: str) -> str:
    """Say how many rounds the worst took, and how many were not there at the end."""
    known = [rounds for each in found if (rounds := getattr(each, column)) is not None]
    missing = len(found) - len(known)
    most = f"{max(known, default=0)} rounds at most"
    return f"{most}, not by then on {missing}," if missing else most + ", on all"


def _by_actors(found: Sequence[Finding]) -> str:
    """Say how far actors on SimGrid did the same."""
    simulated = [each for each in found if not np.isnan(each.apart)]
    if not simulated:
        return "Pure iterations"
    near = [np.inf if np.isnan(each.date) else each.date for each in simulated]
    return (
        f"Actors on SimGrid ran {len(simulated)} of them: throughputs differ by"
        f" {_apart(found):.1g} at most, and are within 1 % after {np.median(near):.2g} s (median)"
    )


def _apart(found: Sequence[Finding]) -> float:
    """Return how far actors and pure iterations are apart; 0 if no actors ran."""
    return max((each.apart for each in found if not np.isnan(each.apart)), default=0.0)


def chosen(quick: bool) -> Iterator[Instance]:
    """Yield the platforms to be looked at: all, or a few of all kinds."""
    for number in range(0, _ALL, _QUICK_STEP if quick else 1):
        yield instance(number)


def runs(
    method: Method[Any], rounds: int, quick: bool
) -> Iterator[tuple[Instance, FairShare, Trajectory]]:
    """Yield platforms, their optima, and what a method does on them.

    Parameters
    ----------
    method : Method
        From its own start.
    rounds : int
        How many.
    quick : bool
        Whether a few platforms are enough.
    """
    for each in chosen(quick):
        best = fair_sharing(each.sharing)
        yield each, best, iterate(method, each.sharing, PROPORTIONAL, rounds, prices=False)


def _count(near: Mapping[str, list[bool]]) -> tuple[int, int]:
    """Return how many are near, and how many there are."""
    return sum(map(sum, near.values())), sum(map(len, near.values()))


def _provenance(quick: bool, rounds: int) -> dict[str, Any]:
    """Return what determines the measurements."""
    return {
        "platforms": f"instances 0 to {_ALL - 1}" + f", every {_QUICK_STEP}th" * quick,
        "seed": SEED,
        "rounds": rounds,
    }


PARTS: dict[str, Callable[[bool], list[Claim]]] = {
    "platforms, scaled rule": scaled_rule,
    "platforms, accelerated markets": accelerated,
    "platforms, markets": local,
}
