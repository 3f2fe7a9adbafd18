"""The paper's Figures 2 to 5, and all strategies between fairness and makespan."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from simplugin.figures import Figure
from simplugin.taskgraphs.campaign import STRATEGIES
from simplugin.taskgraphs.section7_tables import (
    BALANCED,
    MUS,
    PART,
    QUICK,
    QUICK_MUS,
    REBALANCED,
    beside,
    mu_table,
    scope,
    table,
    weighted,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from simplugin.taskgraphs.section7 import Averages
    from simplugin.workloads.graph_generators import Family

# As the paper writes them.
NAMES = dict(
    zip(
        STRATEGIES,
        ("S", "ES", "PS-cp", "PS-width", "PS-work", "WPS-cp", "WPS-width", "WPS-work"),
        strict=True,
    )
)
FAMILY_NUMBERS: dict[Family, int] = {"random": 3, "fft": 4, "strassen": 5}
_WORDS = {"random": "random graphs", "fft": "FFT graphs", "strassen": "Strassen graphs"}
_WEIGHTED = ("wps_cp", "wps_width", "wps_work")
_GRAPHS, _UNFAIRNESS, _LENGTH = "graphs", "unfairness", "mean relative makespan"


def figure2(quick: bool) -> list[Figure]:
    """Return unfairness and makespan of WPS-work over mu, for each number of random graphs."""
    chosen = scope("random", quick=quick)
    found = mu_table("wps_work", "random", chosen, quick=quick)
    mus = QUICK_MUS if quick else MUS
    panels = (
        ("figure2-unfairness", _UNFAIRNESS, found.unfairness),
        ("figure2-makespan", "mean makespan [s]", found.makespan),
    )
    return [
        Figure(
            name,
            "Figure 2: WPS-work by the weight of equal shares, random graphs",
            "mu",
            label,
            {f"{count} graphs": (mus, values[:, n]) for n, count in enumerate(found.counts)},
        )
        for name, label, values in panels
    ]


def sharing(quick: bool, *, family: Family) -> list[Figure]:
    """Return unfairness and relative makespan over the number of graphs, for each strategy."""
    chosen = scope(family, quick=quick)
    found = table(family, chosen)
    own = beside(family, chosen, (BALANCED,))
    number = FAMILY_NUMBERS[family]
    title = f"Figure {number}: {_WORDS[family]}, {chosen.runs} runs of each number"
    panels: tuple[tuple[str, str, Callable[[Averages, str], NDArray[np.float64]]], ...] = (
        (f"figure{number}-unfairness", _UNFAIRNESS, lambda each, key: each.unfair(key)),
        (f"figure{number}-makespan", _LENGTH, lambda each, key: each.length(key)),
    )
    return [
        Figure(
            name,
            title,
            _GRAPHS,
            label,
            {
                **{NAMES[key]: (found.counts, values(found, key)) for key in found.strategies},
                "balanced (ours)": (own.counts, values(own, BALANCED.key)),
            },
        )
        for name, label, values in panels
    ]


def trade_off(quick: bool, *, family: Family) -> list[Figure]:
    """Return all strategies as points between fairness and makespan, with the front of all."""
    # In quick runs those that the other figures need.
    chosen = QUICK[family] if quick else PART
    found = table(family, chosen)
    ours = beside(family, chosen, (BALANCED,) if quick else (BALANCED, REBALANCED))
    points = {NAMES[key]: _point(found, key) for key in STRATEGIES}
    own = {key: _point(ours, key) for key in ours.strategies}
    own = dict(zip(("balanced", "rebalanced"), own.values(), strict=False))
    curves = {} if quick else {f"{NAMES[key]} by mu": _sweep(family, key) for key in _WEIGHTED}
    names = {"the paper's": tuple(points), "ours": tuple(own)}
    return [
        Figure(
            f"trade-off-{family}",
            f"Between fairness and makespan: {_WORDS[family]}, {len(chosen.cases(family))} runs",
            _LENGTH,
            f"mean {_UNFAIRNESS}",
            {
                "the paper's": _columns(list(points.values())),
                "ours": _columns(list(own.values())),
                "front": _columns(front([*points.values(), *own.values()])),
                **curves,
            },
            names=names,
        )
    ]


def front(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the points than which none is less in one coordinate and not more in the other."""
    kept: list[tuple[float, float]] = []
    for point in sorted(points):
        if not kept or point[1] < kept[-1][1]:
            kept.append(point)
    return kept


def _point(found: Averages, key: str) -> tuple[float, float]:
    """Return mean relative makespan and mean unfairness of a strategy."""
    return float(np.mean(found.length(key))), float(np.mean(found.unfair(key)))


def _sweep(family: Family, strategy: str) -> tuple[list[float], list[float]]:
    """Return the points of a weighted strategy for each mu."""
    settings = weighted(strategy)
    found = beside(family, PART, settings)
    return _columns([_point(found, setting.key) for setting in settings])


def _columns(points: list[tuple[float, float]]) -> tuple[list[float], list[float]]:
    """Return the coordinates of points."""
    return [x for x, _ in points], [y for _, y in points]


FIGURES: dict[str, Callable[[bool], list[Figure]]] = {
    **{
        f"figure {number}": partial(sharing, family=family)
        for family, number in FAMILY_NUMBERS.items()
    },
    "figure 2": figure2,
    **{f"trade-off, {family}": partial(trade_off, family=family) for family in FAMILY_NUMBERS},
}
