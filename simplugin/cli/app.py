"""Commands and their options; each loads its libraries when it is called."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from simplugin.cli.campaign_commands import campaign_app
from simplugin.cli.deploy import deploy
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
    seed_option,
)
from simplugin.cli.platform_commands import platform_app
from simplugin.cli.terminal import group, plain_errors, relative_path

if TYPE_CHECKING:
    from simplugin.simulation.options import SimulationKeywords

app = group(
    "A laboratory for scheduling on grids and multi-clusters, built on SimGrid.", "simplugin"
)
app.add_typer(platform_app, name="platform")
app.add_typer(campaign_app, name="campaign")
add_command(app)(deploy)


def _show_version(wanted: bool) -> None:
    """Print the versions of simplugin, SimGrid and Python, and exit."""
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
        flag("--version", "Print the versions of simplugin, SimGrid and Python.", _show_version),
    ] = False,
) -> None:
    """Simulate scheduling on grids and multi-clusters."""


@add_command(app)
def run(
    scenario: Annotated[Path, argument("SCENARIO.toml", "The scenario file.")],
    back_end: Annotated[
        Literal["coroutines", "threads"] | None, option("Back end; overrides the scenario.")
    ] = None,
    seed: Annotated[
        int | None, seed_option("Seed of the simulation; overrides the scenario.")
    ] = None,
    output: Annotated[
        Path | None,
        output_option("DIR", "Directory for all outputs of the scenario, named there or not."),
    ] = None,
    log: Annotated[
        Literal["debug", "info", "warning", "error"] | None,
        option("Minimum level of me.log messages that are printed; overrides the scenario."),
    ] = None,
    prefix_prints: Annotated[
        bool,
        flag("--prefix-prints", "Prefix actor output with host, actor and simulated time."),
    ] = False,
    verify: Annotated[
        bool, flag("--verify", "Also compute the optimum with its cvxpy model, and compare both.")
    ] = False,
    trust: Trust = None,
    as_json: Annotated[bool, json_option("tables")] = False,
) -> None:
    """Run a scenario: print its results, write its files."""
    from simplugin.simulation.process.server_client import start_server
    from simplugin.simulation.protocol import BACK_ENDS

    # The server loads SimGrid while this process loads the modules of scenarios.
    start_server(BACK_ENDS[back_end or "coroutines"])
    from simplugin.cli.run import run_command

    changes: SimulationKeywords = {"prefix_prints": True} if prefix_prints else {}
    if back_end is not None:
        changes["back_end"] = back_end
    if seed is not None:
        changes["seed"] = seed
    if log is not None:
        changes["log"] = log
    run_command(scenario, changes, output, verify=verify, trust=trust or (), as_json=as_json)


@add_command(app)
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
    """Write an example of a user's scheduler: a module with a test, and a scenario."""
    from simplugin.cli.new import write_example

    written = write_example(kind, file)
    typer.echo(f"wrote {', '.join(map(relative_path, written))}")
    typer.echo(f"next: pytest {relative_path(file)}; simplugin run {relative_path(written[1])}")


@add_command(app)
def scenario(
    reference: Annotated[
        bool, flag("--reference", "Print type, unit, default and meaning of every key.")
    ] = False,
) -> None:
    """List the keys of scenario and campaign files."""
    if not reference:
        raise typer.BadParameter("give --reference")
    from simplugin.cli.scenario_reference import reference as page

    typer.echo(page())


