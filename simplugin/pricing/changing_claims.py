"""What the report says of changes, beside agents that live through some on SimGrid."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from simplugin.claims import Claim
from simplugin.optimum.fair_sharing import fair_sharing
from simplugin.pricing import churn_claims
from simplugin.pricing.agents.changes import Change, intervals
from simplugin.pricing.agents.upkeep import keep_up
from simplugin.pricing.deployment import deploy
from simplugin.pricing.five_hosts import APPLICATIONS, TREE
from simplugin.pricing.gradient import Gradient
from simplugin.pricing.markets import Market
from simplugin.pricing.simulated_claims import LATENCY, platform
from simplugin.workloads import AlphaFair

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from simplugin.pricing.agents.changes import Interval
    from simplugin.pricing.agents.upkeep import Upkeep
    from simplugin.pricing.trajectory import Method

PROPORTIONAL = AlphaFair(1.0)
# A host fails and comes back, a link loses most of its bandwidth, an application arrives, a host
# loses most of its speed, the application leaves [s].
CHANGES = (
    Change(4.0, "E", 0.0),
    Change(8.0, "E", 5e8),
    Change(12.0, "A->B", 1e8),
    Change(20.0, "B", 1e8),
)
ARRIVAL, DEPARTURE, UNTIL = 16.0, 24.0, 28.0
# Between two decisions of a role [s]: a message takes a tenth of it.
PERIOD = 0.01
# Without rounds a market that hears old news must move slowly.
RELAXATION = 0.5


def report_adapts(quick: bool) -> list[Claim]:
    """Return how the scaled rule comes back after changes, by the report's measure."""
    del quick
    times, near, last = [], [], []
    kept, parts = live_through(Gradient())
    for each in parts:
        best = fair_sharing(each.sharing)
        error = _objective_errors(kept, each, best.objective)
        times.append(_return(error, 0.05))
        near.append(_return(error, 0.01))
        seen = kept.date < each.end
        last.append(float(kept.errors(each, best.throughput)[seen][-1]))
    worst = max(times)
    return [
        Claim(
            "The algorithm seamlessly adapts to changes of speed and bandwidth, and to arrivals",
            "seamlessly",
            f"5 %: {_at_most(worst)}; 1 %: {_at_most(max(near))}",
            bool(np.isfinite(max(near))),
            f"scaled rule as actors without rounds, Table 1's steps, a decision every {PERIOD:g} s:"
            f" time until the objective is within 5 % of the new optimum, after {_WHAT}:"
            f" {_listed(times)}; within 1 %: {_listed(near)}; {1 / PERIOD:g} decisions a second."
            f" Throughputs are up to {max(last):.0%} off at the next change; agrees if it gets"
            " within 1 % of each new optimum before the next change",
            "section 4.2",
            provenance=_provenance(),
        )
    ]


def market_adapts(quick: bool) -> list[Claim]:
    """Return how the method without steps comes back after changes, by every throughput."""
    del quick
    kept, parts = live_through(Market(relaxation=RELAXATION))
    times = []
    for each in parts:
        found = kept.return_time(each, fair_sharing(each.sharing).throughput)
        times.append(np.inf if found is None else found)
    worst = max(times)
    return [
        Claim(
            "How does such a system react to high churn?",
            "left open",
            f"every throughput within 1 %: {_at_most(worst)}",
            bool(np.isfinite(worst)),
            f"markets with relaxation {RELAXATION:g}, as that of rounds is too much for old news,"
            f" as actors without rounds, a decision every {PERIOD:g} s: time until every"
            " throughput is within 1 % of the new optimum and no resource overloaded by more,"
            f" after {_WHAT}: {_listed(times)}; {1 / PERIOD:g} decisions a second",
            "slides, conclusion",
            provenance=_provenance(),
        )
    ]


_WHAT = (
    "the start, a host that fails and comes back, a slower link, an arrival, a slower host, and a"
    " departure"
)


def live_through(method: Method[Any]) -> tuple[Upkeep, list[Interval]]:
    """Let agents live through the changes; return what they did, and what there was between."""
    *stay, comes = APPLICATIONS
    applications = (*stay, replace(comes, start=ARRIVAL, end=DEPARTURE))
    graph = platform()
    sharing = deploy(graph, applications)
    kept = keep_up(
        graph,
        applications,
        sharing,
        method,
        PROPORTIONAL,
        until=UNTIL,
        period=PERIOD,
        changes=CHANGES,
    )
    return kept, intervals(sharing, applications, CHANGES, UNTIL)


def _objective_errors(kept: Upkeep, interval: Interval, best: float) -> NDArray[np.float64]:
    """Return the relative error of the objective at each look within an interval."""
    seen = (kept.date >= interval.start) & (kept.date < interval.end)
    rates = kept.rates[seen][:, interval.agents]
    throughput = np.array([interval.sharing.throughput(rate) for rate in rates])
    value = PROPORTIONAL.objective(throughput, interval.sharing.weight)
    return np.asarray(np.abs(value - best) / abs(best))


def _return(error: NDArray[np.float64], level: float) -> float:
    """Return the time until an error stays within a level, infinite if it does not [s]."""
    outside = np.flatnonzero(~(error <= level))
    first = int(outside[-1]) + 1 if len(outside) else 0
    return PERIOD * first if first < len(error) else np.inf


def _listed(times: list[float]) -> str:
    """Write times in seconds."""
    return ", ".join(f"{each:.2g} s" if np.isfinite(each) else "never" for each in times)


def _at_most(time: float) -> str:
    """Write the longest of some times."""
    return f"{time:.2g} s at most" if np.isfinite(time) else "never, after some changes"


def _provenance() -> dict[str, Any]:
    """Return what determines a run."""
    return {
        "platform": "five hosts, edges " + " ".join(TREE),
        "latency": LATENCY,
        "period": PERIOD,
        "changes": [f"{each.date:g} s: {each.resource} {each.capacity:g}" for each in CHANGES],
        "application 3": f"from {ARRIVAL:g} s to {DEPARTURE:g} s",
        "seed": 0,
    }


PARTS: dict[str, Callable[[bool], list[Claim]]] = {
    "changes, scaled rule": report_adapts,
    "changes, markets": market_adapts,
    **churn_claims.PARTS,
}
