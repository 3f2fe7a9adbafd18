"""``simplugin campaign``: many runs, and their results."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simplugin.cli.options import Jobs, add_command
from simplugin.cli.terminal import group, relative_path

if TYPE_CHECKING:
    from simplugin.campaigns.campaign import Campaign
    from simplugin.campaigns.jobs import Runners

campaign_app = group("Run many variations of a scenario, and read their results.")


@dataclass(frozen=True, kw_only=True)
class WorkerOptions:
    """Options for the workers of a campaign.

    Attributes
    ----------
    slurm
        Start Dask workers through Slurm.
    """

    jobs: Jobs = None
    scheduler: str | None = None
    slurm: bool = False

    def starter(
        self, campaign: Campaign | None, file: Path
    ) -> Callable[[], AbstractContextManager[Runners]]:
        """Return a function that starts the runners."""
        from simplugin.campaigns.running.campaign_runs import chosen_runners, slurm_section

        section = slurm_section(campaign, file) if self.slurm else None
        return partial(chosen_runners, self.jobs, self.scheduler, section)


@dataclass(frozen=True, kw_only=True)
class PreviewOptions:
    """Options for a preview.

    Attributes
    ----------
    dry_run
        Print the runs to do without running them.
    imports
        With --dry-run: import the named modules and check signatures.
    """

    dry_run: bool = False
    imports: bool = False


def run(
    campaign: Path,
    *,
    workers: WorkerOptions,
    preview: PreviewOptions,
    store: Path | None = None,
    retry_failed: bool = False,
    keep_going: bool = False,
    trust: list[str] | None = None,
    as_json: bool = False,
) -> None:
    """Run the part of a campaign that is not recorded yet.

    The same command resumes an interrupted campaign. Exit status 1 if runs failed.

    Parameters
    ----------
    campaign : CAMPAIGN.toml
        The campaign file.
    retry_failed
        Also repeat runs that are recorded as failed.
    keep_going
        Continue even if the first 50 runs fail with the same error.
    """
    from simplugin.campaigns.campaign import load_campaign
    from simplugin.campaigns.running.coordinator import RetryPolicy
    from simplugin.campaigns.running.recorded_campaigns import command_that_goes_on
    from simplugin.cli import campaign_running

    imports = preview.imports or not preview.dry_run
    loaded = load_campaign(campaign, imports=imports, trust=trust or ())
    place = loaded.results(store)
    campaign_running.tell_of_earlier_versions(loaded, place)
    if preview.dry_run:
        campaign_running.tell_what_would_be_run(loaded, place, as_json=as_json)
        return
    start = workers.starter(loaded, campaign)
    policy = RetryPolicy(loaded.settings.retries, retry_failed, keep_going)
    words = ["--retry-failed", *(word for name in loaded.trust for word in ("--trust", name))]
    files = Path(relative_path(loaded.place)), Path(relative_path(place))
    again = command_that_goes_on(*files, *words)
    status = campaign_running.run_recorded(loaded, place, start, policy, again, as_json=as_json)
    raise typer.Exit(status)


def retry(
    place: Path,
    *,
    workers: WorkerOptions,
    store: Path | None = None,
    campaign: int | None = None,
    trust: list[str] | None = None,
    as_json: bool = False,
) -> None:
    """Repeat the runs that failed."""
    from simplugin.campaigns.running.coordinator import RetryPolicy
    from simplugin.campaigns.running.recorded_campaigns import failed_jobs
    from simplugin.cli.campaign_reading import is_file, store_of
    from simplugin.cli.campaign_running import run_recorded

    if not is_file(place):
        place, store = store_of(place, store), None
    failed = failed_jobs(place, campaign, store, trust or ())
    known = failed.campaign
    start = workers.starter(known, place)
    retries = RetryPolicy().retries if known is None else known.settings.retries
    policy = RetryPolicy(retries, retry_failed=True, keep_going=True)
    words = ["simplugin", "campaign", "retry", relative_path(failed.store)]
    again = shlex.join([*words, "--campaign", str(failed.entry.number)])
    raise typer.Exit(run_recorded(failed, failed.store, start, policy, again, as_json=as_json))


def status(place: Path, *, store: Path | None = None, as_json: bool = False) -> None:
    """Print the progress of the campaigns of a store, and failures.

    Works while a campaign is running.
    """
    from simplugin.cli.campaign_reading import status_command

    status_command(place, store, as_json=as_json)


def export(
    place: Path,
    *,
    output: Path,
    store: Path | None = None,
    campaign: str | None = None,
    all_attempts: bool = False,
    as_json: bool = False,
) -> None:
    """Write a table of the runs of a campaign, one row for each.

    Numbers are written with all their digits.

    Parameters
    ----------
    output : FILE
        The table to write: .csv or .parquet.
    campaign : N|all
        Number of the campaign; by default that of the file, or the latest of the store.
    all_attempts
        Include failed attempts that were repeated.
    """
    from simplugin.campaigns.store import reading
    from simplugin.cli.campaign_reading import shown_campaign

    path, number = shown_campaign(place, store, campaign)
    rows, columns = reading.export(path, output, number, every=all_attempts)
    if as_json:
        typer.echo(json.dumps({"file": str(output), "rows": rows, "columns": columns}))
        return
    count = f"{rows} row" if rows == 1 else f"{rows} rows"
    typer.echo(f"wrote {relative_path(output)}: {count} of {columns} columns")


def query(
    place: Path,
    sql: str,
    *,
    store: Path | None = None,
    campaign: str | None = None,
    as_csv: bool = False,
    as_json: bool = False,
    wall_limit: Annotated[float, typer.Option(min=0)] = 60.0,
) -> None:
    """Query a store in SQL, read-only.

    Table results has one row for each run of a campaign, with the columns of `campaign export`;
    table units has the unit of each metric. Names with dots must be quoted.

    Parameters
    ----------
    sql : SQL
        For instance: SELECT "scheduler.name", avg(makespan) FROM results GROUP BY 1
    campaign : N|all
        Number of the campaign; by default that of the file, or the latest of the store.
    as_csv
        Print comma-separated values instead of a table.
    wall_limit
        Maximum time of the query, in seconds.
    """
    from simplugin.campaigns.store.tables import Query
    from simplugin.cli.campaign_reading import print_answer, shown_campaign
    from simplugin.core.errors import SimpluginError

    if as_csv and as_json:
        raise SimpluginError("--csv and --json exclude each other; give one of them")
    with closing(Query(*shown_campaign(place, store, campaign), wall_limit)) as asked:
        print_answer(*asked.run(sql), as_csv=as_csv, as_json=as_json)


def sensitivity(
    place: Path,
    *,
    metric: list[str] | None = None,
    store: Path | None = None,
    campaign: int | None = None,
    as_json: bool = False,
) -> None:
    """Print the sensitivity of metrics to the keys that are swept with sobol or morris.

    Exit status 1 if there are no indices, for instance because runs are missing.

    Parameters
    ----------
    metric
        A metric, or gap; repeatable. By default those of which the better direction is known.
    """
    from simplugin.calibration.sensitivity import sensitivities
    from simplugin.campaigns.store import StoreReader
    from simplugin.cli.campaign_reading import chosen_entry, store_of
    from simplugin.core.errors import StoreError
    from simplugin.reports.sensitivities import compact
    from simplugin.reports.tables import print_listings

    with StoreReader(store_of(place, store)) as reader:
        entry = chosen_entry(reader, place, campaign)
        found = sensitivities(reader, entry, metric or [])
    if not found:
        message = f"there are no results of a design in campaign {entry.number}"
        remedy = "sweep keys with sobol or morris, and run the campaign"
        raise StoreError(message, file=reader.path, remedy=remedy)
    if as_json:
        typer.echo(json.dumps([each.document() for each in found]))
    else:
        print_listings(None, [compact(each) for each in found])
    raise typer.Exit(not any(each.lines for each in found))


for command in (run, retry, status, export, query, sensitivity):
    add_command(campaign_app, command)
