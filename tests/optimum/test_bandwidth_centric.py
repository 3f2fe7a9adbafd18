"""Steady states of one application, and of restricted hosts, against closed forms and programs."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from small_trees import assert_feasible, bags_of, restricted_instance, tree_of

from simplugin.core.errors import InfeasibleError, WorkloadError
from simplugin.optimum.bandwidth_centric import bandwidth_centric
from simplugin.optimum.exact_steady_state import exact_steady_state
from simplugin.optimum.steady_state import Port, steady_state
from simplugin.platforms.graphs import Tree
from simplugin.platforms.topologies.random_graphs import random_tree
from simplugin.workloads.applications import Bags

PORTS: tuple[Port, ...] = ("single", "multi")


def star(speed: list[float], bandwidth: list[float]) -> Tree:
    """Return a star from all speeds and the bandwidths of the workers."""
    count = len(speed)
    return Tree(
        tuple(f"h{i}" for i in range(count)),
        np.array([-1] + [0] * (count - 1)),
        np.array(speed),
        np.array([np.inf, *bandwidth]),
        np.zeros(count),
    )


@settings(max_examples=50)
@given(
    seed=st.integers(0, 10**6),
    n_hosts=st.sampled_from([1, 2, 5, 20, 60]),
    degree=st.sampled_from([1, 2, 5, 15]),
    port=st.sampled_from(PORTS),
    wide=st.sampled_from([1.0, 100.0, 1e4]),
    root_computes=st.booleans(),
)
def test_the_program_finds_the_same(seed, n_hosts, degree, port, wide, root_computes):
    rng = np.random.default_rng(seed)
    tree = random_tree(
        n_hosts,
        degree,
        rng,
        bandwidths=(110e3 * wide, 7e6 * wide),
        root_computes=root_computes or n_hosts == 1,
    )
    # Some tasks have no data.
    flop, byte = 8.575e10, 8.575e10 * 10 ** rng.uniform(-3, 0.6) * (rng.random() > 0.1)
    rates = bandwidth_centric(tree, flop, byte, port=port)
    bags = Bags(("a",), np.array([flop]), np.array([byte]), np.array([1.0]), np.array([200]))
    state = steady_state(tree, bags, port=port)
    assert rates.throughput == pytest.approx(state.fair, rel=1e-9)
    assert rates.throughput == pytest.approx(state.bound, rel=1e-9)
    # The rates themselves are feasible.
    assert np.all(rates.compute * flop <= tree.speed * (1 + 1e-12))
    for host, children in enumerate(tree.children):
        below = rates.sent[list(children)]
        total = rates.compute[host] + below.sum()
        assert rates.sent[host] == pytest.approx(total, rel=1e-12, abs=1e-15 * state.fair)
        times = below * byte / tree.bandwidth[list(children)]
        assert (times.sum() if port == "single" else times.max(initial=0)) <= 1 + 1e-12


def test_what_makes_no_sense_is_refused():
    with pytest.raises(InfeasibleError, match="no host of the tree of 'h0' computes; give one"):
        bandwidth_centric(star([0.0, 0.0], [1.0]), 1.0, 1.0)
    with pytest.raises(WorkloadError, match=r"0\.0 flop and 1\.0 byte; give a positive"):
        bandwidth_centric(star([1.0], []), 0.0, 1.0)


def fairest_over_paths(tree, bags, port="single"):
    """Return the fairest throughputs per weight: one rate for each allowed host and application.

    A level is raised; who cannot have more, asked one by one, stays there; and so on.
    """
    pairs = [
        (host, kind)
        for host, name in enumerate(tree.hosts)
        for kind in range(bags.n_applications)
        if tree.speed[host] > 0 and bags.may_compute(name)[kind]
    ]
    used = np.zeros((2 * tree.n_hosts, len(pairs) + 1))
    level = np.zeros((bags.n_applications, len(pairs) + 1))
    for at, (host, kind) in enumerate(pairs):
        used[host, at] = bags.flop[kind] / tree.speed[host]
        level[kind, at] = 1 / bags.weight[kind]
        while host:
            parent = int(tree.parent[host])
            payer = parent if port == "single" else host
            used[tree.n_hosts + payer, at] += bags.byte[kind] / tree.bandwidth[host]
            host = parent
    room = np.ones(len(used))

    def best(held, raised):
        rows, right = [], []
        for kind, row in enumerate(level):
            row = row.copy()
            row[-1] = -float(kind in raised)
            rows.append(-row)
            right.append(-held.get(kind, 0.0) * (1 - 1e-11))
        cost = np.zeros(len(pairs) + 1)
        cost[-1] = -1
        found = linprog(cost, np.vstack([used, rows]), np.append(room, right), method="highs")
        assert found.status == 0
        return found.x[-1]

    held, free = {}, set(range(bags.n_applications))
    while free:
        reached = best(held, free)
        floor = held | dict.fromkeys(free, reached)
        # On top of the floor.
        stopped = {kind for kind in free if best(floor, {kind}) <= reached * 1e-7}
        assert stopped
        held |= dict.fromkeys(stopped, reached)
        free -= stopped
    return np.array([held[kind] for kind in range(bags.n_applications)])


@pytest.mark.parametrize("port", ["single", "multi"])
@settings(max_examples=60)
@given(seed=st.integers(0, 10**6))
def test_fairest_levels(seed, port):
    tree, bags = restricted_instance(seed)
    found = steady_state(tree, bags, port=port)
    want = fairest_over_paths(tree, bags, port)
    assert found.throughput / bags.weight == pytest.approx(want, rel=1e-6)
    assert found.fair <= found.bound * (1 + 1e-9)
    if port == "single":
        assert_feasible(tree, bags, found)
    allowed = np.array([bags.may_compute(name) for name in tree.hosts])
    assert not np.any(found.compute[~allowed])
    # Nothing goes where nobody may compute it.
    below = allowed & (tree.speed > 0)[:, None]
    for host in range(tree.n_hosts - 1, 0, -1):
        below[tree.parent[host]] |= below[host]
    assert not np.any(found.sent[~below])


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6))
def test_in_fractions(seed):
    tree, bags = restricted_instance(seed, whole=True)
    exact = exact_steady_state(tree, bags)
    want = fairest_over_paths(tree, bags)
    assert np.array(exact.throughput, dtype=float) / bags.weight == pytest.approx(want, rel=1e-7)
    assert (
        sum(exact.port_price)
        + sum(price * int(speed) for price, speed in zip(exact.cpu_price, tree.speed, strict=True))
        == exact.fair
    )


def test_one_application_on_some_hosts():
    tree = tree_of([-1, 0, 0], [1.0, 2.0, 3.0], [4.0, 2.0])
    # h2 takes half of the port for a task per second; without it, h1 has all.
    assert bandwidth_centric(tree, 1.0, 1.0, hosts=("h0", "h2")).throughput == 3.0
    assert bandwidth_centric(tree, 1.0, 1.0, hosts=("h2",)).compute.tolist() == [0.0, 0.0, 2.0]
    with pytest.raises(WorkloadError, match="'h9', which is no host"):
        bandwidth_centric(tree, 1.0, 1.0, hosts=("h0", "h9"))
    alone = replace(bags_of([1.0], [1.0]), hosts=[["h0", "h2"]])
    assert steady_state(tree, alone).fair == pytest.approx(3.0, rel=1e-9)


REFUSED = [
    ({"a": ["h0"], "b": []}, InfeasibleError, "may compute application 'b'"),
    ({"b": ["h2"]}, InfeasibleError, "may compute application 'b'"),
    ({"b": ["h1", "x"]}, WorkloadError, "hosts of application 'b' names 'x'"),
]


@pytest.mark.parametrize("solve", [steady_state, exact_steady_state])
@pytest.mark.parametrize(("hosts", "error", "names"), REFUSED)
def test_refused(solve, hosts, error, names):
    tree = tree_of([-1, 0, 0], [1.0, 2.0, 0.0], 1.0)
    with pytest.raises(error, match=names):
        solve(tree, replace(bags_of([1.0, 1.0], [1.0, 1.0]), hosts=hosts))
