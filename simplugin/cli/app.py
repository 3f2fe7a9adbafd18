"""Commands and their options; each loads its libraries when it is called."""

from __future__ import annotations

import json
from collections import Counter
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from simplugin.cli.campaign_commands import campaign_app
from simplugin.cli.deploy import deploy
from simplugin.cli.options import (
    jobs_option,
    json_option,
    output_option,
    scheduler_option,
    seed_option,
    trust_option,
)
from simplugin.cli.platform_commands import platform_app
from simplugin.cli.terminal import Commands, plain_errors

app = typer.Typer(
    name="simplugin",
    cls=Commands,
    help="A laboratory for scheduling on grids and multi-clusters, built on SimGrid.",
    no_args_is_help=True,
    # An error ends in one message; a traceback is a defect of ours.
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


class Level(StrEnum):
    """The levels of what actors log."""

    debug = "debug"
    info = "info"
    warning = "warning"
    error = "error"


class Figures(StrEnum):
    """Figures that `report` writes."""

    main = "main"
    all = "all"
    none = "none"


def _show_version(wanted: bool) -> None:
    """Print versions and end."""
    if wanted:
        with plain_errors():
            typer.echo(version_text())
        raise typer.Exit


def version_text() -> str:
    """Return the versions of simplugin, SimGrid and Python; SimGrid runs to name its own."""
    from platform import python_version

    import simplugin
    from simplugin.campaigns.keys import asked_version
    from simplugin.errors import SimpluginError

    try:
        simgrid = asked_version()
    except SimpluginError as error:
        simgrid = f"missing ({error})"
    return f"simplugin {simplugin.__version__}, SimGrid {simgrid}, Python {python_version()}"


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
    seed: Annotated[int | None, seed_option("Likewise.")] = None,
    output: Annotated[
        Path | None,
        output_option(
            "DIR", "Write result, trace and Gantt chart there, whatever the scenario says."
        ),
    ] = None,
    log: Annotated[
        Level | None, typer.Option("--log", help="The least level of me.log that is shown.")
    ] = None,
    prefix_prints: Annotated[
        bool,
        typer.Option("--prefix-prints", help="Begin what actors print with host, actor and date."),
    ] = False,
    trust: Annotated[list[str] | None, trust_option()] = None,
    as_json: Annotated[bool, json_option("tables")] = False,
) -> None:
    """Run a scenario: print its results, write its files."""
    from simplugin.simulation.protocol import BACK_ENDS
    from simplugin.simulation.servers import start_server

    # SimGrid is loaded there while what scenarios need is loaded here.
    start_server(BACK_ENDS[back_end or BackEnd.coroutines])
    from simplugin.cli.run import run_command

    given = {"back_end": back_end and back_end.value, "seed": seed, "log": log and log.value}
    changes = {name: value for name, value in given.items() if value is not None}
    if prefix_prints:
        changes["prefix_prints"] = True
    run_command(scenario, changes, output, trust=trust or (), as_json=as_json)


@app.command()
def new(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            help="bags-policy, pricing-method, shares, schedule, mapper, market-policy,"
            " negotiation, actors, or generator.",
        ),
    ],
    file: Annotated[Path, typer.Argument(metavar="FILE.py", help="The module to write.")],
) -> None:
    """Write a scheduler of your own to start from: an example with its test, and a scenario."""
    from simplugin.cli.new import new_command

    new_command(kind, file)


@app.command()
def scenario(
    reference: Annotated[
        bool, typer.Option("--reference", help="Type, unit, default and meaning of every key.")
    ] = False,
) -> None:
    """List the keys of scenario and campaign files."""
    if not reference:
        raise typer.BadParameter("give --reference")
    from simplugin.cli.scenario_reference import reference as page

    typer.echo(page())


