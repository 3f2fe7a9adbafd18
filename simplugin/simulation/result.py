"""The result of a simulation: plain data that needs no SimGrid to be read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from simplugin.core.errors import SimpluginError
from simplugin.core.formatting import html_table, readable
from simplugin.simulation.choices import TakenChoice
from simplugin.simulation.digests import digest
from simplugin.simulation.trace import Trace, TraceColumns

if TYPE_CHECKING:
    import pandas as pd

# Hosts and links that a notebook shows of a result.
_SHOWN = 10


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


class ReturnedValues(tuple[Returned, ...]):
    """A tuple of `Returned` that becomes a table."""

    __slots__ = ()

    def to_pandas(self) -> pd.DataFrame:
        """Return a data frame, one row an actor: name, host, value, state."""
        import pandas as pd

        names = [each.name for each in fields(Returned)]
        columns = {name: [getattr(actor, name) for actor in self] for name in names}
        # Arrays and other containers are kept.
        return pd.DataFrame({name: pd.Series(columns[name], dtype=object) for name in names})

    def _repr_html_(self) -> str:
        """Show the first actors in a notebook."""
        columns = [(each.name, "") for each in fields(Returned)]
        lines = ((actor.name, actor.host, actor.value, actor.state) for actor in self)
        return html_table(columns, lines, len(self), title="Returned values")


class _Totals(TraceColumns):
    """Data classes of a column of names and columns of numbers."""

    # Title of the table, the column that sorts rows, largest first, and units; ``%``: a ratio.
    title: ClassVar[str]
    order: ClassVar[str]
    units: ClassVar[dict[str, str]]

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

    def to_pandas(self) -> pd.DataFrame:
        """Return a data frame, one row a resource."""
        import pandas as pd

        columns = {each: getattr(self, each) for each in self.dtypes}
        return pd.DataFrame({"name": list(self.name), **columns})

    def _repr_html_(self) -> str:
        """Show those that did most in a notebook."""
        return self.html(20)

    def html(self, most: int) -> str:
        """Return a table of the `most` resources that did most."""
        known = {each: getattr(self, each) for each in self.units}
        known = {each: column for each, column in known.items() if not np.isnan(column).all()}
        order = np.argsort(-getattr(self, self.order), kind="stable")[:most].tolist()
        lines = [(self.name[at], *(float(each[at]) for each in known.values())) for at in order]
        columns = [("name", ""), *((each, self.units[each]) for each in known)]
        return html_table(columns, lines, len(self), title=self.title, most=most)


@dataclass(frozen=True, eq=False, repr=False)
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
        Energy consumed [J]; NaN if energy was not measured.
    utilisation : float64, shape (n,)
        Part of the simulated time with at least one execution, `busy` divided by the end date, as
        in tables and metrics. A host of four cores that computes a single task is utilised,
        too; the mean load of all its cores is measured by the plug-in ``host_load``. NaN for a
        simulation of no time.
    """

    title = "Hosts"
    order = "busy"
    units: ClassVar = {"flops": "flop", "busy": "s", "utilisation": "%", "energy": "J"}
    dtypes = dict.fromkeys(("flops", "busy", "energy", "utilisation"), np.float64)

    name: tuple[str, ...]
    flops: NDArray[np.float64]
    busy: NDArray[np.float64]
    energy: NDArray[np.float64]
    # `Result` knows the end date.
    utilisation: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        """Freeze the columns."""
        if not len(self.utilisation):
            object.__setattr__(self, "utilisation", np.full(len(self.name), np.nan))
        super().__post_init__()


