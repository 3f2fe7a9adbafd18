"""Negotiations between neighbours: on SimGrid, and by their decisions alone."""

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

from simplugin.bags.actors.planning import negotiate
from simplugin.bags.policies import price_negotiation, trading
from simplugin.bags.policies.data_centric import trade
from simplugin.bags.policies.price_curves import Posted
from simplugin.bags.policies.price_negotiation import Offer, Sieve, Terms
from simplugin.bags.policies.prices import negotiate_prices, negotiator
from simplugin.bags.policies.trading import Trader
from simplugin.bags.policy import PARENT, Known, Place, message_size
from simplugin.papers.beaumont.instances import instance
from simplugin.platforms.graphs import Tree
from simplugin.simulation import SimGridOptions, simulate
from simplugin.workloads.applications import Bags

SIEVE = Sieve(10)
trader = partial(Trader, balance=0.05, limit=2000)
MAKERS = {
    "trading": partial(trader, order="fast"),
    "prices": partial(negotiator, sieve=SIEVE),
    "prices without bans": negotiator,
}


def places(tree):
    """Return the place of each host."""
    names = tree.hosts
    return [
        Place(name, names[parent] if parent >= 0 else None, tuple(names[each] for each in below))
        for name, parent, below in zip(names, tree.parent.tolist(), tree.children, strict=True)
    ]


async def agree(me, make, place, each):
    """Negotiate once for each knowledge, again and again."""
    found = []
    for known in each:
        found.append(await negotiate(me, place, make(known, is_root=place.parent is None)))
        if place.parent is None:
            # What the root ends with is the last message: wait for it to arrive everywhere.
            await me.sleep_for(10.0)
    return found


def negotiated(make, work, *trees):
    """Return the results of the nodes after each negotiation, and that of the simulation."""
    first = trees[0]
    actors = [
        (place.name, agree, make, place, [Known.of(tree, work, host) for tree in trees])
        for host, place in enumerate(places(first))
    ]
    result = simulate(first.platform(), actors, options=SimGridOptions.linear())
    return list(zip(*(each.value for each in result.returned), strict=True)), result


def assert_same(nodes, plans):
    """All nodes have the rates of the negotiation without a simulation."""
    scale = 1e-9 * max(max(row) for rates in plans for row in rates)
    for node, rates in zip(nodes, plans, strict=True):
        assert np.array(node.plan.rates) == pytest.approx(np.array(rates), rel=1e-9, abs=scale)
        assert node.plan.slots == ()


@pytest.mark.parametrize(
    ("reading", "number"), [("A", 7), ("A", 36), ("C", 12), ("D", 8), ("B", 3)]
)
@pytest.mark.parametrize("sieve", [None, SIEVE])
def test_prices_on_simgrid_give_the_rates_of_the_pure_negotiation(reading, number, sieve):
    tree, work = instance(reading, 2008, number)
    (nodes,), result = negotiated(partial(negotiator, sieve=sieve), work, tree)
    found = negotiate_prices(tree, work, sieve=sieve)
    assert_same(nodes, found.rates)
    assert {each.node.sweeps for each in nodes} == {found.rounds}
    # Each message crosses one link; each link carries two in a round, and a few at the end.
    assert result.links.bytes.sum() == pytest.approx(sum(each.bytes for each in nodes))
    ends = 1 if sieve is None else 2 * found.negotiations + 1
    links = tree.n_hosts - 1
    assert sum(each.messages for each in nodes) == links * (2 * found.rounds + ends)
    # It is over before a thousandth of the run.
    assert 0 < nodes[0].duration < 1e-3 * 200 / found.fair


