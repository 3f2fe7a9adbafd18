"""The experiments of the report's section 5: what its figures show, measured."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from simplugin.optimum.fair_sharing import fair_sharing
from simplugin.pricing.five_hosts import (
    APPLICATIONS,
    REPORTED,
    RING,
    TREE,
    all_trees,
    five_hosts,
    side_by_side,
)
from simplugin.pricing.gradient import Gradient, Reading, Steps
from simplugin.pricing.trajectory import Trajectory, iterate, objective_error, settled
from simplugin.workloads.sharing import AlphaFair

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

PROPORTIONAL = AlphaFair(1.0)
# Figure 4's: its caption has gamma_lambda twice, of which the second is gamma_mu.
SMALL = Steps(utility=1.0, host=5e-4, link=5e-5)
# Of the objective: 5 %, 1 %, 0.5 %.
LEVELS = (0.05, 0.01, 0.005)
# Up to where the report counts.
ROUNDS = 2000
# Readings by what they say, for sensitivities.
READINGS = {
    "heard one round late": REPORTED,
    "heard in the same round": Reading(),
    "managers see new rates": Reading(seidel=True),
    "late, (18) without the count": Reading(late=True, counted=False),
}


def provenance(reading: Reading = REPORTED, **more: Any) -> dict[str, Any]:
    """Return what determines an experiment."""
    chosen = [name for name, known in READINGS.items() if known == reading]
    platform = "five hosts, edges " + " ".join(TREE)
    done = "pure iteration"
    return {"platform": platform, "by": done, "reading": "; ".join(chosen), **more}


@lru_cache(maxsize=8)
def run(
    rounds: int,
    *,
    scaled: bool = True,
    steps: Steps | None = None,
    reading: Reading = REPORTED,
    rates: bool = False,
) -> Trajectory:
    """Run the iteration on the tree chosen for Figure 2.

    Parameters
    ----------
    rounds : int
        How many rounds to run.
    scaled : bool
        Whether prices are scaled, Eqs. (17) and (18).
    steps : Steps, optional
        Table 1's otherwise.
    reading : Reading
        Of the equations.
    rates : bool
        Whether to keep the rates of each round.
    """
    method = Gradient(scaled, steps or Steps(), reading)
    return iterate(method, five_hosts(), PROPORTIONAL, rounds, rates=rates)


def optimum() -> tuple[float, Floats]:
    """Return the best sum of logarithms, and each application's throughput there [tasks/s]."""
    return _best(TREE)


def error(trajectory: Trajectory) -> Floats:
    """Return the report's measure, ``|sum log rho - best| / |best|``, of every round."""
    return objective_error(trajectory, five_hosts(), PROPORTIONAL, optimum()[0])


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


@dataclass(frozen=True, eq=False)
class Counts:
    """Rounds until the objective stays within 5 %, 1 % and 0.5 % on several platforms.

    Attributes
    ----------
    rounds : float64, shape (n_platforms, 3)
        Infinite where 2,000 rounds are not enough.
    """

    rounds: Floats

    def spread(self, level: int) -> str:
        """Say how the count of a level spreads, in words."""
        column = self.rounds[:, level]
        reached = column[np.isfinite(column)]
        words = f"{reached.min():.0f} to {reached.max():.0f}"
        if np.isfinite(np.median(column)):
            words += f" (median {np.median(column):.0f})"
        missed = len(column) - len(reached)
        return words + (f" or, on {missed}, over {ROUNDS}" if missed else "")


def throughputs_on(
    platforms: Sequence[Sequence[str]], reading: Reading, rounds: int, *, scaled: bool = True
) -> Floats:
    """Return the throughputs of an iteration on several platforms.

    Parameters
    ----------
    platforms : sequence of sequence of str
        The edges of each.
    reading : Reading
        Of the equations.
    rounds : int
        How many rounds to run.
    scaled : bool
        Whether prices are scaled.

    Returns
    -------
    float64, shape (rounds + 1, n_platforms, 3)
        [tasks/s].
    """
    together = side_by_side([five_hosts(edges) for edges in platforms])
    method = Gradient(scaled, Steps(), reading)
    trajectory = iterate(method, together, PROPORTIONAL, rounds, prices=False)
    return trajectory.throughput.reshape(rounds + 1, len(platforms), len(APPLICATIONS))


def counts(platforms: Sequence[Sequence[str]], reading: Reading = REPORTED) -> Counts:
    """Count rounds of the scaled version on several platforms, each against its own optimum."""
    throughput = throughputs_on(platforms, reading, ROUNDS)
    best = np.array([_best(tuple(edges))[0] for edges in platforms])
    off = np.abs(PROPORTIONAL.value(throughput).sum(axis=2) / best - 1)
    found = [[settled(column, level) for level in LEVELS] for column in off.T]
    return Counts(
        np.array([[np.inf if count is None else count for count in row] for row in found])
    )


def worst_throughputs(platforms: Sequence[Sequence[str]], reading: Reading = REPORTED) -> Floats:
    """Return how far the worst throughput of each platform is off after 2,000 rounds."""
    last = throughputs_on(platforms, reading, ROUNDS)[-1]
    best = np.array([_best(tuple(edges))[1] for edges in platforms])
    return np.asarray(np.abs(last / best - 1).max(axis=1))


@lru_cache(maxsize=256)
def _best(edges: tuple[str, ...]) -> tuple[float, Floats]:
    """Return the best sum of logarithms on a platform, and the throughputs there."""
    best = fair_sharing(five_hosts(edges))
    return float(best.objective), best.throughput


@lru_cache(maxsize=8)
def tree_counts(reading: Reading = REPORTED) -> Counts:
    """Count rounds on all 125 trees."""
    return counts(all_trees(), reading)


def ring_counts(reading: Reading) -> Integers:
    """Count rounds on the ring, shape (3,)."""
    return np.asarray(counts([RING], reading).rounds[0], dtype=np.int64)
