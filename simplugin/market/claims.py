"""The claims and figures of bundle markets, by parts that can be measured side by side."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from simplugin.market import (
    arrivals_claims,
    ect_claims,
    gap_claims,
    mechanism_claims,
    negotiation_claims,
    printed_claims,
    rate_claims,
    section5_claims,
    section5_figures,
    theorem_claims,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from simplugin.claims import Claim
    from simplugin.figures import Figure

# Parts of a module share what they measure, so that one process does them.
_MODULES: Mapping[str, Mapping[str, Callable[[bool], list[Claim]]]] = {
    "arrivals": arrivals_claims.PARTS,
    "misreports and payments": mechanism_claims.PARTS,
    "section 5": section5_claims.PARTS,
    "negotiations": negotiation_claims.PARTS,
    "as printed": printed_claims.PARTS,
    "gaps": gap_claims.PARTS,
    "estimated times": ect_claims.PARTS,
    "discount rates": rate_claims.PARTS,
    "theorems": theorem_claims.PARTS,
}


def _claims(quick: bool, *, module: str) -> list[Claim]:
    """Judge everything that a module does."""
    return [claim for part in _MODULES[module].values() for claim in part(quick)]


# Of each part its name, and what measures it; `quick` does less.
PARTS: dict[str, Callable[[bool], list[Claim]]] = {
    name: partial(_claims, module=name) for name in _MODULES
}
FIGURES: dict[str, Callable[[bool], list[Figure]]] = {
    **section5_figures.FIGURES,
    **theorem_claims.FIGURES,
    **gap_claims.FIGURES,
    **negotiation_claims.FIGURES,
    **ect_claims.FIGURES,
    **rate_claims.FIGURES,
    **mechanism_claims.FIGURES,
    **arrivals_claims.FIGURES,
}
