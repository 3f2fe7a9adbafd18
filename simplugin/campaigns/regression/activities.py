"""Activities as they are recorded: what each actor did, when, and with what outcome."""

from __future__ import annotations

import csv
import gzip
import io
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from simplugin.errors import SimpluginError

if TYPE_CHECKING:
    from simplugin.charts import ScheduleChart
    from simplugin.simulation import Result

COLUMNS = ("actor", "resource", "kind", "label", "start", "end", "amount", "state")


class Activity(NamedTuple):
    """One thing that an actor did.

    Attributes
    ----------
    actor : str
        Who; of a transfer, who sends.
    resource : str
        A host, or ``source->destination``.
    kind, label : str
        As in a trace.
    start, end : float
        When [s].
    amount : float
        In the unit of its kind.
    state : str
        How it ended.
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
    """What the actors of a run did.

    Attributes
    ----------
    rows : tuple of Activity
        In order of their end; the first ones if there were too many.
    total : int
        How many there were.
    namesakes : mapping of str to int
        Names that several actors have, and how many.
    """

    rows: tuple[Activity, ...]
    total: int
    namesakes: Mapping[str, int] = field(default_factory=dict)

    @property
    def cut(self) -> bool:
        """Whether there were more than are here."""
        return self.total > len(self.rows)


def activities_of(result: Result, most: int) -> Activities | None:
    """Return the first activities of a simulation; None if it has no trace."""
    if not len(result.trace) or not most:
        return None
    rows = tuple(Activity(*row) for row in islice(result.trace.rows(), most))
    counts = Counter(each.name for each in result.returned)
    namesakes = {name: count for name, count in sorted(counts.items()) if count > 1}
    return Activities(rows, len(result.trace), namesakes)


def activities_of_chart(chart: ScheduleChart, most: int) -> Activities | None:
    """Return the bars of a schedule as activities, their groups as actors."""
    clusters = [(name, each) for name, count in chart.clusters for each in range(count)]
    rows = []
    for bar in chart.bars:
        on: dict[str, list[int]] = {}
        for number in bar.processors:
            name, each = clusters[number]
            on.setdefault(name, []).append(each)
        resource = ", ".join(f"{name} {_ranges(numbers)}" for name, numbers in on.items())
        count, group = float(len(bar.processors)), chart.groups[bar.group]
        rows.append(
            Activity(group, resource, "bar", bar.label, bar.start, bar.finish, count, "done")
        )
    rows.sort(key=lambda row: (row.end, row.start))
    return Activities(tuple(rows[:most]), len(rows)) if rows and most else None


def write_activities(activities: Activities, path: Path) -> None:
    """Write the rows as compressed CSV: the same bytes for the same rows."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    writer.writerows(activities.rows)
    path.write_bytes(gzip.compress(text.getvalue().encode(), 9, mtime=0))


def read_rows(path: Path) -> tuple[Activity, ...]:
    """Read what `write_activities` wrote.

    Raises
    ------
    SimpluginError
        It is not such a file.
    """
    try:
        with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
            reader = csv.reader(file)
            if tuple(next(reader, ())) != COLUMNS:
                raise ValueError("its first line does not name the columns of a trace")
            return tuple(_activity(*row) for row in reader)
    except (OSError, EOFError, ValueError, TypeError, csv.Error) as error:
        raise SimpluginError(
            f"{path}: is no recorded trace ({error}); record it again with --update"
        ) from error


def _activity(
    actor: str, resource: str, kind: str, label: str, start: str, end: str, amount: str, state: str
) -> Activity:
    """Read one line."""
    return Activity(actor, resource, kind, label, float(start), float(end), float(amount), state)


def _ranges(numbers: list[int]) -> str:
    """Write numbers in order, neighbours as ``first-last``."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return "+".join(str(low) if low == high else f"{low}-{high}" for low, high in runs)
