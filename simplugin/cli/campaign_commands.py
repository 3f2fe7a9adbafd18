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

from simplugin.cli.options import (
    Trust,
    add_command,
    argument,
    flag,
    jobs_option,
    json_option,
    option,
    output_option,
    scheduler_option,
)
from simplugin.cli.terminal import group, relative_path

if TYPE_CHECKING:
    from simplugin.campaigns.campaign import Campaign
    from simplugin.campaigns.jobs import Runners

campaign_app = group("Run many variations of a scenario, and read their results.")

Store = Annotated[
    Path | None, option("Store of the results; by default the one that the campaign names.", "FILE")
]
AsJson = Annotated[bool, json_option("text")]
Shown = Annotated[
    str | None,
    option(
        "Number of the campaign; by default that of the file, or the latest of the store.",
        "N|all",
        "--campaign",
    ),
]


@dataclass(frozen=True)
class WorkerOptions:
    """Options for the workers of a campaign."""

    jobs: Annotated[int | None, jobs_option("Number of runs in parallel")] = None
    scheduler: Annotated[
        str | None, scheduler_option("Address of a running Dask cluster: tcp://...")
    ] = None
    slurm: Annotated[bool, flag("--slurm", "Start Dask workers through Slurm.")] = False

    def starter(
        self, campaign: Campaign | None, file: Path
    ) -> Callable[[], AbstractContextManager[Runners]]:
        """Return a function that starts the runners."""
        from simplugin.campaigns.running.campaign_runs import chosen_runners, slurm_section

        section = slurm_section(campaign, file) if self.slurm else None
        return partial(chosen_runners, self.jobs, self.scheduler, section)


@dataclass(frozen=True)
class PreviewOptions:
    """Options for a preview."""

    dry_run: Annotated[bool, flag("--dry-run", "Print the runs to do without running them.")] = (
        False
    )
    imports: Annotated[
        bool,
        flag("--import", "With --dry-run: import the named modules and check signatures."),
    ] = False


@add_command(campaign_app)
def run(
    campaign: Annotated[Path, argument("CAMPAIGN.toml", "The campaign file.")],
    workers: WorkerOptions,
    preview: PreviewOptions,
    store: Store = None,
    retry_failed: Annotated[
        bool, flag("--retry-failed", "Also repeat runs that are recorded as failed.")
    ] = False,
    keep_going: Annotated[
        bool, flag("--keep-going", "Continue even if the first 50 runs fail with the same error.")
    ] = False,
    trust: Trust = None,
    as_json: AsJson = False,
) -> None:
    """Run the part of a campaign that is not recorded yet.

    The same command resumes an interrupted campaign. Exit status 1 if runs failed.
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


@add_command(campaign_app)
def retry(
    place: Annotated[
        Path, argument("STORE|CAMPAIGN.toml", "A store, or the file of a campaign that has one.")
    ],
    workers: WorkerOptions,
    store: Store = None,
    campaign: Annotated[
        int | None,
        option("Number of the campaign; by default that of the file, or the latest.", "N"),
    ] = None,
    trust: Trust = None,
    as_json: AsJson = False,
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
    status = run_recorded(
        failed, failed.store, start, policy, again, as_json=as_json, expected=failed.entry.failed
    )
    raise typer.Exit(status)


@add_command(campaign_app)
def status(
    place: Annotated[Path, argument("STORE|CAMPAIGN.toml", "A store, or a campaign file.")],
    store: Store = None,
    as_json: AsJson = False,
) -> None:
    """Print the progress of the campaigns of a store, and failures.

    Works while a campaign is running.
    """
    from simplugin.cli.campaign_reading import status_command

    status_command(place, store, as_json=as_json)


@add_command(campaign_app)
def export(
    place: Annotated[Path, argument("STORE|CAMPAIGN.toml", "A store, or a campaign file.")],
    output: Annotated[Path, output_option("FILE", "The table to write: .csv or .parquet.")],
    store: Store = None,
    campaign: Shown = None,
    all_attempts: Annotated[
        bool, flag("--all-attempts", "Include failed attempts that were repeated.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write a table of the runs of a campaign, one row for each.

    Numbers are written with all their digits.
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


@add_command(campaign_app)
def query(
    place: Annotated[Path, argument("STORE|CAMPAIGN.toml", "A store, or a campaign file.")],
    sql: Annotated[
        str,
        argument(
            "SQL", 'For instance: SELECT "scheduler.name", avg(makespan) FROM results GROUP BY 1'
        ),
    ],
    store: Store = None,
    campaign: Shown = None,
    as_csv: Annotated[
        bool, flag("--csv", "Print comma-separated values instead of a table.")
    ] = False,
    as_json: AsJson = False,
    wall_limit: Annotated[float, option("Maximum time of the query, in seconds.", min=0)] = 60.0,
) -> None:
    """Query a store in SQL, read-only.

    Table results has one row for each run of a campaign, with the columns of `campaign export`;
    table units has the unit of each metric. Names with dots must be quoted.
    """
    from simplugin.campaigns.store.tables import Query
    from simplugin.cli.campaign_reading import print_answer, shown_campaign
    from simplugin.core.errors import SimpluginError

    if as_csv and as_json:
        raise SimpluginError("--csv and --json exclude each other; give one of them")
    with closing(Query(*shown_campaign(place, store, campaign), wall_limit)) as asked:
        print_answer(*asked.run(sql), as_csv=as_csv, as_json=as_json)
