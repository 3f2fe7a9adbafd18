"""Tests whether errors of predictions depend on columns of the table of measured values."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

# Number of rows below which nothing is tested.
_LEAST_ROWS = 4
_LEVEL = 0.05
_SIDES = ("below", "above")
Vector = NDArray[np.float64]


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
    kind: str
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
    left_out: Collection[str],
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
        Columns that are not tested, such as measured values.
    """
    found: list[ErrorPattern] = []
    for column in dict.fromkeys(name for row in cells for name in row if name not in left_out):
        there = [at for at, row in enumerate(cells) if row.get(column) is not None]
        values = [cells[at][column] for at in there]
        for metric, of in zip(metrics, errors[there].T, strict=True):
            if len(there) >= _LEAST_ROWS and np.ptp(of) > 0:
                found += _tests(metric, column, values, of)
    found.sort(key=lambda each: each.p_value)
    raw = np.array([each.p_value for each in found])
    holm = np.minimum(1, np.maximum.accumulate(raw * np.arange(len(raw), 0, -1)))
    return tuple(replace(each, p_value=float(p)) for each, p in zip(found, holm, strict=True))


def _tests(metric: str, column: str, values: list[Any], errors: Vector) -> Iterator[ErrorPattern]:
    """Yield the tests of a column; none of texts most of which occur once."""
    if all(isinstance(each, int | float) for each in values):
        ranks = stats.rankdata(values)
        bends = (f"at small and large {column} are {each} those between" for each in _SIDES)
        for kind, order, texts in (
            ("trend", ranks, (f"fall with {column}", f"rise with {column}")),
            ("bend", np.abs(ranks - np.mean(ranks)), bends),
        ):
            if np.ptp(order) > 0:
                tau, p_value = map(float, stats.kendalltau(order, errors))
                text = f"errors of {metric} {[*texts][tau > 0]}"
                yield ErrorPattern(metric, column, kind, tau, p_value, text)
        return
    names = np.array([*map(str, values)])
    groups = {name: errors[names == name] for name in np.unique(names)}
    if 2 <= len(groups) <= len(values) / 2:
        means = sorted((float(np.mean(each)), name) for name, each in groups.items())
        ends = (f"{100 * mean:+.1f} % for {name}" for mean, name in means[:: len(means) - 1])
        text = f"errors of {metric} differ by {column}, in the mean from {' to '.join(ends)}"
        statistic, p_value = map(float, stats.kruskal(*groups.values()))
        yield ErrorPattern(metric, column, "groups", statistic, p_value, text)


def pattern_texts(patterns: Sequence[ErrorPattern]) -> list[str]:
    """Return the patterns in sentences, or that there are none."""
    if not patterns:
        return ["errors are not tested against columns: too few rows, or equal errors"]
    columns = ", ".join(dict.fromkeys(each.column for each in patterns))
    return [
        f"{each.text} (p = {each.p_value:.2g}): the scenario may lack an effect"
        for each in patterns
        if each.is_significant
    ] or [f"no dependence of errors on {columns} (least p = {patterns[0].p_value:.2g})"]
