"""Reports on a campaign: progress, the log of its runs, failures that are alike, the summary."""

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
# Of a log: a date and "begun"; or less of it, if the disk was full.
_BEGINNING = re.compile(rb"\d{4}-\d\d-\d\dT[\d:.]+Z begun |[-\dT:.]{0,24}(Z( b?e?g?u?n?)?)?\Z")
# The rate is that of the last minute: runs of one campaign can differ much.
_WINDOW = 60.0
# Fewer runs do not give an estimate of the end.
_FEWEST = 3
# How many groups are kept apart, and how many runs are shown of each: failures of 100,000 runs
# must fit into memory and onto a screen.
_MOST_GROUPS = 20
_MOST_SHOWN = 10
_NUMBER = re.compile(r"0x[0-9a-f]+|\d+(?:\.\d+)?(?:e[+-]?\d+)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CampaignProgress:
    """The progress of a campaign.

    Attributes
    ----------
    total : int
        Runs that it consists of.
    done, failed : int
        Runs with an outcome, and runs without, also those recorded by earlier commands.
    before : int
        How many of the two were recorded by earlier commands.
    running : int
        Runs handed over and not finished.
    seconds : float
        Since this command began [s].
    rate : float
        Runs finished in the last minute, a second [1/s].
    left : tuple of float, optional
        Time left if the others are like those of the last minute, as a range [s]; None while too
        few are finished.
    runners : str
        Who runs.
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
    """Measures how fast runs are finished.

    Parameters
    ----------
    now : float
        The date at which it begins [s].
    """

    def __init__(self, now: float) -> None:
        self._seen: deque[tuple[float, int]] = deque([(now, 0)])

    def note(self, now: float, finished: int) -> None:
        """Note how many runs have been finished so far.

        Parameters
        ----------
        now : float
            The date [s].
        finished : int
            Runs finished by this command so far.
        """
        self._seen.append((now, finished))
        while len(self._seen) > 2 and self._seen[1][0] <= now - _WINDOW:
            self._seen.popleft()

    @property
    def rate(self) -> float:
        """Runs finished in the last minute, a second [1/s]."""
        seconds, runs = self._span()
        return runs / seconds if seconds > 0 else 0.0

    def left(self, remaining: int) -> tuple[float, float] | None:
        """Return how long the remaining runs will take, as a range [s].

        Counts of independent runs spread by the root of their number, which is how uncertain the
        rate is.

        Parameters
        ----------
        remaining : int
            Runs that are not finished.

        Returns
        -------
        tuple of float, optional
            None if too few have been finished.
        """
        if remaining <= 0:
            return 0.0, 0.0
        seconds, runs = self._span()
        if runs < _FEWEST or seconds <= 0:
            return None
        spread = sqrt(runs)
        return remaining * seconds / (runs + spread), remaining * seconds / (runs - spread)

    def _span(self) -> tuple[float, int]:
        """Return the seconds that were looked at, and the runs finished in them."""
        (first, before), (last, after) = self._seen[0], self._seen[-1]
        return last - first, after - before


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
        True if these are the runs left over after the other groups.
    count : int
        How many runs.
    first : list of Job
        The first ten of them.
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
        if (failure := record.failure) is None:
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


@dataclass
class CampaignSummary:
    """The state of a campaign during and after a command.

    Attributes
    ----------
    title : str
        The campaign's.
    store : Path
        Where its records are.
    campaign : int
        Its number there.
    total : int
        Runs that it consists of, or that were asked for.
    before : int
        Runs that needed nothing: they were recorded, or are the same as another.
    done, failed : int
        Runs with an outcome, and without, also those recorded by earlier commands.
    failures : tuple of FailureGroup
        The latter, by how and why they failed.
    interrupted : bool
        True if it was asked to stop before the end.
    seconds : float
        How long the command took [s].
    gave_up : bool
        True if it ended before the end since the first fifty runs all failed alike.
    changed : int
        How many results were given up since a file had changed during the run.
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
        """Runs that are not recorded."""
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
    """Appends lines to a file, which it opens when there is something to write.

    Parameters
    ----------
    path : Path
        The file; made if there is none.
    command : sequence of str
        The words of the command that runs the campaign; empty if a program does.

    Raises
    ------
    StoreError
        By every method: the file cannot be written.
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
        """Note that a campaign begins or goes on: which, with what, where, and by whose words."""
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
        """Note a run; `again` if it crashed and is tried again."""
        failure = record.failure
        state = "done" if failure is None else f"{failure.kind}, again" if again else failure.kind
        why = "" if failure is None else f": {first_line(failure.text)}"
        job = record.job
        self._note(
            f"run {job.position} {job.key[:_KEY_DIGITS]} {state} in {record.duration:.3f} s "
            f"on {record.place}{why}"
        )

    def outdated(self, record: RunRecord) -> None:
        """Note a run whose result is given up."""
        job = record.job
        self._note(
            f"run {job.position} {job.key[:_KEY_DIGITS]} not recorded: a file that it depends on "
            f"changed during its {record.duration:.3f} s on {record.place}"
        )

    def interrupted(self, why: str) -> None:
        """Note that somebody or something stopped it."""
        self._note(f"interrupted: {first_line(why)}")

    def ended(self, done: int, failed: int, total: int, seconds: float, runners: str) -> None:
        """Note how it ended, and who ran."""
        self._note(
            f"ended: {done} done, {failed} failed, of {total} runs, in {seconds:.1f} s; {runners}"
        )

    def flush(self) -> None:
        """Give what was noted to the file."""
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
            remedy = "make room or right it, and give the same command again"
            remedy += "; what was recorded is safe"
            raise StoreError(message, file=self._path, remedy=remedy) from error
        self._lines.clear()

    def _opened(self) -> BinaryIO:
        """Open the file to write at its end, unless it is something else."""
        # Not buffered: what could not be written must not come up again at the end.
        stream = self._path.open("a+b", buffering=0)
        stream.seek(0)
        if not _BEGINNING.match(stream.read(_LOOKED_AT)):
            stream.close()
            message, remedy = "this is no log of runs", "move it elsewhere, or name another store"
            raise StoreError(f"{message}, and stays as it is", file=self._path, remedy=remedy)
        return stream

    def _note(self, event: str) -> None:
        """Keep a line until the next flush."""
        self._lines.append(f"{now().replace('+00:00', 'Z')} {event}\n")


def log_path(store: Path) -> Path:
    """Return where the log of a store is: beside it, with a name that nothing else has."""
    return store.with_name(f"{store.name}.log")


def first_line(text: str) -> str:
    """Return the first line of a message that has one, as it can be shown."""
    return printable(next((line for line in text.splitlines() if line.strip()), text))
