"""Claims of a paper beside what was measured, as a page in Markdown."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from simplugin.claims import Claim, headline
from simplugin.reports.quantities import readable

_SECTIONS = (
    ("What disagrees", "paper", False),
    ("What cannot be told", "paper", None),
    ("What agrees", "paper", True),
    ("Of our own, what fails", "ours", False),
    ("Of our own, what cannot be told", "ours", None),
    ("Of our own, what holds", "ours", True),
)
# What Markdown would take for more than a letter.
_SIGNS = re.compile(r"([\\`*_<>|\[\]#~$])")


@dataclass(frozen=True)
class Measurement:
    """How claims came about.

    Attributes
    ----------
    title : str
        Of the page.
    command : str
        What measures them again.
    dates : tuple of (str, str)
        First and last day.
    versions : mapping of str to str
        Of the packages that had a part in it.
    seconds : float
        What the parts took, one after the other [s].
    """

    title: str
    command: str
    dates: tuple[str, str]
    versions: Mapping[str, str]
    seconds: float


def claims_page(claims: Sequence[Claim], measurement: Measurement) -> str:
    """Return the page: how it was measured, what disagrees, and what agrees."""
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
        of = "; ".join(f"{name} {_shown(value)}" for name, value in claim.provenance.items())
        words.append(f"<small>{_plain(of)}</small>")
    measured = _plain(_shown(claim.measured))
    if claim.optimum is not None:
        measured += f"<br>optimum {_plain(_shown(claim.optimum))}"
    return f"| {'<br>'.join(words)} | {_plain(_shown(claim.paper))} | {measured} |"


def _shown(value: Any) -> str:
    """Return a value as text."""
    if isinstance(value, float):
        return readable(value)
    if isinstance(value, list | tuple):
        return ", ".join(map(_shown, value))
    if isinstance(value, dict):
        return ", ".join(f"{name} {_shown(each)}" for name, each in value.items())
    return str(value)


def _plain(text: str) -> str:
    """Return a text that Markdown shows as it is."""
    return _SIGNS.sub(r"\\\1", " ".join(text.split()))
