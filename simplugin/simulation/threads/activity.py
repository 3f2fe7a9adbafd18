"""Activities: everything that takes simulated time and has a handle."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import simgrid
from simplugin.errors import (
    ActivityError,
    CancelException,
    HostFailureException,
    NetworkFailureException,
    SimpluginError,
    TimeoutException,
)
from simplugin.simulation.threads.blocking import Blocking, time_limit
from simplugin.simulation.threads.signal import fire, signal
from simplugin.simulation.threads.world import World

if TYPE_CHECKING:
    from simplugin.simulation.threads.actor import Actor

NATIVE_FAILURES = (
    simgrid.NetworkFailureException,
    simgrid.HostFailureException,
    simgrid.CancelException,
)
_REASONS: dict[type[SimpluginError], str] = {
    NetworkFailureException: "a link of the route, or the partner, failed",
    HostFailureException: "the host failed",
    TimeoutException: "the time limit was reached",
    CancelException: "it was cancelled",
}
NAN = float("nan")


class Activity:
    """A started activity; see :class:`simplugin.simulation.api.Activity`.

    Parameters
    ----------
    world : World
        The simulation.
    owner : Actor
        Who started it; its end cancels the activity.
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

    def __init__(self, world: World, owner: Actor, label: str | None, amount: float) -> None:
        if label is not None and not isinstance(label, str):
            raise TypeError(f"a label must be a str, not {label!r}")
        self.world = world
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
        """What it gave, once finished."""
        return self._result if self._state == "FINISHED" else None

    @property
    def remaining(self) -> float:
        """Work left [flop or byte]."""
        return 0.0 if self.over else self._remaining()

    def __await__(self) -> Generator[Blocking[Any], Any, Any]:
        return self.wait().__await__() if not self.over else _at_once(self)

    def wait(self, timeout: float | None = None) -> Blocking[Any]:
        """Wait for the end, or up to a time limit [s], which leaves the activity running."""
        limit = time_limit(timeout)
        return Blocking(self.world, self.describe, lambda: self.perform_wait(limit))

    def test(self) -> bool:
        """Say whether it is over, without waiting."""
        asks = not self.over and self.native is not None
        if asks and not self.world.running("test").dying:
            self.world.call(self.poll)
        return self.over

    def cancel(self) -> None:
        """End it now; who waits for it gets a CancelException."""
        # It may be over without anybody having noticed.
        if self.test():
            return
        dying = self.world.running("cancel").dying
        self.ends(CancelException, NAN if dying else self.amount - self._remaining())
        if self.native is not None:
            self.world.call_even_dying(self._cancel_native)
        self.wake_waiters()

    def suspend(self) -> None:
        """Stop its progress."""
        self.is_suspended = True
        if not self.over and self.native is not None:
            self.world.call(self.native.suspend)

    def resume(self) -> None:
        """Let it progress again."""
        self.is_suspended = False
        if not self.over and self.native is not None:
            self.world.call(self.native.resume)

    # ---- for this package ----

    @property
    def over(self) -> bool:
        """Whether it is known to have ended."""
        return self._state in ("FINISHED", "FAILED", "CANCELED")

    def describe(self) -> str:
        """Say what it is, for messages."""
        return self.kind

    def started(self, native: Any) -> None:
        """Take note that it started."""
        self.native = native
        self._state = "STARTED"
        if self.start_time is None:
            self.start_time = self.world.now
        self.owner.activities.append(self)

    def outcome(self) -> Any:
        """Return the result of an activity that is over, or raise what ended it."""
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
            block([self], limit)
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
            try:
                simgrid.ActivitySet([self.native]).wait_any()
            except NATIVE_FAILURES as failure:
                self.ends_natively(failure)
            else:
                self.ends_natively(None)
        return self.over

    def ends_natively(self, failure: Exception | None) -> None:
        """Take note of how SimGrid's activity ended, unless we ended it ourselves."""
        if self.over:
            return
        if failure is None:
            self._take_result()
            self.ends(None, self.amount)
        elif isinstance(failure, simgrid.NetworkFailureException):
            self.ends(NetworkFailureException, NAN)
        elif isinstance(failure, simgrid.HostFailureException):
            self.ends(HostFailureException, NAN)
        else:
            self.ends(CancelException, NAN)

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

    @property
    def ends_with_owner(self) -> bool:
        """Whether the end of the owner cancels it."""
        return True

    def abandoned(self) -> None:
        """End with the owner; SimGrid cancels what it knows by itself."""
        self.ends(CancelException, NAN)

    def wake_waiters(self) -> None:
        """Wake those whom SimGrid would not."""
        for waited in self.signals:
            fire(self.world, waited)

    @property
    def needs_signal(self) -> bool:
        """Whether SimGrid would not wake who waits if it were cancelled."""
        return False

    def _remaining(self) -> float:
        """Ask SimGrid for the work left."""
        return float(self.world.call(getattr, self.native, "remaining"))

    def _cancel_native(self) -> None:
        """Cancel SimGrid's activity."""
        self.native.cancel()

    def _take_result(self) -> None:
        """Fetch the result of an activity that SimGrid finished."""

    def _account(self, amount: float) -> None:
        """Record what was done."""


def _at_once(activity: Activity) -> Generator[Blocking[Any], Any, Any]:
    """Give the outcome of what is over already."""
    yield from ()
    return activity.outcome()


def block(activities: list[Activity], limit: float) -> None:
    """Block until one of some activities is over, or until the time limit."""
    world = activities[0].world
    deadline = world.now + limit
    waits, me = True, world.running("wait")
    me.awaited = activities
    while waits:
        _block_once(activities, limit)
        # A signal also ends with its host, which its actor may have left.
        limit = limit if limit < 0 else max(0.0, deadline - world.now)
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
        with contextlib.suppress(simgrid.TimeoutException, *NATIVE_FAILURES):
            if len(waited_for) == 1:
                waited_for[0].wait_for(limit)
            else:
                simgrid.ActivitySet(waited_for).wait_any_for(limit)
    for each in activities:
        each.signals = [waited for waited in each.signals if waited not in signals]
    for waited in signals:
        world.call(waited.cancel)


def watch(activity: Activity) -> None:
    """Let a daemon note the date at which an asynchronous activity ends.

    It runs where the activity's owner runs and so ends with it: SimGrid cancels what a killed
    actor waits for.
    """

    def wait() -> None:
        try:
            activity.native.wait()
        except NATIVE_FAILURES as failure:
            activity.ends_natively(failure)
        except simgrid.ActorKilled:
            return
        else:
            activity.ends_natively(None)
        if activity.kind == "execution":
            # SimGrid keeps it for its owner, and crashes when that one moves.
            activity.native.cancel()

    def start() -> None:
        activity.watcher = activity.owner.host.native.add_actor("watcher", wait).daemonize()

    activity.world.call(start)
