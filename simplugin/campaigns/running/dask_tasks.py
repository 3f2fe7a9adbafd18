"""Tasks inside the workers of a Dask cluster; `DaskRunners` sends them here."""

from __future__ import annotations

import os
import pickle
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock, Timer
from typing import Any

from simplugin.campaigns.jobs import Failure, RunJob, RunRecord, now
from simplugin.campaigns.keys import code_digest, simgrid_version, versions
from simplugin.campaigns.running.run_process import RunProcess, StoppedError
from simplugin.core.errors import SetupError

# Time after which run processes are closed if there is no job [s].
_IDLE_LIMIT = 30.0

# By name: version, or SHA-256.
Software = Mapping[str, str]


def software() -> dict[str, str]:
    """Return the versions that the result of a job depends on."""
    # Read again: the files may have changed since the worker was started.
    code_digest.cache_clear()
    found = versions({"simgrid": simgrid_version()})
    return {**found, "code of simplugin": code_digest(whole=True), "machine": platform.machine()}


def require_same(found: Software, expected: Software, worker: str) -> None:
    """Raise if a worker has other software than the coordinator, so that results could differ.

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
        Identifies the campaign; workers may serve several.
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
    try:
        return pickle.dumps(_processes.do(job, lambda: _is_wanted(worker, key)))
    except StoppedError:
        # The worker ends, and its jobs go to others; or the result is not needed any more.
        raise Reschedule from None
    except SetupError as error:
        raise SetupError(f"worker {worker.address} of the Dask cluster: {error}") from error


def _missing_directory(job: RunJob) -> RunRecord | None:
    """Return a failure if the directory of a job is missing on this host."""
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
    """Return True if the scheduler still waits for a task, and the worker does not end."""
    task = worker.state.tasks.get(key)
    running = worker.status.name in ("running", "paused", "closing_gracefully")
    return running and task is not None and task.state != "cancelled"


@dataclass(slots=True)
class _RunProcesses:
    """The run processes below a worker, one for each of its threads that does a job."""

    _campaign: str = ""
    _software: Software = field(default_factory=dict)
    _idle: list[RunProcess] = field(default_factory=list)
    _busy: int = 0
    _lock: Any = field(default_factory=Lock)
    _timer: Timer | None = None

    def check(self, campaign: str, expected: Software, worker: str) -> None:
        """Compare the software, which is determined once per campaign."""
        with self._lock:
            if campaign != self._campaign:
                found = software()
                while found != self._software and self._idle:
                    self._idle.pop().close()  # it has loaded what has changed since
                self._campaign, self._software = campaign, found
        require_same(self._software, expected, worker)

    def do(self, job: RunJob, is_wanted: Callable[[], bool]) -> RunRecord:
        """Do a job in an idle run process, or in a new one."""
        with self._lock:
            process = self._idle.pop() if self._idle else RunProcess()
            loaded = self._software
            self._busy += 1
            if self._timer is not None:
                self._timer.cancel()
        try:
            return process.run(job, is_wanted)
        finally:
            with self._lock:
                self._busy -= 1
                if loaded == self._software:
                    self._idle.append(process)
                else:
                    process.close()
                if not self._busy:
                    self._timer = Timer(_IDLE_LIMIT, self._close_idle)
                    self._timer.daemon = True
                    self._timer.start()

    def _close_idle(self) -> None:
        """Close all run processes if there is still no job."""
        with self._lock:
            while not self._busy and self._idle:
                self._idle.pop().close()


_processes = _RunProcesses()
