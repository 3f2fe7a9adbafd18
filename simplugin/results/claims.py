"""Verdicts on statements about schedulers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Kind = Literal["paper", "ours"]
_NONE: tuple[Any, ...] = (None, {}, "")
_OPTIONAL = (
    "optimum", "provenance", "id", "quantity", "criterion", "definition", "reason", "readings"
)  # fmt: skip


@dataclass(frozen=True)
class Claim:
    """A statement, the measured value, and the verdict.

    Attributes
    ----------
    claim : str
        The statement, in one line.
    paper : float or str
        The paper's value; the bar for a claim of ours.
    measured : float, bool or str
        The measured value.
    agrees : bool or None
        The verdict; None if it cannot be told.
    why : str
        The criterion, and the reason for a difference.
    source : str
        Section, figure or table.
    optimum : float, optional
        The best possible value, if there is one.
    provenance : dict
        Circumstances of the measurement: seed, platform, reading.
    kind : {"paper", "ours"}
        A statement of a paper, or our own beyond it.
    id : str
        A name that does not depend on the text.
    quantity : dict
        Interval, number of samples, intervals of other readings, and notes of the measured value;
        infinite ends of intervals are the texts "inf" and "-inf".
        Where the interval is too wide for a verdict: `needed`, how many samples would decide, and
        `full`, how many the full reproduction has; 0 if unknown.
    criterion : str
        The condition under which the measured value agrees; empty if it names its own.
    definition : str
        Definition of the quantity, if the claim does not give it.
    reason : str
        The part of `why` about a verdict other than agreement: the cause, or what would decide.
    readings : mapping of str to (bool or None)
        Verdicts in the other readings of the paper's text.
    """

    claim: str
    paper: bool | int | float | str
    measured: bool | int | float | str
    agrees: bool | None
    why: str
    source: str
    optimum: float | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)
    kind: Kind = "paper"
    id: str = ""
    quantity: Mapping[str, Any] = field(default_factory=dict)
    criterion: str = ""
    definition: str = ""
    reason: str = ""
    readings: Mapping[str, bool | None] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """Return the claim as plain containers for JSON; absent values are left out."""
        document = asdict(self).items()
        return {name: each for name, each in document if name not in _OPTIONAL or each not in _NONE}


def headline(claims: Sequence[Claim]) -> str:
    """Return how many of the papers' statements agree, and how many of ours hold."""
    parts = []
    for kind, words in (
        ("paper", "paper statements agree"),
        ("ours", "statements of our own hold"),
    ):
        verdicts = [claim.agrees for claim in claims if claim.kind == kind]
        if verdicts:
            open_ones = verdicts.count(None)
            parts.append(f"{verdicts.count(True)} of {len(verdicts)} {words}")
            if open_ones:
                parts[-1] += f", {open_ones} cannot be told"
    return "; ".join(parts)
