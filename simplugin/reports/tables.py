"""Tables for the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from rich import box
from rich.table import Table
from rich.text import Text

from simplugin.formatting import percent, readable
from simplugin.rows import Row
from simplugin.simulation import Result
from simplugin.simulation.trace import KINDS, STATES, UNITS

if TYPE_CHECKING:
    from rich.console import Console

_MOST = 8
_BAR = 12
_NOUNS = {"exec": "execution", "ptask": "parallel task", "comm": "transfer"}


def print_result(
    result: Result,
    row: Row | None = None,
    *,
    console: Console | None = None,
    title: str = "",
    bandwidths: Mapping[str, float] | None = None,
    most: int = _MOST,
) -> None:
    """Print the result of a simulation in short tables.

    Parameters
    ----------
    result : Result
        Result of a simulation.
    row : Row, optional
        Its metrics, shown first.
    console : Console, optional
        Console to print to; standard output by default.
    title : str
        Above everything.
    bandwidths : mapping of str to float, optional
        Bandwidths of the shared links [byte/s]; the table then shows their loads.
    most : int
        Lines of a table.
    """
    from rich.console import Console

    console = console or Console()
    if title:
        console.print(Text(title, style="bold"))
    if row is not None:
        console.print(summary_table(row))
    for table in (
        activities_table(result, most),
        hosts_table(result, most),
        links_table(result, bandwidths, most),
    ):
        if table is not None:
            console.print()
            console.print(table)


def summary_table(row: Row) -> Table:
    """Return the metrics of a run, and its gap to the optimum."""
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="cyan")
    table.add_column(justify="right")
    for name, shown in row.lines():
        table.add_row(name, shown)
    return table


def activities_table(result: Result, most: int = _MOST) -> Table | None:
    """Return number, mean length and total amount of activities by kind and label."""
    trace = result.trace
    if not len(trace):
        return None
    table = house_table("Activities")
    table.add_column("kind")
    table.add_column("label")
    for name in ("number", "failed", "mean time", "amount", "mean rate"):
        table.add_column(name, justify="right")
    keys = trace.kind_code.astype(np.int64) * (len(trace.label_names) + 1) + trace.label_code + 1
    length = trace.end - trace.start
    groups = [np.flatnonzero(keys == key) for key in np.unique(keys).tolist()]
    groups.sort(key=lambda rows: (int(trace.kind_code[rows[0]]), -float(length[rows].sum())))
    for rows in groups[:most]:
        kind = KINDS[trace.kind_code[rows[0]]]
        label = trace.label_code[rows[0]]
        failed = int((trace.state_code[rows] != STATES.index("done")).sum())
        amount, time = float(trace.amount[rows].sum()), float(length[rows].sum())
        is_rate = kind != "sleep" and time > 0
        table.add_row(
            _NOUNS.get(kind, kind),
            trace.label_names[label] if label >= 0 else "",
            readable(len(rows)),
            readable(failed) if failed else "",
            readable(time / len(rows), "s"),
            readable(amount, UNITS[kind]),
            readable(amount / time, f"{UNITS[kind]}/s") if is_rate else "",
        )
    _say_rest(table, len(groups), most)
    return table


def hosts_table(result: Result, most: int = _MOST) -> Table | None:
    """Return the hosts that were busy longest, with energy also those that only idled."""
    hosts = result.hosts
    with_energy = not bool(np.isnan(hosts.energy).all())
    order = np.argsort(-hosts.busy, kind="stable")
    order = order[(hosts.busy[order] > 0) | (hosts.energy[order] > 0)]
    if not len(order):
        return None
    table = house_table("Hosts")
    table.add_column("name")
    for name in ("computed", "busy", "of the time"):
        table.add_column(name, justify="right")
    table.add_column("")
    if with_energy:
        table.add_column("energy", justify="right")
    for host in order[:most].tolist():
        share = float(hosts.utilisation[host]) if result.clock > 0 else None
        cells = [
            hosts.name[host],
            readable(float(hosts.flops[host]), "flop"),
            readable(float(hosts.busy[host]), "s"),
            percent(share),
            _bar(share),
        ]
        table.add_row(*cells, *([readable(float(hosts.energy[host]), "J")] if with_energy else []))
    _say_rest(table, len(order), most)
    return table


def links_table(
    result: Result, bandwidths: Mapping[str, float] | None = None, most: int = _MOST
) -> Table | None:
    """Return the links that were loaded most, or carried most if bandwidths are unknown."""
    links = result.links
    if not links.bytes.any():
        return None
    rate = links.bytes / result.clock if result.clock > 0 else np.zeros(len(links))
    load = None
    if bandwidths is not None:
        bandwidth = np.array([bandwidths.get(name, np.nan) for name in links.name])
        load = np.nan_to_num(rate / bandwidth)
        load = load if load.any() else None
    order = _largest(links.bytes if load is None else load)
    with_energy = not bool(np.isnan(links.energy).all())
    table = house_table("Links")
    table.add_column("name")
    for name in ("carried", "mean rate", *(["mean load", ""] if load is not None else [])):
        table.add_column(name, justify="right" if name else "left")
    if with_energy:
        table.add_column("energy", justify="right")
    for link in order[:most].tolist():
        cells = [
            links.name[link],
            readable(float(links.bytes[link]), "byte"),
            readable(float(rate[link]), "byte/s"),
        ]
        if load is not None:
            cells += [percent(float(load[link])), _bar(float(load[link]))]
        table.add_row(*cells, *([readable(float(links.energy[link]), "J")] if with_energy else []))
    _say_rest(table, len(order), most)
    return table


def house_table(title: str) -> Table:
    """Return an empty table in the house style."""
    return Table(
        title=title or None,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        header_style="cyan",
        caption_justify="left",
        caption_style="dim",
    )


def _say_rest(table: Table, there_are: int, most: int) -> None:
    """Write the number of omitted lines."""
    if there_are > most:
        table.caption = f"and {readable(there_are - most)} more"


def _largest(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the positions of positive values, largest first."""
    order = np.argsort(-values, kind="stable")
    return order[values[order] > 0]


def _bar(share: float | None) -> Text:
    """Return a ratio as a bar; more than all of it is a full bar."""
    filled = round(_BAR * min(max(share or 0.0, 0.0), 1.0))
    return Text("█" * filled, style="blue") + Text("░" * (_BAR - filled), style="dim")
