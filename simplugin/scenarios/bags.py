"""Workloads of kind "bags": applications of independent tasks, each with a master.

Without a number of tasks they are endless, and share the platform by prices. With one they are
distributed over a tree.
"""

from __future__ import annotations

import importlib
from typing import Any

from simplugin.bags.policies.shipped import POLICIES as TREE_POLICIES
from simplugin.inputs.kinds import Progress, ScenarioResult, WorkloadKind
from simplugin.pricing.methods import POLICIES
from simplugin.scenarios.scenario import Scenario
from simplugin.workloads.bag_sections import BagsWorkload

# The module with the functions `check` and `run` of the schedulers whose names start so.
FAMILIES = {
    "bags": "simplugin.bags.scenario",
    "pricing": "simplugin.pricing.scenario",
}
# The keys of the workload, and of its applications, that only one family has.
_KEYS = {
    "bags": ("parents", "distributors"),
    "pricing": ("alpha", "trees"),
}
_APPLICATION_KEYS = {
    "bags": ("count",),
    "pricing": ("start", "end"),
}
_WHAT = {
    "bags": "tasks that are handed out over a tree, with a bags.* scheduler",
    "pricing": "endless applications, with a pricing.* scheduler",
}


def check(scenario: Scenario) -> None:
    """Raise ScenarioError if the parameters of the scheduler are invalid."""
    _family_of(scenario).check(scenario)


def run(scenario: Scenario, progress: Progress | None) -> ScenarioResult:
    """Run the scenario with the module of its scheduler."""
    outcome: ScenarioResult = _family_of(scenario).run(scenario, progress)
    return outcome


def _family_of(scenario: Scenario) -> Any:
    """Return the module of the scheduler; raise ScenarioError if the workload has other keys."""
    family = scenario.scheduler.name.partition(".")[0]
    if ":" in scenario.scheduler.name:
        family = "bags" if scenario.workload.is_counted else "pricing"
    workload: BagsWorkload = scenario.workload
    other = next(each for each in FAMILIES if each != family)
    remedy = f"remove it: it is for {_WHAT[other]}"
    for key in _KEYS[other]:
        if key in workload.model_fields_set:
            raise scenario.error(f"workload.{key} is given", "workload", key, remedy=remedy)
    for number, each in enumerate(workload.applications):
        for key in _APPLICATION_KEYS[other]:
            if key in each.model_fields_set:
                message = f"application {each.name!r} has the key {key!r}"
                place = ("workload", "applications", number, key)
                raise scenario.error(message, *place, remedy=remedy)
    return importlib.import_module(FAMILIES[family])


KIND = WorkloadKind(
    workload=BagsWorkload,
    run=run,
    check=check,
    schedulers=(
        *(f"pricing.{name}" for name in POLICIES),
        *(f"bags.{name}" for name in TREE_POLICIES),
    ),
    outputs=("result", "curves"),
)
