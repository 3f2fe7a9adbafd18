"""Durations of parallel tasks, and the redistributions between them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplugin.core.errors import WorkloadError
from simplugin.platforms.sites import Site
from simplugin.workloads.parameter_ranges import one_of

Pattern = Literal["block", "uniform"]
Local = Literal["sent", "kept"]


def task_times(
    flop: ArrayLike, alpha: ArrayLike, processors: ArrayLike, speed: ArrayLike
) -> NDArray[np.float64]:
    """Return the durations of tasks under Amdahl's law.

    The arguments are broadcast against each other.

    Parameters
    ----------
    flop : float
        Computation [flop].
    alpha : float
        Sequential part of the computation, from 0 to 1.
    processors : int
        Number of equal processors, at least 1.
    speed : float
        Speed of each processor [flop/s].

    Returns
    -------
    float64
        ``(alpha + (1 - alpha) / processors) * flop / speed`` [s].
    """
    alpha = np.asarray(alpha, dtype=np.float64)
    share = alpha + (1 - alpha) / np.asarray(processors)
    return np.asarray(share * np.asarray(flop) / np.asarray(speed))


def redistribution_time(
    site: Site,
    byte: ArrayLike,
    source_cluster: ArrayLike,
    source_count: ArrayLike,
    cluster: ArrayLike,
    count: ArrayLike,
    sent: ArrayLike | None = None,
    received: ArrayLike | None = None,
) -> NDArray[np.float64]:
    """Return the durations of redistributions between two tasks, each with switches of its own.

    All data pass the network, even between equal sets of processors, spread evenly over the links
    of either side. The arguments are broadcast against each other.

    Parameters
    ----------
    site : Site
        The site.
    byte : float
        Amount of data [byte].
    source_cluster, source_count : int
        Cluster of the source, and number of its processors.
    cluster, count : int
        Cluster of the target, and number of its processors.
    sent, received : float, optional
        All data that pass the links of the source, and those of the target, at the same time; by
        default only this amount [byte].

    Returns
    -------
    float64
        Latency, and the time of the slowest of the links of the source, those of the target, and
        the shared ones [s]; 0 for no data.
    """
    byte, source, target = np.asarray(byte), np.asarray(source_cluster), np.asarray(cluster)
    leaving = (byte if sent is None else sent) / (source_count * site.bandwidth[source])
    arriving = (byte if received is None else received) / (count * site.bandwidth[target])
    slowest = np.maximum(np.maximum(leaving, arriving), byte / site.shared[source, target])
    return np.where(byte > 0, site.latency[source, target] + slowest, 0.0)


def redistribution(
    byte: float,
    sources: Sequence[int],
    targets: Sequence[int],
    *,
    pattern: Pattern = "block",
    local: Local = "sent",
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the messages that move data from the processors of a task to those of the next.

    The data are spread evenly before and after, in blocks: of m processors the i-th holds the
    i-th m-th of them. A processor of both tasks occurs once.

    Parameters
    ----------
    byte : float
        Amount of data [byte].
    sources, targets : sequence of int, of length m and n
        Distinct processors of either task, in the order of their blocks.
    pattern : {"block", "uniform"}
        Each source sends the overlap of its block with each target's, at most m + n - 1 messages,
        or an n-th of its block to each target. The totals of each processor are the same.
    local : {"sent", "kept"}
        Data that a processor sends to itself, on the diagonal: they take the platform's route from
        the host to itself (in a cluster, over its own link and the switch), or cost nothing.

    Returns
    -------
    hosts : int64, shape (n_hosts,)
        Processors: first the sources, then the other targets.
    sizes : float64, shape (n_hosts, n_hosts)
        Data that each (row) sends to each (column) [byte].

    Raises
    ------
    WorkloadError
        There is no source or no target, or a choice is unknown.
    """
    one_of("pattern", pattern, get_args(Pattern))
    one_of("local", local, get_args(Local))
    m, n = len(sources), len(targets)
    if not m or not n:
        raise WorkloadError(f"a redistribution from {m} to {n} processors; give one at least each")
    row, column, part = overlaps(m, n) if pattern == "block" else _everyone(m, n)
    place = {processor: at for at, processor in enumerate(sources)}
    where = np.array([place.setdefault(each, len(place)) for each in targets])
    sizes = np.zeros((len(place), len(place)))
    sizes[row, where[column]] = byte * part
    if local == "kept":
        np.fill_diagonal(sizes, 0.0)
    return np.fromiter(place, dtype=np.int64, count=len(place)), sizes


@lru_cache(maxsize=4096)
def overlaps(m: int, n: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return the overlaps of m equal blocks with n equal blocks.

    Returns
    -------
    row, column : int64, shape (m + n - gcd(m, n),)
        Numbers of the blocks.
    part : float64, same shape
        Their overlap, as a part of all data.
    """
    # In units of which m n are all data, so that the cuts are whole numbers.
    cuts = np.array(sorted({*range(0, m * n + 1, n), *range(0, m * n + 1, m)}))
    return _frozen(cuts[:-1] // n, cuts[:-1] // m, (cuts[1:] - cuts[:-1]) / (m * n))


@lru_cache(maxsize=4096)
def _everyone(m: int, n: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return the parts if each of m sends as much to each of n."""
    row, column = np.divmod(np.arange(m * n), n)
    return _frozen(row, column, np.full(m * n, 1 / (m * n)))


def _frozen(
    row: NDArray[np.int64], column: NDArray[np.int64], part: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Make cached arrays read-only."""
    for each in (row, column, part):
        each.flags.writeable = False
    return row, column, part
