"""``simplugin robust``."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import typer
from rich.table import Table

from simplugin.cli.displays import standard_output
from simplugin.core.console import EscapingConsole
from simplugin.core.errors import SimpluginError
from simplugin.core.formatting import counted, printable, readable
from simplugin.regression.comparison import first_difference
from simplugin.regression.orders import OrderSensitivity, order_sensitivity
from simplugin.scenarios.loading import load_scenario

_FAILED = 2


def robust_command(file: Path, orders: int, trust: Iterable[str], *, as_json: bool) -> int:
    """Run the scenario under several orders, print what differs, return the exit status."""
    try:
        scenario = load_scenario(file, trust=trust)
        with EscapingConsole(stderr=True, highlight=False).status("the usual order") as status:
            found = order_sensitivity(
                scenario, orders, lambda done: status.update(f"{done} of {orders} orders")
            )
    except SimpluginError as error:
        typer.echo(f"simplugin: {printable(str(error))}", err=True)
        return _FAILED
    if as_json:
        typer.echo(json.dumps(found.document(), allow_nan=False))
    else:
        _print(found)
    return int(found.depends)


def _print(found: OrderSensitivity) -> None:
    """Print a table of the metrics, and the first difference of the runs that differ most."""
    table = Table(box=None, padding=(0, 2, 0, 0))
    for name in ("metric", "usual", "least", "largest", "differs in"):
        table.add_column(name, justify="left" if name == "metric" else "right", no_wrap=True)
    for each in found.ranges:
        values = (readable(value, each.unit) for value in (each.usual, each.least, each.largest))
        times = f"{each.n_other} of {found.n_orders}" if each.n_other else "none"
        table.add_row(printable(each.name), *values, times)
    standard_output().print(table)
    typer.echo(f"{counted(found.ties or 0, 'date')} at which actors compete, in the usual order")
    if found.farthest is None:
        typer.echo(f"no metric depends on the order, of {found.n_orders}")
        return
    names = ["the usual order" if each is None else f"order {each}" for each in found.farthest]
    typer.echo(f"{found.metric} differs most between {names[0]} and {names[1]}:")
    if found.divergence is not None:
        for line in first_difference(found.divergence, (names[0], names[1])):
            typer.echo(f"  {printable(line)}")