@pytest.mark.parametrize(
    ("reading", "number", "order"),
    [("A", 7, "fast"), ("A", 11, "breadth"), ("C", 6, "slow"), ("D", 8, "fast"), ("A", 5, "fast")],
)
def test_trading_on_simgrid_gives_the_rates_of_the_pure_iteration(reading, number, order):
    tree, work = instance(reading, 2008, number)
    (nodes,), result = negotiated(partial(trader, order=order), work, tree)
    traded = trade(tree, work, order=order)
    assert traded.rounds > 1
    assert_same(nodes, [each.rates for each in traded.plans])
    # Each message crosses one link, and has four numbers.
    assert sum(each.messages for each in nodes) == traded.messages
    assert result.links.bytes.sum() == pytest.approx(message_size(4) * traded.messages)


def test_a_tree_where_bans_need_several_negotiations_is_among_them():
    tree, work = instance("A", 2008, 36)
    assert negotiate_prices(tree, work, sieve=SIEVE).negotiations > 1


def test_a_message_takes_as_long_as_its_link_says():
    tree = Tree(tuple("rs"), [-1, 0], [1.0, 1.0], [math.inf, 100.0], [0.0, 0.5])
    work = Bags(("a",), [1.0], [1.0], [1.0], [1])
    ((root, leaf),), _ = negotiated(negotiator, work, tree)
    # A round down: 5 numbers; up: idleness and the busy CPU, 3 numbers each, and a loss. At the
    # end: a share of each of them that counts, of 3 numbers; 2 of the type, and if it is all.
    rounds = root.node.sweeps
    assert (leaf.node.sweeps, leaf.messages) == (rounds, rounds)
    assert leaf.bytes == rounds * (40 + 8 * 7)
    shares = (root.bytes - rounds * (40 + 8 * 5) - (40 + 8 * 3)) / 24
    assert shares == 1
    lasts = (2 * rounds + 1) * 0.5 + (root.bytes + leaf.bytes) / 100
    assert root.duration == pytest.approx(lasts)


@pytest.mark.parametrize("name", ["trading", "prices"])
def test_nodes_negotiate_anew_with_new_measurements(name):
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
    rounds, _ = negotiated(MAKERS[name], work, *trees)
    if name == "prices":
        found = [negotiate_prices(each, work, sieve=SIEVE).rates for each in trees]
    else:
        found = [[plan.rates for plan in trade(each, work).plans] for each in trees]
    assert found[0] == found[3] != found[1]
    for nodes, rates in zip(rounds, found, strict=True):
        assert_same(nodes, rates)


# ---- knowledge of nodes ----


def steps(make, tree, work):
    """Yield each decision: step, host, node before (pickled), source, message, node, posts.

    A message posted in a step is heard in the next one.
    """
    place = {child: at for row in tree.children for at, child in enumerate(row, 1)}
    nodes = [make(Known.of(tree, work, host), is_root=host == 0) for host in range(tree.n_hosts)]
    before = pickle.dumps(nodes[0])
    posts = nodes[0].begin()
    yield 0, 0, before, None, None, nodes[0], posts
    waiting = deque((1, 0, *post) for post in posts)
    while waiting:
        step, sender, target, message = waiting.popleft()
        if target == PARENT:
            host, source = int(tree.parent[sender]), place[sender]
        else:
            host, source = tree.children[sender][target - 1], PARENT
        before = pickle.dumps(nodes[host])
        posts = nodes[host].hear(source, message)
        yield step, host, before, source, message, nodes[host], posts
        waiting.extend((step + 1, host, *post) for post in posts)
    assert all(node.plan is not None for node in nodes)


ALONE = """
import json, pickle, sys
wrong = 0
for before, source, message, after in pickle.load(sys.stdin.buffer):
    node = pickle.loads(before)
    posts = node.begin() if source is None else node.hear(source, message)
    wrong += repr((vars(node), posts)) != after
json.dump(wrong, sys.stdout)
"""


def decisions_that_need_more(make, tree, work):
    """Return the number of decisions, and of those that differ in a process of their own."""
    records = [
        (before, source, message, repr((vars(node), posts)))
        for _, _, before, source, message, node, posts in steps(make, tree, work)
    ]
    # In any order: nothing else can have been read.
    order = np.random.default_rng(0).permutation(len(records))
    run = subprocess.run(
        [sys.executable, "-c", ALONE],
        input=pickle.dumps([records[i] for i in order]),
        capture_output=True,
        check=True,
        timeout=600,
    )
    return len(records), json.loads(run.stdout)


