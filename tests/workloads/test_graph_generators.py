"""Generators by their names: all of them, what they refuse, and daggen against its program."""

import zlib
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naming import raises_naming

from simplugin.core.errors import WorkloadError
from simplugin.workloads import TaskGraph
from simplugin.workloads.daggen import daggen
from simplugin.workloads.graph_generators import (
    FAMILIES,
    GENERATORS,
    RANDOM,
    combination,
    graph_named,
    random_parameters,
)
from simplugin.workloads.task_costs import SCENARIOS, CostLaw

# Parameters without which a generator cannot be called.
NEEDED: dict[str, dict[str, Any]] = {
    "daggen": {"n_tasks": 30},
    "fft": {"points": 8},
    "strassen": {},
    "chain": {"n_tasks": 5},
    "fork_join": {"width": 4},
}


def test_all_are_tried_here():
    assert set(GENERATORS) == set(NEEDED)


@pytest.mark.parametrize("kind", GENERATORS)
class TestEach:
    def test_seeded(self, kind):
        graphs = [
            graph_named(kind, np.random.default_rng(seed), **NEEDED[kind], name="g")
            for seed in (1, 1, 2)
        ]
        assert graphs[0] == graphs[1] != graphs[2]
        assert graphs[0].name == "g"
        assert graph_named(kind, np.random.default_rng(1), **NEEDED[kind]).name == kind

    def test_costs(self, kind):
        parameters = NEEDED[kind] | {"sizes": "uniform", "max_alpha": 0.5}
        graph = graph_named(kind, np.random.default_rng(1), **parameters)
        assert 0.25 < np.max(graph.alpha) <= 0.5
        sides = np.sqrt(graph.byte / 8) / 1024
        assert not np.any(sides == np.round(sides))

    def test_unknown_parameter(self, kind):
        with pytest.raises(WorkloadError):
            graph_named(kind, np.random.default_rng(1), **NEEDED[kind], fat=0.5)
        with pytest.raises(WorkloadError):
            graph_named(kind, np.random.default_rng(1), **NEEDED[kind], costs=CostLaw())

    def test_missing_parameter(self, kind):
        for name in NEEDED[kind]:
            rest = {key: value for key, value in NEEDED[kind].items() if key != name}
            with pytest.raises(WorkloadError):
                graph_named(kind, np.random.default_rng(1), **rest)


def test_parameters_reach_the_generator():
    parameters = {"n_tasks": 20, "width": 0.8, "regularity": 0.2, "density": 0.8, "jump": 2}
    named = graph_named("daggen", np.random.default_rng(4), **parameters, scenario="log")
    law = CostLaw("log")
    assert named == daggen(**parameters, generator=np.random.default_rng(4), costs=law)  # type: ignore[arg-type]


OUT_OF_RANGE = [
    ("daggen", {"n_tasks": 0}, "n_tasks 0"),
    ("daggen", {"n_tasks": 2.5}, "n_tasks 2.5"),
    ("daggen", {"n_tasks": 9, "jump": 0}, "jump 0"),
    ("daggen", {"n_tasks": 9, "width": 1.2}, "width 1.2"),
    ("daggen", {"n_tasks": 9, "density": "high"}, "density 'high'"),
    ("fft", {"points": 1}, "points 1"),
    ("fft", {"points": 12}, "points 12"),
    ("fft", {"points": True}, "points True"),
    ("strassen", {"counting": "free"}, "counting 'free'"),
    ("strassen", {"sums": "bush"}, "sums 'bush'"),
    ("chain", {"n_tasks": 0}, "n_tasks 0"),
    ("fork_join", {"width": 0}, "width 0"),
    ("fork_join", {"width": 2, "stages": 1.5}, "stages 1.5"),
    ("strassen", {"scenario": "cubic"}, "scenario 'cubic'"),
    ("strassen", {"sizes": 5}, "sizes 5"),
    ("strassen", {"max_alpha": 1.5}, "max_alpha 1.5"),
    ("strassen", {"max_alpha": True}, "max_alpha True"),
    ("tree", {}, "'tree' daggen"),
]


@pytest.mark.parametrize(("kind", "parameters", "named"), OUT_OF_RANGE)
def test_parameters_out_of_range(kind, parameters, named):
    with raises_naming(WorkloadError, *named.split()):
        graph_named(kind, np.random.default_rng(1), **parameters)


def shapes(graphs: tuple[TaskGraph, ...]) -> list[list[list[int]]]:
    return [graph.edges.tolist() for graph in graphs]


@pytest.mark.parametrize("family", FAMILIES)
class TestEachFamily:
    def test_same_seed_same_graphs(self, family):
        assert combination(family, 4, 7) == combination(family, 4, 7)
        assert combination(family, 4, (6774, 7)) == combination(family, 4, [6774, 7])

    def test_others_differ(self, family):
        several = [combination(family, 2, seed) for seed in (0, 1, (0, 0), (0, 1), (1, 0))]
        flop = {graph.flop[0] * (1 + graph.alpha[0]) for graphs in several for graph in graphs}
        assert len(flop) == 10

    def test_names(self, family):
        names = [graph.name for graph in combination(family, 10, 0)]
        assert names == [f"{family}-{number}" for number in range(1, 11)]

    def test_uniform_sizes_change_no_shape(self, family):
        usual, uniform = combination(family, 6, 3), combination(family, 6, 3, sizes="uniform")
        assert shapes(usual) == shapes(uniform)
        assert all(np.all(graph.byte[0] / 8 % 1024**2 == 0) for graph in usual)
        assert any(graph.byte[0] / 8 % 1024**2 > 0 for graph in uniform)


