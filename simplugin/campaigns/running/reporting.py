"""Reports on a campaign: progress, the log of its runs, groups of failures, the summary."""

from __future__ import annotations

import os
import platform
import re
import shlex
import socket
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from errno import ENOSPC
from math import sqrt
from pathlib import Path
from typing import Any, BinaryIO

import simplugin
from simplugin.campaigns.jobs import Failure, FailureKind, JobSource, RunJob, RunRecord, now
from simplugin.core.errors import StoreError
from simplugin.core.formatting import printable

_KEY_DIGITS = 12
_LOOKED_AT = 64
# The start of a log: a date and "begun"; incomplete if the disk was full.
_BEGINNING = re.compile(rb"\d{4}-\d\d-\d\dT[\d:.]+Z begun |[-\dT:.]{0,24}(Z( b?e?g?u?n?)?)?\Z")
# The rate is measured over this time, since runs of one campaign can differ much [s].
_WINDOW = 60.0
# Minimum number of runs for an estimate of the time left.
_FEWEST = 3
# Maximum number of groups, and of runs shown of each: failures of 100,000 runs must fit into
# memory and onto a screen.
_MOST_GROUPS = 20
_MOST_SHOWN = 10
_NUMBER = re.compile(r"0x[0-9a-f]+|\d+(?:\.\d+)?(?:e[+-]?\d+)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CampaignProgress:
    """The progress of a campaign.

    Attributes
    ----------
    total : int
        Number of runs.
    done, failed : int
        Number of runs with a result, and of failed runs, including those of earlier commands.
    before : int
        Number of these that earlier commands have recorded.
    running : int
        Number of submitted runs that are in progress.
    seconds : float
        Time since this command began [s].
    rate : float
        Mean rate of the last minute [1/s].
    left : tuple of float, optional
        Range of the time left at the rate of the last minute [s]; None after too few runs.
    runners : str
        Description of the runners.
    """

    total: int
    done: int
    failed: int
    before: int
    running: int
    seconds: float
    rate: float
    left: tuple[float, float] | None
    runners: str


class RunRate:
    """Measures the rate at which runs end.

    Parameters
    ----------
    now : float
        Date of the start [s].
    """

    def __init__(self, now: float) -> None:
        self._seen: deque[tuple[float, int]] = deque([(now, 0)])

    def note(self, now: float, finished: int) -> None:
        """Note the number of runs that this command has finished until a date [s]."""
        self._seen.append((now, finished))
        while len(self._seen) > 2 and self._seen[1][0] <= now - _WINDOW:
            self._seen.popleft()

    @property
    def rate(self) -> float:
        """Mean rate of the last minute [1/s]."""
        seconds, runs = self._span()
        return runs / seconds if seconds > 0 else 0.0

    def left(self, remaining: int) -> tuple[float, float] | None:
        """Return the range of the time that the remaining runs take [s]; None after too few runs.

        The standard deviation of a count of independent runs is its square root.
        """
        if remaining <= 0:
            return 0.0, 0.0
        seconds, runs = self._span()
        if runs < _FEWEST or seconds <= 0:
            return None
        spread = sqrt(runs)
        return remaining * seconds / (runs + spread), remaining * seconds / (runs - spread)

    def _span(self) -> tuple[float, int]:
        """Return the length of the observed time [s], and the number of runs in it."""
        (first, before), (last, after) = self._seen[0], self._seen[-1]
        return last - first, after - before


@dataclass(slots=True)
class FailureGroup:
    """Runs that failed in the same way.

    Attributes
    ----------
    kind : {"error", "crash", "wall_limit", "memory_limit"}
        Kind of the failures.
    text : str
        Message of the first failure; the others differ in numbers only, unless `mixed`.
    mixed : bool
        True for the group of all runs that belong to no other group.
    count : int
        Number of runs.
    first : list of RunJob
        The first ten runs.
    """

    kind: FailureKind
    text: str
    mixed: bool = False
    count: int = 0
    first: list[RunJob] = field(default_factory=list)

    def add(self, job: RunJob) -> None:
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


def failure_groups(records: Iterable[RunRecord]) -> list[FailureGroup]:
    """Group failed runs by kind and message, apart from numbers.

    Returns at most twenty groups, the largest first, and one with all other failures.
    """
    groups: dict[tuple[str, str], FailureGroup] = {}
    rest: FailureGroup | None = None
    for record in records:
        if (failure := record.failure) is None:
            continue
        alike = failure_signature(failure)
        group = groups.get(alike)
        if group is None and len(groups) < _MOST_GROUPS:
            group = groups[alike] = FailureGroup(failure.kind, failure.text)
        if group is None:
            group = rest = rest or FailureGroup(failure.kind, failure.text, mixed=True)
        group.add(record.job)
    largest = sorted(groups.values(), key=lambda group: -group.count)
    return largest if rest is None else [*largest, rest]


def failure_signature(failure: Failure) -> tuple[str, str]:
    """Return the kind and the first line of the message, without numbers."""
    return failure.kind, _NUMBER.sub("#", failure.text.partition("\n")[0])


@dataclass
class CampaignSummary:
    """The state of a campaign during and after a command.

    Attributes
    ----------
    title : str
        Title of the campaign.
    store : Path
        Its store.
    campaign : int
        Its number in the store.
    total : int
        Number of runs of the campaign, or of the runs to retry.
    before : int
        Number of runs that were recorded before, or have the key of another run.
    done, failed : int
        Number of runs with a result, and of failed runs, including those of earlier commands.
    failures : tuple of FailureGroup
        Failed runs by kind and message.
    interrupted : bool
        True if it was stopped before the end.
    seconds : float
        Time that the command took [s].
    gave_up : bool
        True if it stopped because the first fifty runs all failed with the same error.
    changed : int
        Number of results that were discarded because a file had changed during the run.
    """

    title: str
    store: Path
    campaign: int
    total: int
    before: int = 0
    done: int = 0
    failed: int = 0
    failures: tuple[FailureGroup, ...] = ()
    interrupted: bool = False
    seconds: float = 0.0
    gave_up: bool = False
    changed: int = 0

    @property
    def missing(self) -> int:
        """Number of runs that are not recorded."""
        return self.total - self.done - self.failed

    def document(self) -> dict[str, Any]:
        """Return the summary as plain containers, for JSON."""
        return {
            **vars(self),
            "store": str(self.store),
            "missing": self.missing,
            "failures": [group.document() for group in self.failures],
        }


class RunLog:
    """Log file of a campaign, opened with the first line.

    Parameters
    ----------
    path : Path
        The file; created if it is missing.
    command : sequence of str
        Command line of the campaign; empty in a program.

    Raises
    ------
    StoreError
        Raised by every method: the file cannot be written.
    """

    def __init__(self, path: Path, command: Sequence[str] = ()) -> None:
        self._path = path
        self._command = command
        self._stream: BinaryIO | None = None
        self._lines: list[str] = []

    def close(self) -> None:
        """Close the file."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def begun(self, source: JobSource, store: Path) -> None:
        """Add a line for the start: campaign, store, process, versions and command line."""
        words = f": {shlex.join(self._command)}" if self._command else ""
        file = f" of {source.file}" if source.file else ""
        self._note(
            f"begun {source.title!r}{file}, {source.total} runs, "
            f"identity {source.identity[:_KEY_DIGITS]}, into {store}, by process {os.getpid()} on "
            f"{socket.gethostname()}, simplugin {simplugin.__version__}, "
            f"Python {platform.python_version()}{words}"
        )
        self.flush()

    def ran(self, record: RunRecord, *, again: bool = False) -> None:
        """Add a line for a run; `again` is True if it crashed and is retried."""
        failure = record.failure
        state = "done" if failure is None else f"{failure.kind}, again" if again else failure.kind
        why = "" if failure is None else f": {first_line(failure.text)}"
        job = record.job
        self._note(
            f"run {job.position} {job.key[:_KEY_DIGITS]} {state} in {record.duration:.3f} s "
            f"on {record.place}{why}"
        )

    def outdated(self, record: RunRecord) -> None:
        """Add a line for a discarded result."""
        job = record.job
        self._note(
            f"run {job.position} {job.key[:_KEY_DIGITS]} not recorded: a file that it depends on "
            f"changed during its {record.duration:.3f} s on {record.place}"
        )

    def interrupted(self, why: str) -> None:
        """Add a line for an early end and its reason."""
        self._note(f"interrupted: {first_line(why)}")

    def ended(self, done: int, failed: int, total: int, seconds: float, runners: str) -> None:
        """Add a line for the end."""
        self._note(
            f"ended: {done} done, {failed} failed, of {total} runs, in {seconds:.1f} s; {runners}"
        )

    def flush(self) -> None:
        """Write the new lines to the file."""
        if not self._lines:
            return
        text = "".join(self._lines).encode()
        try:
            if self._stream is None:
                self._stream = self._opened()
            if self._stream.write(text) != len(text):
                raise OSError(ENOSPC, os.strerror(ENOSPC))
        except OSError as error:
            message = f"the log cannot be written: {error.strerror or error}"
            remedy = "free disk space or fix the permissions, then rerun the command"
            remedy += "; recorded runs are safe"
            raise StoreError(message, file=self._path, remedy=remedy) from error
        self._lines.clear()

    def _opened(self) -> BinaryIO:
        """Open the file for appending; raise if it is not a log."""
        # Not buffered: lines that could not be written must not be written again on closing.
        stream = self._path.open("a+b", buffering=0)
        stream.seek(0)
        if not _BEGINNING.match(stream.read(_LOOKED_AT)):
            stream.close()
            message, remedy = "this file is not a log of runs", "move it, or use another store"
            raise StoreError(message, file=self._path, remedy=remedy)
        return stream

    def _note(self, event: str) -> None:
        """Add a line, which is written by the next flush."""
        self._lines.append(f"{now().replace('+00:00', 'Z')} {event}\n")


def log_path(store: Path) -> Path:
    """Return the path of the log of a store."""
    return store.with_name(f"{store.name}.log")


def first_line(text: str) -> str:
    """Return the first line of a message that is not blank, in printable form."""
    return printable(next((line for line in text.splitlines() if line.strip()), text))
