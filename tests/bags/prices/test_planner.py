"""The negotiation by prices on SimGrid: the same rates, by messages between neighbours only."""

from __future__ import annotations

import json
import math
import pickle
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from simplugin.bags.execution import execute
from simplugin.bags.instances import instance
from simplugin.bags.nodes import Known, Place
from simplugin.bags.planned import lp
from simplugin.bags.prices import negotiate_prices, prices
from simplugin.bags.prices import roles as prices_roles
from simplugin.bags.prices import root as prices_root
from simplugin.bags.prices.filter import Sieve
from simplugin.bags.prices.messages import Offer, size_of
from simplugin.bags.prices.planner import negotiate
from simplugin.bags.prices.root import Terms
from simplugin.bags.throughput import experimental, fair
from simplugin.platforms.trees import Tree
from simplugin.simulation import SimGridOptions, simulate
from simplugin.workloads.bags import Bags

CASES = [("A", 7), ("A", 36), ("C", 12), ("D", 8), ("B", 3)]
TERMS, SIEVE = Terms(), Sieve(10)


def places(tree):
    """Return the place of each host."""
    names = tree.hosts
    return [
        Place(name, names[parent] if parent >= 0 else None, tuple(names[each] for each in below))
        for name, parent, below in zip(names, tree.parent.tolist(), tree.children, strict=True)
    ]


async def agree(me, place, each, sieve):
    """Negotiate once for each thing known, again and again."""
    return [await negotiate(me, place, known, TERMS, sieve) for known in each]


def negotiated(work, sieve, *trees):
    """Return what the nodes have after each negotiation, and the simulation's result."""
    first = trees[0]
    actors = [
        (place.name, agree, place, [Known.of(tree, work, host) for tree in trees], sieve)
        for host, place in enumerate(places(first))
    ]
    result = simulate(first.platform(), actors, options=SimGridOptions.linear())
    return list(zip(*(each.value for each in result.returned), strict=True)), result


def assert_same(nodes, found):
    """All nodes have the rates of the pure negotiation."""
    for node, rates in zip(nodes, found.rates, strict=True):
        assert np.array(node.rates) == pytest.approx(np.array(rates), rel=1e-9, abs=1e-15)


@pytest.mark.parametrize(("reading", "number"), CASES)
@pytest.mark.parametrize("sieve", [None, SIEVE])
def test_rates_are_those_of_the_pure_negotiation(reading, number, sieve):
    tree, work = instance(reading, 2008, number)
    (nodes,), result = negotiated(work, sieve, tree)
    found = negotiate_prices(tree, work, sieve=sieve)
    assert_same(nodes, found)
    assert {node.rounds for node in nodes} == {found.rounds}
    # Each message crosses one link; each link carries two in a round, and a few at the end.
    assert result.links.bytes.sum() == pytest.approx(sum(node.bytes for node in nodes))
    ends = 1 if sieve is None else 2 * found.negotiations + 1
    links = tree.n_hosts - 1
    assert sum(node.messages for node in nodes) == links * (2 * found.rounds + ends)
    assert 0 < nodes[0].duration <= result.clock
    # It is over before a thousandth of the run.
    assert result.clock < 1e-3 * 200 / found.fair


def test_a_tree_where_bans_need_several_negotiations_is_among_them():
    tree, work = instance("A", 2008, 36)
    assert negotiate_prices(tree, work, sieve=SIEVE).negotiations > 1


def test_a_message_takes_as_long_as_its_link_says():
    tree = Tree(tuple("rs"), [-1, 0], [1.0, 1.0], [math.inf, 100.0], [0.0, 0.5])
    work = Bags(("a",), [1.0], [1.0], [1.0], [1])
    ((root, leaf),), result = negotiated(work, None, tree)
    # A round down: 5 numbers; up: idleness and the busy CPU, 3 numbers each, and a loss. At the
    # end: a share of each of them that counts, of 3 numbers; 2 of the type, and whether it is all.
    rounds, counted = root.rounds, (leaf.rounds, leaf.messages)
    assert counted == (rounds, rounds)
    assert leaf.bytes == rounds * (40 + 8 * 7)
    shares = (root.bytes - rounds * (40 + 8 * 5) - (40 + 8 * 3)) / 24
    assert shares == 1
    assert result.clock == pytest.approx((2 * rounds + 1) * 0.5 + (root.bytes + leaf.bytes) / 100)


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
    rounds, _ = negotiated(work, SIEVE, *trees)
    found = [negotiate_prices(each, work, sieve=SIEVE) for each in trees]
    assert len({each.fair for each in found}) == 3
    for nodes, each in zip(rounds, found, strict=True):
        assert_same(nodes, each)


# ---- who knows what ----


