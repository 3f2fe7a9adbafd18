"""Steady states of one application, and of restricted hosts, against closed forms and programs."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naming import raises_naming
from small_trees import bags_of, tree_of

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
    with raises_naming(InfeasibleError, "'h0'"):
        bandwidth_centric(star([0.0, 0.0], [1.0]), 1.0, 1.0)
    with raises_naming(WorkloadError, "0.0 flop", "1.0 byte"):
        bandwidth_centric(star([1.0], []), 0.0, 1.0)


def test_one_application_on_some_hosts():
    tree = tree_of([-1, 0, 0], [1.0, 2.0, 3.0], [4.0, 2.0])
    # h2 takes half of the port for a task per second; without it, h1 has all.
    assert bandwidth_centric(tree, 1.0, 1.0, hosts=("h0", "h2")).throughput == 3.0
    assert bandwidth_centric(tree, 1.0, 1.0, hosts=("h2",)).compute.tolist() == [0.0, 0.0, 2.0]
    with pytest.raises(WorkloadError) as caught:
        bandwidth_centric(tree, 1.0, 1.0, hosts=("h0", "h9"))
    assert "'h9'" in str(caught.value)
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
