"""Schedules and graphs as charts."""

import numpy as np
import pytest
from small_graphs import graph_of

from simplugin.platforms.sites import MultiCluster
from simplugin.reports.graphs import graphs_figure
from simplugin.taskgraphs.charts import graph_chart, graph_charts, schedule_chart
from simplugin.taskgraphs.schedule import Schedule
from simplugin.workloads.graph_generators import graph_named
from simplugin.workloads.graph_sets import GraphSet

SITE = MultiCluster("here", (("a", 2, 1e9), ("b", 3, 2e9))).site()


FORK = graph_of("f", [2e9, 8e9, 4e9], [(0, 1), (0, 2)], 1.0)
CHAIN = graph_of("c", [1e9, 1e9], [(0, 1)], 1.0)


@pytest.fixture
def schedule():
    """Two graphs: a fork on both clusters, and a chain."""
    return Schedule(
        SITE, GraphSet((FORK, CHAIN)),
        cluster=np.array([0, 1, 1, 0, 0]),
        start=np.array([0.0, 1.0, 1.0, 1.0, 2.0]),
        finish=np.array([1.0, 3.0, 3.0, 2.0, 3.0]),
        processor_start=np.array([0, 2, 4, 5, 6, 7]),
        processor=np.array([0, 1, 2, 4, 3, 0, 1]),
        order=np.arange(5),
    )  # fmt: skip


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


@pytest.mark.parametrize(
    ("kind", "parameters", "count"),
    [
        ("chain", {"n_tasks": 1}, 1),
        ("daggen", {"n_tasks": 50, "width": 0.8, "density": 0.8, "jump": 4}, 50),
    ],
)
def test_every_generated_graph_can_be_drawn(kind, parameters, count):
    chart = graph_chart(graph_named(kind, np.random.default_rng(1), **parameters))
    assert len(chart.nodes) == count
    [axes] = graphs_figure([chart]).axes
    names = {text.get_text() for text in axes.texts}
    assert {node.name for node in chart.nodes} <= names


def test_tasks_without_work_can_be_drawn():
    chart = graph_chart(graph_of("z", [0.0, 0.0], [(0, 1)]))
    assert [node.size for node in chart.nodes] == [0.0, 0.0]
