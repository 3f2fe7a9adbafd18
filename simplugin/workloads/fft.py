"""Task graphs of the fast Fourier transform."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simplugin.errors import WorkloadError
from simplugin.workloads.parameter_ranges import whole
from simplugin.workloads.task_costs import CostLaw

if TYPE_CHECKING:
    from simplugin.workloads.task_graphs import TaskGraph


def fft(
    points: int,
    generator: np.random.Generator,
    *,
    costs: CostLaw | None = None,
    name: str = "fft",
) -> TaskGraph:
    """Return the task graph of a fast Fourier transform of m points.

    A binary tree of 2 m - 1 tasks splits the points; log2(m) rows of m butterflies combine them:
    task j of row r gets data from tasks j and j with bit r - 1 flipped of the row before, the
    leaves of the tree being row 0. All tasks of a level cost the same. The paper's [1]_ graphs of
    4, 8 and 16 points have 15, 39 and 95 tasks; its text has 37 for the second.

    Parameters
    ----------
    points : int
        m, a power of two from 2 on.
    generator : numpy.random.Generator
        Of the costs.
    costs : CostLaw, optional
        Of costs, drawn once for each level; the default one without.
    name : str
        Of the graph.

    Raises
    ------
    WorkloadError
        The number of points is no power of two, or 1.

    References
    ----------
    .. [1] N. N'takpé, F. Suter (2008). Concurrent Scheduling of Parallel Task Graphs on
       Multi-Clusters Using Constrained Resource Allocations. INRIA research report 6774.
    """
    points = whole("points", points, 2)
    if points & (points - 1):
        raise WorkloadError(f"points is {points!r}; give a power of two, such as 4, 8 or 16")
    depth = points.bit_length() - 1
    sizes = [*(2**level for level in range(depth + 1)), *([points] * depth)]
    first = np.cumsum([0, *sizes]).tolist()
    edges = [(task, 2 * task + side) for task in range(points - 1) for side in (1, 2)]
    for row in range(depth):
        here, below = first[depth + row], first[depth + row + 1]
        edges += [(here + j, below + k) for j in range(points) for k in (j, j ^ 1 << row)]
    tasks = [
        f"split {level}.{j}" if level <= depth else f"combine {level - depth}.{j}"
        for level, size in enumerate(sizes)
        for j in range(size)
    ]
    level_costs = (costs or CostLaw()).draw(len(sizes), generator)
    return level_costs.of(np.repeat(np.arange(len(sizes)), sizes)).graph(name, tasks, edges)
