"""Task graphs of Strassen's matrix multiplication."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from simplugin.workloads.parameter_ranges import one_of
from simplugin.workloads.task_costs import CostLaw, TaskCosts, complexity

if TYPE_CHECKING:
    from simplugin.workloads.task_graphs import TaskGraph

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
        Whether the size d of a quadrant is drawn for the graph, an addition takes d flop, and a
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
