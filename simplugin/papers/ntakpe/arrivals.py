"""Graphs that arrive over time, under shares that are fixed or revised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simplugin.papers.ntakpe.campaign import (
    REBALANCED,
    TOGETHER,
    Scope,
    SharingSetting,
    bound,
    measured,
)
from simplugin.papers.statements import Quantity, determined_by, resampled, share
from simplugin.results.curves import CurvePlot
from simplugin.taskgraphs.assumptions import PAPER, ModelAssumptions

# The fairest strategy of the paper, which ours is compared with.
RIVAL = "wps_width"
# Mean times between two submissions, over the mean makespan alone; the quick run has one.
RHOS, QUICK_RHO = (0.1, 0.3, 1.0), 0.3
ARRIVING, QUICK_ARRIVING = Scope((10,), 8), Scope((10,), 1, ("lille", "sophia"))


class ArrivalMeans(NamedTuple):
    """Means over runs of one setting.

    Attributes
    ----------
    unfairness, slowdown, worst : float
        Eq. (5); the slowdown of all graphs, and of the graph that suffers most.
    makespan : float
        Completion of the last graph [s].
    """

    unfairness: float
    slowdown: float
    worst: float
    makespan: float

    def words(self) -> str:
        """Return the means as text."""
        return (
            f"unfairness {self.unfairness:.2f}, slowdown {self.slowdown:.2f} on average and"
            f" {self.worst:.2f} at worst, {self.makespan:.0f} s"
        )


@cache
def _runs(scope: Scope, rho: float, setting: SharingSetting) -> NDArray[np.float64]:
    """Return the fields of `ArrivalMeans` of each run with arriving graphs; shape (4, n_runs)."""
    found = [measured(case, setting) for case in scope.cases("random", rho=rho)]
    rows = [(each.unfairness, np.mean(each.slowdown), np.min(each.slowdown)) for each in found]
    return np.array([(*row, each.makespan) for row, each in zip(rows, found, strict=True)]).T


def means(scope: Scope, rho: float, setting: SharingSetting) -> ArrivalMeans:
    """Return the means of a setting over random graphs that arrive."""
    return ArrivalMeans(*_runs(scope, rho, setting).mean(axis=1).tolist())


def revisions(strategy: str, readings: ModelAssumptions = PAPER) -> dict[str, SharingSetting]:
    """Return a strategy with fixed shares, shares given on arrival, and revised at events."""
    usual = SharingSetting(strategy, readings=readings)
    return {
        "static": usual,
        "arrival": replace(usual, revision="arrival"),
        "event": replace(usual, revision="event"),
    }


def arrivals(quick: bool) -> dict[str, Quantity]:
    """Measure what revised shares are worth where graphs arrive over time."""
    scope = QUICK_ARRIVING if quick else ARRIVING
    rhos = (QUICK_RHO,) if quick else RHOS
    strategies = (RIVAL,) if quick else ("es", "wps_width", "wps_work")
    pairs = [("modified", each, "static", "event") for each in strategies]
    pairs += [] if quick else [("completions", RIVAL, "arrival", "event")]
    least = {
        key: _gained(scope, rhos, [each[1:] for each in pairs if each[0] == key])
        for key, *_ in pairs
    }
    if not quick:
        least["ours"] = _ours(scope)
    return determined_by(scope.provenance() | {"rho": list(rhos)}, least)


def _gained(scope: Scope, rhos: Sequence[float], pairs: Sequence[tuple[str, str, str]]) -> Quantity:
    """Measure by what factor slowdowns rise and makespans fall, the least of both and of pairs.

    A pair is a strategy with its usual revision and another one.
    """
    words, found = [], []
    for rho, (strategy, one, other) in product(rhos, pairs):
        settings = [revisions(strategy)[each] for each in (one, other)]
        before, after = (means(scope, rho, each).words() for each in settings)
        words.append(f"{rho:g}, {strategy}: {one} {before}; {other} {after}")
        found.append([_runs(scope, rho, each) for each in settings])
    runs = np.array(found)
    cut = runs.reshape(*runs.shape[:3], scope.combinations, -1)

    def least(few: NDArray[np.int64]) -> float:
        """Return the least factor of some combinations."""
        _, slowdown, _, makespan = cut[:, :, :, few].mean(axis=(3, 4)).transpose(2, 1, 0)
        return float(min(np.min(slowdown[1] / slowdown[0]), np.min(makespan[0] / makespan[1])))

    return resampled(least, scope.combinations, "; ".join(words), over="combinations")


def _ours(scope: Scope) -> Quantity:
    """Measure the part of the comparisons in which rebalanced shares are fairer and no longer."""
    ahead, words = [], []
    rivals = revisions(RIVAL)
    rivals["event, contention counted"] = revisions(RIVAL, TOGETHER)["event"]
    for rho in RHOS:
        ours = means(scope, rho, REBALANCED)
        cases = scope.cases("random", rho=rho)
        best = np.mean([bound(case, transfers=False, tolerance=1e-3) for case in cases])
        words.append(f"{rho:g}: {ours.words()}, bound {best:.0f} s")
        for name, setting in rivals.items():
            rival = means(scope, rho, setting)
            ahead.append(ours.unfairness < rival.unfairness and ours.makespan <= rival.makespan)
            words.append(f"{'not ahead of' * (not ahead[-1])} {name} {rival.words()}".strip())
    return share(ahead, f"; {'; '.join(words)}")


def arriving(quick: bool, *, rho: float) -> list[CurvePlot]:
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
        CurvePlot(
            f"arrivals-{rho:g}",
            f"Random graphs that arrive, one each {rho:g} makespans",
            "makespan [s]",
            "unfairness",
            {
                mode: ([each.makespan for each in rows], [each.unfairness for each in rows])
                for mode, rows in found.items()
            },
            names={mode: list(settings) for mode, settings in modes.items()},
        )
    ]
