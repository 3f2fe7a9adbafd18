"""The claims and figures of pricing, by parts that can be measured side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simplugin.pricing import (
    adverse_claims,
    changing_claims,
    past_claims,
    past_figures,
    section5_claims,
    section5_figures,
    simulated_claims,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from simplugin.claims import Claim
    from simplugin.figures import Figure

# Of each part its name, and what measures it; `quick` does less.
PARTS: dict[str, Callable[[bool], list[Claim]]] = {
    **section5_claims.PARTS,
    **simulated_claims.PARTS,
    **changing_claims.PARTS,
    **past_claims.PARTS,
    **adverse_claims.PARTS,
}
FIGURES: dict[str, Callable[[bool], list[Figure]]] = {
    **section5_figures.FIGURES,
    **past_figures.FIGURES,
}
