"""Batch jobs: when they are submitted, the nodes and time that they ask for, and what they do.

A job runs on nodes of a cluster. Its work is one of the data classes here, or a function of its
number of nodes that returns one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from graphlib import CycleError, TopologicalSorter
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from simplugin.core.errors import WorkloadError
from simplugin.inputs.locations import shown
from simplugin.results.tables import OpenPoint
from simplugin.workloads.parameter_ranges import at_least, one_of, part, whole

Message: TypeAlias = tuple[int, int, float]
# Different values of a field, and the number of that of each job; or the numbers themselves.
_Column: TypeAlias = "tuple[tuple[object, ...] | type[Delay] | None, NDArray[Any]]"
JobKind = Literal["rigid", "moldable", "malleable"]


@dataclass(frozen=True, slots=True)
class Delay:
    """Work of a known duration that uses no network.

    Attributes
    ----------
    time : float
        Duration [s].
    """

    time: float

    def __post_init__(self) -> None:
        """Raise WorkloadError for a value out of range."""
        at_least("the time of a delay", self.time, 0)


@dataclass(frozen=True, slots=True)
class AmdahlWork:
    """Work that n nodes do in ``time (serial + (1 - serial) / n)`` seconds.

    Attributes
    ----------
    time : float
        Duration on one node [s].
    serial : float
        Sequential part, from 0 to 1.
    data : float
        Data that are redistributed when the number of nodes changes [byte].
    """

    time: float
    serial: float = 0.0
    data: float = 0.0

    def __post_init__(self) -> None:
        """Raise WorkloadError for a value out of range."""
        at_least("the time of a work", self.time, 0)
        at_least("the data of a work", self.data, 0)
        part("serial", self.serial)

    def duration(self, nodes: int) -> float:
        """Return the duration on a number of nodes [s]."""
        return self.time * (self.serial + (1 - self.serial) / nodes)


@dataclass(frozen=True, slots=True)
class ParallelWork:
    """Computation and communication of all nodes that advance together.

    Attributes
    ----------
    flop : float or tuple of float, shape (n_nodes,)
        Computation of each node [flop].
    byte : float or tuple of float, shape (n_nodes * n_nodes,)
        Data from each node to each other, row by row [byte]; a number for all pairs of different
        nodes.
    """

    flop: float | tuple[float, ...] = 0.0
    byte: float | tuple[float, ...] = 0.0

    def __post_init__(self) -> None:
        """Raise WorkloadError for a value out of range."""
        _amounts("flop of a parallel task", self.flop)
        _amounts("byte of a parallel task", self.byte)


@dataclass(frozen=True, slots=True)
class Computation:
    """Computation of each node by itself; it ends with the last one.

    Attributes
    ----------
    flop : float or tuple of float, shape (n_nodes,)
        Of each node [flop].
    """

    flop: float | tuple[float, ...]

    def __post_init__(self) -> None:
        """Raise WorkloadError for a value out of range."""
        _amounts("flop of a computation", self.flop)


@dataclass(frozen=True, slots=True)
class Messages:
    """Messages between nodes of a job that start together; they end with the last one.

    Attributes
    ----------
    messages : tuple of (int, int, float)
        Sender and receiver, numbers of nodes in the job from 0, and size [byte].
    """

    messages: tuple[Message, ...]

    def __post_init__(self) -> None:
        """Raise WorkloadError for a value out of range."""
        for sender, receiver, size in self.messages:
            at_least("the size of a message", size, 0)
            if not (type(sender) is type(receiver) is int and min(sender, receiver) >= 0):
                ends = shown((sender, receiver))
                raise WorkloadError(f"a message is between nodes {ends}; give numbers from 0 on")


@dataclass(frozen=True, slots=True)
class DiskTransfer:
    """Read or write of a shared disk by nodes of a job.

    Attributes
    ----------
    byte : float
        All data, spread evenly over the nodes that take part [byte].
    writes : bool
        True for a write.
    nodes : {"all", "root"}
        The nodes that take part: all, or the first one only.
    checkpoint : bool
        True if a job that failed later can restart after this write.
    """

    byte: float
    writes: bool = False
    nodes: Literal["all", "root"] = "all"
    checkpoint: bool = False

    def __post_init__(self) -> None:
        """Raise WorkloadError for a value out of range."""
        at_least("the data of a transfer", self.byte, 0)
        one_of("nodes", self.nodes, ("all", "root"))


@dataclass(frozen=True, slots=True)
class Phases:
    """Parts of a work, one after the other, several times.

    Attributes
    ----------
    parts : tuple of JobWork
        At least one.
    times : int
        Number of repetitions.
    """

    parts: tuple[JobWork, ...]
    times: int = 1

    def __post_init__(self) -> None:
        """Raise WorkloadError for a value out of range."""
        if not self.parts:
            raise WorkloadError("phases have no part; give at least one")
        if not (type(self.times) is int and self.times >= 0):
            raise WorkloadError(f"times is {shown(self.times)}; give a whole number from 0 on")


JobWork: TypeAlias = (
    Delay | AmdahlWork | ParallelWork | Computation | Messages | DiskTransfer | Phases
)


def known_duration(work: JobWork, size: int) -> float | None:
    """Return the duration of work that uses neither processors nor network; None for other [s]."""
    match work:
        case Delay():
            return work.time
        case AmdahlWork():
            return work.duration(size)
        case Phases():
            parts = [known_duration(each, size) for each in work.parts]
            known = [each for each in parts if each is not None]
            return sum(known) * work.times if len(known) == len(parts) else None
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job of a batch system.

    Attributes
    ----------
    id : str
        Unique in a workload.
    submit : float
        Date of submission [s].
    size : int
        Number of nodes that it asks for; for a malleable one the number that it starts with if
        the policy has no other wish.
    work : JobWork or callable
        What it does, or a function of its number of nodes that returns that.
    walltime : float, optional
        Requested time, at the end of which it is killed [s].
    kind : {"rigid", "moldable", "malleable"}
        Whether it runs on `size` nodes, on a number of nodes that is fixed at its start, or on one
        that may change.
    least, most : int, optional
        Smallest and largest number of nodes; `size` by default.
    user, group, queue : str
        Their names; empty if unknown.
    after : tuple of str
        Jobs that must have ended before; it counts as submitted then, plus `think_time`.
    think_time : float
        Time between the end of the jobs in `after` and the submission [s].
    reserved : float, optional
        Date of an advance reservation, not before `submit` [s]. The job starts then; later by
        the latency and the prologue of its machine, or if jobs that run past their walltimes, or
        hosts that fail, leave too few nodes.
    nodes : tuple of int
        The nodes that it wants; empty if any will do.
    priority : float
        The larger, the earlier, for policies that look at it.
    """

    id: str
    submit: float
    size: int
    work: JobWork | Callable[[int], JobWork]
    walltime: float | None = None
    kind: JobKind = "rigid"
    least: int | None = None
    most: int | None = None
    user: str = ""
    group: str = ""
    queue: str = ""
    after: tuple[str, ...] = ()
    think_time: float = 0.0
    reserved: float | None = None
    nodes: tuple[int, ...] = ()
    priority: float = 0.0

    def __post_init__(self) -> None:
        """Raise WorkloadError for a value out of range."""
        who = f"job {self.id!r}:"
        for name in ("submit", "think_time"):
            at_least(f"{who} {name}", getattr(self, name), 0)
        for name in ("walltime", "reserved"):
            if (given := getattr(self, name)) is not None:
                at_least(f"{who} {name}", given, 0)
        one_of("kind", self.kind, get_args(JobKind))
        for name in ("size", "least", "most"):
            number = getattr(self, name)
            if number is not None and not (type(number) is int and number >= 1):
                raise WorkloadError(f"{who} {name} is {shown(number)}; give a number of nodes")
        if self.kind == "rigid" and not {self.least, self.most} <= {None, self.size}:
            raise WorkloadError(f"{who} a rigid job has one size; leave out least and most")
        if not self.smallest <= self.size <= self.largest:
            raise WorkloadError(
                f"{who} size is {self.size}; give one from {self.smallest} to {self.largest}"
            )
        if self.nodes and not len({*self.nodes}) == len(self.nodes) == self.size:
            raise WorkloadError(
                f"{who} nodes is {shown(self.nodes)}; give {self.size} different nodes, its size"
            )
        for node in self.nodes:
            whole(f"{who} nodes", node, 0)
        if not math.isfinite(self.priority):
            raise WorkloadError(f"{who} priority is {shown(self.priority)}; give a finite number")
        if self.reserved is not None and self.reserved < self.submit:
            raise WorkloadError(
                f"{who} reserved is {self.reserved:g} s, before its submission at {self.submit:g} s"
            )

    @property
    def smallest(self) -> int:
        """Smallest number of nodes."""
        return self.size if self.least is None else self.least

    @property
    def largest(self) -> int:
        """Largest number of nodes."""
        return self.size if self.most is None else self.most

    def work_on(self, nodes: int) -> JobWork:
        """Return what it does on a number of nodes."""
        return self.work(nodes) if callable(self.work) else self.work


