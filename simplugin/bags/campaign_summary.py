"""What measurements of a campaign come to: ratios, deviations, and how they fit the paper's."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simplugin.elementary import exp, log, log1p
from simplugin.errors import WorkloadError
from simplugin.listings import Listing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from simplugin.bags.campaign import Measurement
    from simplugin.listings import Cell

    Floats = NDArray[np.float64]

# Trees that section 6.2.2 calls large have so many nodes at least.
LARGE = 50
# A throughput is near zero if the linear program's is so many times as high, and the same as
# another if they are so near.
NEAR_ZERO, SAME = 1000.0, 0.05
# No quantity counts more than a factor of e squared in the score of a reading.
MOST = 2.0


@dataclass(frozen=True, eq=False)
class Ratios:
    """How many times as high a throughput is as another, over many trees.

    Attributes
    ----------
    log : float64, shape (n_trees,)
        Natural logarithm of the ratio: the paper's logarithmic deviation. Infinite where the
        other throughput is 0, minus infinity where this one is; NaN where both are.
    n_hosts : int64, shape (n_trees,)
        Of each tree.
    """

    log: Floats
    n_hosts: NDArray[np.int64]

    @property
    def mean(self) -> float:
        """Geometric mean, over the trees on which both throughputs are positive."""
        return _mean(self.log)

    @property
    def large(self) -> float:
        """Likewise, over large trees; NaN if there is none."""
        return _mean(self.log[self.n_hosts >= LARGE])

    @property
    def small(self) -> float:
        """Likewise, over the others."""
        return _mean(self.log[self.n_hosts < LARGE])

    @property
    def positive(self) -> float:
        """The share of trees on which the other throughput is lower."""
        return float(np.mean(self.log > 0))

    @property
    def worst(self) -> float:
        """The largest; infinite if the other throughput is 0 somewhere."""
        return exp(float(np.max(np.where(np.isnan(self.log), -np.inf, self.log))))

    @property
    def apart(self) -> int:
        """On how many trees one of the two is 0."""
        return int(np.sum(~np.isfinite(self.log)))

    @property
    def near_zero(self) -> float:
        """The share of trees on which the other throughput is near 0."""
        return float(np.mean(self.log > log(NEAR_ZERO)))

    @property
    def same(self) -> float:
        """The share of trees on which the other throughput is the same, or higher."""
        return float(np.mean(self.log <= -log1p(-SAME)))

    def written(self) -> str:
        """Return mean and worst in words."""
        words = f"{self.mean:.3f}, worst {self.worst:.2f}"
        return words + f" ({self.apart} apart)" * bool(self.apart)


def _mean(log: Floats) -> float:
    """Return the geometric mean of what is finite."""
    known = log[np.isfinite(log)]
    return exp(float(np.mean(known))) if len(known) else math.nan


def ratios(high: Sequence[Measurement], low: Sequence[Measurement], *, by: str = "fair") -> Ratios:
    """Compare two settings tree by tree.

    Parameters
    ----------
    high, low : sequence of Measurement
        Of the same instances, in the same order.
    by : {"fair", "slope", "theory"}
        Which throughput.

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


def best(found: Sequence[Measurement]) -> float:
    """Return the ratio of throughputs that a policy would have if it reached the optimum.

    Parameters
    ----------
    found : sequence of Measurement
        What the policy is compared with, on each tree; those where it has no throughput do not
        count.

    Returns
    -------
    float
        Geometric mean of measured over optimal fair throughputs.
    """
    return _mean(log([each.fair / each.optimum for each in found]))


def deviations(found: Sequence[Measurement], *, by: str = "fair") -> Floats:
    """Return by what part throughputs stay below what the policy expects, where it expects any.

    Parameters
    ----------
    found : sequence of Measurement
        One for each tree.
    by : {"fair", "slope"}
        Which throughput.
    """
    return np.array([1 - getattr(each, by) / each.theory for each in found if each.theory])


@dataclass(frozen=True)
class Quantity:
    """A number of section 6.2.

    Attributes
    ----------
    name : str
        What it is.
    paper : float
        Its value there.
    over, under : bool
        Whether the paper only says that it is larger, or at most this.
    """

    name: str
    paper: float
    over: bool = False
    under: bool = False

    def distance(self, measured: float) -> float:
        """Return how far a measurement is off: the logarithm of the factor, `MOST` at most."""
        if math.isnan(measured):
            return MOST
        if self.over and measured >= self.paper:
            return 0.0
        if self.under and 0 < measured <= self.paper:
            return 0.0
        if measured <= 0 or math.isinf(measured):
            return MOST
        return min(abs(log(measured / self.paper)), MOST)


