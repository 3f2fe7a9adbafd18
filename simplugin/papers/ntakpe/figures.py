"""Figures 2 to 5 of the paper, and all strategies between fairness and makespan."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from simplugin.figures import Figure
from simplugin.papers.ntakpe.arrivals import (
    ARRIVING,
    QUICK_ARRIVING,
    QUICK_RHO,
    RHOS,
    RIVAL,
    means,
    revisions,
)
from simplugin.papers.ntakpe.averages import Averages, averages, beside, weighted
from simplugin.papers.ntakpe.campaign import (
    BALANCED,
    FULL,
    PART,
    QUICK,
    REBALANCED,
    STRATEGIES,
)
from simplugin.workloads.graph_generators import Family

# The strategies' names in the paper.
NAMES = dict(
    zip(
        STRATEGIES,
        ("S", "ES", "PS-cp", "PS-width", "PS-work", "WPS-cp", "WPS-width", "WPS-work"),
        strict=True,
    )
)
_NUMBERS: dict[Family, int] = {"random": 3, "fft": 4, "strassen": 5}
_WORDS = {"random": "random graphs", "fft": "FFT graphs", "strassen": "Strassen graphs"}
_WEIGHTED = ("wps_cp", "wps_width", "wps_work")
_GRAPHS, _UNFAIRNESS, _LENGTH = "graphs", "unfairness", "mean relative makespan"


def figure2(quick: bool) -> list[Figure]:
    """Return unfairness and makespan of WPS-work over mu, for each number of random graphs."""
    scope = QUICK["random"] if quick else FULL
    found = averages("random", scope, weighted("wps_work", quick=quick))
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
            {
                f"{count} graphs": ([float(mu) for mu in found.names], values[:, n])
                for n, count in enumerate(found.counts)
            },
        )
        for name, label, values in panels
    ]


def sharing(quick: bool, *, family: Family) -> list[Figure]:
    """Return unfairness and relative makespan over the number of graphs, for each strategy."""
    scope = QUICK[family] if quick else FULL
    found, own = averages(family, scope), beside(family, scope, {"balanced": BALANCED})
    number = _NUMBERS[family]
    panels = (
        (f"figure{number}-unfairness", _UNFAIRNESS, Averages.unfair),
        (f"figure{number}-makespan", _LENGTH, Averages.length),
    )
    return [
        Figure(
            name,
            f"Figure {number}: {_WORDS[family]}, {scope.runs} runs of each number",
            _GRAPHS,
            label,
            {
                **{NAMES[key]: (found.counts, values(found, key)) for key in found.names},
                "balanced (ours)": (own.counts, values(own, "balanced")),
            },
        )
        for name, label, values in panels
    ]


def trade_off(quick: bool, *, family: Family) -> list[Figure]:
    """Return all strategies as points between fairness and makespan, with the front of all."""
    # Quick runs reuse those of the other figures.
    scope = QUICK[family] if quick else PART
    own = {"balanced": BALANCED} if quick else {"balanced": BALANCED, "rebalanced": REBALANCED}
    paper, ours = _points(averages(family, scope)), _points(beside(family, scope, own))
    curves = {
        f"{NAMES[key]} by mu": _columns(_points(beside(family, PART, weighted(key))))
        for key in (() if quick else _WEIGHTED)
    }
    return [
        Figure(
            f"trade-off-{family}",
            f"Between fairness and makespan: {_WORDS[family]}, {len(scope.cases(family))} runs",
            _LENGTH,
            f"mean {_UNFAIRNESS}",
            {
                "the paper's": _columns(paper),
                "ours": _columns(ours),
                "front": _columns(front([*paper, *ours])),
                **curves,
            },
            names={"the paper's": tuple(NAMES.values()), "ours": tuple(own)},
        )
    ]


def front(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the points that no other one dominates, by their first coordinate."""
    kept: list[tuple[float, float]] = []
    for point in sorted(points):
        if not kept or point[1] < kept[-1][1]:
            kept.append(point)
    return kept


def _points(found: Averages) -> list[tuple[float, float]]:
    """Return the mean relative makespan and the mean unfairness of each setting."""
    names = found.names
    return [(float(np.mean(found.length(n))), float(np.mean(found.unfair(n)))) for n in names]


def _columns(points: list[tuple[float, float]]) -> tuple[list[float], list[float]]:
    """Return the coordinates of points."""
    return [x for x, _ in points], [y for _, y in points]


def arriving(quick: bool, *, rho: float) -> list[Figure]:
    """Return unfairness against makespan of all strategies where graphs arrive over time."""
    if quick and rho != QUICK_RHO:
        return []
    scope = QUICK_ARRIVING if quick else ARRIVING
    modes = {"rebalanced (ours)": {"ours": REBALANCED}}
    for strategy in (RIVAL,) if quick else ("s", "es", "wps_width", "wps_work"):
        for when, setting in revisions(strategy).items():
            modes.setdefault(when, {})[strategy] = setting
    found = {
        mode: [means(scope, rho, setting) for setting in settings.values()]
        for mode, settings in modes.items()
    }
    return [
        Figure(
            f"arrivals-{rho:g}",
            f"Random graphs that arrive, one each {rho:g} makespans",
            "makespan [s]",
            _UNFAIRNESS,
            {
                mode: ([each.makespan for each in rows], [each.unfairness for each in rows])
                for mode, rows in found.items()
            },
            names={mode: list(settings) for mode, settings in modes.items()},
        )
    ]


FIGURES: dict[str, Callable[[bool], list[Figure]]] = {
    **{f"figure {number}": partial(sharing, family=each) for each, number in _NUMBERS.items()},
    "figure 2": figure2,
    **{f"trade-off, {family}": partial(trade_off, family=family) for family in _NUMBERS},
    **{f"arrivals, trade-off, {rho:g}": partial(arriving, rho=rho) for rho in RHOS},
}
