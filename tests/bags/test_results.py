"""Executions in which results travel up instead of data down."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_trees import bags_of, restricted_instance, tree_of

from simplugin.bags.assessment import slope
from simplugin.bags.execution import execute
from simplugin.bags.policies.shipped import POLICIES
from simplugin.bags.trace_check import trace_violations
from simplugin.errors import InfeasibleError, WorkloadError
from simplugin.optimum.steady_state import steady_state
from simplugin.papers.beaumont.instances import instance


def test_dates_by_hand():
    # h1 computes in 1 s, its result travels for 2 s; h0 does nothing else but receive.
    tree, bags = tree_of([-1, 0], [0.0, 1e8], 1e6), bags_of([1e8], [2e6], 4)
    done = execute(tree, bags, POLICIES["fcfs"](tree, bags), direction="results", trace=True)
    assert done.completion[0] == pytest.approx([3.0, 5.0, 7.0, 9.0], abs=1e-3)
    assert done.port_busy == pytest.approx([8.0, 0.0], abs=1e-3)
    assert done.computed.tolist() == [[0], [4]]
    trace = done.result.trace
    ways = set(trace.resource[(trace.kind == "comm") & (trace.amount > 1e6)].tolist())
    assert ways == {"h1->h0"}


@pytest.mark.parametrize("name", POLICIES)
@settings(max_examples=8)
@given(seed=st.integers(0, 10**6), buffer=st.sampled_from([1, 4]))
def test_every_result_comes_back(name, seed, buffer):
    tree, bags = restricted_instance(seed)
    try:
        policy = POLICIES[name](tree, bags)
    except InfeasibleError:
        return
    done = execute(tree, bags, policy, buffer=buffer, direction="results", trace=True)
    assert [len(dates) for dates in done.completion] == bags.count.tolist()
    room, sides = max(buffer, bags.n_applications), {"parallel": name == "bcs"}
    assert trace_violations(done, room, bundled=name == "cgbc", **sides) == []


@pytest.mark.parametrize(("reading", "number"), [("A", 1), ("B", 3), ("C", 22)])
def test_the_optimum_is_that_of_data(reading, number):
    tree, bags = instance(reading, 2008, number)
    best = steady_state(tree, bags).fair
    for name in ("lp", "prices"):
        done = execute(tree, bags, POLICIES[name](tree, bags), direction="results")
        assert np.all(slope(done) > 0.95 * best)
        assert np.all(slope(done) < 1.05 * best)


def test_refused():
    tree, bags = tree_of([-1, 0], 1e8), bags_of([1e8], [1.0], 4)
    for how in ({"direction": "results", "failures": True}, {"direction": "up"}):
        with pytest.raises(WorkloadError, match="direction"):
            execute(tree, bags, POLICIES["fcfs"](tree, bags), **how)
