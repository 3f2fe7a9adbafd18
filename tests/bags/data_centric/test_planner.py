"""DATA-CENTRIC's negotiation on SimGrid: the same rates, by messages between neighbours only."""

from __future__ import annotations

import json
import math
import pickle
import subprocess
import sys
from collections import deque
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from simplugin.bags.policies.data_centric.planner import SIZE, data_centric_planner

from simplugin.bags.assessment import experimental, fair, slope
from simplugin.bags.execution import execute
from simplugin.bags.policies.data_centric import data_centric, roles, trade
from simplugin.bags.policy import Known, Place
from simplugin.papers.beaumont.instances import instance
from simplugin.platforms import Platform
from simplugin.platforms.graphs import Tree
from simplugin.platforms.profiles import Profile, ProfileUse
from simplugin.simulation import SimGridOptions, simulate
from simplugin.workloads.applications import Bags

CASES = [
    ("A", 7, "fast"),
    ("A", 11, "breadth"),
    ("C", 6, "slow"),
    ("D", 8, "fast"),
    ("A", 5, "fast"),
]


def places(tree):
    """Return the place of each host."""
    return [
        Place(
            name,
            tree.hosts[parent] if parent >= 0 else None,
            tuple(tree.hosts[child] for child in children),
        )
        for name, parent, children in zip(
            tree.hosts, tree.parent.tolist(), tree.children, strict=True
        )
    ]


def known(tree, work):
    """Return what each host knows."""
    return [
        Known(
            work.flop.tolist(),
            work.byte.tolist(),
            work.weight.tolist(),
            float(tree.speed[host]),
            tree.bandwidth[list(tree.children[host])].tolist(),
        )
        for host in range(tree.n_hosts)
    ]


async def plan(me, planner, place, each):
    """Negotiate once for each thing known, again and again."""
    plans = []
    for now in each:
        plans.append(await planner(me, place, now))
        if place.parent is None:
            await me.sleep_for(10.0)
    return plans


def negotiated(tree, work, order, *measured):
    """Return the plans of each round of negotiations, and the simulation's result."""
    planner = partial(data_centric_planner, balance=0.05, order=order, limit=2000)
    knowledge = list(zip(*(known(each, work) for each in measured), strict=True))
    actors = [
        (place.name, plan, planner, place, each)
        for place, each in zip(places(tree), knowledge, strict=True)
    ]
    result = simulate(tree.platform(), actors, options=SimGridOptions.linear())
    return list(zip(*(each.value for each in result.returned), strict=True)), result


def assert_same(plans, traded):
    """All nodes have the rates of the pure iteration."""
    scale = 1e-9 * traded.throughput.max()
    for one, other in zip(plans, traded.plans, strict=True):
        assert np.array(one.rates) == pytest.approx(np.array(other.rates), rel=1e-9, abs=scale)
        assert one.slots == ()


@pytest.mark.parametrize(("reading", "number", "order"), CASES)
def test_rates_are_those_of_the_pure_iteration(reading, number, order):
    tree, work = instance(reading, 2008, number)
    (plans,), result = negotiated(tree, work, order, tree)
    traded = trade(tree, work, order=order)
    assert traded.rounds > 1
    assert_same(plans, traded)
    # Each message crosses one link.
    assert result.links.bytes.sum() == pytest.approx(SIZE * traded.messages)


def test_nodes_negotiate_anew_with_what_they_have_measured():
    tree, work = instance("A", 2008, 7)
    generator = np.random.default_rng(1)
    others = [
        replace(
            tree,
            speed=tree.speed * generator.uniform(0.3, 1, tree.n_hosts),
            bandwidth=tree.bandwidth * generator.uniform(0.3, 1, tree.n_hosts),
        )
        for _ in range(2)
    ]
    trees = [tree, *others, tree]
    rounds, _ = negotiated(tree, work, "fast", *trees)
    found = [trade(each, work) for each in trees]
    assert len({each.fair for each in found}) == 3
    for plans, traded in zip(rounds, found, strict=True):
        assert_same(plans, traded)


# ---- who knows what ----


def steps(tree, work, order="fast"):
    """Yield each decision: step, host, state before (pickled), source, message, state, posts.

    A message posted in a step is heard in the next one.
    """
    parents = tree.parent.tolist()
    place = {child: at for row in tree.children for at, child in enumerate(row, 1)}
    states = [
        roles.new_trader(each, host == 0, balance=0.05, order=order, limit=2000)
        for host, each in enumerate(known(tree, work))
    ]
    before = pickle.dumps(states[0])
    _, posts = roles.opens(states[0])
    yield 0, 0, before, None, None, states[0], posts
    waiting = deque((1, 0, *post) for post in posts)
    while waiting:
        step, sender, target, message = waiting.popleft()
        if target == roles.PARENT:
            host, source = parents[sender], place[sender]
        else:
            host, source = tree.children[sender][target - 1], roles.PARENT
        before = pickle.dumps(states[host])
        states[host], posts = roles.decides(states[host], source, message)
        yield step, host, before, source, message, states[host], posts
        waiting.extend((step + 1, host, *post) for post in posts)


