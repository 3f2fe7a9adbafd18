"""Experiments and figures of the reproduction."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from simplugin.papers.statements import Quantity
from simplugin.papers.zheng.arrivals import arrivals
from simplugin.papers.zheng.fairness import FALLING, RISING, fairness, figure5
from simplugin.papers.zheng.negotiations import negotiations
from simplugin.papers.zheng.policies import comparison, gap_figures, loop
from simplugin.papers.zheng.rates import rates
from simplugin.papers.zheng.reports import reports
from simplugin.papers.zheng.settings import SETTINGS
from simplugin.papers.zheng.table1 import figure4_figures, table1, table1_figures
from simplugin.papers.zheng.theorems import balance_figures, theorems
from simplugin.papers.zheng.times import times
from simplugin.results.curves import CurvePlot

EXPERIMENTS: dict[str, Callable[[bool], dict[str, Quantity]]] = {
    "arrivals": arrivals,
    "reports": reports,
    "table1": table1,
    "fairness": fairness,
    "negotiations": negotiations,
    "loop": loop,
    "comparison": comparison,
    "times": times,
    "rates": rates,
    "theorems": theorems,
}
FIGURES: dict[str, Callable[[bool], list[CurvePlot]]] = {
    "figure 4": figure4_figures,
    **{
        f"figure 5, {kind}, alpha {alpha:g}": partial(figure5, alpha=alpha, kind=kind)
        # The second where the slow peer is less slow, so that all three curves fall.
        for kind in ("computation", "communication")
        for alpha in (RISING, FALLING)
    },
    **{f"table 1, {each.kind}": partial(table1_figures, setting=each) for each in SETTINGS},
    "balance": balance_figures,
    "gaps": gap_figures,
}
