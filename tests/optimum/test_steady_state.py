"""Steady states on trees against closed forms, other programs and what their prices prove."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from simplugin.errors import InfeasibleError, WorkloadError
from simplugin.optimum.exact_steady_state import exact_steady_state
from simplugin.optimum.steady_state import Port, SteadyState, steady_state
from simplugin.platforms.graphs import Tree
from simplugin.platforms.topologies.random_trees import random_tree
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


def largest_throughput(tree: Tree, bags: Bags, port: Port, kind: int, least: np.ndarray) -> float:
    """Return the largest throughput of one type if all reach a least one, by one dense program."""
    n, types, computes = tree.n_hosts, bags.n_applications, tree.speed > 0
    below = np.eye(n)
    for host in range(1, n):
        below[:, host] += below[:, tree.parent[host]]
    # What each link or port, then each CPU takes for the least throughput of each type on a host.
    busy = below[:, :, None] * (bags.byte * least) / tree.bandwidth[:, None, None]
    if port == "single":
        busy = np.array([busy[list(children)].sum(axis=0) for children in tree.children])
    cpu = np.eye(n)[computes][:, :, None] * (bags.flop * least) / tree.speed[computes, None, None]
    total = np.tile(np.eye(types), n)
    found = linprog(
        -total[kind],
        A_ub=np.vstack([busy.reshape(n, -1), cpu.reshape(len(cpu), -1), -total]),
        b_ub=np.concatenate([np.ones(n + len(cpu)), -np.ones(types)]),
        bounds=[(0, None if works else 0) for works in np.repeat(computes, types)],
        options={"presolve": False},
    )
    assert found.status == 0
    return float(-found.fun * least[kind])


def test_the_root_takes_what_is_heavy_to_send() -> None:
    # x of the second type go to the worker: 3 + x = 4 - 100 x, for the link passes 4 byte/s.
    tree, bags = tree_of([-1, 0], [3.0, 10.0], [4.0]), bags_of([1.0, 1.0], [1.0, 100.0])
    state = steady_state(tree, bags)
    x = 1 / 101
    assert state.compute == pytest.approx(np.array([[0.0, 3.0], [3 + x, x]]), abs=1e-12)
    assert state.fair == pytest.approx(3 + x, rel=1e-12)
    # 101 fair = 100 speed + bandwidth.
    assert state.cpu_price == pytest.approx([100 / 101, 0.0], rel=1e-12)
    assert state.port_price == pytest.approx([4 / 101, 0.0], rel=1e-12)


def test_ports_are_shared_or_not() -> None:
    tree = tree_of([-1, 0, 0], [0.0, 10.0, 10.0], [2.0, 1.0])
    bags = bags_of([1.0], [1.0])
    single = steady_state(tree, bags)
    assert single.throughput == pytest.approx([2.0])
    assert single.port_price == pytest.approx([2.0, 0.0, 0.0])
    multi = steady_state(tree, bags, port="multi")
    assert multi.throughput == pytest.approx([3.0])
    assert multi.port_price == pytest.approx([0.0, 2.0, 1.0])


@pytest.mark.parametrize("port", PORTS)
@pytest.mark.parametrize("reading", "ABCD")
def test_prices_prove_the_rates_of_the_papers_campaign(reading: str, port: Port) -> None:
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
def test_wild_instances_are_proven_optimal(seed: int, port: Port) -> None:
    tree, bags = wild(seed)
    state = steady_state(tree, bags, port=port)
    check_rates(tree, bags, state, port)
    assert state.fair >= proven_bound(tree, bags, state, port) * (1 - 1e-8)
    ratio = state.throughput / bags.weight
    if np.all(bags.byte > 0) or np.all(bags.byte == 0):
        assert np.ptp(ratio) <= 1e-8 * state.fair


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), port=st.sampled_from(PORTS))
def test_no_application_gains_unless_one_that_has_no_more_loses(seed: int, port: Port) -> None:
    tree, bags = wild(seed, 0.2)
    state = steady_state(tree, bags, port=port)
    ratio = state.throughput / bags.weight
    for kind in range(bags.n_applications):
        poorer = ratio <= ratio[kind] * (1 + 1e-7)
        # A richer one may lose nearly everything.
        least = np.where(poorer, 1 - 1e-9, 1e-6) * state.throughput
        best = largest_throughput(tree, bags, port, kind, least)
        assert best == pytest.approx(state.throughput[kind], rel=1e-5)


def test_types_without_data_use_what_the_port_leaves() -> None:
    # The port passes one task of the second type a second, of 1 flop; 19 flop/s are left.
    tree = tree_of([-1, 0], [0.0, 20.0], [5.0])
    state = steady_state(tree, bags_of([1.0, 1.0, 2.0], [0.0, 5.0, 0.0]))
    assert state.throughput == pytest.approx([19 / 3, 1.0, 19 / 3], rel=1e-9)
    assert state.fair == pytest.approx(1.0, rel=1e-12)
    assert state.bound == pytest.approx(1.0, rel=1e-12)
    assert state.cpu_price == pytest.approx([0.0, 0.0], abs=1e-12)


def port_time(tree: Tree, bags: Bags, state: SteadyState) -> float:
    """Return the share of time that ports are busy, added up."""
    return float((state.sent[1:] @ bags.byte / tree.bandwidth[1:]).sum())


def test_of_the_optima_the_one_of_least_communication_is_chosen() -> None:
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
def test_flows_under_the_cut_are_gone_and_little_is_lost(cut: float) -> None:
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
def test_proposition_1_slices_of_a_star(seed: int) -> None:
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


def test_a_tree_without_cpus_is_refused() -> None:
    tree = tree_of([-1, 0], [0.0, 0.0], [1.0])
    with pytest.raises(InfeasibleError, match=r"no host of the tree of 'h0' computes; give"):
        steady_state(tree, bags_of([1.0], [1.0]))
    with pytest.raises(InfeasibleError, match=r"cut is 0\.7"):
        steady_state(tree_of([-1], [1.0], []), bags_of([1.0], [1.0]), cut=0.7)


def test_unknown_ports_are_refused() -> None:
    tree, bags = tree_of([-1, 0], [1.0, 1.0], [1.0]), bags_of([1.0], [1.0])
    for solve in (steady_state, exact_steady_state):
        with pytest.raises(WorkloadError, match="port is 'many'; give 'single' or 'multi'"):
            solve(tree, bags, port="many")  # type: ignore[arg-type]


def test_a_thousand_hosts_are_proven_too() -> None:
    tree = random_tree(1000, 5, np.random.default_rng(5), bandwidths=(1e9, 1e11))
    bags = bags_of([FLOP] * 3, [1e8, 5e8, 4e9])
    state = steady_state(tree, bags)
    check_rates(tree, bags, state, "single")
    assert np.count_nonzero(state.compute.sum(axis=1)) > 500
    assert state.fair == pytest.approx(proven_bound(tree, bags, state, "single"), rel=1e-9)