ALONE = """
import json, pickle, sys
from simplugin.bags.policies.data_centric import roles
wrong = 0
for before, source, message, after in pickle.load(sys.stdin.buffer):
    state = pickle.loads(before)
    found = roles.opens(state) if source is None else roles.decides(state, source, message)
    wrong += found != pickle.loads(after)
json.dump(wrong, sys.stdout)
"""


def decisions_that_need_more(records):
    """Return how many decisions come out otherwise in a process of their own, in any order."""
    order = np.random.default_rng(0).permutation(len(records))
    run = subprocess.run(
        [sys.executable, "-c", ALONE],
        input=pickle.dumps([records[i] for i in order]),
        capture_output=True,
        check=True,
        timeout=600,
    )
    return json.loads(run.stdout)


def record(tree, work):
    """Return each decision, so that a fresh process can make it again."""
    return [
        (before, source, message, pickle.dumps((state, posts)))
        for _, _, before, source, message, state, posts in steps(tree, work)
    ]


@pytest.mark.parametrize("number", [3, 8])
def test_decisions_need_only_their_state_and_message(number):
    records = record(*instance("A", 2008, number))
    assert len(records) > 50
    assert decisions_that_need_more(records) == 0


def test_a_decision_that_looks_elsewhere_is_found_out(monkeypatch):
    honest, seen = roles.fillable, []

    def peeking(rates, low):
        seen.append(honest(rates, low))
        return max(seen)

    monkeypatch.setattr(roles, "fillable", peeking)
    assert decisions_that_need_more(record(*instance("A", 2008, 7))) > 0


def test_a_speed_is_news_no_earlier_than_messages_travel():
    tree, work = instance("A", 2008, 3)
    leaf = int(np.argmax(tree.depth))
    speed = tree.speed.copy()
    speed[leaf] *= 3.0
    seen, other = (
        {(step, host): posts for step, host, *_, posts in steps(each, work)}
        for each in (tree, replace(tree, speed=speed))
    )
    distance = {leaf: 0}
    queue = [leaf]
    for host in queue:
        for near in (int(tree.parent[host]), *tree.children[host]):
            if near >= 0 and near not in distance:
                distance[near] = distance[host] + 1
                queue.append(near)
    heard = tree.depth[leaf]
    reached = set()
    for step, host in seen.keys() | other.keys():
        if seen.get((step, host)) != other.get((step, host)):
            assert step >= heard + distance[host]
            reached.add(host)
    assert max(distance[host] for host in reached) >= 2


# ---- executed ----


@pytest.mark.parametrize(("reading", "number"), [("A", 7), ("A", 11), ("C", 3), ("D", 8)])
def test_it_has_the_throughput_that_it_expects(reading, number):
    tree, work = instance(reading, 2008, number)
    policy = data_centric(tree, work)
    execution = execute(tree, work, policy)
    assert [len(dates) for dates in execution.completion] == work.count.tolist()
    assert fair(experimental(execution), work.weight) == pytest.approx(policy.theory, rel=0.15)


def test_told_rates_and_negotiated_ones_are_executed_alike():
    tree, work = instance("A", 2008, 7)
    told, negotiated = (
        execute(tree, work, data_centric(tree, work, decentralised=each)) for each in (False, True)
    )
    # Nothing differs but that the negotiation takes some milliseconds per message.
    assert 0 < negotiated.first - told.first < 1.0
    assert np.abs(negotiated.computed - told.computed).max() <= 3


def test_it_follows_a_bandwidth():
    tree = Tree(("r", "a", "b"), [-1, 0, 0], [1e6, 1e8, 1e8], [math.inf, 4e6, 2e6], [0.0, 0.0, 0.0])
    work = Bags(("x", "y"), [1e9, 1e9], [2e6, 2e7], 1.0, 400)
    slower = replace(tree, bandwidth=[math.inf, 2e5, 2e6])
    # After 1500 s, the link to a has a twentieth of its bandwidth.
    change = Profile.of_points("falls", [(1500.0, 2e5)])
    use = ProfileUse("falls", tree.graph().links[0], "BANDWIDTH")
    platform = Platform((*tree.platform().elements, change, use))
    kept, followed = (
        slope(execute(tree, work, data_centric(tree, work, period=period), platform=platform))
        for period in (math.inf, None)
    )
    expected = trade(slower, work).fair
    assert kept.min() < 0.5 * expected
    assert expected < followed.min() < trade(tree, work).fair
