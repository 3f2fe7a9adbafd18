"""Whether runs of the campaign keep within the model, as their traces tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simplugin.claims import Claim
from simplugin.taskgraphs.campaign import SEED, STRATEGIES, Case, Setting, executed
from simplugin.taskgraphs.trace_check import violations
from simplugin.workloads.graph_generators import FAMILIES

if TYPE_CHECKING:
    from collections.abc import Callable

# Runs of each family: numbers of graphs on sites.
RUNS = ((2, "lille"), (6, "nancy"), (10, "rennes"), (10, "sophia"))
QUICK_RUNS = ((4, "sophia"),)
QUICK_STRATEGIES = ("s", "es", "wps_width")
# How many violations are said in words.
_SAID = 5


def rechecked(quick: bool) -> list[Claim]:
    """Return in how many activities something is not as in the model."""
    strategies = QUICK_STRATEGIES if quick else (*STRATEGIES, "balanced")
    found: list[str] = []
    runs = activities = 0
    for family in FAMILIES:
        for count, site in QUICK_RUNS if quick else RUNS:
            for strategy in strategies:
                case = Case(family, count, 0, site)
                done = executed(case, Setting(strategy), trace=True)
                words = f"{strategy}, {count} {family} graphs on {site}"
                found += [f"{words}: {each}" for each in violations(done)]
                activities += len(done.result.trace)
                runs += 1
    return [
        Claim(
            "tasks and redistributions keep within the model, rechecked from traces of SimGrid's"
            " activities",
            "holds",
            f"{len(found)} violations of {activities} activities",
            not found,
            f"in {runs} runs of {len(strategies)} strategies. Capacities: a task has hosts of one"
            " cluster to itself, and computes at their speed. Precedence: no task starts before"
            " those before it have finished and their data are there. Amounts: every task and every"
            " redistribution happens once, with the flop of Amdahl's law. Agrees if there is no"
            " violation" + "".join(f"; {each}" for each in found[:_SAID]),
            "sections 2 and 5",
            provenance={"seed": SEED, "strategies": list(strategies)},
        )
    ]


PARTS: dict[str, Callable[[bool], list[Claim]]] = {"rechecked from traces": rechecked}
