"""Recorded activities: their actors, resources, dates, amounts and states."""

from __future__ import annotations

import csv
import gzip
import io
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from heapq import nsmallest
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from simplugin.core.errors import SimpluginError
from simplugin.platforms.radical import of_numbers
from simplugin.results.charts import ScheduleChart
from simplugin.simulation import Result


class TracedActivity(NamedTuple):
    """One activity of an actor.

    Attributes
    ----------
    actor : str
        Name of the actor; the sender of a transfer.
    resource : str
        A host, or ``source->destination``.
    kind, label : str
        Kind and label of a trace.
    start, end : float
        Dates [s].
    amount : float
        In the unit of its kind.
    state : str
        ``done``, ``failed`` or ``canceled``.
    """

    actor: str
    resource: str
    kind: str
    label: str
    start: float
    end: float
    amount: float
    state: str


@dataclass(frozen=True)
class Activities:
    """The activities of the actors of a run.

    Attributes
    ----------
    rows : tuple of TracedActivity
        In order of their end; if there are too many, those that start first, in that order.
    total : int
        Number of activities of the run.
    namesakes : mapping of str to int
        Number of actors by name, for names of several actors; hosts distinguish them.
    """

    rows: tuple[TracedActivity, ...]
    total: int
    namesakes: Mapping[str, int] = field(default_factory=dict)

    @property
    def until(self) -> float:
        """Date up to which all started activities are known [s]; infinite for a complete run."""
        if len(self.rows) >= self.total:
            return math.inf
        return max((row.start for row in self.rows), default=-math.inf)


def activities_of(result: Result, most: int) -> Activities | None:
    """Return the first activities of a simulation; None if it has no trace."""
    total = len(result.trace)
    if not total or not most:
        return None
    counts = Counter(each.name for each in result.returned)
    namesakes = {name: count for name, count in sorted(counts.items()) if count > 1}
    rows = (TracedActivity(*row) for row in result.trace.rows())
    return Activities(_first(rows, total, most), total, namesakes)


def activities_of_chart(chart: ScheduleChart, most: int) -> Activities | None:
    """Return the bars of a schedule as activities, their groups as actors."""
    clusters = [(name, each) for name, count in chart.clusters for each in range(count)]
    rows = []
    for bar in chart.bars:
        on: dict[str, list[int]] = {}
        for number in bar.processors:
            name, each = clusters[number]
            on.setdefault(name, []).append(each)
        resource = ", ".join(
            f"{name} {of_numbers(sorted(numbers)).replace(',', '+')}"
            for name, numbers in on.items()
        )
        count, group = float(len(bar.processors)), chart.groups[bar.group]
        rows.append(
            TracedActivity(group, resource, "bar", bar.label, bar.start, bar.finish, count, "done")
        )
    rows.sort(key=lambda row: (row.end, row.start))
    if not rows or not most:
        return None
    return Activities(_first(rows, len(rows), most), len(rows))


def is_complete(recorded: Activities | None, now: Activities | None) -> bool:
    """Return True if a record has as many activities as a new one would have.

    It has fewer if its trace was lost or damaged, or if the limit has changed.
    """
    counts = [0 if each is None else len(each.rows) for each in (recorded, now)]
    return counts[0] == counts[1]


def write_activities(activities: Activities, path: Path) -> None:
    """Write the rows as compressed CSV: the same bytes for the same rows."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(TracedActivity._fields)
    writer.writerows(activities.rows)
    path.write_bytes(gzip.compress(text.getvalue().encode(), 9, mtime=0))


def read_rows(path: Path) -> tuple[TracedActivity, ...]:
    """Read what `write_activities` wrote.

    Raises
    ------
    SimpluginError
        The file has another format.
    """
    try:
        with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
            reader = csv.reader(file)
            if tuple(next(reader, ())) != TracedActivity._fields:
                raise ValueError("its first line does not name the columns of a trace")
            return tuple(
                TracedActivity(
                    who, where, kind, label, float(start), float(end), float(amount), state
                )
                for who, where, kind, label, start, end, amount, state in reader
            )
    except (OSError, EOFError, ValueError, TypeError, csv.Error) as error:
        raise SimpluginError(
            f"{path}: is no recorded trace ({error}); record it again with --update"
        ) from error


def _first(rows: Iterable[TracedActivity], total: int, most: int) -> tuple[TracedActivity, ...]:
    """Return the rows that start first; all, in the given order, if there are not too many."""
    return tuple(rows if total <= most else nsmallest(most, rows, key=attrgetter("start")))
