"""The closed form for one application against examples and the linear program."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simplugin.errors import InfeasibleError, WorkloadError
from simplugin.optimum.bandwidth_centric import bandwidth_centric
from simplugin.optimum.steady_state import Port, steady_state
from simplugin.platforms.graphs import Tree
from simplugin.platforms.topologies.random_trees import random_tree
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


def test_fast_links_are_served_first() -> None:
    # Tasks of 1 flop and 1 byte. Of the port, 5/10 go to the fast link, 2/5 to the next.
    tree = star([1.0, 8.0, 5.0, 2.0], [2.0, 10.0, 5.0])
    rates = bandwidth_centric(tree, 1.0, 1.0)
    assert rates.compute == pytest.approx([1.0, 0.2, 5.0, 2.0], rel=1e-12)
    assert rates.throughput == pytest.approx(8.2, rel=1e-12)
    assert rates.sent == pytest.approx([8.2, 0.2, 5.0, 2.0], rel=1e-12)
    multi = bandwidth_centric(tree, 1.0, 1.0, port="multi")
    assert multi.compute == pytest.approx([1.0, 2.0, 5.0, 2.0], rel=1e-12)


def test_a_chain_passes_on_what_its_links_let_through() -> None:
    tree = Tree(
        ("a", "b", "c"),
        np.array([-1, 0, 1]),
        np.array([0.0, 1.0, 10.0]),
        np.array([np.inf, 3.0, 9.0]),
        np.zeros(3),
    )
    rates = bandwidth_centric(tree, 1.0, 1.0)
    # The one in the middle keeps for itself first.
    assert rates.compute == pytest.approx([0.0, 1.0, 2.0], rel=1e-12)
    free = bandwidth_centric(tree, 1.0, 0.0)
    assert free.throughput == pytest.approx(11.0, rel=1e-12)


@settings(max_examples=50)
@given(
    seed=st.integers(0, 10**6),
    n_hosts=st.sampled_from([1, 2, 5, 20, 60]),
    degree=st.sampled_from([1, 2, 5, 15]),
    port=st.sampled_from(PORTS),
    wide=st.sampled_from([1.0, 100.0, 1e4]),
    root_computes=st.booleans(),
)
def test_the_program_finds_the_same(
    seed: int, n_hosts: int, degree: int, port: Port, wide: float, root_computes: bool
) -> None:
    rng = np.random.default_rng(seed)
    tree = random_tree(
        n_hosts,
        degree,
        rng,
        bandwidths=(110e3 * wide, 7e6 * wide),
        root_computes=root_computes or n_hosts == 1,
    )
    flop, byte = 8.575e10, 8.575e10 * 10 ** rng.uniform(-3, 0.6)
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


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(InfeasibleError, match="no host of the tree of 'h0' computes; give one"):
        bandwidth_centric(star([0.0, 0.0], [1.0]), 1.0, 1.0)
    with pytest.raises(WorkloadError, match=r"0\.0 flop and 1\.0 byte; give a positive"):
        bandwidth_centric(star([1.0], []), 0.0, 1.0)
