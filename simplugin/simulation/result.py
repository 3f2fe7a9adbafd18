"""The result of a simulation: plain data that needs no SimGrid to be read."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplugin.errors import SimpluginError
from simplugin.simulation.digests import digest
from simplugin.simulation.trace import Columns, Trace


@dataclass(frozen=True, slots=True)
class Returned:
    """The end of one actor.

    Attributes
    ----------
    name, host : str
        The actor and its host.
    value : object
        The value that its function returned; None if it was killed.
    state : str
        ``"ended"``, ``"killed"`` or ``"running"`` (a daemon that the end cut off).
    """

    name: str
    host: str
    value: Any
    state: str


class _Totals(Columns):
    """Data classes of a column of names and columns of numbers."""

    name: tuple[str, ...]

    def __len__(self) -> int:
        """Return the number of resources."""
        return len(self.name)

    def row(self, name: str) -> dict[str, float]:
        """Return the numbers of one resource by its name."""
        try:
            at = self.name.index(name)
        except ValueError:
            raise SimpluginError(f"the result has no {name!r}") from None
        return {each: float(getattr(self, each)[at]) for each in self.dtypes}


@dataclass(frozen=True, eq=False)
class HostTotals(_Totals):
    """Totals of each host, as columns.

    Attributes
    ----------
    name : tuple of str
        Hosts, in SimGrid's order.
    flops : float64, shape (n,)
        Work computed [flop].
    busy : float64, shape (n,)
        Time with at least one execution [s].
    energy : float64, shape (n,)
        Energy consumed [J]; NaN if it was not asked for.
    """

    dtypes = dict.fromkeys(("flops", "busy", "energy"), np.float64)

    name: tuple[str, ...]
    flops: NDArray[np.float64]
    busy: NDArray[np.float64]
    energy: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LinkTotals(_Totals):
    """Totals of each link, as columns.

    Attributes
    ----------
    name : tuple of str
        Links, in SimGrid's order.
    bytes : float64, shape (n,)
        Bytes carried by transfers.
    energy : float64, shape (n,)
        Energy consumed [J]; NaN if it was not asked for, and for wireless links; 0 for links
        without ``wattage_range``, as in SimGrid.
    """

    dtypes = dict.fromkeys(("bytes", "energy"), np.float64)

    name: tuple[str, ...]
    bytes: NDArray[np.float64]
    energy: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Result:
    """A simulation that came to its end.

    Two results are equal when their canonical bytes are: same numbers to the last bit, same
    texts, same returned values. There is no wall-clock time in it.

    Attributes
    ----------
    clock : float
        End date [s].
    returned : tuple of Returned
        Each actor, in order of creation.
    hosts : HostTotals
        Totals by host.
    links : LinkTotals
        Totals by link.
    trace : Trace
        Activities; empty if the simulation ran with ``trace=False``.
    plugins : dict of str to dict of str to float64 array
        Measurements of SimGrid's plug-ins, by plug-in and quantity; an entry a host or a link, in
        the order of `hosts` or `links`.
    provenance : dict
        Versions, back end, seed, limits, hash of the platform and of the actors, and the SimGrid
        options in force: what is needed to have the same numbers again.
    """

    clock: float
    returned: tuple[Returned, ...]
    hosts: HostTotals
    links: LinkTotals
    trace: Trace
    provenance: dict[str, Any]
    plugins: dict[str, dict[str, NDArray[np.float64]]] = field(default_factory=dict)

    def values(self, name: str) -> list[Any]:
        """Return what the actors called `name` returned, in order of creation."""
        return [actor.value for actor in self.returned if actor.name == name]

    def value_of(self, name: str) -> Any:
        """Return what the one actor called `name` returned.

        Raises
        ------
        SimpluginError
            No actor, or more than one, has that name.
        """
        found = self.values(name)
        if len(found) != 1:
            how_many = f"{len(found)} actors are" if found else "no actor is"
            raise SimpluginError(f"{how_many} called {name!r}; see `values` and `returned`")
        return found[0]

    def digest(self) -> str:
        """Return the SHA-256 of the canonical bytes, the same for the same inputs."""
        return self._digest

    @cached_property
    def _digest(self) -> str:
        """Hash once."""
        return digest(_contents(self))

    def __eq__(self, other: object) -> bool:
        """Compare contents; NaN equals itself."""
        if not isinstance(other, Result):
            return NotImplemented
        return self._digest == other._digest

    def __hash__(self) -> int:
        """Hash contents."""
        return hash(self._digest)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the fields only, so that a result's bytes do not depend on its past."""
        return {each.name: getattr(self, each.name) for each in fields(self)}


def _contents(result: Result) -> list[Any]:
    """Return the fields of a result as plain containers and arrays."""
    returned = [(a.name, a.host, a.value, a.state) for a in result.returned]
    columns = [
        (each.name, getattr(part, each.name))
        for part in (result.hosts, result.links, result.trace)
        for each in fields(part)
    ]
    contents = [result.clock, returned, columns, result.provenance]
    return [*contents, result.plugins] if result.plugins else contents