@app.command()
def check(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="Platforms, deployments, scenarios, campaigns."),
    ],
    imports: Annotated[
        bool,
        typer.Option("--import", help="Import the modules that are named, check signatures."),
    ] = False,
    trust: Annotated[list[str] | None, trust_option()] = None,
    as_json: Annotated[bool, json_option("lines")] = False,
) -> None:
    """Check files without running anything: each finding with its line and a remedy.

    Deployments are checked against the platforms given with them; scenarios and campaigns (.toml)
    with the functions that they name, whose modules have to be there. Exit status: 0 nothing found,
    1 findings, 2 a file could not be read.
    """
    from simplugin.formats.check import UNREADABLE, Finding, check, exit_status
    from simplugin.platforms.validation import ERROR

    scenarios = [file for file in dict.fromkeys(files) if file.suffix.lower() == ".toml"]
    findings = check(file for file in files if file not in scenarios)
    for file in scenarios:
        from simplugin.campaigns.campaign import check_file

        severity = ERROR if file.is_file() else UNREADABLE
        findings += [
            Finding(str(file), each.line or 1, severity, each.message, each.remedy or "")
            for each in check_file(file, imports=imports, trust=trust or ())
        ]
    status = exit_status(findings)
    if as_json:
        document = {
            "files": [str(file) for file in files],
            "findings": [finding.as_dict() for finding in findings],
            "status": status,
        }
        typer.echo(json.dumps(document))
        raise typer.Exit(status)
    for finding in findings:
        typer.echo(str(finding))
    counts = Counter(finding.severity for finding in findings)
    found = ", ".join(
        f"{number} {severity}{'s' * (number != 1 and severity != 'unreadable')}"
        for severity, number in counts.items()
    )
    number = len(set(files))
    typer.echo(f"{number} file{'s' * (number != 1)}: {found or 'nothing found'}", err=True)
    raise typer.Exit(status)


@app.command()
def reproduce(
    name: Annotated[
        str, typer.Argument(metavar="CAPABILITY", help="For instance pricing; or all.")
    ],
    quick: Annotated[
        bool, typer.Option("--quick", help="Do less, in half a minute each; some claims need all.")
    ] = False,
    as_json: Annotated[bool, json_option("a table")] = False,
    output: Annotated[
        Path | None,
        output_option(
            "DIR",
            "For pages, figures and the store; without, only the store, in out/reproductions.",
        ),
    ] = None,
    jobs: Annotated[int | None, jobs_option("Parts at a time")] = None,
    scheduler: Annotated[
        str | None, scheduler_option("A Dask scheduler that runs instead.")
    ] = None,
) -> None:
    """Run a paper's experiments: what it says beside what is measured, claim by claim.

    Each part is recorded when it is measured: what was interrupted goes on by the same command.
    Exit status 0, also where a claim disagrees; 1 where a part failed.
    """
    from simplugin.cli.reproduce import reproduce_command

    status = reproduce_command(name, output, jobs, scheduler, quick=quick, as_json=as_json)
    raise typer.Exit(status)


@app.command()
def report(
    place: Annotated[
        Path, typer.Argument(metavar="STORE|CAMPAIGN.toml", help="Where the results are.")
    ],
    output: Annotated[Path, output_option("DIR", "Where index.html is written.")],
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
    from simplugin.cli.report import Which, report_command

    which: Which = "none" if no_figures else figures.value
    report_command(place, output, which, campaign=campaign, group=group, baseline=baseline)


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
    jobs: Annotated[int | None, jobs_option("Runs at a time")] = None,
    wall_limit: Annotated[
        float,
        typer.Option("--wall-limit", min=0.001, help="Real time that a run may take, in seconds."),
    ] = 600.0,
    trust: Annotated[list[str] | None, trust_option()] = None,
    as_json: Annotated[bool, json_option("a table")] = False,
) -> None:
    """Run scenarios and compare them with the results recorded beside them: what moved, and why.

    Results and tolerances are in DIR/recorded. Exit status: 0 all is as recorded, 1 something
    moved, failed or is not recorded, 2 wrong arguments.
    """
    from simplugin.cli.regress import limits_from, regress_command
    from simplugin.regression.checking import Means

    limits = limits_from(rel_tol, abs_tol, tolerance or [])
    means = Means(jobs, wall_limit, trust=trust or ())
    raise typer.Exit(regress_command(paths, means, limits, junit, update=update, as_json=as_json))
