"""Random graphs against those of the daggen program.

Its functions generateTasks and generateDependencies (https://github.com/frs69wq/daggen at 2184ebf)
were compiled by themselves, costs left out, and their rand() replaced by `Congruential` below for
the graphs of `PROGRAM`, but not for the means of `MEANS`.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simplugin.errors import WorkloadError
from simplugin.workloads import TaskGraph
from simplugin.workloads.daggen import daggen
from simplugin.workloads.task_costs import CostLaw

NAMES = ("n_tasks", "width", "regularity", "density", "jump")

# n, width, regularity, density, jump, seed: sizes of rows, edges, and the checksum of the text
# "0>1 0>2 ..." of edges, in the order in which the program writes them, duplicates left out.
PROGRAM: list[tuple[tuple[Any, ...], list[int], int, int]] = [
    ((10, 0.5, 0.2, 0.8, 2, 1), [3, 1, 2, 3, 1], 11, 1799023467),
    ((20, 0.8, 0.2, 0.8, 1, 2), [2, 13, 5], 49, 2509599524),
    ((50, 0.5, 0.8, 0.2, 1, 3), [7, 6, 6, 6, 7, 6, 5, 6, 1], 48, 3449515496),
    ((50, 0.8, 0.2, 0.8, 4, 4), [6, 30, 14], 189, 1131477975),
    ((100, 0.8, 0.8, 0.2, 2, 6), [32, 43, 25], 265, 658506097),
]

# Means and standard deviations over 4,000 graphs of the program, seed 77: edges without
# duplicates, precedence levels, largest level.
MEANS = [
    ((20, 0.5, 0.8, 0.2, 1), (16.519, 6.092, 3.984), (0.500, 0.369, 0.125)),
    ((50, 0.5, 0.8, 0.2, 1), (52.750, 8.106, 7.681), (3.101, 0.434, 0.475)),
    ((20, 0.8, 0.2, 0.8, 1), (36.778, 2.684, 12.159), (10.343, 0.766, 2.805)),
    ((50, 0.8, 0.2, 0.8, 1), (212.662, 2.915, 28.036), (49.088, 0.825, 6.009)),
    ((50, 0.5, 0.2, 0.8, 4), (129.574, 6.868, 12.920), (22.915, 1.027, 2.219)),
    ((20, 0.8, 0.8, 0.2, 2), (15.498, 2.480, 10.412), (1.897, 0.500, 0.742)),
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


@pytest.mark.parametrize(("values", "sizes", "n_edges", "checksum"), PROGRAM)
def test_same_graphs_as_the_program(
    values: tuple[Any, ...], sizes: list[int], n_edges: int, checksum: int
) -> None:
    graph = drawn(values[:-1], Congruential(values[-1]))
    text = " ".join(f"{source}>{target}" for source, target in graph.edges.tolist())
    assert (graph.n_tasks, graph.n_edges) == (sum(sizes), n_edges)
    assert zlib.crc32(text.encode()) == checksum


def test_a_graph_of_the_program() -> None:
    graph = drawn(PROGRAM[0][0][:-1], Congruential(1))
    edges = "0>3 1>3 2>5 3>4 3>6 3>7 3>8 4>7 4>9 5>9 7>9"
    assert [f"{source}>{target}" for source, target in graph.edges.tolist()] == edges.split()
    assert graph.tasks == tuple(str(number) for number in range(1, 11))


@pytest.mark.parametrize(("values", "means", "deviations"), MEANS)
def test_means_of_the_program(
    values: tuple[Any, ...], means: tuple[float, ...], deviations: tuple[float, ...]
) -> None:
    generator = np.random.default_rng(6774)
    graphs = [drawn(values, generator) for _ in range(300)]
    found = [(graph.n_edges, int(np.max(graph.level)) + 1, graph.width) for graph in graphs]
    error = np.array(deviations) * np.sqrt(1 / 300 + 1 / 4000)
    assert np.all(np.abs(np.mean(found, axis=0) - means) < 3.5 * error)


@pytest.mark.parametrize("jump", [1, 2])
def test_chain(jump: int) -> None:
    # 10 ** 0.2 = 1.58: one task a row, and one predecessor each.
    generator = np.random.default_rng(1)
    for _ in range(20):
        graph = daggen(10, generator, width=0.2, regularity=0.8, density=0.8, jump=jump)
        rows = [(int(target) - int(source)) for source, target in graph.edges]
        assert graph.n_edges == 9
        assert max(rows) <= jump
        if jump == 1:
            assert graph.edges.tolist() == [[task, task + 1] for task in range(9)]


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
    st.integers(1, 40),
    st.floats(0, 1),
    st.floats(0, 1),
    st.floats(0, 1),
    st.integers(1, 5),
    st.integers(0, 1000),
)
def test_any_parameters(
    n_tasks: int, width: float, regularity: float, density: float, jump: int, seed: int
) -> None:
    graph = drawn((n_tasks, width, regularity, density, jump), np.random.default_rng(seed))
    assert graph.n_tasks == n_tasks
    assert all(source < target for source, target in graph.edges.tolist())
    assert graph.edge_byte.tolist() == graph.byte[graph.edges[:, 0]].tolist()
    assert graph == drawn((n_tasks, width, regularity, density, jump), np.random.default_rng(seed))


def test_costs_change_no_shape() -> None:
    values = (20, 0.5, 0.2, 0.8, 2)
    log = drawn(values, np.random.default_rng(3), costs=CostLaw("log"), name="log")
    power = drawn(values, np.random.default_rng(3), costs=CostLaw("power"), name="power")
    assert (log.name, power.name) == ("log", "power")
    assert log.edges.tolist() == power.edges.tolist()
    d = power.byte / 8
    assert np.allclose(power.flop, d**1.5, rtol=1e-12)
    assert np.all((log.flop / (d * np.log2(d)) >= 64) & (log.flop / (d * np.log2(d)) <= 512))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_tasks": 0}, "n_tasks is 0; give a whole number from 1 on"),
        ({"n_tasks": 2.5}, "n_tasks is 2.5"),
        ({"jump": 0}, "jump is 0; give a whole number from 1 on"),
        ({"jump": True}, "jump is True"),
        ({"width": 1.2}, "width is 1.2; give a number from 0 to 1"),
        ({"regularity": -0.1}, "regularity is -0.1"),
        ({"density": "high"}, "density is 'high'"),
        ({"density": float("nan")}, "density is nan"),
    ],
)
def test_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(WorkloadError, match=message):
        daggen(**({"n_tasks": 10} | changes), generator=np.random.default_rng(1))
