"""Steady states in fractions: nothing but equalities."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simplugin.errors import InfeasibleError, PlatformError, SimpluginError, WorkloadError
from simplugin.optimum.exact_steady_state import ExactState, exact_steady_state
from simplugin.optimum.steady_state import Port, steady_state
from simplugin.platforms.graphs import Tree
from simplugin.platforms.topologies.random_trees import random_tree
from simplugin.workloads.applications import Bags

PORTS: tuple[Port, ...] = ("single", "multi")


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
def test_whole_numbers_have_exact_optima(seed: int, port: Port) -> None:
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
def test_floats_have_exact_optima_too(seed: int) -> None:
    tree, bags = campaign(seed)
    state = exact_steady_state(tree, bags)
    check(tree, bags, state, "single")
    other = steady_state(tree, bags)
    assert np.array(state.compute, float) == pytest.approx(
        other.compute, rel=1e-6, abs=1e-9 * other.fair
    )
    assert float(state.fair) == pytest.approx(other.bound, rel=1e-11)


def test_floats_may_stand_for_fractions() -> None:
    names = ("root", "worker")
    tree = Tree(
        names, np.array([-1, 0]), np.array([0.0, 1 / 3]), np.array([np.inf, 1 / 7]), np.zeros(2)
    )
    bags = Bags(("a",), np.array([0.1]), np.array([0.2]), np.ones(1), np.ones(1))
    state = exact_steady_state(tree, bags, max_denominator=1000)
    assert state.throughput == (Fraction(5, 7),)
    assert state.port_price == (Fraction(5, 7), Fraction(0))
    assert exact_steady_state(tree, bags).throughput != (Fraction(5, 7),)


def test_rounded_quantities_have_exact_optima_or_are_refused() -> None:
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


def test_rounding_that_makes_nothing_of_something_is_refused() -> None:
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
    with pytest.raises(WorkloadError, match="max_denominator is 0"):
        exact_steady_state(tree, bags, max_denominator=0)
    # What is 0 stays 0.
    free = replace(bags, byte=np.zeros(1))
    assert exact_steady_state(tree, free, max_denominator=1).throughput == (Fraction(2),)


def test_a_tree_without_cpus_is_refused() -> None:
    tree = Tree(("h",), np.array([-1]), np.zeros(1), np.array([np.inf]), np.zeros(1))
    bags = Bags(("a",), np.ones(1), np.ones(1), np.ones(1), np.ones(1))
    with pytest.raises(InfeasibleError, match="no host of the tree of 'h' computes; give one"):
        exact_steady_state(tree, bags)
