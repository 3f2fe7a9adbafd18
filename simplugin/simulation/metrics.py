"""Metrics of any simulation, whatever its actors do."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simplugin.results.row import Metric
from simplugin.results.tables import ResultTable
from simplugin.simulation.result import Result
from simplugin.simulation.trace import KINDS, STATES

# Lines of a table of hosts.
_MOST_HOSTS = 1000
# Measures of each host, and their units.
HOST_MEASURES = {
    "utilisation": "",
    "busy": "s",
    "computed": "flop",
    "energy": "J",
    "queue": "",
    "longest_queue": "",
}


def metrics(result: Result) -> tuple[Metric, ...]:
    """Return makespan, numbers of actors and activities, amounts, utilisation and energy.

    If there were choices, also the number of copies that rollouts started.

    Utilisation is the computing time of the hosts that computed, divided by their number and the
    makespan. Activities of daemons at the end are cancelled, not failed. Metrics that need
    the trace or the energy account are None without.
    """
    hosts, trace = result.hosts, result.trace
    traced = bool(result.provenance.get("trace", len(trace) > 0))
    done, failed, cancelled = (trace.state_code == code for code in range(len(STATES)))
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
        Metric("activities_failed", int(failed.sum()) if traced else None),
        Metric("activities_cancelled", int(cancelled.sum()) if traced else None),
        Metric("computed", float(hosts.flops.sum()), "flop"),
        Metric("transferred", float(trace.amount[transfers].sum()) if traced else None, "byte"),
        Metric("hosts_used", int(used.sum())),
        Metric("utilisation", utilisation),
        Metric("energy", energy, "J"),
        *([Metric("branches", result.branches)] if result.choices else []),
    )


def of_hosts(result: Result, measure: str) -> NDArray[np.float64] | None:
    """Return a measure of each host; None without the trace or the energy account that it needs.

    Parameters
    ----------
    result : Result
        Of any simulation.
    measure : str
        A key of `HOST_MEASURES`. The queue of a host is the executions that have started and are
        not over, whether they share its cores or wait: their mean number over the simulated time,
        or the largest one.

    Returns
    -------
    float64, shape (n_hosts,)
        In the order of ``result.hosts``; NaN where a simulation of no time leaves it undefined.
    """
    hosts = result.hosts
    if measure in ("queue", "longest_queue"):
        return _queues(result, longest=measure == "longest_queue")
    if measure == "energy":
        return hosts.energy if result.provenance.get("energy") else None
    if measure == "computed":
        return hosts.flops
    return hosts.busy if measure == "busy" else hosts.utilisation


def hosts_listing(result: Result) -> ResultTable:
    """Return the measures of the hosts, those that were busy longest first.

    Hosts that did not compute are left out, unless they consumed energy.
    """
    found = {measure: of_hosts(result, measure) for measure in HOST_MEASURES}
    known = {measure: values for measure, values in found.items() if values is not None}
    order = np.argsort(-result.hosts.busy, kind="stable")
    some = (result.hosts.busy[order] > 0) | (result.hosts.energy[order] > 0)
    used = order[some].tolist()
    columns = [(measure.replace("_", " "), HOST_MEASURES[measure]) for measure in known]
    lines = [
        (result.hosts.name[host], *(float(values[host]) for values in known.values()))
        for host in used[:_MOST_HOSTS]
    ]
    more = len(used) - _MOST_HOSTS
    note = f"and {more} more" if more > 0 else ""
    return ResultTable("Hosts", (("host", ""), *columns), tuple(lines), note)


def _queues(result: Result, *, longest: bool) -> NDArray[np.float64] | None:
    """Return the mean or the largest number of simultaneous executions."""
    trace = result.trace
    if not result.provenance.get("trace", len(trace) > 0):
        return None
    rows = trace.kind_code == KINDS.index("exec")
    on, start, end = trace.resource_code[rows], trace.start[rows], trace.end[rows]
    places = {name: place for place, name in enumerate(result.hosts.name)}
    found = np.zeros(len(places))
    for code in np.unique(on).tolist():
        began, ended = np.sort(start[on == code]), np.sort(end[on == code])
        # What ends when another begins is not in its way.
        waiting = np.arange(1, len(began) + 1) - np.searchsorted(ended, began, side="right")
        mean = (ended - began).sum() / (result.clock or np.nan)
        found[places[trace.resource_names[code]]] = waiting.max() if longest else mean
    return found
