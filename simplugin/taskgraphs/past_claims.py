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
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from simplugin.taskgraphs.campaign import Case, Measurement
    from simplugin.workloads.graph_generators import Family

# The strategy of the paper to be ahead of.
RIVAL = "wps_width"
# The weight of equal shares that the paper takes for it, and that `campaign` does; graphs of
# Strassen have shares that it does not change.
MU: dict[str, float] = {"random": 0.5, "fft": 0.3, "strassen": 0.5}
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
        f"{family}: {_OURS[setting]} dominate WPS-width on average, in unfairness and in makespan",
        f"WPS-width: {means[1, 0]:.3f}, {means[1, 1]:.3f}, measured here",
        f"{means[0, 0]:.3f}, {means[0, 1]:.3f}",
        bool(np.all(means[0] < means[1])),
        "mean unfairness and mean makespan relative to the best of the eight strategies; WPS-width"
        f" with a mu of {MU[family]:g}. Not behind in either with {int(np.sum(ahead))} of"
        f" {len(ahead)} numbers of graphs. {_by_run(chosen.cases(family), setting)}. Of the eight,"
        f" not less fair or not longer: {', '.join(not_behind) or 'none'}. Agrees if both means are"
        " less",
        "ours",
        provenance=chosen.provenance(),
    )


def _by_run(cases: Sequence[Case], setting: Setting) -> str:
    """Say in how many runs a setting is fairer and no longer than WPS-width."""
    pairs = [(measured(case, setting), measured(case, Setting(RIVAL))) for case in cases]
    fairer = np.array([own.unfairness < other.unfairness for own, other in pairs])
    shorter = np.array([own.makespan <= other.makespan for own, other in pairs])
    parts = [100 * float(np.mean(each)) for each in (fairer, shorter, fairer & shorter)]
    return (
        f"Of {len(pairs)} runs it is fairer in {parts[0]:.0f} %, no longer in {parts[1]:.0f} %,"
        f" both in {parts[2]:.0f} %"
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
