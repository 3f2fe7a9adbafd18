"""Sites: clusters of equal processors and the network between them, as arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from simplugin.errors import PlatformError

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Site:
    """Clusters of equal processors, as schedulers of parallel tasks see them.

    Attributes
    ----------
    name : str
        Of the site.
    clusters : tuple of str
        Names.
    hosts : tuple of tuple of str
        The hosts of each cluster: each is one processor.
    speed : float64, shape (n_clusters,)
        Of each processor of a cluster [flop/s].
    bandwidth : float64, shape (n_clusters,)
        What each host of a cluster can send, and receive, at most [byte/s].
    latency : float64, shape (n_clusters, n_clusters)
        From a host of one cluster to another host of the other [s].
    shared : float64, shape (n_clusters, n_clusters)
        What all hosts of one cluster together can send to those of the other [byte/s]; inf where
        nothing but the hosts' own links limits it.
    switch : int64, shape (n_clusters,), optional
        Which switch each cluster hangs from: those with the same number share it, and what goes
        from one switch to another passes both. One a cluster without.

    Raises
    ------
    PlatformError
        A length or a range is wrong, or two hosts are alike.
    """

    name: str
    clusters: tuple[str, ...]
    hosts: tuple[tuple[str, ...], ...]
    speed: NDArray[np.float64]
    bandwidth: NDArray[np.float64]
    latency: NDArray[np.float64]
    shared: NDArray[np.float64]
    switch: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def __post_init__(self) -> None:
        """Check the fields."""
        object.__setattr__(self, "clusters", tuple(self.clusters))
        object.__setattr__(self, "hosts", tuple(tuple(names) for names in self.hosts))
        count = len(self.clusters)
        if not count or len(self.hosts) != count or not all(self.hosts):
            raise PlatformError(f"site {self.name!r} has a cluster without hosts, or none at all")
        everyone = [host for hosts in self.hosts for host in hosts]
        if len(set(everyone)) < len(everyone):
            twice = next(host for host in everyone if everyone.count(host) > 1)
            raise PlatformError(f"site {self.name!r} has host {twice!r} twice")
        for name, shape in (
            ("speed", (count,)),
            ("bandwidth", (count,)),
            ("latency", (count, count)),
            ("shared", (count, count)),
        ):
            values = np.ascontiguousarray(getattr(self, name), dtype=np.float64)
            if values.shape != shape:
                raise PlatformError(
                    f"{name} of site {self.name!r} has shape {values.shape}; give {shape}"
                )
            right = np.isfinite(values) & (values >= 0) if name == "latency" else values > 0
            if not np.all(right):
                raise PlatformError(f"{name} of site {self.name!r} is out of its range")
            object.__setattr__(self, name, values)
        switch = np.ascontiguousarray(self.switch, dtype=np.int64)
        if not switch.size:
            switch = np.arange(count)
        if switch.shape != (count,) or np.any((switch < 0) | (switch >= count)):
            raise PlatformError(
                f"switch of site {self.name!r} is {switch.tolist()}; give a number from 0 to"
                f" {count - 1} for each of its {count} clusters"
            )
        object.__setattr__(self, "switch", switch)
        if not np.all(np.isfinite(self.speed)):
            raise PlatformError(f"a speed of site {self.name!r} is infinite")

    @property
    def n_clusters(self) -> int:
        """How many clusters there are."""
        return len(self.clusters)

    @cached_property
    def processors(self) -> NDArray[np.int64]:
        """How many processors each cluster has; shape (n_clusters,)."""
        return np.array([len(names) for names in self.hosts], dtype=np.int64)

    @cached_property
    def n_processors(self) -> int:
        """How many processors there are."""
        return int(np.sum(self.processors))

    @cached_property
    def power(self) -> float:
        """Speed of all processors together [flop/s]."""
        return float(np.sum(self.processors * self.speed))

    @cached_property
    def first(self) -> NDArray[np.int64]:
        """Number of the first processor of each cluster; shape (n_clusters + 1,)."""
        return np.concatenate([[0], np.cumsum(self.processors)]).astype(np.int64)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The hosts of all clusters, by the numbers of their processors."""
        return tuple(host for hosts in self.hosts for host in hosts)