DEVIATION = Quantity("deviation", 0.09426)
DATA_CENTRIC = Quantity("LP / DATA-CENTRIC", 1.164)
DATA_CENTRIC_WORST = Quantity("LP / DATA-CENTRIC, worst", 16.0)
DATA_CENTRIC_SAME = Quantity("DATA-CENTRIC as good as LP", 2 / 3)
CGBC = Quantity("LP / CGBC", 1.156)
CGBC_LARGE = Quantity("LP / CGBC, large trees", 1.243)
CGBC_WORST = Quantity("LP / CGBC, worst", 2.0, under=True)
FCFS = Quantity("LP / FCFS", 1.564)
FCFS_LARGE = Quantity("LP / FCFS, large trees", 2.0399)
FCFS_WORST = Quantity("LP / FCFS, worst", 8.0, over=True)
BCS = Quantity("BCS near zero", 0.35, over=True)
QUANTITIES = (
    DEVIATION, DATA_CENTRIC, DATA_CENTRIC_WORST, DATA_CENTRIC_SAME, CGBC, CGBC_LARGE, CGBC_WORST,
    FCFS, FCFS_LARGE, FCFS_WORST, BCS,
)  # fmt: skip

# The policies of the paper.
POLICIES = ("lp", "data_centric", "cgbc", "fcfs", "bcs")


def quantities(found: Mapping[str, Sequence[Measurement]]) -> dict[Quantity, float]:
    """Return the numbers of section 6.2 for one reading.

    Parameters
    ----------
    found : mapping of str to sequence of Measurement
        Of each of `POLICIES`, the same instances.
    """
    best = found["lp"]
    traded, grains, turns, side = (ratios(best, found[each]) for each in POLICIES[1:])
    together = np.concatenate([deviations(found[each]) for each in POLICIES[:3]])
    return {
        DEVIATION: float(np.mean(together)),
        DATA_CENTRIC: traded.mean,
        DATA_CENTRIC_WORST: traded.worst,
        DATA_CENTRIC_SAME: traded.same,
        CGBC: grains.mean,
        CGBC_LARGE: grains.large,
        CGBC_WORST: grains.worst,
        FCFS: turns.mean,
        FCFS_LARGE: turns.large,
        FCFS_WORST: turns.worst,
        BCS: side.near_zero,
    }


def score(measured: Mapping[Quantity, float]) -> float:
    """Return how far a reading is from the paper: the mean distance of its quantities."""
    return float(np.mean([each.distance(value) for each, value in measured.items()]))


def readings_listing(measured: Mapping[str, Mapping[Quantity, float]]) -> Listing:
    """Return the paper's numbers as each reading gives them, the one that fits best first."""
    columns = (("reading", ""), *((each.name, "") for each in QUANTITIES), ("distance", ""))
    lines: list[tuple[Cell, ...]] = [("paper", *(each.paper for each in QUANTITIES), 0.0)]
    for name in sorted(measured, key=lambda name: score(measured[name])):
        values = measured[name]
        lines.append((name, *(values[each] for each in QUANTITIES), score(values)))
    return Listing(
        "Figures of section 6.2, by reading",
        columns,
        tuple(lines),
        "Geometric means over trees on which both throughputs are positive; distance is the mean"
        f" of |ln(measured / paper)|, each {MOST:g} at most.",
    )


def listed(numbers: Sequence[int]) -> str:
    """Return the numbers of trees in words."""
    first, last = min(numbers), max(numbers)
    if len(numbers) == last - first + 1:
        return f"{first} to {last}"
    return ", ".join(map(str, numbers))


def policies_listing(found: Mapping[str, Sequence[Measurement]], title: str) -> Listing:
    """Return how each setting compares with LP.

    Parameters
    ----------
    found : mapping of str to sequence of Measurement
        Of settings by their keys; of LP, by its name, at least the instances of all others.
    title : str
        Of the table.
    """
    names = (
        "setting", "trees", "LP / it", "large trees", "worst", "apart", "by slope", "of optimum",
        "deviation", "undone",
    )  # fmt: skip
    lines: list[tuple[Cell, ...]] = []
    best = {(one.reading, one.seed, one.number): one for one in found["lp"]}
    for key, each in found.items():
        high = [best[one.reading, one.seed, one.number] for one in each]
        by_formula, by_slope = (ratios(high, each, by=by) for by in ("fair", "slope"))
        short = deviations(each)
        share = [one.fair / one.optimum for one in each]
        lines.append(
            (
                key,
                len(each),
                by_formula.mean,
                by_formula.large,
                by_formula.worst,
                by_formula.apart,
                by_slope.mean,
                float(np.mean(share)),
                float(np.mean(short)) if len(short) else None,
                sum(not one.all_done for one in each),
            )
        )
    return Listing(
        title,
        tuple((name, "") for name in names),
        tuple(lines),
        "LP / it: geometric mean of the ratio of fair throughputs by the formula, without trees"
        " where one is 0 (apart); by slope: between 10 and 90 % of completions; deviation: 1 -"
        " measured / expected.",
    )