@dataclass(frozen=True)
class JobLog:
    """Jobs of a batch system, in the order of their log.

    Attributes
    ----------
    jobs : tuple of Job
        Ids are unique; those of `Job.after` exist.
    n_nodes : int, optional
        Nodes of the machine, as far as the log tells.
    left_open : tuple of OpenPoint
        What was left out or unknown in the log, with counts.
    """

    jobs: tuple[Job, ...]
    n_nodes: int | None = None
    left_open: tuple[OpenPoint, ...] = ()

    def __post_init__(self) -> None:
        """Raise WorkloadError for an id twice, or for unknown jobs or a circle in `after`."""
        known: set[str] = set()
        for job in self.jobs:
            if job.id in known:
                raise WorkloadError(f"two jobs have the id {job.id!r}; give each its own")
            known.add(job.id)
        for job in self.jobs:
            if missing := [each for each in job.after if each not in known]:
                raise WorkloadError(
                    f"job {job.id!r} comes after job {missing[0]!r}, which does not exist"
                )
        try:
            TopologicalSorter({job.id: job.after for job in self.jobs if job.after}).prepare()
        except CycleError as error:
            cycle = ", ".join(map(repr, error.args[1]))
            raise WorkloadError(
                f"jobs wait for each other in a circle: {cycle}; leave out one of `after`"
            ) from None

    def __reduce__(self) -> tuple[Callable[..., JobLog], tuple[object, ...]]:
        """Pickle columns, which are faster to write and to digest than jobs."""
        columns = {
            each.name: _column([getattr(job, each.name) for job in self.jobs])
            for each in fields(Job)
        }
        return _log_of, (columns, len(self.jobs), self.n_nodes, self.left_open)


