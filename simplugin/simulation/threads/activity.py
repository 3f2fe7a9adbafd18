"""Activities, which take simulated time and have a handle; and waiting for them."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Generator, Sequence
from typing import Any

from simplugin.errors import (
    ActivityError,
    CancelException,
    HostFailureException,
    NetworkFailureException,
    SimpluginError,
    StorageFailureException,
    TimeoutException,
)
from simplugin.simulation.threads import simgrid
from simplugin.simulation.threads.world import ActorRecord, Blocking, World, time_limit

_FAILURES: dict[type[BaseException], type[SimpluginError]] = {
    simgrid.NetworkFailureException: NetworkFailureException,
    simgrid.HostFailureException: HostFailureException,
    simgrid.CancelException: CancelException,
}
_NATIVE_FAILURES = tuple(_FAILURES)
_REASONS: dict[type[SimpluginError], str] = {
    NetworkFailureException: "a link of the route, or the partner, failed",
    HostFailureException: "the host failed",
    StorageFailureException: "the disk failed",
    TimeoutException: "the time limit was reached",
    CancelException: "it was cancelled",
}
NAN = float("nan")
# Size of the transfer that is a signal [byte].
_SIGNAL = 10**9


def _missing(what: str) -> Any:
    """Return a property that is None for most activities, and cannot be set."""

    def refuse(self: Activity, _: Any) -> None:
        raise self.unchangeable(what)

    return property(lambda _: None, refuse, doc=f"Its {what}, None where it has none.")


class Activity:
    """An activity; see :class:`simplugin.simulation.api.Activity`.

    Parameters
    ----------
    owner : ActorRecord
        Its actor, whose end cancels it.
    label : str or None
        Label in the trace.
    amount : float
        Work [flop or byte].
    """

    kind = "activity"
    # Names of the attributes that it needs to start.
    places: tuple[str, ...] = ()
    # SimGrid's object, if it has one.
    native: Any = None
    # SimGrid's actor that notes its end.
    watcher: Any = None
    # False if it outlives its owner.
    ends_with_owner = True
    # True if it was made to start later.
    is_planned = False
    # True while it is being started.
    is_starting = False
    # True if a daemon started it: SimGrid then does not end it with its owner.
    is_daemons = False
    detached = False

    def __init__(self, owner: ActorRecord, label: str | None, amount: float) -> None:
        if label is not None and not isinstance(label, str):
            raise TypeError(f"a label must be a str, not {label!r}")
        self.world = owner.world
        self.owner = owner
        self.label = label
        self.amount = amount
        self.start_time: float | None = None
        self.finish_time: float | None = None
        self._state = "INITED"
        self._result: Any = None
        self._failure: type[SimpluginError] | None = None
        self.signals: list[Any] = []
        self.is_suspended = False
        self._dependencies: list[Activity] = []
        self._successors: list[Activity] = []

    def __repr__(self) -> str:
        return f"<Activity: {self.describe()}, {self._state}>"

    # ---- for users ----

    @property
    def state(self) -> str:
        """INITED, STARTING, STARTED, FINISHED, FAILED or CANCELED."""
        self.look()
        return self._state

    @property
    def result(self) -> Any:
        """Its result, once finished."""
        return self._result if self._state == "FINISHED" else None

    @property
    def remaining(self) -> float:
        """Work left [flop or byte]."""
        return 0.0 if self.over else self._remaining() if self.has_started else self.amount

    host = _missing("host")
    source = _missing("source")
    destination = _missing("destination")
    disk = _missing("disk")

    @property
    def priority(self) -> float:
        """Share of an execution, read or write."""
        return 1.0

    @priority.setter
    def priority(self, _: float) -> None:
        raise self.unchangeable("priority")

    @property
    def dependencies(self) -> list[Activity]:
        """The activities after which it starts."""
        return list(self._dependencies)

    def __await__(self) -> Generator[Blocking[Any], Any, Any]:
        if not self.over:
            return (yield from self.wait().__await__())
        return self.outcome()

    def wait(self, timeout: float | None = None) -> Blocking[Any]:
        """Wait for the end, or up to a time limit [s], which leaves the activity running."""
        limit = time_limit(timeout)
        return Blocking(self.world, self.describe, lambda: self.perform_wait(limit))

    def test(self) -> bool:
        """Return True if it is over, without waiting; start it if nobody has."""
        self.start_if_planned()
        return self.look()

    def look(self) -> bool:
        """Return True if it is over."""
        if not self.over and not self.world.running("test").dying:
            self.world.call(self.poll)
        return self.over

    def cancel(self) -> None:
        """End it now; the actors that wait for it get a CancelException."""
        # It may be over without anybody having noticed.
        if self.look():
            return
        dying = self.world.running("cancel").dying
        self.ends(CancelException, NAN if dying else self.amount - self.remaining)
        if self.native is not None:
            self.world.call_even_dying(self.native.cancel)
        self.wake_waiters()

    def suspend(self) -> None:
        """Stop its progress."""
        self.is_suspended = True
        if self.has_started and not self.over and self._stoppable is not None:
            self.world.call(self._stoppable.suspend)

    def resume(self) -> None:
        """Let it progress again."""
        self.is_suspended = False
        if self.has_started and not self.over and self._stoppable is not None:
            self.world.call(self._stoppable.resume)

    # ---- before it starts ----

    def start(self) -> Activity:
        """Start it, as soon as it is assigned and what comes before is over."""
        self.require_planned("start")
        if self._state == "INITED":
            self.owner = self.world.running("start")
            self._state = "STARTING"
            if not self.detached:
                self.owner.activities.append(self)
            self.start_if_ready()
        return self

    def detach(self) -> None:
        """Start it, and let it outlive its owner."""
        self.require_planned("detach")
        self.detached, self.ends_with_owner = True, False
        if self in self.owner.activities:
            self.owner.activities.remove(self)
        self.start()

    def add_successor(self, activity: Activity) -> Activity:
        """Let another activity start after this one."""
        _successor_of(self, activity).require_planned("add_successor")
        if self.look():
            if self._failure is not None:
                raise ValueError(f"nothing can start after {self!r}")
            return self
        if activity in self._successors:
            raise ValueError(f"{activity!r} is a successor already")
        self._successors.append(activity)
        activity._dependencies.append(self)
        if self.has_started:
            self.watch_for_successors()
        return self

    def remove_successor(self, activity: Activity) -> Activity:
        """Let another activity no longer wait for this one."""
        if _successor_of(self, activity) not in self._successors:
            raise ValueError(f"{activity!r} is no successor")
        self._successors.remove(activity)
        activity._dependencies.remove(self)
        activity.start_if_ready()
        return self

    def later(self) -> Activity:
        """Make it one that is to be started later."""
        self.is_planned = True
        return self

    def require_planned(self, operation: str) -> None:
        """Raise if it has started."""
        if not self.is_planned or self.has_started:
            raise ValueError(
                f"{operation}: {self.describe()} must come from an operation whose name ends in "
                "_init, and not have started"
            )

    def start_if_planned(self) -> None:
        """Start what nobody has started."""
        if self.is_planned and self._state == "INITED":
            self.start()

    def start_if_ready(self) -> None:
        """Start it if nothing is missing."""
        if self._state != "STARTING" or self._dependencies or not self.is_assigned:
            return
        self._state = "STARTED"
        if self.world.actor is self.owner and not self.detached:
            self.begun()
        else:
            self.begun_elsewhere()
        if self.over:
            self.wake_waiters()

    def begin(self) -> None:
        """Start it now."""
        raise NotImplementedError

    def begin_as_planned(self) -> None:
        """Start it now; suspended if it is to be so.

        SimGrid starts what is tested: others who run meanwhile must not do that.
        """
        self.is_starting = True
        self.begin()
        self.is_starting = False
        if self.is_planned and self.is_suspended:
            self.suspend()

    def begun(self) -> Activity:
        """Start it now, and have its end noted."""
        self.begin_as_planned()
        if not self.over:
            watch(self)
        return self

    def begun_elsewhere(self) -> None:
        """Have a daemon start it."""
        self.is_daemons = True
        watch(self, begins=True)

    def watched(self) -> None:
        """Wait, in a watcher, for its end."""
        self.ends_as(self.native.wait)

    def watcher_killed(self) -> None:
        """Take note that its watcher ends."""

    def watch_for_successors(self) -> None:
        """Have its end noted, because others start after it."""

    @property
    def daemons_host(self) -> Any:
        """The host where its daemon runs."""
        return self.owner.host

    # ---- for this package ----

    @property
    def is_assigned(self) -> bool:
        """False if it lacks a host or disk."""
        return all(getattr(self, place) is not None for place in self.places)

    @property
    def has_started(self) -> bool:
        """True unless it is to start later."""
        return not (self.is_planned and self._state in ("INITED", "STARTING"))

    @property
    def over(self) -> bool:
        """True if it is known to have ended."""
        return self._state in ("FINISHED", "FAILED", "CANCELED")

    def describe(self) -> str:
        """Return its description for messages."""
        return self.kind

    def started(self, native: Any) -> None:
        """Take note that it started."""
        self.native = native
        self._state = "STARTED"
        if self.start_time is None:
            self.start_time = self.world.now
        if self not in self.owner.activities and not self.detached:
            self.owner.activities.append(self)

    def unchangeable(self, what: str) -> ValueError:
        """Return the error for what cannot be changed."""
        return ValueError(
            f"cannot change the {what} of {self.describe()}, which is over or has none"
        )

    def outcome(self) -> Any:
        """Return the result of an activity that is over, or raise the reason of its end."""
        if self._failure is not None:
            raise self.error(self._failure)
        return self._result

    def error(self, kind: type[SimpluginError]) -> SimpluginError:
        """Make an exception about this activity."""
        made = kind(f"{self.describe()}: {_REASONS[kind]}")
        if isinstance(made, ActivityError):
            made.activity = self
        return made

    def blocking(self, timeout: float | None = None) -> Blocking[Any]:
        """Return an operation that starts when awaited, and which the time limit cancels."""
        limit = time_limit(timeout)
        return Blocking(self.world, self.describe, lambda: self.perform(limit))

    def perform(self, limit: float) -> Any:
        """Start it and block until the end; the time limit cancels it."""
        self.begin()
        return self.perform_wait_or_cancel(limit)

    def perform_wait(self, limit: float) -> Any:
        """Block until the end or the time limit; the limit does not end the activity."""
        self.start_if_planned()
        if not self.over:
            _block([self], limit)
            if not self.poll():
                raise self.error(TimeoutException)
        return self.outcome()

    def perform_wait_or_cancel(self, limit: float) -> Any:
        """Block until the end; the time limit cancels the activity."""
        try:
            return self.perform_wait(limit)
        except TimeoutException:
            if not self.over:
                self.cancel()
            raise

    def poll(self) -> bool:
        """Ask SimGrid whether it is over."""
        known = self.native is not None and not (self.over or self.is_starting)
        if known and self.native.test():
            # A test swallows failures: wait for what is over already, to learn how it ended.
            self.ends_as(simgrid.ActivitySet([self.native]).wait_any)
        return self.over

    def ends_as(self, wait: Callable[[], object]) -> None:
        """Wait by a function of SimGrid's; take note of the end, unless it is known already."""
        failure = None
        try:
            wait()
        except _NATIVE_FAILURES as native:
            failure = _FAILURES[type(native)]
        if failure is not None:
            self.ends(failure, NAN)
        elif not self.over:
            self._take_result()
            self.ends(None, self.amount)

    def ends(self, failure: type[SimpluginError] | None, amount: float) -> None:
        """End, having done `amount`."""
        if self.over:
            return
        self.finish_time = self.world.now
        self._failure = failure
        cancelled = failure in (CancelException, TimeoutException)
        self._state = "FINISHED" if failure is None else "CANCELED" if cancelled else "FAILED"
        if self in self.owner.activities:
            self.owner.activities.remove(self)
        if self.start_time is not None:
            self._account(amount)
        while failure is None and self._successors:
            successor = self._successors.pop()
            successor._dependencies.remove(self)
            successor.start_if_ready()

    def wake_waiters(self) -> None:
        """Do what SimGrid would not: wake the actors that wait, and end what a daemon started."""
        if self.is_daemons and self.native is not None and self._failure is CancelException:
            self.world.call_even_dying(self.native.cancel)
        for waited in self.signals:
            self.world.call_even_dying(waited.cancel)

    @property
    def needs_signal(self) -> bool:
        """True if SimGrid would not wake those who wait when it is cancelled."""
        return self.native is None or self.is_daemons

    @property
    def _stoppable(self) -> Any:
        """SimGrid's object that can be suspended, if there is one."""
        return self.native

    def _remaining(self) -> float:
        """Ask SimGrid for the work left."""
        return float(self.world.call(getattr, self.native, "remaining"))

    def _take_result(self) -> None:
        """Fetch the result of an activity that SimGrid finished."""

    def _account(self, amount: float) -> None:
        """Record what was done."""

    def _row(self, resource: str, kind: str, amount: float) -> None:
        """Add a row to the trace."""
        start, end = self.start_time or 0.0, self.finish_time or 0.0
        pid, state = self.owner.pid, self._state
        self.world.record.add(pid, resource, kind, self.label, start, end, amount, state)


