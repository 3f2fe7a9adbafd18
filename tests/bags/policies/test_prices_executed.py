"""PRICES, executed on SimGrid."""

import math
from dataclasses import replace

import numpy as np
import pytest
from small_trees import bags_of, changing, tree_of

from simplugin.bags.assessment import experimental, fair
from simplugin.bags.execution import execute
from simplugin.bags.policies.data_centric import data_centric
from simplugin.bags.policies.load_balancing import lp
from simplugin.bags.policies.prices import negotiate_prices, prices
from simplugin.optimum.steady_state import steady_state
from simplugin.papers.beaumont.instances import instance


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
    assert mine > 0.75 * policy.theory
    assert mine > gain * reached(tree, work, lp(tree, work))
    assert np.all(ours.most[1:] <= 10)


@pytest.mark.parametrize("typed", [None, False, True])
def test_requests_name_types_only_on_demand(typed):
    tree, work = instance("A", 2008, 11)
    policy = prices(tree, work, decentralised=False, **({} if typed is None else {"typed": typed}))
    assert any(plan.slots for plan in policy.plans) == bool(typed)


def test_without_the_filter_it_loses():
    tree, work = instance("A", 2008, 33)
    whole, unsifted = (reached(tree, work, prices(tree, work, sift=sift)) for sift in (True, False))
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
        float((work.count / work.weight).max()) / policy.theory / 20
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
