"""``simplugin reproduce``."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from simplugin.cli.displays import RunsDisplay
from simplugin.cli.terminal import relative_path, warn_of_network
from simplugin.core.console import EscapingConsole
from simplugin.core.errors import SimpluginError
from simplugin.papers.reproduce import Reproduction, reproduce
from simplugin.papers.reproductions import ALL, CAPABILITIES
from simplugin.papers.statements import judged_again, statements
from simplugin.results.claims import Claim
from simplugin.results.curves import CurvePlot
from simplugin.scenarios.outputs import finite, from_document, plain, with_floats

# Default directory of the store.
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
    with RunsDisplay(EscapingConsole(stderr=True)) as display:
        found = reproduce(
            name,
            quick=quick,
            figures=directory is not None,
            store=store,
            jobs=jobs,
            scheduler=scheduler,
            progress=display.report,
        )
    written, summary = [] if directory is None else _written(found, directory), found.summary
    if as_json:
        sys.stdout.write(json.dumps(found.document(), allow_nan=False) + "\n")
    else:
        _print_tables(found)
        for path in written:
            sys.stdout.write(f"wrote {relative_path(path)}\n")
        before = f", {summary.before} of them before" if summary.before else ""
        where = relative_path(summary.store)
        sys.stdout.write(f"{summary.done} parts measured{before}; kept in {where}\n")
        if quick:
            sys.stdout.write(f"{_full_run(found)}\n")
        if found.together:
            sys.stdout.write(f"each claim: simplugin report {where} -o DIR\n")
    for group in summary.failures:
        parts = ", ".join(str(job.varied["part"]) for job in group.first)
        sys.stderr.write(f"simplugin: {group.count} parts failed ({parts}): {group.text}\n")
    return 1 if summary.failed else 0


def _print_tables(found: Reproduction) -> None:
    """Print the claims of a capability, or how many there are of each, for humans."""
    from simplugin.reports.tables import claims_summary, claims_table

    console = EscapingConsole(highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, _LEAST_WIDTH)
    if found.together:
        # Thousands of lines are too many; each reproduction has a page.
        console.print(claims_summary(found.claims))
        return
    for name, claims in found.claims.items():
        console.print(claims_table(claims, name))


def _full_run(found: Reproduction) -> str:
    """Return a sentence on the additional parts of a full run."""
    from simplugin.reports.reproduction_page import Paper

    packages = [CAPABILITIES[name] for name in found.claims]
    more = sum(not each.quick for package in packages for each in statements(package))
    claims = [claim for claims in found.claims.values() for claim in claims]
    undecided = [claim for claim in claims if claim.agrees is None]
    decided = sum(bool(claim.quantity.get("full")) for claim in undecided)
    hours = sum(Paper.of(package).hours for package in packages)
    name = ALL if found.together else ", ".join(found.claims)
    return (
        f"the full run measures {more} statements more and has enough samples for {decided} of the"
        f" {len(undecided)} that cannot be told;\n"
        f"it takes about {hours:.2g} h on one core: simplugin reproduce {name}"
    )


def _written(found: Reproduction, directory: Path) -> list[Path]:
    """Write claims, pages of them, and figures; return the files."""
    document = json.dumps(found.document(), indent=1, allow_nan=False)
    written = [write_text(directory / "claims.json", document + "\n")]
    for name, recorded in found.documents.items():
        if recorded["claims"]:
            texts = page_texts(name, recorded)
            written += [write_text(directory / file, text) for file, text in texts.items()]
        written += draw_figures(name, recorded["figures"], directory)
    return written


def draw_figures(name: str, documents: Iterable[Mapping[str, Any]], directory: Path) -> list[Path]:
    """Draw figures of a capability from their documents; return the files."""
    from simplugin.reports.reproduction_page import draw_figure

    written = []
    for document in documents:
        figure = from_document(CurvePlot, document)
        written.append(directory / f"{name}-{figure.name}.png")
        draw_figure(figure, written[-1])
    return written


def page_texts(name: str, recorded: Mapping[str, Any]) -> dict[str, str]:
    """Return the files of a reproduction's page, judged by the current statements.

    Parameters
    ----------
    name : str
        A capability.
    recorded : mapping
        Its document as `simplugin.papers.reproduce.recorded` returns it, or the contents of the
        first of these files.

    Returns
    -------
    dict of str to str
        ``NAME.json`` with the verdicts, their details and the points of the page's figures, and
        ``NAME.md``.
    """
    from simplugin.reports.reproduction_page import Paper, reproduction_page

    paper = Paper.of(CAPABILITIES[name])
    claims = judged_again(
        CAPABILITIES[name], [from_document(Claim, each) for each in recorded["claims"]]
    )
    chosen = [each.name for each in paper.figures]
    document = {key: recorded[key] for key in ("quick", "dates", "versions", "seconds")} | {
        "claims": [plain(claim.document()) for claim in claims],
        # With numbers of the digits that a drawing shows.
        "figures": [
            with_floats(each, lambda number: float(f"{number:.5g}"))
            for each in recorded["figures"]
            if each["name"] in chosen
        ],
    }
    text = json.dumps(finite(document), indent=1, allow_nan=False)
    # One line for each list of numbers.
    text = re.sub(r"\[\n[^\[\]{}\"]+\]", lambda found: " ".join(found[0].split()), text)
    page = reproduction_page(name, paper, claims, document)
    return {f"{name}.json": f"{text}\n", f"{name}.md": page}


def write_text(path: Path, text: str) -> Path:
    """Write a file; return it."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise SimpluginError(f"{path}: cannot be written: {error.strerror}") from error
    return path
