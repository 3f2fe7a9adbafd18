"""Comparisons of groups of runs with a baseline, pair by pair, and the groups of a campaign."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from simplugin.core.errors import SimpluginError
from simplugin.core.name_suggestions import did_you_mean
from simplugin.reports.page.contents import (
    NO_VALUE,
    OF_SCHEDULERS,
    CampaignReport,
    Column,
    Value,
    identity,
)
from simplugin.reports.statistics import (
    ConfidenceInterval,
    exact_mean,
    from_logarithms,
    mean_interval,
    power_of_e,
)

# Relative difference of two runs up to which they are equal: sums of the same times in another
# order differ in their last digits.
TIE = 1e-9
# Number of pairs up to which the signed-rank distribution is exact; a normal one is used beyond.
_MOST_COUNTED = 50

Values = Mapping[Hashable, float | int | None]


@dataclass(frozen=True, slots=True)
class PairedComparison:
    """Paired comparison of a group with a baseline.

    Attributes
    ----------
    n : int
        Pairs of finite values; all that follows is about these.
    alone, without : int
        Keys that only the group has, and that only the baseline has.
    missing : int
        Keys that both have, one of the two values missing or infinite.
    ratio : float, optional
        Geometric mean of value over baseline, where all values are above 0.
    interval : ConfidenceInterval, optional
        Of `ratio`: Student's t of the logarithms, from two pairs on.
    why_no_ratio : str
        Reason of a missing ratio; empty if there is one.
    wins, ties, losses : int
        Numbers of pairs in which the group is better, equal to 1e-9, or worse.
    sign : float, optional
        Two-sided p-value of the sign test, ties left out; None without pairs.
    wilcoxon : float, optional
        Two-sided p-value of Wilcoxon's signed-rank test of the logarithms of the ratios, or of
        the differences where there is no ratio; ties left out; None without pairs.
    adjusted : float, optional
        `wilcoxon` corrected for the number of groups that are compared with the baseline.
    """

    n: int
    alone: int
    without: int
    missing: int
    ratio: float | None = None
    interval: ConfidenceInterval | None = None
    why_no_ratio: str = ""
    wins: int = 0
    ties: int = 0
    losses: int = 0
    sign: float | None = None
    wilcoxon: float | None = None
    adjusted: float | None = None


def paired(
    values: Values, baseline: Values, *, sense: Literal["min", "max"] = "min"
) -> PairedComparison:
    """Compare a group with a baseline on the same workloads, platforms and seeds.

    Parameters
    ----------
    values, baseline : mapping of key to float or None
        Values by a common key.
    sense : {"min", "max"}
        Direction of improvement.

    Returns
    -------
    PairedComparison
        `adjusted` is as `wilcoxon`, for one comparison alone.

    References
    ----------
    .. [1] P. J. Fleming and J. J. Wallace (1986). How not to lie with statistics: the correct way
       to summarize benchmark results. Communications of the ACM 29(3), 218-221.
    .. [2] J. Demsar (2006). Statistical comparisons of classifiers over multiple data sets.
       Journal of Machine Learning Research 7, 1-30.
    """
    common = [key for key in values if key in baseline]
    # None becomes not a number.
    pairs = np.array([(values[key], baseline[key]) for key in common], dtype=np.float64)
    pairs = pairs.reshape(-1, 2)
    here, there = pairs[np.isfinite(pairs).all(axis=1)].T
    n = len(here)
    counts = (n, len(values) - len(common), len(baseline) - len(common), len(common) - n)
    if not n:
        return PairedComparison(*counts, why_no_ratio="there are no pairs")
    bad = int(((here <= 0) | (there <= 0)).sum())
    with np.errstate(over="ignore"):
        apart = here - there
    steps = apart if bad else np.log(here) - np.log(there)
    ratio = None if bad else power_of_e(exact_mean(steps))
    interval = None if bad else from_logarithms(mean_interval(steps))
    same = np.abs(apart) <= TIE * np.maximum(np.abs(here), np.abs(there))
    steps = np.where(same, 0.0, steps)
    better, worse = int((steps < 0).sum()), int((steps > 0).sum())
    if sense == "max":
        better, worse = worse, better
    ranks = signed_rank_test(steps)
    return PairedComparison(
        *counts,
        ratio=ratio,
        interval=interval,
        why_no_ratio=f"a value of {bad} of {n} pairs is not above 0" if bad else "",
        wins=better,
        ties=int(same.sum()),
        losses=worse,
        sign=sign_test(better, worse),
        wilcoxon=ranks,
        adjusted=ranks,
    )


def corrected(found: Mapping[str, PairedComparison]) -> dict[str, PairedComparison]:
    """Return comparisons with one baseline, their p-values corrected for their number."""
    adjusted = holm([each.wilcoxon for each in found.values()])
    return {
        name: replace(each, adjusted=value)
        for (name, each), value in zip(found.items(), adjusted, strict=True)
    }


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Correct p-values for their number, so that any is wrongly small with its level at most.

    Parameters
    ----------
    p_values : sequence of float or None
        None where nothing was tested, which is not counted.

    Returns
    -------
    list of float or None
        In the same order; at least as large, at most 1.

    References
    ----------
    .. [1] S. Holm (1979). A simple sequentially rejective multiple test procedure. Scandinavian
       Journal of Statistics 6(2), 65-70.
    """
    tested = sorted((value, place) for place, value in enumerate(p_values) if value is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (value, place) in enumerate(tested):
        largest = max(largest, min(1.0, value * (len(tested) - rank)))
        adjusted[place] = largest
    return adjusted


def sign_test(wins: int, losses: int) -> float:
    """Return the two-sided p-value of as many wins and losses, if both were as likely."""
    from scipy.special import bdtr

    return min(1.0, 2 * float(bdtr(min(wins, losses), wins + losses, 0.5)))


def signed_rank_test(differences: NDArray[np.float64]) -> float:
    """Return the two-sided p-value of Wilcoxon's signed-rank test.

    Differences of 0 are left out, equal ones get the mean of their ranks. Up to 50 differences
    the distribution of the rank sum is counted out, ties included; beyond, it is taken for normal
    with the variance that ties leave, without a correction for continuity.

    References
    ----------
    .. [1] F. Wilcoxon (1945). Individual comparisons by ranking methods. Biometrics Bulletin
       1(6), 80-83.
    """
    from scipy.special import ndtr
    from scipy.stats import rankdata

    kept = differences[differences != 0]
    if not len(kept):
        return 1.0
    # Twice the ranks are whole numbers.
    ranks = np.rint(2 * rankdata(np.abs(kept))).astype(np.int64)
    total, positive = int(ranks.sum()), int(ranks[kept > 0].sum())
    least = min(positive, total - positive)
    if len(kept) > _MOST_COUNTED:
        spread = math.sqrt(float((ranks * ranks).sum())) / 2
        return min(1.0, 2 * float(ndtr((least - total / 2) / spread)))
    ways = np.zeros(total + 1)
    ways[0] = 1.0
    for rank in ranks.tolist():
        ways[rank:] = ways[rank:] + ways[: total + 1 - rank]
    return min(1.0, 2 * float(ways[: least + 1].sum() / 2.0 ** len(kept)))


# The group of a campaign in which nothing is compared.
ALL_RUNS = "all runs"


def rows_by_group(report: CampaignReport) -> dict[str, list[int]]:
    """Return which runs are in each group, in the order in which the groups are shown.

    Runs without a value in the column of the groups are the last group, ``(none)``. 1 and 1.0 are
    one group, 1 and the text "1" are two: the name of the latter has quotes.
    """
    if report.group is None:
        return {ALL_RUNS: list(range(len(report.position)))}
    column = report.column(report.group)
    names = column.names()
    if None in column.values:
        names[identity(None)] = NO_VALUE
    groups: dict[str, list[int]] = {name: [] for name in names.values()}
    for row, value in enumerate(column.values):
        groups[names[identity(value)]].append(row)
    return groups


def labels_of_groups(report: CampaignReport) -> dict[str, str]:
    """Return the name of each group in a key: with the name of the column unless it is a text."""
    groups = rows_by_group(report)
    if report.group is None:
        return dict.fromkeys(groups, ALL_RUNS)
    column = report.column(report.group)
    if column.label or not all(isinstance(value, str) for value in column.distinct()):
        return {name: f"{column.shown} = {name}" for name in groups}
    return {name: name for name in groups}


def pairing_columns(report: CampaignReport, names: Collection[str] | None = None) -> list[Column]:
    """Return the columns by which runs of different groups are paired.

    These are all varied columns except the groups themselves and those with a single
    value in each of the compared groups. The scheduler and its parameters count only if all
    that are compared share values of them.

    Parameters
    ----------
    report : CampaignReport
        Campaign of the report.
    names : collection of str, optional
        The groups that are compared; by default all.

    Raises
    ------
    SimpluginError
        There is no such group.
    """
    groups = rows_by_group(report)
    compared = [_rows_of(groups, name) for name in (groups if names is None else names)]

    def counts(column: Column) -> bool:
        """Return True if the compared groups share values."""
        if not column.name.startswith(OF_SCHEDULERS):
            return True
        had = [{identity(column.values[row]) for row in rows} for rows in compared]
        return bool(set.intersection(*had) - {identity(None)}) if had else True

    return [column for column in varied_within(report, compared) if counts(column)]


def varied_within(report: CampaignReport, groups: Iterable[Sequence[int]]) -> list[Column]:
    """Return the columns that vary among the runs of one of some groups."""
    return [
        column
        for column in report.columns_of("varied")
        if column.name != report.group
        and any(len({identity(column.values[row]) for row in rows}) > 1 for rows in groups)
    ]


def values_by_group(
    report: CampaignReport, metric: Column, names: Collection[str] | None = None
) -> dict[str, dict[Hashable, float | int | None]]:
    """Return the metric of each run of each group, by the values of the pairing columns.

    Runs that differ in nothing are numbered, over all runs of their group, so that the first is
    compared with the first. None marks a failed run.

    Parameters
    ----------
    report : CampaignReport
        Campaign of the report.
    metric : Column
        One of its columns.
    names : collection of str, optional
        The groups that are compared, in this order; by default all.

    Raises
    ------
    SimpluginError
        There is no such group.
    """
    groups = rows_by_group(report)
    shared = pairing_columns(report, names)
    found: dict[str, dict[Hashable, float | int | None]] = {}
    for name in groups if names is None else names:
        seen: Counter[Hashable] = Counter()
        values: dict[Hashable, float | int | None] = {}
        for row in _rows_of(groups, name):
            key = tuple(identity(column.values[row]) for column in shared)
            values[key, seen[key]] = number(metric.values[row])
            seen[key] += 1
        found[name] = values
    return found


def compared(
    report: CampaignReport, metric: Column, baseline: str | None = None
) -> dict[str, PairedComparison]:
    """Compare all groups of a campaign with one of them, as its page does.

    Parameters
    ----------
    report : CampaignReport
        Campaign of the report.
    metric : Column
        One of its columns; where it has no sense, less counts as better.
    baseline : str, optional
        Name of a group; by default the first.

    Returns
    -------
    dict of str to PairedComparison
        For each group but the baseline, p-values corrected after Holm.

    Raises
    ------
    SimpluginError
        There is no such group.
    """
    names = list(rows_by_group(report))
    base = names[0] if baseline is None else baseline
    found: dict[str, PairedComparison] = {}
    for name in names:
        if name != base:
            values = values_by_group(report, metric, (name, base))
            found[name] = paired(values[name], values[base], sense=metric.sense or "min")
    return corrected(found)


def number(value: Value) -> float | int | None:
    """Return a cell of a numeric column, None if there is none."""
    if value is None or isinstance(value, str | bool):
        return None
    return None if math.isnan(value) else value


def _rows_of(groups: dict[str, list[int]], name: str) -> list[int]:
    """Return the runs of a group."""
    if name not in groups:
        hint = did_you_mean(name, groups) or f"there are {', '.join(groups)}"
        raise SimpluginError(f"there is no group {name!r}; {hint}")
    return groups[name]
