"""Commands and their options; each loads its libraries when it is called."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from simplugin.cli.campaign_commands import WorkerOptions, campaign_app
from simplugin.cli.deploy import deploy
from simplugin.cli.options import Jobs, Seed, add_command
from simplugin.cli.platform_commands import platform_app
from simplugin.cli.terminal import group, plain_errors, relative_path

if TYPE_CHECKING:
    from simplugin.campaigns.campaign import Campaign
    from simplugin.campaigns.jobs import Runners
    from simplugin.simulation.options import SimulationKeywords

app = group(
    "A laboratory for scheduling on grids and multi-clusters, built on SimGrid.", "simplugin"
)
app.add_typer(platform_app, name="platform")
app.add_typer(campaign_app, name="campaign")


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
        typer.Option(
            "--version",
            metavar="",
            help="Print the versions of simplugin, SimGrid and Python.",
            callback=_show_version,
            is_eager=True,
        ),
    ] = False,
) -> None:
    """Simulate scheduling on grids and multi-clusters."""


@dataclass(frozen=True, kw_only=True)
class OverridingOptions:
    """Options that override the section ``[simulation]`` of a scenario.

    Attributes
    ----------
    back_end
        Back end; overrides the scenario.
    seed
        Seed of the simulation; overrides the scenario.
    log
        Minimum level of me.log messages that are printed; overrides the scenario.
    prefix_prints
        Prefix actor output with host, actor and simulated time.
    """

    back_end: Literal["coroutines", "threads"] | None = None
    seed: Seed = None
    log: Literal["debug", "info", "warning", "error"] | None = None
    prefix_prints: bool = False

    def changes(self) -> SimulationKeywords:
        """Return the keywords that are given."""
        given = asdict(self) | {"prefix_prints": self.prefix_prints or None}
        changed = {name: value for name, value in given.items() if value is not None}
        return cast("SimulationKeywords", changed)


def run(
    scenario: Path,
    *,
    simulation: OverridingOptions,
    output: Path | None = None,
    verify: bool = False,
    trust: list[str] | None = None,
    as_json: bool = False,
) -> None:
    """Run a scenario: print its results, write its files.

    Parameters
    ----------
    scenario : SCENARIO.toml
        The scenario file.
    output : DIR
        Directory for all outputs of the scenario, named there or not.
    verify
        Also compute the optimum with its cvxpy model, and compare both.
    as_json
        Print one JSON object instead of tables.
    """
    from simplugin.simulation.process.server_client import start_server
    from simplugin.simulation.protocol import BACK_ENDS

    # The server loads SimGrid while this process loads the modules of scenarios.
    start_server(BACK_ENDS[simulation.back_end or "coroutines"])
    from simplugin.cli.run import run_command

    changes = simulation.changes()
    run_command(scenario, changes, output, verify=verify, trust=trust or (), as_json=as_json)


def new(kind: str, file: Path) -> None:
    """Write an example of a user's scheduler: a module with a test, and a scenario.

    Parameters
    ----------
    kind : KIND
        bags-policy, pricing-method, shares, schedule, mapper, market-policy, negotiation,
        jobs-policy, actors, environment, generator, or lookahead.
    file : FILE.py
        The module to write.
    """
    from simplugin.cli.new import write_example

    written = write_example(kind, file)
    typer.echo(f"wrote {', '.join(map(relative_path, written))}")
    typer.echo(f"next: pytest {relative_path(file)}; simplugin run {relative_path(written[1])}")


def scenario(*, reference: bool = False) -> None:
    """List the keys of scenario and campaign files.

    Parameters
    ----------
    reference
        Print type, unit, default and meaning of every key.
    """
    if not reference:
        raise typer.BadParameter("give --reference")
    from simplugin.cli.scenario_reference import reference as page

    typer.echo(page())


def check(
    files: list[Path],
    *,
    imports: bool = False,
    trust: list[str] | None = None,
    as_json: bool = False,
) -> None:
    """Check files without running them; print each finding with its line and a remedy.

    Deployments are checked against the platforms among the files; the modules that scenarios and
    campaigns (.toml) name must exist. Exit status: 0 no findings, 1 findings, 2 a file is not
    readable.

    Parameters
    ----------
    files : FILE...
        Platform, deployment, scenario and campaign files.
    as_json
        Print one JSON object instead of lines.
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


def reproduce(
    name: str,
    *,
    quick: bool = False,
    as_json: bool = False,
    output: Path | None = None,
    jobs: Jobs = None,
    scheduler: str | None = None,
    data: Path | None = None,
) -> None:
    """Run a paper's experiments and compare each of its claims with the measurement.

    Each part is recorded when it is complete: the same command resumes an interrupted run. Exit
    status 0, also if claims disagree; 1 if a part failed.

    Parameters
    ----------
    name : CAPABILITY
        For instance pricing; or all, of papers; or jobs, for batch jobs beside real runs.
    quick
        Reduced run, about 30 s for each paper; some claims need the full run.
    as_json
        Print one JSON object instead of a table.
    output : DIR
        Directory for pages, figures and the store; by default only the store is written, to
        out/reproductions.
    jobs
        Number of parts run in parallel; by default one for each core.
    scheduler : ADDRESS
        Address of a Dask scheduler that runs the parts.
    data : DIR
        For jobs: directory of the public logs.
    """
    if name == "jobs":
        from simplugin.cli.reproduce_jobs import reproduce_jobs

        raise typer.Exit(reproduce_jobs(data, output, as_json=as_json))
    if data is not None:
        raise typer.BadParameter("only jobs take it", param_hint="--data")
    from simplugin.cli.reproduce import reproduce_command

    raise typer.Exit(reproduce_command(name, output, jobs, scheduler, quick=quick, as_json=as_json))


