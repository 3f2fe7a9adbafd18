"""Schedules: which processors run each task, and when."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simplugin.platforms.sites import Site
    from simplugin.workloads.graph_sets import GraphSet


@dataclass(frozen=True, eq=False)
class Schedule:
    """A schedule of all tasks of some graphs, planned or as it came about.

    Attributes
    ----------
    site : Site
        Where.
    graphs : GraphSet
        What; tasks are numbered as there.
    cluster : int64, shape (n_tasks,)
        Of each task.
    start, finish : float64, shape (n_tasks,)
        When each task computes [s].
    processor_start : int64, shape (n_tasks + 1,)
        Where the processors of each task start in the next one.
    processor : int64, shape (n,)
        Processors by their numbers in the site, see `Site.first`.
    order : int64, shape (n_tasks,)
        The tasks as they were mapped: of two tasks on one processor, the first here goes first.
    """

    site: Site
    graphs: GraphSet
    cluster: NDArray[np.int64]
    start: NDArray[np.float64]
    finish: NDArray[np.float64]
    processor_start: NDArray[np.int64]
    processor: NDArray[np.int64]
    order: NDArray[np.int64]

    def processors_of(self, task: int) -> NDArray[np.int64]:
        """Return the processors of a task."""
        return self.processor[self.processor_start[task] : self.processor_start[task + 1]]

    @cached_property
    def allocation(self) -> NDArray[np.int64]:
        """How many processors each task has; shape (n_tasks,)."""
        return np.diff(self.processor_start)

    @cached_property
    def completion(self) -> NDArray[np.float64]:
        """When the last task of each graph ends [s]; shape (n_graphs,)."""
        return np.maximum.reduceat(self.finish, self.graphs.first[:-1])

    @property
    def makespans(self) -> NDArray[np.float64]:
        """How long after its release each graph is completed [s]; shape (n_graphs,)."""
        # The timer of a release may ring in the last digits before it.
        return np.maximum(self.completion - self.graphs.release, 0.0)

    @property
    def makespan(self) -> float:
        """When the last graph is completed [s]."""
        return float(np.max(self.completion))

    @cached_property
    def area(self) -> float:
        """Processors times the time that tasks hold them [s]."""
        return float(np.sum(self.allocation * (self.finish - self.start)))