@add_command(app)
def check(
    files: Annotated[
        list[Path], argument("FILE...", "Platform, deployment, scenario and campaign files.")
    ],
    imports: Annotated[
        bool, flag("--import", "Import the named modules and check signatures.")
    ] = False,
    trust: Trust = None,
    as_json: Annotated[bool, json_option("lines")] = False,
) -> None:
    """Check files without running them; print each finding with its line and a remedy.

    Deployments are checked against the platforms among the files; the modules that scenarios and
    campaigns (.toml) name must exist. Exit status: 0 no findings, 1 findings, 2 a file is not
    readable.
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


@add_command(app)
def reproduce(
    name: Annotated[str, argument("CAPABILITY", "For instance pricing; or all.")],
    quick: Annotated[
        bool,
        flag("--quick", "Reduced run, about 30 s for each paper; some claims need the full run."),
    ] = False,
    as_json: Annotated[bool, json_option("a table")] = False,
    output: Annotated[
        Path | None,
        output_option(
            "DIR",
            "Directory for pages, figures and the store; by default only the store is written,"
            " to out/reproductions.",
        ),
    ] = None,
    jobs: Annotated[int | None, jobs_option("Number of parts run in parallel")] = None,
    scheduler: Annotated[
        str | None, scheduler_option("Address of a Dask scheduler that runs the parts.")
    ] = None,
) -> None:
    """Run a paper's experiments and compare each of its claims with the measurement.

    Each part is recorded when it is complete: the same command resumes an interrupted run. Exit
    status 0, also if claims disagree; 1 if a part failed.
    """
    from simplugin.cli.reproduce import reproduce_command

    raise typer.Exit(reproduce_command(name, output, jobs, scheduler, quick=quick, as_json=as_json))


@add_command(app)
def report(
    place: Annotated[
        Path, argument("STORE|CAMPAIGN.toml", "A store, or the file of a campaign that has one.")
    ],
    output: Annotated[Path, output_option("DIR", "Directory for index.html and the figures.")],
    campaign: Annotated[
        int | None,
        option("Number of the campaign; by default that of the file, or the latest.", "N"),
    ] = None,
    group: Annotated[str | None, option("Varied key by which runs are compared.", "KEY")] = None,
    baseline: Annotated[
        str | None, option("Value of that key that the others are compared with.", "VALUE")
    ] = None,
    figures: Annotated[
        Literal["main", "all", "none"],
        option("Figures to write as PDF and PNG: the most important ones, all, or none."),
    ] = "main",
    name: Annotated[
        list[str] | None,
        option("Name of a key or metric in figures; repeatable.", "KEY=NAME"),
    ] = None,
) -> None:
    """Write an HTML page about a campaign for use offline, and its figures."""
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
            place, output, figures, campaign, group, baseline, names
        )
    for warning in warnings:
        typer.echo(warning, err=True)
    if drawn:
        typer.echo(f"wrote {len(drawn)} figures to {relative_path(output / FIGURES)}")
    typer.echo(f"wrote {relative_path(page)}")


@dataclass(frozen=True)
class ToleranceOptions:
    """Options for tolerances, which replace those of the recorded results."""

    rel_tol: Annotated[float | None, option("Relative tolerance; 1e-9 by default.")] = None
    abs_tol: Annotated[float | None, option("Absolute tolerance; 0 by default.")] = None
    tolerance: Annotated[
        list[str] | None, option("Relative tolerance of one metric; repeatable.", "METRIC=REL")
    ] = None


@add_command(app)
def regress(
    paths: Annotated[list[Path], argument("DIR|FILE...", "Scenarios, or directories of them.")],
    tolerances: ToleranceOptions,
    update: Annotated[bool, flag("--update", "Record new and moved results.")] = False,
    jobs: Annotated[int | None, jobs_option("Number of runs in parallel")] = None,
    wall_limit: Annotated[
        float, option("Maximum real time of a run, in seconds.", min=0.001)
    ] = 600.0,
    trust: Trust = None,
    as_json: Annotated[bool, json_option("a table")] = False,
) -> None:
    """Run scenarios, compare them with their recorded results, and explain differences.

    Results and tolerances are in DIR/recorded. Exit status: 0 all agree, 1 a result moved, is not
    recorded, or its run failed, 2 invalid arguments.
    """
    from simplugin.cli.regress import limits_from, regress_command
    from simplugin.regression.checking import CheckOptions

    limits = limits_from(tolerances.rel_tol, tolerances.abs_tol, tolerances.tolerance or [])
    options = CheckOptions(jobs, wall_limit, trust=trust or ())
    raise typer.Exit(regress_command(paths, options, limits, update=update, as_json=as_json))
