"""Runs on the five hosts of the report's section 5, as pure iterations and as actors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplugin.optimum.fair_sharing import fair_sharing
from simplugin.platforms.graphs import Graph
from simplugin.platforms.topologies.shapes import (
    FIVE_HOSTS,
    FIVE_HOSTS_BANDWIDTH,
    FIVE_HOSTS_SPEED,
    FIVE_HOSTS_TREE,
    five_hosts,
)
from simplugin.pricing.changes import CapacityChange, ProblemInterval, intervals
from simplugin.pricing.deployment import deploy
from simplugin.pricing.execution import PeriodicRun, PeriodicSettings, negotiate, simulate_periodic
from simplugin.pricing.iteration import Trajectory, iterate, objective_error, settled
from simplugin.pricing.method import Method
from simplugin.pricing.methods import Gradient
from simplugin.pricing.policies.gradient import GradientAssumptions, StepSizes
from simplugin.workloads import AlphaFair
from simplugin.workloads.applications import FIVE_HOSTS_APPLICATIONS
from simplugin.workloads.shared_deployment import SharedDeployment

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


PROPORTIONAL = AlphaFair(1.0)
# Of every link [s]; the report gives none.
LATENCY = 1e-3
# Not a tree but a ring with a host beside: where throughputs are known in the same round, the
# count nearest to 83.
RING = ("AB", "AC", "CD", "BD", "BE")
# The reading of the report's experiments: an agent forwards the throughput that it last received.
REPORTED = GradientAssumptions(late=True)
READINGS = {
    "throughput one round late": REPORTED,
    "throughput of the same round": GradientAssumptions(),
    "managers see new rates": GradientAssumptions(seidel=True),
    "late, (18) without the count": GradientAssumptions(late=True, counted=False),
}
# Figure 4's: its caption has gamma_lambda twice, of which the second is gamma_mu.
SMALL = StepSizes(utility=1.0, host=5e-4, link=5e-5)
# Distances of the objective to its optimum of which the report counts rounds, and up to where.
LEVELS = (0.05, 0.01, 0.005)
ROUNDS = 2000

# A host fails and comes back, a link loses most of its bandwidth, an application arrives, a host
# loses most of its speed, the application leaves [s].
CHANGES = (
    CapacityChange(4.0, "E", 0.0),
    CapacityChange(8.0, "E", 5e8),
    CapacityChange(12.0, "A->B", 1e8),
    CapacityChange(20.0, "B", 1e8),
)
ARRIVAL, DEPARTURE, UNTIL = 16.0, 24.0, 28.0
# Between two decisions of a role [s]: a message takes a tenth of it.
PERIOD = 0.01
# What determines runs, and those through changes.
PLATFORM = "five hosts, edges " + " ".join(FIVE_HOSTS_TREE)
CHANGED = {
    "platform": PLATFORM,
    "latency": LATENCY,
    "period": PERIOD,
    "changes": [f"{each.date:g} s: {each.resource} {each.capacity:g}" for each in CHANGES],
    "application 3": f"from {ARRIVAL:g} s to {DEPARTURE:g} s",
}
# Of the phases at which roles decide.
SEEDS, QUICK_SEEDS = range(10), range(2)
# Without rounds a market whose messages are old must move slowly.
RELAXATION = 0.5


@lru_cache(maxsize=256)
def sharing(edges: tuple[str, ...] = FIVE_HOSTS_TREE) -> SharedDeployment:
    """Return the report's three applications, each with the breadth-first tree of its master."""
    return deploy(five_hosts(edges), FIVE_HOSTS_APPLICATIONS)


@lru_cache(maxsize=256)
def optimum(edges: tuple[str, ...] = FIVE_HOSTS_TREE) -> tuple[float, Floats]:
    """Return the best sum of logarithms, and each application's throughput there [tasks/s]."""
    best = fair_sharing(sharing(edges))
    return float(best.objective), best.throughput


@lru_cache(maxsize=8)
def run(
    rounds: int,
    *,
    scaled: bool = True,
    steps: StepSizes | None = None,
    reading: GradientAssumptions = REPORTED,
    rates: bool = False,
) -> Trajectory:
    """Run the report's iteration.

    Parameters
    ----------
    rounds : int
        Number of rounds.
    scaled : bool
        True for prices by Eqs. (17) and (18), False for (14) and (15).
    steps : StepSizes, optional
        Table 1's by default.
    reading : GradientAssumptions
        Of the equations.
    rates : bool
        True to keep the rates of each round.
    """
    method = Gradient(scaled, steps or StepSizes(), reading)
    return iterate(method, sharing(), PROPORTIONAL, rounds, rates=rates)


def negotiated(method: Method[Any], rounds: int) -> Trajectory:
    """Run a method as actors on SimGrid."""
    graph = five_hosts(latency=LATENCY)
    return negotiate(graph, sharing(), method, rounds, PROPORTIONAL).trajectory


