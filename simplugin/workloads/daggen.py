"""Random task graphs as the daggen program draws them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from simplugin.core.elementary import exp, log
from simplugin.workloads.parameter_ranges import MOST, part, whole
from simplugin.workloads.task_costs import CostLaw
from simplugin.workloads.task_graphs import TaskGraph


def daggen(
    n_tasks: int,
    generator: np.random.Generator,
    *,
    width: float = 0.5,
    regularity: float = 0.9,
    density: float = 0.5,
    jump: int = 1,
    costs: CostLaw | None = None,
    name: str = "daggen",
) -> TaskGraph:
    """Return a random task graph, by the program [1]_ that the paper [2]_ draws its graphs with.

    Tasks are in rows and get data from earlier rows; they are numbered row by row. With jumps
    longer than 1, all predecessors of a task may be above the previous row: its precedence level
    may differ from its row.

    Parameters
    ----------
    n_tasks : int
        Number of tasks.
    generator : numpy.random.Generator
        Of all draws, those of the shape first.
    width : float
        Rows have ``n_tasks ** width`` tasks, rounded down: 0 for a chain, 1 for a single row.
    regularity : float
        1 for rows of the same size, 0 for those of up to twice as many tasks, or of one.
    density : float
        A task has up to this part of the row before as predecessors, one at least.
    jump : int
        Largest distance to a predecessor's row; 1 for the previous row only.
    costs : CostLaw, optional
        Distribution of costs; by default that of `CostLaw()`.
    name : str
        Of the graph.

    Raises
    ------
    WorkloadError
        A parameter is out of its range.

    References
    ----------
    .. [1] F. Suter, S. Hunold (2007-2013). daggen, a synthetic task graph generator.
       https://github.com/frs69wq/daggen
    .. [2] N. N'takpé, F. Suter (2008). Concurrent Scheduling of Parallel Task Graphs on
       Multi-Clusters Using Constrained Resource Allocations. INRIA research report 6774.
    """
    n_tasks, jump = whole("n_tasks", n_tasks, most=MOST), whole("jump", jump)
    width, regularity = part("width", width), part("regularity", regularity)
    # By exponential and logarithm, and in percent, as in the program: rounding down is sensitive.
    usual = int(exp(width * log(n_tasks)))
    spread = 100.0 - 100.0 * regularity
    sizes = []
    left = n_tasks
    while left:
        change = -spread + 2 * spread * generator.random()
        sizes.append(min(left, max(1, int(usual * (1.0 + change / 100.0)))))
        left -= sizes[-1]
    edges = _edges(sizes, part("density", density), jump, generator)
    tasks = [str(task + 1) for task in range(n_tasks)]
    return (costs or CostLaw()).draw(n_tasks, generator).graph(name, tasks, edges)


def _edges(
    sizes: Sequence[int], density: float, jump: int, generator: np.random.Generator
) -> list[tuple[int, int]]:
    """Return the edges by source, and of each source in the order in which they were drawn."""
    first = [sum(sizes[:row]) for row in range(len(sizes))]
    successors: list[list[int]] = [[] for _ in range(sum(sizes))]
    for row in range(1, len(sizes)):
        for task in range(first[row], first[row] + sizes[row]):
            # The program's minimum is a macro that evaluates its result a second time: one draw is
            # compared with the row, another one is the number of predecessors to draw.
            count = sizes[row - 1]
            if 1 + int(density * count * generator.random()) < count:
                count = 1 + int(density * count * generator.random())
            for _ in range(count):
                above = max(0, row - int(1.0 + jump * generator.random()))
                place = int(sizes[above] * generator.random())
                source = _free(task, place, first[above], sizes[above], successors)
                if source is not None:
                    successors[source].append(task)
    # Duplicate edges count once: the program's successors of a task may repeat.
    return [
        (source, each) for source, after in enumerate(successors) for each in dict.fromkeys(after)
    ]


def _free(
    task: int, place: int, first: int, size: int, successors: Sequence[Sequence[int]]
) -> int | None:
    """Return the next task of a row, from a place on, that does not precede a task yet."""
    after = successors[first + place]
    for _ in range(size):
        if task not in after:
            return first + place
        # The program compares where it found the task with how many successors the next source
        # has, and takes that one unseen if they are equal.
        found = after.index(task)
        place = (place + 1) % size
        after = successors[first + place]
        if found == len(after):
            return first + place
    return None
