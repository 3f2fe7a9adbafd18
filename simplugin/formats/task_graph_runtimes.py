"""Computation of tasks as the time that a processor of reference takes for it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from simplugin.errors import WorkloadError, WorkloadFileError
from simplugin.inputs.places import shown

if TYPE_CHECKING:
    import os

    from simplugin.workloads.task_graphs import TaskGraph

DEFAULT_SPEED = 1e9


def require_speed(speed: float) -> float:
    """Return the speed of the processor of reference, if it can be one.

    Parameters
    ----------
    speed : float
        Of one processor [flop/s].

    Raises
    ------
    WorkloadError
        It is not above 0, or not finite.
    """
    if not (math.isfinite(speed) and speed > 0):
        raise WorkloadError(f"the reference speed is {speed!r}; give flop/s > 0, e.g. 1e9")
    return speed


def require_alpha(alpha: float) -> float:
    """Return the part that is not parallel where a file gives none, if it can be one.

    Parameters
    ----------
    alpha : float
        From 0 to 1.

    Raises
    ------
    WorkloadError
        It is out of this range.
    """
    if not 0 <= alpha <= 1:
        raise WorkloadError(f"alpha is {alpha!r}; give a part from 0 to 1")
    return alpha


def runtimes(graph: TaskGraph, speed: float, path: str | os.PathLike[str]) -> list[float]:
    """Return the time of each task on one processor.

    Parameters
    ----------
    graph : TaskGraph
        With n_tasks tasks.
    speed : float
        Of the processor [flop/s].
    path : path
        The file to write, named in errors.

    Returns
    -------
    list of float, length n_tasks
        Time [s].

    Raises
    ------
    WorkloadError
        The speed is not above 0.
    WorkloadFileError
        A time is too long to be a number.
    """
    require_speed(speed)
    times = [flop / speed for flop in graph.flop.tolist()]
    for task, time in zip(graph.tasks, times, strict=True):
        if not math.isfinite(time):
            raise WorkloadFileError(
                f"task {shown(task)} takes {time!r} s at {speed!r} flop/s",
                file=path,
                remedy="give a higher speed",
            )
    return times
