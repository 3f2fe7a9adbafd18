"""Graphs that arrive over time, under shares that are fixed or revised."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np

from simplugin.papers.ntakpe.campaign import REBALANCED, TOGETHER, Scope, Setting, bound, measured
from simplugin.papers.statements import Quantity, determined_by, share
from simplugin.taskgraphs.readings import PAPER, Readings

# The fairest strategy of the paper, which ours is compared with.
RIVAL = "wps_width"
# Mean times between two submissions, over the mean makespan alone; the quick run has one.
RHOS, QUICK_RHO = (0.1, 0.3, 1.0), 0.3
ARRIVING, QUICK_ARRIVING = Scope((10,), 8), Scope((10,), 1, ("lille", "sophia"))


class Means(NamedTuple):
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
def means(scope: Scope, rho: float, setting: Setting) -> Means:
    """Return the means of a setting over random graphs that arrive."""
    found = [measured(case, setting) for case in scope.cases("random", rho=rho)]
    return Means(
        float(np.mean([each.unfairness for each in found])),
        float(np.mean([each.slowdown for each in found])),
        float(np.mean([np.min(each.slowdown) for each in found])),
        float(np.mean([each.makespan for each in found])),
    )


def revisions(strategy: str, readings: Readings = PAPER) -> dict[str, Setting]:
    """Return a strategy with fixed shares, shares given on arrival, and revised at events."""
    usual = Setting(strategy, readings=readings)
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
    gained: dict[str, list[float]] = {"modified": [], "completions": []}
    words: dict[str, list[str]] = {"modified": [], "completions": []}
    for rho in rhos:
        found = {
            (strategy, when): means(scope, rho, setting)
            for strategy in strategies
            for when, setting in revisions(strategy).items()
        }
        pairs = [("modified", each, "static", "event") for each in strategies]
        pairs += [] if quick else [("completions", RIVAL, "arrival", "event")]
        for key, strategy, one, other in pairs:
            before, after = found[strategy, one], found[strategy, other]
            gained[key] += [after.slowdown / before.slowdown, before.makespan / after.makespan]
            words[key].append(
                f"{rho:g}, {strategy}: {one} {before.words()}; {other} {after.words()}"
            )
    least = {k: Quantity(min(v), note="; ".join(words[k])) for k, v in gained.items() if v}
    if not quick:
        least["ours"] = _ours(scope)
    return determined_by(scope.provenance(rho=list(rhos)), least)


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
