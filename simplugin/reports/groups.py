"""Runs of a campaign by group, and their comparison."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Hashable
from typing import TYPE_CHECKING

from simplugin.errors import SimpluginError
from simplugin.near_names import did_you_mean
from simplugin.reports.comparisons import Comparison, corrected, paired
from simplugin.reports.page.contents import ITS_PARAMETERS, NO_VALUE, SCHEDULER, identity

if TYPE_CHECKING:
    from simplugin.reports.page.contents import CampaignReport, Column, Value

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


def pairing_columns(report: CampaignReport, names: Collection[str] | None = None) -> list[Column]:
    """Return the columns by which runs of different groups are paired.

    These are all varied columns except the groups themselves and those with a single
    value in each group. Where groups are schedulers, parameters of schedulers count only if all
    that are compared have values of them in common.

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
        """Return True if the compared groups have common values."""
        if report.group != SCHEDULER or not column.name.startswith(ITS_PARAMETERS):
            return True
        had = [{identity(column.values[row]) for row in rows} for rows in compared]
        return bool(set.intersection(*had) - {identity(None)}) if had else True

    return [column for column in varied_within(report) if counts(column)]


def varied_within(report: CampaignReport) -> list[Column]:
    """Return the columns that vary among the runs of a group."""
    groups = rows_by_group(report).values()
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
    compared with the first. Runs that failed have None.

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
) -> dict[str, Comparison]:
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
    dict of str to Comparison
        For each group but the baseline, p-values corrected after Holm.

    Raises
    ------
    SimpluginError
        There is no such group.
    """
    names = list(rows_by_group(report))
    base = names[0] if baseline is None else baseline
    found: dict[str, Comparison] = {}
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
