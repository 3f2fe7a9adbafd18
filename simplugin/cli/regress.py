"""``simplugin regress``: scenarios and their recorded results."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import typer
from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from simplugin.cli.displays import standard_output
from simplugin.cli.terminal import BY_SIGNAL, stop_signals
from simplugin.core.console import EscapingConsole
from simplugin.core.errors import SimpluginError
from simplugin.core.formatting import printable
from simplugin.regression.checking import CheckOptions, CheckResult, Limits, check_recorded
from simplugin.regression.comparison import MetricChange, Value, relative_text
from simplugin.regression.tolerances import is_tolerance

_DIFFERENT = 1
_WRONG_ARGUMENTS = 2
_STYLES = {"ok": "green", "moved": "red", "new": "yellow", "missing": "yellow", "failed": "red"}
_DIGITS = ".7g"
# Names are not folded to fewer letters than this.
_SHORTEST = 24
_ANY = 100_000


def regress_command(
    paths: Sequence[Path], options: CheckOptions, limits: Limits, *, update: bool, as_json: bool
) -> int:
    """Compare, print and return the exit status."""
    with stop_signals() as stopped:
        try:
            options = replace(options, warning=_warn, stop=lambda: bool(stopped))
            checked, total = _with_status(paths, options, limits, update=update)
            status = 0 if all(each.agrees for each in checked) else _DIFFERENT
            status = BY_SIGNAL + stopped[0] if stopped else status
            _print_outcome(checked, total, status, as_json=as_json)
        except SimpluginError as error:
            _warn(str(error))
            return _WRONG_ARGUMENTS
    return status


def _with_status(
    paths: Sequence[Path], options: CheckOptions, limits: Limits, *, update: bool
) -> tuple[list[CheckResult], int]:
    """Compare with a progress line; return also how many there are in all."""
    done = total = 0
    with EscapingConsole(stderr=True, highlight=False).status("starting") as status:

        def report(checked: CheckResult, of: int) -> None:
            nonlocal done, total
            done, total = done + 1, of
            status.update(f"{done} of {of}: {escape(printable(checked.name))} {checked.state}")

        checked = check_recorded(paths, replace(options, report=report), limits, update=update)
    return checked, total


def _print_outcome(
    checked: Sequence[CheckResult], total: int, status: int, *, as_json: bool
) -> None:
    """Print the results."""
    if as_json:
        document = {"scenarios": [each.document() for each in checked], "status": status}
        typer.echo(json.dumps(document, allow_nan=False))
        return
    _print(checked, standard_output())
    if status > BY_SIGNAL:
        typer.echo(f"stopped: {len(checked)} of {total or 'all'} compared")


def _warn(text: str) -> None:
    """Write a message to standard error."""
    typer.echo(f"simplugin: {printable(text)}", err=True)


def limits_from(
    relative: float | None, absolute: float | None, tolerances: Sequence[str]
) -> Limits:
    """Read the command's tolerances.

    Raises
    ------
    typer.BadParameter
        One is no number, or none of a metric.
    """
    metrics = {}
    for text in tolerances:
        name, _, value = text.partition("=")
        try:
            metrics[name.strip()] = float(value)
        except ValueError:
            metrics[name.strip()] = -1.0
        if not name.strip() or not is_tolerance(metrics[name.strip()]):
            raise typer.BadParameter(f"{text!r}: write METRIC=REL, for instance makespan=1e-6")
    for option, limit in (("--rel-tol", relative), ("--abs-tol", absolute)):
        if limit is not None and not is_tolerance(limit):
            raise typer.BadParameter(f"{option} is {limit}; give a number, 0 or more")
    return Limits(relative, absolute, metrics)


def _print(checked: Sequence[CheckResult], console: Console) -> None:
    """Print a table of all, then the explanation of each."""
    _print_table(checked, console)
    for each in checked:
        if each.explanation:
            console.print()
            outcome = f"{each.state}, recorded now" if each.recorded else each.state
            if each.state == "ok":
                now = "recorded now" if each.recorded else "not"
                outcome = f"metrics as recorded, activities {now}"
            console.print(Text(f"{printable(each.name)}: {outcome}", style="bold"), soft_wrap=True)
            for line in each.explanation:
                console.print(Text(f"  {printable(line)}"), soft_wrap=True)
    console.print()
    console.print(_summary(checked), soft_wrap=True)


def _print_table(checked: Sequence[CheckResult], console: Console) -> None:
    """Print a line for each scenario, and one for each metric of it that moved.

    On a terminal names that are too long are folded, numbers never.
    """
    table = Table(box=None, padding=(0, 2, 0, 0))
    least = min(_SHORTEST, max((len(each.name) for each in checked), default=0))
    table.add_column("scenario", overflow="fold", min_width=least)
    for name in ("", "metric"):
        table.add_column(name, no_wrap=True)
    for name in ("recorded", "now", "difference", "relative"):
        table.add_column(name, justify="right", no_wrap=True)
    for each in checked:
        about = (Text(printable(each.name)), Text(each.state, style=_STYLES[each.state]))
        moved = [change for change in each.changes if change.state != "ok"]
        if not moved or each.state == "new":
            count = len(each.changes)
            table.add_row(*about, Text(f"{count} metric{'s' * (count != 1)}" if count else ""))
            continue
        for number, change in enumerate(moved):
            table.add_row(*(("", "") if number else about), *_cells(change))
    wide = console.options.update(max_width=_ANY)
    console.width = max(console.width, Measurement.get(console, wide, table).minimum)
    console.print(table)


def _cells(change: MetricChange) -> tuple[Text, ...]:
    """Return the columns of a metric that moved."""
    difference, unit = change.difference, change.unit
    if unit != change.recorded_unit:
        unit = f"{change.recorded_unit or '-'} -> {unit or '-'}"
    return (
        Text(printable(f"{change.name} [{unit}]" if unit else change.name)),
        Text("not recorded" if change.state == "new" else _short(change.recorded)),
        Text("gone" if change.state == "missing" else _short(change.now)),
        Text("" if difference is None else f"{difference:+.4g}"),
        Text(relative_text(change.relative)),
    )


def _short(value: Value) -> str:
    """Write a value for the table; the explanation has all its digits."""
    if value is None:
        return "-"
    return f"{value:{_DIGITS}}" if isinstance(value, float) else printable(str(value))


def _summary(checked: Sequence[CheckResult]) -> Text:
    """Count the states, and say how to accept changes."""
    counts = {state: sum(each.state == state for each in checked) for state in _STYLES}
    text = ", ".join(f"{count} {state}" for state, count in counts.items() if count)
    if recorded := sum(each.recorded for each in checked):
        text += f"; {recorded} recorded now"
    elif counts["moved"] or counts["new"] or counts["missing"]:
        text += "; --update records what is new or moved"
    return Text(text)
