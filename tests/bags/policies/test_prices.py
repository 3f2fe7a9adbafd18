"""Negotiated rates: against the linear program, by whom nobody knows the tree, and on SimGrid."""

import math
from dataclasses import replace
from itertools import product

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from small_trees import assert_feasible, bags_of, changing, execute, tree_of

from simplugin.bags.assessment import experimental, fair
from simplugin.bags.policies.data_centric import data_centric
from simplugin.bags.policies.load_balancing import lp
from simplugin.bags.policies.price_negotiation import LinkFilter, NegotiationParameters
from simplugin.bags.policies.prices import negotiate_prices, prices
from simplugin.bags.policy import NodeKnowledge
from simplugin.optimum import models
from simplugin.optimum.steady_state import steady_state
from simplugin.papers.beaumont.instances import instance
from simplugin.platforms.topologies.random_graphs import random_tree

FREE = NegotiationParameters(rent=0.0)


def with_rent(tree, bags, rent):
    """Return the optimum of the fair throughput less rent times the ports' time, by a program."""
    model = models.steady_state(tree, bags)
    port = cp.sum(cp.multiply(1 / tree.bandwidth, model["sent"] @ bags.byte))
    scale = model.solve()
    best = cp.Maximize((model["fair"] - rent * port) / scale)
    return cp.Problem(best, model.problem.constraints).solve(solver=cp.HIGHS) * scale


@pytest.mark.parametrize(
    ("reading", "number"), [*product("ABCD", (1, 13, 33)), ("A", 4), ("D", 14)]
)
def test_rates_are_the_optimum_of_the_linear_program(reading, number):
    tree, bags = instance(reading, 2008, number)
    found, short = (
        negotiate_prices(tree, bags, negotiation=replace(FREE, segments=segments))
        for segments in (5, 1)
    )
    for each in (found, short):
        assert each.fair == pytest.approx(steady_state(tree, bags).fair, rel=1e-8)
        assert abs(each.gap) < 1e-9
        assert_feasible(tree, bags, each)
    assert found.rounds <= 20
    # Short answers take more rounds, as a rule.
    assert found.rounds <= short.rounds or (reading, number) != ("D", 13)


@pytest.mark.parametrize("number", [1, 7])
def test_a_rent_gives_the_optimum_of_another_program(number):
    tree, bags = instance("D", 2008, number)
    found = negotiate_prices(tree, bags, negotiation=NegotiationParameters(rent=0.05))
    free = negotiate_prices(tree, bags, negotiation=FREE)
    port, free_port = (assert_feasible(tree, bags, each).sum() for each in (found, free))
    assert port < free_port
    assert found.rent > 0
    assert free.rent == 0
    best = with_rent(tree, bags, found.rent)
    assert found.fair - found.rent * port == pytest.approx(best, rel=1e-8)


def test_a_little_rent_costs_next_to_nothing_and_saves_traffic():
    busier = 0
    for number in (2, 7, 8, 13):
        tree, bags = instance("C", 2008, number)
        free, found = negotiate_prices(tree, bags, negotiation=FREE), negotiate_prices(tree, bags)
        assert found.fair >= free.fair * (1 - 1e-3)
        port, free_port = (assert_feasible(tree, bags, each).sum() for each in (found, free))
        assert port <= free_port + 1e-9
        busier += port < free_port - 1e-6
    assert busier


@settings(max_examples=50)
@example(7, 2, 4, 4523)  # two rounds that differ by rounding only
@given(st.integers(1, 14), st.integers(1, 5), st.integers(1, 4), st.integers(0, 10**6))
def test_any_tree_and_applications(n_hosts, degree, kinds, seed):
    generator = np.random.default_rng(seed)
    tree = random_tree(n_hosts, degree, generator)
    tree.speed[:-1] *= generator.random(n_hosts - 1) < 0.7
    byte = np.exp(generator.uniform(np.log(1e5), np.log(1e11), kinds))
    byte[0] *= generator.random() < 0.5
    flop = np.exp(generator.uniform(np.log(1e8), np.log(1e12), kinds))
    bags = bags_of(flop, byte, weight=generator.uniform(0.2, 5, kinds))
    found = negotiate_prices(tree, bags, negotiation=FREE)
    assert_feasible(tree, bags, found)
    assert found.fair == pytest.approx(steady_state(tree, bags).fair, rel=1e-7)


