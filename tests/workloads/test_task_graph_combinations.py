"""Combinations of graphs of the paper's campaign."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from simplugin.errors import WorkloadError
from simplugin.workloads import TaskGraph
from simplugin.workloads.graph_generators import (
    FAMILIES,
    POINTS,
    RANDOM,
    combination,
    random_parameters,
)
from simplugin.workloads.task_costs import SCENARIOS


def shapes(graphs: tuple[TaskGraph, ...]) -> list[list[list[int]]]:
    """Return the edges of each graph."""
    return [graph.edges.tolist() for graph in graphs]


@pytest.mark.parametrize("family", FAMILIES)
class TestEachFamily:
    def test_same_seed_same_graphs(self, family: Any) -> None:
        assert combination(family, 4, 7) == combination(family, 4, 7)
        assert combination(family, 4, (6774, 7)) == combination(family, 4, [6774, 7])

    def test_others_differ(self, family: Any) -> None:
        several = [combination(family, 2, seed) for seed in (0, 1, (0, 0), (0, 1), (1, 0))]
        flop = {graph.flop[0] * (1 + graph.alpha[0]) for graphs in several for graph in graphs}
        assert len(flop) == 10

    def test_names(self, family: Any) -> None:
        names = [graph.name for graph in combination(family, 10, 0)]
        assert names == [f"{family}-{number}" for number in range(1, 11)]

    def test_uniform_sizes_change_no_shape(self, family: Any) -> None:
        usual, uniform = combination(family, 6, 3), combination(family, 6, 3, sizes="uniform")
        assert shapes(usual) == shapes(uniform)
        assert all(np.all(graph.byte[0] / 8 % 1024**2 == 0) for graph in usual)
        assert any(graph.byte[0] / 8 % 1024**2 > 0 for graph in uniform)


def test_parameters_are_those_of_the_paper() -> None:
    # Section 2: tasks, and values of width, regularity, density and jump, as printed.
    assert RANDOM == {
        "n_tasks": (10, 20, 50),
        "width": (0.2, 0.5, 0.8),
        "regularity": (0.2, 0.8),
        "density": (0.2, 0.8),
        "jump": (1, 2, 4),
    }
    # Section 7: "4, 8 or 16 levels"; 15 and 95 tasks are those of 4 and 16 points.
    assert POINTS == (4, 8, 16)


def test_sizes_of_the_campaign() -> None:
    sizes = {
        family: Counter(
            graph.n_tasks for seed in range(25) for graph in combination(family, 10, seed)
        )
        for family in FAMILIES
    }
    assert set(sizes["random"]) == {10, 20, 50}
    assert set(sizes["fft"]) == {15, 39, 95}
    assert set(sizes["strassen"]) == {25}
    # A third of 250 is 83, with a standard deviation of 7.5.
    for family in ("random", "fft"):
        assert all(abs(count - 250 / 3) < 4 * 7.5 for count in sizes[family].values())


def test_parameters_are_drawn_alike() -> None:
    generator = np.random.default_rng(1)
    drawn = [random_parameters(generator) for _ in range(2000)]
    for name, values in {**RANDOM, "scenario": SCENARIOS}.items():
        counts = Counter(parameters[name] for parameters in drawn)
        share = 1 / len(values)
        error = np.sqrt(share * (1 - share) / len(drawn))
        assert set(counts) == set(values)
        assert all(abs(count / len(drawn) - share) < 4 * error for count in counts.values())


def test_one_scenario() -> None:
    # Under the third complexity, flop are a function of data; those of the mixed one differ.
    def power(graph: TaskGraph) -> bool:
        return bool(np.allclose(graph.flop, (graph.byte / 8) ** 1.5))

    found = set()
    for seed in range(25):
        mixed, one = (
            combination("random", 4, seed),
            combination("random", 4, seed, one_scenario=True),
        )
        assert shapes(mixed) == shapes(one)
        assert mixed[0] == one[0]
        assert len({power(graph) for graph in one}) == 1
        found.add(len({power(graph) for graph in mixed}))
    assert found == {1, 2}


def test_counting_of_strassen() -> None:
    (real,), (drawn,) = (
        combination("strassen", 1, 0),
        combination("strassen", 1, 0, counting="drawn"),
    )
    assert len(np.unique(real.byte)) == 1
    assert len(np.unique(drawn.byte)) > 5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("tree", 2, 0), "family is 'tree'; give one of 'random', 'fft', 'strassen'"),
        (("fft", 0, 0), "count is 0; give a whole number from 1 on"),
        (("fft", 2, -1), "seed is -1; give a whole number from 0 on"),
        (("fft", 2, (1, 0.5)), "seed is 0.5"),
    ],
)
def test_refused(arguments: Any, message: str) -> None:
    with pytest.raises(WorkloadError, match=message):
        combination(*arguments)
