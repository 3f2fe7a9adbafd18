"""How far makespans are from what no schedule can be better than."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from simplugin.claims import Claim
from simplugin.optimum.task_graph_bounds import makespan_bound
from simplugin.platforms.sites import SUBSETS
from simplugin.taskgraphs.campaign import Setting, graphs_of, measured
from simplugin.taskgraphs.section7_tables import BALANCED, EIGHT, part
from simplugin.workloads.graph_sets import GraphSet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simplugin.taskgraphs.campaign import Case
    from simplugin.taskgraphs.section7_tables import Scope
    from simplugin.workloads.graph_generators import Family

# How far a bound may stay under what its program could prove.
_TOLERANCE = 1e-4
# Makespans are simulated: they may be off by this part.
_ROUNDING = 1e-6


@cache
def bound_of(case: Case) -> float:
    """Return the date before which no schedule completes all graphs of a case [s]."""
    graphs, site = GraphSet(graphs_of(case)), SUBSETS[case.site].site()
    return makespan_bound(graphs, site, transfers=True, tolerance=_TOLERANCE).value


def gaps(family: Family, *, quick: bool) -> list[Claim]:
    """Compare makespans with bounds: each strategy's, and the shortest of each run."""
    chosen = part(quick=quick)
    cases = chosen.cases(family)
    if family != "random":
        settings: Sequence[Setting] = ()
    elif quick:
        settings = (Setting("wps_width"),)
    else:
        settings = (*EIGHT, BALANCED)
    claims = [
        _gap(
            f"{family}: {each.strategy}",
            [measured(case, each).makespan for case in cases],
            chosen,
            cases,
        )
        for each in settings
    ]
    shortest = [min(measured(case, each).makespan for each in EIGHT) for case in cases]
    return [*claims, _gap(f"{family}: the best of the eight strategies", shortest, chosen, cases)]


def _gap(words: str, makespans: list[float], chosen: Scope, cases: list[Case]) -> Claim:
    """Compare makespans of some runs with their bounds."""
    found, bounds = np.array(makespans), np.array([bound_of(case) for case in cases])
    above = found / bounds - 1
    return Claim(
        f"{words}, mean makespan beside the least possible [s]",
        "not said",
        round(float(found.mean()), 3),
        bool(np.all(above >= -_ROUNDING)),
        f"over {len(cases)} runs; the gap to a lower bound is {100 * above.mean():.1f} % in the"
        f" mean, {100 * above.min():.1f} to {100 * above.max():.1f} %. The bound is the best of"
        " area, critical path, what switches have to pass, and a linear program that weighs the"
        " first two with the least times of redistributions. Agrees if no run is shorter than its"
        " bound",
        "section 7",
        optimum=round(float(bounds.mean()), 3),
        provenance=chosen.provenance(),
    )
