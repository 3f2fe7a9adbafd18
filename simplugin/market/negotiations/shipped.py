"""The negotiations that can be chosen by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simplugin.market.negotiations.bisection import BISECTION
from simplugin.market.negotiations.clinching import CLINCHING
from simplugin.market.negotiations.commodity import COMMODITY
from simplugin.market.negotiations.double_auction import DOUBLE_AUCTION
from simplugin.market.negotiations.isgbmat import ISGBMAT
from simplugin.market.negotiations.median import MEDIAN
from simplugin.market.negotiations.posted import posted
from simplugin.market.negotiations.secant import SECANT
from simplugin.market.policies import optimum
from simplugin.market.proportional import proportional_share

if TYPE_CHECKING:
    from simplugin.market.negotiations.protocol import Negotiation

NEGOTIATIONS: dict[str, Negotiation] = {
    each.name: each
    for each in (
        ISGBMAT,
        COMMODITY,
        DOUBLE_AUCTION,
        posted(proportional_share),
        posted(optimum),
        BISECTION,
        MEDIAN,
        SECANT,
        CLINCHING,
    )
}
