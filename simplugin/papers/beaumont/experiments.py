"""The experiments and figures of the paper."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from simplugin.papers.beaumont import heuristics, new_policies, periodic_schedules
from simplugin.papers.beaumont.campaign import (
    FEW,
    ORDERS,
    PolicySetting,
    ThroughputMeasurement,
    measurements,
)
from simplugin.papers.beaumont.comparisons import deviations, ratios
from simplugin.papers.beaumont.instances import MAIN, SEEDS, TREES
from simplugin.papers.statements import Quantity
from simplugin.results.curves import CurvePlot

Floats = NDArray[np.float64]


SEED = SEEDS[0]
# The bins of Figure 5, and of Figure 6, in which 8 stands for all above.
DEVIATIONS = np.linspace(-0.6, 1.0, 33)
LOGARITHMS = np.linspace(-1.0, 4.0, 41)
BEYOND = 8.0
WIDE = np.linspace(-1.0, 8.25, 38)
EXPECTING = {"lp": "LP", "data_centric": "DATA-CENTRIC", "cgbc": "CGBC"}


def histogram(values: Floats, edges: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """Return edges and the count of each bin; values outside are in the first and last one."""
    inside = np.clip(values, edges[0], edges[-1])
    return edges, np.histogram(inside, edges)[0]


def logarithms(
    high: Sequence[ThroughputMeasurement], low: Sequence[ThroughputMeasurement]
) -> Floats:
    """Return the logarithmic deviations of section 6.2.2: 8 where a throughput is near 0."""
    log = ratios(high, low).log
    return np.where(np.isnan(log), 0.0, np.minimum(log, BEYOND))


def figure5(quick: bool) -> list[CurvePlot]:
    """Return the deviations of the policies that expect a throughput."""
    numbers = FEW if quick else range(TREES)
    series = {
        words: histogram(
            deviations(measurements("A", SEED, numbers, PolicySetting(name))), DEVIATIONS
        )
        for name, words in EXPECTING.items()
    }
    title = f"Figure 5: deviation from the expected throughput, reading A, {len(numbers)} trees"
    return [CurvePlot("figure5", title, "1 - measured / expected", "trees", series, bars=True)]


def figure6(quick: bool) -> list[CurvePlot]:
    """Return the distances of policies from LP, in each main reading."""
    turns = PolicySetting("fcfs", orders=ORDERS[quick])
    panels = (
        ("figure6a", "Figure 6a: DATA-CENTRIC", PolicySetting("data_centric"), LOGARITHMS),
        ("figure6b", "Figure 6b: FCFS", turns, LOGARITHMS),
        ("figure6c", "Figure 6c: BCS", PolicySetting("bcs"), WIDE),
        ("figure6d", "Figure 6d: CGBC", PolicySetting("cgbc"), LOGARITHMS),
        ("figure6-prices", "As Figure 6, our own: prices", PolicySetting("prices"), LOGARITHMS),
        ("figure6-lag", "As Figure 6, our own: lag", PolicySetting("lag"), LOGARITHMS),
    )
    numbers = FEW if quick else range(TREES)
    figures = []
    for name, words, setting, edges in panels:
        series = {}
        for reading in ("A",) if quick else tuple(MAIN):
            lp, other = (
                measurements(reading, SEED, numbers, each)
                for each in (PolicySetting("lp"), setting)
            )
            series[f"reading {reading}"] = histogram(logarithms(lp, other), edges)
        title = f"{words}, {len(numbers)} trees" + "; at 8 those near 0" * (edges is WIDE)
        figures.append(
            CurvePlot(
                name, title, "ln(throughput of LP / its throughput)", "trees", series, bars=True
            )
        )
    return figures


# Each returns the quantities of its statements; `quick` measures less.
EXPERIMENTS: dict[str, Callable[[bool], Mapping[str, Quantity]]] = {
    "heuristics": heuristics.heuristics,
    "deviation": heuristics.deviation,
    "enough tasks": heuristics.enough_tasks,
    "variants of readings": heuristics.variants,
    "orders of nodes": heuristics.node_orders,
    "prices and lag": new_policies.plain,
    "other readings": new_policies.other_readings,
    "wrong measurements": new_policies.errors,
    "changing platforms": new_policies.changes,
    "part by part": new_policies.ablations,
    "negotiation": new_policies.negotiations,
    "networks": partial(new_policies.conditions, new_policies.NETWORK),
    "changes": partial(new_policies.conditions, new_policies.CHANGING),
    "failing hosts": partial(new_policies.conditions, new_policies.FAILING),
    "measured rates": new_policies.measured_rates,
    "replanning": new_policies.replanning,
    "traces": new_policies.traces,
    "slices": periodic_schedules.slices,
    "natural periods": periodic_schedules.natural,
    "rounded periods": periodic_schedules.rounded,
}
FIGURES: dict[str, Callable[[bool], list[CurvePlot]]] = {"figure 5": figure5, "figure 6": figure6}
