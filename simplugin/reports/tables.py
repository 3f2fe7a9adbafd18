"""Tables for the terminal: results, listings that fit its width, and claims of a paper."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile

import numpy as np
from numpy.typing import NDArray
from rich import box
from rich.cells import cell_len
from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

from simplugin.core.console import EscapingConsole
from simplugin.core.formatting import percent, readable
from simplugin.results.claims import Claim, headline
from simplugin.results.row import Row
from simplugin.results.tables import Cell, ResultTable
from simplugin.simulation import HostTotals, LinkTotals, Result
from simplugin.simulation.trace import KINDS, STATES, UNITS

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
    tables = (
        activities_table(result, most),
        hosts_table(result, most),
        links_table(result, bandwidths, most),
    )
    shown = [table for table in tables if table.lines]
    print_listings(row, shown, console=console, title=title)


def summary_table(row: Row) -> Table:
    """Return the metrics of a run, and its gap to the optimum."""
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="cyan")
    table.add_column(justify="right")
    for name, shown in row.lines():
        table.add_row(name, shown)
    return table


def activities_table(result: Result, most: int = _MOST) -> ResultTable:
    """Return number, mean length and total amount of activities by kind and label."""
    trace = result.trace
    # Codes of the states in which an activity did not finish, if there are such activities.
    unfinished = [code for code in np.unique(trace.state_code).tolist() if STATES[code] != "done"]
    words = [STATES[code].replace("canceled", "cancelled") for code in unfinished]
    keys = trace.kind_code.astype(np.int64) * (len(trace.label_names) + 1) + trace.label_code + 1
    length = trace.end - trace.start
    groups = [np.flatnonzero(keys == key) for key in np.unique(keys).tolist()]
    groups.sort(key=lambda rows: (int(trace.kind_code[rows[0]]), -float(length[rows].sum())))
    lines: list[tuple[Cell, ...]] = []
    for rows in groups:
        kind, label = KINDS[trace.kind_code[rows[0]]], trace.label_code[rows[0]]
        counts = (int((trace.state_code[rows] == code).sum()) for code in unfinished)
        amount, time = float(trace.amount[rows].sum()), float(length[rows].sum())
        is_rate = kind != "sleep" and time > 0
        lines.append((
            _NOUNS.get(kind, kind), trace.label_names[label] if label >= 0 else "", len(rows),
            *(count or "" for count in counts), time / len(rows), readable(amount, UNITS[kind]),
            readable(amount / time, f"{UNITS[kind]}/s") if is_rate else "",
        ))  # fmt: skip
    names = ("kind", "label", "number", *words, "mean time", "amount", "mean rate")
    columns = tuple((name, "s" if name == "mean time" else "") for name in names)
    return ResultTable("Activities", columns, tuple(lines)).cut(most)


def hosts_table(result: Result, most: int = _MOST) -> ResultTable:
    """Return the hosts that were busy longest, then those that consumed most energy."""
    hosts = result.hosts
    columns = [("computed", "flop", hosts.flops), ("busy", "s", hosts.busy)]
    share = ("of the time", "%", hosts.utilisation)
    return _ranked("Hosts", hosts, hosts.busy, [*columns, share]).cut(most)


def links_table(
    result: Result, bandwidths: Mapping[str, float] | None = None, most: int = _MOST
) -> ResultTable:
    """Return the links that were loaded most, or carried most if bandwidths are unknown."""
    links = result.links
    rate = links.bytes / result.clock if result.clock > 0 else np.zeros(len(links))
    known = bandwidths or {}
    load = np.nan_to_num(rate / np.array([known.get(name, np.nan) for name in links.name]))
    columns = [("carried", "byte", links.bytes), ("mean rate", "byte/s", rate)]
    if not load.any():
        return _ranked("Links", links, links.bytes, columns).cut(most)
    return _ranked("Links", links, load, [*columns, ("mean load", "%", load)]).cut(most)


def _ranked(
    title: str,
    totals: HostTotals | LinkTotals,
    values: NDArray[np.float64],
    columns: Sequence[tuple[str, str, NDArray[np.float64]]],
) -> ResultTable:
    """Return the resources with the largest values, then energies, above 0.

    Columns have names and units; a ratio has a bar, too.
    """
    joules = np.nan_to_num(totals.energy)
    order = np.lexsort((-joules, -values))
    order = order[(values[order] > 0) | (joules[order] > 0)]
    shown: list[tuple[str, str, Sequence[Cell]]] = [
        ("name", "", [totals.name[at] for at in order.tolist()])
    ]
    for name, unit, column in columns:
        shown.append((name, unit, column[order].tolist()))
        if unit == "%":
            # More than all of it is a full bar.
            filled = np.rint(_BAR * np.clip(np.nan_to_num(column[order]), 0.0, 1.0)).astype(int)
            shown.append(("", "", [("█" * n).ljust(_BAR, "░") for n in filled.tolist()]))
    if not np.isnan(totals.energy).all():
        shown.append(("energy", "J", totals.energy[order].tolist()))
    return ResultTable.of_columns(title, shown)


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


# Preferred and minimum gap between columns.
_WIDE, _TIGHT = 3, 1
# Minimum widths of wrapped texts and names.
_NARROWEST_TEXT = 12
_NARROWEST_NAME = 5


def print_listings(
    row: Row | None,
    listings: Sequence[ResultTable],
    *,
    console: Console | None = None,
    title: str = "",
) -> None:
    """Print the metrics of a run, then its listings.

    Parameters
    ----------
    row : Row, optional
        Metrics.
    listings : sequence of ResultTable
        In their order.
    console : Console, optional
        Console to print to; standard output by default.
    title : str
        Above everything.
    """
    console = console or EscapingConsole(highlight=False)
    if title:
        console.print(Text(title, style="bold"))
    if row is not None:
        console.print(summary_table(row))
    for listing in listings:
        console.print()
        # The table's own title and caption would be wrapped to its width.
        console.print(Text(listing.title, style="bold"))
        shown, ending = listing, ""
        if (listing_table(listing).width or 0) > console.width:
            shown, ending = without_common_ending(listing)
        # A table that cannot be narrowed is wider than the terminal rather than cut.
        console.print(listing_table(shown, console.width), crop=False)
        ended = f"names are shown without {ending!r}" if ending else ""
        for note in filter(None, (listing.note, ended)):
            console.print(Text(note, style="dim"))


def listing_table(listing: ResultTable, room: int | None = None) -> Table:
    """Return the lines of a listing: names to the left, numbers to the right.

    Parameters
    ----------
    listing : ResultTable
        The listing.
    room : int, optional
        Maximum width; exceeded if numbers or letters would be cut.
    """
    names = [name for name, _ in listing.columns]
    values = [[line[place] for line in listing.lines] for place in range(len(names))]
    cells, texts = [], []
    for (_, unit), column in zip(listing.columns, values, strict=True):
        cells.append([_cell(value, unit) for value in column])
        texts.append(any(isinstance(value, str) for value in column) and not unit)
    widest = [max((cell.cell_len for cell in column), default=0) for column in cells]
    widths, gap = column_widths(names, widest, texts, room)
    table = house_table("")
    # Rich draws one more blank between columns.
    table.padding = (0, gap // 2, 0, (gap - 1) // 2)
    for name, width, text in zip(names, widths, texts, strict=True):
        justify: JustifyMethod = "left" if text else "right"
        table.add_column(Text(name), width=width, justify=justify, overflow="fold")
    for line in zip(*cells, strict=True):
        table.add_row(*line)
    table.width = sum(widths) + gap * (len(names) - 1)
    return table


def _cell(value: Cell, unit: str) -> Text:
    """Return a value of a listing as text without markup."""
    if unit == "%" and isinstance(value, float):
        return Text(percent(value))
    return Text(readable(value, unit))


def column_widths(
    names: Sequence[str], values: Sequence[int], texts: Sequence[bool], room: int | None
) -> tuple[list[int], int]:
    """Return the widths of columns, and the gap between them.

    Where there is too little room, columns move together, names of columns are broken between
    words, then texts over lines, then names of columns within words. Numbers are never broken:
    where nothing else helps, the table is wider than the room.

    Parameters
    ----------
    names : sequence of str, one a column
        Above each column.
    values : sequence of int, one a column
        Width of the widest value.
    texts : sequence of bool, one a column
        True for columns of texts, which can be broken anywhere.
    room : int, optional
        For the whole table; any without.
    """
    gaps = len(names) - 1
    whole = [max(cell_len(name), value) for name, value in zip(names, values, strict=True)]
    broken = [
        max(value, *map(cell_len, name.split()), 1)
        for name, value in zip(names, values, strict=True)
    ]
    for widths, gap in (
        (whole, _WIDE), (whole, _WIDE - 1), (broken, _WIDE), (broken, _WIDE - 1), (broken, _TIGHT)
    ):  # fmt: skip
        if room is None or sum(widths) + gap * gaps <= room:
            return widths, gap
    assert room is not None
    excess = sum(broken) + _TIGHT * gaps - room
    for kind in (True, False):
        able = [at for at, text in enumerate(texts) if text == kind]
        least = {at: _NARROWEST_TEXT if kind else max(values[at], _NARROWEST_NAME) for at in able}
        # The widest first.
        while excess > 0 and (able := [at for at in able if least[at] < broken[at]]):
            broken[max(able, key=broken.__getitem__)] -= 1
            excess -= 1
    return broken, _TIGHT


def without_common_ending(listing: ResultTable) -> tuple[ResultTable, str]:
    """Leave out the domain that all names of a listing end with.

    Parameters
    ----------
    listing : ResultTable
        With qualified names in some columns, such as ``gros-1.nancy.grid5000.fr``.

    Returns
    -------
    listing : ResultTable
        The same with the names of these columns shortened.
    ending : str
        The omitted ending, from a dot on; empty if there is no such column, or nothing that all
        have in common.
    """
    columns: dict[int, list[str]] = {}
    for place in range(len(listing.columns)):
        values = [line[place] for line in listing.lines if line[place] not in (None, "")]
        names = [value for value in values if isinstance(value, str) and "." in value]
        if names and len(names) == len(values):
            columns[place] = names
    every = {name for names in columns.values() for name in names}
    ending = common_ending(every)
    if not ending or len(every) < 2:
        return listing, ""
    lines = [
        tuple(
            cell.removesuffix(ending) if place in columns and isinstance(cell, str) else cell
            for place, cell in enumerate(line)
        )
        for line in listing.lines
    ]
    return replace(listing, lines=tuple(lines)), ending


def common_ending(names: Iterable[str]) -> str:
    """Return the labels that all names end with, a dot before each; never a whole name."""
    # The first label always remains, so that no name becomes empty.
    reversed_labels = [name.split(".")[:0:-1] for name in names]
    if not reversed_labels:
        return ""
    levels = zip(*reversed_labels, strict=False)
    alike = takewhile(lambda labels: len(set(labels)) == 1, levels)
    return "".join(f".{labels[0]}" for labels in reversed([*alike]))


_WIDEST_VALUE = 18
_VERDICTS = {
    True: Text("yes", style="green"),
    False: Text("no", style="bold red"),
    None: Text("?", style="yellow"),
}


def claims_table(claims: Sequence[Claim], title: str = "") -> Table:
    """Return claims one by one, those of the paper first, with the reason of each verdict."""
    table = house_table(title)
    table.leading = 1
    table.add_column("claim", ratio=1)
    for name in ("paper", "measured"):
        table.add_column(name, justify="right", max_width=_WIDEST_VALUE)
    table.add_column("agrees", justify="center", no_wrap=True)
    for claim in sorted(claims, key=lambda claim: claim.kind == "ours"):
        words = Text.assemble(claim.claim, "\n", (f"{claim.source}: {claim.why}", "dim"))
        measured = Text(written_value(claim.measured))
        if ends := written_interval(claim):
            measured += Text(f"\n{ends}", style="dim")
        if claim.optimum is not None:
            measured += Text(f"\noptimum {readable(claim.optimum)}", style="dim")
        table.add_row(words, Text(written_value(claim.paper)), measured, _VERDICTS[claim.agrees])
    table.caption = headline(claims)
    return table


def claims_summary(claims: Mapping[str, Sequence[Claim]]) -> Table:
    """Return the number of verdicts of each kind for each capability."""
    table = house_table("Statements of the papers, and of our own")
    table.add_column("capability")
    table.add_column("of")
    for name in ("statements", "agree", "disagree", "cannot be told"):
        table.add_column(name, justify="right")
    for name, found in claims.items():
        for kind, words in (("paper", "the paper"), ("ours", "our own")):
            verdicts = [claim.agrees for claim in found if claim.kind == kind]
            if verdicts:
                counts = [len(verdicts), *(verdicts.count(each) for each in (True, False, None))]
                table.add_row(name, words, *map(str, counts))
    return table


def written_value(value: float | str | None) -> str:
    """Write a value of a claim; whole numbers as such."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    return readable(value)


def written_interval(claim: Claim) -> str:
    """Write the interval of a measured number; nothing if there is none, or it has no width."""
    ends = claim.quantity.get("interval")
    if ends is None or isinstance(claim.measured, str):
        return ""
    # Infinite ends are texts.
    low, high = (None if isinstance(each, str) else each for each in ends)
    if low == high:
        return ""
    if low is None or high is None:
        return f"{written_value(low)} or more" if high is None else f"{written_value(high)} or less"
    return f"{written_value(low)} to {written_value(high)}"
