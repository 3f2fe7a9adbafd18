"""DATA-CENTRIC's operations against the paper's formulas, and its rates against the optimum."""

from __future__ import annotations

import math
import pickle
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_trees import assert_feasible, bags_of, tree_of

from simplugin.bags.policies.data_centric import data_centric, trade
from simplugin.bags.policies.trading import (
    NO_OFFER,
    ORDERS,
    Offer,
    Operation,
    Question,
    Rates,
    Trader,
    choose,
    cpu_room,
    first_offers,
    next_question,
    port_room,
    pour,
    sequence,
    tradable,
)
from simplugin.bags.policy import Known
from simplugin.errors import InfeasibleError, WorkloadError
from simplugin.optimum.steady_state import steady_state
from simplugin.papers.beaumont.instances import instance
from simplugin.platforms.topologies.random_trees import random_tree

# ---- closed forms ----


def test_a_host_alone_trades_until_throughputs_per_weight_are_equal():
    work = bags_of([2.0, 5.0, 1.0], [1.0, 1.0, 3.0], weight=np.array([1.0, 2.0, 4.0]))
    found = trade(tree_of([-1], 32.0), work, balance=1e-7)
    # x (1 * 2 + 2 * 5 + 4 * 1) = 32 flop/s.
    assert found.throughput == pytest.approx([2.0, 4.0, 8.0])
    assert found.is_balanced
    assert found.operations["root"] == found.rounds - 1


def test_communication_trading_takes_no_more_than_the_node_has():
    known = Known([1.0, 0.3], [4.0, 1.0], [1.0, 1.0], 10.0, [])
    rates = Rates(known, is_root=False)
    rates.compute = [0.5, 0.0]
    # The printed minimum would let go of 9.5 / (0.3 / 1 - 1 / 4) / 4 = 47.5 tasks/s.
    assert tradable(rates, 0, 1) == 0.5 * 4.0


def choice_of(sent, throughput_of_root=(0.0, 0.0)):
    """Return what a root does that has nothing but branches with these flows."""
    known = Known([1.0, 1.0], [2.0, 1.0], [1.0, 1.0], 0.0, [3.0, 1.0, 2.0])
    rates = Rates(known, is_root=True)
    rates.sent = [[rate, 0.01] for rate in sent]
    rates.compute = list(throughput_of_root)
    return choose(rates, Question(0, 1), NO_OFFER, NO_OFFER)


def test_bus_desaturation_scales_the_slowest_branch_that_has_the_leading_type():
    assert choice_of([1.0, 1.0, 1.0]) == (Operation.SCALE, 0.9, 2)
    assert choice_of([1.0, 0.0, 1.0]) == (Operation.SCALE, 0.9, 3)
    assert choice_of([1.0, 5e-4, 1.0]) == (Operation.SCALE, 0.0, 2)
    assert choice_of([0.0, 0.0, 0.0], (1.0, 0.0)) == (Operation.ROOT, (1.0 - 0.03) / 2, 0)


def test_the_tunable_balance():
    known = Known([1.0, 1.0], [2.0, 1.0], [1.0, 2.0], 10.0, [])
    assert next_question(known, [1.04, 2.0], 0.05) is None
    assert next_question(known, [1.06, 2.0], 0.05) == (0, 1)
    assert next_question(known, [1.0, 2.12], 0.05) == (1, 0)
    assert next_question(known, [1.0, 0.0], 0.05) == (0, 1)


def test_who_comes_first():
    bandwidth = [2.0, 9.0, 2.0]
    assert [sequence(bandwidth, order) for order in ORDERS] == [
        (0, 2, 1, 3),
        (0, 1, 2, 3),
        (1, 3, 2, 0),
    ]
    below = [Offer(2, 1.0), Offer(1, 1.0), NO_OFFER]
    assert first_offers(0.0, below, "breadth") == (2, [0, 0, 1, 0])
    assert first_offers(3.0, below, "breadth") == (0, [3, 0, 0, 0])
    assert first_offers(3.0, below, "fast") == (0, [3, 1, 1, 0])
    assert pour(5.0, [1.0, 3.0, 9.0], [0.0, 0.5, 0.25], 2.0, (0, 1, 2)) == [1.0, 3.0, 1.0]
    assert pour(9.0, [1.0, 3.0, 9.0], [0.0, 0.5, math.inf], 1.0, (2, 1, 0)) == [1.0, 2.0, 0.0]


# ---- any tree ----


