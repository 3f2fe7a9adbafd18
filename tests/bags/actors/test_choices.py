"""Choices of nodes: the policy's pair first, then all others that can be served."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_trees import bags_of, execute, restricted_instance, tree_of

from simplugin.bags import POLICIES, BagPolicy, servable
from simplugin.bags.execution import last_completion
from simplugin.simulation import Rollout


def scene(seed, count=8):
    """Return a small random tree and two bags."""
    rng = np.random.default_rng(seed)
    hosts = int(rng.integers(2, 5))
    parent = [-1, *(int(rng.integers(host)) for host in range(1, hosts))]
    speed, width = rng.uniform(0.5, 2, hosts) * 1e9, rng.uniform(1e6, 1e7, hosts - 1)
    bags = bags_of(rng.uniform(1e8, 1e9, 2), rng.uniform(1e5, 3e6, 2), count, np.array([1.0, 2.0]))
    return tree_of(parent, speed, width), bags


def same(one, other):
    return all(map(np.array_equal, one.completion, other.completion)) and np.array_equal(
        one.computed, other.computed
    )


@settings(max_examples=20)
@given(
    seed=st.integers(0, 10**6),
    name=st.sampled_from(sorted(POLICIES)),
    conditions=st.sampled_from(
        [{}, {"failures": True}, {"direction": "results"}, {"free_requests": True}]
    ),
)
def test_the_first_option_is_the_policy_itself(seed, name, conditions):
    tree, bags = restricted_instance(seed, most=5) if seed % 2 else scene(seed, 30)
    if seed % 2 and name in ("cgbc", "bcs", "fcfs"):
        name = "lag"
    policy = POLICIES[name](tree, bags)
    alone, asked = (
        execute(tree, bags, policy, choices=each, **conditions) for each in (False, True)
    )
    assert same(alone, asked)
    assert not alone.result.choices
    assert {each.label for each in asked.result.choices} <= set(tree.hosts)
    last = max(each[-1] for each in alone.completion)
    assert last_completion(alone.result) == last_completion(asked.result) == last


def test_threads_offer_the_same_choices():
    tree, bags = (
        tree_of([-1, 0, 0], [1e9, 2e9, 1e9], [2e6, 1e6]),
        bags_of([3e8, 5e8], [1e5, 2e5], 9),
    )
    one, other = (
        execute(tree, bags, POLICIES["lag"](tree, bags), choices=True, back_end=back_end)
        for back_end in ("coroutines", "threads")
    )
    assert len(one.result.choices) > 9
    assert [each[1:] for each in one.result.choices] == [each[1:] for each in other.result.choices]
    assert np.array_equal(one.computed, other.computed)


@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), name=st.sampled_from(sorted(POLICIES)))
def test_all_that_can_be_served_may_be_chosen(seed, name):
    tree, bags = scene(seed)
    policy = POLICIES[name](tree, bags)

    def chooser(choice):
        own = policy.decide(choice.observation)
        assert choice.options[0] == own
        pairs = list(servable(choice.observation))
        assert sorted(choice.options[1:]) == sorted(pair for pair in pairs if pair != own)
        return (seed + 5 * choice.number) % len(choice.options)

    done = execute(tree, bags, policy, choices=True, chooser=chooser)
    assert done.computed.sum(axis=0).tolist() == bags.count.tolist()


@settings(max_examples=8)
@given(seed=st.integers(0, 10**6), name=st.sampled_from(["lag", "fcfs"]))
def test_rollouts_are_never_worse(seed, name):
    tree, bags = scene(seed, 4)
    policy = POLICIES[name](tree, bags)
    chooser = Rollout(metric=last_completion, workers=1)
    done = execute(tree, bags, policy, choices=True, chooser=chooser)
    base = execute(tree, bags, policy)
    assert last_completion(done.result) <= last_completion(base.result)
    assert done.result.branches >= len(done.result.choices)


def test_a_rollout_finds_what_a_policy_misses():
    # Two tasks of 10 s: the policy keeps both at the root, its child could compute one of them.
    tree = tree_of([-1, 0], [1e9, 1e9], 1e9)
    bags = bags_of([1e10], [1.0], [2])

    def keeps(state):
        return next((pair for pair in servable(state) if not (state.is_root and pair[0])), None)

    policy = BagPolicy("keeps", keeps)
    assert execute(tree, bags, policy).completion[0].tolist() == pytest.approx([10, 20])
    found = execute(tree, bags, policy, choices=True, chooser=Rollout(metric=last_completion))
    assert found.completion[0].tolist() == pytest.approx([10, 10], rel=1e-5)
