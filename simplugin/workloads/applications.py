"""Applications of independent tasks, and bags of tasks that start at one host."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplugin.core.errors import InfeasibleError, WorkloadError
from simplugin.core.units import parse_size, parse_time, parse_work
from simplugin.workloads.parameter_ranges import number, numbers, texts, whole

# Of the fields that are quantities.
_READERS: dict[str, Callable[[Any], float]] = {
    "flop": parse_work,
    "byte": parse_size,
    "weight": float,
    "start": parse_time,
    "end": parse_time,
}


@dataclass(frozen=True, slots=True)
class Application:
    """A bag of independent tasks of equal size, with all data at one host at the start.

    Attributes
    ----------
    name : str
        Unlike that of any other application.
    master : str
        The host that holds the data of all tasks.
    flop : float
        Computation of one task, ``w_k`` [flop].
    byte : float
        Data of one task, ``b_k`` [byte]; 0 if a task needs none.
    weight : float
        Weight of its utility.
    hosts : tuple of str, optional
        The hosts that may compute its tasks, the others only forward; None for all.
    start : float
        When it arrives [s].
    end : float
        When it leaves [s].
    count : int, optional
        Number of tasks; None for as many as are wanted.

    Raises
    ------
    WorkloadError
        A field is out of its range; the message names the application.
    """

    name: str
    master: str
    flop: float
    byte: float
    weight: float = 1.0
    hosts: tuple[str, ...] | None = None
    start: float = 0.0
    end: float = math.inf
    count: int | None = None

    def __post_init__(self) -> None:
        """Check the fields."""
        for word in ("name", "master"):
            text = getattr(self, word)
            if not isinstance(text, str) or not text:
                raise WorkloadError(f"the {word} of an application is {text!r}; give a text")
        for name, read in _READERS.items():
            value = number(f"{name} of application {self.name!r}", getattr(self, name), read)
            object.__setattr__(self, name, value)
        for name, is_right, expected in (
            ("flop", 0 < self.flop < math.inf, "a positive number"),
            ("weight", 0 < self.weight < math.inf, "a positive number"),
            ("byte", 0 <= self.byte < math.inf, "a number from 0 on"),
        ):
            if not is_right:
                value = getattr(self, name)
                raise WorkloadError(
                    f"{name} of application {self.name!r} is {value!r}; give {expected}"
                )
        if not 0 <= self.start < self.end:
            raise WorkloadError(
                f"application {self.name!r} starts at {self.start!r} and ends at {self.end!r};"
                " it must start at 0 or later, and end after that"
            )
        if self.count is not None:
            count = whole(f"count of application {self.name!r}", self.count)
            object.__setattr__(self, "count", count)
        if self.hosts is not None:
            names = texts(f"hosts of application {self.name!r}", self.hosts)
            object.__setattr__(self, "hosts", names)


# The applications on `simplugin.platforms.topologies.shapes.five_hosts` in R. Bertin, A. Legrand,
# C. Touati (2007), section 5.1.3.
FIVE_HOSTS_APPLICATIONS = (
    Application("1", "D", flop=5000.0, byte=1000.0),
    Application("2", "A", flop=800.0, byte=2000.0),
    Application("3", "C", flop=1500.0, byte=1500.0),
)


@dataclass(frozen=True, eq=False)
class Bags:
    """Applications of independent tasks with all data at the root of one tree.

    Attributes
    ----------
    names : tuple of str
        Of the applications.
    flop : float64, shape (n_applications,)
        Computation of one task [flop].
    byte : float64, shape (n_applications,)
        Data of one task [byte]; 0 if a task needs none.
    weight : float64, shape (n_applications,)
        Priority weight: throughputs are to be in these proportions.
    count : int64, shape (n_applications,)
        Number of tasks there are.
    hosts : tuple of (tuple of str or None), shape (n_applications,), optional
        The hosts that may compute each application's tasks, None for all; the others only
        distribute them. Also given by application, as a mapping. None if nothing is restricted.

    Raises
    ------
    WorkloadError
        Lengths or ranges are wrong, two names are alike, or `hosts` names no application.
    """

    names: tuple[str, ...]
    flop: NDArray[np.float64]
    byte: NDArray[np.float64]
    weight: NDArray[np.float64]
    count: NDArray[np.int64]
    hosts: tuple[tuple[str, ...] | None, ...] | None = None

    def __post_init__(self) -> None:
        """Check the fields."""
        object.__setattr__(self, "names", texts("names of applications", self.names))
        if not self.names:
            raise WorkloadError("there is no application; give at least one")
        if len(set(self.names)) < len(self.names):
            twice = next(name for name in self.names if self.names.count(name) > 1)
            raise WorkloadError(f"two applications are called {twice!r}; name them apart", twice)
        for field in ("flop", "byte", "weight", "count"):
            read = _READERS.get(field, float)
            given = numbers(f"applications: {field}", getattr(self, field), read)
            if given.shape not in ((), (len(self.names),)):
                raise WorkloadError(
                    f"{field} of applications has shape {given.shape};"
                    f" give a number, or one for each of {len(self.names)}"
                )
            kind = np.int64 if field == "count" else np.float64
            values = np.array(np.broadcast_to(given, (len(self.names),)), dtype=kind)
            least = values >= 0 if field == "byte" else values > 0
            wrong = ~(least & np.isfinite(values)) | (values != given)
            if np.any(wrong):
                at = int(np.argmax(wrong))
                raise WorkloadError(
                    f"{field} of application {self.names[at]!r} is"
                    f" {float(np.broadcast_to(given, values.shape)[at])!r}; give a"
                    f" {'number from 0 on' if field == 'byte' else 'positive number'}",
                    self.names[at],
                )
            object.__setattr__(self, field, values)
        if self.hosts is not None:
            object.__setattr__(self, "hosts", _restrictions(self.names, self.hosts))

    @classmethod
    def of(cls, applications: Sequence[Application], count: int) -> Bags:
        """Return the bags of applications that share one master.

        Parameters
        ----------
        applications : sequence of Application
            Their `start` and `end` must be the defaults.
        count : int
            Tasks of those that do not say.

        Raises
        ------
        WorkloadError
            The applications differ in their masters, or restrict dates.
        """
        for each in applications:
            if each.master != applications[0].master:
                raise WorkloadError(
                    f"application {each.name!r} starts at {each.master!r}, but the first one at"
                    f" {applications[0].master!r}; on a tree all tasks start at the root",
                    each.name,
                )
            if each.start > 0 or each.end < np.inf:
                raise WorkloadError(
                    f"application {each.name!r} restricts its dates; on a tree all tasks are there"
                    " from the start; remove start and end",
                    each.name,
                )
        return cls(
            tuple(each.name for each in applications),
            np.array([each.flop for each in applications]),
            np.array([each.byte for each in applications]),
            np.array([each.weight for each in applications]),
            np.array([each.count or count for each in applications]),
            tuple(each.hosts for each in applications),
        )

    @property
    def n_applications(self) -> int:
        """Number of applications."""
        return len(self.names)

    @property
    def ratio(self) -> NDArray[np.float64]:
        """Communication-to-computation ratio of each application, CCR [byte/flop]."""
        return self.byte / self.flop

    def may_compute(self, host: str) -> list[bool]:
        """Return of each application whether a host may compute its tasks."""
        hosts = self.hosts or [None] * self.n_applications
        return [each is None or host in each for each in hosts]

    def allowed(
        self, hosts: Sequence[str], speed: NDArray[np.float64], *, bundled: bool = False
    ) -> NDArray[np.bool_]:
        """Return which hosts of a tree compute which applications.

        Parameters
        ----------
        hosts : sequence of str
            Names of all hosts.
        speed : float64, shape (n_hosts,)
            Of each host [flop/s]; 0 for one that computes nothing.
        bundled : bool
            True if tasks of all applications travel together, so that a host computes all of
            them or none.

        Returns
        -------
        bool, shape (n_hosts, n_applications)

        Raises
        ------
        WorkloadError
            An application is restricted to a host that is none of them.
        InfeasibleError
            An application, or a bundle, has no host that computes it.
        """
        found = np.ones((len(hosts), self.n_applications), dtype=bool)
        number = {name: at for at, name in enumerate(hosts)}
        for kind, chosen in enumerate(self.hosts or ()):
            if chosen is None:
                continue
            for name in chosen:
                if name not in number:
                    raise WorkloadError(
                        f"hosts of application {self.names[kind]!r} names {name!r}, which is no"
                        f" host of the tree of {hosts[0]!r}; give hosts of the tree",
                        self.names[kind],
                        "hosts",
                    )
            found[:, kind] = False
            found[[number[name] for name in chosen], kind] = True
        found &= (speed > 0)[:, None]
        if not found.any():
            raise InfeasibleError(
                f"no host of the tree of {hosts[0]!r} computes; give one a speed above 0"
            )
        if not np.all(found.any(axis=0)):
            name = self.names[int(np.argmin(found.any(axis=0)))]
            raise InfeasibleError(
                f"no host of the tree of {hosts[0]!r} that computes may compute application"
                f" {name!r}; add one to its hosts"
            )
        if bundled:
            found &= found.all(axis=1, keepdims=True)
            if not found.any():
                raise InfeasibleError(
                    f"no host of the tree of {hosts[0]!r} may compute all of"
                    f" {', '.join(map(repr, self.names))}, so that none computes a bundle of one"
                    " task of each; give them a host in common, or choose another policy"
                )
        return found


def _restrictions(names: tuple[str, ...], given: Any) -> tuple[tuple[str, ...] | None, ...] | None:
    """Return the hosts of each application, None if all of them may compute all."""
    if isinstance(given, Mapping):
        for name in given:
            if name not in names:
                raise WorkloadError(f"hosts names {name!r}, which is no application", str(name))
        given = [given.get(name) for name in names]
    if not isinstance(given, Sequence) or isinstance(given, str) or len(given) != len(names):
        raise WorkloadError(
            f"hosts of applications is {given!r}; give names of hosts, or None, for each of"
            f" {len(names)} applications"
        )
    found = tuple(
        None if each is None else texts(f"hosts of application {name!r}", each)
        for name, each in zip(names, given, strict=True)
    )
    return None if all(each is None for each in found) else found