def error(trajectory: Trajectory) -> Floats:
    """Return the report's measure, ``|sum log rho - best| / |best|``, of every round."""
    return objective_error(trajectory, sharing(), PROPORTIONAL, optimum()[0])


def averaged(values: Floats, length: int = 20) -> Floats:
    """Return the means of as many values each from round 1 on, as Figure 9 has them."""
    whole = (len(values) - 1) // length * length
    return np.asarray(values[1 : 1 + whole].reshape(-1, length).mean(axis=1))


def falls(throughput: Floats, share: float = 0.2) -> Integers:
    """Return the rounds in which a throughput loses more than a share of itself.

    Parameters
    ----------
    throughput : float64, shape (n_rounds + 1, n_applications)
        [tasks/s].
    share : float
        Of its value one round before.
    """
    lost = throughput[1:] < throughput[:-1] * (1 - share)
    return np.flatnonzero(lost.any(axis=1)) + 1


def changes(throughput: Floats) -> Floats:
    """Return the largest relative change of a throughput in each round from round 1 on."""
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.abs(throughput[1:] / throughput[:-1] - 1)
    return np.asarray(np.nan_to_num(relative, nan=0.0).max(axis=1))


def all_trees() -> tuple[tuple[str, ...], ...]:
    """Return the edges of each of the 125 trees over the five hosts, by their Prüfer sequences."""
    import networkx

    trees = map(networkx.from_prufer_sequence, product(range(len(FIVE_HOSTS)), repeat=3))
    return tuple(
        tuple("".join(FIVE_HOSTS[end] for end in sorted(edge)) for edge in tree.edges)
        for tree in trees
    )


def throughputs_on(
    platforms: Sequence[Sequence[str]],
    reading: GradientAssumptions,
    rounds: int,
    *,
    scaled: bool = True,
) -> Floats:
    """Return the throughputs of an iteration on several platforms, given by their edges.

    Returns
    -------
    float64, shape (rounds + 1, n_platforms, 3)
        [tasks/s].
    """
    method = Gradient(scaled, reading=reading)
    trajectory = iterate(method, _side_by_side(platforms), PROPORTIONAL, rounds, prices=False)
    return trajectory.throughput.reshape(rounds + 1, len(platforms), -1)


def _side_by_side(platforms: Sequence[Sequence[str]]) -> SharedDeployment:
    """Return platforms, given by their edges, as one problem of separate parts."""
    places = range(len(platforms))
    ends = [
        [len(FIVE_HOSTS) * place + FIVE_HOSTS.index(end) for end in edge]
        for place, edges in zip(places, platforms, strict=True)
        for edge in edges
    ]
    hosts = [f"{place}:{host}" for place in places for host in FIVE_HOSTS]
    graph = Graph.duplex(
        hosts,
        np.full(len(hosts), FIVE_HOSTS_SPEED),
        np.array(ends),
        np.full(len(ends), FIVE_HOSTS_BANDWIDTH),
    )
    applications = [
        replace(each, name=f"{place}:{each.name}", master=f"{place}:{each.master}")
        for place in places
        for each in FIVE_HOSTS_APPLICATIONS
    ]
    return deploy(graph, applications)


def spread(counts: Floats) -> str:
    """Return the spread of the counts of some platforms as text."""
    reached = counts[np.isfinite(counts)]
    words = f"{reached.min():.0f} to {reached.max():.0f}"
    if np.isfinite(np.median(counts)):
        words += f" (median {np.median(counts):.0f})"
    missed = len(counts) - len(reached)
    return words + (f" or, on {missed}, over {ROUNDS}" if missed else "")


def counts(platforms: Sequence[Sequence[str]], reading: GradientAssumptions = REPORTED) -> Floats:
    """Count rounds of the scaled version until the objective stays within each of `LEVELS`.

    Returns
    -------
    float64, shape (n_platforms, 3)
        Of each platform against its own optimum; infinite where 2,000 rounds are not enough.
    """
    throughput = throughputs_on(platforms, reading, ROUNDS)
    best = np.array([optimum(tuple(edges))[0] for edges in platforms])
    off = np.abs(PROPORTIONAL.value(throughput).sum(axis=2) / best - 1)
    found = [[settled(column, level) for level in LEVELS] for column in off.T]
    return np.array([[np.inf if count is None else count for count in row] for row in found])


def live_through(method: Method[Any], seed: int = 0) -> tuple[PeriodicRun, list[ProblemInterval]]:
    """Run actors without rounds through `CHANGES`; return the run and its intervals."""
    *stay, comes = FIVE_HOSTS_APPLICATIONS
    applications = (*stay, replace(comes, start=ARRIVAL, end=DEPARTURE))
    graph = five_hosts(latency=LATENCY)
    deployed = deploy(graph, applications)
    kept = simulate_periodic(
        graph,
        applications,
        deployed,
        method,
        PROPORTIONAL,
        PeriodicSettings(UNTIL, PERIOD),
        changes=CHANGES,
        seed=seed,
    )
    return kept, intervals(deployed, applications, CHANGES, UNTIL)