@pytest.mark.parametrize(
    ("name", "reading", "number"),
    [
        ("trading", "A", 3),
        ("trading", "A", 8),
        ("prices", "A", 36),
        ("prices without bans", "D", 12),
    ],
)
def test_decisions_follow_from_a_node_and_its_messages_alone(name, reading, number):
    count, wrong = decisions_that_need_more(MAKERS[name], *instance(reading, 2008, number))
    assert count > 50
    assert wrong == 0


@pytest.mark.parametrize(
    ("name", "module", "function"),
    [("trading", trading, "fillable"), ("prices", price_negotiation, "worker_points")],
)
def test_a_decision_that_looks_elsewhere_is_noticed(monkeypatch, name, module, function):
    honest, seen = getattr(module, function), []

    def peeking(first, *rest):
        seen.append(first.known.speed if name == "trading" else first)
        if name == "trading":
            return honest(first, *rest) + 1e-3 * len(seen)
        return honest(max(seen), *rest)

    monkeypatch.setattr(module, function, peeking)
    assert decisions_that_need_more(MAKERS[name], *instance("A", 2008, 7))[1] > 0


def distances(tree, start):
    """Return the number of links between a host and each."""
    distance, queue = {start: 0}, [start]
    for host in queue:
        for near in (int(tree.parent[host]), *tree.children[host]):
            if near >= 0 and near not in distance:
                distance[near] = distance[host] + 1
                queue.append(near)
    return distance


def news_is_early(make, tree, work):
    """Return how far the speed of a leaf becomes known, and the hosts that know it too early."""
    leaf = int(np.argmax(tree.depth))
    speed = tree.speed.copy()
    speed[leaf] *= 3.0
    seen, other = (
        {
            (step, host, source): posts
            for step, host, _, source, *_, posts in steps(make, each, work)
        }
        for each in (tree, replace(tree, speed=speed))
    )
    # The leaf has something to say when it first hears a message, and no earlier.
    way, heard = distances(tree, leaf), tree.depth[leaf]
    differ = {
        (step, host)
        for step, host, source in seen.keys() | other.keys()
        if seen.get((step, host, source)) != other.get((step, host, source))
    }
    early = {host for step, host in differ if step < heard + way[host]}
    return max(way[host] for _, host in differ), early


@pytest.mark.parametrize("name", ["trading", "prices"])
def test_a_speed_is_news_no_earlier_than_messages_travel(name):
    reached, early = news_is_early(MAKERS[name], *instance("A", 2008, 3))
    assert reached >= 2
    assert not early


def test_news_that_no_message_carried_is_noticed(monkeypatch):
    honest = Known.of

    def peeking(tree, work, host):
        # A node that only distributes believes in a CPU as fast as all others together.
        known = honest(tree, work, host)
        return replace(known, speed=known.speed or float(tree.speed.sum()))

    monkeypatch.setattr(Known, "of", peeking)
    # The root of D only distributes, and posts its first prices by its CPU.
    assert news_is_early(MAKERS["prices"], *instance("D", 2008, 3))[1]


def test_of_links_a_node_learns_that_from_its_parent_only():
    tree, work = instance("A", 2008, 36)
    capacities = {float(x) for x in (*tree.speed, *tree.bandwidth) if math.isfinite(x)}
    posted = 0
    for _, host, _, _, message, _, posts in steps(MAKERS["prices"], tree, work):
        if isinstance(message, Posted):
            posted += 1
            assert message.most == tree.bandwidth[host]
            assert not capacities & {*message.prices, message.rent}
        for _, sent in posts:
            if isinstance(sent, Offer):
                assert not capacities & {number for point in sent.points for number in point[1:]}
                assert len(sent.points) <= Terms().segments * 4 + 1
            assert message_size(sent.numbers) < 1500
    assert posted > tree.n_hosts
