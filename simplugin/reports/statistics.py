"""Statistics of a sample: means, quantiles and their confidence intervals."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from simplugin.core.errors import SimpluginError

LEVEL = 0.95
# Maximum sample size of a bootstrap; beyond, the t interval is as good.
MOST_BOOTSTRAPPED = 5000
# Maximum number of values that a bootstrap holds in memory.
_BATCH = 2_000_000
# Numbers whose differences may overflow.
_HUGE = 1e307
_LARGEST_LOGARITHM = math.log(sys.float_info.max)


@dataclass(frozen=True, slots=True)
class ConfidenceInterval:
    """A confidence interval.

    Attributes
    ----------
    low, high : float
        Its ends; infinite if undefined.
    level : float
        The probability with which such intervals cover; for order statistics, which cannot have
        an arbitrary level, the attained one, which is at least the requested one.
    """

    low: float
    high: float
    level: float = LEVEL


@dataclass(frozen=True, slots=True)
class SampleSummary:
    """Summary statistics of a sample; None if undefined.

    Attributes
    ----------
    n : int
        Finite values; all other attributes are about these.
    missing : int
        Values that were not there, or not a number.
    infinite : int
        Values that were infinite.
    mean : float, optional
        Arithmetic.
    mean_interval : ConfidenceInterval, optional
        Student's t, from two values on.
    deviation : float, optional
        Standard deviation with n - 1 degrees of freedom, from two values on.
    geometric_mean : float, optional
        Where all values are above 0.
    geometric_interval : ConfidenceInterval, optional
        Student's t of the logarithms, from two values on.
    why_not_geometric : str
        Reason of a missing geometric mean; empty if there is one.
    median : float, optional
        The mean of the two in the middle where their number is even.
    median_interval : ConfidenceInterval, optional
        Between two order statistics, from six values on at 95 %.
    quartiles : (float, float), optional
        Linear between order statistics: type 7 of Hyndman and Fan, as numpy has it.
    least, most : float, optional
        The smallest and the largest.
    """

    n: int
    missing: int = 0
    infinite: int = 0
    mean: float | None = None
    mean_interval: ConfidenceInterval | None = None
    deviation: float | None = None
    geometric_mean: float | None = None
    geometric_interval: ConfidenceInterval | None = None
    why_not_geometric: str = ""
    median: float | None = None
    median_interval: ConfidenceInterval | None = None
    quartiles: tuple[float, float] | None = None
    least: float | None = None
    most: float | None = None


def finite(values: Iterable[float | int | None]) -> tuple[NDArray[np.float64], int, int]:
    """Return the finite values, and the numbers of missing or undefined and of infinite values."""
    # None becomes not a number.
    column = np.array(list(values), dtype=np.float64)
    there = np.isfinite(column)
    missing = int(np.isnan(column).sum())
    return column[there], missing, int(len(column) - there.sum()) - missing


def summary(values: Iterable[float | int | None], *, level: float = LEVEL) -> SampleSummary:
    """Summarise a sample.

    The values are assumed independent; dependent ones, such as runs on the same few
    workloads, are compared by pairs (`comparisons.paired`).

    Parameters
    ----------
    values : iterable of float or None
        In any order. Missing, undefined and infinite values are counted and left out.
    level : float
        Confidence level.

    Returns
    -------
    SampleSummary
        With the 95 % intervals of mean, geometric mean and median. One value has no intervals.

    References
    ----------
    .. [1] R. Jain (1991). The Art of Computer Systems Performance Analysis. Wiley. (t interval)
    .. [2] P. J. Fleming and J. J. Wallace (1986). How not to lie with statistics: the correct way
       to summarize benchmark results. Communications of the ACM 29(3), 218-221. (geometric mean)
    .. [3] H. A. David and H. N. Nagaraja (2003). Order Statistics. 3rd ed., Wiley. (median)
    .. [4] R. J. Hyndman and Y. Fan (1996). Sample quantiles in statistical packages. The American
       Statistician 50(4), 361-365.
    """
    sample, missing, infinite = finite(values)
    if not len(sample):
        return SampleSummary(0, missing, infinite, why_not_geometric="there are no values")
    bad = int((sample <= 0).sum())
    geometric: float | None = None
    around: ConfidenceInterval | None = None
    reason = f"{bad} of {len(sample)} values {'is' if bad == 1 else 'are'} not above 0"
    if not bad:
        around = from_logarithms(mean_interval(np.log(sample), level))
        geometric, reason = geometric_mean(sample), ""
    first, middle, third = quartiles(sample)
    return SampleSummary(
        n=len(sample),
        missing=missing,
        infinite=infinite,
        mean=exact_mean(sample),
        mean_interval=mean_interval(sample, level),
        deviation=_deviation(sample) if len(sample) > 1 else None,
        geometric_mean=geometric,
        geometric_interval=around,
        why_not_geometric=reason,
        median=middle,
        median_interval=median_interval(sample, level),
        quartiles=(first, third),
        least=float(sample.min()),
        most=float(sample.max()),
    )


def mean_interval(sample: NDArray[np.float64], level: float = LEVEL) -> ConfidenceInterval | None:
    """Return Student's t interval of the mean of finite values; None for fewer than two."""
    from scipy.special import stdtrit

    n = len(sample)
    if n < 2:
        return None
    half = float(stdtrit(n - 1, 0.5 + level / 2)) * (_deviation(sample) / math.sqrt(n))
    mean = exact_mean(sample)
    return ConfidenceInterval(mean - half, mean + half, level)


