"""Running a whole campaign, on processes of this host or on a cluster."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, TypedDict, Unpack

from simplugin.campaigns.campaign import Campaign, load_campaign
from simplugin.campaigns.jobs import QueuedRunners, RunJob, Runners, RunRecord
from simplugin.campaigns.running.coordinator import RetryPolicy, run_jobs
from simplugin.campaigns.running.reporting import CampaignProgress, CampaignSummary
from simplugin.campaigns.running.run_process import RunProcess, StoppedError
from simplugin.campaigns.running.slurm import SlurmSection, replace_lost_workers, slurm_cluster
from simplugin.core.errors import ScenarioError, SetupError, SimpluginError

# Jobs per process: one that runs, and one that waits.
_AHEAD = 2


class RunOptions(TypedDict, total=False):
    """Keyword arguments of `run_campaign`: runners, retries and end of a campaign.

    Attributes
    ----------
    jobs : int
        Number of simultaneous runs on this host; by default the number of its processors.
    scheduler : str
        Address of a Dask scheduler, such as ``tcp://192.0.2.1:8786``, whose workers do the runs.
    slurm : bool
        True to do the runs in jobs of Slurm, which ``[slurm]`` of the campaign describes.
    retries : int
        Maximum number of retries after the death of a run's process; by default the campaign's.
    retry_failed, keep_going : bool
        As in `RetryPolicy`.
    """

    jobs: int | None
    scheduler: str | None
    slurm: bool
    retries: int | None
    retry_failed: bool
    keep_going: bool


def run_campaign(
    campaign: Campaign | str | os.PathLike[str],
    *,
    store: str | os.PathLike[str] | None = None,
    trust: Iterable[str] = (),
    progress: Callable[[CampaignProgress], None] | None = None,
    stop: Callable[[], bool] | None = None,
    **options: Unpack[RunOptions],
) -> CampaignSummary:
    """Do all runs of a campaign that are not recorded, and record them in its store.

    The same call continues a campaign that was interrupted or killed. The log of the runs is in the
    file with ``.log`` after the name of the store.

    Parameters
    ----------
    campaign : Campaign or path
        The campaign, or its file.
    store : path, optional
        The store, if it is not the one of the campaign.
    trust : iterable of str
        As in `load_campaign`, for a file.
    progress : callable, optional
        Called about five times a second with a `CampaignProgress`.
    stop : callable, optional
        Called several times a second; once it returns True, runs in progress are ended, and results
        that have arrived are recorded.
    **options
        See `RunOptions`.

    Returns
    -------
    CampaignSummary
        State of the campaign, with its failures.

    Raises
    ------
    ScenarioError
        The campaign's file is invalid, or has no ``[slurm]`` although `slurm` is True.
    StoreError
        Another program writes to the store, or it cannot be written.
    SetupError
        The scheduler does not answer, or a worker has another version of simplugin.
    """
    if not isinstance(campaign, Campaign):
        campaign = load_campaign(campaign, imports=True, trust=trust)
    retries = options.get("retries")
    terms = RetryPolicy(
        campaign.settings.retries if retries is None else retries,
        options.get("retry_failed", False),
        options.get("keep_going", False),
    )
    section = slurm_section(campaign, campaign.place) if options.get("slurm") else None
    start = partial(chosen_runners, options.get("jobs"), options.get("scheduler"), section)
    place = campaign.results(store)
    with RunnersOnDemand(start) as runners:
        return run_jobs(campaign, place, runners, terms=terms, report=progress, stop=stop)


def slurm_section(campaign: Campaign | None, file: Path) -> SlurmSection:
    """Return ``[slurm]`` of a campaign; raise ScenarioError if it is missing or unknown."""
    if campaign is not None and campaign.slurm is not None:
        return campaign.slurm
    message, remedy = "the jobs of Slurm are not described", "add a table [slurm]"
    if campaign is None:
        message, remedy = "a store does not describe jobs of Slurm", "name the campaign's file"
    raise ScenarioError(message, file=file, remedy=remedy)


class LocalRunners(QueuedRunners):
    """Run processes of this host, with a thread of this process for each.

    Parameters
    ----------
    count : int, optional
        The number of processes; by default one for each core that this process may use.

    Raises
    ------
    SimpluginError
        `count` is less than 1.
    """

    def __init__(self, count: int | None = None) -> None:
        self.count = cores() if count is None else count
        if self.count < 1:
            raise SimpluginError(f"count is {count!r}; give 1 process or more")
        super().__init__()
        self._closed = False
        self._jobs: queue.SimpleQueue[RunJob | None] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=self._serve, name=f"runner-{n}", daemon=True)
            for n in range(self.count)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def wanted(self) -> int:
        """The number of jobs that can be submitted now so that no runner waits for the next one."""
        return 0 if self._closed else max(0, _AHEAD * self.count - self._running)

    def submit(self, job: RunJob) -> None:
        """Add a job to the queue; returns at once."""
        if self._closed:
            raise SimpluginError("the runners are closed; make new ones")
        self._running += 1
        self._jobs.put(job)

    def describe(self) -> str:
        """Return the number of processes in words."""
        noun = "process" if self.count == 1 else "processes"
        return f"{self.count} {noun} of this host"

    def close(self) -> None:
        """End all jobs in progress; may be called twice."""
        self._closed = True
        self._running = 0
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join()

    def _serve(self) -> None:
        """Do jobs until the runners are closed."""
        try:
            with closing(RunProcess()) as process:
                while not self._closed and (job := self._jobs.get()) is not None:
                    self._answers.put(process.run(job, lambda: not self._closed))
        except StoppedError:
            return
        except BaseException as error:
            # Raised by `finished`, since there will be no record.
            self._answers.put(error)


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0))


class RunnersOnDemand(ExitStack):
    """Starts runners with the first job, so that a complete campaign never allocates a cluster.

    Parameters
    ----------
    start : callable
        Starts the runners.
    """

    def __init__(self, start: Callable[[], AbstractContextManager[Runners]]) -> None:
        super().__init__()
        self._start = start
        self._started: Runners | None = None

    @property
    def wanted(self) -> int:
        """The number of jobs that can be submitted now; one before they are started."""
        return 1 if self._started is None else self._started.wanted

    @property
    def running(self) -> int:
        """The number of jobs that are not finished."""
        return 0 if self._started is None else self._started.running

    def submit(self, job: RunJob) -> None:
        """Submit a job; the first one starts the runners."""
        if self._started is None:
            self._started = self.enter_context(self._start())
        self._started.submit(job)

    def finished(self, timeout: float) -> list[RunRecord]:
        """Return the records since the last call; none if the runners are not started."""
        return [] if self._started is None else self._started.finished(timeout)

    def describe(self) -> str:
        """Return a short description of the runners."""
        return "nothing to run" if self._started is None else self._started.describe()


@contextmanager
def chosen_runners(
    jobs: int | None = None,
    scheduler: str | None = None,
    slurm: SlurmSection | None = None,
) -> Iterator[Runners]:
    """Start runners; end them afterwards, with the cluster that was started for them.

    Parameters
    ----------
    jobs : int, optional
        Number of processes on this host; by default one for each core that this process may use.
    scheduler : str, optional
        Address of the scheduler of a running Dask cluster, for instance ``tcp://10.0.0.1:8786``.
    slurm : SlurmSection, optional
        Jobs of Slurm, which become the workers of a new Dask cluster.

    Yields
    ------
    Runners
        The runners.

    Raises
    ------
    SetupError
        More than one of the three is given, or the cluster cannot be used.
    """
    given = {"jobs": jobs, "scheduler": scheduler, "slurm": slurm}
    named = [f"--{name}" for name, value in given.items() if value is not None]
    if len(named) > 1:
        raise SetupError(
            f"{' and '.join(named)} exclude each other; --jobs counts processes of this host, "
            "the workers of a Dask cluster are counted where they are started, and those of "
            "Slurm in [slurm] of the campaign file"
        )
    if slurm is None and scheduler is None:
        with closing(LocalRunners(jobs)) as local:
            yield local
        return
    from simplugin.campaigns.running.dask_runners import DaskRunners

    chosen: AbstractContextManager[Any] = (
        nullcontext(scheduler) if slurm is None else slurm_cluster(slurm)
    )
    with chosen as cluster:
        replace = None if slurm is None else partial(replace_lost_workers, cluster, slurm.jobs)
        with closing(DaskRunners(cluster, replace_lost=replace)) as runners:
            yield runners
