"""Metrics of any simulation, whatever its actors do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simplugin.rows import Metric
from simplugin.simulation.trace import KINDS, STATES

if TYPE_CHECKING:
    from simplugin.simulation.result import Result


def metrics(result: Result) -> tuple[Metric, ...]:
    """Return makespan, numbers of actors and activities, amounts, utilisation and energy.

    Utilisation is the computing time of the hosts that computed, divided by their number and the
    makespan. Metrics that need the trace or the energy account are None without.
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
