"""Costs of data-parallel tasks: data, computation, and the sequential part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from simplugin.core.elementary import log2
from simplugin.workloads.parameter_ranges import one_of, part
from simplugin.workloads.task_graphs import TaskGraph

Complexity = Literal["linear", "log", "power"]
Sizes = Literal["daggen", "uniform"]

# Bytes of an element, a double.
ELEMENT = 8.0

# Complexities by their names; "mixed" draws one of them for each task.
COMPLEXITIES: tuple[Complexity, ...] = ("linear", "log", "power")
SCENARIOS = (*COMPLEXITIES, "mixed")

# Sides of daggen's matrices, in multiples of 1024, both ends included; M is 1024^2.
SIDES = (2, 10)
ELEMENTS = (4 * 1024**2, 121 * 1024**2)

# The range of the factor a of the linear and the logarithmic complexity.
FACTORS = (64.0, 512.0)


def complexity(
    kind: Complexity,
    elements: NDArray[np.float64],
    factor: NDArray[np.float64] | float = 1.0,
) -> NDArray[np.float64]:
    """Return the computation of tasks on d elements: a d, a d log2(d), or d^1.5 [flop].

    Parameters
    ----------
    kind : {"linear", "log", "power"}
        The complexity.
    elements : float64
        d, of any shape.
    factor : float64
        a, which the third complexity does without.

    Raises
    ------
    WorkloadError
        There is no such complexity.
    """
    one_of("complexity", kind, COMPLEXITIES)
    if kind == "linear":
        return factor * elements
    if kind == "log":
        return factor * elements * log2(elements)
    return elements * np.sqrt(elements)


@dataclass(frozen=True, eq=False)
class TaskCosts:
    """Costs of tasks.

    Attributes
    ----------
    elements : float64, shape (n_tasks,)
        Double precision numbers that each works on, d.
    factor : float64, shape (n_tasks,)
        Number of times that a task goes over them where that is drawn, a.
    flop : float64, shape (n_tasks,)
        Computation [flop].
    alpha : float64, shape (n_tasks,)
        The part of it that cannot be run in parallel, from 0 to 1.
    """

    elements: NDArray[np.float64]
    factor: NDArray[np.float64]
    flop: NDArray[np.float64]
    alpha: NDArray[np.float64]

    @property
    def byte(self) -> NDArray[np.float64]:
        """Input of each task, and output to each successor [byte]; shape (n_tasks,)."""
        return ELEMENT * self.elements

    def of(self, which: NDArray[np.int64]) -> TaskCosts:
        """Return the costs of these tasks, in this order; one may be there more than once."""
        return TaskCosts(
            self.elements[which], self.factor[which], self.flop[which], self.alpha[which]
        )

    def graph(self, name: str, tasks: Sequence[str], edges: Sequence[tuple[int, int]]) -> TaskGraph:
        """Return the graph of tasks with these costs.

        Parameters
        ----------
        name : str
            Of the graph.
        tasks : sequence of str
            Their names.
        edges : sequence of pair of int
            Source and target; what goes over them is the data of the source.
        """
        pairs = np.array(edges, dtype=np.int64).reshape(-1, 2)
        return TaskGraph(
            name, tuple(tasks), self.flop, self.alpha, self.byte, pairs, self.byte[pairs[:, 0]]
        )


@dataclass(frozen=True)
class CostLaw:
    """The law of the costs of tasks, section 2 of [1]_.

    Attributes
    ----------
    scenario : {"mixed", "linear", "log", "power"}
        Complexity of all tasks, or each one's own.
    sizes : {"daggen", "uniform"}
        Sizes of data: squares of a side that is a multiple of 1024 from 2048 to 10240, as the
        generation program of the paper draws them; or whole numbers from 4M to 121M, as its text
        says (M is 1024^2).
    max_alpha : float
        Alpha is uniform from 0 to this.

    Raises
    ------
    WorkloadError
        A field is out of its range.

    References
    ----------
    .. [1] N. N'takpé, F. Suter (2008). Concurrent Scheduling of Parallel Task Graphs on
       Multi-Clusters Using Constrained Resource Allocations. INRIA research report 6774.
    """

    scenario: Literal["mixed", "linear", "log", "power"] = "mixed"
    sizes: Sizes = "daggen"
    max_alpha: float = 0.25

    def __post_init__(self) -> None:
        """Check the fields."""
        one_of("scenario", self.scenario, SCENARIOS)
        one_of("sizes", self.sizes, get_args(Sizes))
        part("max_alpha", self.max_alpha)

    def draw(self, count: int, generator: np.random.Generator) -> TaskCosts:
        """Return drawn costs of tasks.

        Data, factors and alpha are the same in all scenarios.

        Parameters
        ----------
        count : int
            Number of tasks.
        generator : numpy.random.Generator
            Of all draws.
        """
        if self.sizes == "daggen":
            side = 1024.0 * generator.integers(*SIDES, size=count, endpoint=True)
            elements = side * side
        else:
            elements = generator.integers(*ELEMENTS, size=count, endpoint=True).astype(np.float64)
        factor = generator.uniform(*FACTORS, size=count)
        kind = generator.integers(len(COMPLEXITIES), size=count)
        if self.scenario != "mixed":
            kind[:] = COMPLEXITIES.index(self.scenario)
        flop = np.choose(kind, [complexity(each, elements, factor) for each in COMPLEXITIES])
        alpha = generator.uniform(0.0, self.max_alpha, size=count)
        return TaskCosts(elements, factor, flop, alpha)
