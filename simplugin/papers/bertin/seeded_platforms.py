"""Methods on the platforms of `seeded_instances`, each beside the optimum."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simplugin.optimum.fair_sharing import fair_sharing
from simplugin.papers.bertin.churn import (
    NEAR,
    Calm,
    Comeback,
    DelayedMarket,
    begun_from,
    calm_down,
    recover,
)
from simplugin.papers.bertin.five_hosts import PROPORTIONAL
from simplugin.papers.bertin.seeded_instances import (
    SEED,
    SPREADS,
    Instance,
    instance,
    random_applications,
)
from simplugin.papers.statements import Quantity, resampled, unrefuted
from simplugin.pricing.changes import reachable
from simplugin.pricing.deployment import deploy
from simplugin.pricing.execution import negotiate
from simplugin.pricing.iteration import iterate, settled, throughput_error
from simplugin.pricing.method import Method
from simplugin.pricing.methods import POLICIES, AcceleratedMarket, Gradient
from simplugin.pricing.policies.acceleration import accelerated
from simplugin.pricing.policies.gradient import StepSizes
from simplugin.pricing.policies.market import MarketState
from simplugin.workloads.shared_deployment import SharedDeployment

Quantities = Mapping[str, Quantity | float]


# How near every throughput is to be to be as good as exact.
EXACT = 1e-6
# The step of quick runs meets every family and spread.
_PLATFORMS, _QUICK_STEP = 200, 17
# Rounds that each run gets, full and quick.
_SCALED_ROUNDS, _COLD_ROUNDS = (2000, 500), (400, 400)
_ADVERSE_ROUNDS, _CHURN_ROUNDS = (600, 300), (400, 100)
# Maximum number of agents of simulated platforms, full and quick.
_COLD_AGENTS, _ADVERSE_AGENTS, _CHURN_AGENTS = (1000, 150), (400, 60), (1000, 60)
# Of quick runs of churn, which take the first platforms small enough.
_CHURN_PLATFORMS = 6
# Age of a plan that late news may have [rounds].
_DELAY = 5
# Quantities of platforms.
_over = partial(resampled, over="platforms")
_worst = partial(unrefuted, worse=np.inf, over="platforms")
EVENTS = "busiest leaf host without a master leaves", "an application arrives"


class MethodResult(NamedTuple):
    """The result of a method on one problem.

    Attributes
    ----------
    near, exact : int or None
        The round from which every throughput stays within `NEAR` and `EXACT` of the optimum,
        and no resource is overloaded by more; None if it does not by the end.
    throughput_gap : float
        Largest relative error of a throughput at the end.
    worst : float
        Largest error, of a throughput relative to the optimum or overload, in the last half of
        the rounds: large for what diverges.
    date : float
        When every throughput had come within `NEAR` in the simulation [s]; NaN if it never did,
        or there was no simulation.
    bytes_sent : float
        Through the simulated network, by all, in all rounds [byte].
    apart : float
        Largest relative difference of a throughput between the simulation and the pure
        iteration; NaN without a simulation.
    """

    near: int | None
    exact: int | None
    throughput_gap: float
    worst: float
    date: float
    bytes_sent: float
    apart: float


def examine(
    instance: Instance,
    method: Method[Any],
    rounds: int,
    *,
    simulated: bool = True,
    start: Any = None,
) -> MethodResult:
    """Run a method on a problem, and compare with the optimum.

    Parameters
    ----------
    instance : Instance
        The problem.
    method : Method
        The method.
    rounds : int
        Of the pure iteration.
    simulated : bool
        True if actors on SimGrid run as well, for as many rounds as the pure iteration needs to
        be exact, and one more. Counts are those of the pure iteration, which `apart` compares.
    start : state, optional
        First state; the method's own start by default.
    """
    sharing = instance.sharing
    best = fair_sharing(sharing)
    pure = iterate(method, sharing, PROPORTIONAL, rounds, start=start, prices=False)
    error = throughput_error(pure, best.throughput)
    near, exact = settled(error, NEAR), settled(error, EXACT)
    date, sent, apart = np.nan, 0.0, np.nan
    if simulated:
        needed = rounds if exact is None else min(exact + 1, rounds)
        done = negotiate(
            instance.graph, sharing, method, needed, PROPORTIONAL, start=start
        ).trajectory
        sent = done.bytes_sent
        there = pure.throughput[: needed + 1]
        apart = float(np.max(np.abs(done.throughput - there) / np.maximum(there, 1e-300)))
        apart = apart if np.isfinite(apart) else np.inf
        reached = settled(throughput_error(done, best.throughput), NEAR)
        date = np.nan if reached is None else float(done.date[reached])
    return MethodResult(
        near,
        exact,
        float(np.abs(pure.throughput[-1] / best.throughput - 1).max()),
        float(error[rounds // 2 :].max()),
        date,
        sent,
        apart,
    )


def chosen(quick: bool) -> Iterator[Instance]:
    """Return all platforms, or a few of all kinds."""
    return map(instance, range(0, _PLATFORMS, _QUICK_STEP if quick else 1))


def scaled_rule(quick: bool) -> Quantities:
    """Measure on how many platforms Table 1's steps bring every throughput near the optimum."""
    rounds = _SCALED_ROUNDS[quick]
    near: dict[str, list[bool]] = {spread: [] for spread in SPREADS}
    for each in chosen(quick):
        found = examine(each, Gradient(), rounds, simulated=False)
        near[each.spread].append(found.near is not None)
    held = np.concatenate(list(near.values()))
    by_spread = ", ".join(f"{sum(hits)} of {len(hits)} {name}" for name, hits in near.items())
    note = f"pure iterations, {rounds} rounds; by spread of speeds {by_spread}"
    of = _provenance(quick, rounds)
    return {"share": _over(lambda few: float(np.mean(held[few])), len(held), note, provenance=of)}


