"""Running campaigns as a whole, and running again what failed of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from simplugin.campaigns.jobs import JobSource
from simplugin.campaigns.running.coordinator import run_jobs
from simplugin.campaigns.running.course import Terms
from simplugin.campaigns.running.on_demand import RunnersOnDemand
from simplugin.campaigns.running.progress_of_runs import Progress
from simplugin.campaigns.running.run_log import RunLog
from simplugin.campaigns.running.summary import Summary
from simplugin.errors import ScenarioError

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
    slurm: bool = False,
    retries: int | None = None,
    retry_failed: bool = False,
    keep_going: bool = False,
    progress: Callable[[Progress], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> Summary:
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
        Whether jobs of Slurm run instead, as ``[slurm]`` of the campaign describes them.
    retries : int, optional
        How often a run whose process died is tried again, instead of what the campaign says.
    retry_failed : bool
        Whether runs that are recorded as failed are run again.
    keep_going : bool
        Whether to go on when nothing is done and the first fifty runs all fail alike.
    progress : callable, optional
        Called about five times a second with a `Progress`.
    stop : callable, optional
        Asked several times a second whether to stop: what runs is then ended at once, what was
        finished is recorded.

    Returns
    -------
    Summary
        How the campaign stands now, with what failed and why.

    Raises
    ------
    ScenarioError
        The campaign's file says something wrong, or nothing about Slurm where that is asked for.
    StoreError
        Another program writes to the store, or it cannot be written.
    SetupError
        The scheduler does not answer, or a worker has another version of simplugin.
    """
    from simplugin.campaigns.campaign import Campaign, load_campaign

    if not isinstance(campaign, Campaign):
        campaign = load_campaign(campaign)
    settings = campaign.settings
    section = slurm_section(campaign, campaign.place) if slurm else None
    terms = Terms(settings.retries if retries is None else retries, retry_failed, keep_going)
    return run_source(
        campaign,
        settings.store if store is None else Path(store),
        Means(jobs, scheduler, section, report=progress, stop=stop),
        terms,
    )


def run_source(
    source: JobSource,
    store: Path,
    means: Means,
    terms: Terms | None = None,
    *,
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
            terms=terms,
            expected=expected,
            report=means.report,
            log=log,
            stop=means.stop,
        )


def slurm_section(campaign: Campaign | None, file: Path) -> SlurmSection:
    """Return what a campaign says about Slurm.

    Raises
    ------
    ScenarioError
        It says nothing, or is not known.
    """
    if campaign is None:
        message, remedy = "this does not tell what to ask Slurm for", "name the campaign's file"
    elif campaign.slurm is None:
        message, remedy = "nothing tells what to ask Slurm for", "add a table [slurm]"
    else:
        return campaign.slurm
    raise ScenarioError(message, file=file, remedy=remedy)


def log_path(store: Path) -> Path:
    """Return where the log of a store is: beside it, with a name that nothing else has."""
    return store.with_name(f"{store.name}.log")
