"""What `me` can do: the interface of actors, as both back ends offer it.

Annotate with it: ``async def worker(me: Actor, queue: str) -> float``. Blocking operations give an
awaitable that starts when it is awaited; operations whose name ends in ``_async`` start at once and
return an :class:`~simplugin.simulation.activities.Activity`. Units are SimGrid's: s, flop, flop/s,
byte, byte/s, J. What each operation does at which date is in ``docs/semantics.md``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from simplugin.simulation.activities import Activity, Mailbox, MessageQueue
from simplugin.simulation.resources import Host, Link, Route
from simplugin.simulation.synchronisation import Barrier, Condition, Mutex, Semaphore

if TYPE_CHECKING:
    import numpy as np

ActorFunction: TypeAlias = Callable[..., Coroutine[Any, Any, Any]]


class Actor(Protocol):
    """An actor of the simulation; `me` is the caller's own."""

    @property
    def name(self) -> str:
        """Its name; several actors may share one."""

    @property
    def pid(self) -> int:
        """1, 2, ... in order of creation."""

    @property
    def host(self) -> Host:
        """Where it runs."""

    @property
    def properties(self) -> dict[str, str]:
        """Its properties, from the placement or the deployment file."""

    @property
    def now(self) -> float:
        """The simulated date [s]."""

    @property
    def random(self) -> np.random.Generator:
        """Its own generator, seeded by the simulation's seed and its pid."""

    @property
    def is_daemon(self) -> bool:
        """Whether it ends with the last actor that is no daemon."""

    @property
    def is_suspended(self) -> bool:
        """Whether it waits to be resumed."""

    @property
    def is_alive(self) -> bool:
        """Whether it has neither ended nor been killed."""

    # ---- execution ----

    def execute(
        self,
        flops: float,
        *,
        host: Host | str | None = None,
        priority: float = 1.0,
        bound: float | None = None,
        label: str | None = None,
    ) -> Awaitable[None]:
        """Compute.

        Parameters
        ----------
        flops : float
            Work [flop].
        host : Host or str, optional
            Where; the actor's own host by default.
        priority : float
            Share of the host relative to other executions.
        bound : float, optional
            Speed that it never exceeds [flop/s].
        label : str, optional
            Label in the trace.

        Raises
        ------
        HostFailureException
            The (other) host failed.
        CancelException
            It was cancelled.
        """

    def exec_async(
        self,
        flops: float,
        *,
        host: Host | str | None = None,
        priority: float = 1.0,
        bound: float | None = None,
        label: str | None = None,
    ) -> Activity[None]:
        """Start to compute; see `execute`."""

    def parallel_execute(
        self,
        hosts: Sequence[Host | str],
        flops: Sequence[float],
        sizes: Sequence[Sequence[float]],
        *,
        label: str | None = None,
    ) -> Awaitable[None]:
        """Run a parallel task; needs ``SimGridOptions(host_model="ptask_L07")``.

        Parameters
        ----------
        hosts : sequence, length n
            Where it runs.
        flops : sequence, length n
            Work on each host [flop].
        sizes : matrix, shape (n, n)
            What each host (row) sends to each host (column) [byte].
        label : str, optional
            Label in the trace.
        """

    def parallel_async(
        self,
        hosts: Sequence[Host | str],
        flops: Sequence[float],
        sizes: Sequence[Sequence[float]],
        *,
        label: str | None = None,
    ) -> Activity[None]:
        """Start a parallel task; see `parallel_execute`."""

    # ---- time ----

    def sleep_for(self, duration: float) -> Awaitable[None]:
        """Sleep [s]; at once when `duration` is 0."""

    def sleep_until(self, date: float) -> Awaitable[None]:
        """Sleep until a date [s]; at once when it is past."""

    def yield_(self) -> Awaitable[None]:
        """Let the actors that are ready at this date go first."""

    # ---- communication ----

    def mailbox(self, name: str) -> Mailbox:
        """Return the mailbox of that name."""

    def message_queue(self, name: str) -> MessageQueue:
        """Return the message queue of that name."""

    def sendto(
        self,
        source: Host | str,
        destination: Host | str,
        size: float,
        *,
        rate: float | None = None,
        label: str | None = None,
    ) -> Awaitable[None]:
        """Transfer `size` bytes between two hosts, at most at `rate` [byte/s].

        Raises
        ------
        NetworkFailureException
            A link of the route or one of the hosts failed.
        """

    def sendto_async(
        self,
        source: Host | str,
        destination: Host | str,
        size: float,
        *,
        rate: float | None = None,
        label: str | None = None,
    ) -> Activity[None]:
        """Start a transfer; it goes on even when the actor that started it ends."""

    # ---- waiting ----

    def wait_any(
        self, activities: Sequence[Activity[Any]], timeout: float | None = None
    ) -> Awaitable[Activity[Any]]:
        """Wait for the first of `activities`, in list order among those that end together.

        Raises
        ------
        TimeoutException
            None was over after `timeout` [s]; all go on.
        ActivityError
            The first one failed; the exception's `activity` says which.
        """

    def wait_all(
        self, activities: Sequence[Activity[Any]], timeout: float | None = None
    ) -> Awaitable[list[Any]]:
        """Wait for all of `activities`; give their results in list order. Raises as `wait_any`."""

    def test_any(self, activities: Sequence[Activity[Any]]) -> Activity[Any] | None:
        """Return the first of `activities` that is over, None if none is."""

    # ---- actors ----

    def spawn(
        self,
        function: ActorFunction,
        *args: Any,
        host: Host | str | None = None,
        name: str | None = None,
        daemon: bool = False,
        restart: bool = False,
        properties: dict[str, str] | None = None,
    ) -> Actor:
        """Start another actor; it runs for the first time after the caller's next `await`.

        Parameters
        ----------
        function : async function
            Called with the new actor and `args`.
        *args
            Its further arguments.
        host : Host or str, optional
            Where; the caller's host by default.
        name : str, optional
            The function's name by default.
        daemon : bool
            It ends with the last actor that is no daemon.
        restart : bool
            It starts again each time its host comes back.
        properties : dict, optional
            Its properties.

        Raises
        ------
        HostFailureException
            The host is off.
        """

    def join(self, timeout: float | None = None) -> Awaitable[Any]:
        """Wait for its end; give what it returned, None if it was killed.

        Raises
        ------
        TimeoutException
            It was alive after `timeout` [s].
        """

    def kill(self) -> None:
        """End it: its activities fail, its ``finally`` blocks and exit callbacks run."""

    def exit(self) -> None:
        """End the caller."""

    def suspend(self) -> Awaitable[None]:
        """Stop it, with its executions and transfers, until it is resumed."""

    def resume(self) -> None:
        """Let it go on."""

    def daemonize(self) -> None:
        """Make it a daemon."""

    def on_exit(self, callback: Callable[[bool], object]) -> None:
        """Call ``callback(was_killed)`` at its end; the last registered is called first."""

    def set_host(self, host: Host | str) -> None:
        """Migrate it, with its executions."""

    # ---- the others ----

    @property
    def hosts(self) -> list[Host]:
        """All hosts of the platform."""

    @property
    def links(self) -> list[Link]:
        """All links of the platform."""

    @property
    def actors(self) -> list[Actor]:
        """All actors that are alive, in order of creation."""

    def host_by_name(self, name: str) -> Host:
        """Return the host of that name; SimpluginError if there is none."""

    def link_by_name(self, name: str) -> Link:
        """Return the link of that name; SimpluginError if there is none."""

    def route(self, source: Host | str, destination: Host | str) -> Route:
        """Return the links between two hosts, and the latency."""

    def mutex(self, name: str | None = None) -> Mutex:
        """Make a mutex; with a name, the one that all actors share."""

    def semaphore(self, capacity: int, name: str | None = None) -> Semaphore:
        """Make a semaphore; with a name, the one that all actors share."""

    def condition(self, mutex: Mutex, name: str | None = None) -> Condition:
        """Make a condition variable on `mutex`; with a name, the one that all actors share."""

    def barrier(self, size: int, name: str | None = None) -> Barrier:
        """Make a barrier for `size` actors; with a name, the one that all actors share."""
