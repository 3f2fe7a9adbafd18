"""The claims and figures of task graphs, by parts that can be measured side by side."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from simplugin.taskgraphs import (
    arrivals_claims,
    bound_claims,
    past_claims,
    published_claims,
    readings_claims,
    recheck_claims,
    section4_claims,
    section5_claims,
    section7_claims,
    section7_figures,
)
from simplugin.workloads.graph_generators import FAMILIES

if TYPE_CHECKING:
    from collections.abc import Callable

    from simplugin.claims import Claim
    from simplugin.figures import Figure
    from simplugin.workloads.graph_generators import Family


def _sharing(quick: bool, *, family: Family) -> list[Claim]:
    """Judge everything about a family of graphs, for which the same runs are needed."""
    claims = section7_claims.family_claims(family, quick=quick)
    if family == "random":
        claims += section7_claims.weight_claims(quick)
        claims += past_claims.estimates(quick)
    claims += past_claims.dominating(family, quick=quick)
    return claims + bound_claims.gaps(family, quick=quick)


# Of each part its name, and what measures it; `quick` does less. The longest come first.
PARTS: dict[str, Callable[[bool], list[Claim]]] = {
    **{f"sharing, {family} graphs": partial(_sharing, family=family) for family in FAMILIES},
    **arrivals_claims.PARTS,
    **readings_claims.PARTS,
    **section7_claims.PARTS,
    **section4_claims.PARTS,
    **section5_claims.PARTS,
    **recheck_claims.PARTS,
    **published_claims.PARTS,
}
FIGURES: dict[str, Callable[[bool], list[Figure]]] = {
    **section7_figures.FIGURES,
    **arrivals_claims.FIGURES,
}
