"""``simplugin campaign status``, ``export`` and ``query``."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from simplugin.campaigns.running.reporting import FailureGroup, failure_groups, printable
from simplugin.campaigns.store import CampaignEntry, StoreReader
from simplugin.campaigns.store.documents import text_of
from simplugin.campaigns.store.reading import export
from simplugin.campaigns.store.tables import Query
from simplugin.cli.campaign.shown import shown_campaign, store_of
from simplugin.cli.campaign.wording import headline, varied_text
from simplugin.cli.paths import short
from simplugin.errors import SimpluginError

# How many kinds of failure are shown, and how much of a message; the store has all of it.
_MOST_GROUPS = 10
_MOST_CHARACTERS = 300
# Nobody knows how wide a file or the next program is.
_UNFOLDED = 1_000_000


@dataclass(frozen=True)
class _Standing:
    """How far a campaign is."""

    entry: CampaignEntry
    first: str | None
    last: str | None
    mean: float | None
    failures: list[FailureGroup]


def status_command(place: Path, store: Path | None, *, as_json: bool) -> None:
    """Print how far the campaigns of a store are."""
    store = store_of(place, store)
    with StoreReader(store) as reader:
        standings = [_standing(reader, entry) for entry in reader.campaigns()]
    if as_json:
        document = {"store": str(store), "campaigns": [_document(each) for each in standings]}
        sys.stdout.write(text_of(document) + "\n")
        return
    console = _console()
    if not standings:
        console.print(Text(f"{short(store)}: no campaign yet"))
        return
    console.print(_campaigns_table(short(store), standings))
    for each in standings:
        _print_failures(console, each)


def export_command(
    place: Path,
    output: Path,
    store: Path | None,
    campaign: str | None,
    *,
    every: bool,
    as_json: bool,
) -> None:
    """Write a table of the runs."""
    path, number = shown_campaign(place, store, campaign)
    rows, columns = export(path, output, number, every=every)
    if as_json:
        document = {"file": str(output), "rows": rows, "columns": columns}
        sys.stdout.write(json.dumps(document) + "\n")
        return
    count = f"{rows} row" if rows == 1 else f"{rows} rows"
    sys.stdout.write(f"wrote {short(output)}: {count} of {columns} columns\n")


def query_command(
    place: Path,
    sql: str,
    store: Path | None,
    campaign: str | None,
    *,
    as_csv: bool,
    as_json: bool,
) -> None:
    """Print the answer to a query."""
    if as_csv and as_json:
        raise SimpluginError("--csv and --json exclude each other; give one of them")
    with closing(Query(*shown_campaign(place, store, campaign))) as query:
        names, rows = query.run(sql)
        if as_csv:
            writer = csv.writer(sys.stdout, lineterminator="\n")
            writer.writerow(names)
            writer.writerows(rows)
        elif as_json:
            _print_json(names, rows)
        else:
            _print_rows(names, rows)


def _standing(reader: StoreReader, entry: CampaignEntry) -> _Standing:
    """Ask how far a campaign is."""
    groups = failure_groups(reader.failures(entry.number)) if entry.failed else []
    return _Standing(entry, *reader.span(entry.number), groups)


def _document(standing: _Standing) -> dict[str, Any]:
    """Return how far a campaign is as plain containers; its text is left out."""
    about = asdict(standing.entry)
    del about["text"]
    return about | {
        "first": standing.first,
        "last": standing.last,
        "mean_duration": standing.mean,
        "failures": [group.document() for group in standing.failures],
    }


def _campaigns_table(title: str, standings: Sequence[_Standing]) -> Table:
    """Make a table of campaigns."""
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    table.add_column("no.", justify="right")
    table.add_column("campaign", overflow="fold")
    for name in ("runs", "done", "failed", "missing"):
        table.add_column(name, justify="right")
    table.add_column(Text("mean [s]"), justify="right")  # markup would take [s] for a style
    table.add_column("first and last run")
    for each in standings:
        entry = each.entry
        counts = (entry.total, entry.done, entry.failed, entry.missing)
        table.add_row(
            str(entry.number),
            Text(printable(entry.title or entry.file or "without a title")),
            *map(str, counts),
            "" if each.mean is None else f"{each.mean:.3g}",
            f"{_date(each.first)}\n{_date(each.last)}",
        )
    return table


def _date(text: str | None) -> str:
    """Shorten a date; all are in UTC."""
    return "" if text is None else text[:16].replace("T", " ")


def _print_failures(console: Console, standing: _Standing) -> None:
    """Print what failed in a campaign, like with like."""
    for group in standing.failures[:_MOST_GROUPS]:
        told = printable(group.text.strip())
        if len(told) > _MOST_CHARACTERS:
            told = told[:_MOST_CHARACTERS] + " ..."
        console.print()
        where = f"campaign {standing.entry.number}"
        console.print(Text(f"{where}: {headline(group)}", style="bold"))
        console.print(Text("\n".join(f"  {line}" for line in told.splitlines())))
        job = group.first[0]
        console.print(Text(f"  run {job.position}: {varied_text(job.varied)}"))
    hidden = len(standing.failures) - _MOST_GROUPS
    if hidden > 0:
        console.print(Text(f"... and {hidden} more kinds of failure; --json shows them"))


def _print_json(names: list[str], rows: Iterator[tuple[Any, ...]]) -> None:
    """Print an answer as one JSON object, row by row: it may be long."""
    sys.stdout.write(f'{{"columns":{json.dumps(names)},"rows":[')
    for count, row in enumerate(rows):
        told = [cell.hex() if isinstance(cell, bytes) else cell for cell in row]
        sys.stdout.write(("," if count else "") + "\n" + text_of(told))
    sys.stdout.write("]}\n")


def _print_rows(names: list[str], rows: Iterator[tuple[Any, ...]]) -> None:
    """Print an answer as a table."""
    table = Table(box=None, pad_edge=False)
    answer = list(rows)
    for place, name in enumerate(names):
        numbers = any(isinstance(row[place], int | float) for row in answer)
        table.add_column(Text(name), justify="right" if numbers else "left", overflow="fold")
    for row in answer:
        table.add_row(*(Text(_readable(cell)) for cell in row))
    _console().print(table)


def _console() -> Console:
    """Return standard output, whose lines are folded at the width of a terminal only."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = _UNFOLDED
    return console


def _readable(cell: Any) -> str:
    """Show a cell."""
    if isinstance(cell, bytes):
        return f"<{len(cell)} bytes>"
    if isinstance(cell, float):
        return f"{cell:.10g}"
    return "" if cell is None else printable(str(cell))
