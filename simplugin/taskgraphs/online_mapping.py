"""What is asked while task graphs are executed: where tasks run, and on how many processors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from simplugin.taskgraphs.allocation import Allocation


class Mapped(Protocol):
    """Where a task is to run."""

    @property
    def task(self) -> int:
        """Which one."""

    @property
    def processors(self) -> NDArray[np.int64]:
        """Numbers in the site."""


class OnlineMapper(Protocol):
    """Who decides where tasks run, one instant at a time."""

    def map_ready(self, now: float, tasks: Sequence[int], /) -> Sequence[Mapped]:
        """Map some of the ready tasks, or all.

        Parameters
        ----------
        now : float
            The date [s].
        tasks : sequence of int
            Those that were not ready when it was asked last; none if there are only those that it
            left unmapped then. It is asked whenever a task ends or a graph is submitted.

        Returns
        -------
        sequence of Mapped
            On each processor, tasks run in this order.
        """

    def started(self, task: int, date: float, /) -> None:
        """Hear that a task has started."""

    def finished(self, task: int, date: float, /) -> None:
        """Hear that a task has finished."""

    def set_allocation(self, graph: int, allocation: Allocation, /) -> None:
        """Change the allocation of a graph's tasks that are not mapped yet."""

    def forecast(
        self, now: float, allocations: Mapping[int, Allocation] | None = None, /
    ) -> NDArray[np.float64]:
        """Tell when graphs will be completed; only asked if allocations are revised."""


class Forecast(Protocol):
    """When graphs will be completed, see `simplugin.taskgraphs.mapping.Mapper.forecast`."""

    def __call__(
        self, now: float, allocations: Mapping[int, Allocation] | None = None, /
    ) -> NDArray[np.float64]:
        """Return the date for each graph [s]; NaN for those that are not submitted."""


class Revision(Protocol):
    """Who revises allocations when tasks have finished or graphs were submitted."""

    def __call__(
        self, now: float, active: Sequence[int], mapped: Sequence[bool], forecast: Forecast, /
    ) -> Mapping[int, Allocation]:
        """Return new allocations.

        Parameters
        ----------
        now : float
            The date [s].
        active : sequence of int
            Graphs that are submitted and not completed.
        mapped : sequence of bool, shape (n_tasks,)
            Tasks that keep what they have.
        forecast : Forecast
            What other allocations would come to.

        Returns
        -------
        mapping of int to Allocation
            For those graphs whose allocations change.
        """
