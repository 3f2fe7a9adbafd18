"""Task graphs: what is refused, levels and paths against enumeration; costs of tasks."""

import itertools
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naming import raises_naming

from simplugin.core.errors import WorkloadError
from simplugin.workloads import TaskGraph
from simplugin.workloads.task_costs import COMPLEXITIES, CostLaw, complexity

# a -> b -> d, a -> c -> d, and e alone.
DIAMOND: dict[str, Any] = {
    "name": "diamond",
    "tasks": ("a", "b", "c", "d", "e"),
    "flop": np.array([1.0, 2.0, 3.0, 4.0, 5.0]),
    "alpha": np.array([0.0, 0.1, 0.2, 0.3, 1.0]),
    "byte": np.array([8.0, 16.0, 24.0, 32.0, 0.0]),
    "edges": np.array([[0, 1], [0, 2], [1, 3], [2, 3]]),
    "edge_byte": np.array([8.0, 8.0, 16.0, 24.0]),
}


def diamond(**changes: Any) -> TaskGraph:
    """Return the diamond, some fields changed."""
    return TaskGraph(**(DIAMOND | changes))


def with_entry(field: str, at: int, value: Any) -> list[Any]:
    """Return a field of the diamond, one of its entries changed."""
    entries = list(DIAMOND[field])
    entries[at] = value
    return entries


def graph_of(edges: list[tuple[int, int]], n_tasks: int) -> TaskGraph:
    """Return a graph whose task i takes i + 1 flop, and whose edge i has i + 1 bytes."""
    number = np.arange(n_tasks)
    return TaskGraph(
        "g",
        tuple(f"t{task}" for task in number),
        number + 1.0,
        np.zeros(n_tasks),
        np.zeros(n_tasks),
        np.array(edges, dtype=np.int64).reshape(-1, 2),
        np.arange(len(edges)) + 1.0,
    )


