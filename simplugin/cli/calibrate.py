"""``simplugin calibrate``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.table import Table

from simplugin.calibration.calibrating import Calibration, calibrate, calibrated_scenario
from simplugin.calibration.evaluation import InterruptedCalibrationError
from simplugin.calibration.study import load_study
from simplugin.campaigns.running.campaign_runs import RunnersOnDemand
from simplugin.cli.displays import duration_text, standard_output
from simplugin.cli.terminal import BY_SIGNAL, relative_path, stop_signals
from simplugin.core.console import EscapingConsole
from simplugin.core.formatting import counted, percent, printable, readable

if TYPE_CHECKING:
    from simplugin.campaigns.campaign import Campaign
    from simplugin.campaigns.jobs import Runners

Starter = Callable[["Campaign"], Callable[[], AbstractContextManager["Runners"]]]


def calibrate_command(
    file: Path, starter: Starter, store: Path | None, trust: Iterable[str], *, as_json: bool
) -> int:
    """Calibrate, print the result, write the scenario; return the exit status."""
    study = load_study(file, trust=trust)
    start = starter(study.campaign)
    console = EscapingConsole(stderr=True, highlight=False)
    try:
        with (
            stop_signals() as stopped,
            console.status("the uncalibrated scenario") as status,
            RunnersOnDemand(start) as runners,
        ):
            found = calibrate(
                study, runners, store=store, stop=lambda: bool(stopped), tell=status.update
            )
    except InterruptedCalibrationError as error:
        typer.echo(f"simplugin: {error}", err=True)
        return BY_SIGNAL + stopped[0]
    output = file.with_name(f"{file.stem}.calibrated.toml")
    output.write_text(calibrated_scenario(study, found), encoding="utf-8")
    if as_json:
        document = {**found.document(), "scenario": str(output)}
        typer.echo(json.dumps(document, default=str))
    else:
        _print(found)
        typer.echo(f"wrote {relative_path(output)}")
    return 0


def _print(found: Calibration) -> None:
    """Print tables of the parameters, the losses and the values."""
    rows = [
        [
            each.key,
            _text(each.value),
            _interval(each.profile or each.plausible),
            _interval(each.bootstrap),
            "" if each.identified else "not identified",
        ]
        for each in found.parameters
    ]
    _table(("parameter", "value", "95 % (profile)", "95 % (bootstrap)", ""), rows)
    for names in found.not_identified:
        act = "act alike" if len(names) > 1 else "has little effect"
        typer.echo(printable(f"{' and '.join(names)}: {act} in these measured values"))
    typer.echo("")
    columns = ("calibrated", "uncalibrated", "constant_factor")
    losses = [
        [name.replace("_", "-"), *(percent(each[column]) for column in columns)]
        for name, each in found.losses.items()
    ]
    _table((f"loss ({found.loss})", *(column.replace("_", " ") for column in columns)), losses)
    typer.echo("")
    values = [
        [
            each.row,
            each.metric,
            readable(each.measured),
            readable(each.calibrated),
            f"{100 * (each.calibrated / each.measured - 1):+.1f} %",
            "held out" if each.held_out else "",
        ]
        for each in found.values
    ]
    _table(("row", "metric", "measured", "predicted", "error", ""), values)
    for name, error in found.systematic.items():
        typer.echo(printable(f"{name}: mean error of fitted rows {100 * error:+.2f} %"))
    failed = f", {found.failed} failed" if found.failed else ""
    typer.echo(f"{counted(found.runs, 'run')}{failed}; {duration_text(found.seconds)} in all")
    if not found.within_budget:
        typer.echo("the budget was spent before all intervals were profiled; raise evaluations")


def _table(columns: Iterable[str], rows: Iterable[list[str]]) -> None:
    """Print a table."""
    table = Table(box=None, padding=(0, 2, 0, 0))
    for at, name in enumerate(columns):
        table.add_column(name, justify="right" if at else "left", no_wrap=True)
    for row in rows:
        table.add_row(*map(printable, row))
    standard_output().print(table)


def _text(value: Any) -> str:
    """Return a value with few digits."""
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def _interval(values: tuple[Any, ...] | None) -> str:
    """Return the text of an interval or of plausible values."""
    return "-" if values is None else ", ".join(map(_text, values))