@pytest.mark.parametrize("number", [3, 12])
def test_flows_under_the_cut_go_and_tasks_are_conserved(number):
    tree, bags = instance("C", 2008, number)
    found = negotiate_prices(tree, bags, negotiation=NegotiationParameters(cut=0.01))
    whole = negotiate_prices(tree, bags)
    small = whole.sent < 0.01 * whole.compute.sum(axis=0)
    assert np.any(whole.sent[small] > 0)
    assert np.all(found.sent[small] == 0)
    assert found.sent[0] == pytest.approx(whole.sent[0], rel=1e-12)
    passed = found.compute.copy()
    np.add.at(passed, tree.parent[1:], found.sent[1:])
    assert passed == pytest.approx(found.sent, rel=1e-12, abs=1e-12 * found.fair)


def test_a_ban_keeps_a_type_off_a_link_for_good():
    # Through the only link, of 1 byte/s, a task of b takes as long as a thousand tasks of a.
    tree, bags = tree_of([-1, 0], 1.0), bags_of([10.0, 10.0], [1.0, 1000.0])
    free = negotiate_prices(tree, bags, negotiation=FREE)
    assert free.sent[1, 1] > 0
    sifted = negotiate_prices(tree, bags, negotiation=FREE, link_filter=LinkFilter(10))
    assert sifted.negotiations == 2
    assert sifted.sent[1, 1] == 0
    # The root computes b only, the other host a only.
    assert sifted.fair == pytest.approx(0.1)
    assert sifted.compute == pytest.approx(np.array([[0.0, 0.1], [0.1, 0.0]]), abs=1e-9)


def test_bans_that_leave_a_type_no_host_are_taken_back():
    # All tasks of b cross the only link, and nine tenths of the loss is what they bring.
    tree, bags = tree_of([-1, 0], [0.0, 1.0]), bags_of([0.01] * 2, [0.01, 1000.0], 1, [100.0, 1.0])
    free = negotiate_prices(tree, bags, negotiation=FREE)
    for ban_threshold, banned in ((1.0, False), (0.8, True)):
        link_filter = LinkFilter(10, ban_threshold)
        assert (
            bool(link_filter.judge(NodeKnowledge.of(tree, bags, 0), free.plans[0].rates)[1])
            is banned
        )
        found = negotiate_prices(tree, bags, negotiation=FREE, link_filter=link_filter)
        assert found.fair == pytest.approx(free.fair)
        assert abs(found.gap) < 1e-9
        assert_feasible(tree, bags, found)


def promise(tree, bags, found, link_filter):
    """Return the fair throughput, less what long transfers will cost."""
    left = found.compute.sum(axis=0)
    for host, plan in enumerate(found.plans):
        left = left - link_filter.judge(NodeKnowledge.of(tree, bags, host), plan.rates)[0]
    return np.min(left / bags.weight)


@pytest.mark.parametrize("ban_threshold", [0.01, 1.0])
def test_bans_leave_no_less_than_there_was_without(ban_threshold):
    link_filter, more = LinkFilter(10, ban_threshold), 0
    for number in (2, 26, 33, 36):
        tree, bags = instance("A", 2008, number)
        free = negotiate_prices(tree, bags)
        found = negotiate_prices(tree, bags, link_filter=link_filter)
        gain = promise(tree, bags, found, link_filter) - promise(tree, bags, free, link_filter)
        assert gain >= -1e-9 * free.fair
        more += gain > 0.1 * free.fair
        assert_feasible(tree, bags, found)
    assert more >= 2


def reached(tree, work, policy, **how):
    """Return the fair throughput of an execution."""
    return fair(experimental(execute(tree, work, policy, **how)), work.weight)


# On tree 2 of A, transfers of one type are so long that children run dry meanwhile.
@pytest.mark.parametrize(
    ("reading", "number", "gain", "decentralised"),
    [("A", 2, 1.3, True), ("A", 36, 0.9, False), ("D", 21, 0.9, True)],
)
def test_it_loses_little_against_the_linear_program_and_gains_where_transfers_are_long(
    reading, number, gain, decentralised
):
    tree, work = instance(reading, 2008, number)
    policy = prices(tree, work, decentralised=decentralised)
    ours = execute(tree, work, policy)
    mine = fair(experimental(ours), work.weight)
    assert [len(dates) for dates in ours.completion] == [200] * work.n_applications
    assert mine > 0.75 * policy.expected_throughput
    assert mine > gain * reached(tree, work, lp(tree, work))
    assert np.all(ours.most[1:] <= 10)