def _column(values: list[Any]) -> _Column:
    """Return values as an array of numbers, or each different one and its places."""
    kinds = {type(each) for each in values}
    if kinds == {float} or kinds == {int}:
        return None, np.array(values)
    if kinds == {Delay}:
        return Delay, np.array([each.time for each in values], dtype=float)
    numbers: dict[tuple[type, object], int] = {}  # 1 and 1.0 are two
    try:
        places = [numbers.setdefault((type(each), each), len(numbers)) for each in values]
    except TypeError:  # work that cannot be hashed
        return tuple(values), np.arange(len(values))
    return tuple(value for _, value in numbers), np.array(places, dtype=np.int32)


def _log_of(
    columns: Mapping[str, _Column],
    n_jobs: int,
    n_nodes: int | None,
    left_open: tuple[OpenPoint, ...],
) -> JobLog:
    """Return a log from the columns of its jobs."""
    jobs = [object.__new__(Job) for _ in range(n_jobs)]
    for name, (values, places) in columns.items():
        write = getattr(Job, name).__set__
        listed: Iterable[object] = places.tolist()
        if isinstance(values, tuple):
            listed = map(values.__getitem__, places.tolist())
        elif values is Delay:
            listed = map(Delay, places.tolist())
        for job, value in zip(jobs, listed, strict=True):
            write(job, value)
    log = object.__new__(JobLog)
    for name, value in (("jobs", tuple(jobs)), ("n_nodes", n_nodes), ("left_open", left_open)):
        object.__setattr__(log, name, value)
    return log


def _amounts(what: str, values: float | Iterable[float]) -> None:
    """Raise WorkloadError unless all values are finite numbers from 0 on."""
    for each in values if isinstance(values, tuple) else (values,):
        at_least(what, each, 0)
