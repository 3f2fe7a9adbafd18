"""Random trees as in the simulations of Beaumont et al."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from simplugin.errors import PlatformError
from simplugin.platforms.trees import Tree

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Ranges of section 6.1.2: CPUs measured on hosts from a Pentium Pro to an Athlon [flop/s] ...
SPEEDS = (22.151e6, 171.667e6)
# ... and links, whose "Kbps" and "Mbps" are taken as kilo- and megabytes per second [byte/s].
BANDWIDTHS = (110e3, 7e6)


def random_tree(
    n_hosts: int,
    max_degree: int,
    generator: np.random.Generator,
    *,
    speeds: tuple[float, float] = SPEEDS,
    bandwidths: tuple[float, float] = BANDWIDTHS,
    bandwidth_law: Literal["log-uniform", "uniform"] = "log-uniform",
    latency: float = 0.0,
    root_computes: bool = True,
) -> Tree:
    """Return a random tree, grown breadth first as in section 6.1.2 of [1]_.

    Each host in turn gets 1 to `max_degree` children, until there are enough hosts. The law of the
    draws, which the paper leaves open, is uniform for degrees and speeds.

    Parameters
    ----------
    n_hosts : int
        How many, the root included.
    max_degree : int
        The most children that a host may have.
    generator : numpy.random.Generator
        Source of the draws.
    speeds : tuple of float
        Smallest and largest speed [flop/s].
    bandwidths : tuple of float
        Smallest and largest bandwidth [byte/s].
    bandwidth_law : {"log-uniform", "uniform"}
        How bandwidths are drawn.
    latency : float
        Of every link [s].
    root_computes : bool
        Whether the root is given a speed; it only distributes otherwise.

    Raises
    ------
    PlatformError
        A number is out of its range.

    References
    ----------
    .. [1] O. Beaumont, L. Carter, J. Ferrante, A. Legrand, L. Marchal and Y. Robert (2008).
       Centralized versus distributed schedulers for bag-of-tasks applications. IEEE TPDS 19(5).
    """
    if n_hosts < 1 or max_degree < 1:
        raise PlatformError(
            f"a tree of {n_hosts} hosts with up to {max_degree} children: give 1 or more of both"
        )
    for name, (low, high) in (("speeds", speeds), ("bandwidths", bandwidths)):
        if not 0 < low <= high:
            raise PlatformError(f"{name} is ({low}, {high}); give a positive range")
    if bandwidth_law not in ("log-uniform", "uniform"):
        raise PlatformError(f"bandwidth_law is {bandwidth_law!r}; give 'log-uniform' or 'uniform'")
    speed = generator.uniform(speeds[0], speeds[1], n_hosts)
    if bandwidth_law == "uniform":
        bandwidth = generator.uniform(bandwidths[0], bandwidths[1], n_hosts)
    else:
        low, high = np.log(bandwidths)
        bandwidth = np.exp(generator.uniform(low, high, n_hosts))
    bandwidth[0] = np.inf
    if not root_computes:
        speed[0] = 0.0
    late = np.full(n_hosts, float(latency))
    late[0] = 0.0
    parent = _parents(n_hosts, max_degree, generator)
    return Tree(tuple(f"n{i}" for i in range(n_hosts)), parent, speed, bandwidth, late)


def _parents(n_hosts: int, max_degree: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """Return the parent of each host, -1 for the first."""
    parent = [-1]
    for host in range(n_hosts):
        if len(parent) >= n_hosts:
            break
        count = int(generator.integers(1, max_degree + 1))
        parent += [host] * min(count, n_hosts - len(parent))
    return np.array(parent, dtype=np.int64)
