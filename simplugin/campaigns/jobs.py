"""Jobs of a campaign, the records of their runs, and protocols of their sources and runners."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from queue import Empty, SimpleQueue
from typing import Any, Literal, Protocol

from simplugin.results.row import RunResult


@dataclass(frozen=True, slots=True)
class RunJob:
    """One run to do; plain data, which can be sent to other processes and hosts.

    Attributes
    ----------
    key : str
        SHA-256 of everything that determines the result, as 64 hexadecimal digits.
    position : int
        Its number in its campaign, from 0 on.
    target : str
        ``module:function`` that does it: ``(arguments) -> RunResult``.
    arguments : mapping
        Plain containers, texts and numbers.
    varied : mapping of str to object
        Dotted keys that vary in the campaign, and their values in this run.
    wall_limit : float, optional
        Real time that it may take [s].
    memory_limit : int, optional
        Memory that it may occupy, with all processes that it starts [byte].
    """

    key: str
    position: int
    target: str
    arguments: Mapping[str, Any]
    varied: Mapping[str, Any] = field(default_factory=dict)
    wall_limit: float | None = None
    memory_limit: int | None = None


# "error": it raised an exception, as it would again; "crash": its process died; the others: it
# exceeded a limit and was ended.
FailureKind = Literal["error", "crash", "wall_limit", "memory_limit"]


@dataclass(frozen=True, slots=True)
class Failure:
    """The reason why a run has no outcome.

    Attributes
    ----------
    kind : {"error", "crash", "wall_limit", "memory_limit"}
        An exception, the death of the process, or the limit that was exceeded.
    text : str
        The message.
    """

    kind: FailureKind
    text: str


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One attempt to run a job: a row of the store.

    Attributes
    ----------
    job : RunJob
        The job.
    measured : RunResult, optional
        The result; None if the run failed.
    failure : Failure, optional
        Kind and message of the failure; None if the run did not fail.
    started : str
        Date of the start, as ISO 8601 in UTC.
    duration : float
        Real time that the run took [s].
    place : str
        ``host:pid`` of the process; of the Dask worker if the worker was lost.
    versions : mapping of str to str
        Versions of Python and of the packages that the run used.
    """

    job: RunJob
    measured: RunResult | None
    failure: Failure | None
    started: str
    duration: float
    place: str
    versions: Mapping[str, str] = field(default_factory=dict)


def now() -> str:
    """Return the current date in the format of records."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class JobSource(Protocol):
    """Many jobs, made one by one on request.

    Attributes
    ----------
    title : str
        Title of the campaign.
    identity : str
        SHA-256 of its contents; two campaigns with the same identity are one campaign.
    file, text : str
        The path and the text of its file; empty if a program made it.
    total : int
        The number of jobs.
    target : str
        The target of all jobs.
    recipe : mapping or None
        Plain data from which the arguments of all jobs follow; None if each job is stored with
        its arguments.
    """

    @property
    def title(self) -> str:
        """Title of the campaign."""

    @property
    def identity(self) -> str:
        """SHA-256 of its contents."""

    @property
    def file(self) -> str:
        """The path of its file."""

    @property
    def text(self) -> str:
        """The text of its file."""

    @property
    def total(self) -> int:
        """The number of jobs."""

    @property
    def target(self) -> str:
        """The target of all jobs."""

    @property
    def recipe(self) -> Mapping[str, Any] | None:
        """Plain data from which the arguments of all jobs follow."""

    def jobs(self) -> Iterator[RunJob]:
        """Make the jobs, in the order of their positions."""

    def again(self, job: RunJob) -> RunJob:
        """Return the job with its key recomputed from the current files.

        Raises
        ------
        SimpluginError
            The key is unknown because a file is gone; the run is then recorded as failed.
        """


class Runners(Protocol):
    """Runners of jobs: processes of this host, or the workers of a cluster."""

    @property
    def wanted(self) -> int:
        """The number of jobs that can be submitted now so that no runner waits for the next one."""

    @property
    def running(self) -> int:
        """The number of submitted jobs that are not finished."""

    def submit(self, job: RunJob) -> None:
        """Add a job to those to do; return at once."""

    def finished(self, timeout: float) -> list[RunRecord]:
        """Return the records since the last call; wait up to `timeout` [s] for the first."""

    def describe(self) -> str:
        """Return a short description for the progress display and the log."""

    def close(self) -> None:
        """End all jobs in progress; may be called twice."""


class QueuedRunners:
    """Base of runners that return what their threads or tasks put into a queue.

    The queue holds records, and the error after which there are no further records.
    """

    def __init__(self) -> None:
        self._answers: SimpleQueue[RunRecord | BaseException] = SimpleQueue()
        self._trouble: BaseException | None = None
        self._running = 0

    @property
    def running(self) -> int:
        """The number of submitted jobs that `finished` has not returned."""
        return self._running

    def finished(self, timeout: float) -> list[RunRecord]:
        """Return the records since the last call; wait up to `timeout` [s] for the first.

        Raises
        ------
        SetupError
            Run processes cannot be started, the scheduler has gone, or a worker that joined has
            other versions.
        """
        records: list[RunRecord] = []
        with suppress(Empty):
            wait = max(0.0, timeout) if self._running else 0.0
            answer = self._trouble or self._answers.get(timeout=wait)
            while isinstance(answer, RunRecord):
                records.append(answer)
                answer = self._answers.get_nowait()
            self._trouble = answer
        self._running -= len(records)
        if self._trouble is not None and not records:
            raise self._trouble
        return records
