"""Executions where some hosts may not compute some applications."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_trees import bags_of, restricted_instance, tree_of

from simplugin.bags.assessment import slope
from simplugin.bags.execution import execute
from simplugin.bags.periodic import periodic_schedule
from simplugin.bags.policies.prices import negotiate_prices
from simplugin.bags.policies.shipped import POLICIES
from simplugin.bags.policy import Policy, servable
from simplugin.bags.trace_check import trace_violations
from simplugin.errors import InfeasibleError, WorkloadError
from simplugin.optimum.steady_state import steady_state


def is_bundle_possible(tree, bags):
    return any(
        speed > 0 and all(bags.may_compute(name))
        for name, speed in zip(tree.hosts, tree.speed, strict=True)
    )


@pytest.mark.parametrize("name", POLICIES)
@settings(max_examples=12)
@given(seed=st.integers(0, 10**6), buffer=st.sampled_from([1, 3, 10]))
def test_every_task_is_computed_where_it_may(name, seed, buffer):
    tree, bags = restricted_instance(seed)
    if name == "cgbc" and not is_bundle_possible(tree, bags):
        with pytest.raises(InfeasibleError, match="may compute all of 'a'"):
            POLICIES[name](tree, bags)
        return
    done = execute(tree, bags, POLICIES[name](tree, bags), buffer=buffer, trace=True)
    assert done.computed.sum(axis=0).tolist() == bags.count.tolist()
    # Each type has one slot at least.
    room = max(buffer, bags.n_applications)
    sides = {"parallel": name == "bcs", "bundled": name == "cgbc"}
    assert trace_violations(done, room, **sides) == []
