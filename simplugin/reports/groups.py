"""Runs of a campaign by group, and what tells the runs of one group apart."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simplugin.reports.page.contents import CampaignReport, Column, Value

# The group of a campaign in which nothing is compared.
ALL_RUNS = "all runs"


def rows_by_group(report: CampaignReport) -> dict[str, list[int]]:
    """Return which runs are in each group, in the order in which the groups are shown.

    Runs without a value in the column of the groups are in none.
    """
    if report.group is None:
        return {ALL_RUNS: list(range(len(report.position)))}
    column = report.column(report.group)
    # 1 and 1.0 are one value, 1 and "1" have one name.
    names: dict[Value, str] = {value: str(value) for value in column.distinct()}
    groups: dict[str, list[int]] = {name: [] for name in names.values()}
    for row, value in enumerate(column.values):
        if value is not None:
            groups[names[value]].append(row)
    return groups


def pairing_columns(report: CampaignReport) -> list[Column]:
    """Return what runs of different groups have in common if they are compared with each other.

    That is everything that is varied, without the groups themselves and without what has but one
    value in each group, such as the parameters of a scheduler that are written with its name.
    """
    groups = rows_by_group(report).values()
    return [
        column
        for column in report.columns_of("varied")
        if column.name != report.group
        and any(len({column.values[row] for row in rows}) > 1 for rows in groups)
    ]


def values_by_group(
    report: CampaignReport, metric: Column
) -> dict[str, dict[Hashable, float | int | None]]:
    """Return what a metric was in each run of each group, by what groups have in common.

    Runs that differ in nothing are numbered, so that the first is compared with the first. Runs
    that failed have None.
    """
    shared = pairing_columns(report)
    found: dict[str, dict[Hashable, float | int | None]] = {}
    for name, rows in rows_by_group(report).items():
        seen: Counter[Hashable] = Counter()
        values: dict[Hashable, float | int | None] = {}
        for row in rows:
            key = tuple(column.values[row] for column in shared)
            values[key, seen[key]] = number(metric.values[row])
            seen[key] += 1
        found[name] = values
    return found


def number(value: Value) -> float | int | None:
    """Return a cell of a numeric column, None if there is none."""
    if value is None or isinstance(value, str | bool):
        return None
    return None if math.isnan(value) else value
