"""Workloads of kind "actors": a deployment, and the functions that it names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simplugin.inputs.kinds import Kind, Outcome, Progress
from simplugin.inputs.sections import ExistingFile, Reference, Section
from simplugin.rows import Row
from simplugin.simulation import simulate
from simplugin.simulation.metrics import metrics

if TYPE_CHECKING:
    from simplugin.scenarios.scenario import Scenario


class ActorsWorkload(Section):
    """``[workload]`` of kind "actors".

    Attributes
    ----------
    deployment : path
        A SimGrid deployment file.
    functions : dict of str to str
        For each function name of the deployment, ``module:function``.
    """

    deployment: ExistingFile
    functions: dict[str, Reference]


def run(scenario: Scenario, progress: Progress | None) -> Outcome:
    """Simulate the deployment on the platform."""
    workload: ActorsWorkload = scenario.workload
    functions = {
        name: scenario.function(reference, "workload", "functions", name)
        for name, reference in workload.functions.items()
    }
    result = simulate(
        scenario.make_platform(),
        workload.deployment,
        functions=functions,
        progress=progress,
        **scenario.simulation.arguments(),
    )
    return Outcome(Row(metrics(result), result.provenance), result)


KIND = Kind(workload=ActorsWorkload, run=run)
