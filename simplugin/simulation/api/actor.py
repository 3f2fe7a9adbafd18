"""The interface of `me`: the operations of an actor, and the objects for synchronisation."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from simplugin.simulation.api.resources import (
    Activity,
    Mailbox,
    MessageQueue,
    SimulatedHost,
    SimulatedLink,
    SimulatedRoute,
    with_parameters_of,
)
from simplugin.simulation.logs import Level

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Vector: TypeAlias = "Sequence[float] | NDArray[np.float64]"
Matrix: TypeAlias = "Sequence[Sequence[float]] | NDArray[np.float64]"


class Actor(Protocol):
    """An actor; `me` in its own function."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def pid(self) -> int:
        """1, 2, ... in order of creation."""

    @property
    def host(self) -> SimulatedHost:
        """Its host."""

    @property
    def properties(self) -> dict[str, str]:
        """Its properties."""

    @property
    def now(self) -> float:
        """The simulated date [s]."""

    @property
    def random(self) -> np.random.Generator:
        """Its own, seeded by the simulation's seed and its pid."""

    @property
    def is_daemon(self) -> bool:
        """True if it ends when only daemons are left."""

    @property
    def is_suspended(self) -> bool:
        """True if it is suspended."""

    @property
    def is_alive(self) -> bool:
        """True if it has not ended."""

    @property
    def hosts(self) -> list[SimulatedHost]:
        """All hosts of the platform."""

    @property
    def links(self) -> list[SimulatedLink]:
        """All links of the platform."""

    @property
    def actors(self) -> list[Actor]:
        """All actors that are alive."""

    # ---- work and time ----

    def execute(
        self,
        flops: float,
        *,
        host: SimulatedHost | str | None = None,
        priority: float = 1.0,
        bound: float | None = None,
        threads: int = 1,
        label: str | None = None,
    ) -> Awaitable[None]:
        """Compute.

        Parameters
        ----------
        flops : float
            How much [flop], on one core; of several threads, each.
        host : SimulatedHost or str, optional
            Where; this actor's own host without.
        priority : float
            Share of the host relative to the others'.
        bound : float, optional
            Largest speed [flop/s].
        threads : int
            Number of threads; each computes `flops` on a core of its own; they progress
            together, and share the cores if there are fewer.
        label : str, optional
            Label in the trace.

        Raises
        ------
        HostFailureException
            The host is not this actor's and failed.
        """

    @with_parameters_of(execute)
    def exec_async(self) -> Activity:
        """Start to compute; the parameters are those of `execute`."""

    @with_parameters_of(execute)
    def exec_init(self) -> Activity:
        """Return a planned execution; the parameters are those of `execute`."""

    def parallel_execute(
        self,
        hosts: Sequence[SimulatedHost | str],
        flops: Vector | None,
        sizes: Matrix | None,
        *,
        label: str | None = None,
    ) -> Awaitable[None]:
        """Run a parallel task; its parts progress together at the pace of the slowest.

        Parameters
        ----------
        hosts : sequence of SimulatedHost or str
            Where.
        flops : array_like of float, shape (n_hosts,), or None
            Work on each host [flop]; None for none. C-contiguous arrays of float64 are read at
            once, number by number otherwise.
        sizes : array_like of float, shape (n_hosts, n_hosts), or None
            What each host (row) sends to each other (column) [byte]; None for nothing, which is
            quicker than zeros.
        label : str, optional
            Label in the trace.

        Raises
        ------
        SimpluginError
            The host model is not ptask_L07.
        HostFailureException
            A host failed.
        """

    @with_parameters_of(parallel_execute)
    def parallel_async(self) -> Activity:
        """Start a parallel task; the parameters are those of `parallel_execute`."""

    @with_parameters_of(parallel_execute)
    def parallel_init(self) -> Activity:
        """Return a planned parallel task; the parameters are those of `parallel_execute`."""

    def sleep_for(self, duration: float, /) -> Awaitable[None]:
        """Sleep for a duration [s]; nothing happens if it is 0."""

    def sleep_until(self, date: float, /) -> Awaitable[None]:
        """Sleep until a date [s]; nothing happens if it has passed."""

    def yield_(self) -> Awaitable[None]:
        """Let the other actors that are ready at this date go first."""

    # ---- decisions ----

    def choose(
        self, options: Sequence[Any], observation: Any = None, *, label: str | None = None
    ) -> Awaitable[int]:
        """Leave a decision to the chooser of the simulation, which takes it before all else.

        Parameters
        ----------
        options : sequence
            What there is to choose from, at least one.
        observation : object, optional
            What the chooser is told.
        label : str, optional
            What the decision is about.

        Returns
        -------
        awaitable of int
            The position of the chosen option; 0 in a simulation without a chooser.
        """

    # ---- communication ----

    def mailbox(self, name: str, /) -> Mailbox:
        """Return the mailbox of that name; there is one for each."""

    def message_queue(self, name: str, /) -> MessageQueue:
        """Return the message queue of that name; there is one for each."""

    def sendto(
        self,
        source: SimulatedHost | str,
        destination: SimulatedHost | str,
        size: float,
        *,
        rate: float | None = None,
        label: str | None = None,
    ) -> Awaitable[None]:
        """Transfer bytes between any two hosts.

        Parameters
        ----------
        source, destination : SimulatedHost or str
            Where from and where to.
        size : float
            How much [byte].
        rate : float, optional
            Largest speed [byte/s].
        label : str, optional
            Label in the trace.

        Raises
        ------
        NetworkFailureException
            A link or one of the hosts failed.
        """

    @with_parameters_of(sendto)
    def sendto_async(self) -> Activity:
        """Start a transfer between two hosts; it survives the end of this actor."""

    def sendto_init(
        self,
        source: SimulatedHost | str | None,
        destination: SimulatedHost | str | None,
        size: float,
        *,
        rate: float | None = None,
        label: str | None = None,
    ) -> Activity:
        """Return a planned transfer between two hosts, which may still be None; see `sendto`."""

    # ---- waiting ----

    def wait_any(
        self, activities: Sequence[Activity], timeout: float | None = None
    ) -> Awaitable[Activity]:
        """Wait for the first of some activities to end.

        Parameters
        ----------
        activities : sequence of Activity
            At least one.
        timeout : float, optional
            Time limit [s].

        Returns
        -------
        awaitable of Activity
            The first to finish; of those that end at the same date, the first in the sequence.

        Raises
        ------
        TimeoutException
            The limit was reached first; the activities continue.
        NetworkFailureException, HostFailureException, StorageFailureException, CancelException
            The first to end failed: it is the exception's `activity`.
        """

    def wait_all(
        self, activities: Sequence[Activity], timeout: float | None = None
    ) -> Awaitable[list[Any]]:
        """Wait for all of some activities to end.

        Parameters
        ----------
        activities : sequence of Activity
            Any number.
        timeout : float, optional
            Time limit [s].

        Returns
        -------
        awaitable of list
            Their results, in order.

        Raises
        ------
        TimeoutException
            The limit was reached first; the activities continue.
        NetworkFailureException, HostFailureException, StorageFailureException, CancelException
            One failed; raised at that date, without waiting for the others.
        """

    def test_any(self, activities: Sequence[Activity], /) -> Activity | None:
        """Return the first in the sequence that is over, or None, without waiting."""

    # ---- actors ----

    def spawn(
        self,
        function: Callable[..., Any],
        *args: Any,
        host: SimulatedHost | str | None = None,
        name: str | None = None,
        daemon: bool = False,
        restart: bool = False,
        properties: Mapping[str, str] | None = None,
    ) -> Actor:
        """Start another actor; it first runs after this one's next await.

        Parameters
        ----------
        function : async function
            Called with the new actor and `args`.
        *args
            Its further arguments.
        host : SimulatedHost or str, optional
            Where; this actor's own host without.
        name : str, optional
            The function's name without.
        daemon : bool
            True if it ends when only daemons are left.
        restart : bool
            True if it starts again each time its host comes back.
        properties : mapping of str to str, optional
            Its properties.

        Raises
        ------
        HostFailureException
            The host is off.
        """

    def join(self, timeout: float | None = None) -> Awaitable[Any]:
        """Wait for this actor's end, up to a time limit [s].

        Returns
        -------
        awaitable of object
            What its function returned; None if it was killed.

        Raises
        ------
        TimeoutException
            The limit was reached first.
        """

    def kill(self) -> None:
        """End it now: its ``finally`` blocks and on-exit callbacks run, its activities fail."""

    def exit(self) -> None:
        """End the actor that calls this; it counts as killed."""

    def suspend(self) -> Awaitable[None]:
        """Stop it, with its executions and transfers, until `resume`; it may be the caller."""

    def resume(self) -> None:
        """Resume the actor."""

    def daemonize(self) -> None:
        """Make it a daemon."""

    def on_exit(self, callback: Callable[[bool], object], /) -> None:
        """Call a function when it ends, with whether it was killed; the last given runs first."""

    def set_host(self, host: SimulatedHost | str, /) -> None:
        """Move it, and its running executions, to another host."""

    def log(self, message: object, level: Level = "info") -> None:
        """Write a line with host, actor and date to standard error.

        Parameters
        ----------
        message : object
            Its text.
        level : {"debug", "info", "warning", "error"}
            Its importance; ``simulate(..., log=...)`` chooses the least one that is written.
        """

    # ---- platform ----

    def host_by_name(self, name: str, /) -> SimulatedHost:
        """Return a host; `SimpluginError` if there is none of that name."""

    def link_by_name(self, name: str, /) -> SimulatedLink:
        """Return a link; `SimpluginError` if there is none of that name."""

    def route(
        self, source: SimulatedHost | str, destination: SimulatedHost | str
    ) -> SimulatedRoute:
        """Return the links and the latency between two hosts."""

    # ---- synchronisation ----

    def mutex(self, name: str | None = None) -> Mutex:
        """Return a new mutex, or with a name the one that all actors share."""

    def semaphore(self, capacity: int, name: str | None = None) -> Semaphore:
        """Return a new semaphore, or with a name the one that all actors share."""

    def condition(self, mutex: Mutex, name: str | None = None) -> Condition:
        """Return a new condition variable, or with a name the one that all actors share."""

    def barrier(self, size: int, name: str | None = None) -> Barrier:
        """Return a new barrier, or with a name the one that all actors share."""


