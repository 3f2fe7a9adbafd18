"""Jobs of a campaign, the records that they become, and protocols of who makes and does them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from queue import Empty, SimpleQueue
from typing import Any, Literal, Protocol

from simplugin.results.row import Row


@dataclass(frozen=True, slots=True)
class RunJob:
    """One run that is to be done; plain data, which travels to where it is done.

    Attributes
    ----------
    key : str
        SHA-256 of everything that determines what comes out, as 64 hexadecimal digits.
    position : int
        Its number in its campaign, from 0 on.
    target : str
        ``module:function`` that does it: ``(arguments) -> Measured``.
    arguments : mapping
        Plain containers, texts and numbers.
    varied : mapping of str to object
        What distinguishes it in its campaign: dotted keys and their values.
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


@dataclass(frozen=True, slots=True)
class RunResult:
    """The outcome of a run.

    Attributes
    ----------
    row : Row
        Metrics, optimum or bound, provenance.
    digest : str, optional
        SHA-256 of the whole result, the same wherever it was computed.
    contents : mapping, optional
        What is kept besides, for reports; as JSON has it.
    """

    row: Row
    digest: str | None = None
    contents: Mapping[str, Any] | None = None


# "error": it raised an exception, and would again; "crash": its process died; the others: it was
# ended because it passed a limit.
FailureKind = Literal["error", "crash", "wall_limit", "memory_limit"]


@dataclass(frozen=True, slots=True)
class Failure:
    """The reason why a run has no outcome.

    Attributes
    ----------
    kind : {"error", "crash", "wall_limit", "memory_limit"}
        True if it raised, its process died, or which limit it passed.
    text : str
        The message, for humans.
    """

    kind: FailureKind
    text: str


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A row of the store: a run that was tried.

    Attributes
    ----------
    job : Job
        What was tried.
    measured : Measured, optional
        What came out; None if it failed.
    failure : Failure, optional
        Why it failed; None if it did not.
    started : str
        When, as ISO 8601 in UTC.
    duration : float
        How long it took [s of real time].
    place : str
        Where: ``host:process``; of a run that was lost with its worker the worker's.
    versions : mapping of str to str
        Of Python and of the packages that had a part in it.
    """

    job: RunJob
    measured: RunResult | None
    failure: Failure | None
    started: str
    duration: float
    place: str
    versions: Mapping[str, str] = field(default_factory=dict)


def now() -> str:
    """Return the date as records have it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class JobSource(Protocol):
    """Many jobs, made one by one when they are asked for.

    Attributes
    ----------
    title : str
        For humans.
    identity : str
        SHA-256 of what it consists of; a campaign with the same one is the same campaign.
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
        """For humans."""

    @property
    def identity(self) -> str:
        """SHA-256 of what it consists of."""

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
        """Return the same job as of now: with another key if a file has changed.

        Raises
        ------
        SimpluginError
            It is unknown, as when a file is gone; the run is recorded as failed then.
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
        """Hand over a job; returns at once."""

    def finished(self, timeout: float) -> list[RunRecord]:
        """Return what was finished since the last call; wait up to `timeout` [s] for the first."""

    def describe(self) -> str:
        """Return their description, a few words for the progress display and the log."""

    def close(self) -> None:
        """End everything that they still do, at once; also when called twice."""


class QueuedRunners:
    """The part of runners that hands back what threads or tasks put into a queue.

    What is put there is a record, or the error because of which there will be no more.
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
        """Return what was finished since the last call; wait up to `timeout` [s] for the first.

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
