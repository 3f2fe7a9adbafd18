"""Negotiations between neighbours: on SimGrid, and by their decisions alone."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import replace
from functools import partial

import networkx as nx
import numpy as np
import pytest
from small_trees import bags_of, tree_of

from simplugin.bags.actors.planning import negotiate
from simplugin.bags.policies.data_centric import trade
from simplugin.bags.policies.price_curves import Posted
from simplugin.bags.policies.price_negotiation import Offer, Sieve, Terms
from simplugin.bags.policies.prices import negotiate_prices, negotiator
from simplugin.bags.policies.trading import Trader
from simplugin.bags.policy import PARENT, Known, Place, message_size
from simplugin.papers.beaumont.instances import instance
from simplugin.simulation import SimGridOptions, simulate

SIEVE = Sieve(10)
trader = partial(Trader, balance=0.05, limit=2000)
MAKERS = {
    "trading": partial(trader, order="fast"),
    "prices": partial(negotiator, sieve=SIEVE),
}


async def agree(me, make, place, known):
    """Negotiate once."""
    return await negotiate(me, place, make(known, is_root=place.parent is None))


def negotiated(make, work, tree):
    """Return the results of the nodes, and that of the simulation."""
    actors = [
        (name, agree, make, Place.of(tree, host), Known.of(tree, work, host))
        for host, name in enumerate(tree.hosts)
    ]
    result = simulate(tree.platform(), actors, options=SimGridOptions.linear())
    return [each.value for each in result.returned], result


def assert_same(nodes, plans):
    """All nodes have the rates of the negotiation without a simulation."""
    scale = 1e-9 * max(max(row) for rates in plans for row in rates)
    for node, rates in zip(nodes, plans, strict=True):
        assert np.array(node.plan.rates) == pytest.approx(np.array(rates), rel=1e-9, abs=scale)
        assert node.plan.slots == ()


@pytest.mark.parametrize(
    ("reading", "number", "sieve", "again"),
    [
        ("A", 7, None, False),
        ("A", 36, SIEVE, True),
        ("C", 12, None, False),
        ("D", 8, SIEVE, False),
        ("B", 3, SIEVE, False),
    ],
)
def test_prices_on_simgrid_give_the_rates_of_the_pure_negotiation(reading, number, sieve, again):
    tree, work = instance(reading, 2008, number)
    nodes, result = negotiated(partial(negotiator, sieve=sieve), work, tree)
    found = negotiate_prices(tree, work, sieve=sieve)
    assert (found.negotiations > 1) == again
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
    [("A", 11, "breadth"), ("C", 6, "slow"), ("D", 8, "fast")],
)
def test_trading_on_simgrid_gives_the_rates_of_the_pure_iteration(reading, number, order):
    tree, work = instance(reading, 2008, number)
    nodes, result = negotiated(partial(trader, order=order), work, tree)
    traded = trade(tree, work, order=order)
    assert traded.rounds > 1
    assert_same(nodes, [each.rates for each in traded.plans])
    # Each message crosses one link, and has four numbers.
    assert sum(each.messages for each in nodes) == traded.messages
    assert result.links.bytes.sum() == pytest.approx(message_size(4) * traded.messages)


def test_a_message_takes_as_long_as_its_link_says():
    tree, work = tree_of([-1, 0], 1.0, 100.0, 0.5), bags_of([1.0], [1.0], 1)
    (root, leaf), _ = negotiated(negotiator, work, tree)
    # A round down: 5 numbers; up: idleness and the busy CPU, 3 numbers each, and a loss. At the
    # end: a share of each of them that counts, of 3 numbers; 2 of the type, and if it is all.
    rounds = root.node.sweeps
    assert (leaf.node.sweeps, leaf.messages) == (rounds, rounds)
    assert leaf.bytes == rounds * (40 + 8 * 7)
    shares = (root.bytes - rounds * (40 + 8 * 5) - (40 + 8 * 3)) / 24
    assert shares == 1
    lasts = (2 * rounds + 1) * 0.5 + (root.bytes + leaf.bytes) / 100
    assert root.duration == pytest.approx(lasts)


# ---- knowledge of nodes ----


def steps(make, tree, work):
    """Yield each decision: step, host, source, message and posts.

    A message posted in a step is heard in the next one.
    """
    place = {child: at for row in tree.children for at, child in enumerate(row, 1)}
    nodes = [make(Known.of(tree, work, host), is_root=host == 0) for host in range(tree.n_hosts)]
    posts = nodes[0].begin()
    yield 0, 0, None, None, posts
    waiting = deque((1, 0, *post) for post in posts)
    while waiting:
        step, sender, target, message = waiting.popleft()
        if target == PARENT:
            host, source = int(tree.parent[sender]), place[sender]
        else:
            host, source = tree.children[sender][target - 1], PARENT
        posts = nodes[host].hear(source, message)
        yield step, host, source, message, posts
        waiting.extend((step + 1, host, *post) for post in posts)
    assert all(node.plan is not None for node in nodes)


@pytest.mark.parametrize("name", MAKERS)
def test_a_speed_is_news_no_earlier_than_messages_travel(name):
    tree, work = instance("A", 2008, 3)
    leaf = int(np.argmax(tree.depth))
    speed = tree.speed.copy()
    speed[leaf] *= 3.0
    seen, other = (
        {
            (step, host, source): posts
            for step, host, source, _, posts in steps(MAKERS[name], each, work)
        }
        for each in (tree, replace(tree, speed=speed))
    )
    differ = {
        (step, host)
        for step, host, source in seen.keys() | other.keys()
        if seen.get((step, host, source)) != other.get((step, host, source))
    }
    # The leaf has something to say when it first hears a message, and no earlier.
    way = nx.single_source_shortest_path_length(nx.Graph(enumerate(tree.parent.tolist())), leaf)
    assert max(way[host] for _, host in differ) >= 2
    assert all(step >= tree.depth[leaf] + way[host] for step, host in differ)


def test_of_links_a_node_learns_that_from_its_parent_only():
    tree, work = instance("A", 2008, 36)
    capacities = {float(x) for x in (*tree.speed, *tree.bandwidth) if math.isfinite(x)}
    posted = 0
    for _, host, _, message, posts in steps(MAKERS["prices"], tree, work):
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
