"""The shipped methods of sharing by prices, by their names in scenarios."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from simplugin.pricing.iteration import Method
from simplugin.pricing.policies.acceleration import AcceleratedMarket
from simplugin.pricing.policies.gradient import Gradient, Steps
from simplugin.pricing.policies.market import Market


def scaled(**steps: float) -> Gradient:
    """Return the report's scaled iteration, Eqs. (16) to (18).

    Parameters
    ----------
    **steps : float
        Fields of `Steps`: step sizes and starting values; Table 1's by default.
    """
    return Gradient(scaled=True, steps=Steps(**steps))


def unscaled(**steps: float) -> Gradient:
    """Return the report's unscaled iteration, Eqs. (10) to (16); parameters as `scaled`."""
    return Gradient(scaled=False, steps=Steps(**steps))


def market_accelerated(relaxation: float = Market.relaxation) -> AcceleratedMarket:
    """Return local markets that learn from past rounds; parameters as `Market`."""
    return AcceleratedMarket(Market(relaxation))


POLICIES: Mapping[str, Callable[..., Method[Any]]] = {
    "scaled": scaled,
    "unscaled": unscaled,
    "market": Market,
    "market_accelerated": market_accelerated,
}
