"""Negotiated rates: against the linear program, by whom nobody knows the tree."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from simplugin.bags.policies.price_negotiation import Sieve, Terms
from simplugin.bags.policies.prices import negotiate_prices, prices
from simplugin.bags.policy import Known
from simplugin.errors import InfeasibleError, WorkloadError
from simplugin.optimum.steady_state import steady_state
from simplugin.papers.beaumont.instances import instance
from simplugin.platforms.graphs import Tree
from simplugin.platforms.topologies.random_trees import random_tree
from simplugin.workloads.applications import Bags

FREE = Terms(rent=0.0)


def assert_feasible(tree, bags, found, rel=1e-9):
    """No CPU or port does more than it can, and no task gets lost."""
    assert np.all(found.compute >= 0)
    assert np.all(found.sent >= 0)
    assert np.all(found.compute @ bags.flop <= tree.speed * (1 + rel))
    out, port = np.zeros_like(found.sent), np.zeros(tree.n_hosts)
    for host in range(1, tree.n_hosts):
        out[tree.parent[host]] += found.sent[host]
        port[tree.parent[host]] += found.sent[host] @ bags.byte / tree.bandwidth[host]
    assert np.all(port <= 1 + rel)
    assert found.compute + out == pytest.approx(found.sent, rel=rel, abs=rel * found.fair)
    return port


def with_rent(tree, bags, rent):
    """Return the optimum of the fair throughput less rent times the ports' time, by a program."""
    n, kinds = tree.n_hosts, bags.n_applications
    # Unknowns: computed, then received by each host, in tasks per `unit`; then the throughput.
    unit = bags.flop.max() / tree.speed.sum()
    size = n * kinds
    port_time = np.zeros((n, kinds))
    port_time[1:] = bags.byte / tree.bandwidth[1:, None] / unit
    cost = np.concatenate([np.zeros(size), rent * unit * port_time.ravel(), [-1.0]])
    above, below, equal = [], [], []
    for host in range(n):
        cpu = np.zeros(2 * size + 1)
        cpu[host * kinds : (host + 1) * kinds] = bags.flop / bags.flop.max()
        above.append(cpu)
        below.append(tree.speed[host] / tree.speed.sum())
        port = np.zeros(2 * size + 1)
        for child in tree.children[host]:
            port[size + child * kinds : size + (child + 1) * kinds] = port_time[child]
        above.append(port)
        below.append(1.0)
        for kind in range(kinds):
            row = np.zeros(2 * size + 1)
            row[size + host * kinds + kind] = 1.0
            row[host * kinds + kind] = -1.0
            for child in tree.children[host]:
                row[size + child * kinds + kind] = -1.0
            equal.append(row)
    for kind in range(kinds):
        row = np.zeros(2 * size + 1)
        row[kind:size:kinds] = -1.0
        row[-1] = bags.weight[kind]
        above.append(row)
        below.append(0.0)
    found = linprog(
        cost, A_ub=np.array(above), b_ub=below, A_eq=np.array(equal), b_eq=np.zeros(len(equal))
    )
    assert found.status == 0
    return -found.fun / unit


@pytest.mark.parametrize(
    ("reading", "number"), [*itertools.product("ABCD", (1, 2, 8, 13, 33)), ("A", 4), ("D", 14)]
)
def test_rates_are_the_optimum_of_the_linear_program(reading, number):
    tree, bags = instance(reading, 2008, number)
    found = negotiate_prices(tree, bags, terms=FREE)
    assert found.fair == pytest.approx(steady_state(tree, bags).fair, rel=1e-8)
    assert abs(found.gap) < 1e-9
    assert found.rounds <= 20
    assert_feasible(tree, bags, found)


@pytest.mark.parametrize("number", [1, 2, 7, 12])
def test_a_rent_gives_the_optimum_of_another_program(number):
    tree, bags = instance("D", 2008, number)
    found = negotiate_prices(tree, bags, terms=Terms(rent=0.05))
    free = negotiate_prices(tree, bags, terms=FREE)
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
        free, found = negotiate_prices(tree, bags, terms=FREE), negotiate_prices(tree, bags)
        assert found.fair >= free.fair * (1 - 1e-3)
        port, free_port = (assert_feasible(tree, bags, each).sum() for each in (found, free))
        assert port <= free_port + 1e-9
        busier += port < free_port - 1e-6
    assert busier


@settings(max_examples=60)
@given(
    st.integers(1, 14),
    st.integers(1, 5),
    st.integers(1, 4),
    st.integers(0, 10**6),
    st.booleans(),
)
def test_any_tree_and_applications(n_hosts, degree, kinds, seed, lacks):
    generator = np.random.default_rng(seed)
    tree = random_tree(n_hosts, degree, generator)
    speed = tree.speed * (generator.random(n_hosts) < 0.7)
    speed[-1] = 1e8
    tree = Tree(tree.hosts, tree.parent, speed, tree.bandwidth, tree.latency)
    byte = np.exp(generator.uniform(np.log(1e5), np.log(1e11), kinds))
    if lacks:
        byte[0] = 0.0
    bags = Bags(
        tuple("abcd"[:kinds]),
        np.exp(generator.uniform(np.log(1e8), np.log(1e12), kinds)),
        byte,
        generator.uniform(0.2, 5, kinds),
        np.full(kinds, 10),
    )
    found = negotiate_prices(tree, bags, terms=FREE)
    assert_feasible(tree, bags, found)
    assert found.fair == pytest.approx(with_rent(tree, bags, 0.0), rel=1e-7)


