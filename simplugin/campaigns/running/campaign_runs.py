"""Running campaigns as a whole, and who runs: processes of this host, or a cluster."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from simplugin.campaigns.campaign import Campaign, load_campaign
from simplugin.campaigns.jobs import JobSource, QueuedRunners, RunJob, Runners, RunRecord
from simplugin.campaigns.running.coordinator import RetryPolicy, run_jobs
from simplugin.campaigns.running.reporting import CampaignProgress, CampaignSummary
from simplugin.campaigns.running.run_process import RunProcess, StoppedError
from simplugin.campaigns.running.slurm import SlurmSection, keep_up, slurm_cluster
from simplugin.core.errors import ScenarioError, SetupError, SimpluginError

# Each has one job waiting, so that it need not wait for the next one.
_AHEAD = 2


def run_campaign(
    campaign: Campaign | str | os.PathLike[str],
    *,
    store: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    scheduler: str | None = None,
    slurm: bool = False,
    retries: int | None = None,
    retry_failed: bool = False,
    keep_going: bool = False,
    trust: Iterable[str] = (),
    progress: Callable[[CampaignProgress], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> CampaignSummary:
    """Run what is not recorded yet of a campaign; record it in its store.

    A call that was interrupted, or killed, goes on where it was when it is made again. Beside the
    store grows a log, with ``.log`` after the store's name.

    Parameters
    ----------
    campaign : Campaign or path
        The campaign, or its file.
    store : path, optional
        Instead of the campaign's own store.
    jobs : int, optional
        Runs at a time on this host; as many as it has processors by default.
    scheduler : str, optional
        Address of a Dask scheduler, such as ``tcp://192.0.2.1:8786``, whose workers run instead.
    slurm : bool
        True if jobs of Slurm run instead, as ``[slurm]`` of the campaign describes them.
    retries : int, optional
        How often a run whose process died is tried again, instead of what the campaign says.
    retry_failed : bool
        True if runs that are recorded as failed are run again.
    keep_going : bool
        True if to go on when nothing is done and the first fifty runs all fail alike.
    trust : iterable of str
        Of a campaign's file, as `load_campaign` takes it.
    progress : callable, optional
        Called about five times a second with a `CampaignProgress`.
    stop : callable, optional
        Asked several times a second whether to stop: what runs is then ended at once, what was
        finished is recorded.

    Returns
    -------
    Summary
        State of the campaign, with what failed and why.

    Raises
    ------
    ScenarioError
        The campaign's file says something wrong, or nothing about Slurm where that is asked for.
    StoreError
        Another program writes to the store, or it cannot be written.
    SetupError
        The scheduler does not answer, or a worker has another version of simplugin.
    """
    if not isinstance(campaign, Campaign):
        campaign = load_campaign(campaign, imports=True, trust=trust)
    settings = campaign.settings
    section = slurm_section(campaign, campaign.place) if slurm else None
    terms = RetryPolicy(settings.retries if retries is None else retries, retry_failed, keep_going)
    where = {"jobs": jobs, "scheduler": scheduler, "slurm": section}
    return run_source(campaign, campaign.results(store), where, terms, report=progress, stop=stop)


def run_source(
    source: JobSource, store: Path, where: Mapping[str, Any], terms: RetryPolicy, **options: Any
) -> CampaignSummary:
    """Run what is not recorded yet, with runners that end with it.

    Parameters
    ----------
    source, store, terms, **options
        As `run_jobs` takes them.
    where : mapping
        The arguments of `chosen_runners`.
    """
    with RunnersOnDemand(lambda: chosen_runners(**where)) as runners:
        return run_jobs(source, store, runners, terms=terms, **options)


def slurm_section(campaign: Campaign | None, file: Path) -> SlurmSection:
    """Return what a campaign says about Slurm.

    Raises
    ------
    ScenarioError
        It says nothing, or is not known.
    """
    if campaign is not None and campaign.slurm is not None:
        return campaign.slurm
    message, remedy = "nothing tells what to ask Slurm for", "add a table [slurm]"
    if campaign is None:
        message, remedy = "this does not tell what to ask Slurm for", "name the campaign's file"
    raise ScenarioError(message, file=file, remedy=remedy)


class LocalRunners(QueuedRunners):
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
        super().__init__()
        self._closed = False
        self._jobs: queue.SimpleQueue[RunJob | None] = queue.SimpleQueue()
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
        return 0 if self._closed else max(0, _AHEAD * self.count - self._running)

    def submit(self, job: RunJob) -> None:
        """Hand over a job; returns at once."""
        if self._closed:
            raise SimpluginError("the runners are closed; make new ones")
        self._running += 1
        self._jobs.put(job)

    def describe(self) -> str:
        """Return the number of processes in words."""
        noun = "process" if self.count == 1 else "processes"
        return f"{self.count} {noun} of this host"

    def close(self) -> None:
        """End everything that they still do, at once; also when called twice."""
        self._closed = True
        self._running = 0
        for process in self._processes:
            process.close(wait=False)
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join()

    def _serve(self, process: RunProcess) -> None:
        """Have jobs done until there are no more."""
        try:
            with closing(process):
                while not self._closed and (job := self._jobs.get()) is not None:
                    self._answers.put(process.run(job))
        except StoppedError:
            return
        except BaseException as error:
            # Whoever waits for the record has to know that there will be none.
            self._answers.put(error)


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0))


class RunnersOnDemand(ExitStack):
    """Starts runners with the first job: nobody queues for a cluster to learn that all is done.

    Parameters
    ----------
    start : callable
        Makes them.
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
        """Hand over a job; the first one starts them."""
        if self._started is None:
            self._started = self.enter_context(self._start())
        self._started.submit(job)

    def finished(self, timeout: float) -> list[RunRecord]:
        """Return what was finished; at once if they were not started."""
        return [] if self._started is None else self._started.finished(timeout)

    def describe(self) -> str:
        """Return their description."""
        return "nothing to run" if self._started is None else self._started.describe()


@contextmanager
def chosen_runners(
    jobs: int | None = None,
    scheduler: str | None = None,
    slurm: SlurmSection | None = None,
) -> Iterator[Runners]:
    """Start those who do jobs; afterwards end what they still do, and a cluster made for them.

    Parameters
    ----------
    jobs : int, optional
        Processes of this host; without, one for each core that this process may use.
    scheduler : str, optional
        Address of the scheduler of a Dask cluster that runs, for instance
        ``tcp://10.0.0.1:8786``: its workers do the jobs.
    slurm : SlurmSection, optional
        Jobs that Slurm is asked for: they do the jobs as the workers of a Dask cluster, which
        ends with them.

    Yields
    ------
    Runners
        Those who do jobs.

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
    if slurm is not None:
        from simplugin.campaigns.running.dask_runners import DaskRunners

        with (
            slurm_cluster(slurm) as cluster,
            closing(DaskRunners(cluster, keep_up=partial(keep_up, cluster, slurm.jobs))) as runners,
        ):
            yield runners
    elif scheduler is not None:
        from simplugin.campaigns.running.dask_runners import DaskRunners

        with closing(DaskRunners(scheduler)) as runners:
            yield runners
    else:
        with closing(LocalRunners(jobs)) as local:
            yield local
