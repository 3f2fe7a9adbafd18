"""``simplugin regress``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from simplugin.campaigns.regression.checking import Checked, Limits, check_recorded
from simplugin.campaigns.regression.explanation import relative_text
from simplugin.campaigns.regression.junit import write_junit
from simplugin.campaigns.regression.tolerances import is_tolerance
from simplugin.errors import SimpluginError

if TYPE_CHECKING:
    from simplugin.campaigns.regression.comparison import Change, Value

_DIFFERENT = 1
_WRONG_ARGUMENTS = 2
_STYLES = {"ok": "green", "moved": "red", "new": "yellow", "missing": "yellow", "failed": "red"}
_DIGITS = ".7g"
_WIDEST = 40


def regress_command(
    paths: Sequence[Path],
    *,
    update: bool,
    limits: Limits,
    junit: Path | None,
    jobs: int | None,
    wall_limit: float,
    as_json: bool,
) -> int:
    """Compare, print and return the exit status."""
    console = Console(highlight=False)
    errors = Console(stderr=True, highlight=False)
    try:
        with errors.status("starting") as status:
            done = 0

            def report(checked: Checked, total: int) -> None:
                nonlocal done
                done += 1
                status.update(f"{done} of {total}: {escape(checked.name)} {checked.state}")

            checked = check_recorded(
                paths,
                update=update,
                limits=limits,
                jobs=jobs,
                wall_limit=wall_limit,
                report=report,
                remark=lambda text: typer.echo(f"simplugin: {text}", err=True),
            )
    except SimpluginError as error:
        typer.echo(f"simplugin: {error}", err=True)
        return _WRONG_ARGUMENTS
    if junit is not None:
        write_junit(checked, junit)
    status_code = 0 if all(each.agrees for each in checked) else _DIFFERENT
    if as_json:
        document = {"scenarios": [each.document() for each in checked], "status": status_code}
        typer.echo(json.dumps(document, allow_nan=False))
    else:
        _print(checked, console)
    return status_code


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


def _print(checked: Sequence[Checked], console: Console) -> None:
    """Print a table of all, then what is to be told of each."""
    console.print(_table(checked))
    for each in checked:
        if each.explanation:
            console.print()
            console.print(Text(f"{each.name}: {_outcome(each)}", style="bold"))
            for line in each.explanation:
                console.print(Text(f"  {line}"), soft_wrap=True)
    console.print()
    console.print(_summary(checked), soft_wrap=True)


def _table(checked: Sequence[Checked]) -> Table:
    """Return a line for each scenario, and one for each metric of it that moved."""
    table = Table(box=None, padding=(0, 2, 0, 0))
    widest = max((len(each.name) for each in checked), default=0)
    table.add_column("scenario", min_width=min(widest, _WIDEST))
    table.add_column("")
    table.add_column("metric")
    for name in ("recorded", "now", "difference", "relative"):
        table.add_column(name, justify="right")
    for each in checked:
        state = Text(each.state, style=_STYLES[each.state])
        moved = [change for change in each.changes if change.state != "ok"]
        if not moved or each.state == "new":
            table.add_row(Text(each.name), state, Text(_count(each)))
            continue
        for number, change in enumerate(moved):
            first = (Text(each.name), state) if not number else ("", "")
            table.add_row(*first, *_cells(change))
    return table


def _cells(change: Change) -> tuple[Text, ...]:
    """Return the columns of a metric that moved."""
    difference = change.difference
    return (
        Text(f"{change.name} [{change.unit}]" if change.unit else change.name),
        Text("not recorded" if change.state == "new" else _short(change.recorded)),
        Text("gone" if change.state == "missing" else _short(change.now)),
        Text("" if difference is None else f"{difference:+.4g}"),
        Text(relative_text(change.relative)),
    )


def _short(value: Value) -> str:
    """Write a value for the table; the explanation has all its digits."""
    if value is None:
        return "-"
    return f"{value:{_DIGITS}}" if isinstance(value, float) else str(value)


def _count(checked: Checked) -> str:
    """Tell how many metrics a scenario has."""
    count = len(checked.changes)
    return f"{count} metric{'s' * (count != 1)}" if count else ""


def _outcome(checked: Checked) -> str:
    """Tell a state, and whether it was recorded."""
    if checked.state == "ok":
        return "metrics as recorded, activities not"
    return f"{checked.state}, recorded now" if checked.recorded else checked.state


def _summary(checked: Sequence[Checked]) -> Text:
    """Count the states, and tell how to accept what moved."""
    counts = {state: sum(each.state == state for each in checked) for state in _STYLES}
    told = ", ".join(f"{count} {state}" for state, count in counts.items() if count)
    recorded = sum(each.recorded for each in checked)
    if recorded:
        told += f"; {recorded} recorded now"
    elif counts["moved"] or counts["new"] or counts["missing"]:
        told += "; --update records what is new or moved"
    return Text(told)