def launched(make: Callable[..., Any], *ways: str) -> Any:
    """Return a method for each way to start what `make` returns, a method of an `Activity`."""

    def method(way: str) -> Callable[..., Any]:
        @functools.wraps(make)
        def launch(*args: Any, **kwargs: Any) -> Any:
            return getattr(make(*args, **kwargs), way)()

        return launch

    return tuple(method(way) for way in ways)


# ---- waiting --------------------------------------------------------------------------------


def checked(activities: Sequence[Activity]) -> list[Activity]:
    """Return the activities; raise if there is anything else among them."""
    for each in activities:
        if not isinstance(each, Activity):
            raise TypeError(f"expected activities, not {each!r}")
    return list(activities)


def first_over(activities: Sequence[Activity]) -> Activity | None:
    """Return the first in the list that is over."""
    return next((each for each in activities if each.look()), None)


def describe_those(which: str, activities: list[Activity]) -> str:
    """Name at most three of those that are not over."""
    left = [each.describe() for each in activities if not each.over]
    return f"{which} {', '.join(left[:3])}{', ...' if len(left) > 3 else ''}"


def time_left(world: World, deadline: float, limit: float) -> float:
    """Return how much of a time limit is left."""
    return limit if limit < 0 else max(0.0, deadline - world.now)


