"""Random trees as in the simulations of Beaumont et al."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from simplugin.elementary import exp, log
from simplugin.errors import PlatformError
from simplugin.platforms.graphs import Tree
from simplugin.platforms.validation import (
    require_choice,
    require_count,
    require_not_negative,
    require_truth,
)

# Ranges of section 6.1.2: CPUs measured on hosts from a Pentium Pro to an Athlon [flop/s] ...
SPEEDS = (22.151e6, 171.667e6)
# ... and links, whose "Kbps" and "Mbps" are taken as kilo- and megabytes per second [byte/s].
BANDWIDTHS = (110e3, 7e6)
# Latencies of the links there [s]; the hosts were "spread across the Internet".
LATENCIES = (6e-3, 10.0)


def random_tree(
    n_hosts: int,
    max_degree: int,
    generator: np.random.Generator,
    *,
    speeds: tuple[float, float] = SPEEDS,
    bandwidths: tuple[float, float] = BANDWIDTHS,
    bandwidth_law: Literal["log-uniform", "uniform"] = "log-uniform",
    latency: float = 0.0,
    latencies: tuple[float, float] | None = None,
    root_computes: bool = True,
) -> Tree:
    """Return a random tree, grown breadth first as in section 6.1.2 of [1]_.

    Each host in turn gets 1 to `max_degree` children, until there are enough hosts: the paper's
    "maximum degree" is taken to count children. The law of the draws, which the paper leaves open,
    is uniform for degrees and speeds. The paper draws latencies too; here links have none unless
    `latencies` is given, and `LATENCIES` are the paper's.

    Parameters
    ----------
    n_hosts : int
        Number, the root included.
    max_degree : int
        The most children that a host may have.
    generator : numpy.random.Generator
        Source of the draws.
    speeds : tuple of float
        Smallest and largest speed [flop/s].
    bandwidths : tuple of float
        Smallest and largest bandwidth [byte/s].
    bandwidth_law : {"log-uniform", "uniform"}
        The law of bandwidths.
    latency : float
        Of every link [s].
    latencies : tuple of float, optional
        Instead, smallest and largest latency, drawn log-uniformly [s]: an assumption, as the
        paper names no law. They have a stream of draws of their own, spawned from `generator`, so
        that all else is as without.
    root_computes : bool
        True if the root is given a speed; it only distributes otherwise.

    Raises
    ------
    PlatformError
        A number is out of its range.

    References
    ----------
    .. [1] O. Beaumont, L. Carter, J. Ferrante, A. Legrand, L. Marchal and Y. Robert (2008).
       Centralized versus distributed schedulers for bag-of-tasks applications. IEEE TPDS 19(5).
    """
    require_count("the number of hosts of a tree", n_hosts, 1)
    require_count("the largest number of children", max_degree, 1)
    require_choice("bandwidth_law", bandwidth_law, ("log-uniform", "uniform"))
    require_truth("root_computes", root_computes)
    _require_range("speeds", speeds)
    _require_range("bandwidths", bandwidths)
    speed = generator.uniform(speeds[0], speeds[1], n_hosts)
    if bandwidth_law == "uniform":
        bandwidth = generator.uniform(bandwidths[0], bandwidths[1], n_hosts)
    else:
        low, high = log(bandwidths)
        bandwidth = exp(generator.uniform(low, high, n_hosts))
    bandwidth[0] = np.inf
    if not root_computes:
        speed[0] = 0.0
    late = _latency(n_hosts, latency, latencies, generator)
    parent = _parents(n_hosts, max_degree, generator)
    return Tree(tuple(f"n{i}" for i in range(n_hosts)), parent, speed, bandwidth, late)


def _latency(
    n_hosts: int,
    latency: float,
    latencies: tuple[float, float] | None,
    generator: np.random.Generator,
) -> NDArray[np.float64]:
    """Return the latency of the link above each host, 0 for the root."""
    require_not_negative("the latency of links", latency, "s")
    late = np.full(n_hosts, float(latency))
    if latencies is not None:
        _require_range("latencies", latencies)
        if latency:
            raise PlatformError(
                f"latency is {latency!r} and latencies are {latencies!r}", remedy="give one of them"
            )
        low, high = log(latencies)
        late = exp(generator.spawn(1)[0].uniform(low, high, n_hosts))
    late[0] = 0.0
    return late


def _require_range(name: str, ends: tuple[float, float]) -> None:
    """Raise unless two ends make a range of positive numbers."""
    low, high = ends
    if not 0 < low <= high < np.inf:
        raise PlatformError(
            f"{name} is ({low}, {high})", remedy="give the smallest and the largest, both positive"
        )


def _parents(n_hosts: int, max_degree: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """Return the parent of each host, -1 for the first."""
    parent = [-1]
    for host in range(n_hosts):
        if len(parent) >= n_hosts:
            break
        count = int(generator.integers(1, max_degree + 1))
        parent += [host] * min(count, n_hosts - len(parent))
    return np.array(parent, dtype=np.int64)
