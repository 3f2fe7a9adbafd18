"""Schedules and graphs as charts, and where tasks are drawn."""

from itertools import combinations, pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_graphs import graph_of

from simplugin.platforms.sites import MultiCluster
from simplugin.reports.graphs import draw_graphs
from simplugin.taskgraphs.charts import graph_chart, graph_charts, layered_layout, schedule_chart
from simplugin.taskgraphs.schedule import Schedule
from simplugin.workloads.graph_generators import graph_named
from simplugin.workloads.task_graphs import GraphSet

SITE = MultiCluster("here", (("a", 2, 1e9), ("b", 3, 2e9))).site()


FORK = graph_of("f", [2e9, 8e9, 4e9], [(0, 1), (0, 2)], 1.0)
CHAIN = graph_of("c", [1e9, 1e9], [(0, 1)], 1.0)


@pytest.fixture
def schedule():
    """Two graphs: a fork on both clusters, and a chain."""
    dates = np.array([0.0, 1.0, 1.0, 1.0, 2.0]), np.array([1.0, 3.0, 3.0, 2.0, 3.0])
    places = [[0, 1], [2, 4], [3], [0], [1]]
    return Schedule.of(SITE, GraphSet((FORK, CHAIN)), places, *dates, range(5))


def test_bars_are_tasks(schedule):
    chart = schedule_chart(schedule, "Both", dates={"bound": 2.5})
    assert chart.clusters == (("a", 2), ("b", 3))
    assert chart.groups == ("f", "c")
    assert [bar.group for bar in chart.bars] == [0, 0, 0, 1, 1]
    assert [bar.label for bar in chart.bars] == ["t0", "t1", "t2", "t0", "t1"]
    assert chart.bars[1].processors == (2, 4)
    assert (chart.bars[1].start, chart.bars[1].finish) == (1.0, 3.0)
    assert chart.completion == (3.0, 3.0)
    # 2 + 4 + 2 + 1 + 1 of 5 times 3.
    assert chart.facts == "5 tasks, makespan 3 s, 67 % of the processors' time taken"
    assert chart.dates == {"bound": 2.5}


def test_graphs_have_their_allocations(schedule):
    fork, chain = graph_charts(schedule)
    assert [node.text for node in fork.nodes] == ["2×", "2×", "1×"]  # noqa: RUF001
    assert [node.name for node in fork.nodes] == ["t0", "t1", "t2"]
    assert [node.group for node in fork.nodes] == [0, 1, 1]
    assert [node.size for node in fork.nodes] == [0.25, 1.0, 0.5]
    assert [node.y for node in fork.nodes] == [0, 1, 1]
    assert fork.groups == ("a", "b")
    assert (fork.colour, chain.colour) == (0, 1)
    assert fork.facts == "3 tasks, 2 edges, 2 levels, width 2, 0.014 Tflop"
    assert chain.facts == "2 tasks, 1 edge, 2 levels, width 1, 0.002 Tflop"


def test_the_critical_path_stands_out():
    chart = graph_chart(FORK)
    assert [node.marked for node in chart.nodes] == [True, True, False]
    assert [edge.marked for edge in chart.edges] == [True, False]
    other = graph_chart(FORK, time=np.array([1.0, 1.0, 2.0]))
    assert [node.marked for node in other.nodes] == [True, False, True]
    assert [node.group for node in chart.nodes] == [None] * 3


GENERATED = [
    ("chain", {"n_tasks": 1}, 1),
    ("daggen", {"n_tasks": 50, "width": 0.8, "density": 0.8, "jump": 4}, 50),
]


@pytest.mark.parametrize(("kind", "parameters", "count"), GENERATED)
def test_every_generated_graph_can_be_drawn(kind, parameters, count):
    chart = graph_chart(graph_named(kind, np.random.default_rng(1), **parameters))
    assert len(chart.nodes) == count
    [axes] = draw_graphs([chart]).figure.axes
    names = {text.get_text() for text in axes.texts}
    assert {node.name for node in chart.nodes} <= names


