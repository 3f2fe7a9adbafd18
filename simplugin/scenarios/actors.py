"""Workloads of kind "actors": a deployment, and the functions that it names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simplugin.rows import Metric, Row
from simplugin.scenarios.kinds import Kind, Outcome, Progress
from simplugin.scenarios.sections import ExistingFile, Reference, Section
from simplugin.simulation import Result, simulate
from simplugin.simulation.trace import KINDS, STATES

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


def metrics(result: Result) -> tuple[Metric, ...]:
    """Return what can be said about any simulation, whatever its actors do.

    Utilisation is the time that hosts computed, over the time that there was, counting only the
    hosts that computed at all. What only the trace or the energy account knows is None without.
    """
    hosts, trace = result.hosts, result.trace
    traced = bool(result.provenance.get("trace", len(trace) > 0))
    done = trace.state_code == STATES.index("done")
    transfers = done & (trace.kind_code == KINDS.index("comm"))
    used = hosts.busy > 0
    energy = None
    if result.provenance.get("energy"):
        energy = float(np.nansum(hosts.energy) + np.nansum(result.links.energy))
    utilisation = None
    if used.any() and result.clock > 0:
        utilisation = float(hosts.busy[used].sum() / (used.sum() * result.clock))
    return (
        Metric("makespan", result.clock, "s"),
        Metric("actors", len(result.returned)),
        Metric("actors_killed", sum(each.state == "killed" for each in result.returned)),
        Metric("activities", len(trace) if traced else None),
        Metric("activities_failed", int((~done).sum()) if traced else None),
        Metric("computed", float(hosts.flops.sum()), "flop"),
        Metric("transferred", float(trace.amount[transfers].sum()) if traced else None, "byte"),
        Metric("hosts_used", int(used.sum())),
        Metric("utilisation", utilisation),
        Metric("energy", energy, "J"),
    )


KIND = Kind(workload=ActorsWorkload, run=run)
