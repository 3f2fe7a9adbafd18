"""The experiments and figures of the paper."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from simplugin.figures import Figure
from simplugin.papers.beaumont import heuristics, own_policies, periodic_schedules
from simplugin.papers.beaumont.figures import figure5, figure6
from simplugin.papers.statements import Quantity

# Each returns the quantities of its statements; `quick` measures less.
EXPERIMENTS: dict[str, Callable[[bool], Mapping[str, Quantity]]] = {
    "heuristics": heuristics.heuristics,
    "deviation": heuristics.deviation,
    "enough tasks": heuristics.enough_tasks,
    "variants of readings": heuristics.variants,
    "orders of nodes": heuristics.node_orders,
    "prices and lag": own_policies.plain,
    "other readings": own_policies.other_readings,
    "wrong measurements": own_policies.errors,
    "changing platforms": own_policies.changes,
    "part by part": own_policies.ablations,
    "negotiation": own_policies.negotiations,
    "networks": partial(own_policies.conditions, own_policies.NETWORK),
    "changes": partial(own_policies.conditions, own_policies.CHANGING),
    "failing hosts": partial(own_policies.conditions, own_policies.FAILING),
    "measured rates": own_policies.measured_rates,
    "replanning": own_policies.replanning,
    "traces": own_policies.traces,
    "slices": periodic_schedules.slices,
    "natural periods": periodic_schedules.natural,
    "rounded periods": periodic_schedules.rounded,
}
FIGURES: dict[str, Callable[[bool], list[Figure]]] = {"figure 5": figure5, "figure 6": figure6}
