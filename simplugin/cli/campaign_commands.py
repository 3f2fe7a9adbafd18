"""``simplugin campaign``: many runs, and their results."""

from __future__ import annotations

import json
import shlex
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from simplugin.cli.options import (
    argument,
    flag,
    jobs_option,
    json_option,
    option,
    output_option,
    scheduler_option,
    trust_option,
)
from simplugin.cli.terminal import group, short

campaign_app = group("Run many variations of a scenario, and read what came out.")

Store = Annotated[Path | None, option("Instead of what the campaign file names.", "FILE")]
AsJson = Annotated[bool, json_option("text")]
Shown = Annotated[
    str | None,
    option(
        "By default the one that the file describes, or the latest of the store.",
        "N|all",
        "--campaign",
    ),
]
Jobs = Annotated[int | None, jobs_option("Runs at the same time")]
Scheduler = Annotated[str | None, scheduler_option("Of a running Dask cluster: tcp://...")]
Trust = Annotated[list[str] | None, trust_option()]
Slurm = Annotated[bool, flag("--slurm", "Start Dask workers through Slurm.")]


@campaign_app.command()
def run(
    campaign: Annotated[Path, argument("CAMPAIGN.toml", "What to run.")],
    store: Store = None,
    jobs: Jobs = None,
    scheduler: Scheduler = None,
    slurm: Slurm = False,
    retry_failed: Annotated[
        bool, flag("--retry-failed", "Run again what is recorded as failed.")
    ] = False,
    keep_going: Annotated[
        bool, flag("--keep-going", "Go on when the first 50 runs all fail alike.")
    ] = False,
    dry_run: Annotated[bool, flag("--dry-run", "Say what would be run, and run nothing.")] = False,
    imports: Annotated[
        bool,
        flag("--import", "With --dry-run: import the modules that are named, check signatures."),
    ] = False,
    trust: Trust = None,
    as_json: AsJson = False,
) -> None:
    """Run what is not recorded yet of a campaign.

    What was interrupted, however it was, goes on with the same command. Exit status 1 where runs
    failed.
    """
    from simplugin.campaigns.campaign import load_campaign
    from simplugin.campaigns.running.campaign_runs import slurm_section
    from simplugin.campaigns.running.coordinator import RetryPolicy
    from simplugin.campaigns.running.recorded_campaigns import command_that_goes_on
    from simplugin.cli import campaign_running

    loaded = load_campaign(campaign, imports=imports or not dry_run, trust=trust or ())
    place = loaded.results(store)
    campaign_running.tell_of_earlier_versions(loaded, place)
    if dry_run:
        campaign_running.tell_what_would_be_run(loaded, place, as_json=as_json)
        return
    section = slurm_section(loaded, campaign) if slurm else None
    terms = RetryPolicy(loaded.settings.retries, retry_failed, keep_going)
    words = ["--retry-failed", *(word for name in loaded.trust for word in ("--trust", name))]
    again = command_that_goes_on(Path(short(loaded.place)), Path(short(place)), *words)
    where = {"jobs": jobs, "scheduler": scheduler, "slurm": section}
    status = campaign_running.run_recorded(loaded, place, where, terms, again, as_json=as_json)
    raise typer.Exit(status)


@campaign_app.command()
def retry(
    place: Annotated[Path, argument("STORE|CAMPAIGN.toml", "Where the failed runs are.")],
    store: Store = None,
    jobs: Jobs = None,
    scheduler: Scheduler = None,
    slurm: Slurm = False,
    campaign: Annotated[
        int | None, option("By default that of the file, or the latest of the store.", "N")
    ] = None,
    trust: Trust = None,
    as_json: AsJson = False,
) -> None:
    """Run again what failed."""
    from simplugin.campaigns.running.campaign_runs import slurm_section
    from simplugin.campaigns.running.coordinator import RetryPolicy
    from simplugin.campaigns.running.recorded_campaigns import failed_jobs
    from simplugin.cli.campaign_reading import is_file, store_of
    from simplugin.cli.campaign_running import run_recorded

    if not is_file(place):
        place, store = store_of(place, store), None
    failed = failed_jobs(place, campaign, store, trust or ())
    known = failed.campaign
    section = slurm_section(known, place) if slurm else None
    # Each was asked for, whatever becomes of the others.
    retries = RetryPolicy().retries if known is None else known.settings.retries
    terms = RetryPolicy(retries, retry_failed=True, keep_going=True)
    words = ["simplugin", "campaign", "retry", short(failed.store)]
    again = shlex.join([*words, "--campaign", str(failed.entry.number)])
    where = {"jobs": jobs, "scheduler": scheduler, "slurm": section}
    status = run_recorded(
        failed, failed.store, where, terms, again, as_json=as_json, expected=failed.entry.failed
    )
    raise typer.Exit(status)


@campaign_app.command()
def status(
    place: Annotated[Path, argument("STORE|CAMPAIGN.toml", "What to look at.")],
    store: Store = None,
    as_json: AsJson = False,
) -> None:
    """Say how far the campaigns of a store are, and what failed.

    Also while one is running.
    """
    from simplugin.cli.campaign_reading import status_command

    status_command(place, store, as_json=as_json)


@campaign_app.command()
def export(
    place: Annotated[Path, argument("STORE|CAMPAIGN.toml", "What to export.")],
    output: Annotated[Path, output_option("FILE", "What to write: .csv or .parquet.")],
    store: Store = None,
    campaign: Shown = None,
    all_attempts: Annotated[
        bool, flag("--all-attempts", "Also attempts that failed before a later one.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write a table of the runs of a campaign, a row each.

    Numbers are written so that nothing of them is lost.
    """
    from simplugin.campaigns.store import reading
    from simplugin.cli.campaign_reading import shown_campaign

    path, number = shown_campaign(place, store, campaign)
    rows, columns = reading.export(path, output, number, every=all_attempts)
    if as_json:
        typer.echo(json.dumps({"file": str(output), "rows": rows, "columns": columns}))
        return
    count = f"{rows} row" if rows == 1 else f"{rows} rows"
    typer.echo(f"wrote {short(output)}: {count} of {columns} columns")


@campaign_app.command()
def query(
    place: Annotated[Path, argument("STORE|CAMPAIGN.toml", "What to ask.")],
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
    wall_limit: Annotated[float, option("Time for the answer, in seconds.", min=0)] = 60.0,
) -> None:
    """Ask a store in SQL; nothing can be changed.

    The table results has a row for each run of a campaign, with the columns of `campaign export`;
    units has the unit of each metric. Names with dots are quoted.
    """
    from simplugin.campaigns.store.tables import Query
    from simplugin.cli.campaign_reading import print_answer, shown_campaign
    from simplugin.core.errors import SimpluginError

    if as_csv and as_json:
        raise SimpluginError("--csv and --json exclude each other; give one of them")
    with closing(Query(*shown_campaign(place, store, campaign), wall_limit)) as asked:
        print_answer(*asked.run(sql), as_csv=as_csv, as_json=as_json)
