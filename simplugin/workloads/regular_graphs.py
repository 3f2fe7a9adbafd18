"""Task graphs of regular shape: fast Fourier transform, Strassen, chains, forks and joins."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from simplugin.errors import WorkloadError
from simplugin.workloads.parameter_ranges import one_of, whole
from simplugin.workloads.task_costs import CostLaw, TaskCosts, complexity
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


Counting = Literal["real", "scaled", "drawn"]
Sums = Literal["chain", "tree"]

# Tasks that a task gets data from; those without get quadrants of the two matrices only.
_ADDITIONS = {f"S{number}": () for number in range(1, 11)}
_PRODUCTS: dict[str, tuple[str, ...]] = {
    "M1": ("S1", "S2"),
    "M2": ("S3",),
    "M3": ("S4",),
    "M4": ("S5",),
    "M5": ("S6",),
    "M6": ("S7", "S8"),
    "M7": ("S9", "S10"),
}
_TWO_TERMS = {"C12": ("M3", "M5"), "C21": ("M2", "M4")}
_SUMS: dict[Sums, dict[str, tuple[str, ...]]] = {
    "chain": {
        "C11a": ("M1", "M4"),
        **_TWO_TERMS,
        "C22a": ("M1", "M2"),
        "C11b": ("C11a", "M5"),
        "C22b": ("C22a", "M3"),
        "C11": ("C11b", "M7"),
        "C22": ("C22b", "M6"),
    },
    "tree": {
        "C11a": ("M1", "M4"),
        "C11b": ("M7", "M5"),
        **_TWO_TERMS,
        "C22a": ("M1", "M2"),
        "C22b": ("M3", "M6"),
        "C11": ("C11a", "C11b"),
        "C22": ("C22a", "C22b"),
    },
}


def strassen(
    generator: np.random.Generator,
    *,
    counting: Counting = "real",
    sums: Sums = "chain",
    costs: CostLaw | None = None,
    name: str = "strassen",
) -> TaskGraph:
    """Return the task graph of one step of Strassen's matrix multiplication [1]_.

    It has 10 additions S of quadrants, 7 products M, and 8 additions C of products, 25 tasks as in
    the paper [2]_::

        S1 = A11 + A22    S2 = B11 + B22    M1 = S1 S2     C11 = M1 + M4 - M5 + M7
        S3 = A21 + A22                      M2 = S3 B11    C12 = M3 + M5
        S4 = B12 - B22                      M3 = A11 S4    C21 = M2 + M4
        S5 = B21 - B11                      M4 = A22 S5    C22 = M1 - M2 + M3 + M6
        S6 = A11 + A12                      M5 = S6 B22
        S7 = A21 - A11    S8 = B11 + B12    M6 = S7 S8
        S9 = A12 - A22    S10 = B21 + B22   M7 = S9 S10

    Parameters
    ----------
    generator : numpy.random.Generator
        Of the costs.
    counting : {"real", "scaled", "drawn"}
        True if the size d of a quadrant is drawn for the graph, an addition takes d flop, and a
        product 2 d^1.5; or additions take a d instead, a drawn for each; or every task is drawn
        like one of a random graph. Alpha is drawn for each task.
    sums : {"chain", "tree"}
        Whether C11 and C22 add one term after the other, left to right, or two pairs first.
    costs : CostLaw, optional
        Of costs; the default one without. Its scenario counts only where all tasks are drawn.
    name : str
        Of the graph.

    Raises
    ------
    WorkloadError
        There is no such way of counting or of adding.

    References
    ----------
    .. [1] V. Strassen (1969). Gaussian elimination is not optimal. Numerische Mathematik 13.
    .. [2] N. N'takpé, F. Suter (2008). Concurrent Scheduling of Parallel Task Graphs on
       Multi-Clusters Using Constrained Resource Allocations. INRIA research report 6774.
    """
    one_of("counting", counting, get_args(Counting))
    one_of("sums", sums, get_args(Sums))
    sources = _ADDITIONS | _PRODUCTS | _SUMS[sums]
    number = {task: place for place, task in enumerate(sources)}
    edges = [(number[each], number[task]) for task in sources for each in sources[task]]
    drawn = (costs or CostLaw()).draw(len(sources), generator)
    if counting != "drawn":
        elements = np.full(len(sources), drawn.elements[0])
        factor = 1.0 if counting == "real" else drawn.factor
        flop = complexity("linear", elements, factor)
        products = [number[task] for task in _PRODUCTS]
        flop[products] = 2 * complexity("power", elements[products])
        drawn = TaskCosts(elements, drawn.factor, flop, drawn.alpha)
    return drawn.graph(name, list(sources), edges)


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
        Number of tasks.
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
        Number of times they fork and join.
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
