"""PRICES, executed on SimGrid."""

import math
from dataclasses import replace

import numpy as np
import pytest

from simplugin.bags.assessment import experimental, fair
from simplugin.bags.execution import execute
from simplugin.bags.policies.data_centric import data_centric
from simplugin.bags.policies.load_balancing import lp
from simplugin.bags.policies.prices import negotiate_prices, prices
from simplugin.optimum.steady_state import steady_state
from simplugin.papers.beaumont.instances import instance
from simplugin.platforms import Platform, Profile, ProfileUse


# On tree 2 of A, transfers of one type are so long that children run dry meanwhile.
@pytest.mark.parametrize(
    ("reading", "number", "gain"),
    [("A", 2, 1.3), ("A", 33, 0.9), ("A", 36, 0.9), ("D", 21, 0.9)],
)
@pytest.mark.parametrize("parameters", [{}, {"decentralised": False}])
def test_it_loses_little_against_the_linear_program_and_gains_where_transfers_are_long(
    reading, number, gain, parameters
):
    tree, work = instance(reading, 2008, number)
    ours = execute(tree, work, prices(tree, work, **parameters))
    rival = execute(tree, work, lp(tree, work))
    mine, other = (fair(experimental(each), work.weight) for each in (ours, rival))
    assert [len(dates) for dates in ours.completion] == [200] * work.n_applications
    assert mine > 0.75 * prices(tree, work).theory
    assert mine > gain * other
    assert np.all(ours.most[1:] <= 10)


@pytest.mark.parametrize("typed", [None, False, True])
def test_requests_name_types_only_on_demand(typed):
    tree, work = instance("A", 2008, 11)
    policy = prices(tree, work, decentralised=False, **({} if typed is None else {"typed": typed}))
    assert any(plan.slots for plan in policy.plans) == bool(typed)


def test_without_the_filter_it_loses():
    tree, work = instance("A", 2008, 33)
    whole, unsifted = (
        fair(experimental(execute(tree, work, prices(tree, work, **parameters))), work.weight)
        for parameters in ({}, {"sift": False})
    )
    assert unsifted < 0.9 * whole


@pytest.mark.parametrize("buffer", [1, 2, 3])
@pytest.mark.parametrize("typed", [True, False])
def test_the_smallest_buffers_do_not_block(buffer, typed):
    for number in (7, 8):
        tree, work = instance("C", 2008, number, count=30)
        policy = prices(tree, work, buffer=buffer, typed=typed)
        done = execute(tree, work, policy, buffer=buffer)
        assert [len(dates) for dates in done.completion] == [30] * work.n_applications
        assert np.all(done.most[1:] <= buffer)


def test_new_negotiations_follow_hosts_that_became_slow():
    tree, work = instance("A", 2008, 0)
    # Everybody believes that all hosts are as fast as ever; every fifth is not.
    slow = replace(tree, speed=np.where(np.arange(tree.n_hosts) % 5 == 1, 0.2, 1.0) * tree.speed)
    best = negotiate_prices(slow, work).fair
    reached = []
    for period in (math.inf, 200 / best / 20):
        done = execute(slow, work, prices(tree, work, period=period), known=tree)
        reached.append(fair(experimental(done), work.weight) / best)
    assert reached[0] < 0.5
    assert reached[1] > 0.9


def test_by_default_rates_follow_a_host_that_becomes_slow():
    # The optimum stays, but another one than was negotiated.
    tree, work = instance("A", 2008, 1)
    best = steady_state(tree, work)
    busy = int(np.argmax(best.compute @ work.flop))
    change = Profile.of_points("half", [(float(work.count.max() / best.fair / 4), 0.5)])
    platform = Platform(
        (*tree.platform().elements, change, ProfileUse("half", tree.hosts[busy], "SPEED"))
    )
    kept, followed = (
        fair(experimental(execute(tree, work, each, platform=platform)), work.weight) / best.fair
        for each in (prices(tree, work, period=math.inf), prices(tree, work))
    )
    assert kept < 0.7
    assert followed > 0.95


@pytest.mark.parametrize("make", [prices, data_centric])
@pytest.mark.parametrize(("reading", "number"), [("A", 7), ("C", 13), ("D", 8)])
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
    # Word and an answer on each link, and no further negotiation.
    looks, rest = divmod(more[1] - more[0], 2 * (tree.n_hosts - 1))
    assert rest == 0
    assert looks == (looked.result.clock - once.first) // policy.period


@pytest.mark.parametrize(("reading", "number"), [("A", 6), ("D", 7)])
def test_negotiating_again_and_again_costs_nothing_where_nothing_changes(reading, number):
    # Some pairs are to get less than a task between two negotiations.
    tree, work = instance(reading, 2008, number)
    policy = prices(tree, work, period=10 / negotiate_prices(tree, work).fair)
    once, often = (
        fair(experimental(execute(tree, work, each)), work.weight)
        for each in (prices(tree, work, period=math.inf), replace(policy, tolerance=-1.0))
    )
    assert often > 0.95 * once
