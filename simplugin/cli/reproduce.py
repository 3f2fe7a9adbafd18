"""``simplugin reproduce``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from simplugin.cli.displays import RunsDisplay
from simplugin.cli.terminal import short, warn_of_network
from simplugin.errors import SimpluginError
from simplugin.papers.reproduce import Reproduction, reproduce

if TYPE_CHECKING:
    from simplugin.campaigns.running.reporting import Summary

# Of the store, unless one is asked for.
_DIRECTORY = Path("out/reproductions")
# Of a table in a file or a pipe; the sentences in it get long in 80 columns.
_LEAST_WIDTH = 110


def reproduce_command(
    name: str,
    directory: Path | None,
    jobs: int | None,
    scheduler: str | None,
    *,
    quick: bool,
    as_json: bool,
) -> int:
    """Measure claims, print them, write them and the figures; return the exit status."""
    store = (_DIRECTORY if directory is None else directory) / "store.sqlite"
    warn_of_network(store)
    with RunsDisplay(Console(stderr=True)) as display:
        found = reproduce(
            name,
            quick=quick,
            figures=directory is not None,
            store=store,
            jobs=jobs,
            scheduler=scheduler,
            progress=display.report,
        )
    written = [] if directory is None else _written(found, directory, quick=quick)
    if as_json:
        sys.stdout.write(json.dumps(found.document(), allow_nan=False) + "\n")
    else:
        _print_tables(found)
        for path in written:
            sys.stdout.write(f"wrote {short(path)}\n")
        sys.stdout.write(f"{_kept(found.summary)}\n")
        if found.together:
            place = short(found.summary.store)
            sys.stdout.write(f"each claim: simplugin report {place} -o DIR\n")
    return _print_failures(found.summary)


def _kept(summary: Summary) -> str:
    """Return where the parts are recorded, and how many were recorded before."""
    before = f", {summary.before} of them before" if summary.before else ""
    return f"{summary.done} parts measured{before}; kept in {short(summary.store)}"


def _print_failures(summary: Summary) -> int:
    """Print the parts that failed; return the exit status."""
    for group in summary.failures:
        parts = ", ".join(str(job.varied["part"]) for job in group.first)
        sys.stderr.write(f"simplugin: {group.count} parts failed ({parts}): {group.text}\n")
    return 1 if summary.failed else 0


def _print_tables(found: Reproduction) -> None:
    """Print the claims of a capability, or how many there are of each, for humans."""
    from simplugin.reports.claims import claims_summary, claims_table

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, _LEAST_WIDTH)
    if found.together:
        # Thousands of lines would be read by nobody; each has a page.
        console.print(claims_summary(found.claims))
        return
    for name, claims in found.claims.items():
        console.print(claims_table(claims, name))


def _written(found: Reproduction, directory: Path, *, quick: bool) -> list[Path]:
    """Write claims, pages of them, and figures; return the files."""
    from simplugin.reports.claims import Measurement, claims_page
    from simplugin.reports.curves import curves

    document = json.dumps(found.document(), indent=1, allow_nan=False)
    written = [_write(directory / "claims.json", document + "\n")]
    for name, facts in found.facts.items():
        command = f"simplugin reproduce {name}{' --quick' if quick else ''} -o DIR"
        measurement = Measurement(
            f"Reproduction of {name}", command, facts.dates, facts.versions, facts.seconds
        )
        written.append(
            _write(directory / f"{name}.md", claims_page(found.claims[name], measurement))
        )
    for name, figures in found.figures.items():
        for figure in figures:
            prefix = f"{name}-" if found.together else ""
            written.append(directory / f"{prefix}{figure.name}.png")
            curves([figure], written[-1])
    return written


def _write(path: Path, text: str) -> Path:
    """Write a file; return it."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise SimpluginError(f"{path}: cannot be written: {error.strerror}") from error
    return path
