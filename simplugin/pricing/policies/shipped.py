"""Shipped methods of sharing by prices, by their names in scenarios."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from simplugin.pricing.iteration import Method
from simplugin.pricing.policies.acceleration import AcceleratedMarket
from simplugin.pricing.policies.gradient import Gradient, StepSizes
from simplugin.pricing.policies.market import Market


def _with_steps(*, scaled: bool) -> Callable[..., Gradient]:
    """Return the report's iteration as a function of the fields of `StepSizes`."""

    def method(**steps: float) -> Gradient:
        """Return the iteration."""
        return Gradient(scaled, StepSizes(**steps))

    method.__doc__ = StepSizes.__doc__
    vars(method)["__signature__"] = inspect.signature(StepSizes)
    return method


def market_accelerated(
    relaxation: float = Market.relaxation, *, feasible: bool = Market.feasible
) -> AcceleratedMarket:
    """Return local markets that learn from past rounds.

    Parameters
    ----------
    relaxation, feasible
        See `Market`.
    """
    return AcceleratedMarket(Market(relaxation, feasible))


# Each makes a method of its parameters: "scaled" follows Eqs. (16) to (18) of the report,
# "unscaled" Eqs. (10) to (16).
POLICIES: Mapping[str, Callable[..., Method[Any]]] = {
    "scaled": _with_steps(scaled=True),
    "unscaled": _with_steps(scaled=False),
    "market": Market,
    "market_accelerated": market_accelerated,
}