def report(
    place: Path,
    *,
    output: Path,
    campaign: int | None = None,
    group: str | None = None,
    baseline: str | None = None,
    figures: Literal["main", "all", "none"] = "main",
    name: list[str] | None = None,
) -> None:
    """Write an HTML page about a campaign for use offline, and its figures.

    Parameters
    ----------
    output : DIR
        Directory for index.html and the figures.
    group : KEY
        Varied key by which runs are compared.
    baseline : VALUE
        Value of that key that the others are compared with.
    figures
        Figures to write as PDF and PNG: the most important ones, all, or none.
    name : KEY=NAME
        Name of a key or metric in figures; repeatable.
    """
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


@dataclass(frozen=True, kw_only=True)
class ToleranceOptions:
    """Options for tolerances, which replace those of the recorded results.

    Attributes
    ----------
    rel_tol
        Relative tolerance; 1e-9 by default.
    abs_tol
        Absolute tolerance; 0 by default.
    tolerance : METRIC=REL
        Relative tolerance of one metric; repeatable.
    """

    rel_tol: float | None = None
    abs_tol: float | None = None
    tolerance: list[str] | None = None


def regress(
    paths: list[Path],
    *,
    tolerances: ToleranceOptions,
    update: bool = False,
    jobs: Jobs = None,
    wall_limit: Annotated[float, typer.Option(min=0.001)] = 600.0,
    trust: list[str] | None = None,
    as_json: bool = False,
) -> None:
    """Run scenarios, compare them with their recorded results, and explain differences.

    Results and tolerances are in DIR/recorded. Exit status: 0 all agree, 1 a result moved, is not
    recorded, or its run failed, 2 invalid arguments.

    Parameters
    ----------
    paths : DIR|FILE...
        Scenarios, or directories of them.
    update
        Record new and moved results.
    wall_limit
        Maximum real time of a run, in seconds.
    as_json
        Print one JSON object instead of a table.
    """
    from simplugin.cli.regress import limits_from, regress_command
    from simplugin.regression.checking import CheckOptions

    limits = limits_from(tolerances.rel_tol, tolerances.abs_tol, tolerances.tolerance or [])
    options = CheckOptions(jobs, wall_limit, trust=trust or ())
    raise typer.Exit(regress_command(paths, options, limits, update=update, as_json=as_json))


def robust(
    scenario: Path,
    *,
    orders: Annotated[int, typer.Option(min=1)] = 100,
    trust: list[str] | None = None,
    as_json: bool = False,
) -> None:
    """Tell whether a scenario's results depend on who comes first at one date.

    SimGrid leaves open in which order actors run that are ready at one date. The scenario is run
    in the usual order and in others, drawn by seeds: the key simulation.order repeats one. Exit
    status: 0 no metric differs, 1 one does, 2 a run failed.

    Parameters
    ----------
    scenario : SCENARIO.toml
        The scenario file.
    orders : N
        Number of orders to draw.
    as_json
        Print one JSON object instead of a table.
    """
    from simplugin.cli.robust import robust_command

    raise typer.Exit(robust_command(scenario, orders, trust or (), as_json=as_json))


def calibrate(
    study: Path,
    *,
    workers: WorkerOptions,
    store: Path | None = None,
    output: Path | None = None,
    trust: list[str] | None = None,
    as_json: bool = False,
) -> None:
    """Fit keys of a scenario to measured values, with intervals and held-out errors.

    Each evaluation is a run of the store: the same command continues a calibration that was
    stopped or killed. Writes the scenario with the best values to STUDY.calibrated.toml.

    Parameters
    ----------
    study : STUDY.toml
        A campaign file with a table [calibrate].
    output : DIR
        Directory for index.html, a page about the result, and its figures; by default none.
    as_json
        Print one JSON object instead of tables.
    """
    from simplugin.cli.calibrate import calibrate_command

    def starter(campaign: Campaign) -> Callable[[], AbstractContextManager[Runners]]:
        """Return a function that starts the runners."""
        return workers.starter(campaign, study)

    status = calibrate_command(study, starter, store, output, trust or (), as_json=as_json)
    raise typer.Exit(status)


def adversary(
    study: Path,
    *,
    workers: WorkerOptions,
    output: Path | None = None,
    store: Path | None = None,
    trust: list[str] | None = None,
    as_json: bool = False,
) -> None:
    """Tell how sure it is that one scheduler beats another, and search where it loses most.

    The claim is tried over seeds, orders, draws of parameters and instances that simulated
    annealing finds. Each evaluation is a run of the store: the same command continues a study that
    was stopped or killed. Writes the worst case to STUDY.worst.toml and STUDY.worst.against.toml,
    for `simplugin run`.

    Parameters
    ----------
    study : STUDY.toml
        A campaign file with a table [adversary].
    output : DIR
        Directory for a page, index.html.
    as_json
        Print one JSON object instead of tables.
    """
    from simplugin.cli.adversary import adversary_command

    def starter(campaign: Campaign) -> Callable[[], AbstractContextManager[Runners]]:
        """Return a function that starts the runners."""
        return workers.starter(campaign, study)

    adversary_command(study, starter, store, trust or (), output, as_json=as_json)


_OF_SCENARIOS = (run, new, scenario, check, deploy, reproduce, report, regress)
_OF_STUDIES = (robust, calibrate, adversary)
for command in (*_OF_SCENARIOS, *_OF_STUDIES):
    add_command(app, command)
