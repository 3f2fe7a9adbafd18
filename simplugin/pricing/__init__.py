"""Sharing of a grid between applications by prices.

Names are loaded when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simplugin.pricing.assessment import Assessment, Recovery
    from simplugin.pricing.changes import intervals
    from simplugin.pricing.deployment import deploy, sharing_of
    from simplugin.pricing.execution import keep_up, negotiate
    from simplugin.pricing.iteration import Method, Trajectory, iterate, settled, throughput_error
    from simplugin.pricing.policies.acceleration import AcceleratedMarket
    from simplugin.pricing.policies.gradient import Gradient, Steps
    from simplugin.pricing.policies.market import Market
    from simplugin.pricing.policies.shipped import POLICIES
    from simplugin.pricing.seeded_instances import instances
    from simplugin.pricing.task_dispatch import dispatch
    from simplugin.simulation.platform_changes import Change

_HOMES = {
    "AcceleratedMarket": "pricing.policies.acceleration",
    "Assessment": "pricing.assessment",
    "Change": "simulation.platform_changes",
    "Gradient": "pricing.policies.gradient",
    "Market": "pricing.policies.market",
    "Method": "pricing.iteration",
    "POLICIES": "pricing.policies.shipped",
    "Recovery": "pricing.assessment",
    "Steps": "pricing.policies.gradient",
    "Trajectory": "pricing.iteration",
    "deploy": "pricing.deployment",
    "dispatch": "pricing.task_dispatch",
    "instances": "pricing.seeded_instances",
    "intervals": "pricing.changes",
    "iterate": "pricing.iteration",
    "keep_up": "pricing.execution",
    "negotiate": "pricing.execution",
    "settled": "pricing.iteration",
    "sharing_of": "pricing.deployment",
    "throughput_error": "pricing.iteration",
}
__all__ = [
    "POLICIES",
    "AcceleratedMarket",
    "Assessment",
    "Change",
    "Gradient",
    "Market",
    "Method",
    "Recovery",
    "Steps",
    "Trajectory",
    "deploy",
    "dispatch",
    "instances",
    "intervals",
    "iterate",
    "keep_up",
    "negotiate",
    "settled",
    "sharing_of",
    "throughput_error",
]


def __getattr__(name: str) -> Any:
    """Load a public name from the module that defines it."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"simplugin.{_HOMES[name]}"), name)
