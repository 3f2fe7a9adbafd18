"""Markets for bundles of tasks: policies, negotiations on SimGrid, payments and their assessment.

Names are loaded when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simplugin.market.assessment import Assessment as Assessment
    from simplugin.market.discount_rates import balancing_rates as balancing_rates
    from simplugin.market.discount_rates import completion_bound as completion_bound
    from simplugin.market.execution import execute as execute
    from simplugin.market.mechanisms import ascending_clock as ascending_clock
    from simplugin.market.mechanisms import uniform as uniform
    from simplugin.market.mechanisms import vickrey_clarke_groves as vickrey_clarke_groves
    from simplugin.market.misreports import best_report as best_report
    from simplugin.market.model import Deal as Deal
    from simplugin.market.model import Terms as Terms
    from simplugin.market.model import completion_times as completion_times
    from simplugin.market.policies.isgbmat import PRINTED as PRINTED
    from simplugin.market.policies.isgbmat import run_isgbmat as run_isgbmat
    from simplugin.market.policies.negotiation import Negotiation as Negotiation
    from simplugin.market.policies.negotiation import negotiate as negotiate
    from simplugin.market.policies.shares import in_proportion as in_proportion
    from simplugin.market.policies.shipped import NEGOTIATIONS as NEGOTIATIONS
    from simplugin.market.policies.shipped import POLICIES as POLICIES
    from simplugin.market.sites import site_of as site_of
    from simplugin.market.trade_offs import front as front

_HOMES = {
    "Assessment": "assessment",
    "Deal": "model",
    "NEGOTIATIONS": "policies.shipped",
    "Negotiation": "policies.negotiation",
    "POLICIES": "policies.shipped",
    "PRINTED": "policies.isgbmat",
    "Terms": "model",
    "ascending_clock": "mechanisms",
    "balancing_rates": "discount_rates",
    "best_report": "misreports",
    "completion_bound": "discount_rates",
    "completion_times": "model",
    "execute": "execution",
    "front": "trade_offs",
    "in_proportion": "policies.shares",
    "negotiate": "policies.negotiation",
    "run_isgbmat": "policies.isgbmat",
    "site_of": "sites",
    "uniform": "mechanisms",
    "vickrey_clarke_groves": "mechanisms",
}
__all__ = sorted(_HOMES)  # a list of the keys


def __getattr__(name: str) -> Any:
    """Load a public name from the module that defines it."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(_HOMES)
