"""Bags of tasks that are distributed over a tree.

Names are loaded when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simplugin.bags.assessment import Assessment, experimental, fair, slope
    from simplugin.bags.execution import Execution, execute, execute_periodic
    from simplugin.bags.measurement import measure, with_errors
    from simplugin.bags.periodic import periodic_schedule
    from simplugin.bags.policies.classics import first_request_delays
    from simplugin.bags.policies.data_centric import trade
    from simplugin.bags.policies.prices import negotiate_prices
    from simplugin.bags.policies.shipped import POLICIES
    from simplugin.bags.policy import NodePlan, NodeState, Policy, servable
    from simplugin.bags.trees import tree_of

_HOMES = {
    "POLICIES": "policies.shipped",
    "Assessment": "assessment",
    "Execution": "execution",
    "NodePlan": "policy",
    "NodeState": "policy",
    "Policy": "policy",
    "execute": "execution",
    "execute_periodic": "execution",
    "experimental": "assessment",
    "fair": "assessment",
    "first_request_delays": "policies.classics",
    "measure": "measurement",
    "negotiate_prices": "policies.prices",
    "periodic_schedule": "periodic",
    "servable": "policy",
    "slope": "assessment",
    "trade": "policies.data_centric",
    "tree_of": "trees",
    "with_errors": "measurement",
}
__all__ = [
    "POLICIES",
    "Assessment",
    "Execution",
    "NodePlan",
    "NodeState",
    "Policy",
    "execute",
    "execute_periodic",
    "experimental",
    "fair",
    "first_request_delays",
    "measure",
    "negotiate_prices",
    "periodic_schedule",
    "servable",
    "slope",
    "trade",
    "tree_of",
    "with_errors",
]


def __getattr__(name: str) -> Any:
    """Load a public name from the module that defines it."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
