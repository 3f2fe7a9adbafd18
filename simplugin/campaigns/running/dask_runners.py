"""Runs on the workers of a Dask cluster."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from uuid import uuid4

from simplugin.campaigns.jobs import Failure, QueuedRunners, RunJob, RunRecord, now
from simplugin.campaigns.running import dask_tasks
from simplugin.core.errors import SetupError

if TYPE_CHECKING:
    from distributed.deploy.cluster import Cluster

# Limits and periods [s].
_CONNECT_LIMIT = 10.0
_LOOK_PERIOD = 1.0
# Number of such periods between replacements of lost workers.
_REPLACE_PERIOD = 15
# Submitted jobs in addition to one that runs and one that waits for each thread.
_ON_THE_WAY = 4


class DaskRunners(QueuedRunners):
    """The workers of a Dask cluster as runners of jobs.

    Each thread of each worker does one job after the other, in a run process that is ended at the
    limits of the job. Workers may join and leave: the jobs of a lost worker are given to others.

    Parameters
    ----------
    cluster : str or Cluster
        The address of the cluster's scheduler, for instance ``tcp://10.0.0.1:8786``, or a cluster
        made by this program. Closing the runners does not end it.
    replace_lost : callable, optional
        Called every 15 s with the number of workers, to replace lost ones.

    Raises
    ------
    SetupError
        Dask is not installed, or the scheduler does not answer. Each worker compares the software
        that results depend on before its first run; `finished` raises if one has other versions.
    """

    def __init__(
        self, cluster: str | Cluster, *, replace_lost: Callable[[int], None] | None = None
    ) -> None:
        self._address = cluster if isinstance(cluster, str) else cluster.scheduler_address
        self._client = _connected(cluster, self._address)
        self._campaign = f"simplugin-{uuid4().hex}"
        self._replace_lost = replace_lost
        super().__init__()
        self._submitted = 0
        self._nthreads: dict[str, int] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closed = False
        try:
            self._expected = dask_tasks.software()
            self._start(self._look())
        except BaseException:
            self.close()
            raise

    @property
    def wanted(self) -> int:
        """The number of jobs that can be submitted now so that no runner waits for the next one.

        Without workers one job waits for the first of them.
        """
        threads = sum(self._nthreads.values())
        return max(0, (2 * threads + _ON_THE_WAY if threads else 1) - self._running)

    def submit(self, job: RunJob) -> None:
        """Submit a job; return at once.

        Raises
        ------
        SetupError
            The scheduler has gone.
        """
        self._submitted += 1
        self._running += 1
        # Not the job's key: an attempt that is repeated is another task. As a pair, all tasks are
        # one group for the scheduler, which forgets them one by one and the group at the end.
        key = (self._campaign, self._submitted)
        if self._client.status not in ("running", "connecting"):
            raise self._gone()
        future = self._client.submit(
            dask_tasks.do, self._campaign, self._expected, pickle.dumps(job), key=key, pure=False
        )
        self._start(self._collect(future, job))

    def describe(self) -> str:
        """Return the numbers of workers and of simultaneous runs."""
        workers, threads = len(self._nthreads), sum(self._nthreads.values())
        if not workers:
            return f"no workers at {self._address} yet"
        return (
            f"{workers} worker{'s' if workers > 1 else ''} at {self._address}, "
            f"{threads} run{'s' if threads > 1 else ''} at a time"
        )

    def close(self) -> None:
        """End all jobs in progress; may be called twice.

        The scheduler drops the jobs of a client that disconnects, and workers end the processes of
        dropped jobs.
        """
        if self._is_closed:
            return
        self._is_closed = True
        with suppress(RuntimeError):  # its loop has ended
            loop = self._client.loop.asyncio_loop
            stopping = asyncio.wait_for(self._stop(), _CONNECT_LIMIT)
            asyncio.run_coroutine_threadsafe(stopping, loop).result()
        self._client.close(timeout=_CONNECT_LIMIT)

    async def _stop(self) -> None:
        """Cancel all tasks of the loop."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _look(self) -> None:
        """Read the numbers of threads of the workers every second."""
        try:
            for look in count(1):
                self._nthreads = dict(await self._client.scheduler.ncores())
                if self._replace_lost is not None and look % _REPLACE_PERIOD == 0:
                    self._replace_lost(len(self._nthreads))
                await asyncio.sleep(_LOOK_PERIOD)
        except OSError:
            self._answers.put(self._gone())
        except Exception as error:
            self._answers.put(error)

    async def _collect(self, future: Any, job: RunJob) -> None:
        """Wait for the record of a job, and put it into the queue of `finished`."""
        from distributed import KilledWorker
        from distributed.comm.core import CommClosedError

        try:
            self._answers.put(pickle.loads(await future))
        except KilledWorker as error:
            self._answers.put(_lost_with_workers(job, error))
        except CommClosedError:  # the scheduler went while it sent the answer
            self._answers.put(self._gone())
        except (CancelledError, asyncio.CancelledError):
            if self._is_closed:
                raise
            self._answers.put(self._gone())
        except ImportError as error:
            message = f"a worker of the Dask cluster cannot import simplugin ({error}); install"
            self._answers.put(SetupError(f"{message} the same version there as here"))
        except Exception as error:
            self._answers.put(error)
        finally:
            future.release()

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        """Start a task in the loop of the client."""

        def begin() -> None:
            task = asyncio.ensure_future(work)
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

        self._client.loop.add_callback(begin)

    def _gone(self) -> SetupError:
        """Return the error for a scheduler that is gone."""
        return SetupError(
            f"the Dask scheduler {self._address} has gone, and with it the runs in progress; "
            "start a cluster and run the same command again; recorded runs are not repeated"
        )


