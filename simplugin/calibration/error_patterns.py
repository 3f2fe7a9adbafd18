"""Tests whether errors of predictions depend on columns of the table of measured values."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

# Number of rows below which nothing is tested.
_LEAST_ROWS = 4
_LEVEL = 0.05
Vector = NDArray[np.float64]
Kind = Literal["trend", "bend", "groups"]


@dataclass(frozen=True)
class ErrorPattern:
    """A test whether the relative errors of a metric depend on a column.

    Attributes
    ----------
    metric, column : str
        Names.
    kind : {"trend", "bend", "groups"}
        Kendall's tau of errors and numbers; that of errors and the distance of a number's rank
        from the middle; or the test of Kruskal and Wallis of the rows with each text.
    statistic : float
        Tau, or H.
    p_value : float
        Corrected for the number of tests after Holm. Approximate, since a fit makes errors
        dependent on each other.
    text : str
        A sentence on the pattern, if there is one.
    """

    metric: str
    column: str
    kind: Kind
    statistic: float
    p_value: float
    text: str

    @property
    def is_significant(self) -> bool:
        """True if the errors depend on the column."""
        return self.p_value < _LEVEL


def error_patterns(
    cells: Sequence[Mapping[str, Any]],
    metrics: Sequence[str],
    errors: Vector,
    left_out: Collection[str | None],
) -> tuple[ErrorPattern, ...]:
    """Return the tests of all columns, the least p value first.

    Parameters
    ----------
    cells : sequence of mapping
        The rows of the table by their columns; None where a cell is empty.
    metrics : sequence of str
        Names of the metrics.
    errors : float64, shape (n_rows, n_metrics)
        Relative errors of the predictions.
    left_out : collection of str
        Columns that are not tested: names of rows and measured values.
    """
    found = []
    for column in dict.fromkeys(name for row in cells for name in row if name not in left_out):
        there = [at for at, row in enumerate(cells) if row.get(column) is not None]
        values = [cells[at][column] for at in there]
        for number, metric in enumerate(metrics):
            of = errors[there, number]
            if len(there) >= _LEAST_ROWS and np.ptp(of) > 0:
                found += _tests(metric, column, values, of)
    found.sort(key=lambda each: each.p_value)
    raw = np.array([each.p_value for each in found])
    holm = np.minimum(1, np.maximum.accumulate(raw * np.arange(len(raw), 0, -1)))
    return tuple(replace(each, p_value=float(p)) for each, p in zip(found, holm, strict=True))


def _tests(metric: str, column: str, values: list[Any], errors: Vector) -> list[ErrorPattern]:
    """Return the tests of a column, p values uncorrected."""
    if not all(isinstance(each, int | float) and not isinstance(each, bool) for each in values):
        return _groups(metric, column, list(map(str, values)), errors)
    ranks = stats.rankdata(values)
    if np.ptp(ranks) == 0:
        return []
    tau, p_value = stats.kendalltau(ranks, errors)
    sign = "rise" if tau > 0 else "fall"
    text = f"errors of {metric} {sign} with {column}"
    found = [ErrorPattern(metric, column, "trend", float(tau), float(p_value), text)]
    distances = np.abs(ranks - np.mean(ranks))
    if np.ptp(distances) > 0:
        tau, p_value = stats.kendalltau(distances, errors)
        sign = "above" if tau > 0 else "below"
        text = f"errors of {metric} at small and large {column} are {sign} those between"
        found.append(ErrorPattern(metric, column, "bend", float(tau), float(p_value), text))
    return found


def _groups(metric: str, column: str, values: list[str], errors: Vector) -> list[ErrorPattern]:
    """Return the test of a column of texts; none if most of them occur once."""
    named = np.array(values)
    groups = {name: errors[named == name] for name in dict.fromkeys(values)}
    if not 2 <= len(groups) <= len(values) / 2:
        return []
    statistic, p_value = stats.kruskal(*groups.values())
    ordered = sorted(groups, key=lambda name: float(np.mean(groups[name])))
    means = (
        f"{100 * np.mean(groups[name]):+.1f} % for {name}" for name in ordered[:: len(ordered) - 1]
    )
    text = f"errors of {metric} differ by {column}: in the mean {', '.join(means)}"
    return [ErrorPattern(metric, column, "groups", float(statistic), float(p_value), text)]


def pattern_texts(patterns: Sequence[ErrorPattern]) -> list[str]:
    """Return the patterns in sentences, or that there are none."""
    if not patterns:
        return ["rows or columns are too few to test whether errors depend on columns of the table"]
    found = [
        f"{each.text} (p = {each.p_value:.2g}): the scenario may lack an effect"
        for each in patterns
        if each.is_significant
    ]
    columns = ", ".join(dict.fromkeys(each.column for each in patterns))
    return found or [f"no dependence of errors on {columns} (least p = {patterns[0].p_value:.2g})"]
