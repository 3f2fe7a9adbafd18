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

from simplugin.bags.actors.planning import negotiate
from simplugin.bags.assessment import experimental, fair
from simplugin.bags.execution import execute
from simplugin.bags.policies.data_centric import data_centric
from simplugin.bags.policies.load_balancing import lp
from simplugin.bags.policies.price_negotiation import Offer, Posted, Sieve, Terms, size_of
from simplugin.bags.policies.prices import negotiate_prices, prices
from simplugin.bags.policies.prices import roles as prices_roles
from simplugin.bags.policies.prices import root as prices_root
from simplugin.bags.policy import Known, Place
from simplugin.optimum.steady_state import steady_state
from simplugin.papers.beaumont.instances import instance
from simplugin.platforms import Platform, Profile, ProfileUse
from simplugin.platforms.graphs import Tree
from simplugin.simulation import SimGridOptions, simulate
from simplugin.workloads.applications import Bags

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
    """Yield each decision of a pure negotiation: step, host, function, pickled before and after.

    Before are the arguments, after is the outcome. A message told in a step is heard in the next.
    """
    root = prices_root.open_negotiation(Known.of(tree, work, 0), TERMS, sieve)
    nodes = {
        host: prices_roles.PriceNode(Known.of(tree, work, host), sieve)
        for host in range(1, tree.n_hosts)
    }
    told, now = prices_root.asks(root), np.zeros(tree.n_hosts, dtype=int)
    while True:
        messages = dict(zip(tree.children[0], told, strict=True))
        for host in range(1, tree.n_hosts):
            message = messages.pop(host)
            before = pickle.dumps((nodes[host], message))
            outcome = prices_roles.hear(nodes[host], message)
            now[host] = now[tree.parent[host]] + 1
            yield now[host], host, "hear", before, pickle.dumps(outcome)
            nodes[host], below = outcome
            messages.update(zip(tree.children[host], below, strict=True))
        if root.settled >= 0:
            return
        answers = {}
        for host in range(tree.n_hosts - 1, -1, -1):
            state = nodes[host] if host else root
            below = [answers.pop(child) for child in tree.children[host]]
            before = pickle.dumps((state, below))
            decide = prices_roles.answer if host else prices_root.react
            outcome = decide(state, below)
            now[host] = max([now[host], *(now[child] + 1 for child in tree.children[host])])
            yield now[host], host, "answer" if host else "react", before, pickle.dumps(outcome)
            if host:
                nodes[host], answers[host] = outcome
        root, told = outcome


ALONE = """
import json, pickle, sys
from simplugin.bags.policies.price_negotiation import answer, hear
from simplugin.bags.policies.price_negotiation import react
functions = {"answer": answer, "hear": hear, "react": react}
with open(sys.argv[1], "rb") as file:
    cases = pickle.load(file)
wrong = 0
for name, before, after in cases:
    outcome = functions[name](*pickle.loads(before))
    wrong += repr(outcome) != repr(pickle.loads(after))
print(json.dumps({"cases": len(cases), "wrong": wrong}))
"""


def decisions_that_need_more(tree, work, sieve, file):
    """Return how many decisions there are, and how many come out otherwise where no tree is."""
    cases = [rest for _, _, *rest in decisions(tree, work, sieve)]
    assert {name for name, _, _ in cases} == {"hear", "answer", "react"}
    # In any order, in a process of their own: nothing else can have been read.
    np.random.default_rng(0).shuffle(cases)
    file.write_bytes(pickle.dumps(cases))
    run = subprocess.run(
        [sys.executable, "-c", ALONE, str(file)],
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    found = json.loads(run.stdout)
    return found["cases"], found["wrong"]


@pytest.mark.parametrize(("reading", "number", "sieve"), [("A", 36, SIEVE), ("D", 12, None)])
def test_decisions_follow_from_a_nodes_state_and_its_messages_alone(
    reading, number, sieve, tmp_path
):
    tree, work = instance(reading, 2008, number)
    count, wrong = decisions_that_need_more(tree, work, sieve, tmp_path / "cases.pickle")
    assert count > 50
    assert wrong == 0


def test_a_decision_that_looks_elsewhere_is_found_out(monkeypatch, tmp_path):
    honest, seen = prices_roles.worker_points, []

    def peeking(speed, *rest):
        seen.append(speed)
        return honest(max(seen), *rest)

    monkeypatch.setattr(prices_roles, "worker_points", peeking)
    tree, work = instance("A", 2008, 7)
    assert decisions_that_need_more(tree, work, SIEVE, tmp_path / "cases.pickle")[1] > 0


def first_differences(tree, other, work):
    """Return, of hosts that ever tell something else in one tree than in the other, the step."""
    seen, changed = (
        {
            (step, host, name): pickle.loads(after)[1]
            for step, host, name, _, after in decisions(each, work, SIEVE)
        }
        for each in (tree, other)
    )
    first = {}
    for step, host, name in sorted(seen.keys() | changed.keys()):
        if seen.get((step, host, name)) != changed.get((step, host, name)):
            first.setdefault(host, step)
    return first


def distances(tree, start):
    """Return how many links lie between a host and each."""
    distance, queue = {start: 0}, [start]
    for host in queue:
        for near in (int(tree.parent[host]), *tree.children[host]):
            if near >= 0 and near not in distance:
                distance[near] = distance[host] + 1
                queue.append(near)
    return distance


def news_is_early(tree, work):
    """Return which hosts show that a leaf has another speed, and which of them too early."""
    leaf = int(np.argmax(tree.depth))
    speed = tree.speed.copy()
    speed[leaf] *= 3.0
    first = first_differences(tree, replace(tree, speed=speed), work)
    # The leaf has something to say when it first hears prices, and no earlier.
    way, heard = distances(tree, leaf), tree.depth[leaf]
    early = {host for host, step in first.items() if step < heard + way[host]}
    return {way[host] for host in first}, early


def test_a_speed_is_news_no_earlier_than_messages_travel():
    reached, early = news_is_early(*instance("A", 2008, 3))
    assert max(reached) >= 2
    assert not early


def test_news_that_no_message_carried_is_found_out(monkeypatch):
    honest = Known.of

    def peeking(tree, work, host):
        # Who only distributes believes in a CPU as fast as all others are together.
        known = honest(tree, work, host)
        return replace(known, speed=known.speed or float(tree.speed.sum()))

    monkeypatch.setattr(Known, "of", peeking)
    # The root of D only distributes, and posts its first prices by its CPU.
    assert news_is_early(*instance("D", 2008, 3))[1]


def test_of_links_a_node_is_told_that_from_its_parent_only():
    tree, work = instance("A", 2008, 36)
    capacities = {float(x) for x in (*tree.speed, *tree.bandwidth) if math.isfinite(x)}
    posted = 0
    for _, host, _, before, after in decisions(tree, work, SIEVE):
        heard, told = pickle.loads(before)[1], pickle.loads(after)[1]
        if isinstance(heard, Posted):
            posted += 1
            assert heard.most == tree.bandwidth[host]
            assert not capacities & {*heard.prices, heard.rent}
        for message in told if isinstance(told, list) else [told]:
            if isinstance(message, Offer):
                assert not capacities & {number for point in message.points for number in point[1:]}
                assert len(message.points) <= TERMS.segments * 4 + 1
            assert size_of(message) < 1500
    assert posted > tree.n_hosts


# ---- execution ----


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
