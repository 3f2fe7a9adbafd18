"""What section 5 says of mapping: ready tasks against a global order, and packing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from simplugin.claims import Claim
from simplugin.elementary import exp, log
from simplugin.platforms.sites import SUBSETS
from simplugin.taskgraphs.allocation import scrap_max
from simplugin.taskgraphs.campaign import Case, Setting, graphs_of, measured, own_makespans
from simplugin.taskgraphs.execution import execute
from simplugin.taskgraphs.global_ordering import global_ordering, postponing_example
from simplugin.taskgraphs.mapping import plan
from simplugin.taskgraphs.policies import es
from simplugin.taskgraphs.readings import PAPER
from simplugin.taskgraphs.section7_tables import PART, Scope, part
from simplugin.workloads.graph_sets import GraphSet

if TYPE_CHECKING:
    from collections.abc import Callable

# With these packing is told to help, and in quick runs.
_PACKED, _QUICK_PACKED = ("s", "es", "ps_work", "wps_width"), ("s",)
# What a graph may wait and still start without delay, in its own makespans.
_PROMPT = 0.05


def example(_quick: bool) -> list[Claim]:
    """Schedule the two graphs of Figure 1 by both orders."""
    graphs, allocations, site = postponing_example()
    by_list = global_ordering(graphs, allocations, site)
    by_ready = plan(graphs, allocations, site)
    # The small graph is the second one.
    first = int(graphs.first[1])
    starts = [float(each.start[first]) for each in (by_list, by_ready)]
    ends = [each.makespan for each in (by_list, by_ready)]
    completed = float(by_list.finish[0])
    return [
        Claim(
            "ordered globally, the small graph waits until the first task of the big one has"
            " finished; of ready tasks only, it starts immediately",
            "postponed, then not",
            f"starts at {starts[0]:g} s, then at {starts[1]:g} s",
            starts[0] >= completed and starts[1] == 0,
            f"two graphs with one processor each; the big one's first task ends at {completed:g} s",
            "section 5, Figure 1",
        ),
        Claim(
            "the schedule of the ordering of ready tasks is more efficient there",
            "shorter",
            f"{ends[1]:g} s against {ends[0]:g} s",
            ends[1] < ends[0],
            "makespans of the two schedules; the bottom level of the big graph is the optimum",
            "section 5, Figure 1",
            optimum=10.0,
        ),
    ]


@dataclass(frozen=True)
class Postponed:
    """What the smallest graph of a case suffers under an order of tasks.

    Attributes
    ----------
    waited : float
        Until its first task starts, as part of its own makespan.
    slowdown : float
        Its own makespan over that among others.
    """

    waited: float
    slowdown: float


@cache
def smallest(case: Case, *, ready: bool) -> Postponed:
    """Execute the plan of a case under equal shares, by ready tasks or by a global order.

    The smallest graph is that of the least own makespan.
    """
    graphs = GraphSet(graphs_of(case))
    site, platform = SUBSETS[case.site].site(), SUBSETS[case.site].platform()
    shares = es(graphs.graphs, site).tolist()
    pairs = zip(graphs.graphs, shares, strict=True)
    allocations = [scrap_max(graph, site, share) for graph, share in pairs]
    own = np.array(own_makespans(case, "online", PAPER))
    schedule = (plan if ready else global_ordering)(graphs, allocations, site)
    done = execute(graphs, site, schedule=schedule, mode="planned", platform=platform).schedule
    least = int(np.argmin(own))
    tasks = slice(int(graphs.first[least]), int(graphs.first[least + 1]))
    return Postponed(
        float(np.min(done.start[tasks]) / own[least]),
        float(own[least] / done.makespans[least]),
    )


def postponing(quick: bool) -> list[Claim]:
    """Measure how long small graphs wait under both orders in the campaign."""
    chosen = _most_graphs(quick=quick)
    cases = chosen.cases("random")
    found = {ready: [smallest(case, ready=ready) for case in cases] for ready in (True, False)}
    waited = {ready: float(np.mean([x.waited for x in each])) for ready, each in found.items()}
    slowdown = {ready: float(np.mean([x.slowdown for x in each])) for ready, each in found.items()}
    return [
        Claim(
            f"ordering only ready tasks keeps the smallest of {chosen.counts[0]} graphs from being"
            " postponed",
            "starts without delay",
            f"waits for {waited[True]:.2f} of its own makespan, {waited[False]:.2f} by a global"
            " order",
            waited[True] <= _PROMPT and waited[True] < waited[False],
            f"mean over {len(cases)} runs under ES, both executed as planned; its slowdown is"
            f" {slowdown[True]:.2f}, {slowdown[False]:.2f} by the global order. Agrees if it waits"
            f" for no more than {_PROMPT:g}, and less than by the global order",
            "section 5",
            provenance=chosen.provenance(),
        )
    ]


def _most_graphs(*, quick: bool) -> Scope:
    """Return the runs with most graphs of those of many settings."""
    chosen = part(quick=quick)
    return replace(chosen, counts=chosen.counts[-1:])


def packing(quick: bool) -> list[Claim]:
    """Measure what packing is worth."""
    chosen = _most_graphs(quick=True) if quick else PART
    cases = chosen.cases("random")
    ratios = {}
    for strategy in _QUICK_PACKED if quick else _PACKED:
        packed = Setting(strategy)
        loose = Setting(strategy, readings=replace(PAPER, packing="off"))
        found = [measured(case, loose).makespan / measured(case, packed).makespan for case in cases]
        ratios[strategy] = exp(float(np.mean(log(found))))
    return [
        Claim(
            "packing of allocations prevents idle times: without it makespans are longer",
            "longer",
            ", ".join(f"{name} {ratio:.3f} times" for name, ratio in ratios.items()),
            min(ratios.values()) > 1,
            f"geometric means of simulated makespans over {len(cases)} runs with random graphs;"
            " agrees if they are longer under each of these strategies",
            "section 5",
            provenance=chosen.provenance(),
        )
    ]


PARTS: dict[str, Callable[[bool], list[Claim]]] = {
    "Figure 1": example,
    "small graphs": postponing,
    "packing": packing,
}