@dataclass(frozen=True, eq=False, repr=False)
class LinkTotals(_Totals):
    """Totals of each link, as columns.

    Attributes
    ----------
    name : tuple of str
        Links, in SimGrid's order.
    bytes : float64, shape (n,)
        Bytes carried by transfers.
    energy : float64, shape (n,)
        Energy consumed [J]; NaN if energy was not measured, and for wireless links; 0 for links
        without ``wattage_range``, as in SimGrid.
    """

    title = "Links"
    order = "bytes"
    units: ClassVar = {"bytes": "byte", "energy": "J"}
    dtypes = dict.fromkeys(("bytes", "energy"), np.float64)

    name: tuple[str, ...]
    bytes: NDArray[np.float64]
    energy: NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """A simulation that came to its end.

    Two results are equal when their canonical bytes are: same numbers to the last bit, same
    texts, same returned values. There is no wall-clock time in it.

    Attributes
    ----------
    clock : float
        End date [s].
    returned : ReturnedValues
        A tuple of `Returned`, one for each actor, in order of creation.
    hosts : HostTotals
        Totals by host.
    links : LinkTotals
        Totals by link.
    trace : Trace
        Activities; empty if the simulation ran with ``trace=False``.
    plugins : dict of str to dict of str to float64 array
        Measurements of SimGrid's plug-ins, by plug-in and quantity; an entry a host or a link, in
        the order of `hosts` or `links`.
    off_times : dict of str to tuple of (float, float)
        Hosts that failed or were turned off, and from when to when [s].
    choices : tuple of TakenChoice
        The decisions that actors left to the chooser, in order: date, actor, label, number of
        options and index.
    branches : int
        Copies of the simulation that rollouts started to try options.
    ties : int or None
        Number of dates at which two or more actors competed for a mailbox, a message queue, a lock,
        a semaphore or a choice: who comes first is open there, and ``order`` draws it. None with
        ``back_end="threads"``.
    provenance : dict
        Versions, back end, seed, limits, hash of the platform and of the actors, and the SimGrid
        options in force: all that determines the numbers.
    """

    clock: float
    returned: ReturnedValues
    hosts: HostTotals
    links: LinkTotals
    trace: Trace
    provenance: dict[str, Any]
    plugins: dict[str, dict[str, NDArray[np.float64]]] = field(default_factory=dict)
    off_times: dict[str, tuple[tuple[float, float], ...]] = field(default_factory=dict)
    choices: tuple[TakenChoice, ...] = ()
    branches: int = 0
    ties: int | None = None

    def __post_init__(self) -> None:
        """Complete what depends on the end date, and let the returned values become a table."""
        utilisation = self.hosts.busy / (self.clock or np.nan)
        object.__setattr__(self, "hosts", replace(self.hosts, utilisation=utilisation))
        object.__setattr__(self, "returned", ReturnedValues(self.returned))
        object.__setattr__(self.trace, "is_kept", self.provenance.get("trace", True))

    def __repr__(self) -> str:
        """Return the end and the numbers of actors, by their states, and of activities."""
        return f"<Result: {self._facts()}>"

    def _facts(self) -> str:
        """Return the end and the numbers of actors and activities."""
        states = Counter(actor.state for actor in self.returned)
        actors = [f"{readable(count)} {state}" for state, count in states.items()]
        facts = [f"ends at {readable(self.clock, 's')}", f"actors: {', '.join(actors) or 'none'}"]
        return "; ".join([*facts, f"activities: {readable(len(self.trace))}"])

    def _repr_html_(self) -> str:
        """Show end, totals and provenance in a notebook."""
        provenance = ((name, str(value)) for name, value in self.provenance.items())
        table = html_table((("", ""), ("", "")), provenance, 0, most=len(self.provenance))
        parts = [part for part in (self.hosts, self.links) if getattr(part, part.order).any()]
        return (
            f"<p><b>Result</b>: {escape(self._facts())}</p>"
            + "".join(part.html(_SHOWN) for part in parts)
            + f"<details><summary>Provenance</summary>{table}</details>"
        )

    def values(self, name: str) -> list[Any]:
        """Return the values of the actors called `name`, in order of creation."""
        return [actor.value for actor in self.returned if actor.name == name]

    def value_of(self, name: str) -> Any:
        """Return the value of the only actor called `name`.

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
        returned = [(each.name, each.host, each.value, each.state) for each in self.returned]
        columns = [
            (each.name, getattr(part, each.name))
            for part in (self.hosts, self.links, self.trace)
            for each in fields(part)
            if each.name != "utilisation"  # it follows from the others
        ]
        # Most results have none of them.
        names = ("plugins", "off_times", "choices", "branches")
        rare = {name: getattr(self, name) for name in names}
        further = {name: each for name, each in rare.items() if each}
        contents = [self.clock, returned, columns, self.provenance]
        return digest([*contents, further] if further else contents)

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


def result_of(parts: Mapping[str, Any], provenance: dict[str, Any]) -> Result:
    """Return the outcome of a back end as a result.

    Parameters
    ----------
    parts : mapping
        As `simplugin.simulation.back_end.collected` gives them.
    provenance : dict
        All that determines the numbers.
    """
    names = ("off_times", "branches", "ties")
    return Result(
        clock=float(parts["clock"]),
        hosts=HostTotals(**parts["hosts"]),
        links=LinkTotals(**parts["links"]),
        trace=Trace.from_columns(parts["trace"]),
        plugins={
            plugin: {name: np.frombuffer(column) for name, column in columns.items()}
            for plugin, columns in parts["plugins"].items()
        },
        returned=ReturnedValues(Returned(*row) for row in parts["returned"]),
        provenance=provenance,
        choices=tuple(map(TakenChoice._make, parts["choices"])),
        **{name: parts[name] for name in names},
    )
