"""``simplugin campaign``: many runs, and what came out of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from simplugin.cli.campaign.export import export
from simplugin.cli.campaign.options import AsJson, Store
from simplugin.cli.campaign.query import query
from simplugin.cli.campaign.status import status
from simplugin.cli.ending import plain_errors

campaign_app = typer.Typer(
    help="Run many variations of a scenario, and read what came out.",
    no_args_is_help=True,
    add_completion=False,
)

Jobs = Annotated[
    int | None,
    typer.Option("--jobs", "-j", min=1, help="Runs at the same time; by default one a core."),
]
Scheduler = Annotated[
    str | None,
    typer.Option("--scheduler", metavar="ADDRESS", help="Of a running Dask cluster: tcp://..."),
]
Slurm = Annotated[bool, typer.Option("--slurm", help="Start Dask workers through Slurm.")]


@campaign_app.command()
def run(
    campaign: Annotated[Path, typer.Argument(metavar="CAMPAIGN.toml", help="What to run.")],
    store: Store = None,
    jobs: Jobs = None,
    scheduler: Scheduler = None,
    slurm: Slurm = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Run again what is recorded as failed.")
    ] = False,
    keep_going: Annotated[
        bool,
        typer.Option("--keep-going", help="Go on when the first 50 runs all fail alike."),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be run, and run nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run what is not recorded yet of a campaign.

    What was interrupted, however it was, goes on with the same command. Exit status 1 where runs
    failed.
    """
    with plain_errors():
        from simplugin.cli.campaign.running import run_command

        raise typer.Exit(
            run_command(
                campaign,
                store,
                jobs,
                scheduler,
                slurm=slurm,
                retry_failed=retry_failed,
                keep_going=keep_going,
                dry_run=dry_run,
                as_json=as_json,
            )
        )


@campaign_app.command()
def retry(
    place: Annotated[
        Path, typer.Argument(metavar="STORE|CAMPAIGN.toml", help="Where the failed runs are.")
    ],
    store: Store = None,
    jobs: Jobs = None,
    scheduler: Scheduler = None,
    slurm: Slurm = False,
    campaign: Annotated[
        int | None,
        typer.Option(
            "--campaign",
            metavar="N",
            help="By default that of the file, or the latest of the store.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run again what failed."""
    with plain_errors():
        from simplugin.cli.campaign.running import retry_command

        raise typer.Exit(
            retry_command(
                place, store, jobs, scheduler, slurm=slurm, campaign=campaign, as_json=as_json
            )
        )


for command in (status, export, query):
    campaign_app.command()(command)
