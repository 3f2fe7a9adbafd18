"""The Markdown page of the validation of batch jobs on real runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from simplugin.core.formatting import percent, readable
from simplugin.jobs.validation import SOURCES, JobValidation
from simplugin.reports.reproduction_page import plain_text, table_row
from simplugin.reports.schedules import draw_schedule
from simplugin.results.tables import Cell, ResultTable

CHART = "jobs-schedule.png"
_COMMAND = "simplugin reproduce jobs --data DIR -o DIR"
_VERDICTS = {True: "holds", False: "does not hold", None: "no bar"}


def validation_page(found: JobValidation) -> str:
    """Return the page: verdicts, tables by run, the chart, and where the files are public."""
    parts = [
        "# Batch jobs beside real runs",
        "Logs are replayed, and the simulated schedules stand beside those that were measured, or"
        " that other simulators published. Policies and conditions are explained in the"
        " [guide](../jobs.md).",
    ]
    if found.generated:
        parts.append(
            "**The logs are not shipped, and no directory with them was given: these are generated"
            f" logs, and nothing is compared.** With the files below: `{_COMMAND}`."
        )
    if found.claims:
        rows: list[Sequence[str]] = [("what", "published", "simulated", "bar", "verdict")]
        rows += [
            (
                claim.claim,
                readable(claim.paper),
                readable(claim.measured),
                claim.criterion,
                _VERDICTS[claim.agrees],
            )
            for claim in found.claims
        ]
        parts += ["## Verdicts", _table(rows)]
    if found.chart is not None:
        title = plain_text(found.chart.title)
        parts += ["## A real schedule and the simulated one", f"![{title}]({CHART})"]
    for table in found.tables:
        parts += [f"## {plain_text(table.title)}", _of_listing(table)]
        parts += [f"{plain_text(table.note)}."] if table.note else []
    files: list[Sequence[str]] = [
        ("file below `DIR`, perhaps compressed", "repository", "path there", "what")
    ]
    files += [(each.files, each.repository, each.path, each.what) for each in SOURCES]
    parts += ["## Files", _table(files)]
    if found.missing:
        parts.append(f"Missing here: {plain_text(', '.join(found.missing))}.")
    command = "simplugin reproduce jobs -o DIR" if found.generated else _COMMAND
    return "\n\n".join([*parts, "## Origin", f"    {command}"]) + "\n"


def write_chart(found: JobValidation, directory: Path) -> list[Path]:
    """Draw the chart of a validation, if it has one; return the files."""
    if found.chart is None:
        return []
    draw_schedule(found.chart, directory / CHART)
    return [directory / CHART]


def _of_listing(table: ResultTable) -> str:
    """Return a table of results in Markdown, units in its head."""
    units = [unit for _, unit in table.columns]
    head = [f"{name} [{unit}]" if unit not in ("", "%") else name for name, unit in table.columns]
    lines = [
        tuple(_cell(value, unit) for value, unit in zip(line, units, strict=True))
        for line in table.lines
    ]
    return _table([tuple(head), *lines])


def _cell(value: Cell, unit: str) -> str:
    """Return a value as text, without its unit."""
    if unit == "%" and isinstance(value, float):
        return percent(value)
    return f"{value:,.1f}" if isinstance(value, float) else readable(value)


def _table(rows: Sequence[Sequence[str]]) -> str:
    """Return a table whose first row is the head."""
    head, *lines = [table_row(map(plain_text, row)) for row in rows]
    return "\n".join([head, table_row(["---"] * len(rows[0])), *lines])
