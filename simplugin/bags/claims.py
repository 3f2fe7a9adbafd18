"""The claims and figures of bags of tasks, by parts that can be measured side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simplugin.bags import (
    negotiation_claims,
    past_claims,
    realism_claims,
    recheck_claims,
    section6_claims,
    section6_figures,
    steady_claims,
    trading_claims,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from simplugin.claims import Claim
    from simplugin.figures import Figure

# Of each part its name, and what measures it; `quick` does less.
PARTS: dict[str, Callable[[bool], list[Claim]]] = {
    **section6_claims.PARTS,
    **trading_claims.PARTS,
    **past_claims.PARTS,
    **negotiation_claims.PARTS,
    **realism_claims.PARTS,
    **recheck_claims.PARTS,
    **steady_claims.PARTS,
}
FIGURES: dict[str, Callable[[bool], list[Figure]]] = section6_figures.FIGURES
