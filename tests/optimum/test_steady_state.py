"""Steady states on trees against other programs and what prices prove; the same in fractions."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naming import raises_naming

from simplugin.core.errors import InfeasibleError, PlatformError, SimpluginError, WorkloadError
from simplugin.optimum.exact_steady_state import ExactState, exact_steady_state
from simplugin.optimum.steady_state import Port, SteadyState, steady_state
from simplugin.platforms.graphs import Tree
from simplugin.platforms.topologies.random_graphs import random_tree
from simplugin.workloads.applications import Bags

FLOP = 2 * 3500.0**3
PORTS: tuple[Port, ...] = ("single", "multi")


def tree_of(parent: list[int], speed: list[float], bandwidth: list[float]) -> Tree:
    """Return a tree from its parents, speeds and the bandwidths below the root."""
    names = tuple(f"h{i}" for i in range(len(parent)))
    return Tree(
        names,
        np.array(parent),
        np.array(speed),
        np.array([np.inf, *bandwidth]),
        np.zeros(len(parent)),
    )


def bags_of(flop: list[float], byte: list[float], weight: list[float] | float = 1.0) -> Bags:
    """Return bags from their sizes."""
    names = tuple(f"a{k}" for k in range(len(flop)))
    return Bags(names, np.array(flop), np.array(byte), np.asarray(weight), np.array(200))


def instance(reading: str, seed: int, n_hosts: int = 20) -> tuple[Tree, Bags]:
    """Return a random tree and bags in the ranges of section 6.1 of the paper."""
    rng = np.random.default_rng(seed)
    tree = random_tree(n_hosts, int(rng.choice([2, 5, 15])), rng, root_computes=reading in "AC")
    ratio = np.linspace(0.001, np.exp(rng.uniform(np.log(0.002), np.log(4.6))), 2 + seed % 2)
    if reading in "AB":
        return tree, bags_of([FLOP] * len(ratio), list(ratio * FLOP))
    return tree, bags_of(list(98e6 / ratio), [98e6] * len(ratio))


def wild(seed: int, spread: float = 1.0) -> tuple[Tree, Bags]:
    """Return a small instance with weights, idle hosts, and types without data."""
    rng = np.random.default_rng(seed)
    n, types = int(rng.integers(1, 12)), int(rng.integers(1, 5))
    parent = [-1] + [int(rng.integers(i)) for i in range(1, n)]
    speed = 10 ** rng.uniform(6, 9, n) * (rng.random(n) > 0.3)
    speed[-1] = 1e7
    tree = tree_of(parent, list(speed), list(10 ** rng.uniform(4, 9, n - 1)))
    flop = 10 ** (8.5 + spread * rng.uniform(-2.5, 2.5, types))
    byte = flop * 10 ** (-1.5 + spread * rng.uniform(-2.5, 2.5, types))
    byte *= rng.random(types) > 0.25
    return tree, bags_of(list(flop), list(byte), list(10 ** rng.uniform(-1, 1, types)))


def check_rates(tree: Tree, bags: Bags, state: SteadyState, port: Port) -> None:
    """Assert the constraints of program (1)."""
    compute, sent = state.compute, state.sent
    assert np.all(compute >= 0)
    for host in range(tree.n_hosts):
        kids = list(tree.children[host])
        total = compute[host] + sent[kids].sum(axis=0)
        assert sent[host] == pytest.approx(total, rel=1e-14, abs=0)
        assert compute[host] @ bags.flop <= tree.speed[host] * (1 + 1e-12)
        times = sent[kids] @ bags.byte / tree.bandwidth[kids]
        assert (times.sum() if port == "single" else times.max(initial=0)) <= 1 + 1e-12
        assert state.rates(host) == (tuple(compute[host]), *(tuple(sent[v]) for v in kids))
    assert np.array_equal(state.throughput, sent[0])
    assert state.fair == np.min(state.throughput / bags.weight)


def proven_bound(tree: Tree, bags: Bags, state: SteadyState, port: Port) -> float:
    """Return the bound that prices prove, walking up from each host that computes."""
    cheapest = np.full(bags.n_applications, np.inf)
    for host in np.flatnonzero(tree.speed > 0):
        price = bags.flop * state.cpu_price[host]
        at = int(host)
        while at:
            payer = int(tree.parent[at]) if port == "single" else at
            price = price + bags.byte / tree.bandwidth[at] * state.port_price[payer]
            at = int(tree.parent[at])
        cheapest = np.minimum(cheapest, price)
    income = state.cpu_price @ tree.speed + state.port_price.sum()
    return float(income / (bags.weight @ cheapest))


@pytest.mark.parametrize("port", PORTS)
@pytest.mark.parametrize("reading", "ABCD")
def test_prices_prove_the_rates_of_the_papers_campaign(reading, port):
    for seed, n_hosts in enumerate((5, 20, 100, 5, 20, 100)):
        tree, bags = instance(reading, seed, n_hosts)
        state = steady_state(tree, bags, port=port)
        check_rates(tree, bags, state, port)
        bound = proven_bound(tree, bags, state, port)
        assert state.bound == pytest.approx(bound, rel=1e-12)
        assert bound * (1 - 1e-9) <= state.fair <= bound * (1 + 1e-12)
        income = state.cpu_price @ tree.speed + state.port_price.sum()
        assert income == pytest.approx(state.fair, rel=1e-9)
        # Section 3.4: on trees the fairest throughputs are equal.
        assert np.ptp(state.throughput) <= 1e-9 * state.fair


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), port=st.sampled_from(PORTS))
def test_wild_instances_are_proven_optimal(seed, port):
    tree, bags = wild(seed)
    state = steady_state(tree, bags, port=port)
    check_rates(tree, bags, state, port)
    assert state.fair >= proven_bound(tree, bags, state, port) * (1 - 1e-8)
    ratio = state.throughput / bags.weight
    if np.all(bags.byte > 0) or np.all(bags.byte == 0):
        assert np.ptp(ratio) <= 1e-8 * state.fair


def port_time(tree: Tree, bags: Bags, state: SteadyState) -> float:
    """Return the share of time that ports are busy, added up."""
    return float((state.sent[1:] @ bags.byte / tree.bandwidth[1:]).sum())


def test_of_the_optima_the_one_of_least_communication_is_chosen():
    saved = 0
    for seed in range(12):
        tree, bags = instance("ABCD"[seed % 4], seed, 20)
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
        tree, bags = instance("C", seed, 50)
        # Of the hosts worth sending to, some compute next to nothing.
        slow = np.where(np.arange(50) % 3 == 1, 1e-6, 1.0)
        tree = replace(tree, speed=tree.speed * slow)
        state = steady_state(tree, bags, cut=cut)
        check_rates(tree, bags, state, "single")
        least = cut * state.throughput / tree.n_hosts
        for flows in (state.sent, state.compute):
            assert not np.any((flows > 0) & (flows < 0.999 * least))
        assert state.bound * (1 - 10 * cut) <= state.fair <= state.bound * (1 + 1e-12)
        whole = steady_state(tree, bags, cut=0.0)
        assert state.fair <= whole.fair * (1 + 1e-12)
        gone += np.sum(whole.compute > 0) - np.sum(state.compute > 0)
    assert gone >= 12


def star(seed: int) -> tuple[Tree, Bags]:
    """Return a star whose bandwidths and CCRs differ, with ports from full to nearly idle."""
    rng = np.random.default_rng(seed)
    n, types = int(rng.integers(1, 9)), int(rng.integers(1, 5))
    speed = [rng.choice([0.0, 30.0, 400.0]), *(10.0 * rng.integers(1, 51, n))]
    bandwidth = 1.0 + rng.permutation(200)[:n]
    flop = rng.uniform(1, 50, types)
    byte = flop * (1 + rng.permutation(100)[:types]) * rng.choice([0.1, 1e-3, 1e-4])
    return tree_of([-1] + [0] * n, speed, list(bandwidth)), bags_of(
        list(flop), list(byte), list(rng.uniform(0.3, 3, types))
    )


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6))
def test_proposition_1_slices_of_a_star(seed):
    tree, bags = star(seed)
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


def test_a_tree_without_cpus_is_refused():
    tree = tree_of([-1, 0], [0.0, 0.0], [1.0])
    with raises_naming(InfeasibleError, "'h0'"):
        steady_state(tree, bags_of([1.0], [1.0]))
    with raises_naming(InfeasibleError, "cut", "0.7"):
        steady_state(tree_of([-1], [1.0], []), bags_of([1.0], [1.0]), cut=0.7)


def test_unknown_ports_are_refused():
    tree, bags = tree_of([-1, 0], [1.0, 1.0], [1.0]), bags_of([1.0], [1.0])
    for solve in (steady_state, exact_steady_state):
        with raises_naming(WorkloadError, "port", "'many'", "'single'", "'multi'"):
            solve(tree, bags, port="many")  # type: ignore[arg-type]


def test_a_thousand_hosts_are_proven_too():
    tree = random_tree(1000, 5, np.random.default_rng(5), bandwidths=(1e9, 1e11))
    bags = bags_of([FLOP] * 3, [1e8, 5e8, 4e9])
    state = steady_state(tree, bags)
    check_rates(tree, bags, state, "single")
    assert np.count_nonzero(state.compute.sum(axis=1)) > 500
    assert state.fair == pytest.approx(proven_bound(tree, bags, state, "single"), rel=1e-9)


def whole_numbers(seed: int) -> tuple[Tree, Bags]:
    """Return a small instance in small integers, some tasks without data, some hosts idle."""
    rng = np.random.default_rng(seed)
    n, types = int(rng.integers(1, 9)), int(rng.integers(1, 4))
    tree = Tree(
        tuple(f"h{i}" for i in range(n)),
        np.array([-1] + [int(rng.integers(i)) for i in range(1, n)]),
        np.append(rng.integers(0, 9, n - 1), 5),
        np.array([np.inf, *rng.integers(1, 20, n - 1)]),
        np.zeros(n),
    )
    names = tuple(f"a{k}" for k in range(types))
    weight = rng.integers(1, 4, types).astype(float)
    return tree, Bags(
        names, rng.integers(1, 9, types), rng.integers(0, 9, types), weight, np.ones(types)
    )


def campaign(seed: int) -> tuple[Tree, Bags]:
    """Return an instance in the ranges of section 6.1 of the paper, links faster at times."""
    rng = np.random.default_rng(seed)
    tree = random_tree(40, 5, rng, bandwidths=(110e3 * 30 ** (seed % 3), 7e6 * 30 ** (seed % 3)))
    ratio = np.linspace(0.001, np.exp(rng.uniform(np.log(0.002), np.log(4.6))), 3)
    return tree, Bags(("a", "b", "c"), 8.575e10, 8.575e10 * ratio, 1.0, 200)  # type: ignore[arg-type]


def check(tree: Tree, bags: Bags, state: ExactState, port: Port) -> None:
    """Assert program (1) and strong duality without any tolerance."""
    flop, byte, weight = (
        [Fraction(x) for x in each.tolist()] for each in (bags.flop, bags.byte, bags.weight)
    )
    kinds = range(len(flop))
    income = sum(state.port_price, Fraction(0))
    cheapest: list[list[Fraction]] = [[] for _ in kinds]
    for host in range(tree.n_hosts):
        children = tree.children[host]
        assert min(state.compute[host]) >= 0
        assert min(state.cpu_price[host], state.port_price[host]) >= 0
        for k in kinds:
            below = sum((state.sent[v][k] for v in children), Fraction(0))
            assert state.sent[host][k] == state.compute[host][k] + below
        speed = Fraction(tree.speed[host])
        assert sum(state.compute[host][k] * flop[k] for k in kinds) <= speed
        times = [
            sum(state.sent[v][k] * byte[k] for k in kinds) / Fraction(tree.bandwidth[v])
            for v in children
        ]
        assert (sum(times) if port == "single" else max(times, default=0)) <= 1
        income += state.cpu_price[host] * speed
        if speed:
            way, at = Fraction(0), host
            while at:
                payer = int(tree.parent[at]) if port == "single" else at
                way += state.port_price[payer] / Fraction(tree.bandwidth[at])
                at = int(tree.parent[at])
            for k in kinds:
                cheapest[k].append(state.cpu_price[host] * flop[k] + way * byte[k])
    assert state.fair == min(state.throughput[k] / weight[k] for k in kinds)
    assert state.throughput == state.sent[0]
    assert income == state.fair * sum(weight[k] * min(cheapest[k]) for k in kinds)


@settings(max_examples=50)
@given(seed=st.integers(0, 10**6), port=st.sampled_from(PORTS))
def test_whole_numbers_have_exact_optima(seed, port):
    tree, bags = whole_numbers(seed)
    state = exact_steady_state(tree, bags, port=port)
    check(tree, bags, state, port)
    other = steady_state(tree, bags, port=port)
    assert np.array(state.throughput, float) == pytest.approx(other.throughput, rel=1e-9)
    if np.all(bags.byte > 0):
        assert (
            len({x / Fraction(w) for x, w in zip(state.throughput, bags.weight, strict=True)}) == 1
        )


@pytest.mark.parametrize("seed", range(3))
def test_floats_have_exact_optima_too(seed):
    tree, bags = campaign(seed)
    state = exact_steady_state(tree, bags)
    check(tree, bags, state, "single")
    other = steady_state(tree, bags)
    assert np.array(state.compute, float) == pytest.approx(
        other.compute, rel=1e-6, abs=1e-9 * other.fair
    )
    assert float(state.fair) == pytest.approx(other.bound, rel=1e-11)


@pytest.mark.parametrize("seed", range(8))
def test_ratios_may_be_equal_but_for_rounding(seed):
    # A power of 2 keeps ratios equal; of 0.0040 the float, and each product, is rounded.
    rng = np.random.default_rng(seed)
    n, types = int(rng.integers(3, 15)), int(rng.integers(2, 5))
    tree = Tree(
        tuple(f"h{i}" for i in range(n)),
        [-1] + [int(rng.integers(v)) for v in range(1, n)],
        rng.uniform(1, 100, n) * 1e7,
        np.r_[np.inf, rng.uniform(1, 100, n - 1) * 1e5],
        np.zeros(n),
    )
    flop = rng.uniform(1, 50, types) * 1e9
    for byte in (2.0**-8 * flop, 0.004 * flop):
        bags = Bags(tuple(f"a{k}" for k in range(types)), flop, byte, 1.0, 10)
        state = exact_steady_state(tree, bags)
        assert float(state.fair) == pytest.approx(steady_state(tree, bags).bound, rel=1e-11)
        assert min(min(row) for row in state.compute) >= 0
        for host in range(n):
            load = [x * Fraction(w) for x, w in zip(state.compute[host], flop, strict=True)]
            assert sum(load) <= Fraction(tree.speed[host])
            sends = [
                sum(x * Fraction(b) for x, b in zip(state.sent[child], byte, strict=True))
                / Fraction(tree.bandwidth[child])
                for child in tree.children[host]
            ]
            assert sum(sends) <= 1


def test_floats_may_stand_for_fractions():
    names = ("root", "worker")
    tree = Tree(
        names, np.array([-1, 0]), np.array([0.0, 1 / 3]), np.array([np.inf, 1 / 7]), np.zeros(2)
    )
    bags = Bags(("a",), np.array([0.1]), np.array([0.2]), np.ones(1), np.ones(1))
    state = exact_steady_state(tree, bags, max_denominator=1000)
    assert state.throughput == (Fraction(5, 7),)
    assert state.port_price == (Fraction(5, 7), Fraction(0))
    assert exact_steady_state(tree, bags).throughput != (Fraction(5, 7),)


def test_rounded_quantities_have_exact_optima_or_are_refused():
    refusals = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        parent = np.array([-1] + [int(rng.integers(i)) for i in range(1, 4)])
        tree = Tree(
            tuple("rabc"),
            parent,
            rng.uniform(1, 3, 4),
            np.array([np.inf, *rng.uniform(1, 3, 3)]),
            np.zeros(4),
        )
        bags = Bags(("x", "y"), rng.uniform(1, 3, 2), rng.uniform(1, 3, 2), np.ones(2), np.ones(2))
        whole = replace(tree, speed=np.rint(tree.speed), bandwidth=np.rint(tree.bandwidth))
        rounded = replace(bags, flop=np.rint(bags.flop), byte=np.rint(bags.byte))
        try:
            state = exact_steady_state(tree, bags, max_denominator=1)
        except InfeasibleError as error:
            # The basis found for the floats is not that of such different numbers.
            refusals.append(str(error))
        else:
            check(whole, rounded, state, "single")
    assert 2 <= len(refusals) <= 18
    remedy = "is optimal to a tolerance only; give a larger max_denominator, or"
    assert all(remedy in each for each in refusals)


def test_rounding_that_makes_nothing_of_something_is_refused():
    tree = Tree(
        ("root", "worker"), np.array([-1, 0]), np.ones(2), np.array([np.inf, 8.0]), np.zeros(2)
    )
    bags = Bags(("a",), np.ones(1), np.ones(1), np.ones(1), np.ones(1))
    cases: list[tuple[Tree, Bags, type[SimpluginError], str]] = [
        (replace(tree, speed=np.array([0.0, 0.01])), bags, PlatformError, "speed of 'worker'"),
        (
            replace(tree, bandwidth=np.array([np.inf, 0.01])),
            bags,
            PlatformError,
            "bandwidth of 'worker'",
        ),
        (tree, replace(bags, flop=np.array([0.01])), WorkloadError, "flop of 'a'"),
        (tree, replace(bags, byte=np.array([0.01])), WorkloadError, "byte of 'a'"),
        (tree, replace(bags, weight=np.array([0.01])), WorkloadError, "weight of 'a'"),
    ]
    for platform, work, error, culprit in cases:
        told = rf"{culprit} is 0\.01, which max_denominator 10 makes 0; give a larger one"
        with pytest.raises(error, match=told):
            exact_steady_state(platform, work, max_denominator=10)
        exact_steady_state(platform, work, max_denominator=100)
    with raises_naming(WorkloadError, "max_denominator", "0"):
        exact_steady_state(tree, bags, max_denominator=0)
    # What is 0 stays 0.
    free = replace(bags, byte=np.zeros(1))
    assert exact_steady_state(tree, free, max_denominator=1).throughput == (Fraction(2),)


def test_a_tree_without_cpus_is_refused_in_fractions():
    tree = Tree(("h",), np.array([-1]), np.zeros(1), np.array([np.inf]), np.zeros(1))
    bags = Bags(("a",), np.ones(1), np.ones(1), np.ones(1), np.ones(1))
    with raises_naming(InfeasibleError, "'h'"):
        exact_steady_state(tree, bags)
