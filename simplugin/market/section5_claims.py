"""All statements of section 5 of the paper, by what they are about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simplugin.market import (
    section5_fairness_claims,
    section5_printed_claims,
    section5_row_claims,
    section5_selection_claims,
    section5_table_claims,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from simplugin.claims import Claim

PARTS: dict[str, Callable[[bool], list[Claim]]] = {
    **section5_row_claims.PARTS,
    **section5_table_claims.PARTS,
    **section5_printed_claims.PARTS,
    **section5_selection_claims.PARTS,
    **section5_fairness_claims.PARTS,
}
