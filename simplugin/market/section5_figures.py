"""The paper's Figures 4 and 5, and its Table 1 between benefit and completion time."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from simplugin.figures import Figure
from simplugin.market.front import front
from simplugin.market.section5 import (
    ALGORITHMS,
    FIGURE4,
    OTHER_READINGS,
    PAPER,
    RUNS,
    SETTINGS,
    Setting,
    outcome,
    rows,
)
from simplugin.market.section5_fairness import FALLING, RISING
from simplugin.market.section5_fairness_claims import curves
from simplugin.market.section5_sites import DEGREES, N_PEERS, SEED, TASKS, chosen_site

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from simplugin.market.outcomes import Outcome
    from simplugin.market.section5 import Row
    from simplugin.workloads.bundle_markets import Floats

_POINTS, _QUICK_POINTS = 60, 12
_QUICK_RUNS = 5
# Other readings that are not so far off that nothing else could be seen.
_SHOWN = ("commodity_equal", "double_auction_mean")


def figure4(_quick: bool) -> list[Figure]:
    """Return first prices and tasks of all peers of the chosen site."""
    found = outcome(chosen_site(), FIGURE4, "isgbmat")
    market = found.market
    edges = np.arange(N_PEERS + 1) + 0.5
    terms = f"computation-intensive tasks, alpha {FIGURE4.alpha:g}, no N_max"
    return [
        Figure(
            "figure4a",
            f"Figure 4 (a): retail prices, {terms}",
            "peer",
            "price [G$ for a task an hour]",
            {
                "first price": (edges, market.values),
                "value of the last task sold": (edges, _last(found)),
            },
            lines={
                f"clearing price {found.price:.1f}": found.price,
                f"mean of first prices {market.values.mean():.1f}": float(market.values.mean()),
            },
            bars=True,
        ),
        Figure(
            "figure4b",
            f"Figure 4 (b): allocation by ISGBMAT, {terms}",
            "peer",
            "tasks",
            {"tasks": (edges, found.amounts)},
            lines={f"mean {TASKS / N_PEERS:.1f}": TASKS / N_PEERS},
            bars=True,
        ),
    ]


def figure5(quick: bool, *, alpha: float, kind: str = FIGURE4.kind) -> list[Figure]:
    """Return fairness against lambda for three heterogeneity degrees."""
    some = curves(kind, alpha, quick)
    suffix = "" if kind == FIGURE4.kind else f"-{kind}"
    # All curves to the end of the longest: past its last cap that binds one stays where it is.
    end = max(float(each.factors[-1]) for each in some)
    return [
        Figure(
            f"figure5-alpha-{alpha:g}{suffix}",
            f"Figure 5: {kind} tasks, alpha {alpha:g}",
            "lambda: N_max / mean number of tasks of a peer",
            "workload fairness FI",
            {
                f"H_D = {degree:.4g}": (
                    np.append(each.factors, end),
                    np.append(each.fairness, each.fairness[-1]),
                )
                for degree, each in zip(DEGREES, some, strict=True)
            },
            # The paper is about the start of the lowest curve.
            whole=True,
        )
    ]


def table1(quick: bool, *, setting: Setting) -> list[Figure]:
    """Return the algorithms between benefit and completion time, with the front of all."""
    site = chosen_site()
    found = rows(setting, SEED, _QUICK_RUNS if quick else RUNS, tuple(ALGORITHMS))
    others = rows(setting, SEED, 1, _SHOWN)
    market, times = setting.market(site)
    points = _QUICK_POINTS if quick else _POINTS
    best = front(market.values, times, market.m, market.caps, market.q, points)
    names = {
        "on the chosen site": tuple(ALGORITHMS.values()),
        "other readings": tuple(OTHER_READINGS[name] for name in _SHOWN),
        "in the paper": tuple(ALGORITHMS.values()),
    }
    return [
        Figure(
            f"table1-{setting.kind}",
            f"Table 1: {setting.kind} tasks, alpha {setting.alpha:g}, no N_max",
            "global benefit [G$, a price being that of a task an hour]",
            "completion time [s]",
            {
                "on the chosen site": _points(found, ALGORITHMS),
                "other readings": _points(others, _SHOWN),
                "in the paper": _points(PAPER, ALGORITHMS),
                "front": (best.benefit, best.completion),
            },
            log_y=True,
            names=names,
        )
    ]


def _last(found: Outcome) -> Floats:
    """Return what the last task of each peer is worth to it; 0 for none."""
    worth = found.market.worth(np.maximum(found.amounts, 1))
    return np.where(found.amounts > 0, worth, 0.0)


def _points(table: Mapping[str, Row], names: Iterable[str]) -> tuple[list[float], list[float]]:
    """Return benefits and completion times."""
    chosen = [table[name] for name in names]
    return [each.benefit for each in chosen], [each.completion for each in chosen]


FIGURES: dict[str, Callable[[bool], list[Figure]]] = {
    "figure 4": figure4,
    **{f"figure 5, alpha {alpha:g}": partial(figure5, alpha=alpha) for alpha in (RISING, FALLING)},
    # Where the slow peer is less slow, so that all three curves fall.
    **{
        f"figure 5, communication, alpha {alpha:g}": partial(
            figure5, alpha=alpha, kind="communication"
        )
        for alpha in (RISING, FALLING)
    },
    **{f"table 1, {each.kind}": partial(table1, setting=each) for each in SETTINGS},
}
