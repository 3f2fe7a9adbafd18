"""The Markdown page of the reproduction of a paper, from its recorded claims and figures."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from simplugin.core.errors import SimpluginError
from simplugin.core.formatting import readable
from simplugin.reports.curves import curves
from simplugin.reports.tables import written_interval, written_value
from simplugin.results.claims import Claim, Kind
from simplugin.results.curves import CurvePlot

# Longer times are written in minutes.
_MANY = 100
# Colours of a PNG file. Curves need no more, and the file is a third as large.
_COLOURS = 64
_KINDS: tuple[Kind, ...] = ("paper", "ours")
# Heading, kind, verdict, and the title of the column with the reason.
_SECTIONS = (
    ("What holds", "paper", True, ""),
    ("What does not hold, and why", "paper", False, "cause"),
    ("What cannot be told, and what would decide", "paper", None, "would decide"),
    ("Beyond the paper: what holds", "ours", True, ""),
    ("Beyond the paper: what does not hold", "ours", False, "cause"),
    ("Beyond the paper: what cannot be told", "ours", None, "would decide"),
)
# Characters with a meaning in Markdown.
_SIGNS = re.compile(r"([\\`*_<>|\[\]#~$])")


@dataclass(frozen=True)
class ChosenFigure:
    """A figure of the page.

    Attributes
    ----------
    name : str
        Name of the `CurvePlot`.
    caption : str
        A sentence or two.
    statement : str
        Id of a statement about the same measurements, to share its provenance.
    """

    name: str
    caption: str
    statement: str


@dataclass(frozen=True)
class Paper:
    """The part of a page that is not measured, read from ``page.toml`` in a paper's package.

    Attributes
    ----------
    title, citation : str
        Title, and authors, year and place of publication.
    about : str
        Subject of the paper and its main statements.
    guide : str
        File in ``docs/`` that explains terms, policies and results.
    hours : float
        Computing time of the full reproduction on one core [h].
    figures : tuple of ChosenFigure
        In the order of the page.
    """

    title: str
    citation: str
    about: str
    guide: str
    hours: float
    figures: tuple[ChosenFigure, ...]

    @classmethod
    def of(cls, package: str) -> Paper:
        """Return the page's part of a paper's package, such as ``simplugin.papers.zheng``.

        Raises
        ------
        SimpluginError
            The file is invalid.
        """
        file = resources.files(package) / "page.toml"
        try:
            document = tomllib.loads(file.read_text(encoding="utf-8"))
            figures = tuple(ChosenFigure(**each) for each in document.pop("figure"))
            return cls(**document, figures=figures)
        except (tomllib.TOMLDecodeError, KeyError, TypeError) as error:
            raise SimpluginError(f"{file}: {error}") from error


def reproduction_page(
    name: str, paper: Paper, claims: Iterable[Claim], document: Mapping[str, Any]
) -> str:
    """Return the page.

    Parameters
    ----------
    name : str
        The capability, from which names of files follow.
    paper : Paper
        The paper's page; see `Paper`.
    claims : iterable of Claim
        The verdicts.
    document : mapping
        The origin of the measurements and the figures, as in ``NAME.json``: ``quick``,
        ``dates``, ``versions``, ``seconds`` and ``figures``.

    Returns
    -------
    str
        Markdown.
    """
    numbered = dict(enumerate(sorted(claims, key=lambda claim: claim.kind == "ours"), 1))
    verdicts = Counter((claim.kind, claim.agrees) for claim in numbered.values())
    theirs, ours = ([verdicts[kind, each] for each in (True, False, None)] for kind in _KINDS)
    command = f"simplugin reproduce {name}{' --quick' if document['quick'] else ''} -o DIR"
    parts = [
        f"# {paper.title}",
        paper.citation,
        paper.about.strip(),
        f"Of {sum(theirs)} statements of the paper {theirs[0]} hold, {theirs[1]} do not, and"
        f" {theirs[2]} cannot be told. Of {sum(ours)} statements of our own beyond it {ours[0]}"
        " hold. Beside a measured value is its 95 % interval; with as many samples as the paper"
        " has, one that meets the criterion in part agrees with the paper. Terms and policies are"
        f" explained in the [guide](../{paper.guide}), verdicts in the [overview](README.md).",
    ]
    for heading, kind, verdict, reason in _SECTIONS:
        found = {
            number: claim
            for number, claim in numbered.items()
            if (claim.kind, claim.agrees) == (kind, verdict)
        }
        parts += _section(heading, found, kind, reason)
    parts += _readings(numbered)
    provenance = {claim.id: claim.provenance for claim in numbered.values()}
    titles = {each["name"]: each["title"] for each in document["figures"]}
    figures = [each for each in paper.figures if each.name in titles]
    parts += ["## Figures"] if figures else []
    for number, each in enumerate(figures, 1):
        origin = provenance.get(each.statement, {})
        of = "; ".join(f"{key} {_written(value)}" for key, value in origin.items())
        parts += [
            f"![{plain_text(titles[each.name])}]({name}-{each.name}.png)",
            f"**{number}.** {each.caption} *By `{command}`; data: `{each.name}` in"
            f" [{name}.json]({name}.json){f'; {plain_text(of)}' if of else ''}.*",
        ]
    days = " to ".join(sorted({min(document["dates"]), max(document["dates"])}))
    versions = ", ".join(f"{each} {number}" for each, number in document["versions"].items())
    seconds = document["seconds"]
    took = f"{seconds / 60:.0f} minutes" if seconds >= _MANY else f"{seconds:.0f} seconds"
    parts += [
        "## Origin",
        f"    {command}",
        f"Measured {days} with {versions}, in {took} of computing time on one core."
        f" [{name}.json]({name}.json) has, of each statement, the criterion, circumstances, seeds,"
        " number of samples and other readings, and the points of the figures.",
    ]
    definitions = [
        f"- {number}, `{claim.id}`: {plain_text(claim.definition)}"
        for number, claim in numbered.items()
        if claim.definition
    ]
    if definitions:
        parts += ["## Appendix: how it is measured", "\n".join(definitions)]
    return "\n\n".join(parts) + "\n"


def _section(heading: str, claims: Mapping[int, Claim], kind: str, reason: str) -> list[str]:
    """Return a heading and a table of claims by their numbers; nothing if there are none."""
    if not claims:
        return []
    titles = ["", "statement", *["paper"] * (kind == "paper"), "agrees if", "measured"]
    titles += [reason] * bool(reason)
    ordered = any("orders" in each.quantity for each in claims.values())
    titles += ["same in orders"] * ordered
    lines, place = [table_row(titles), table_row(["---"] * len(titles))], ""
    for number, claim in claims.items():
        words = plain_text(claim.claim)
        # A place is written once for the statements that follow each other.
        if kind == "paper" and claim.source != place:
            place = claim.source
            short = place.replace("section ", "§ ").replace("Figure ", "Fig. ")
            words = f"*{plain_text(short)}*: {words}"
        value = [plain_text(written_value(claim.paper))] * (kind == "paper")
        measured = written_value(claim.measured)
        if ends := written_interval(claim):
            measured += f" ({ends})"
        cells = [str(number), words, *value, plain_text(claim.criterion), plain_text(measured)]
        cells += [plain_text(claim.reason)] * bool(reason)
        lines.append(table_row(cells + [str(claim.quantity.get("orders", ""))] * ordered))
    return [f"## {heading}", "\n".join(lines)]


def _readings(claims: Mapping[int, Claim]) -> list[str]:
    """Return a table of the readings of the text with the statements that they agree on."""
    found: dict[str, dict[int, bool | None]] = {}
    for number, claim in claims.items():
        for reading, verdict in claim.readings.items():
            found.setdefault(reading, {})[number] = verdict
    if not found:
        return []
    lines = [table_row(["reading", "agrees on", "statements that agree"]), table_row(["---"] * 3)]
    for reading, verdicts in found.items():
        agreeing = [str(number) for number, verdict in verdicts.items() if verdict]
        count = f"{len(agreeing)} of {len(verdicts)}"
        lines.append(table_row([plain_text(reading), count, ", ".join(agreeing)]))
    words = "Where the text can be read in several ways, other readings were measured too."
    return ["## Readings of the text", words, "\n".join(lines)]


def table_row(cells: Iterable[str]) -> str:
    """Return a line of a table."""
    return f"| {' | '.join(cells)} |"


def _written(value: Any) -> str:
    """Return a value as text."""
    if isinstance(value, float):
        return readable(value)
    if isinstance(value, list | tuple):
        return ", ".join(map(_written, value))
    if isinstance(value, dict):
        return ", ".join(f"{name} {_written(each)}" for name, each in value.items())
    return str(value)


def plain_text(text: str) -> str:
    """Escape a text for Markdown."""
    return _SIGNS.sub(r"\\\1", " ".join(text.split()))


def draw_figure(figure: CurvePlot, path: Path) -> None:
    """Write a figure of the page as a small PNG file.

    Raises
    ------
    SimpluginError
        The file cannot be written.
    """
    from PIL import Image

    curves([figure], path)
    with Image.open(path) as drawn:
        reduced = drawn.convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE)
    reduced.save(path, optimize=True)