@pytest.mark.parametrize("typed", [None, False, True])
def test_requests_name_types_only_on_demand(typed):
    tree, work = instance("A", 2008, 11)
    policy = prices(tree, work, decentralised=False, **({} if typed is None else {"typed": typed}))
    assert any(plan.slots for plan in policy.plans) == bool(typed)


def test_without_the_filter_it_loses():
    tree, work = instance("A", 2008, 33)
    whole, unsifted = (
        reached(tree, work, prices(tree, work, filter_links=filter_links))
        for filter_links in (True, False)
    )
    assert unsifted < 0.9 * whole


@pytest.mark.parametrize(("buffer", "typed"), [(1, True), (2, False), (3, True)])
def test_the_smallest_buffers_do_not_block(buffer, typed):
    tree, work = instance("C", 2008, 7, count=30)
    policy = prices(tree, work, buffer=buffer, typed=typed)
    done = execute(tree, work, policy, buffer=buffer)
    assert [len(dates) for dates in done.completion] == [30] * work.n_applications
    assert np.all(done.most[1:] <= buffer)


def test_by_default_rates_follow_a_host_that_becomes_slow():
    # The optimum stays, but another one than was negotiated.
    tree, work = instance("A", 2008, 1)
    best = steady_state(tree, work)
    busy = int(np.argmax(best.compute @ work.flop))
    date = work.count.max() / best.fair / 4
    platform = changing(tree, [(tree.hosts[busy], "SPEED", [(date, 0.5)])])
    kept, followed = (
        reached(tree, work, each, platform=platform)
        for each in (prices(tree, work, period=math.inf), prices(tree, work))
    )
    assert kept < 0.7 * best.fair
    assert followed > 0.95 * best.fair


@pytest.mark.parametrize("make", [prices, data_centric])
def test_nobody_waits_for_a_hopeless_link(make):
    # A message of 48 bytes takes 4.8 s to h2, a task hours.
    tree = tree_of([-1, 0, 0, 2], [1e8, 1e8, 1e8, 1e8], [1e6, 10.0, 1e6])
    work = bags_of([1e8, 2e8], [1e5, 1e4], 100)
    policy = replace(make(tree, work), period=5.0)
    slower = changing(tree, [("h1", "SPEED", [(50.0, 0.5)])])
    done = execute(tree, work, policy, platform=slower)
    assert done.first < 0.1
    assert done.computed[2:].sum() == 0
    # The others negotiate anew when h1 has become slow: by old rates, it would be 250 s.
    assert max(dates[-1] for dates in done.completion) < 215
    assert execute(tree, work, replace(policy, horizon=math.inf)).first > 100


@pytest.mark.parametrize(("make", "reading", "number"), [(data_centric, "A", 7), (prices, "D", 8)])
def test_looking_costs_nothing_where_nothing_changes(make, reading, number):
    tree, work = instance(reading, 2008, number)
    policy = make(tree, work)
    assert policy.period == pytest.approx(
        float((work.count / work.weight).max()) / policy.expected_throughput / 20
    )
    once, looked = (
        execute(tree, work, each, trace=True) for each in (replace(policy, period=math.inf), policy)
    )
    assert np.array_equal(once.computed, looked.computed)
    for before, after in zip(once.completion, looked.completion, strict=True):
        assert after == pytest.approx(before, rel=1e-6)
    more = [int((each.result.trace.label == "plan").sum()) for each in (once, looked)]
    # A word and an answer on each link, and no further negotiation.
    looks, rest = divmod(more[1] - more[0], 2 * (tree.n_hosts - 1))
    assert rest == 0
    assert looks == (looked.result.clock - once.first) // policy.period


@pytest.mark.parametrize(("reading", "number"), [("A", 6)])
def test_negotiating_again_and_again_costs_nothing_where_nothing_changes(reading, number):
    # Some pairs are to get less than a task between two negotiations.
    tree, work = instance(reading, 2008, number)
    policy = prices(tree, work, period=10 / negotiate_prices(tree, work).fair)
    once, often = (
        reached(tree, work, each)
        for each in (prices(tree, work, period=math.inf), replace(policy, tolerance=-1.0))
    )
    assert often > 0.95 * once
