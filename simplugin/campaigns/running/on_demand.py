"""Runners that are started when there is something to run."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from types import TracebackType
from typing import Self

from simplugin.campaigns.jobs import Job, Record, Runners


class RunnersOnDemand:
    """Starts runners with the first job: nobody queues for a cluster to learn that all is done.

    Parameters
    ----------
    start : callable
        Makes them.
    """

    def __init__(self, start: Callable[[], AbstractContextManager[Runners]]) -> None:
        self._start = start
        self._started: Runners | None = None
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End them, and what they were started with."""
        self._stack.__exit__(kind, error, traceback)

    @property
    def wanted(self) -> int:
        """How many more jobs they can be given; one before they are started."""
        return 1 if self._started is None else self._started.wanted

    @property
    def running(self) -> int:
        """How many jobs are not finished."""
        return 0 if self._started is None else self._started.running

    def submit(self, job: Job) -> None:
        """Hand over a job; the first one starts them."""
        if self._started is None:
            self._started = self._stack.enter_context(self._start())
        self._started.submit(job)

    def finished(self, timeout: float) -> list[Record]:
        """Return what was finished; at once if they were not started."""
        return [] if self._started is None else self._started.finished(timeout)

    def describe(self) -> str:
        """Say who they are."""
        return "nothing to run" if self._started is None else self._started.describe()

    def close(self) -> None:
        """End everything that they still do."""
        if self._started is not None:
            self._started.close()
