"""Recorded activities: their actors, resources, dates, amounts and states."""

from __future__ import annotations

import csv
import gzip
import io
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from simplugin.core.errors import SimpluginError
from simplugin.platforms.radical import of_numbers
from simplugin.regression.tolerances import ACTIVITIES
from simplugin.results.charts import ScheduleChart
from simplugin.simulation import Result, Trace


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
        The recorded ones, in order of their end: the first ones if there are too many.
    total : int
        Number of activities of the run.
    namesakes : mapping of str to int
        Number of actors by name, for names of several actors; hosts distinguish them.
    sharing : mapping of str to mapping of str to int
        Number of actors that were active, by name and host, for combinations that are not unique.
    further : tuple of TracedActivity
        Activities of a new run after `rows`, in order of their end: up to 100,000, and those that
        had started when the last of these ended. They are compared, but not recorded.
    """

    rows: tuple[TracedActivity, ...]
    total: int
    namesakes: Mapping[str, int] = field(default_factory=dict)
    sharing: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    further: tuple[TracedActivity, ...] = ()

    @property
    def known(self) -> tuple[TracedActivity, ...]:
        """All available activities, in order of their end."""
        return (*self.rows, *self.further)

    @property
    def known_until(self) -> float:
        """Date up to which all ended activities are available [s]; infinite for a complete run."""
        known = self.known
        if len(known) >= self.total:
            return math.inf
        # After this number, only activities with an earlier start follow.
        whole = known[: max(len(self.rows), ACTIVITIES)]
        return whole[-1].end if whole else -math.inf


def activities_of(result: Result, most: int) -> Activities | None:
    """Return the first activities of a simulation; None if it has no trace."""
    if not len(result.trace) or not most:
        return None
    counts = Counter(each.name for each in result.returned)
    namesakes = {name: count for name, count in sorted(counts.items()) if count > 1}
    rows, further = _limited((TracedActivity(*row) for row in result.trace.rows()), most)
    return Activities(
        rows, len(result.trace), namesakes, _sharing(result.trace, namesakes), further
    )


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
    kept, further = _limited(rows, most)
    return Activities(kept, len(rows), further=further)


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


_Rows = tuple[TracedActivity, ...]


def _limited(found: Iterable[TracedActivity], most: int) -> tuple[_Rows, _Rows]:
    """Return the recorded rows and the further ones that are compared (see `Activities`)."""
    left = iter(found)
    rows = tuple(islice(left, most))
    further = list(islice(left, max(ACTIVITIES - most, 0)))
    last = (further or rows)[-1].end
    further += [each for each in left if each.start <= last]
    return rows, tuple(further)


def _sharing(trace: Trace, namesakes: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """Return the number of active actors by name and host, where that is not unique.

    Includes the hosts of actors that were active on several hosts.
    """
    shared = np.array([name in namesakes for name in trace.actor_names])[trace.actor_code]
    pairs = np.unique(trace.actor_code[shared] * np.int64(2**32) + trace.resource_code[shared])
    hosts, actors = defaultdict(set), defaultdict(set)
    for actor, resource in zip((pairs >> 32).tolist(), (pairs % 2**32).tolist(), strict=True):
        host = host_of(trace.resource_names[resource])
        hosts[actor].add(host)
        actors[trace.actor_names[actor], host].add(actor)
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for (name, host), several in sorted(actors.items()):
        if len(several) > 1 or any(len(hosts[actor]) > 1 for actor in several):
            found[name][host] = len(several)
    return dict(found)


def host_of(resource: str) -> str:
    """Return the host of an activity; the source of a transfer."""
    return resource.partition("->")[0]
