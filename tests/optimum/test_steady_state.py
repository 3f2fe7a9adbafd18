"""Steady states on trees: their prices, closed forms, and the same in fractions."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naming import raises_naming
from small_trees import bags_of, restricted_instance, tree_of

from simplugin.core.errors import InfeasibleError, PlatformError, WorkloadError
from simplugin.optimum.bandwidth_centric import bandwidth_centric
from simplugin.optimum.exact_steady_state import exact_steady_state
from simplugin.optimum.steady_state import steady_state
from simplugin.papers.beaumont.instances import FLOP, instance
from simplugin.platforms.topologies.random_graphs import random_tree

PORTS = ("single", "multi")
SEEDS = st.integers(0, 10**6)


def drawn_parents(rng, count):
    """Return the parents of a random tree."""
    return [-1, *(int(rng.integers(host)) for host in range(1, count))]


def wild(seed):
    """Return a small instance with weights, idle hosts, and types without data."""
    rng = np.random.default_rng(seed)
    n, types = int(rng.integers(1, 12)), int(rng.integers(1, 5))
    speed = 10 ** rng.uniform(6, 9, n) * (rng.random(n) > 0.3)
    speed[-1] = 1e7
    tree = tree_of(drawn_parents(rng, n), speed, 10 ** rng.uniform(4, 9, n - 1))
    flop = 10 ** rng.uniform(6, 11, types)
    byte = flop * 10 ** rng.uniform(-4, 1, types) * (rng.random(types) > 0.25)
    return tree, bags_of(flop, byte, weight=10 ** rng.uniform(-1, 1, types))


def check(tree, bags, state, port, number=float):
    """Assert the constraints of program (1), and return the bound that the prices prove.

    In fractions there is no tolerance.
    """
    slack = 0 if number is Fraction else 1e-12
    flop, byte, weight = (
        [number(x) for x in each.tolist()] for each in (bags.flop, bags.byte, bags.weight)
    )
    kinds = range(len(flop))
    income, cheapest = sum(state.port_price, number(0)), [[] for _ in kinds]
    for host, children in enumerate(tree.children):
        assert min(state.compute[host]) >= 0
        assert min(state.cpu_price[host], state.port_price[host]) >= 0
        for k in kinds:
            passed = state.compute[host][k] + sum(state.sent[v][k] for v in children)
            assert abs(state.sent[host][k] - passed) <= slack * passed
        speed = number(tree.speed[host])
        assert sum(state.compute[host][k] * flop[k] for k in kinds) <= speed * (1 + slack)
        times = [
            sum(state.sent[v][k] * byte[k] for k in kinds) / number(tree.bandwidth[v])
            for v in children
        ]
        assert (sum(times) if port == "single" else max(times, default=0)) <= 1 + slack
        income += state.cpu_price[host] * speed
        if speed:
            way, at = number(0), host
            while at:
                payer = int(tree.parent[at]) if port == "single" else at
                way += state.port_price[payer] / number(tree.bandwidth[at])
                at = int(tree.parent[at])
            for k in kinds:
                cheapest[k].append(state.cpu_price[host] * flop[k] + way * byte[k])
    assert tuple(state.throughput) == tuple(state.sent[0])
    assert state.fair == min(state.throughput[k] / weight[k] for k in kinds)
    return income / sum(weight[k] * min(cheapest[k]) for k in kinds)


@pytest.mark.parametrize("port", PORTS)
@pytest.mark.parametrize("reading", "ABCD")
def test_prices_prove_the_rates_of_the_papers_campaign(reading, port):
    for number in (0, 2, 4, 5, 7, 9):
        tree, bags = instance(reading, 2008, number)
        state = steady_state(tree, bags, port=port)
        bound = check(tree, bags, state, port)
        assert state.bound == pytest.approx(bound, rel=1e-12)
        assert bound * (1 - 1e-9) <= state.fair <= bound * (1 + 1e-12)
        income = state.cpu_price @ tree.speed + state.port_price.sum()
        assert income == pytest.approx(state.fair, rel=1e-9)
        # Section 3.4: on trees the fairest throughputs are equal.
        assert np.ptp(state.throughput) <= 1e-9 * state.fair
        kids = list(tree.children[0])
        assert state.rates(0) == (tuple(state.compute[0]), *(tuple(state.sent[v]) for v in kids))


@settings(max_examples=40)
@given(seed=SEEDS, port=st.sampled_from(PORTS))
def test_wild_instances_are_proven_optimal(seed, port):
    tree, bags = wild(seed)
    state = steady_state(tree, bags, port=port)
    # What it promises; of 240 instances one is further than 1e-8 from its bound, by 9.5e-7.
    assert state.fair >= check(tree, bags, state, port) * (1 - 1e-6)
    if np.all(bags.byte > 0) or np.all(bags.byte == 0):
        assert np.ptp(state.throughput / bags.weight) <= 1e-8 * state.fair


def port_time(tree, bags, state):
    """Return the share of time that ports are busy, added up."""
    return float((state.sent[1:] @ bags.byte / tree.bandwidth[1:]).sum())


def test_of_the_optima_the_one_of_least_communication_is_chosen():
    saved = 0
    for seed in range(12):
        tree, bags = instance("ABCD"[seed % 4], 2008, 2 + 5 * seed)
        # Faster links leave the ports something to choose.
        tree = replace(tree, bandwidth=tree.bandwidth * 300)
        least = steady_state(tree, bags)
        any_of = steady_state(tree, bags, least_communication=False)
        assert least.fair == pytest.approx(any_of.fair, rel=1e-9)
        spent, other = port_time(tree, bags, least), port_time(tree, bags, any_of)
        assert spent <= other * (1 + 1e-9)
        saved += spent < 0.99 * other
    assert saved >= 3


@pytest.mark.parametrize("cut", [1e-3, 0.03])
def test_flows_under_the_cut_are_gone_and_little_is_lost(cut):
    gone = 0
    for seed in range(12):
        tree, bags = instance("C", 2008, 3 + 5 * seed)
        # Of the hosts worth sending to, some compute next to nothing.
        slow = np.where(np.arange(50) % 3 == 1, 1e-6, 1.0)
        tree = replace(tree, speed=tree.speed * slow)
        state = steady_state(tree, bags, cut=cut)
        check(tree, bags, state, "single")
        least = cut * state.throughput / tree.n_hosts
        for flows in (state.sent, state.compute):
            assert not np.any((flows > 0) & (flows < 0.999 * least))
        assert state.bound * (1 - 10 * cut) <= state.fair <= state.bound * (1 + 1e-12)
        whole = steady_state(tree, bags, cut=0.0)
        assert state.fair <= whole.fair * (1 + 1e-12)
        gone += np.sum(whole.compute > 0) - np.sum(state.compute > 0)
    assert gone >= 12


@settings(max_examples=60)
@given(seed=SEEDS)
def test_proposition_1_slices_of_a_star(seed):
    # Bandwidths and CCRs differ, and ports are full or nearly idle.
    rng = np.random.default_rng(seed)
    n, types = int(rng.integers(1, 9)), int(rng.integers(1, 5))
    speed = [rng.choice([0.0, 30.0, 400.0]), *(10.0 * rng.integers(1, 51, n))]
    tree = tree_of([-1] + [0] * n, speed, 1.0 + rng.permutation(200)[:n])
    flop = rng.uniform(1, 50, types)
    byte = flop * (1 + rng.permutation(100)[:types]) * rng.choice([0.1, 1e-3, 1e-4])
    bags = bags_of(flop, byte, weight=rng.uniform(0.3, 3, types))
    state = steady_state(tree, bags)
    # Fastest link first, the root before all; highest CCR first.
    hosts = np.argsort(-tree.bandwidth)
    hosts = hosts[tree.speed[hosts] > 0]
    kinds = np.argsort(-bags.ratio)
    share = (state.compute / state.throughput)[np.ix_(hosts, kinds)]
    end = 0
    for used in (share > 1e-7).T:
        first, last = np.flatnonzero(used)[[0, -1]]
        assert first >= end, "a type starts before the slice of a heavier one ends"
        end = int(last)


def test_a_thousand_hosts_are_proven_too():
    tree = random_tree(1000, 5, np.random.default_rng(5), bandwidths=(1e9, 1e11))
    bags = bags_of([FLOP] * 3, [1e8, 5e8, 4e9])
    state = steady_state(tree, bags)
    assert state.fair == pytest.approx(check(tree, bags, state, "single"), rel=1e-9)
    assert np.count_nonzero(state.compute.sum(axis=1)) > 500


# ---- one application ----


@settings(max_examples=50)
@given(
    seed=SEEDS,
    n_hosts=st.sampled_from([1, 2, 5, 20, 60]),
    degree=st.sampled_from([1, 2, 5, 15]),
    port=st.sampled_from(PORTS),
    wide=st.sampled_from([1.0, 100.0, 1e4]),
    root_computes=st.booleans(),
)
def test_bandwidth_centric_throughput(seed, n_hosts, degree, port, wide, root_computes):
    rng = np.random.default_rng(seed)
    root = {"root_computes": root_computes or n_hosts == 1}
    tree = random_tree(n_hosts, degree, rng, bandwidths=(110e3 * wide, 7e6 * wide), **root)
    # Some tasks have no data.
    byte = FLOP * 10 ** rng.uniform(-3, 0.6) * (rng.random() > 0.1)
    best = bandwidth_centric(tree, FLOP, byte, port=port)
    state = steady_state(tree, bags_of([FLOP], [byte]), port=port)
    assert best == pytest.approx(state.fair, rel=1e-9)
    assert best == pytest.approx(state.bound, rel=1e-9)


def test_one_application_on_some_hosts():
    tree = tree_of([-1, 0, 0], [1.0, 2.0, 3.0], [4.0, 2.0])
    # h2 takes half of the port for a task per second; without it, h1 has all.
    assert bandwidth_centric(tree, 1.0, 1.0, hosts=("h0", "h2")) == 3.0
    assert bandwidth_centric(tree, 1.0, 1.0, hosts=("h2",)) == 2.0
    with raises_naming(WorkloadError, "'h9'"):
        bandwidth_centric(tree, 1.0, 1.0, hosts=("h0", "h9"))
    alone = replace(bags_of([1.0], [1.0]), hosts=[["h0", "h2"]])
    assert steady_state(tree, alone).fair == pytest.approx(3.0, rel=1e-9)


def test_bandwidth_centric_refusals():
    with raises_naming(InfeasibleError, "'h0'"):
        bandwidth_centric(tree_of([-1, 0], 0.0), 1.0, 1.0)
    with raises_naming(WorkloadError, "0.0 flop", "1.0 byte"):
        bandwidth_centric(tree_of([-1], 1.0), 0.0, 1.0)


# ---- in fractions ----


@settings(max_examples=50)
@given(seed=SEEDS, port=st.sampled_from(PORTS))
def test_whole_numbers_have_exact_optima(seed, port):
    tree, bags = restricted_instance(seed, whole=True)
    bags = replace(bags, hosts=None)
    state = exact_steady_state(tree, bags, port=port)
    assert state.fair == check(tree, bags, state, port, Fraction)
    other = steady_state(tree, bags, port=port)
    assert np.array(state.throughput, float) == pytest.approx(other.throughput, rel=1e-9)
    if np.all(bags.byte > 0):
        levels = zip(state.throughput, map(Fraction, bags.weight), strict=True)
        assert len({rate / weight for rate, weight in levels}) == 1


@pytest.mark.parametrize("number", [3, 8, 13])
def test_floats_have_exact_optima_too(number):
    tree, bags = instance("A", 2008, number)
    tree = replace(tree, bandwidth=tree.bandwidth * 30 ** (number // 5))
    state = exact_steady_state(tree, bags)
    assert state.fair == check(tree, bags, state, "single", Fraction)
    other = steady_state(tree, bags)
    nearly = pytest.approx(other.compute, rel=1e-6, abs=1e-9 * other.fair)
    assert np.array(state.compute, float) == nearly
    assert float(state.fair) == pytest.approx(other.bound, rel=1e-11)


@pytest.mark.parametrize("seed", range(8))
def test_ratios_may_be_equal_but_for_rounding(seed):
    # A power of 2 keeps ratios equal; of 0.0040 the float, and each product, is rounded.
    rng = np.random.default_rng(seed)
    n, types = int(rng.integers(3, 15)), int(rng.integers(2, 5))
    speed, width = rng.uniform(1, 100, n) * 1e7, rng.uniform(1, 100, n - 1) * 1e5
    tree = tree_of(drawn_parents(rng, n), speed, width)
    flop = rng.uniform(1, 50, types) * 1e9
    for byte in (2.0**-8 * flop, 0.004 * flop):
        bags = bags_of(flop, byte)
        state = exact_steady_state(tree, bags)
        check(tree, bags, state, "single", Fraction)
        assert float(state.fair) == pytest.approx(steady_state(tree, bags).bound, rel=1e-11)


def test_floats_may_stand_for_fractions():
    tree, bags = tree_of([-1, 0], [0.0, 1 / 3], 1 / 7), bags_of([0.1], [0.2], 1)
    state = exact_steady_state(tree, bags, max_denominator=1000)
    assert state.throughput == (Fraction(5, 7),)
    assert state.port_price == (Fraction(5, 7), Fraction(0))
    assert exact_steady_state(tree, bags).throughput != (Fraction(5, 7),)


def test_rounded_quantities_have_exact_optima_or_are_refused():
    refused = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        tree = tree_of(drawn_parents(rng, 4), rng.uniform(1, 3, 4), rng.uniform(1, 3, 3))
        bags = bags_of(rng.uniform(1, 3, 2), rng.uniform(1, 3, 2))
        whole = replace(tree, speed=np.rint(tree.speed), bandwidth=np.rint(tree.bandwidth))
        rounded = replace(bags, flop=np.rint(bags.flop), byte=np.rint(bags.byte))
        try:
            state = exact_steady_state(tree, bags, max_denominator=1)
        except InfeasibleError as error:
            # The basis found for the floats is not that of such different numbers.
            refused.append(str(error))
        else:
            assert state.fair == check(whole, rounded, state, "single", Fraction)
    assert 2 <= len(refused) <= 18
    assert all("max_denominator" in each for each in refused)


ROUNDED_TO_NOTHING = [
    ({"speed": [0.0, 0.01]}, {}, PlatformError, "speed of 'h1'"),
    ({"bandwidth": [np.inf, 0.01]}, {}, PlatformError, "bandwidth of 'h1'"),
    *(({}, {name: [0.01]}, WorkloadError, f"{name} of 'a'") for name in ("flop", "byte", "weight")),
]


@pytest.mark.parametrize(("platform", "work", "error", "culprit"), ROUNDED_TO_NOTHING)
def test_rounding_that_makes_nothing_of_something_is_refused(platform, work, error, culprit):
    tree = replace(tree_of([-1, 0], 1.0, 8.0), **platform)
    bags = replace(bags_of([1.0], [1.0]), **work)
    with raises_naming(error, culprit, "0.01", "max_denominator 10"):
        exact_steady_state(tree, bags, max_denominator=10)
    exact_steady_state(tree, bags, max_denominator=100)


def test_denominators():
    tree, free = tree_of([-1, 0], 1.0, 8.0), bags_of([1.0], [0.0])
    with raises_naming(WorkloadError, "max_denominator", "0"):
        exact_steady_state(tree, free, max_denominator=0)
    # What is 0 stays 0.
    assert exact_steady_state(tree, free, max_denominator=1).throughput == (Fraction(2),)


# ---- refusals ----

REFUSED = [
    ({"speed": [0.0] * 3}, {}, {}, InfeasibleError, ["'h0'"]),
    ({}, {"port": "many"}, {}, WorkloadError, ["port", "'many'", "'single'", "'multi'"]),
    ({}, {}, {"a": ["h0"], "b": []}, InfeasibleError, ["'b'"]),
    ({}, {}, {"b": ["h2"]}, InfeasibleError, ["'b'"]),
    ({}, {}, {"b": ["h1", "x"]}, WorkloadError, ["'b'", "'x'"]),
]


@pytest.mark.parametrize("solve", [steady_state, exact_steady_state])
@pytest.mark.parametrize(("platform", "how", "hosts", "error", "names"), REFUSED)
def test_refused(solve, platform, how, hosts, error, names):
    tree = replace(tree_of([-1, 0, 0], [1.0, 2.0, 0.0]), **platform)
    with raises_naming(error, *names):
        solve(tree, replace(bags_of([1.0, 1.0], [1.0, 1.0]), hosts=hosts or None), **how)


def test_a_cut_out_of_range_is_refused():
    with raises_naming(InfeasibleError, "cut", "0.7"):
        steady_state(tree_of([-1], 1.0), bags_of([1.0], [1.0]), cut=0.7)
