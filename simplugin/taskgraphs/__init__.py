"""Scheduling of concurrent parallel task graphs on multi-clusters.

Names are loaded when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simplugin.taskgraphs.assessment import Assessment
    from simplugin.taskgraphs.charts import graph_chart, schedule_chart
    from simplugin.taskgraphs.execution import execute
    from simplugin.taskgraphs.metrics import slowdown, unfairness
    from simplugin.taskgraphs.platform_sites import site_of
    from simplugin.taskgraphs.policies.allocation import Allocation, scrap_max
    from simplugin.taskgraphs.policies.lists import global_ordering, heft, mheft
    from simplugin.taskgraphs.policies.mapping import OnlineMapper, plan
    from simplugin.taskgraphs.policies.revisions import Rebalanced, Revised
    from simplugin.taskgraphs.policies.shipped import POLICIES, policy_called
    from simplugin.taskgraphs.readings import Readings
    from simplugin.taskgraphs.schedule import Schedule, violations
    from simplugin.taskgraphs.trace_check import trace_violations

_HOMES = {
    "Allocation": "policies.allocation",
    "Assessment": "assessment",
    "OnlineMapper": "policies.mapping",
    "POLICIES": "policies.shipped",
    "Readings": "readings",
    "Rebalanced": "policies.revisions",
    "Revised": "policies.revisions",
    "Schedule": "schedule",
    "execute": "execution",
    "global_ordering": "policies.lists",
    "graph_chart": "charts",
    "heft": "policies.lists",
    "mheft": "policies.lists",
    "plan": "policies.mapping",
    "policy_called": "policies.shipped",
    "schedule_chart": "charts",
    "scrap_max": "policies.allocation",
    "site_of": "platform_sites",
    "slowdown": "metrics",
    "trace_violations": "trace_check",
    "unfairness": "metrics",
    "violations": "schedule",
}
__all__ = [
    "POLICIES",
    "Allocation",
    "Assessment",
    "OnlineMapper",
    "Readings",
    "Rebalanced",
    "Revised",
    "Schedule",
    "execute",
    "global_ordering",
    "graph_chart",
    "heft",
    "mheft",
    "plan",
    "policy_called",
    "schedule_chart",
    "scrap_max",
    "site_of",
    "slowdown",
    "trace_violations",
    "unfairness",
    "violations",
]


def __getattr__(name: str) -> Any:
    """Load a public name from the module that defines it."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