def await_first(activities: list[Activity], limit: float, which: str) -> Activity:
    """Block until one is over, and return it; raise at the time limit."""
    for each in activities:
        each.start_if_planned()
    over = first_over(activities)
    if over is None:
        _block(activities, limit)
        over = first_over(activities)
    if over is None:
        raise TimeoutException(f"{describe_those(which, activities)}: the time limit was reached")
    return over


def _block(activities: list[Activity], limit: float) -> None:
    """Block until one of some activities is over, or until the time limit."""
    world = activities[0].world
    deadline = world.now + limit
    waits, me = True, world.running("wait")
    me.awaited = activities
    while waits:
        _block_once(activities, limit)
        # A signal also ends with its host, which its actor may have left.
        limit = time_left(world, deadline, limit)
        waits = limit != 0 and not any(each.poll() for each in activities)
    me.awaited = []


def _block_once(activities: list[Activity], limit: float) -> None:
    """Block until one of some activities is over, until the time limit, or for no reason."""
    world = activities[0].world
    signals = []
    for each in activities:
        if each.needs_signal:
            signals.append(signal(world))
            each.signals.append(signals[-1])
    # Others ran while the signals were made.
    if not any(each.over for each in activities):
        natives = [
            each.native for each in activities if each.native is not None and not each.is_daemons
        ]
        waited_for = natives + signals
        with contextlib.suppress(simgrid.TimeoutException, *_NATIVE_FAILURES):
            if len(waited_for) == 1:
                waited_for[0].wait_for(limit)
            else:
                simgrid.ActivitySet(waited_for).wait_any_for(limit)
    for each in activities:
        each.signals = [waited for waited in each.signals if waited not in signals]
    for waited in signals:
        world.call(waited.cancel)