def cold_start(policy: str, quick: bool) -> Quantities:
    """Measure how many rounds a method without steps takes from a cold start."""
    rounds = _COLD_ROUNDS[quick]
    found = [
        examine(
            each, POLICIES[policy](), rounds, simulated=each.sharing.n_agents <= _COLD_AGENTS[quick]
        )
        for each in chosen(quick)
    ]
    near, exact = (_known(getattr(each, name) for each in found) for name in ("near", "exact"))
    gap, worst_gap = _median_worst(each.throughput_gap for each in found)
    of = _provenance(quick, rounds)
    shown = (
        f"{_reached((each.exact for each in found), rounds)}; the worst throughput of a platform"
        f" ends {gap:.1g} off in the median and {worst_gap:.1g} at worst"
    )
    reached = _reached((each.near for each in found), rounds)
    count, late = len(found), max(each.worst for each in found)
    return {
        "near": _over(lambda few: float(np.median(near[few])), count, _acted(found), provenance=of),
        "near.worst": _worst(max(near), samples=count, quick=quick, note=reached, provenance=of),
        "exact": _over(lambda few: float(np.median(exact[few])), count, shown, provenance=of),
        "late_error": _worst(late, samples=count, quick=quick, provenance=of),
        "apart": Quantity(_apart(found), provenance=of),
    }


def bad_start(policy: str, quick: bool) -> Quantities:
    """Measure how markets do from Table 1's rates and prices, which are far from all markets'."""
    method = POLICIES[policy]()
    found = []
    for each in chosen(quick):
        begun: Any = _reported_start(each.sharing)
        small = each.sharing.n_agents <= _ADVERSE_AGENTS[quick]
        if isinstance(method, AcceleratedMarket):
            begun = accelerated(begun)
        rounds = _ADVERSE_ROUNDS[quick]
        found.append(examine(each, method, rounds, simulated=small, start=begun))
    return _adverse(found, _acted(found) + "; ", quick)


def late_news(quick: bool) -> Quantities:
    """Measure how markets do where each slot acts on a plan that is up to five rounds old."""
    method = DelayedMarket(_DELAY)
    rounds = _ADVERSE_ROUNDS[quick]
    found = [examine(each, method, rounds, simulated=False) for each in chosen(quick)]
    return _adverse(found, f"pure iterations with relaxation {method.relaxation:g}; ", quick)


def churn(policy: str, quick: bool) -> Quantities:
    """Measure how soon a method without steps is back after a leave and an arrival."""
    rounds = _CHURN_ROUNDS[quick]
    method = POLICIES[policy]()
    found: dict[str, list[Comeback | None]] = {event: [] for event in EVENTS}
    for each in _small(_CHURN_AGENTS[quick]) if quick else chosen(False):
        few = each.sharing.n_agents <= _CHURN_AGENTS[quick]
        before = calm_down(each.sharing, method, rounds)
        for event, after in zip(EVENTS, (without_leaf(before), with_arrival(each)), strict=True):
            back = None
            if after is not None:
                back = recover(each.graph, before, after, method, rounds, simulated=few)
            found[event].append(back)
    of = _provenance(quick, rounds)
    if quick:
        of["platforms"] = f"the first {_CHURN_PLATFORMS} of at most {_CHURN_AGENTS[quick]} agents"
    notes, counts, apart = [], [], 0.0
    for event, every in found.items():
        backs = [back for back in every if back is not None]
        median, worst = _median_worst(back.rounds for back in backs)
        acted = [back for back in backs if not np.isnan(back.apart)]
        seconds = [np.inf if np.isnan(back.seconds) else back.seconds for back in acted]
        apart = max([apart, *(back.apart for back in acted)])
        counts.append([np.nan if back is None else _known([back.rounds])[0] for back in every])
        notes.append(
            f"{event}: back after {_written(median, rounds)} rounds (median),"
            f" {_written(worst, rounds)} (worst) of {len(backs)} platforms; as actors on"
            f" {len(acted)} of them after {np.median(seconds):.2g} s (median)"
        )
    table = np.array(counts)
    return {
        "rounds": _over(
            lambda few: float(np.max(np.nanmedian(table[:, few], axis=1))),
            table.shape[1],
            "; ".join(notes),
            provenance=of,
        ),
        "apart": Quantity(apart, provenance=of),
    }


