"""Running campaigns as a whole, and running again what failed of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from simplugin.campaigns.jobs import JobSource
from simplugin.campaigns.running.coordinator import run_jobs
from simplugin.campaigns.running.on_demand import RunnersOnDemand
from simplugin.campaigns.running.progress_of_runs import Progress
from simplugin.campaigns.running.run_log import RunLog
from simplugin.campaigns.running.summary import Summary

if TYPE_CHECKING:
    from simplugin.campaigns.campaign import Campaign
    from simplugin.campaigns.running.slurm import SlurmSection


@dataclass(frozen=True)
class Means:
    """With what a campaign is run, and who is told about it.

    Attributes
    ----------
    jobs : int, optional
        Runs at a time on this host; as many as it has processors if None.
    scheduler : str, optional
        Address of a Dask scheduler, whose workers run instead.
    slurm : SlurmSection, optional
        The jobs of Slurm whose processes run instead.
    report : callable, optional
        Called about five times a second with how far it is.
    stop : callable, optional
        Asked several times a second whether to stop.
    command : sequence of str
        The words of the command, for the log.
    """

    jobs: int | None = None
    scheduler: str | None = None
    slurm: SlurmSection | None = None
    report: Callable[[Progress], None] | None = None
    stop: Callable[[], bool] | None = None
    command: Sequence[str] = ()


def run_campaign(
    campaign: Campaign | str | os.PathLike[str],
    *,
    store: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    scheduler: str | None = None,
    retry_failed: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> Summary:
    """Run what is not recorded yet of a campaign; record it in its store.

    A call that was interrupted, or killed, goes on where it was when it is made again. Beside the
    store grows a log, with the suffix ``.log``.

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
    retry_failed : bool
        Whether runs that are recorded as failed are run again.
    progress : callable, optional
        Called about five times a second with a `Progress`.

    Returns
    -------
    Summary
        How the campaign stands now, with what failed and why.

    Raises
    ------
    ScenarioError
        The campaign's file says something wrong.
    StoreError
        Another program writes to the store, or it cannot be written.
    SetupError
        The scheduler does not answer, or a worker has another version of simplugin.
    """
    from simplugin.campaigns.campaign import Campaign, load_campaign

    if not isinstance(campaign, Campaign):
        campaign = load_campaign(campaign)
    path = campaign.settings.store if store is None else Path(store)
    means = Means(jobs=jobs, scheduler=scheduler, report=progress)
    retries = campaign.settings.retries
    return run_source(campaign, path, means, retries=retries, retry_failed=retry_failed)


def run_source(
    source: JobSource,
    store: Path,
    means: Means,
    *,
    retries: int = 1,
    retry_failed: bool = False,
    expected: int | None = None,
) -> Summary:
    """Run what is not recorded yet, as `run_jobs`, with runners that end with it and a log."""
    from simplugin.campaigns.running.choice import chosen_runners

    with (
        RunLog(log_path(store), means.command) as log,
        RunnersOnDemand(
            lambda: chosen_runners(means.jobs, means.scheduler, means.slurm)
        ) as runners,
    ):
        return run_jobs(
            source,
            store,
            runners,
            retries=retries,
            retry_failed=retry_failed,
            expected=expected,
            report=means.report,
            log=log,
            stop=means.stop,
        )


def log_path(store: Path) -> Path:
    """Return where the log of a store is."""
    path = store.with_suffix(".log")
    return path if path != store else store.with_name(f"{store.name}.log")
