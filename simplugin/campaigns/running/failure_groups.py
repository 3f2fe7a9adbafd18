"""What failed and why: many runs that failed alike are told together."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from simplugin.campaigns.jobs import Failure, FailureKind, Job, Record

# How many groups are kept apart, and how many runs are shown of each: failures of 100,000 runs
# must fit into memory and onto a screen.
_MOST_GROUPS = 20
_MOST_SHOWN = 10
_NUMBER = re.compile(r"0x[0-9a-f]+|\d+(?:\.\d+)?(?:e[+-]?\d+)?", re.IGNORECASE)


@dataclass(slots=True)
class FailureGroup:
    """Runs that failed in the same way.

    Attributes
    ----------
    kind : {"error", "crash", "wall_limit", "memory_limit"}
        How.
    text : str
        The message of the first; those of the others differ in numbers at most, unless `mixed`.
    mixed : bool
        Whether these are the runs left over after the other groups.
    count : int
        How many runs.
    first : list of Job
        The first ten of them.
    """

    kind: FailureKind
    text: str
    mixed: bool = False
    count: int = 0
    first: list[Job] = field(default_factory=list)

    def add(self, job: Job) -> None:
        """Add a run."""
        self.count += 1
        if len(self.first) < _MOST_SHOWN:
            self.first.append(job)

    def document(self) -> dict[str, Any]:
        """Return the group as plain containers, for JSON."""
        return {
            "kind": self.kind,
            "text": self.text,
            "mixed": self.mixed,
            "count": self.count,
            "first": [
                {"position": job.position, "key": job.key, "varied": dict(job.varied)}
                for job in self.first
            ],
        }


def failure_groups(records: Iterable[Record]) -> list[FailureGroup]:
    """Group failed runs by how they failed and by their messages, apart from numbers in these.

    Parameters
    ----------
    records : iterable of Record
        Gone through once; those that did not fail are left out.

    Returns
    -------
    list of FailureGroup
        The largest first; at most twenty and one of what is left over.
    """
    groups: dict[tuple[str, str], FailureGroup] = {}
    rest: FailureGroup | None = None
    for record in records:
        failure = record.failure
        if failure is None:
            continue
        alike = manner_of(failure)
        group = groups.get(alike)
        if group is None and len(groups) < _MOST_GROUPS:
            group = groups[alike] = FailureGroup(failure.kind, failure.text)
        if group is None:
            group = rest = rest or FailureGroup(failure.kind, failure.text, mixed=True)
        group.add(record.job)
    largest = sorted(groups.values(), key=lambda group: -group.count)
    return largest if rest is None else [*largest, rest]


def manner_of(failure: Failure) -> tuple[str, str]:
    """Return what failures have in common that are alike: kind, and message apart from numbers."""
    return failure.kind, _NUMBER.sub("#", failure.text.partition("\n")[0])