def without_leaf(before: Calm) -> SharedDeployment | None:
    """Return the deployment without the busiest host that has no children.

    Returns
    -------
    SharedDeployment or None
        None where all hosts that compute are masters' or forward data.
    """
    sharing = before.sharing
    load = sharing.host_load(before.best.rate)
    load[sharing.host[sharing.parent[sharing.parent >= 0]]] = 0.0
    load[sharing.host[sharing.masters]] = 0.0
    leaf = int(np.argmax(load))
    if load[leaf] <= 0:
        return None
    there = np.ones(sharing.n_applications, dtype=bool)
    left, _, _ = reachable(sharing, there, {sharing.hosts[leaf]})
    return left


def with_arrival(each: Instance) -> SharedDeployment:
    """Return the deployment with one more application of the same kind."""
    generator = np.random.default_rng([SEED, int(each.name.split("-")[0]), 1])
    first = len(each.applications)
    new = random_applications(each.graph, 1, SPREADS[each.spread], generator, first)
    return deploy(each.graph, (*each.applications, *new))


def _small(most_agents: int) -> Iterator[Instance]:
    """Return the first platforms that are small enough."""
    every = map(instance, range(_PLATFORMS))
    return islice((e for e in every if e.sharing.n_agents <= most_agents), _CHURN_PLATFORMS)


def _adverse(found: Sequence[MethodResult], how: str, quick: bool) -> Quantities:
    """Return the largest late error, with the rounds to 1 % in its note."""
    rounds = _ADVERSE_ROUNDS[quick]
    median, _ = _median_worst(each.near for each in found)
    note = (
        f"{how}within 1 % after {_written(median, rounds)} rounds (median),"
        f" {_reached((each.near for each in found), rounds)}"
    )
    worst, of = max(each.worst for each in found), _provenance(quick, rounds)
    late = _worst(worst, samples=len(found), quick=quick, note=note, provenance=of)
    return {"late_error": late}


def _reported_start(sharing: SharedDeployment) -> MarketState:
    """Return the state with Table 1's starting values, for possible rates only."""
    steps = StepSizes()
    return begun_from(
        sharing,
        np.where(sharing.computes, steps.start_rate, 0.0),
        np.full(sharing.n_hosts, steps.start_host_price),
        np.full(sharing.n_links, steps.start_link_price),
    )


def _known(values: Iterable[float | None]) -> NDArray[np.float64]:
    """Return numbers, infinite where there is none."""
    return np.array([np.inf if value is None else value for value in values], dtype=np.float64)


def _median_worst(values: Iterable[float | None]) -> tuple[float, float]:
    """Return the median and the worst of numbers, None counting as infinite."""
    known = _known(values)
    return float(np.median(known)), float(np.max(known))


def _written(number: float, rounds: int) -> str:
    """Format a number of rounds; infinite if the maximum was not enough."""
    return f"{number:g}" if np.isfinite(number) else f"over {rounds}"


def _reached(counts: Iterable[int | None], rounds: int) -> str:
    """Write the largest count, and on how many platforms there is none."""
    listed = list(counts)
    known = [count for count in listed if count is not None]
    return (
        f"{max(known, default=0)} rounds at most on {len(known)} of {len(listed)} platforms, over"
        f" {rounds} on {len(listed) - len(known)}"
    )


def _acted(found: Sequence[MethodResult]) -> str:
    """Write on how many platforms actors ran, and in what time."""
    acted = [each for each in found if not np.isnan(each.apart)]
    if not acted:
        return "pure iterations"
    near = [np.inf if np.isnan(each.date) else each.date for each in acted]
    sent = [each.bytes_sent for each in acted]
    return (
        f"actors on SimGrid ran {len(acted)} of {len(found)} platforms, within 1 % after"
        f" {np.median(near):.2g} s and {np.median(sent):.2g} bytes to 1e-6 (medians)"
    )


def _apart(found: Sequence[MethodResult]) -> float:
    """Return the largest difference between actors and pure iterations; 0 if no actors ran."""
    return max((each.apart for each in found if not np.isnan(each.apart)), default=0.0)


def _provenance(quick: bool, rounds: int) -> dict[str, Any]:
    """Return what determines the measurements."""
    step = f", every {_QUICK_STEP}th" if quick else ""
    platforms = f"instances 0 to {_PLATFORMS - 1}{step}"
    return {"platforms": platforms, "seed": SEED, "rounds": rounds}
