"""``simplugin reproduce``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from simplugin.campaigns.outputs import plain
from simplugin.campaigns.reproduce import Reproduction, reproduce
from simplugin.cli.paths import short
from simplugin.errors import SimpluginError

# Of a table in a file or a pipe; the sentences in it get long in 80 columns.
_LEAST_WIDTH = 110


def reproduce_command(name: str, directory: Path | None, *, quick: bool, as_json: bool) -> None:
    """Measure claims, print them, write them and the figures."""
    if directory is not None:
        _make(directory)
    console = Console(stderr=True)
    bars = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=40),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        disable=not console.is_terminal,
        transient=True,
    )
    with bars:
        task = bars.add_task("measuring", total=None)

        def report(_part: str, done: int, total: int) -> None:
            """Show how far it got."""
            bars.update(task, completed=done, total=total)

        found = reproduce(name, quick=quick, figures=directory is not None, report=report)
    written = [] if directory is None else _written(found, directory)
    if as_json:
        sys.stdout.write(json.dumps(plain(found.document()), allow_nan=False) + "\n")
        return
    _print_tables(found)
    for path in written:
        sys.stdout.write(f"wrote {short(path)}\n")


def _print_tables(found: Reproduction) -> None:
    """Print the claims of each capability, for humans."""
    from simplugin.reports.claims import claims_table

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, _LEAST_WIDTH)
    for name, claims in found.claims.items():
        console.print(claims_table(claims, name))


def _make(directory: Path) -> None:
    """Make the directory first: hours of work must not end at its absence."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SimpluginError(f"{directory}: cannot be made: {error.strerror}") from error


def _written(found: Reproduction, directory: Path) -> list[Path]:
    """Write claims and figures; return the files."""
    from simplugin.reports.curves import curves

    path = directory / "claims.json"
    try:
        text = json.dumps(plain(found.document()), indent=1, allow_nan=False)
        path.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise SimpluginError(f"{path}: cannot be written: {error.strerror}") from error
    written = [path]
    for name, figures in found.figures.items():
        for figure in figures:
            prefix = f"{name}-" if found.together else ""
            written.append(directory / f"{prefix}{figure.name}.png")
            curves([figure], written[-1])
    return written
