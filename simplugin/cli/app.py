"""Commands and their options; each loads its libraries when it is called."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from simplugin.cli.campaign_commands import campaign_app
from simplugin.cli.deploy import deploy
from simplugin.cli.options import (
    argument,
    flag,
    jobs_option,
    json_option,
    option,
    output_option,
    scheduler_option,
    seed_option,
    trust_option,
)
from simplugin.cli.platform_commands import platform_app
from simplugin.cli.terminal import group, plain_errors, short

if TYPE_CHECKING:
    from simplugin.simulation.options import SimulationKeywords

app = group(
    "A laboratory for scheduling on grids and multi-clusters, built on SimGrid.",
    name="simplugin",
    # An error ends in one message; a traceback is a defect of ours.
    pretty_exceptions_enable=False,
)
app.add_typer(platform_app, name="platform")
app.add_typer(campaign_app, name="campaign")
app.command()(deploy)


def _show_version(wanted: bool) -> None:
    """Print the versions of simplugin, SimGrid and Python, and end; SimGrid names its own."""
    if not wanted:
        return
    from platform import python_version

    with plain_errors():
        import simplugin
        from simplugin.campaigns.keys import asked_version
        from simplugin.core.errors import SimpluginError

        try:
            simgrid = asked_version()
        except SimpluginError as error:
            simgrid = f"missing ({error})"
        own = f"simplugin {simplugin.__version__}, SimGrid {simgrid}"
        typer.echo(f"{own}, Python {python_version()}")
    raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        option(
            "Print the versions of simplugin and SimGrid.",
            None,
            "--version",
            callback=_show_version,
            is_eager=True,
        ),
    ] = False,
) -> None:
    """Simulate scheduling on grids and multi-clusters."""


@app.command()
def run(
    scenario: Annotated[Path, argument("SCENARIO.toml", "What to run.")],
    back_end: Annotated[
        Literal["coroutines", "threads"] | None, option("Instead of the scenario's.")
    ] = None,
    seed: Annotated[int | None, seed_option("Likewise.")] = None,
    output: Annotated[
        Path | None,
        output_option(
            "DIR", "Write result, trace and Gantt chart there, whatever the scenario says."
        ),
    ] = None,
    log: Annotated[
        Literal["debug", "info", "warning", "error"] | None,
        option("The least level of me.log that is shown."),
    ] = None,
    prefix_prints: Annotated[
        bool, flag("--prefix-prints", "Begin what actors print with host, actor and date.")
    ] = False,
    trust: Annotated[list[str] | None, trust_option()] = None,
    as_json: Annotated[bool, json_option("tables")] = False,
) -> None:
    """Run a scenario: print its results, write its files."""
    from simplugin.simulation.protocol import BACK_ENDS
    from simplugin.simulation.servers import start_server

    # SimGrid is loaded there while what scenarios need is loaded here.
    start_server(BACK_ENDS[back_end or "coroutines"])
    from simplugin.cli.run import run_command

    changes: SimulationKeywords = {"prefix_prints": True} if prefix_prints else {}
    if back_end is not None:
        changes["back_end"] = back_end
    if seed is not None:
        changes["seed"] = seed
    if log is not None:
        changes["log"] = log
    run_command(scenario, changes, output, trust=trust or (), as_json=as_json)


@app.command()
def new(
    kind: Annotated[
        str,
        argument(
            "KIND",
            "bags-policy, pricing-method, shares, schedule, mapper, market-policy,"
            " negotiation, actors, or generator.",
        ),
    ],
    file: Annotated[Path, argument("FILE.py", "The module to write.")],
) -> None:
    """Write a scheduler of your own to start from: an example with its test, and a scenario."""
    from simplugin.cli.new import write_example

    written = write_example(kind, file)
    typer.echo(f"wrote {', '.join(map(short, written))}")
    typer.echo(f"next: pytest {short(file)}; simplugin run {short(written[1])}")


@app.command()
def scenario(
    reference: Annotated[
        bool, flag("--reference", "Type, unit, default and meaning of every key.")
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
        list[Path], argument("FILE...", "Platforms, deployments, scenarios, campaigns.")
    ],
    imports: Annotated[
        bool, flag("--import", "Import the modules that are named, check signatures.")
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
    from simplugin.inputs.messages import folded
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
    for line in folded(map(str, findings)):
        typer.echo(line)
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
    name: Annotated[str, argument("CAPABILITY", "For instance pricing; or all.")],
    quick: Annotated[
        bool, flag("--quick", "Do less, in half a minute each; some claims need all.")
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

    raise typer.Exit(reproduce_command(name, output, jobs, scheduler, quick=quick, as_json=as_json))


@app.command()
def report(
    place: Annotated[Path, argument("STORE|CAMPAIGN.toml", "Where the results are.")],
    output: Annotated[Path, output_option("DIR", "Where index.html is written.")],
    campaign: Annotated[int | None, option("Instead of the file's, or the latest.", "N")] = None,
    group: Annotated[str | None, option("Compare runs by this varied key.", "KEY")] = None,
    baseline: Annotated[str | None, option("Compare with this value.", "VALUE")] = None,
    figures: Annotated[
        Literal["main", "all", "none"],
        option("PDF and PNG: of what matters most, of everything, none."),
    ] = "main",
    no_figures: Annotated[bool, flag("--no-figures", "As --figures none: the page only.")] = False,
    name: Annotated[
        list[str] | None,
        option("What a key or metric is called in figures; repeatable.", "KEY=NAME"),
    ] = None,
) -> None:
    """Write a page about a campaign that any browser shows offline, and its figures."""
    from simplugin.cli.displays import spinner
    from simplugin.cli.report import FIGURES, write_report
    from simplugin.core.console import EscapingConsole

    pairs = [each.partition("=") for each in name or ()]
    for key, equals, text in pairs:
        if not (key and equals and text):
            raise typer.BadParameter(f"{key!r} lacks a name; write KEY=NAME", param_hint="--name")
    names = {key: text for key, _, text in pairs}
    with spinner(EscapingConsole(stderr=True), "writing the report"):
        page, drawn, warnings = write_report(
            place, output, "none" if no_figures else figures, campaign, group, baseline, names
        )
    for warning in warnings:
        typer.echo(warning, err=True)
    if drawn:
        typer.echo(f"wrote {len(drawn)} figures to {short(output / FIGURES)}")
    typer.echo(f"wrote {short(page)}")


@app.command()
def regress(
    paths: Annotated[list[Path], argument("DIR|FILE...", "Scenarios, directories of them.")],
    update: Annotated[
        bool, flag("--update", "Record what is new or moved, and say what it is.")
    ] = False,
    rel_tol: Annotated[float | None, option("Relative tolerance; 1e-9 without.")] = None,
    abs_tol: Annotated[float | None, option("Absolute tolerance; 0 without.")] = None,
    tolerance: Annotated[
        list[str] | None, option("Of one metric; repeatable.", "METRIC=REL")
    ] = None,
    jobs: Annotated[int | None, jobs_option("Runs at a time")] = None,
    wall_limit: Annotated[
        float, option("Real time that a run may take, in seconds.", min=0.001)
    ] = 600.0,
    trust: Annotated[list[str] | None, trust_option()] = None,
    as_json: Annotated[bool, json_option("a table")] = False,
) -> None:
    """Run scenarios and compare them with the results recorded beside them: what moved, and why.

    Results and tolerances are in DIR/recorded. Exit status: 0 all is as recorded, 1 something
    moved, failed or is not recorded, 2 wrong arguments.
    """
    from simplugin.cli.regress import limits_from, regress_command
    from simplugin.regression.checking import CheckOptions

    limits = limits_from(rel_tol, abs_tol, tolerance or [])
    options = CheckOptions(jobs, wall_limit, trust=trust or ())
    raise typer.Exit(regress_command(paths, options, limits, update=update, as_json=as_json))
