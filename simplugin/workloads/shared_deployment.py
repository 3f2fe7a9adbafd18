"""Hosts and links that applications share, each along a tree, and alpha-fair utilities."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplugin.core.elementary import log, power
from simplugin.core.errors import WorkloadError

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SharedDeployment:
    """Applications deployed as trees over hosts and directed links.

    An *agent* is a vertex of an application's tree. It is on a host, and its application's
    data come to it from its parent through one directed link. A route of several links is a
    chain of agents on the child's host; only the last may compute. Several agents, also
    of one application, may use the same link.

    Agents are ordered by depth, then by application, and children of one parent are neighbours.

    Attributes
    ----------
    applications, hosts, links : tuple of str
        Names.
    flop, byte, weight : float64, shape (n_applications,)
        Computation [flop] and data [byte] of a task, weight of the utility.
    speed : float64, shape (n_hosts,)
        Speed of each host [flop/s]; 0 for one that only forwards.
    bandwidth : float64, shape (n_links,)
        Capacity of each directed link [byte/s].
    application, host : int64, shape (n_agents,)
        Of each agent.
    parent : int64, shape (n_agents,)
        The agent before it on the way from the master; -1 for a master's.
    link : int64, shape (n_agents,)
        The link between the parent and it; -1 for a master's.
    computes : bool, shape (n_agents,)
        True if its application may compute there.

    Raises
    ------
    WorkloadError
        Lengths, ranges or the order of agents are wrong.
    """

    applications: tuple[str, ...]
    hosts: tuple[str, ...]
    links: tuple[str, ...]
    flop: Floats
    byte: Floats
    weight: Floats
    speed: Floats
    bandwidth: Floats
    application: Integers
    host: Integers
    parent: Integers
    link: Integers
    computes: NDArray[np.bool_]

    def __post_init__(self) -> None:
        """Check the fields."""
        for kind, length, names in (
            (np.float64, len(self.applications), ("flop", "byte", "weight")),
            (np.float64, len(self.hosts), ("speed",)),
            (np.float64, len(self.links), ("bandwidth",)),
            (np.int64, len(self.application), ("application", "host", "parent", "link")),
            (np.bool_, len(self.application), ("computes",)),
        ):
            for name in names:
                values: NDArray[Any] = np.ascontiguousarray(getattr(self, name), dtype=kind)
                if kind is np.float64 and not np.all(np.isfinite(values) & (values >= 0)):
                    raise WorkloadError(
                        f"{name} has a negative or infinite value; give numbers >= 0"
                    )
                if values.shape != (length,):
                    raise WorkloadError(f"{name} has shape {values.shape}; give ({length},)")
                object.__setattr__(self, name, values)
        if np.any(self.flop <= 0) or np.any(self.weight <= 0):
            raise WorkloadError("flop and weight of an application must be positive")
        for name, count in (("application", self.n_applications), ("host", self.n_hosts)):
            values = getattr(self, name)
            if np.any((values < 0) | (values >= count)):
                raise WorkloadError(f"{name} of an agent is not in 0..{count - 1}")
        masters = self.parent < 0
        if np.any(self.link[~masters] < 0) or np.any(self.link >= self.n_links):
            raise WorkloadError(f"link of an agent is not in 0..{self.n_links - 1}")
        if np.any(self.link[masters] >= 0):
            raise WorkloadError("the agent of a master has a link; give -1")
        if np.any(self.parent >= np.arange(self.n_agents)) or np.any(np.diff(self.depth) < 0):
            raise WorkloadError(
                "agents are not ordered by depth; put parents before their children"
            )
        if np.any(self.application[self.parent[~masters]] != self.application[~masters]):
            raise WorkloadError("an agent and its parent are of different applications")
        if not np.array_equal(np.sort(self.application[masters]), np.arange(self.n_applications)):
            raise WorkloadError("each application must have one agent without a parent: its master")

    @property
    def n_applications(self) -> int:
        """Number of applications."""
        return len(self.applications)

    @property
    def n_hosts(self) -> int:
        """Number of hosts."""
        return len(self.hosts)

    @property
    def n_links(self) -> int:
        """Number of directed links."""
        return len(self.links)

    @property
    def n_agents(self) -> int:
        """Number of agents."""
        return len(self.application)

    @cached_property
    def depth(self) -> Integers:
        """Number of links between each agent and its master, shape (n_agents,)."""
        # Pointer jumping: log2(depth) passes, also on a path of a million hosts.
        ancestor = self.parent.copy()
        reach = np.where(ancestor >= 0, 1, 0)
        while np.any(ancestor >= 0):
            known = ancestor >= 0
            step = np.where(known, reach[ancestor], 0)
            ancestor = np.where(known, ancestor[ancestor], -1)
            reach = reach + step
        return reach

    @cached_property
    def levels(self) -> tuple[slice, ...]:
        """The agents of each depth, from the masters down."""
        edges = np.searchsorted(self.depth, np.arange(self.depth[-1] + 2)).tolist()
        return tuple(slice(start, stop) for start, stop in pairwise(edges))

    @cached_property
    def masters(self) -> Integers:
        """The master's agent of each application, shape (n_applications,)."""
        masters = np.flatnonzero(self.parent < 0)
        return masters[np.argsort(self.application[masters], kind="stable")]

    def gather(self, values: Floats) -> Floats:
        """Sum values over each agent and all below it, children in order.

        Parameters
        ----------
        values : float64, shape (n_agents, ...)
            One entry per agent.

        Returns
        -------
        float64, shape (n_agents, ...)
            The sums; with rates, the flow of tasks through the link above each agent.
        """
        sums = np.array(values, dtype=np.float64)
        for level in reversed(self.levels[1:]):
            np.add.at(sums, self.parent[level], sums[level])
        return sums

    def throughput(self, rate: Floats) -> Floats:
        """Return the tasks per second of each application, shape (n_applications,).

        Parameters
        ----------
        rate : float64, shape (n_agents,)
            Tasks that each agent computes [tasks/s].
        """
        return self.gather(rate)[self.masters]

    def host_load(self, rate: Floats) -> Floats:
        """Return the computation that rates ask of each host [flop/s], shape (n_hosts,)."""
        load = np.bincount(self.host, self.flop[self.application] * rate, self.n_hosts)
        return load.astype(np.float64, copy=False)

    def link_load(self, rate: Floats) -> Floats:
        """Return the traffic that rates put on each link [byte/s], shape (n_links,)."""
        below = self.link >= 0
        flow = self.byte[self.application] * self.gather(rate)
        load = np.bincount(self.link[below], flow[below], self.n_links)
        return load.astype(np.float64, copy=False)

    def overload(self, rate: Floats) -> float:
        """Return the largest excess of a load over its capacity, relative to the capacity.

        Parameters
        ----------
        rate : float64, shape (n_agents,)
            Tasks that each agent computes [tasks/s].

        Returns
        -------
        float
            0 if the rates are feasible; infinite if a resource without capacity is used.
        """
        load = np.concatenate([self.host_load(rate), self.link_load(rate)])
        capacity = np.concatenate([self.speed, self.bandwidth])
        excess = np.maximum(load - capacity, 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            relative = np.where(excess > 0, excess / capacity, 0.0)
        return float(relative.max(initial=0.0))


@dataclass(frozen=True, slots=True)
class AlphaFair:
    r"""The utility :math:`U(\rho) = \rho^{1-\alpha}/(1-\alpha)`, and :math:`\log\rho` at 1 [1]_.

    Attributes
    ----------
    alpha : float
        0 for the largest total throughput, 1 for proportional fairness, 2 for the least
        potential delay, ``inf`` for max-min fairness, which has no utility function.

    Raises
    ------
    WorkloadError
        `alpha` is negative or not a number.

    References
    ----------
    .. [1] J. Mo, J. Walrand (2000). Fair end-to-end window-based congestion control. IEEE/ACM
       Transactions on Networking 8(5).
    """

    alpha: float = 1.0

    def __post_init__(self) -> None:
        """Check the field."""
        if not self.alpha >= 0:
            raise WorkloadError(f"alpha is {self.alpha!r}; give a number from 0 to inf")

    def value(self, throughput: ArrayLike) -> NDArray[np.float64]:
        """Return the utility of each throughput, minus infinity at 0 from alpha 1 on."""
        rho = np.asarray(throughput, dtype=float)
        if self.alpha == 1:
            return np.asarray(log(rho))
        return np.asarray(power(rho, 1 - self.alpha) / (1 - self.alpha))

    def marginal(self, throughput: ArrayLike) -> NDArray[np.float64]:
        """Return the derivative of the utility at each throughput."""
        return np.asarray(power(np.asarray(throughput, dtype=float), -self.alpha))

    def objective(self, throughput: ArrayLike, weight: ArrayLike) -> NDArray[np.float64]:
        """Return the weighted sum of utilities.

        Parameters
        ----------
        throughput : array_like, shape (..., n_applications)
            Of each application [tasks/s].
        weight : array_like, shape (n_applications,)
            Of each application.

        Returns
        -------
        float64, shape (...)
            The objective of fair sharing.

        Raises
        ------
        WorkloadError
            Max-min fairness maximises no sum.
        """
        if math.isinf(self.alpha):
            raise WorkloadError("max-min fairness has no objective; compare the throughputs")
        weighted = np.asarray(weight, dtype=float) * self.value(throughput)
        return np.asarray(weighted.sum(axis=-1), dtype=float)
