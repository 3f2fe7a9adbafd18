"""Traces of executions of random graphs, and traces that were tampered with."""

from dataclasses import replace

import numpy as np
import pytest
from small_graphs import graph_of, run_on, star

from simplugin.core.errors import WorkloadError
from simplugin.papers.ntakpe.trace_check import trace_violations
from simplugin.platforms.sites import SUBSETS
from simplugin.simulation.trace import Trace
from simplugin.taskgraphs.assumptions import ModelAssumptions
from simplugin.taskgraphs.policies.allocation import scrap_max
from simplugin.workloads.graph_generators import combination


def run(site, family, count, *, beta=0.5, **how):
    """Execute a combination on one of the paper's sites, with a trace."""
    graphs, multi = combination(family, count, 7), SUBSETS[site]
    allocations = [scrap_max(graph, multi.site(), beta) for graph in graphs]
    return run_on(multi, graphs, decisions=allocations, trace=True, **how)


CAMPAIGN = [
    ("lille", "random", {}),
    ("rennes", "strassen", {"beta": 0.1, "pattern": "uniform"}),
    ("sophia", "random", {"assumptions": ModelAssumptions(fixing="start"), "local": "kept"}),
    ("sophia", "fft", {"planned": True, "release": [0.0, 1.0, 30.0]}),
]


@pytest.mark.parametrize(("site", "family", "how"), CAMPAIGN)
def test_campaign_keeps_within_the_model(site, family, how):
    assert trace_violations(run(site, family, 3, **how)) == []


@pytest.fixture(scope="module")
def done():
    """Return an execution that is right, with data between different hosts."""
    found = run("lille", "random", 2, beta=0.2)
    assert trace_violations(found) == []
    return found


def tampered(done, label, **columns):
    """Return the violations after something was changed of an activity."""
    trace = done.result.trace
    place = int(np.flatnonzero(trace.label == label)[0])
    changed = {name: np.array(getattr(trace, name)) for name in columns}
    for name, value in columns.items():
        changed[name][place] = value
    result = replace(done.result, trace=replace(trace, **changed))
    return trace_violations(replace(done, result=result))


def task_of(done):
    """Return the label of a task that others get data from."""
    graphs = done.schedule.graphs
    return graphs.name_of(int(graphs.edges[0, 0]))


def edge_of(done):
    """Return the label of an edge with data between hosts that have nothing in common."""
    schedule = done.schedule
    for edge, (source, target) in enumerate(schedule.graphs.edges.tolist()):
        ends = [set(schedule.processors_of(task).tolist()) for task in (source, target)]
        if not ends[0] & ends[1] and schedule.graphs.edge_byte[edge]:
            name = schedule.graphs.name_of(target).split(":")[1]
            return f"{schedule.graphs.name_of(source)}->{name}"
    raise AssertionError("no such edge")


WRONG_ACTIVITIES = [
    (task_of, {"state_code": 1}, "happened 0 times"),
    (edge_of, {"state_code": 1}, "happened 0 times"),
    (task_of, {"amount": 1.0}, "flop, not"),
    (edge_of, {"amount": 1.0}, "computes 1.0 flop"),
    (edge_of, {"start": 0.0}, "its source ends"),
    (edge_of, {"end": 9999.0}, "its target starts"),
]


@pytest.mark.parametrize(("label_of", "columns", "told"), WRONG_ACTIVITIES)
def test_wrong_activities_are_seen(done, label_of, columns, told):
    assert any(told in each for each in tampered(done, label_of(done), **columns))


def test_what_ran_twice_is_seen(done):
    code = done.result.trace.label_names.index(task_of(done))
    found = tampered(done, edge_of(done), label_code=code)
    assert any("happened 2 times" in each for each in found)


def test_wrong_hosts_are_seen(done):
    trace = done.result.trace
    other = int(trace.resource_code[np.flatnonzero(trace.label == edge_of(done))[0]])
    found = tampered(done, task_of(done), resource_code=other)
    assert found
    own = int(trace.resource_code[np.flatnonzero(trace.label == task_of(done))[0]])
    found = tampered(done, edge_of(done), resource_code=own)
    assert any("not between the hosts" in each for each in found)


def test_wrong_dates_are_seen(done):
    trace = done.result.trace
    start = float(trace.start[np.flatnonzero(trace.label == edge_of(done))[0]])
    assert any("are needed" in each for each in tampered(done, edge_of(done), end=start))
    assert tampered(done, task_of(done), start=float(trace.end[-1]))


def test_executions_that_say_something_else_are_seen(done):
    start = done.schedule.start + 1e-3
    told = replace(done, schedule=replace(done.schedule, start=start))
    assert trace_violations(told) == ["the execution has another start than its trace"]


@pytest.mark.parametrize("back_end", ["coroutines", "threads"])
def test_a_trace_has_tasks_and_redistributions_alone(capfd, back_end):
    # Two tasks run, and one ends: the conductor waits a moment for the other. It also waits for
    # the graph that is submitted last.
    graphs = graph_of("a", [1e8, 2e8], [(0, 1, 1e6)]), graph_of("b", [3e8]), graph_of("c", [1e8])
    done = run_on(star(3), graphs, release=[0.0, 0.0, 9.0], counts=1, trace=True, back_end=back_end)
    assert sorted(done.result.trace.label.tolist()) == ["a:t0", "a:t0->t1", "a:t1", "b:t0", "c:t0"]
    assert done.result.hosts.flops.sum() == pytest.approx(7e8)
    assert "numerical accuracy" not in capfd.readouterr().err


def test_without_a_trace_nothing_can_be_said(done):
    result = replace(done.result, trace=Trace.from_columns({}))
    with pytest.raises(WorkloadError):
        trace_violations(replace(done, result=result))
