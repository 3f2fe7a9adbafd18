"""Random graphs against those of the daggen program.

Its functions generateTasks and generateDependencies (https://github.com/frs69wq/daggen at 2184ebf)
were compiled by themselves, costs left out, and their rand() replaced by `Congruential` below for
the graphs of `PROGRAM`.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simplugin.workloads import TaskGraph
from simplugin.workloads.daggen import daggen
from simplugin.workloads.task_costs import CostLaw

NAMES = ("n_tasks", "width", "regularity", "density", "jump")

# n, width, regularity, density, jump, seed: tasks, edges, and the checksum of the text
# "0>1 0>2 ..." of edges, in the order in which the program writes them, duplicates left out.
PROGRAM: list[tuple[tuple[Any, ...], int, int, int]] = [
    ((10, 0.5, 0.2, 0.8, 2, 1), 10, 11, 1799023467),
    ((20, 0.8, 0.2, 0.8, 1, 2), 20, 49, 2509599524),
    ((50, 0.5, 0.8, 0.2, 1, 3), 50, 48, 3449515496),
    ((50, 0.8, 0.2, 0.8, 4, 4), 50, 189, 1131477975),
    ((100, 0.8, 0.8, 0.2, 2, 6), 100, 265, 658506097),
]


class Congruential:
    """The numbers of a linear congruential generator first, then those of numpy."""

    def __init__(self, seed: int) -> None:
        self.state = seed
        self._costs = np.random.default_rng(0)

    def random(self) -> float:
        self.state = (1103515245 * self.state + 12345) % 2**31
        return self.state / 2**31

    def __getattr__(self, name: str) -> Any:
        return getattr(self._costs, name)


def drawn(values: tuple[Any, ...], generator: Any, **others: Any) -> TaskGraph:
    """Return a graph of these parameters, in the order of `NAMES`."""
    return daggen(**dict(zip(NAMES, values, strict=True)), generator=generator, **others)


@pytest.mark.parametrize(("values", "n_tasks", "n_edges", "checksum"), PROGRAM)
def test_same_graphs_as_the_program(
    values: tuple[Any, ...], n_tasks: int, n_edges: int, checksum: int
) -> None:
    graph = drawn(values[:-1], Congruential(values[-1]))
    text = " ".join(f"{source}>{target}" for source, target in graph.edges.tolist())
    assert (graph.n_tasks, graph.n_edges) == (n_tasks, n_edges)
    assert zlib.crc32(text.encode()) == checksum
    assert graph.tasks == tuple(str(number + 1) for number in range(n_tasks))


def test_regular_rows() -> None:
    # 100 ** 0.5 = 10 tasks a row, all of which have all tasks of the row before as predecessors
    # where the density is 1 and draws are the largest there are.
    class Largest(Congruential):
        def random(self) -> float:
            return 1 - 2.0**-31

    graph = daggen(100, Largest(0), width=0.5, regularity=1.0, density=1.0)  # type: ignore[arg-type]
    assert np.bincount(graph.level).tolist() == [10] * 10
    assert graph.n_edges == 9 * 100
    graph = daggen(100, np.random.default_rng(1), width=0.5, regularity=1.0, density=0.0)
    assert np.bincount(graph.level).tolist() == [10] * 10
    assert graph.n_edges == 90


@settings(max_examples=60)
@given(
    values=st.tuples(
        st.integers(1, 40), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1), st.integers(1, 5)
    ),
    seed=st.integers(0, 1000),
)
def test_any_parameters(values: tuple[Any, ...], seed: int) -> None:
    graph = drawn(values, np.random.default_rng(seed))
    assert graph.n_tasks == values[0]
    assert all(source < target for source, target in graph.edges.tolist())
    assert graph.edge_byte.tolist() == graph.byte[graph.edges[:, 0]].tolist()
    assert graph == drawn(values, np.random.default_rng(seed))


def test_costs_change_no_shape() -> None:
    values = (20, 0.5, 0.2, 0.8, 2)
    log = drawn(values, np.random.default_rng(3), costs=CostLaw("log"), name="log")
    power = drawn(values, np.random.default_rng(3), costs=CostLaw("power"), name="power")
    assert (log.name, power.name) == ("log", "power")
    assert log.edges.tolist() == power.edges.tolist()
    d = power.byte / 8
    assert np.allclose(power.flop, d**1.5, rtol=1e-12)
    assert np.all((log.flop / (d * np.log2(d)) >= 64) & (log.flop / (d * np.log2(d)) <= 512))
