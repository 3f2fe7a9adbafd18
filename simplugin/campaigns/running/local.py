"""Processes of this host that do jobs."""

from __future__ import annotations

import os
import queue
import threading

from simplugin.campaigns.jobs import Job, Record
from simplugin.campaigns.running.run_process import RunProcess, StoppedError
from simplugin.errors import SimpluginError

# Each has one job waiting, so that it need not wait for the next one.
_AHEAD = 2


class LocalRunners:
    """Run processes of this host, with a thread of this process for each.

    Parameters
    ----------
    count : int, optional
        How many; as many as there are cores for this process if left out.

    Raises
    ------
    SimpluginError
        `count` is less than 1.
    """

    def __init__(self, count: int | None = None) -> None:
        self.count = cores() if count is None else count
        if self.count < 1:
            raise SimpluginError(f"count is {count!r}; give 1 process or more")
        self._in_flight = 0
        self._closed = False
        self._defect: BaseException | None = None
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._outcomes: queue.SimpleQueue[Record | BaseException] = queue.SimpleQueue()
        self._processes = [RunProcess() for _ in range(self.count)]
        self._threads = [
            threading.Thread(target=self._serve, args=(process,), name=f"runner-{n}", daemon=True)
            for n, process in enumerate(self._processes)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def wanted(self) -> int:
        """The number of jobs that can be submitted now so that no runner waits for the next one."""
        return 0 if self._closed else max(0, _AHEAD * self.count - self._in_flight)

    @property
    def running(self) -> int:
        """The number of submitted jobs that `finished` has not returned."""
        return self._in_flight

    def submit(self, job: Job) -> None:
        """Hand over a job; returns at once."""
        if self._closed:
            raise SimpluginError("the runners are closed; make new ones")
        self._in_flight += 1
        self._jobs.put(job)

    def finished(self, timeout: float) -> list[Record]:
        """Return what was finished since the last call; wait up to `timeout` [s] for the first.

        Raises
        ------
        SetupError
            Run processes cannot be started.
        """
        records: list[Record] = []
        try:
            waits = self._in_flight and self._defect is None
            outcome = self._outcomes.get(timeout=max(0.0, timeout)) if waits else None
            while outcome is not None:
                if isinstance(outcome, BaseException):
                    self._defect = outcome
                    break
                self._in_flight -= 1
                records.append(outcome)
                outcome = self._outcomes.get_nowait()
        except queue.Empty:
            pass
        if self._defect is not None and not records:
            raise self._defect
        return records

    def describe(self) -> str:
        """Return the number of processes in words."""
        noun = "process" if self.count == 1 else "processes"
        return f"{self.count} {noun} of this host"

    def close(self) -> None:
        """End everything that they still do, at once; also when called twice."""
        self._closed = True
        self._in_flight = 0
        for process in self._processes:
            process.close(wait=False)
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join()

    def _serve(self, process: RunProcess) -> None:
        """Have jobs done until there are no more."""
        try:
            with process:
                while not self._closed and (job := self._jobs.get()) is not None:
                    self._outcomes.put(process.run(job))
        except StoppedError:
            return
        except BaseException as error:
            # Whoever waits for the record has to know that there will be none.
            self._outcomes.put(error)


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0))
