"""Metrics of fairness and efficiency of schedules of concurrent graphs.

Slowdown and unfairness are Eqs. (3) to (5) of [1]_, where a slowdown of 1 is the best: sharing
costs the graph nothing.

References
----------
.. [1] N. N'takpé, F. Suter (2008). Concurrent Scheduling of Parallel Task Graphs on
   Multi-Clusters Using Constrained Resource Allocations. INRIA research report 6774.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplugin.core.errors import WorkloadError
from simplugin.taskgraphs.schedule import Schedule


def slowdown(own: ArrayLike, shared: ArrayLike) -> NDArray[np.float64]:
    """Return Eq. (3): makespans of graphs alone on the site over those next to others.

    Parameters
    ----------
    own, shared : float64, shape (n_graphs,)
        Makespans [s]. A graph without any work has 0 alone.

    Returns
    -------
    float64, shape (n_graphs,)
        1 where sharing costs nothing, less where it does; it may exceed 1 where mapping happens to
        be luckier among others. A graph without work, which takes no time alone, has 1.

    Raises
    ------
    WorkloadError
        The shapes differ, a makespan is negative or not finite, or a graph takes time alone and
        none among others.
    """
    alone, among = np.asarray(own, dtype=np.float64), np.asarray(shared, dtype=np.float64)
    if alone.shape != among.shape:
        raise WorkloadError(
            f"own makespans have shape {alone.shape}, shared ones {among.shape}; give one of each"
            " for every graph"
        )
    for name, values in (("own", alone), ("shared", among)):
        if not np.all(np.isfinite(values) & (values >= 0)):
            raise WorkloadError(f"{name} makespans are {values.tolist()}; give numbers from 0 on")
    if np.any((alone > 0) & (among == 0)):
        raise WorkloadError(
            f"shared makespans are {among.tolist()}, own ones {alone.tolist()}; give numbers above"
            " 0 to graphs that take time alone"
        )
    return np.divide(alone, among, out=np.ones_like(alone), where=alone > 0)


def average_slowdown(slowdowns: ArrayLike) -> float:
    """Return Eq. (4): the mean of slowdowns."""
    return float(np.mean(_checked(slowdowns)))


def worst_slowdown(slowdowns: ArrayLike) -> float:
    """Return the slowdown of the graph that suffers most: the lowest."""
    return float(np.min(_checked(slowdowns)))


def unfairness(slowdowns: ArrayLike) -> float:
    """Return Eq. (5): the sum of the distances of slowdowns from their mean.

    It is 0 where all graphs suffer alike, and grows with the number of graphs.
    """
    values = _checked(slowdowns)
    return float(np.sum(np.abs(values - np.mean(values))))


def efficiency(schedule: Schedule) -> float:
    """Return the part of the site's power that does work between date 0 and the makespan.

    Returns
    -------
    float
        Computation of all graphs over power times makespan, from 0 to 1; 1 where there is nothing
        to compute, in no time.
    """
    offered = schedule.site.power * schedule.makespan
    return float(np.sum(schedule.graphs.flop)) / offered if offered > 0 else 1.0


def _checked(numbers: ArrayLike) -> NDArray[np.float64]:
    """Return numbers above 0, at least one."""
    values = np.asarray(numbers, dtype=np.float64)
    if not values.size or not np.all(np.isfinite(values) & (values > 0)):
        raise WorkloadError(
            f"slowdowns or makespans are {values.tolist()}; give at least one, all above 0"
        )
    return values
