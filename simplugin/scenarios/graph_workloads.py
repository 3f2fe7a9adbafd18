"""The task graphs that a scenario names, read or drawn."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from simplugin.errors import WorkloadError
from simplugin.formats.task_graph_files import read_task_graph
from simplugin.workloads.graph_generators import graph_named
from simplugin.workloads.graph_sets import GraphSet

if TYPE_CHECKING:
    from simplugin.scenarios.scenario import Scenario
    from simplugin.scenarios.taskgraphs import GraphTable, TaskGraphsWorkload
    from simplugin.workloads.task_graphs import TaskGraph

_KEY = ("workload", "graphs")


def graph_set(scenario: Scenario) -> GraphSet:
    """Return the graphs of a scenario of kind "taskgraphs".

    Graphs are called as their table says, else after their file or generator; those of the same
    name are numbered through.

    Parameters
    ----------
    scenario : Scenario
        Draws without a seed of their own follow from its seed and the place of their table.

    Raises
    ------
    ScenarioError
        There is no such generator, it refuses its parameters, or a file has no use for an option.
    WorkloadFileError
        A file says something wrong.
    """
    workload: TaskGraphsWorkload = scenario.workload
    graphs: list[TaskGraph] = []
    release: list[float] = []
    for place, table in enumerate(workload.graphs):
        graphs += _read(scenario, place) if table.generator is None else _drawn(scenario, place)
        release += [table.release] * table.count
    counts = Counter(graph.name for graph in graphs)
    used: Counter[str] = Counter()
    for number, graph in enumerate(graphs):
        used[graph.name] += 1
        if counts[graph.name] > 1:
            graphs[number] = replace(graph, name=f"{graph.name}-{used[graph.name]}")
    try:
        return GraphSet(tuple(graphs), np.array(release))
    except WorkloadError as error:
        raise scenario.error(str(error), *_KEY) from error


def _read(scenario: Scenario, place: int) -> list[TaskGraph]:
    """Return the graphs of a file."""
    table: GraphTable = scenario.workload.graphs[place]
    assert table.file is not None
    options = {name: getattr(table, name) for name in ("alpha", "speed")}
    given = {name: value for name, value in options.items() if value is not None}
    try:
        graph = read_task_graph(table.file, name=table.name or table.file.stem, **given)
    except WorkloadError as error:
        raise scenario.error(str(error), *_KEY, place) from error
    return [graph] * table.count


def _drawn(scenario: Scenario, place: int) -> list[TaskGraph]:
    """Return the graphs of a generator."""
    table: GraphTable = scenario.workload.graphs[place]
    assert table.generator is not None
    seed = (scenario.simulation.seed, place) if table.seed is None else table.seed
    generator = np.random.default_rng(seed)
    name = {"name": table.name or table.generator}
    try:
        return [
            graph_named(table.generator, generator, **(name | table.parameters))
            for _ in range(table.count)
        ]
    except (WorkloadError, TypeError, ValueError) as error:
        message = f"generator {table.generator!r} refused its parameters: {error}"
        key = "parameters" if table.parameters else "generator"
        raise scenario.error(message, *_KEY, place, key) from error