def geometric_mean(sample: NDArray[np.float64]) -> float:
    """Return exp(mean(log x)) of positive values."""
    return power_of_e(exact_mean(np.log(sample)))


def power_of_e(exponent: float) -> float:
    """Return exp(x), infinite on overflow."""
    return math.exp(exponent) if exponent < _LARGEST_LOGARITHM else math.inf


def from_logarithms(logarithms: ConfidenceInterval | None) -> ConfidenceInterval | None:
    """Return the interval of values from that of their logarithms."""
    if logarithms is None:
        return None
    low, high = power_of_e(logarithms.low), power_of_e(logarithms.high)
    return ConfidenceInterval(low, high, logarithms.level)


def quartiles(sample: NDArray[np.float64]) -> tuple[float, float, float]:
    """Return lower quartile, median and upper quartile of finite values, of type 7."""
    # Differences of the largest numbers overflow; those of a fourth of them are exact.
    scale = 4.0 if float(np.abs(sample).max()) > _HUGE else 1.0
    found = np.quantile(sample / scale, (0.25, 0.5, 0.75), method="linear") * scale
    first, middle, third = found.tolist()
    return first, middle, third


def median_interval(sample: NDArray[np.float64], level: float = LEVEL) -> ConfidenceInterval | None:
    """Return the narrowest interval of two order statistics, symmetric in rank, for the median.

    The k-th smallest and the k-th largest have the median of any continuous distribution between
    them with probability ``1 - 2 P(B < k)``, B binomial with n trials of 1/2. None where even the
    smallest and the largest cover with less than `level`: below six values at 95 %.
    """
    from scipy.special import bdtr

    n = len(sample)
    ranks = np.arange(1, n // 2 + 1)
    covered = 1 - 2 * bdtr(ranks - 1, n, 0.5)
    enough = np.flatnonzero(covered >= level)
    if not len(enough):
        return None
    k = int(ranks[enough[-1]])
    ordered = np.sort(sample)
    return ConfidenceInterval(float(ordered[k - 1]), float(ordered[n - k]), float(covered[k - 1]))


def bootstrap_interval(
    values: Iterable[float | int | None],
    *,
    seed: int,
    statistic: Literal["mean", "geometric_mean", "median"] = "mean",
    level: float = LEVEL,
    resamples: int = 9999,
) -> ConfidenceInterval | None:
    """Return a bootstrap interval, bias-corrected and accelerated (BCa).

    For small skewed samples, where a t interval covers the mean too seldom.

    Parameters
    ----------
    values : iterable of float or None
        Missing and infinite values are left out.
    seed : int
        Seed of the draws; the same seed gives the same interval.
    statistic : {"mean", "geometric_mean", "median"}
        Statistic to bootstrap.
    level : float
        Confidence level.
    resamples : int
        Number of resamples.

    Returns
    -------
    ConfidenceInterval or None
        None for fewer than three values, and where all are the same.

    Raises
    ------
    SimpluginError
        There are more than 5,000 values, or some are not above 0 and it is for a geometric mean.

    References
    ----------
    .. [1] B. Efron (1987). Better bootstrap confidence intervals. Journal of the American
       Statistical Association 82(397), 171-185.
    """
    from scipy.stats import bootstrap

    sample, _, _ = finite(values)
    if len(sample) > MOST_BOOTSTRAPPED:
        raise SimpluginError(
            f"a bootstrap of {len(sample)} values takes too long; take the t interval, which is"
            f" right for more than {MOST_BOOTSTRAPPED}"
        )
    if statistic == "geometric_mean":
        if len(sample) and sample.min() <= 0:
            raise SimpluginError(
                f"{sample.min():g} has no logarithm; bootstrap the mean or the median instead"
            )
        sample = np.log(sample)

    if len(sample) < 3 or np.ptp(sample) == 0:
        return None
    found = bootstrap(
        (sample,),
        np.median if statistic == "median" else np.mean,
        n_resamples=resamples,
        batch=max(1, _BATCH // len(sample)),
        confidence_level=level,
        method="BCa",
        random_state=np.random.default_rng(seed),
    ).confidence_interval
    interval = ConfidenceInterval(float(found.low), float(found.high), level)
    return from_logarithms(interval) if statistic == "geometric_mean" else interval


def cumulated(
    values: Sequence[float | int | None],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the empirical distribution function: its steps, and the part of runs up to each.

    Parameters
    ----------
    values : sequence of float or None
        One a run. Missing and infinite values are never reached, so that the last part is below 1:
        a policy that fails on half of all runs is worse than its successful runs suggest.

    Returns
    -------
    steps, parts : float64, shape (n,)
        The finite values, ascending and each once, and the part of the runs that have at most so
        much.
    """
    sample, _, _ = finite(values)
    steps, counts = np.unique(sample, return_counts=True)
    below = sum(1 for each in values if each == -math.inf)
    return steps, (below + np.cumsum(counts)) / max(len(values), 1)


def exact_mean(sample: NDArray[np.float64]) -> float:
    """Add exactly, so that the order of the values does not matter."""
    try:
        return math.fsum(sample.tolist()) / len(sample)
    except OverflowError:
        return math.fsum((sample / len(sample)).tolist())


def _deviation(sample: NDArray[np.float64]) -> float:
    """Return the standard deviation of two or more values."""
    # A power of 2, so that nothing is rounded and no square overflows.
    largest = float(np.abs(sample).max())
    scale = 2.0 ** (math.frexp(largest)[1] - 1) if largest else 1.0
    distances = sample / scale - exact_mean(sample) / scale
    squares = math.fsum((distances * distances).tolist())
    return scale * math.sqrt(squares / (len(sample) - 1))