def signal(world: World) -> Any:
    """Return something to wait for until it is cancelled.

    A suspended transfer from the running actor's host to itself: it loads nothing, never ends by
    itself, and belongs to no actor, so that suspending or ending one does not touch it.
    """
    here = world.running("wait").host.native
    waited = world.call(simgrid.Comm.sendto_init, here, here)
    world.call(waited.set_payload_size, _SIGNAL)
    world.call(waited.start)
    world.call(waited.suspend)
    return waited


def watch(activity: Activity, *, begins: bool = False) -> None:
    """Let a daemon note the date at which an asynchronous activity ends.

    It runs where the activity's owner runs and so ends with it: SimGrid cancels what a killed
    actor waits for.

    Parameters
    ----------
    activity : Activity
        Which.
    begins : bool
        True if the daemon starts it, too.
    """

    def wait() -> None:
        if activity.over:
            return
        try:
            if begins:
                activity.begin_as_planned()
            if not activity.over:
                activity.watched()
        except simgrid.ActorKilled:
            activity.watcher_killed()
            return
        activity.wake_waiters()

    def start() -> None:
        watcher = activity.daemons_host.native.add_actor("watcher", wait)
        activity.watcher = watcher if activity.detached else watcher.daemonize()

    activity.world.call(start)


def _successor_of(activity: Activity, successor: Activity) -> Activity:
    """Return what may start after an activity."""
    if not isinstance(successor, Activity):
        raise TypeError(f"expected an activity, not {successor!r}")
    if successor is activity:
        raise ValueError("an activity cannot be its own successor")
    return successor
