"""The histograms of the paper's Figures 5 and 6, and the same of our own policies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simplugin.bags.campaign import FEW, ORDERS, Setting, measured
from simplugin.bags.campaign_summary import deviations, ratios
from simplugin.bags.instances import MAIN, SEEDS, TREES
from simplugin.bags.section6_claims import QUICK_ORDERS
from simplugin.figures import Figure

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from simplugin.bags.campaign import Measurement

    Floats = NDArray[np.float64]

SEED = SEEDS[0]
# The bins of Figure 5, and of Figure 6, in which 8 stands for all above.
DEVIATIONS = np.linspace(-0.6, 1.0, 33)
LOGARITHMS = np.linspace(-1.0, 4.0, 41)
BEYOND = 8.0
WIDE = np.linspace(-1.0, 8.25, 38)
EXPECTING = {"lp": "LP", "data_centric": "DATA-CENTRIC", "cgbc": "CGBC"}


def histogram(values: Floats, edges: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """Return edges and how many values each bin has; those outside are in the first and last."""
    inside = np.clip(values, edges[0], edges[-1])
    return edges, np.histogram(inside, edges)[0]


def logarithms(high: Sequence[Measurement], low: Sequence[Measurement]) -> Floats:
    """Return logarithmic deviations as section 6.2.2 has them: 8 where a throughput is near 0."""
    log = ratios(high, low).log
    return np.where(np.isnan(log), 0.0, np.minimum(log, BEYOND))


def figure5(quick: bool) -> list[Figure]:
    """Return the deviations of those that expect a throughput."""
    numbers = FEW if quick else range(TREES)
    series = {}
    for name, words in EXPECTING.items():
        found = [measured("A", SEED, number, Setting(name)) for number in numbers]
        series[words] = histogram(deviations(found), DEVIATIONS)
    return [
        Figure(
            "figure5",
            f"Figure 5: deviation from the expected throughput, reading A, {len(numbers)} trees",
            "1 - measured / expected",
            "trees",
            series,
            bars=True,
        )
    ]


def figure6(quick: bool) -> list[Figure]:
    """Return how far policies are behind LP, in each reading."""
    turns = Setting("fcfs", orders=QUICK_ORDERS if quick else ORDERS)
    panels = (
        ("figure6a", "Figure 6a: DATA-CENTRIC", Setting("data_centric"), LOGARITHMS),
        ("figure6b", "Figure 6b: FCFS", turns, LOGARITHMS),
        ("figure6c", "Figure 6c: BCS", Setting("bcs"), WIDE),
        ("figure6d", "Figure 6d: CGBC", Setting("cgbc"), LOGARITHMS),
        ("figure6-prices", "As Figure 6, our own: prices", Setting("prices"), LOGARITHMS),
        ("figure6-lag", "As Figure 6, our own: lag", Setting("lag"), LOGARITHMS),
    )
    numbers = FEW if quick else range(TREES)
    readings = ("A",) if quick else tuple(MAIN)
    figures = []
    for name, words, setting, edges in panels:
        series = {}
        for reading in readings:
            lp, other = (
                [measured(reading, SEED, number, each) for number in numbers]
                for each in (Setting("lp"), setting)
            )
            series[f"reading {reading}"] = histogram(logarithms(lp, other), edges)
        title = f"{words}, {len(numbers)} trees" + "; at 8 those near 0" * (edges is WIDE)
        figures.append(
            Figure(name, title, "ln(throughput of LP / its throughput)", "trees", series, bars=True)
        )
    return figures


FIGURES: dict[str, Callable[[bool], list[Figure]]] = {"figure 5": figure5, "figure 6": figure6}