def _connected(cluster: str | Cluster, address: str) -> Any:
    """Connect to a cluster."""
    load_quietly()
    import distributed

    if isinstance(cluster, str):
        _check_address(cluster)
    client: Any = distributed.Client  # which has no types
    try:
        return client(cluster, timeout=_CONNECT_LIMIT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise SetupError(
            f"no Dask scheduler answers at {address!r} ({error}); start one with 'dask scheduler' "
            "and workers with 'dask worker ADDRESS', and give the address that it prints, "
            "for instance tcp://10.0.0.1:8786"
        ) from error


def _check_address(address: str) -> None:
    """Raise unless a text is an address: a client of Dask would not end properly with it."""
    from distributed.comm.registry import get_backend

    backend_of: Any = get_backend  # which has no types
    try:
        parts = urlsplit(address if "://" in address else f"tcp://{address}")
        backend_of(parts.scheme)
        if parts.scheme == "inproc" or (parts.hostname and parts.port):
            return
        reason = "it has no port" if parts.hostname else "it has no host"
    except (ValueError, ImportError) as error:
        reason = str(error)
    raise SetupError(
        f"{address!r} is no address of a Dask scheduler ({reason}); give the one that 'dask "
        "scheduler' prints, for instance tcp://10.0.0.1:8786"
    )


def load_quietly() -> None:
    """Load Dask without its log of workers, which would break the progress display.

    The configuration of a program that has loaded Dask before is not changed.

    Raises
    ------
    SetupError
        Dask is not installed.
    """
    try:
        import dask

        quiet = dict.fromkeys(("distributed", "distributed.client", "tornado"), "critical")
        with dask.config.set({"logging": quiet}):
            import distributed  # noqa: F401
    except ImportError as error:
        raise SetupError(
            f"Dask is not installed here ({error}); pip install 'simplugin[dask]'"
        ) from error


def _lost_with_workers(job: RunJob, error: Any) -> RunRecord:
    """Return the record of a job whose workers were lost too often."""
    count = error.allowed_failures + 1
    lost = "1 worker of the Dask cluster was lost while it had this run"
    if count > 1:
        lost = f"{count} workers of the Dask cluster were lost, one after the other, with this run"
    last = error.last_worker
    text = (
        f"{lost}, the last one at {last.address}; do the hosts have enough memory, or "
        "did the time of the workers end?"
    )
    place = f"{last.host}:{last.pid}"
    return RunRecord(job, None, Failure("crash", text), now(), 0.0, place)
