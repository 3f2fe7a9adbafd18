"""What a reproduction of a paper says of one of its statements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Claim:
    """A statement of a paper beside what was measured.

    Attributes
    ----------
    claim : str
        The statement, in one line.
    paper : float or str
        What the paper says.
    measured : float or str
        What was measured.
    agrees : bool
        Whether the two agree.
    why : str
        By what criterion they do or do not, and what explains a difference.
    source : str
        Section, figure or table.
    optimum : float, optional
        What is best, where there is such a value.
    provenance : dict
        Seed, platform, reading: what determines the measurement.
    """

    claim: str
    paper: float | str
    measured: float | str
    agrees: bool
    why: str
    source: str
    optimum: float | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """Return the claim as plain containers, for JSON; without what is not known."""
        document: dict[str, Any] = {
            "claim": self.claim,
            "paper": self.paper,
            "measured": self.measured,
            "agrees": self.agrees,
            "why": self.why,
            "source": self.source,
        }
        if self.optimum is not None:
            document["optimum"] = self.optimum
        if self.provenance:
            document["provenance"] = dict(self.provenance)
        return document