def test_tasks_without_work_can_be_drawn():
    chart = graph_chart(graph_of("z", [0.0, 0.0], [(0, 1)]))
    assert [node.size for node in chart.nodes] == [0.0, 0.0]


def graph_with(n_tasks, edges):
    return graph_of("g", np.ones(n_tasks), edges, 1.0)


@st.composite
def graphs(draw):
    n_tasks = draw(st.integers(1, 14))
    pairs = list(combinations(range(n_tasks), 2))
    edges = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=25)) if pairs else []
    return graph_with(n_tasks, edges)


def ways(graph, places):
    """Return each edge's points, from its source to its target."""
    spots = np.stack([places.x, places.y], axis=1).tolist()
    pairs = zip(graph.edges.tolist(), places.bends, strict=True)
    return [[spots[a], *map(list, bends), spots[b]] for (a, b), bends in pairs]


def crossings(graph, places):
    """Count crossing ways between levels, pair by pair."""
    steps = [pair for way in ways(graph, places) for pair in pairwise(way)]
    count = 0
    for (a, b), (c, d) in combinations(steps, 2):
        count += a[1] == c[1] and (a[0] - c[0]) * (b[0] - d[0]) < -1e-9
    return count


@settings(max_examples=40, derandomize=True)
@given(graphs())
def test_levels_are_rows_and_nothing_stands_on_anything(graph):
    places = layered_layout(graph)
    assert np.array_equal(places.y, graph.level)
    assert places.x.min() >= -1e-9
    for level in range(int(graph.level.max()) + 1):
        row = np.sort(places.x[graph.level == level])
        assert np.all(np.diff(row) >= 1 - 1e-9)
        bends = [x for way in places.bends for x, y in way if y == level]
        everything = np.sort([*row, *bends])
        assert np.all(np.diff(everything) >= 0.4 - 1e-9)
    for way in ways(graph, places):
        assert np.array_equal(np.diff([y for _, y in way]), np.ones(len(way) - 1))


def test_crossings_are_removed_where_they_can_be():
    # Numbered against their predecessors, and a tree.
    for n_tasks, edges in (
        (8, [(0, 7), (1, 6), (2, 5), (3, 4)]),
        (7, [(0, 1), (0, 2), (1, 4), (1, 6), (2, 3), (2, 5)]),
    ):
        graph = graph_with(n_tasks, edges)
        assert crossings(graph, layered_layout(graph)) == 0


def test_crossings_are_few():
    for seed in range(4):
        generator = np.random.default_rng(seed)
        pairs = [(a, 5 + b) for a in range(5) for b in range(5) if generator.random() < 0.4]
        # With an edge each, all lower ones are of level 1.
        pairs += [(0, 5 + b) for b in range(5) if not any(t == 5 + b for _, t in pairs)]
        graph = graph_with(10, pairs)
        fewest = min(
            sum((up.index(a) - up.index(c)) * (low.index(b) - low.index(d)) < 0
                for (a, b), (c, d) in combinations(pairs, 2))
            for up in [list(range(5))]
            for low in map(list, permutations(range(5, 10)))
        )  # fmt: skip
        # Both rows may move here, only one of them in the search.
        assert crossings(graph, layered_layout(graph)) <= fewest + 1


def test_a_chain_is_a_line():
    chain = graph_named("chain", np.random.default_rng(0), n_tasks=10)
    assert layered_layout(chain).x == pytest.approx(np.zeros(10))


def test_a_parent_stands_above_the_middle_of_his_children():
    fork = graph_with(6, [(0, task) for task in range(1, 6)])
    x = layered_layout(fork).x
    assert x[0] == pytest.approx(x[1:].mean())


def test_parts_that_nothing_joins_stay_together():
    places = layered_layout(graph_with(9, [(0, 1), (2, 3), (4, 5), (4, 6)]))
    assert np.all(np.diff(np.sort(places.x)) <= 1 + 1e-9)


def test_large_graphs_have_places():
    wide = graph_named("daggen", np.random.default_rng(1), n_tasks=200, width=0.5, jump=2)
    assert len(layered_layout(wide).x) == 200