def test_parameters_are_those_of_the_paper():
    # Section 2: tasks, and values of width, regularity, density and jump, as printed.
    assert RANDOM == {
        "n_tasks": (10, 20, 50),
        "width": (0.2, 0.5, 0.8),
        "regularity": (0.2, 0.8),
        "density": (0.2, 0.8),
        "jump": (1, 2, 4),
    }


def test_sizes_of_the_campaign():
    # Sections 2 and 7 of the paper; 15, 39 and 95 tasks are those of 4, 8 and 16 points.
    for family, sizes in (("random", {10, 20, 50}), ("fft", {15, 39, 95})):
        drawn = (combination(family, 10, seed) for seed in range(25))
        counts = Counter(graph.n_tasks for graphs in drawn for graph in graphs)
        assert set(counts) == sizes
        # A third of 250 is 83, with a standard deviation of 7.5.
        assert all(abs(count - 250 / 3) < 4 * 7.5 for count in counts.values())
    assert combination("strassen", 1, 0)[0].n_tasks == 25


def test_parameters_are_drawn_alike():
    generator = np.random.default_rng(1)
    drawn = [random_parameters(generator) for _ in range(2000)]
    for name, values in {**RANDOM, "scenario": SCENARIOS}.items():
        counts = Counter(parameters[name] for parameters in drawn)
        share = 1 / len(values)
        error = np.sqrt(share * (1 - share) / len(drawn))
        assert set(counts) == set(values)
        assert all(abs(count / len(drawn) - share) < 4 * error for count in counts.values())


def test_one_scenario():
    # Under the third complexity, flop are a function of data; those of the mixed one differ.
    def power(graph: TaskGraph) -> bool:
        return bool(np.allclose(graph.flop, (graph.byte / 8) ** 1.5))

    found = set()
    for seed in range(25):
        mixed = combination("random", 4, seed)
        one = combination("random", 4, seed, scenario="same")
        assert shapes(mixed) == shapes(one)
        assert mixed[0] == one[0]
        assert len({power(graph) for graph in one}) == 1
        found.add(len({power(graph) for graph in mixed}))
    assert found == {1, 2}


def test_fft_graphs_draw_scenarios_too():
    def per_element(graphs: tuple[TaskGraph, ...]) -> list[bool]:
        return [bool(np.allclose(each.flop, (each.byte / 8) ** 1.5)) for each in graphs]

    drawn = combination("fft", 60, 0)
    # One in four, but for four standard deviations of a binomial count.
    assert 2 <= sum(per_element(drawn)) <= 28
    mixed = combination("fft", 60, 0, scenario="mixed")
    assert not any(per_element(mixed))
    assert shapes(mixed) == shapes(drawn)


def test_counting_of_strassen():
    (real,) = combination("strassen", 1, 0)
    (drawn,) = combination("strassen", 1, 0, counting="drawn")
    assert len(np.unique(real.byte)) == 1
    assert len(np.unique(drawn.byte)) > 5


REFUSED = [
    (("tree", 2, 0), "'tree'"),
    (("fft", 0, 0), "count 0"),
    (("fft", 2, -1), "seed -1"),
    (("fft", 2, (1, 0.5)), "seed 0.5"),
]


@pytest.mark.parametrize(("arguments", "named"), REFUSED)
def test_refused(arguments, named):
    with raises_naming(WorkloadError, *named.split()):
        combination(*arguments)


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


# Functions generateTasks and generateDependencies of the daggen program
# (https://github.com/frs69wq/daggen at 2184ebf) were compiled by themselves, costs left out, and
# their rand() replaced by this for the graphs of `PROGRAM`.
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
def test_same_graphs_as_the_program(values, n_tasks, n_edges, checksum):
    graph = drawn(values[:-1], Congruential(values[-1]))
    text = " ".join(f"{source}>{target}" for source, target in graph.edges.tolist())
    assert (graph.n_tasks, graph.n_edges) == (n_tasks, n_edges)
    assert zlib.crc32(text.encode()) == checksum
    assert graph.tasks == tuple(str(number + 1) for number in range(n_tasks))


def test_regular_rows():
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
def test_any_parameters(values, seed):
    graph = drawn(values, np.random.default_rng(seed))
    assert graph.n_tasks == values[0]
    assert all(source < target for source, target in graph.edges.tolist())
    assert graph.edge_byte.tolist() == graph.byte[graph.edges[:, 0]].tolist()
    assert graph == drawn(values, np.random.default_rng(seed))


def test_costs_change_no_shape():
    values = (20, 0.5, 0.2, 0.8, 2)
    log = drawn(values, np.random.default_rng(3), costs=CostLaw("log"), name="log")
    power = drawn(values, np.random.default_rng(3), costs=CostLaw("power"), name="power")
    assert (log.name, power.name) == ("log", "power")
    assert log.edges.tolist() == power.edges.tolist()
