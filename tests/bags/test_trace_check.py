"""Traces of shipped policies on instances of the campaign, and traces that were tampered with."""

from dataclasses import replace

import numpy as np
import pytest

from simplugin.bags.execution import execute
from simplugin.bags.policies.shipped import POLICIES
from simplugin.bags.trace_check import trace_violations
from simplugin.papers.beaumont.instances import SEEDS, instance
from simplugin.papers.beaumont.own_policies import violations_of

BUFFER = 10


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(("reading", "number"), [("B", 5), ("C", 6)])
def test_campaign_keeps_within_the_model(reading, number, policy):
    assert violations_of(reading, number, policy, count=40) == []


@pytest.fixture(scope="module")
def done():
    tree, bags = instance("B", SEEDS[0], 6, count=20)
    found = execute(tree, bags, POLICIES["cgbc"](tree, bags), trace=True)
    fine = execute(tree, bags, POLICIES["fcfs"](tree, bags), trace=True)
    assert trace_violations(found, BUFFER, bundled=True) == trace_violations(fine, BUFFER) == []
    return fine


def tampered(done, kind, row, **columns):
    """Return the violations after something was changed of a row of a kind, by order of start."""
    trace = done.result.trace
    chosen = np.flatnonzero((trace.kind == kind) & (trace.label != "request"))
    place = chosen[np.argsort(trace.start[chosen], kind="stable")[row]]
    changed = {name: np.array(getattr(trace, name)) for name in columns}
    for name, value in columns.items():
        changed[name][place] = value
    result = replace(done.result, trace=replace(trace, **changed))
    return trace_violations(replace(done, result=result), BUFFER)


def test_what_is_used_before_it_arrives_or_not_computed_is_seen(done):
    assert any("that has not arrived" in each for each in tampered(done, "exec", 0, start=0.0))
    failed = "\n".join(tampered(done, "exec", 5, state_code=1))
    assert "are computed, not 20" in failed
    assert "flop, not" in failed


def test_two_at_a_time_and_full_buffers_are_seen(done):
    longer = tampered(done, "exec", 0, end=done.result.clock)
    assert any("computes two tasks" in each for each in longer)
    tree, bags = done.tree, done.bags
    small = execute(tree, bags, POLICIES["lp"](tree, bags), buffer=3, trace=True)
    assert trace_violations(small, 3) == []
    assert any("holds 3 tasks, not 2" in each for each in trace_violations(small, 2))


def test_what_is_too_fast_is_seen(done):
    tree = done.tree
    slow = replace(done, tree=replace(tree, speed=tree.speed / 2))
    found = trace_violations(slow, BUFFER)
    assert any("computes a task too fast" in each for each in found)
    assert any("computes in" in each for each in found)
    narrow = replace(done, tree=replace(tree, bandwidth=tree.bandwidth / 2))
    found = trace_violations(narrow, BUFFER)
    assert any("too fast" in each for each in found)
    assert any("sends in" in each for each in found)


def test_side_by_side_is_not_more_than_a_port_has(done):
    # Two transfers at the same time, each at the full bandwidth: none of them is too fast.
    trace = done.result.trace
    sends = np.flatnonzero((trace.kind == "comm") & (trace.label == "task"))
    start, end = np.array(trace.start), np.array(trace.end)
    later = sends[trace.resource[sends] == trace.resource[sends[0]]][1]
    length = end[later] - start[later]
    start[later], end[later] = start[sends[0]], start[sends[0]] + length
    result = replace(done.result, trace=replace(trace, start=start, end=end))
    found = trace_violations(replace(done, result=result), BUFFER, parallel=True)
    assert any("sends in" in each for each in found)
    assert not any("too fast" in each for each in found)
