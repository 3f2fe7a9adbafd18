"""Throughputs of one setting compared with those of another, over many trees."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from simplugin.core.elementary import exp, log, log1p
from simplugin.core.errors import WorkloadError
from simplugin.papers.beaumont.campaign import PolicySetting, ThroughputMeasurement, measurements
from simplugin.papers.beaumont.instances import SEEDS
from simplugin.papers.statements import Quantity, resampled

Floats = NDArray[np.float64]


# Least number of nodes of the trees that section 6.2.2 calls large.
LARGE = 50
# A throughput is near zero if that of LP is so many times as high; two throughputs are the same
# within this share.
NEAR_ZERO, SAME = 1000.0, 0.05


@dataclass(frozen=True, eq=False)
class Ratios:
    """Ratios of two throughputs over many trees.

    Attributes
    ----------
    log : float64, shape (n_trees,)
        Natural logarithm of the ratio, the paper's logarithmic deviation. Infinite where the
        lower throughput is 0, minus infinity where the upper one is, NaN where both are.
    n_hosts : int64, shape (n_trees,)
        Size of each tree.
    """

    log: Floats
    n_hosts: NDArray[np.int64]

    @property
    def mean(self) -> float:
        """Geometric mean over the trees on which both throughputs are positive."""
        return _mean(self.log)

    @property
    def large(self) -> float:
        """Geometric mean over large trees; NaN if there is none."""
        return _mean(self.log[self.n_hosts >= LARGE])

    @property
    def small(self) -> float:
        """Geometric mean over the other trees."""
        return _mean(self.log[self.n_hosts < LARGE])

    @property
    def worst(self) -> float:
        """Largest ratio; infinite if the lower throughput is 0 on some tree."""
        return exp(float(np.max(np.where(np.isnan(self.log), -np.inf, self.log))))

    @property
    def apart(self) -> int:
        """Number of trees on which one of the throughputs is 0."""
        return int(np.sum(~np.isfinite(self.log)))

    @property
    def near_zero(self) -> NDArray[np.bool_]:
        """True for trees on which the lower throughput is near 0."""
        return self.log > log(NEAR_ZERO)

    @property
    def same(self) -> NDArray[np.bool_]:
        """True for trees on which the lower throughput is the same or higher."""
        return self.log <= -log1p(-SAME)

    def of(self, few: NDArray[np.int64]) -> Ratios:
        """Return the ratios of some trees, by their places."""
        return Ratios(self.log[few], self.n_hosts[few])

    def over(self, other: Ratios) -> Ratios:
        """Return these ratios over others, on the same trees."""
        with np.errstate(invalid="ignore"):
            return Ratios(self.log - other.log, self.n_hosts)

    def written(self) -> str:
        """Return mean and worst as text."""
        words = f"{self.mean:.3f}, worst {self.worst:.2f}"
        return words + f" ({self.apart} apart)" * bool(self.apart)


def _mean(logarithms: Floats) -> float:
    """Return the geometric mean of the finite ones."""
    known = logarithms[np.isfinite(logarithms)]
    return exp(float(np.mean(known))) if len(known) else math.nan


def ratios(
    high: Sequence[ThroughputMeasurement],
    low: Sequence[ThroughputMeasurement],
    *,
    by: Literal["fair", "slope", "theory"] = "fair",
) -> Ratios:
    """Compare two settings tree by tree.

    Parameters
    ----------
    high, low : sequence of ThroughputMeasurement
        Measurements on the same instances, in the same order.
    by : {"fair", "slope", "theory"}
        The field of `ThroughputMeasurement` to compare.

    Raises
    ------
    WorkloadError
        The instances differ, or there is none.
    """
    places = [[(each.reading, each.seed, each.number) for each in side] for side in (high, low)]
    if places[0] != places[1] or not places[0]:
        raise WorkloadError("throughputs of different trees cannot be compared; measure the same")
    columns = np.array(
        [[getattr(each, by) or 0.0 for each in side] for side in (high, low)], dtype=np.float64
    )
    with np.errstate(invalid="ignore"):
        logarithm = log(columns[0]) - log(columns[1])
    return Ratios(logarithm, np.array([each.n_hosts for each in high], dtype=np.int64))


def extreme(
    found: Sequence[Ratios],
    pick: Literal["largest", "least"] = "largest",
    *,
    note: str = "",
    failed: float | None = None,
    more: bool = False,
) -> Quantity:
    """Return the largest or least mean of some ratios, with its interval over trees.

    Parameters
    ----------
    found : sequence of Ratios
        Ratios on as many trees each.
    pick : {"largest", "least"}
        Which mean to return.
    note : str
        Circumstances.
    failed : float, optional
        The value instead, if something failed so that it has no ratio.
    more : bool
        True if a full run picks from further ratios, too.
    """

    def picked(few: NDArray[np.int64]) -> float:
        """Return the mean that is picked, of some trees."""
        means = [each.of(few).mean for each in found]
        value = max(means) if pick == "largest" else min(means)
        return value if failed is None else failed

    note += "; a full run compares more" * more
    quantity = resampled(picked, len(found[0].log), note, over="trees")
    if more and quantity.interval:
        low, high = quantity.interval
        ends = (low, math.inf) if pick == "largest" else (-math.inf, high)
        quantity = replace(quantity, interval=ends)
    return quantity


def best(found: Sequence[ThroughputMeasurement]) -> float:
    """Return the ratio of throughputs of a policy at the optimum.

    Parameters
    ----------
    found : sequence of ThroughputMeasurement
        The measurements to compare with; trees without a throughput do not count.

    Returns
    -------
    float
        Geometric mean of measured over optimal fair throughputs.
    """
    return _mean(log([each.fair / each.optimum for each in found]))


def deviations(
    found: Sequence[ThroughputMeasurement], *, by: Literal["fair", "slope"] = "fair"
) -> Floats:
    """Return the part by which throughputs stay below the expected ones, NaN without any."""
    return np.array([1 - getattr(each, by) / (each.theory or math.nan) for each in found])


@dataclass(frozen=True, eq=False)
class Loss:
    """Loss of a policy under some conditions, over some trees.

    Attributes
    ----------
    conditions, policy : str
        Keys of `simplugin.papers.beaumont.conditions.CONDITIONS` and of `PLANNED`.
    lost : Ratios
        Its fair throughput in the plain model over that under these conditions.
    behind : Ratios
        LP's fair throughput over its own, both under these conditions.
    undone : int
        Number of trees on which it left tasks undone.
    """

    conditions: str
    policy: str
    lost: Ratios
    behind: Ratios
    undone: int = 0

    @property
    def mean(self) -> float:
        """Share of the throughput that is lost in the geometric mean, where some is left."""
        return 1 - 1 / self.lost.mean

    @property
    def parts(self) -> Floats:
        """Share of the throughput that is lost on each tree, 1 where nothing is left.

        A negative share is a gain. Trees without a throughput in the plain model are left out.
        """
        return 1 - exp(-self.lost.log[self.lost.log > -np.inf])

    @property
    def starved(self) -> int:
        """Number of trees on which it has no throughput under these conditions."""
        return int(np.sum(~(self.lost.log < np.inf)))

    @property
    def fails(self) -> bool:
        """True if it left tasks undone, or has no throughput on some tree."""
        return bool(self.starved or self.undone)

    def written(self) -> str:
        """Return the loss in the mean and at most as text."""
        parts = self.parts
        if not len(parts):
            return "has nothing to lose"
        mean = f"{self.mean:.1%}" if np.any(parts < 1) else "all"
        words = f"{mean} (at most {np.max(parts):.1%})"
        if self.starved:
            words += f", nothing left on {self.starved} of {len(self.lost.log)} trees"
        return words + f", tasks undone on {self.undone} trees" * bool(self.undone)


PLAIN = "plain"
_ONCE = (("period", math.inf),)

# Policies by the way in which they come to their plans in the plain model.
PLANNED: Mapping[str, PolicySetting] = {
    **{
        name: PolicySetting(name)
        for name in ("lp", "data_centric", "cgbc", "fcfs", "bcs", "prices", "lag")
    },
    "lp, unmeasured": PolicySetting("lp", measures=False),
    "data_centric, once": PolicySetting("data_centric", _ONCE),
    "prices, once": PolicySetting("prices", _ONCE),
}


def losses(
    numbers: Sequence[int], policies: Iterable[str], conditions: Iterable[str]
) -> list[Loss]:
    """Return the loss of each policy under each of some conditions, in reading A.

    Parameters
    ----------
    numbers : sequence of int
        Numbers of the instances.
    policies : iterable of str
        Keys of `PLANNED`.
    conditions : iterable of str
        Keys of `simplugin.papers.beaumont.conditions.CONDITIONS`.
    """

    def found(condition: str, policy: str) -> list[ThroughputMeasurement]:
        met = "" if condition == PLAIN else condition
        return measurements("A", SEEDS[0], numbers, replace(PLANNED[policy], conditions=met))

    return [
        Loss(
            condition,
            policy,
            ratios(found(PLAIN, policy), found(condition, policy)),
            ratios(found(condition, "lp"), found(condition, policy)),
            sum(not each.all_done for each in found(condition, policy)),
        )
        for condition in conditions
        for policy in policies
    ]
