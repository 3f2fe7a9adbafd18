"""Commands and their options; what they do is loaded when they are called."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

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
app.command()(deploy)


class BackEnd(StrEnum):
    """The back ends of `simulate`."""

    coroutines = "coroutines"
    threads = "threads"


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
        bool, typer.Option("--quick", help="Do less, in under a minute; some claims need all.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object instead of a table.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="DIR", help="Write claims and figures there."),
    ] = None,
) -> None:
    """Run a paper's experiments: what it says beside what is measured, claim by claim.

    Exit status 0, also where a claim disagrees.
    """
    from simplugin.cli.reproduce import reproduce_command

    with plain_errors():
        reproduce_command(name, output, quick=quick, as_json=as_json)
