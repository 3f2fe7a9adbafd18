"""Task graphs of the simplest shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simplugin.workloads.parameter_ranges import whole
from simplugin.workloads.task_costs import CostLaw

if TYPE_CHECKING:
    import numpy as np

    from simplugin.workloads.task_graphs import TaskGraph


def chain(
    n_tasks: int,
    generator: np.random.Generator,
    *,
    costs: CostLaw | None = None,
    name: str = "chain",
) -> TaskGraph:
    """Return tasks one after the other.

    Parameters
    ----------
    n_tasks : int
        How many tasks.
    generator : numpy.random.Generator
        Of the costs.
    costs : CostLaw, optional
        Of costs; the default one without.
    name : str
        Of the graph.

    Raises
    ------
    WorkloadError
        There is no task.
    """
    n_tasks = whole("n_tasks", n_tasks)
    tasks = [str(task + 1) for task in range(n_tasks)]
    edges = [(task, task + 1) for task in range(n_tasks - 1)]
    return (costs or CostLaw()).draw(n_tasks, generator).graph(name, tasks, edges)


def fork_join(
    width: int,
    generator: np.random.Generator,
    *,
    stages: int = 1,
    costs: CostLaw | None = None,
    name: str = "fork_join",
) -> TaskGraph:
    """Return stages of tasks side by side, a single task before, between and after them.

    Parameters
    ----------
    width : int
        Tasks side by side.
    generator : numpy.random.Generator
        Of the costs.
    stages : int
        How many times they fork and join.
    costs : CostLaw, optional
        Of costs; the default one without.
    name : str
        Of the graph.

    Raises
    ------
    WorkloadError
        There is no stage, or no task in it.
    """
    width, stages = whole("width", width), whole("stages", stages)
    tasks, edges = ["join 0"], []
    for stage in range(stages):
        fork = len(tasks) - 1
        join = fork + width + 1
        edges += [(fork, task) for task in range(fork + 1, join)]
        edges += [(task, join) for task in range(fork + 1, join)]
        tasks += [f"task {stage + 1}.{place}" for place in range(width)] + [f"join {stage + 1}"]
    return (costs or CostLaw()).draw(len(tasks), generator).graph(name, tasks, edges)
