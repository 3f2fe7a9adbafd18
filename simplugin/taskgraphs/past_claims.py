"""Past the paper: shares found on plans, against its own strategies, on its own campaign."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simplugin.claims import Claim
from simplugin.taskgraphs.campaign import Setting, measured
from simplugin.taskgraphs.section7_tables import (
    BALANCED,
    PART,
    REBALANCED,
    TOGETHER,
    Scope,
    beside,
    scope,
    table,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simplugin.taskgraphs.campaign import Measurement
    from simplugin.workloads.task_graph_combinations import Family

# The strategy of the paper to be ahead of.
RIVAL = "wps_width"
_OURS = {
    BALANCED: "shares balanced on plans beforehand",
    REBALANCED: "shares balanced on forecasts, again and again while tasks run",
}


def dominating(family: Family, *, quick: bool) -> list[Claim]:
    """Compare our strategies with WPS-width, on which they are to be ahead in both metrics."""
    claims = [_dominates(family, BALANCED, scope(family, quick=quick))]
    # The quick run has these with graphs that arrive, in `arrivals_claims`.
    if not quick:
        claims.append(_dominates(family, REBALANCED, PART))
    return claims


def _dominates(family: Family, setting: Setting, chosen: Scope) -> Claim:
    """Judge whether a setting is ahead of WPS-width in unfairness and in makespan."""
    own, theirs = beside(family, chosen, (setting,)), table(family, chosen)
    here = np.array([own.unfair(setting.key), own.length(setting.key)])
    there = np.array([theirs.unfair(RIVAL), theirs.length(RIVAL)])
    means = np.array([here.mean(axis=1), there.mean(axis=1)])
    ahead = np.all(here <= there, axis=0)
    not_behind = [
        name
        for name in theirs.strategies
        if np.mean(theirs.unfair(name)) <= means[0, 0]
        or np.mean(theirs.length(name)) <= means[0, 1]
    ]
    return Claim(
        f"{family}: {_OURS[setting]} dominate WPS-width in unfairness and in makespan",
        f"WPS-width: {means[1, 0]:.3f}, {means[1, 1]:.3f}, measured here",
        f"{means[0, 0]:.3f}, {means[0, 1]:.3f}",
        bool(np.all(means[0] < means[1])),
        "mean unfairness and mean makespan relative to the best of the eight strategies; ahead in"
        f" both with {int(np.sum(ahead))} of {len(ahead)} numbers of graphs. Of the eight, fairer"
        f" or shorter: {', '.join(not_behind) or 'none'}. Agrees if both means are less",
        "ours",
        provenance=chosen.provenance(),
    )


def estimates(quick: bool) -> list[Claim]:
    """Compare estimates that count contention with those that do not."""
    if quick:
        return []
    cases = PART.cases("random")
    errors = {
        words: _errors([measured(case, setting) for case in cases])
        for words, setting in (
            ("alone", Setting(RIVAL)),
            ("together", Setting(RIVAL, readings=TOGETHER)),
        )
    }
    alone, together = (float(np.mean(np.abs(each))) for each in errors.values())
    return [
        Claim(
            "makespans are estimated better if redistributions are taken to share links",
            "each as if it were alone",
            f"off by {100 * together:.1f} %, by {100 * alone:.1f} % alone",
            together < alone,
            f"mean of |planned / simulated - 1| over {len(cases)} runs of WPS-width with random"
            f" graphs; with signs {100 * np.mean(errors['together']):+.1f} % and"
            f" {100 * np.mean(errors['alone']):+.1f} %",
            "ours",
            provenance=PART.provenance(),
        )
    ]


def _errors(found: list[Measurement]) -> NDArray[np.float64]:
    """Return by what part planned makespans are off."""
    return np.array([each.planned / each.makespan - 1 for each in found])
