"""Tasks inside the workers of a Dask cluster; `DaskRunners` sends them here."""

from __future__ import annotations

import os
import pickle
import platform
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock, Thread
from time import monotonic, sleep
from typing import Any

from simplugin.campaigns.jobs import Failure, RunJob, RunRecord, now
from simplugin.campaigns.keys import code_digest, simgrid_version, versions
from simplugin.campaigns.running.run_process import RunProcess, StoppedError
from simplugin.core.errors import SetupError

# Seconds. How often to look whether runs are still wanted, and how long a process without a run
# is kept for the next one.
_LOOK_PERIOD = 0.25
_IDLE_LIMIT = 30.0

# By name: version, or SHA-256.
Software = Mapping[str, str]


def software() -> dict[str, str]:
    """Return what determines, besides a job, what comes out of it here."""
    # Of the files as they are now: a worker may serve campaigns for weeks.
    code_digest.cache_clear()
    found = versions({"simgrid": simgrid_version()})
    return {**found, "code of simplugin": code_digest(whole=True), "machine": platform.machine()}


def require_same(found: Software, expected: Software, worker: str) -> None:
    """Refuse a worker whose results would not be those of another one.

    Raises
    ------
    SetupError
        It has other software; the message names it and both versions of each.
    """
    if differ := [name for name in expected if found.get(name) != expected[name]]:
        listed = ", ".join(
            f"{name} {_short(found.get(name, 'missing'))} instead of {_short(expected[name])}"
            for name in differ
        )
        raise SetupError(
            f"worker {worker} of the Dask cluster has {listed}; results could differ: install "
            "the same versions there as here, and start the workers again"
        )


def _short(text: str) -> str:
    """Shorten a SHA-256 for messages."""
    return text[:12] if len(text) == 64 else text


def do(campaign: str, expected: Software, payload: bytes) -> bytes:
    """Do a job in a process of its own, as the task of a Dask worker's thread.

    Parameters
    ----------
    campaign : str
        Tells the campaign from others that the workers may also serve.
    expected : mapping of str to str
        The software of the coordinator.
    payload : bytes
        The pickled job.

    Returns
    -------
    bytes
        The pickled record.

    Raises
    ------
    SetupError
        The worker has other software, or can start no run process.
    """
    from distributed import Reschedule, get_worker

    worker = get_worker()
    _processes.check(campaign, expected, worker.address)
    job: RunJob = pickle.loads(payload)
    if (missing := _missing_directory(job)) is not None:
        return pickle.dumps(missing)
    key = worker.get_current_task()
    with _processes.lent(lambda: _is_wanted(worker, key)) as process:
        try:
            return pickle.dumps(process.run(job))
        except StoppedError:
            # The worker ends, and its jobs go to others; or nobody waits for what comes of it.
            raise Reschedule from None
        except SetupError as error:
            raise SetupError(f"worker {worker.address} of the Dask cluster: {error}") from error


def _missing_directory(job: RunJob) -> RunRecord | None:
    """Refuse a job whose files are not here, in words that say why they are expected."""
    directory = job.arguments.get("directory")
    if not isinstance(directory, str) or Path(directory).is_dir():
        return None
    host = platform.node()
    text = (
        f"there is no directory {directory!r} on host {host!r}, where a worker of the Dask cluster "
        "runs; the workers need the campaign's files under the same paths as the coordinator: "
        "put them on a file system that all of them share"
    )
    return RunRecord(job, None, Failure("error", text), now(), 0.0, f"{host}:{os.getpid()}")


def _is_wanted(worker: Any, key: object) -> bool:
    """Return True if the scheduler still waits for a task that runs, and the worker goes on."""
    task = worker.state.tasks.get(key)
    running = worker.status.name in ("running", "paused", "closing_gracefully")
    return running and task is not None and task.state != "cancelled"


@dataclass(slots=True)
class _Lent:
    """A run process that does a job."""

    process: RunProcess
    is_wanted: Callable[[], bool]
    killed: bool = False


@dataclass(slots=True)
class _RunProcesses:
    """The run processes below a worker, one for each of its threads that does a job.

    A thread of its own ends those whose run nobody waits for any more, since its coordinator was
    ended or has gone, and those that had nothing to do for a while.
    """

    _campaign: str = ""
    _found: Software = field(default_factory=dict)
    _idle: list[tuple[RunProcess, float]] = field(default_factory=list)
    _lent: list[_Lent] = field(default_factory=list)
    _lock: Any = field(default_factory=Lock)
    _is_watched: bool = False

    def check(self, campaign: str, expected: Software, worker: str) -> None:
        """Compare the software, which is looked at once a campaign."""
        with self._lock:
            if campaign != self._campaign:
                now = software()
                if now != self._found:
                    # Processes that were started before have loaded what has changed since.
                    self._close_idle(0.0)
                self._campaign, self._found = campaign, now
            found = self._found
        require_same(found, expected, worker)

    @contextmanager
    def lent(self, is_wanted: Callable[[], bool]) -> Iterator[RunProcess]:
        """Lend a run process."""
        with self._lock:
            process = self._idle.pop()[0] if self._idle else RunProcess()
            lent, found = _Lent(process, is_wanted), self._found
            self._lent.append(lent)
            if not self._is_watched:
                self._is_watched = True
                Thread(target=self._watch, name="simplugin-runs", daemon=True).start()
        try:
            yield process
        finally:
            with self._lock:
                self._lent.remove(lent)
                is_kept = found == self._found and not lent.killed
                if is_kept:
                    self._idle.append((process, monotonic()))
            if not is_kept:
                process.close()

    def _watch(self) -> None:
        """End what nobody needs, until there is nothing left."""
        while True:
            sleep(_LOOK_PERIOD)
            with self._lock:
                for lent in self._lent:
                    if not lent.killed and not lent.is_wanted():
                        lent.killed = True
                        lent.process.kill()
                self._close_idle(_IDLE_LIMIT)
                if not self._lent and not self._idle:
                    self._is_watched = False
                    return

    def _close_idle(self, limit: float) -> None:
        """Close those that were idle for longer [s]."""
        now = monotonic()
        # The first of them was idle for longest.
        while self._idle and now - self._idle[0][1] >= limit:
            self._idle.pop(0)[0].close()


_processes = _RunProcesses()
