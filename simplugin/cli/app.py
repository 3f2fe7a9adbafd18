"""Commands and their options; what they do is loaded when they are called."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from simplugin.cli.campaign import campaign_app
from simplugin.cli.deploy import deploy
from simplugin.cli.ending import plain_errors
from simplugin.cli.platform import platform_app

app = typer.Typer(
    name="simplugin",
    help="A laboratory for scheduling on grids and multi-clusters, built on SimGrid.",
    no_args_is_help=True,
    # What happens to a user is told in one message; a traceback is a defect of ours.
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.add_typer(platform_app, name="platform")
app.add_typer(campaign_app, name="campaign")
app.command()(deploy)


class BackEnd(StrEnum):
    """The back ends of `simulate`."""

    coroutines = "coroutines"
    threads = "threads"


class Figures(StrEnum):
    """Which figures `report` writes."""

    main = "main"
    all = "all"
    none = "none"


def _show_version(wanted: bool) -> None:
    """Print versions and end."""
    if wanted:
        from simplugin.cli.version import version_text

        with plain_errors():
            typer.echo(version_text())
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_show_version,
            is_eager=True,
            help="Print the versions of simplugin and SimGrid.",
        ),
    ] = False,
) -> None:
    """Simulate scheduling on grids and multi-clusters."""


@app.command()
def run(
    scenario: Annotated[Path, typer.Argument(metavar="SCENARIO.toml", help="What to run.")],
    back_end: Annotated[
        BackEnd | None, typer.Option("--back-end", help="Instead of the scenario's.")
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", min=0, help="Likewise.")] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="DIR",
            help="Write result, trace and Gantt chart there, whatever the scenario says.",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object instead of tables.")
    ] = False,
) -> None:
    """Run a scenario: print its results, write its files."""
    from simplugin.cli.run import run_command

    with plain_errors():
        run_command(scenario, back_end.value if back_end else None, seed, output, as_json=as_json)


@app.command()
def check(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Platform and deployment files.")
    ],
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object instead of lines.")
    ] = False,
) -> None:
    """Check platform and deployment files: each finding with its line and a remedy.

    Deployments are checked against the platforms given with them. Exit status: 0 nothing found,
    1 findings, 2 a file could not be read.
    """
    from simplugin.cli.check import check_command

    with plain_errors():
        raise typer.Exit(check_command(files, as_json=as_json))


@app.command()
def reproduce(
    name: Annotated[
        str, typer.Argument(metavar="CAPABILITY", help="For instance pricing; or all.")
    ],
    quick: Annotated[
        bool, typer.Option("--quick", help="Do less, in half a minute each; some claims need all.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object instead of a table.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="DIR",
            help="For pages, figures and the store; without, only the store, in out/reproductions.",
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", min=1, help="Parts at a time; by default one a core."),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option("--scheduler", metavar="ADDRESS", help="A Dask scheduler that runs instead."),
    ] = None,
) -> None:
    """Run a paper's experiments: what it says beside what is measured, claim by claim.

    Each part is recorded when it is measured: what was interrupted goes on by the same command.
    Exit status 0, also where a claim disagrees; 1 where a part failed.
    """
    from simplugin.cli.reproduce import reproduce_command

    with plain_errors():
        status = reproduce_command(name, output, jobs, scheduler, quick=quick, as_json=as_json)
        raise typer.Exit(status)


@app.command()
def report(
    place: Annotated[
        Path, typer.Argument(metavar="STORE|CAMPAIGN.toml", help="Where the results are.")
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="DIR", help="Where index.html is written.")
    ],
    campaign: Annotated[
        int | None,
        typer.Option("--campaign", metavar="N", help="Instead of the file's, or the latest."),
    ] = None,
    group: Annotated[
        str | None, typer.Option("--group", metavar="KEY", help="Compare runs by this varied key.")
    ] = None,
    baseline: Annotated[
        str | None, typer.Option("--baseline", metavar="VALUE", help="Compare with this value.")
    ] = None,
    figures: Annotated[
        Figures,
        typer.Option("--figures", help="PDF and PNG: of what matters most, of everything, none."),
    ] = Figures.main,
    no_figures: Annotated[
        bool, typer.Option("--no-figures", help="As --figures none: the page only.")
    ] = False,
) -> None:
    """Write a page about a campaign that any browser shows offline, and its figures."""
    from simplugin.cli.report import report_command

    with plain_errors():
        report_command(
            place, output, campaign=campaign, group=group, baseline=baseline,
            figures="none" if no_figures else figures.value,
        )  # fmt: skip


@app.command()
def regress(
    paths: Annotated[
        list[Path], typer.Argument(metavar="DIR|FILE...", help="Scenarios, directories of them.")
    ],
    update: Annotated[
        bool, typer.Option("--update", help="Record what is new or moved, and say what it is.")
    ] = False,
    rel_tol: Annotated[
        float | None, typer.Option("--rel-tol", help="Relative tolerance; 1e-9 without.")
    ] = None,
    abs_tol: Annotated[
        float | None, typer.Option("--abs-tol", help="Absolute tolerance; 0 without.")
    ] = None,
    tolerance: Annotated[
        list[str] | None,
        typer.Option("--tolerance", metavar="METRIC=REL", help="Of one metric; repeatable."),
    ] = None,
    junit: Annotated[
        Path | None, typer.Option("--junit", metavar="FILE", help="Write JUnit XML there.")
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", min=1, help="Runs at a time; by default one a core."),
    ] = None,
    wall_limit: Annotated[
        float,
        typer.Option("--wall-limit", min=0.001, help="Real time that a run may take, in seconds."),
    ] = 600.0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object instead of a table.")
    ] = False,
) -> None:
    """Run scenarios and compare them with the results recorded beside them: what moved, and why.

    Results and tolerances are in DIR/recorded. Exit status: 0 all is as recorded, 1 something
    moved, failed or is not recorded, 2 wrong arguments.
    """
    from simplugin.cli.regress import limits_from, regress_command

    limits = limits_from(rel_tol, abs_tol, tolerance or [])
    with plain_errors():
        raise typer.Exit(
            regress_command(
                paths,
                update=update,
                limits=limits,
                junit=junit,
                jobs=jobs,
                wall_limit=wall_limit,
                as_json=as_json,
            )
        )
