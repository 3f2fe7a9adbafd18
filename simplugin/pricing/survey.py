"""How a method fares on many problems, beside the optimum of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from simplugin.optimum.fair_sharing import fair_sharing
from simplugin.pricing.agents.negotiation import negotiate
from simplugin.pricing.trajectory import iterate, settled, throughput_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from simplugin.pricing.instances import Instance
    from simplugin.pricing.trajectory import Method, State
    from simplugin.workloads.sharing import AlphaFair

# How near every throughput is to be: within 1 %, and as good as exact.
NEAR, EXACT = 0.01, 1e-6


@dataclass(frozen=True)
class Finding:
    """What a method came to on one problem.

    Attributes
    ----------
    instance : str
        Name of the problem.
    agents : int
        How many agents negotiated.
    near, exact : int or None
        The round from which every throughput stays within `NEAR` and `EXACT` of the optimum,
        and no resource is overloaded by more; None if it does not by the end.
    objective_gap : float
        Of the optimum over the objective at the end, per unit of weight.
    throughput_gap : float
        Largest relative error of a throughput at the end.
    overload : float
        Largest at the end, relative to capacity.
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

    instance: str
    agents: int
    near: int | None
    exact: int | None
    objective_gap: float
    throughput_gap: float
    overload: float
    worst: float
    date: float
    bytes_sent: float
    apart: float


def examine(
    instance: Instance,
    method: Method[Any],
    utility: AlphaFair,
    rounds: int,
    *,
    simulated: bool = True,
    start: State | None = None,
) -> Finding:
    """Run a method on a problem, and compare with the optimum.

    Parameters
    ----------
    instance : Instance
        The problem.
    method : Method
        What a round does.
    utility : AlphaFair
        Of every application.
    rounds : int
        How many rounds the pure iteration runs.
    simulated : bool
        Whether actors on SimGrid run as well, for as many rounds as the pure iteration needs to
        be exact, and one more. Counts are those of the pure iteration, which `apart` compares.
    start : State, optional
        Where to begin; the method's own start otherwise.
    """
    best = fair_sharing(instance.sharing, utility.alpha)
    pure = iterate(method, instance.sharing, utility, rounds, start=start, prices=False)
    error = throughput_error(pure, best.throughput)
    near, exact = settled(error, NEAR), settled(error, EXACT)
    date, sent, apart = np.nan, 0.0, np.nan
    if simulated:
        needed = rounds if exact is None else min(exact + 1, rounds)
        done = negotiate(
            instance.graph, instance.sharing, method, needed, utility, start=start
        ).trajectory
        sent = done.bytes_sent
        there = pure.throughput[: needed + 1]
        apart = float(np.max(np.abs(done.throughput - there) / np.maximum(there, 1e-300)))
        apart = apart if np.isfinite(apart) else np.inf
        reached = settled(throughput_error(done, best.throughput), NEAR)
        date = np.nan if reached is None else float(done.date[reached])
    last = pure.throughput[-1]
    objective = float(utility.objective(last, instance.sharing.weight))
    return Finding(
        instance.name,
        instance.sharing.n_agents,
        near,
        exact,
        (best.objective - objective) / float(instance.sharing.weight.sum()),
        float(np.abs(last / best.throughput - 1).max()),
        float(pure.overload[-1]),
        float(error[rounds // 2 :].max()),
        date,
        sent,
        apart,
    )


def median_worst(values: Iterable[float | None]) -> tuple[float, float]:
    """Return the median and the worst of numbers, None counting as infinite."""
    known = [np.inf if value is None else float(value) for value in values]
    return float(np.median(known)), float(np.max(known))


def spread(findings: Sequence[Finding], name: str) -> tuple[float, float]:
    """Return the median and the worst of one column of findings."""
    return median_worst(getattr(finding, name) for finding in findings)


def written(number: float, rounds: int) -> str:
    """Write a number of rounds, of so many at most; infinite where they were not enough."""
    return f"{number:g}" if np.isfinite(number) else f"over {rounds}"
