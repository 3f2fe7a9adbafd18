"""Claims of a paper beside the measured values, in the terminal and as a Markdown page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from simplugin.claims import Claim, headline
from simplugin.formatting import readable
from simplugin.reports.tables import house_table

if TYPE_CHECKING:
    pass

_WIDEST_VALUE = 18
_VERDICTS = {
    True: Text("yes", style="green"),
    False: Text("no", style="bold red"),
    None: Text("?", style="yellow"),
}
_SECTIONS = (
    ("What disagrees", "paper", False),
    ("What cannot be told", "paper", None),
    ("What agrees", "paper", True),
    ("Of our own, what fails", "ours", False),
    ("Of our own, what cannot be told", "ours", None),
    ("Of our own, what holds", "ours", True),
)
# Characters with a meaning in Markdown.
_SIGNS = re.compile(r"([\\`*_<>|\[\]#~$])")


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
        measured = _shown(claim.measured)
        if claim.optimum is not None:
            measured += Text(f"\noptimum {readable(claim.optimum)}", style="dim")
        table.add_row(words, _shown(claim.paper), measured, _VERDICTS[claim.agrees])
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


def _shown(value: float | str | None) -> Text:
    """Write a value of a claim; whole numbers as such."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    return Text(readable(value))


@dataclass(frozen=True)
class Measurement:
    """Origin of measured claims.

    Attributes
    ----------
    title : str
        Title of the page.
    command : str
        Command that repeats the measurement.
    dates : tuple of (str, str)
        First and last day.
    versions : mapping of str to str
        Versions of the packages used.
    seconds : float
        Total computing time of the parts [s].
    """

    title: str
    command: str
    dates: tuple[str, str]
    versions: Mapping[str, str]
    seconds: float


def claims_page(claims: Sequence[Claim], measurement: Measurement) -> str:
    """Return the page: origin of the measurement, then claims by verdict."""
    first, last = measurement.dates
    days = first if first == last else f"{first} to {last}"
    versions = ", ".join(f"{name} {version}" for name, version in measurement.versions.items())
    lines = [f"# {measurement.title}", "", f"    {measurement.command}", ""]
    lines.append(
        f"Measured {days} with {versions}, in {measurement.seconds / 60:.0f} minutes one part"
        f" after the other. {headline(claims)}. Each row gives the criterion, the reason of a"
        " difference as far as it was found, and what determines the measurement."
    )
    for heading, kind, verdict in _SECTIONS:
        found = [claim for claim in claims if (claim.kind, claim.agrees) == (kind, verdict)]
        if found:
            lines += ["", f"## {heading}", ""]
            lines += ["| claim | paper | measured |", "| --- | --- | --- |"]
            lines += [_line(claim) for claim in found]
    return "\n".join(lines) + "\n"


def _line(claim: Claim) -> str:
    """Return a claim as a line of a table."""
    words = [_plain(claim.claim), f"*{_plain(claim.source)}*: {_plain(claim.why)}"]
    if claim.provenance:
        of = "; ".join(f"{name} {_written(value)}" for name, value in claim.provenance.items())
        words.append(f"<small>{_plain(of)}</small>")
    measured = _plain(_written(claim.measured))
    if claim.optimum is not None:
        measured += f"<br>optimum {_plain(_written(claim.optimum))}"
    return f"| {'<br>'.join(words)} | {_plain(_written(claim.paper))} | {measured} |"


def _written(value: Any) -> str:
    """Return a value as text."""
    if isinstance(value, float):
        return readable(value)
    if isinstance(value, list | tuple):
        return ", ".join(map(_written, value))
    if isinstance(value, dict):
        return ", ".join(f"{name} {_written(each)}" for name, each in value.items())
    return str(value)


def _plain(text: str) -> str:
    """Return a text that Markdown shows as it is."""
    return _SIGNS.sub(r"\\\1", " ".join(text.split()))
