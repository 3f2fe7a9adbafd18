"""Activities, which take simulated time and have a handle; and waiting for them."""

from __future__ import annotations

import contextlib
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


class Activity:
    """A started activity; see :class:`simplugin.simulation.api.Activity`.

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
    # SimGrid's object, if it has one.
    native: Any = None
    # SimGrid's actor that notes its end.
    watcher: Any = None
    # False if it outlives its owner.
    ends_with_owner = True

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

    def __repr__(self) -> str:
        return f"<Activity: {self.describe()}, {self._state}>"

    # ---- for users ----

    @property
    def state(self) -> str:
        """INITED, STARTED, FINISHED, FAILED or CANCELED."""
        self.test()
        return self._state

    @property
    def result(self) -> Any:
        """Its result, once finished."""
        return self._result if self._state == "FINISHED" else None

    @property
    def remaining(self) -> float:
        """Work left [flop or byte]."""
        return 0.0 if self.over else self._remaining()

    @property
    def host(self) -> Any:
        """Where an execution runs, None for others."""
        return None

    @host.setter
    def host(self, _: Any) -> None:
        raise self.unchangeable("host")

    @property
    def priority(self) -> float:
        """Share of an execution."""
        return 1.0

    @priority.setter
    def priority(self, _: float) -> None:
        raise self.unchangeable("priority")

    def __await__(self) -> Generator[Blocking[Any], Any, Any]:
        if not self.over:
            return (yield from self.wait().__await__())
        return self.outcome()

    def wait(self, timeout: float | None = None) -> Blocking[Any]:
        """Wait for the end, or up to a time limit [s], which leaves the activity running."""
        limit = time_limit(timeout)
        return Blocking(self.world, self.describe, lambda: self.perform_wait(limit))

    def test(self) -> bool:
        """Return True if it is over, without waiting."""
        asks = not self.over and self.native is not None
        if asks and not self.world.running("test").dying:
            self.world.call(self.poll)
        return self.over

    def cancel(self) -> None:
        """End it now; the actors that wait for it get a CancelException."""
        # It may be over without anybody having noticed.
        if self.test():
            return
        dying = self.world.running("cancel").dying
        self.ends(CancelException, NAN if dying else self.amount - self._remaining())
        if self.native is not None:
            self.world.call_even_dying(self.native.cancel)
        self.wake_waiters()

    def suspend(self) -> None:
        """Stop its progress."""
        self.is_suspended = True
        if not self.over and self._stoppable is not None:
            self.world.call(self._stoppable.suspend)

    def resume(self) -> None:
        """Let it progress again."""
        self.is_suspended = False
        if not self.over and self._stoppable is not None:
            self.world.call(self._stoppable.resume)

    # ---- for this package ----

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
        self.owner.activities.append(self)

    def unchangeable(self, what: str) -> ValueError:
        """Return the error for anything but an execution that is not over."""
        return ValueError(
            f"only an execution that is not over can change its {what}, not {self.describe()}"
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

    def perform_wait(self, limit: float) -> Any:
        """Block until the end or the time limit; the limit does not end the activity."""
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
        if not self.over and self.native is not None and self.native.test():
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
        self._account(amount)

    def cancelled_by_simgrid(self) -> None:
        """End as SimGrid cancels it by itself."""
        self.ends(CancelException, NAN)

    def wake_waiters(self) -> None:
        """Wake the actors that SimGrid would not wake: they see a network failure."""
        for waited in self.signals:
            self.world.call_even_dying(waited.cancel)

    @property
    def needs_signal(self) -> bool:
        """True if SimGrid would not wake those who wait when it is cancelled."""
        return self.native is None

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


# ---- waiting --------------------------------------------------------------------------------


def checked(activities: Sequence[Activity]) -> list[Activity]:
    """Return the activities; raise if there is anything else among them."""
    for each in activities:
        if not isinstance(each, Activity):
            raise TypeError(f"expected activities, not {each!r}")
    return list(activities)


def first_over(activities: Sequence[Activity]) -> Activity | None:
    """Return the first in the list that is over."""
    return next((each for each in activities if each.test()), None)


def wait_any(
    world: World, activities: Sequence[Activity], timeout: float | None
) -> Blocking[Activity]:
    """Return an operation that gives the first activity that is over, in list order at ties."""
    wanted, limit = checked(activities), time_limit(timeout)
    if not wanted:
        raise ValueError("wait_any needs at least one activity")

    def perform() -> Activity:
        over = _await_first(wanted, limit, "any of")
        over.outcome()
        return over

    return Blocking(world, lambda: _describe("any of", wanted), perform)


def wait_all(
    world: World, activities: Sequence[Activity], timeout: float | None
) -> Blocking[list[Any]]:
    """Return an operation that gives all results, or raises at the first failure."""
    wanted, limit = checked(activities), time_limit(timeout)

    def perform() -> list[Any]:
        deadline = world.now + limit
        left = wanted
        while left:
            over = _await_first(left, _left(world, deadline, limit), "all of")
            over.outcome()
            left = [each for each in left if each is not over]
        return [each.outcome() for each in wanted]

    return Blocking(world, lambda: _describe("all of", wanted), perform)


def _describe(which: str, activities: list[Activity]) -> str:
    """Name at most three of those that are not over."""
    left = [each.describe() for each in activities if not each.over]
    return f"{which} {', '.join(left[:3])}{', ...' if len(left) > 3 else ''}"


def _left(world: World, deadline: float, limit: float) -> float:
    """Return how much of a time limit is left."""
    return limit if limit < 0 else max(0.0, deadline - world.now)


def _await_first(activities: list[Activity], limit: float, which: str) -> Activity:
    """Block until one is over, and return it; raise at the time limit."""
    over = first_over(activities)
    if over is None:
        _block(activities, limit)
        over = first_over(activities)
    if over is None:
        raise TimeoutException(f"{_describe(which, activities)}: the time limit was reached")
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
        limit = _left(world, deadline, limit)
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
        natives = [each.native for each in activities if each.native is not None]
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


def watch(activity: Activity) -> None:
    """Let a daemon note the date at which an asynchronous activity ends.

    It runs where the activity's owner runs and so ends with it: SimGrid cancels what a killed
    actor waits for.
    """

    def wait() -> None:
        try:
            activity.ends_as(activity.native.wait)
        except simgrid.ActorKilled:
            return
        if activity.kind == "execution":
            # SimGrid keeps it for its owner, and crashes when that one moves.
            activity.native.cancel()

    def start() -> None:
        activity.watcher = activity.owner.host.native.add_actor("watcher", wait).daemonize()

    activity.world.call(start)
