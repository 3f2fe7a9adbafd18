"""The Markdown page of the validation of batch jobs on real runs."""

from __future__ import annotations

from pathlib import Path

from simplugin.core.formatting import percent, readable
from simplugin.jobs.validation import SOURCES, JobValidation
from simplugin.reports.reproduction_page import plain_text, table_row
from simplugin.reports.schedules import draw_schedule
from simplugin.results.tables import ResultTable

CHART = "jobs-schedule.png"
_COMMAND = "simplugin reproduce jobs --data DIR -o DIR"
_VERDICTS = {True: "holds", False: "does not hold", None: "no bar"}


def validation_page(found: JobValidation) -> str:
    """Return the page: verdicts, tables by run, the chart, and where the files are public."""
    parts = [
        "# Batch jobs beside real runs",
        "Logs are replayed, and the simulated schedules stand beside those that were measured, or"
        " that other simulators published. Policies and conditions are explained in the"
        " [guide](../jobs.md). OAR's planner is shown in two readings, which reserve numbers or"
        " sets of nodes; which of them a verdict is on was chosen after both had been seen.",
    ]
    if found.generated:
        parts.append(
            "**The logs are not shipped, and no directory with them was given: these are generated"
            f" logs, and nothing is compared.** With the files below: `{_COMMAND}`."
        )
    tables = [*found.tables, SOURCES]
    if found.claims:
        columns = ("what", ""), ("published", ""), ("simulated", ""), ("bar", ""), ("verdict", "")
        lines = (
            (each.claim, each.paper, each.measured, each.criterion, _VERDICTS[each.agrees])
            for each in found.claims
        )
        tables.insert(0, ResultTable("Verdicts", columns, tuple(lines)))
    if found.chart is not None:
        title = plain_text(found.chart.title)
        parts += ["## A real schedule and the simulated one", f"![{title}]({CHART})"]
    for table in tables:
        parts += [f"## {plain_text(table.title)}", _written(table)]
        parts += [f"{plain_text(table.note)}."] if table.note else []
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


def _written(table: ResultTable) -> str:
    """Return a table of results in Markdown."""
    units = [unit for _, unit in table.columns]
    rows = [[name for name, _ in table.columns], ["---"] * len(units)]
    rows += [
        [
            percent(value) if unit == "%" and isinstance(value, float) else readable(value, unit)
            for value, unit in zip(line, units, strict=True)
        ]
        for line in table.lines
    ]
    return "\n".join(table_row(map(plain_text, row)) for row in rows)
