"""PRICES: the linear program solved by the tree's own nodes, which know their neighbours only."""

from __future__ import annotations

from simplugin.bags.prices.negotiation import Prices, negotiate_prices, prices

__all__ = ["Prices", "negotiate_prices", "prices"]
