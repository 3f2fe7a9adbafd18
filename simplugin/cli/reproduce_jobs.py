"""``simplugin reproduce jobs``: batch jobs beside real runs."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from simplugin.cli.reproduce import write_text
from simplugin.cli.terminal import relative_path
from simplugin.core.console import EscapingConsole
from simplugin.core.errors import SimpluginError

NAME = "jobs"


def reproduce_jobs(data: Path | None, directory: Path | None, *, as_json: bool) -> int:
    """Compare schedules, print verdicts and tables, and write the page; return the exit status."""
    from simplugin.cli.displays import spinner, standard_output
    from simplugin.jobs.validation import validate
    from simplugin.reports.job_validation_page import validation_page, write_chart
    from simplugin.reports.tables import claims_table, listing_table
    from simplugin.scenarios.outputs import finite, plain

    if data is not None and not data.is_dir():
        raise SimpluginError(f"{data}: is no directory; give one with the logs that docs/jobs name")
    with spinner(EscapingConsole(stderr=True), "simulating"):
        found = validate(data)
    document = {"claims": [plain(claim.document()) for claim in found.claims]}
    written = []
    if directory is not None:
        directory.mkdir(parents=True, exist_ok=True)
        tables = [plain(table.document()) for table in found.tables]
        text = json.dumps(finite(document | {"tables": tables}), indent=1, allow_nan=False)
        texts = {f"{NAME}.json": f"{text}\n", f"{NAME}.md": validation_page(found)}
        written = [write_text(directory / name, content) for name, content in texts.items()]
        written += write_chart(found, directory)
    if as_json:
        sys.stdout.write(json.dumps(finite(document), allow_nan=False) + "\n")
        return 0
    console = standard_output()
    if found.generated:
        console.print(
            "No logs were given (--data DIR; docs/reproductions/jobs.md names the public files):"
            " these are generated, and nothing is compared."
        )
    if found.claims:
        console.print(claims_table(found.claims, NAME))
    for table in found.tables:
        console.print(f"\n{table.title}")
        console.print(listing_table(table))
        if table.note:
            console.print(table.note)
    for path in written:
        sys.stdout.write(f"wrote {relative_path(path)}\n")
    return 0