@st.composite
def graphs(draw: st.DrawFn) -> TaskGraph:
    """Any graph of up to eight tasks, numbered and its edges listed in any order."""
    n_tasks = draw(st.integers(1, 8))
    place = draw(st.permutations(range(n_tasks)))
    pairs = [(place[i], place[j]) for j in range(n_tasks) for i in range(j)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return graph_of(edges, n_tasks)


def paths_from(graph: TaskGraph, task: int) -> list[list[int]]:
    """Return all paths from a task to an exit; those over an earlier edge come first."""
    after = [int(target) for source, target in graph.edges if source == task]
    return [[task, *rest] for each in after for rest in paths_from(graph, each)] or [[task]]


def length(
    graph: TaskGraph, path: list[int], time: np.ndarray, transfer: np.ndarray | None = None
) -> float:
    """Return how long a path takes."""
    edge = {(int(source), int(target)): at for at, (source, target) in enumerate(graph.edges)}
    moves = 0.0
    if transfer is not None:
        moves = sum(transfer[edge[pair]] for pair in itertools.pairwise(path))
    return float(sum(time[task] for task in path) + moves)


WRONG_FIELDS = [
    ("tasks", 3, "b"),
    ("flop", 1, -2.0),
    ("flop", 1, "x"),
    ("alpha", 2, 1.1),
    ("alpha", 3, np.nan),
    ("byte", 0, np.inf),
    ("edge_byte", 3, -1.0),
    ("edges", 3, (2, 5)),
    ("edges", 3, (-1, 3)),
    ("edges", 3, (0, 2)),
    ("edges", 0, (0.5, 1)),
    ("edges", 1, (3, 1)),
    ("edges", 3, (2, 2)),
]


WRONG_SHAPES = [
    {"tasks": ()},
    {"flop": [1.0, 2.0]},
    {"edge_byte": [8.0] * 3},
    {"edges": [[0] * 4] * 2},
    {"edges": [0, 1, 0, 2]},
]


class TestRefused:
    @pytest.mark.parametrize(("field", "at", "value"), WRONG_FIELDS)
    def test_refused(self, field, at, value):
        with pytest.raises(WorkloadError):
            diamond(**{field: with_entry(field, at, value)})

    @pytest.mark.parametrize("changes", WRONG_SHAPES)
    def test_shapes(self, changes):
        with pytest.raises(WorkloadError):
            diamond(**changes)

    def test_a_long_cycle_is_shortened(self):
        ring = [(task, (task + 1) % 100) for task in range(100)]
        with pytest.raises(WorkloadError) as raised:
            graph_of(ring, 100)
        assert len(str(raised.value)) < 300

    @given(graphs(), st.data())
    def test_the_cycle_that_is_named_is_one(self, graph, data):
        source = data.draw(st.integers(0, graph.n_tasks - 1))
        path = data.draw(st.sampled_from(paths_from(graph, source)))
        edges = [tuple(edge) for edge in graph.edges.tolist()]
        with pytest.raises(WorkloadError) as raised:
            graph_of([*edges, (path[-1], source)], graph.n_tasks)
        named = str(raised.value).split("cycle: ")[1].split(";")[0].split(" -> ")
        tasks = [int(name.strip("'t")) for name in named]
        assert tasks[0] == tasks[-1]
        assert len(set(tasks)) == len(tasks) - 1
        assert set(itertools.pairwise(tasks)) <= {*edges, (path[-1], source)}


class TestShape:
    def test_counts(self):
        graph = diamond()
        assert (graph.entries.tolist(), graph.exits.tolist()) == ([0, 4], [3, 4])
        assert (graph.n_tasks, graph.n_edges, graph.width, graph.work) == (5, 4, 2, 15.0)

    @given(graphs())
    def test_order_and_levels(self, graph):
        order = graph.order.tolist()
        assert sorted(order) == list(range(graph.n_tasks))
        place = {task: at for at, task in enumerate(order)}
        assert all(place[source] < place[target] for source, target in graph.edges.tolist())
        depth = [0] * graph.n_tasks
        for entry in graph.entries.tolist():
            for path in paths_from(graph, entry):
                for at, task in enumerate(path):
                    depth[task] = max(depth[task], at)
        assert graph.level.tolist() == depth
        assert graph.width == max(depth.count(level) for level in depth)

    @given(graphs(), st.booleans())
    def test_bottom_and_top_levels(self, graph, moves):
        # Powers of two that no sum rounds.
        time = 2.0 ** (np.arange(graph.n_tasks) % 5)
        transfer = graph.edge_byte / 4 if moves else None
        bottom = [
            max(length(graph, path, time, transfer) for path in paths_from(graph, task))
            for task in range(graph.n_tasks)
        ]
        assert graph.bottom_levels(time, transfer).tolist() == bottom
        top = [0.0] * graph.n_tasks
        for entry in graph.entries.tolist():
            for path in paths_from(graph, entry):
                for at, task in enumerate(path):
                    top[task] = max(top[task], length(graph, path[: at + 1], time, transfer))
        assert graph.top_levels(time, transfer).tolist() == top

    @given(graphs(), st.booleans())
    def test_critical_path_is_the_first_of_the_longest(self, graph, moves):
        # Few lengths, so that there are ties.
        time = 1.0 + np.arange(graph.n_tasks) % 2
        transfer = np.arange(graph.n_edges) % 2 * 1.0 if moves else None
        paths = [path for entry in graph.entries.tolist() for path in paths_from(graph, entry)]
        lengths = [length(graph, path, time, transfer) for path in paths]
        assert graph.critical_path(time, transfer) == paths[int(np.argmax(lengths))]


class TestValue:
    @pytest.mark.parametrize("field", sorted(DIAMOND))
    def test_equal_in_all_fields(self, field):
        other = {"name": "other", "tasks": "f", "edges": (2, 4)}.get(field, 0.5)
        changed = "other" if field == "name" else with_entry(field, 3, other)
        assert diamond() == diamond()
        assert diamond() != diamond(**{field: changed})
        assert diamond() != "diamond"

    def test_pickled(self):
        graph = diamond()
        _ = graph.level
        copy = pickle.loads(pickle.dumps(graph))
        assert copy == graph
        assert copy.level.tolist() == graph.level.tolist()

    def test_has_no_hash(self):
        with pytest.raises(TypeError):
            hash(diamond())

    def test_keeps_its_own_arrays(self):
        flop, edges = DIAMOND["flop"].copy(), DIAMOND["edges"].copy()
        graph = diamond(flop=flop, edges=edges)
        flop[0], edges[0, 0] = -1.0, 4
        assert graph == diamond()


COUNT = 4000


def drawn(seed: int = 1, **law: Any):
    """Return costs of many tasks."""
    return CostLaw(**law).draw(COUNT, np.random.default_rng(seed))


def test_complexities():
    side = 2.0**11
    d = np.array([side * side])
    assert complexity("linear", d, 64.0).tolist() == [2.0**28]
    assert complexity("log", d, 64.0).tolist() == [2.0**28 * 22]
    assert complexity("power", d, 64.0).tolist() == [2.0**33]
    with raises_naming(WorkloadError, "complexity", "'mixed'"):
        complexity("mixed", d)  # type: ignore[arg-type]


def test_sides_are_those_that_daggen_draws():
    side = np.sqrt(drawn().elements) / 1024
    values, counts = np.unique(side, return_counts=True)
    assert drawn().byte.tolist() == (8 * drawn().elements).tolist()
    assert values.tolist() == [2, 3, 4, 5, 6, 7, 8, 9, 10]
    # Nine alike: a share has a standard deviation of sqrt(8) / 9 / sqrt(COUNT).
    assert np.all(np.abs(counts / COUNT - 1 / 9) < 4 * np.sqrt(8) / 9 / np.sqrt(COUNT))


def test_uniform_sizes():
    million = 1024**2
    elements = drawn(sizes="uniform").elements / million
    assert np.min(elements) == pytest.approx(4, abs=0.2)
    assert np.max(elements) == pytest.approx(121, abs=0.2)
    assert np.min(elements) >= 4
    assert np.max(elements) <= 121
    assert np.mean(elements) == pytest.approx(62.5, abs=4 * 117 / np.sqrt(12 * COUNT))


@pytest.mark.parametrize("max_alpha", [0.25, 1.0, 0.0])
def test_alpha(max_alpha):
    alpha = drawn(max_alpha=max_alpha).alpha
    assert np.all((alpha >= 0) & (alpha <= max_alpha))
    assert np.mean(alpha) == pytest.approx(max_alpha / 2, abs=4 * max_alpha / np.sqrt(12 * COUNT))


def test_scenarios_differ_in_the_complexity_only():
    mixed = drawn()
    each = {kind: drawn(scenario=kind) for kind in COMPLEXITIES}
    for costs in each.values():
        assert costs.elements.tolist() == mixed.elements.tolist()
        assert costs.alpha.tolist() == mixed.alpha.tolist()
    d = mixed.elements
    a = each["linear"].flop / d
    assert 64 <= np.min(a) < 65
    assert 511 < np.max(a) < 512
    assert np.allclose(each["log"].flop, a * d * np.log2(d), rtol=1e-12)
    assert np.allclose(each["power"].flop, d**1.5, rtol=1e-12)
    same = np.array([mixed.flop == each[kind].flop for kind in COMPLEXITIES])
    assert np.all(np.sum(same, axis=0) == 1)
    # Three alike: a share has a standard deviation of sqrt(2) / 3 / sqrt(COUNT).
    shares = np.mean(same, axis=1)
    assert np.all(np.abs(shares - 1 / 3) < 4 * np.sqrt(2) / 3 / np.sqrt(COUNT))


def test_a_graph_hands_on_the_data_of_the_source():
    costs = drawn().of(np.array([5, 7, 5]))
    graph = costs.graph("g", ["a", "b", "c"], [(1, 0), (2, 1)])
    assert graph.byte[0] == graph.byte[2] != graph.byte[1]
    assert graph.edge_byte.tolist() == [graph.byte[1], graph.byte[2]]
    assert graph.flop.tolist() == costs.flop.tolist()
