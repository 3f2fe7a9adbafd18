"""The reference cluster: a homogeneous one as powerful as a site, and allocations from it to there.

HCPA introduced it: an allocation is found as if all processors were alike, and translated to each
of the clusters only then.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor
from typing import TYPE_CHECKING

import numpy as np

from simplugin.taskgraphs import _kernels
from simplugin.taskgraphs.readings import PAPER
from simplugin.taskgraphs.timing import task_times

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simplugin.platforms.sites import Site
    from simplugin.taskgraphs.readings import Readings
    from simplugin.workloads.task_graphs import TaskGraph

# Quotients of speeds that miss a whole number by so little are that number.
_ROUNDING = 1 + 1e-12


@dataclass(frozen=True)
class Reference:
    """A homogeneous cluster with the power of a site.

    Attributes
    ----------
    speed : float
        Of each processor [flop/s].
    processors : int
        How many there are: as many as have no more power than the site.
    """

    speed: float
    processors: int


def reference_of(site: Site, readings: Readings = PAPER) -> Reference:
    """Return the reference cluster of a site.

    Parameters
    ----------
    site : Site
        At least one cluster.
    readings : Readings
        ``reference_speed`` counts.
    """
    if readings.reference_speed == "slowest":
        speed = float(np.min(site.speed))
    elif readings.reference_speed == "fastest":
        speed = float(np.max(site.speed))
    else:
        speed = site.power / site.n_processors
    return Reference(speed, floor(site.power / speed * _ROUNDING))


def translate(
    graph: TaskGraph,
    count: NDArray[np.int64],
    reference: Reference,
    site: Site,
    readings: Readings = PAPER,
) -> NDArray[np.int64]:
    """Return what an allocation on the reference cluster is on each cluster of the site.

    By time, it is the fewest processors on which a task takes no longer (up to rounding), or the
    whole cluster where there are none; by power, as many as are no faster together, at least one
    and at most the whole cluster.

    Parameters
    ----------
    graph : TaskGraph
        Its tasks.
    count : int64, shape (n_tasks,)
        Processors of the reference cluster.
    reference : Reference
        That of the site.
    site : Site
        The clusters.
    readings : Readings
        ``translation`` counts.

    Returns
    -------
    int64, shape (n_clusters, n_tasks)
        Processors of each cluster.
    """
    if readings.translation == "time":
        time = task_times(graph.flop, graph.alpha, count, reference.speed)
        return _kernels.fewest_processors(
            graph.flop, graph.alpha, time, site.speed, site.processors
        )
    alike = np.multiply.outer(reference.speed / site.speed * _ROUNDING, count)
    return np.clip(alike.astype(np.int64), 1, site.processors[:, np.newaxis])


def caps(graph: TaskGraph, reference: Reference, site: Site) -> NDArray[np.int64]:
    """Return how far allocations on the reference cluster make sense, as a task has one cluster.

    Parameters
    ----------
    graph : TaskGraph
        Its tasks.
    reference : Reference
        That of the site.
    site : Site
        The clusters.

    Returns
    -------
    int64, shape (n_tasks,)
        The most processors on which a task takes as long as on the best whole cluster, or longer
        (up to rounding); from 1 to all of the reference cluster.
    """
    whole = task_times(
        graph.flop, graph.alpha, site.processors[:, np.newaxis], site.speed[:, np.newaxis]
    )
    return _kernels.most_processors(
        graph.flop, graph.alpha, np.min(whole, axis=0), reference.speed, reference.processors
    )
