"""How long parallel tasks and the redistributions between them take by themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from simplugin.platforms.sites import Site


def task_times(
    flop: ArrayLike, alpha: ArrayLike, processors: ArrayLike, speed: ArrayLike
) -> NDArray[np.float64]:
    """Return how long tasks take under Amdahl's law.

    The arguments are broadcast against each other.

    Parameters
    ----------
    flop : float
        Computation [flop].
    alpha : float
        The part of it that cannot be run in parallel, from 0 to 1.
    processors : int
        How many equal processors share it, at least 1.
    speed : float
        Of each of them [flop/s].

    Returns
    -------
    float64
        ``(alpha + (1 - alpha) / processors) * flop / speed`` [s].
    """
    alpha = np.asarray(alpha, dtype=np.float64)
    share = alpha + (1 - alpha) / np.asarray(processors)
    return np.asarray(share * np.asarray(flop) / np.asarray(speed))


def redistribution_time(
    site: Site, byte: float, source_cluster: int, source_count: int, cluster: int, count: int
) -> float:
    """Return how long data take from the processors of a task to those of the next, undisturbed.

    All data pass the network, even between equal sets of processors, spread evenly over the links
    of either side.

    Parameters
    ----------
    site : Site
        Where.
    byte : float
        How much [byte].
    source_cluster, source_count : int
        Where the data are: number of the cluster, and on how many of its processors.
    cluster, count : int
        Where they go to.

    Returns
    -------
    float
        Latency, and the time of the slowest of the links of the source, those of the target, and
        what both share [s]; 0 for no data.
    """
    if byte == 0:
        return 0.0
    slowest = max(
        byte / (source_count * float(site.bandwidth[source_cluster])),
        byte / (count * float(site.bandwidth[cluster])),
        byte / float(site.shared[source_cluster, cluster]),
    )
    return float(site.latency[source_cluster, cluster]) + slowest
