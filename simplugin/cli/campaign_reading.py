"""Campaigns of a store: how far they are, and their runs as tables."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer
from rich.table import Table
from rich.text import Text

from simplugin.campaigns.running.reporting import FailureGroup, failure_groups
from simplugin.campaigns.store import CampaignEntry, StoreReader
from simplugin.campaigns.store.documents import text_of
from simplugin.campaigns.store.schema import no_campaign
from simplugin.cli.displays import standard_output
from simplugin.cli.terminal import document_stream, relative_path
from simplugin.core.errors import SimpluginError
from simplugin.core.formatting import printable

_ALL = "all"
# How many kinds of failure are shown, and how much of a message; the store has all of it.
_MOST_GROUPS = 10
_MOST_LINES = 12


def store_of(place: Path, store: Path | None = None) -> Path:
    """Return a store that is named directly, or by the campaign file that it belongs to.

    Raises
    ------
    SimpluginError
        Two stores are named, or the campaign file cannot be read.
    """
    if not is_file(place):
        if store is not None:
            raise SimpluginError(
                f"{place} and {store} are two stores; --store goes with a campaign file"
            )
        return place
    if store is not None:
        return store
    from simplugin.campaigns.running.recorded_campaigns import store_named

    return store_named(place)


def is_file(place: Path) -> bool:
    """Return True if a path names a campaign file, not a store."""
    return place.suffix.lower() == ".toml"


def shown_campaign(place: Path, store: Path | None, asked: str | None) -> tuple[Path, int | None]:
    """Return the store and the number of the campaign to show; None: all campaigns.

    Of a campaign file it is the campaign that the file describes now, of a store the latest.
    Standard error says which, if the store has several.

    Parameters
    ----------
    place : Path
        A store or a campaign file.
    store : Path, optional
        Instead of the store that the campaign file names.
    asked : str, optional
        The number of a campaign, or "all".

    Raises
    ------
    SimpluginError
        There is no such campaign.
    """
    path = store_of(place, store)
    if asked is not None and asked != _ALL and not asked.isdecimal():
        raise SimpluginError(f"--campaign is {asked!r}; give the number of a campaign, or {_ALL}")
    number = None if asked is None or asked == _ALL else int(asked)
    with StoreReader(path) as reader:
        entries = reader.campaigns()
        every = asked == _ALL or (number is None and not entries)
        chosen = None if every else chosen_entry(reader, place, number)
    line = f"all {len(entries)} campaigns; a run that is in two of them has two rows"
    if chosen is not None:
        title = printable(chosen.title or chosen.file)
        line = f"campaign {chosen.number} of {len(entries)}{title and f' ({title})'}"
        line += f"; --campaign N shows another one, --campaign {_ALL} all"
    if len(entries) > 1:
        sys.stderr.write(f"simplugin: {line}\n")
    return path, None if chosen is None else chosen.number


def chosen_entry(reader: StoreReader, place: Path, number: int | None) -> CampaignEntry:
    """Return a campaign by its number, else as its file describes it now, or a store's latest.

    Parameters
    ----------
    reader : StoreReader
        The store that `store_of` names.
    place : Path
        A store or a campaign file.
    number : int, optional
        Of the campaign.

    Raises
    ------
    SimpluginError
        There is no such campaign.
    """
    if number is not None:
        return reader.entry(number)
    if not is_file(place):
        return reader.latest()
    from simplugin.campaigns.campaign import load_campaign
    from simplugin.campaigns.running.recorded_campaigns import recorded_campaign

    return recorded_campaign(reader, place, load_campaign(place, check=False))


# Of a campaign its first and last run, how long one took in the mean, and what failed.
_Standing = tuple[CampaignEntry, tuple[str | None, str | None, float | None], list[FailureGroup]]


def status_command(place: Path, store: Path | None, *, as_json: bool) -> None:
    """Print the progress of the campaigns of a store."""
    store = store_of(place, store)
    with StoreReader(store) as reader:
        standings: list[_Standing] = [
            (entry, reader.span(entry.number), failure_groups(reader.failures(entry.number)))
            for entry in reader.campaigns()
        ]
    if as_json:
        known = []
        for entry, (first, last, mean), failures in standings:
            about = asdict(entry) | {"first": first, "last": last, "mean_duration": mean}
            del about["text"]
            known.append(about | {"failures": [group.document() for group in failures]})
        sys.stdout.write(text_of({"store": str(store), "campaigns": known}) + "\n")
        return
    console = standard_output()
    if not standings:
        console.print(Text(f"{relative_path(store)}: no campaign yet; {no_campaign(store)}"))
        return
    console.print(_campaigns_table(relative_path(store), standings))
    for entry, _, failures in standings:
        print_failures(failures, f"campaign {entry.number}: ")


def print_answer(
    names: list[str], rows: Iterator[tuple[Any, ...]], *, as_csv: bool, as_json: bool
) -> None:
    """Print the answer to a query."""
    if as_csv:
        writer = csv.writer(document_stream(), lineterminator="\n")
        writer.writerow(names)
        writer.writerows(rows)
        return
    if as_json:
        # Row by row: it may be long.
        sys.stdout.write(f'{{"columns":{json.dumps(names)},"rows":[')
        for count, row in enumerate(rows):
            cells = [cell.hex() if isinstance(cell, bytes) else cell for cell in row]
            sys.stdout.write(("," if count else "") + "\n" + text_of(cells))
        sys.stdout.write("]}\n")
        return
    table = Table(box=None, pad_edge=False)
    answer = list(rows)
    for place, name in enumerate(names):
        numbers = any(isinstance(row[place], int | float) for row in answer)
        table.add_column(Text(name), justify="right" if numbers else "left", overflow="fold")
    for row in answer:
        table.add_row(*(Text(_readable(cell)) for cell in row))
    standard_output().print(table)


def _campaigns_table(title: str, standings: Sequence[_Standing]) -> Table:
    """Make a table of campaigns."""
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    table.add_column("no.", justify="right")
    table.add_column("campaign", overflow="fold")
    for name in ("runs", "done", "failed", "missing"):
        table.add_column(name, justify="right")
    table.add_column(Text("mean [s]"), justify="right")  # markup would take [s] for a style
    table.add_column("first and last run")
    for entry, (first, last, mean), _ in standings:
        counts = (entry.total, entry.done, entry.failed, entry.missing)
        table.add_row(
            str(entry.number),
            Text(printable(entry.title or entry.file or "without a title")),
            *map(str, counts),
            "" if mean is None else f"{mean:.3g}",
            f"{_date(first)}\n{_date(last)}",
        )
    return table


def _date(text: str | None) -> str:
    """Shorten a date; all are in UTC."""
    return "" if text is None else text[:16].replace("T", " ")


def print_failures(failures: Sequence[FailureGroup], of: str = "") -> None:
    """Print what failed, like with like."""
    for group in failures[:_MOST_GROUPS]:
        others = ", in different ways, for instance" if group.mixed else ""
        typer.echo(f"{of}{runs(group.count)} failed ({group.kind.replace('_', ' ')}){others}:")
        for line in group.text.strip().splitlines()[:_MOST_LINES]:
            typer.echo(f"  {line}")
        for job in group.first:
            typer.echo(f"  run {job.position}: {varied_text(job.varied)}")
        if group.count > len(group.first):
            typer.echo(f"  ... and {group.count - len(group.first)} more")
    if (hidden := len(failures) - _MOST_GROUPS) > 0:
        typer.echo(f"... and {hidden} more kinds of failure; --json shows them")


def _readable(cell: Any) -> str:
    """Show a cell."""
    if isinstance(cell, bytes):
        return f"<{len(cell)} bytes>"
    if isinstance(cell, float):
        return f"{cell:.10g}"
    return "" if cell is None else printable(str(cell))


def runs(count: int) -> str:
    """Count runs."""
    return f"{count} run" if count == 1 else f"{count} runs"


def varied_text(varied: Mapping[str, Any]) -> str:
    """Return a line with what distinguishes a run."""
    return ", ".join(f"{name} = {value!r}" for name, value in varied.items()) or "nothing varied"