def decisions(tree, work, sieve):
    """Yield each decision of a pure negotiation: function, and pickled (arguments, outcome)."""
    root = prices_root.open_negotiation(Known.of(tree, work, 0), TERMS, sieve)
    nodes = {
        host: prices_roles.PriceNode(Known.of(tree, work, host), sieve)
        for host in range(1, tree.n_hosts)
    }
    told = prices_root.asks(root)
    while True:
        messages = dict(zip(tree.children[0], told, strict=True))
        for host in range(1, tree.n_hosts):
            message = messages.pop(host)
            before = pickle.dumps((nodes[host], message))
            outcome = prices_roles.hear(nodes[host], message)
            yield "hear", before, pickle.dumps(outcome)
            nodes[host], below = outcome
            messages.update(zip(tree.children[host], below, strict=True))
        if root.settled >= 0:
            return
        answers = {}
        for host in range(tree.n_hosts - 1, 0, -1):
            below = [answers.pop(child) for child in tree.children[host]]
            before = pickle.dumps((nodes[host], below))
            outcome = prices_roles.answer(nodes[host], below)
            yield "answer", before, pickle.dumps(outcome)
            nodes[host], answers[host] = outcome
        below = [answers[child] for child in tree.children[0]]
        before = pickle.dumps((root, below))
        outcome = prices_root.react(root, below)
        yield "react", before, pickle.dumps(outcome)
        root, told = outcome


ALONE = """
import json, pickle, sys
from simplugin.bags.prices.roles import answer, hear
from simplugin.bags.prices.root import react
functions = {"answer": answer, "hear": hear, "react": react}
with open(sys.argv[1], "rb") as file:
    cases = pickle.load(file)
wrong = 0
for name, before, after in cases:
    outcome = functions[name](*pickle.loads(before))
    wrong += repr(outcome) != repr(pickle.loads(after))
print(json.dumps({"cases": len(cases), "wrong": wrong}))
"""


@pytest.mark.parametrize(("reading", "number", "sieve"), [("A", 36, SIEVE), ("D", 12, None)])
def test_decisions_follow_from_a_nodes_state_and_its_messages_alone(
    reading, number, sieve, tmp_path
):
    tree, work = instance(reading, 2008, number)
    cases = list(decisions(tree, work, sieve))
    assert {name for name, _, _ in cases} == {"hear", "answer", "react"}
    file = tmp_path / "cases.pickle"
    # In any order, in a process where no tree is: nothing else can have been read.
    np.random.default_rng(0).shuffle(cases)
    file.write_bytes(pickle.dumps(cases))
    run = subprocess.run(
        [sys.executable, "-c", ALONE, str(file)], capture_output=True, text=True, check=True
    )
    assert json.loads(run.stdout) == {"cases": len(cases), "wrong": 0}


def test_a_node_is_told_nothing_of_links_and_hosts_elsewhere():
    tree, work = instance("A", 2008, 36)
    secrets = {float(x) for x in (*tree.speed, *tree.bandwidth) if math.isfinite(x)}
    for _, _, after in decisions(tree, work, SIEVE):
        messages = pickle.loads(after)[1]
        for message in messages if isinstance(messages, list) else [messages]:
            # The only capacity in a message is the bandwidth of a link on the way, as a bound.
            if isinstance(message, Offer):
                assert not secrets & {number for point in message.points for number in point[1:]}
                assert len(message.points) <= TERMS.segments * 4 + 1
            assert size_of(message) < 1500


# ---- execution ----


@pytest.mark.parametrize(("reading", "number"), [("A", 2), ("A", 33), ("A", 36), ("D", 21)])
@pytest.mark.parametrize("parameters", [{}, {"decentralised": False}])
def test_it_is_as_good_as_the_linear_program_and_better_where_transfers_are_long(
    reading, number, parameters
):
    tree, work = instance(reading, 2008, number)
    ours = execute(tree, work, prices(tree, work, **parameters))
    rival = execute(tree, work, lp(tree, work))
    mine, other = (fair(experimental(each), work.weight) for each in (ours, rival))
    assert [len(dates) for dates in ours.completion] == [200] * work.n_applications
    assert mine > 0.75 * prices(tree, work).theory
    assert mine > 0.9 * other
    assert np.all(ours.most[1:] <= 10)


def test_without_the_filter_or_types_in_requests_it_loses():
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


@pytest.mark.parametrize(("reading", "number"), [("A", 6), ("D", 7)])
def test_negotiating_again_and_again_costs_nothing_where_nothing_changes(reading, number):
    # Some pairs are to get less than a task between two negotiations.
    tree, work = instance(reading, 2008, number)
    period = 10 / negotiate_prices(tree, work).fair
    once, often = (
        fair(experimental(execute(tree, work, prices(tree, work, period=each))), work.weight)
        for each in (math.inf, period)
    )
    assert often > 0.95 * once