@pytest.mark.parametrize("segments", [1, 2, 5])
def test_short_answers_lead_to_the_same_optimum(segments):
    tree, bags = instance("D", 2008, 13)
    found = negotiate_prices(tree, bags, terms=Terms(rent=0.0, segments=segments))
    whole = negotiate_prices(tree, bags, terms=Terms(rent=0.0, segments=1000))
    assert found.fair == pytest.approx(whole.fair, rel=1e-9)
    assert found.rounds >= whole.rounds
    assert_feasible(tree, bags, found)


def test_a_single_host_and_a_tree_where_only_the_last_computes():
    alone = Tree(("root",), [-1], [10.0], [math.inf], [0.0])
    bags = Bags(("a", "b"), [1.0, 4.0], [3.0, 5.0], [1.0, 1.0], [1, 1])
    assert negotiate_prices(alone, bags).fair == pytest.approx(2.0)
    chain = Tree(tuple("rst"), [-1, 0, 1], [0.0, 0.0, 10.0], [math.inf, 8.0, 4.0], [0.0] * 3)
    # 8 bytes for a task of each: the slow link gives 0.5 of both, its CPU could do 2.
    assert negotiate_prices(chain, bags, terms=FREE).fair == pytest.approx(0.5)


def test_without_a_cpu_there_is_no_optimum():
    tree = Tree(tuple("rs"), [-1, 0], [0.0, 0.0], [math.inf, 8.0], [0.0] * 2)
    bags = Bags(("a",), [1.0], [3.0], [1.0], [1])
    with pytest.raises(InfeasibleError, match="no host of the tree computes"):
        negotiate_prices(tree, bags)


@pytest.mark.parametrize(
    "wrong", [{"rent": -1.0}, {"segments": 0}, {"tolerance": math.nan}, {"cut": 0.5}, {"limit": 0}]
)
def test_terms_out_of_range(wrong):
    with pytest.raises(WorkloadError, match=next(iter(wrong))):
        Terms(**wrong)


def test_the_policy_refuses_what_is_not_positive():
    tree, bags = instance("A", 2008, 0)
    with pytest.raises(WorkloadError, match="buffer is 0"):
        prices(tree, bags, buffer=0)
    with pytest.raises(WorkloadError, match="period is 0"):
        prices(tree, bags, period=0)


@pytest.mark.parametrize("number", [3, 8, 12])
def test_flows_under_the_cut_go_and_tasks_are_conserved(number):
    tree, bags = instance("C", 2008, number)
    found = negotiate_prices(tree, bags, terms=Terms(cut=0.01))
    whole = negotiate_prices(tree, bags)
    small = whole.sent < 0.01 * whole.compute.sum(axis=0)
    assert np.any(whole.sent[small] > 0)
    assert np.all(found.sent[small] == 0)
    assert found.sent[0] == pytest.approx(whole.sent[0], rel=1e-12)
    out = np.zeros_like(found.sent)
    np.add.at(out, tree.parent[1:], found.sent[1:])
    assert found.compute + out == pytest.approx(found.sent, rel=1e-12, abs=1e-12 * found.fair)


def test_a_ban_keeps_a_type_off_a_link_for_good():
    # Through the only link, of 1 byte/s, a task of b takes as long as a thousand tasks of a.
    tree = Tree(tuple("rs"), [-1, 0], [1.0, 1.0], [math.inf, 1.0], [0.0] * 2)
    bags = Bags(("a", "b"), [10.0, 10.0], [1.0, 1000.0], [1.0, 1.0], [1, 1])
    free = negotiate_prices(tree, bags, terms=FREE)
    assert free.sent[1, 1] > 0
    sifted = negotiate_prices(tree, bags, terms=FREE, sieve=Sieve(10))
    assert sifted.negotiations == 2
    assert sifted.sent[1, 1] == 0
    # The root computes b only, the other host a only.
    assert sifted.fair == pytest.approx(0.1)
    assert sifted.compute == pytest.approx(np.array([[0.0, 0.1], [0.1, 0.0]]), abs=1e-9)


def test_bans_that_leave_a_type_no_host_are_taken_back():
    # All tasks of b cross the only link, and nine tenths of the loss is what they bring.
    tree = Tree(tuple("rs"), [-1, 0], [0.0, 1.0], [math.inf, 1.0], [0.0] * 2)
    bags = Bags(("a", "b"), [0.01, 0.01], [0.01, 1000.0], [100.0, 1.0], [1, 1])
    free = negotiate_prices(tree, bags, terms=FREE)
    for harsh, banned in ((1.0, False), (0.8, True)):
        sieve = Sieve(10, harsh)
        assert bool(sieve.judge(Known.of(tree, bags, 0), free.rates[0])[1]) is banned
        found = negotiate_prices(tree, bags, terms=FREE, sieve=sieve)
        assert found.fair == pytest.approx(free.fair)
        assert abs(found.gap) < 1e-9
        assert_feasible(tree, bags, found)


def promise(tree, bags, found, sieve):
    """Return the fair throughput, less what long transfers will cost."""
    left = found.compute.sum(axis=0)
    for host, rates in enumerate(found.rates):
        left = left - sieve.judge(Known.of(tree, bags, host), rates)[0]
    return np.min(left / bags.weight)


@pytest.mark.parametrize("harsh", [0.01, 1.0])
def test_bans_leave_no_less_than_there_was_without(harsh):
    sieve, more = Sieve(10, harsh), 0
    for number in (2, 8, 26, 33, 36, 42):
        tree, bags = instance("A", 2008, number)
        free = negotiate_prices(tree, bags)
        found = negotiate_prices(tree, bags, sieve=sieve)
        gain = promise(tree, bags, found, sieve) - promise(tree, bags, free, sieve)
        assert gain >= -1e-9 * free.fair
        more += gain > 0.1 * free.fair
        assert_feasible(tree, bags, found)
    assert more >= 3