@st.composite
def scenes(draw):
    """Trees and applications of all kinds: hosts without a speed, tasks without data, weights."""
    seed = draw(st.integers(0, 10**6))
    generator = np.random.default_rng(seed)
    tree = random_tree(
        draw(st.integers(1, 12)),
        draw(st.integers(1, 4)),
        generator,
        root_computes=draw(st.booleans()),
    )
    tree.speed[1:] *= generator.random(tree.n_hosts - 1) < draw(st.sampled_from([0.5, 1.0]))
    types = draw(st.integers(1, 4))
    byte = 8e9 * 10 ** generator.uniform(-3, 1, types)
    byte[generator.random(types) < draw(st.sampled_from([0.0, 0.3]))] = 0.0
    flop = 8e10 * 10 ** generator.uniform(-1, 1, types)
    return tree, bags_of(flop, byte, weight=generator.integers(1, 4, types).astype(float))


@settings(max_examples=30)
@given(scenes(), st.sampled_from(ORDERS), st.integers(1, 40))
def test_rates_are_feasible_after_each_operation_and_it_ends(scene, order, limit):
    tree, work = scene
    if not np.any(tree.speed > 0):
        with pytest.raises(InfeasibleError, match=r"no host of the tree .* computes"):
            trade(tree, work)
        return
    found = trade(tree, work, order=order, limit=limit)
    assert_feasible(tree, work, found)
    assert found.throughput == pytest.approx(found.compute.sum(axis=0), rel=1e-9)
    assert found.rounds <= limit
    assert found.stopped in ("balanced", "stuck", "limit")
    assert found.fair <= steady_state(tree, work).fair * (1 + 1e-6)
    level = found.throughput / work.weight
    assert found.is_balanced == (level.max() == level.min() or np.ptp(level) < 0.05 * level.min())
    assert trade(tree, work, order=order, balance=0.01).stopped in ("balanced", "stuck")


# ---- against the optimum ----


def shortfalls(order, readings):
    """Return the optimum over the fair throughput of each of some instances."""
    found = []
    for reading, number in product(readings, range(0, 30, 4)):
        tree, work = instance(reading, 2008, number)
        traded = trade(tree, work, order=order)
        assert traded.is_balanced
        found.append(steady_state(tree, work).fair / traded.fair)
    assert min(found) > 1 - 1e-6
    return np.array(found)


def test_it_is_near_the_optimum_on_most_trees():
    ratio = shortfalls("fast", "ABCD")
    assert np.exp(np.log(ratio).mean()) < 1.08
    assert np.mean(ratio < 1.05) > 0.6
    assert ratio.max() < 2.5


def test_the_order_of_nodes_decides():
    fast, breadth, slow = (np.log(shortfalls(order, "C")).mean() for order in ORDERS)
    assert fast < breadth < slow
    assert np.exp(slow) > 1.3


# ---- the policy ----


def test_the_policy_knows_what_to_expect():
    tree, work = instance("A", 2008, 7)
    traded = trade(tree, work)
    told = data_centric(tree, work, decentralised=False)
    assert told.planner is None
    assert told.theory == traded.fair
    for host, plan in enumerate(told.plans):
        rows = np.array([traded.compute[host], *traded.sent[list(tree.children[host])]])
        assert np.array_equal(plan.rates, rows)
    policy = data_centric(tree, work, period=100.0)
    assert policy.planner is not None
    assert (policy.period, policy.plans, policy.theory) == (100.0, (), traded.fair)
    assert pickle.loads(pickle.dumps(policy)).theory == traded.fair


def test_a_tree_that_can_do_nothing_is_stuck():
    known = Known([1.0, 1.0], [1.0, 2.0], [1.0, 1.0], 0.0, [])
    node = Trader(known, is_root=True, balance=0.1, order="fast", limit=9)
    assert (node.begin(), node.stopped) == ([], "stuck")


@pytest.mark.parametrize("wrong", [{"balance": 0.0}, {"order": "deep"}, {"limit": 0}])
def test_wrong_parameters(wrong):
    [(name, value)] = wrong.items()
    with pytest.raises(WorkloadError, match=rf"{name} is {value!r}; give"):
        data_centric(tree_of([-1], 1.0), bags_of([1.0], [1.0]), **wrong)


def test_rooms_are_free_of_rounding():
    known = Known([3.0], [1.0], [1.0], 1.0, [1.0, 0.0])
    rates = Rates(known, is_root=True)
    rates.compute, rates.sent = [(1 - 1e-12) / 3], [[1 - 1e-12], [0.0]]
    assert (cpu_room(rates), port_room(rates)) == (0.0, 0.0)
    rates.sent[0][0] = 0.75
    assert port_room(rates) == 0.25