class Named(Protocol):
    """The common part of the objects for synchronisation."""

    @property
    def name(self) -> str | None:
        """Its name."""


class Lock(Named, Protocol):
    """An object that ``async with`` takes and gives back."""

    def __aenter__(self) -> Awaitable[None]: ...
    def __aexit__(self, *exception: object) -> Awaitable[None]: ...


class Mutex(Lock, Protocol):
    """A lock, given in the order of asking; ``async with mutex:`` locks and unlocks.

    It stays locked if its owner ends without unlocking it.
    """

    @property
    def owner(self) -> Actor | None:
        """The actor that holds it."""

    def lock(self) -> Awaitable[None]:
        """Wait until it is this actor's."""

    def try_lock(self) -> bool:
        """Lock it if it is free; return True if so."""

    def unlock(self) -> None:
        """Give it to the next who waits.

        Raises
        ------
        RuntimeError
            The caller does not hold it.
        """


class Semaphore(Lock, Protocol):
    """A number of places, given in the order of asking; ``async with semaphore:`` takes one."""

    @property
    def capacity(self) -> int:
        """Free places."""

    @property
    def would_block(self) -> bool:
        """True if no place is free."""

    def acquire(self, timeout: float | None = None) -> Awaitable[None]:
        """Take a place, or wait for one up to a time limit [s].

        Raises
        ------
        TimeoutException
            The limit was reached first.
        """

    def release(self) -> None:
        """Free a place."""


class Condition(Named, Protocol):
    """A condition variable on a mutex."""

    def wait(self, timeout: float | None = None) -> Awaitable[bool]:
        """Release the mutex, wait to be notified, lock it again.

        Parameters
        ----------
        timeout : float, optional
            Time limit [s] for the notification; the mutex is locked again either way.

        Returns
        -------
        awaitable of bool
            False if the limit was reached first.

        Raises
        ------
        RuntimeError
            The caller does not hold the mutex.
        """

    def notify_one(self) -> None:
        """Wake the first who waits, if any."""

    def notify_all(self) -> None:
        """Wake all who wait."""


class Barrier(Named, Protocol):
    """A meeting of a number of actors; it can be used again."""

    @property
    def size(self) -> int:
        """Number of actors that it waits for."""

    def wait(self) -> Awaitable[bool]:
        """Wait until all have arrived; True for the last one only."""
