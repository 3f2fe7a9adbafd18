"""Activities with a handle, and waits for them."""

from __future__ import annotations

import functools
import inspect
from collections import deque
from collections.abc import Callable, Generator, Sequence
from typing import Any, Literal

from simplugin.core import errors
from simplugin.simulation import _driver, api
from simplugin.simulation.back_end import place_of, user_frame
from simplugin.simulation.threads.refused import complete
from simplugin.simulation.threads.world import SimulationState, Timer, nothing

Failure = type[errors.SimpluginError]
ENDS: dict[Failure | None, tuple[str, str]] = {
    None: ("FINISHED", ""),
    errors.NetworkFailureException: ("FAILED", "a link of the route, or the partner, failed"),
    errors.HostFailureException: ("FAILED", "the host failed"),
    errors.TimeoutException: ("CANCELED", "the time limit was reached"),
    errors.CancelException: ("CANCELED", "it was cancelled"),
    errors.NoRouteError: ("FAILED", "there is no route"),
}
"""State after each failure, and its reason."""


@complete(api.Activity)
class ThreadsActivity:
    """An activity; see :class:`simplugin.simulation.api.Activity`.

    Parameters
    ----------
    owner : Actor
        Its actor; it is cancelled when the actor ends.
    label : str or None
        Label in the trace.
    amount : float
        Work [flop or byte].
    """

    # Its description in messages.
    text = ""
    # True if it ends with the actor that waits for it, as in SimGrid.
    is_work = True
    # True if it outlives its actor.
    is_detached = False
    label: str | None
    start_time: float | None
    finish_time: float | None
    state: str
    result: Any

    def __init__(self, owner: Any, label: str | None = None, amount: float = 0.0) -> None:
        if label is not None and not isinstance(label, str):
            raise TypeError(f"a label must be a str, not {label!r}")
        self.world: SimulationState = owner.world
        self.owner, self.label, self.amount = owner, label, amount
        self.start_time = self.finish_time = self.result = None
        self.state = "INITED"
        self.is_suspended = False
        self.waits: list[Await] = []
        # Its result if it finishes.
        self.value: Any = None
        self._failure: Failure | None = None

    def __repr__(self) -> str:
        return f"<Activity: {self.text}, {self.state}>"

    # ---- for users ----

    def __await__(self) -> Generator[Await, Any, Any]:
        return (yield from self.wait().__await__())

    def wait(self, timeout: float | None = None) -> Await:
        """Wait for the end, or up to a time limit [s], which leaves the activity running."""
        return Await(self.world, [self], "one", timeout)

    def test(self) -> bool:
        """Return True if it is over, without waiting."""
        return self.over

    def cancel(self) -> None:
        """End it now; the actors that wait for it get a CancelException."""
        self.end(errors.CancelException)

    def suspend(self) -> None:
        """Stop its progress."""
        self.hold(is_held=True)

    def resume(self) -> None:
        """Let it progress again."""
        self.hold(is_held=False)

    # ---- for this package ----

    @property
    def over(self) -> bool:
        """True if it has ended."""
        return self.state not in ("INITED", "STARTED")

    def hold(self, *, is_held: bool) -> None:
        """Suspend or resume it."""
        if self.state == "STARTED" and self.is_suspended != is_held:
            self.is_suspended = is_held
            self.hold_action(is_held=is_held)

    def hold_action(self, *, is_held: bool) -> None:
        """Suspend or resume its action in SimGrid."""

    def begun(self) -> ThreadsActivity:
        """Start it now."""
        self.state, self.start_time = "STARTED", self.world.now
        if not self.is_detached:
            self.owner.activities.append(self)
        self.begin()
        return self

    def begin(self) -> None:
        """Start the work."""
        raise NotImplementedError

    def end(self, failure: Failure | None = None) -> None:
        """End it, and wake the actors that wait."""
        if self.over:
            return
        self.state, self._failure = ENDS[failure][0], failure
        self.finish_time = self.world.now
        self.result = self.value if failure is None else None
        if self in self.owner.activities:
            self.owner.activities.remove(self)
        self.leave()
        waits, self.waits = self.waits, []
        for wait in waits:
            wait.notify()

    def leave(self) -> None:
        """Free its resource, or leave its queue."""

    def give_back(self) -> None:
        """Return its grant, because its actor is killed before it resumes."""

    def time_out(self) -> None:
        """End it at its time limit."""
        self.end(errors.TimeoutException)

    def outcome(self) -> Any:
        """Return the result of an activity that is over, or raise the reason of its end."""
        if self._failure is not None:
            raise self.error(self._failure)
        return self.value

    def error(self, kind: Failure) -> errors.SimpluginError:
        """Make an exception about this activity."""
        made = kind(f"{self.text}: {ENDS[kind][1]}")
        if isinstance(made, errors.ActivityError):
            made.activity = self
        return made


def offered(
    promise: Callable[..., Any],
    make: Callable[..., ThreadsActivity],
    way: Literal["await", "start", "forget"] = "await",
) -> Any:
    """Return an operation with the signature that the interface promises.

    Parameters
    ----------
    promise : callable
        The operation of `simplugin.simulation.api`.
    make : callable
        Makes the activity; called with the operation's object and arguments but the time limit.
    way : {"await", "start", "forget"}
        When the activity starts: when it is awaited, or at once, and whether it has a handle.
    """
    signature = inspect.signature(promise)

    @functools.wraps(promise)
    def operation(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given = bound.arguments
        timeout = given.pop("timeout", None)
        activity = make(given.pop("self"), **given)
        if way == "await":
            return Await(activity.world, [activity], "one", timeout, begins=True)
        activity.is_detached = activity.is_detached or way == "forget"
        activity.begun()
        return activity if way == "start" else None

    return operation


class Await:
    """An awaitable: one, any or all of some activities.

    Parameters
    ----------
    world : SimulationState
        The simulation.
    activities : list of Activity
        Which.
    mode : {"one", "any", "all"}
        The activities that must end.
    timeout : float or None
        Time limit [s].
    begins : bool
        True if the activity starts when it is awaited, and the time limit cancels it.
    """

    def __init__(
        self,
        world: SimulationState,
        activities: Any,
        mode: str,
        timeout: Any = None,
        *,
        begins: bool = False,
    ) -> None:
        self._limit = None if timeout is None else a_number(timeout, "timeout")
        self._world, self._mode, self._begins = world, mode, begins
        self._activities = checked(activities)
        self._actor: Any = None
        self._timer: Timer | None = None
        self._has_expired = self._begun = False
        self._origin = world.current, _driver.exceptions(), place_of(user_frame())

    def __await__(self) -> Generator[Await, Any, Any]:
        self._begun = True
        me = self._world.running_actor("await")
        if not self._begins and self._is_satisfied():
            return self._outcome()
        if me.dying:
            raise errors.ForcefulKillException("exited")
        return (yield self)

    def __del__(self) -> None:
        # It is missing where __init__ failed.
        if not self.__dict__.get("_begun", True):
            self._world.never_awaited(self.describe(), *self._origin)

    def perform(self, me: Any) -> Any:
        """Block the actor until it is over; return its result."""
        if self._begins:
            self._activities[0].owner = me
            self._activities[0].begun()
        me.waits_at, me.phase, me.since = self, "blocked", self._world.now
        if self._is_satisfied():
            me.wake()  # the others that are ready go first, as in SimGrid
        else:
            self._actor = me
            for each in self._activities:
                each.waits.append(self)
            if self._limit is not None:
                date = self._world.now + self._limit
                self._timer = self._world.at(date, self._expire, is_limit=True)
        me.block()
        return self._outcome()

    def forget_limit(self) -> None:
        """Wait without a time limit from now on."""
        if self._timer is not None:
            self._timer.function = nothing

    def _go_on(self) -> None:
        """Wake the actor."""
        me, self._actor = self._actor, None
        self.forget_limit()
        for each in self._activities:
            if self in each.waits:
                each.waits.remove(self)
        me.wake()

    def notify(self) -> None:
        """Wake the actor if the end of an activity ends the wait."""
        if self._actor is not None and self._is_satisfied():
            self._go_on()

    def _expire(self) -> None:
        """End the wait at its time limit."""
        if self._begins:
            self._activities[0].time_out()
        elif self._actor is not None:
            self._has_expired = True
            self._go_on()

    def abandon(self) -> None:
        """Cancel the awaited activities of an actor that is being killed."""
        if self._actor is not None:
            self._go_on()
        for each in self._activities:
            if each.over:
                each.give_back()
            elif each.is_work:
                each.cancel()

    def _is_satisfied(self) -> bool:
        """Return True if the wait is over."""
        return self._decisive() is not None or not self._left()

    def _left(self) -> list[ThreadsActivity]:
        """Return the activities that are not over."""
        return [each for each in self._activities if not each.over]

    def _decisive(self) -> ThreadsActivity | None:
        """Return the first in the list that decides alone, None if there is none."""
        # No generator: an unfinished one would count as an exception where awaits are missed.
        over = [each for each in self._activities if each.over]
        decisive = [e for e in over if self._mode != "all" or e.state != "FINISHED"]
        return decisive[0] if decisive else None

    def _outcome(self) -> Any:
        """Return the result of the wait, or raise."""
        late = errors.TimeoutException
        if self._has_expired:
            raise self._activities[0].error(late) if self._mode == "one" else late(ENDS[late][1])
        first = self._decisive()
        if first is not None and (self._mode == "one" or first.state != "FINISHED"):
            return first.outcome()
        return first if self._mode == "any" else [each.outcome() for each in self._activities]

    def describe(self) -> str:
        """Name at most three of the activities that are not over."""
        left = [each.text for each in self._left() or self._activities]
        which = "" if self._mode == "one" else f"{self._mode} of "
        return f"{which}{', '.join(left[:3])}{', ...' if len(left) > 3 else ''}"


# ---- requests -------------------------------------------------------------------------------


class WaitingQueue:
    """A queue in which actors wait for each other.

    Parameters
    ----------
    world : SimulationState
        The simulation.
    name : str or None
        Its name in messages.
    """

    name: str | None

    def __init__(self, world: SimulationState, name: str | None) -> None:
        self.world = world
        self.name = name
        self.line: deque[Request] = deque()

    def asked(
        self, kind: str, answer: Callable[[Request], object], timeout: float | None = None
    ) -> Await:
        """Return an operation that is over when its request is answered."""
        return Await(self.world, [Request(self, kind, answer)], "one", timeout, begins=True)

    def done(self, kind: str, value: Any = None) -> Await:
        """Return an operation that is over at once, and gives a value."""
        request = Request(self, kind, lambda each: each.end())
        request.value = value
        request.begun()
        return request.wait()

    def take_back(self, request: Request) -> None:
        """Take back the grant of an actor that is killed before it resumes."""

    def time_out(self, request: Request) -> None:
        """End a request at its time limit."""
        request.end(errors.TimeoutException)


class Request(ThreadsActivity):
    """A request of an actor in a queue, ended by `answer` or by another actor."""

    is_work = False

    def __init__(self, place: WaitingQueue, kind: str, answer: Callable[[Request], object]) -> None:
        super().__init__(place.world.running_actor(kind))
        self.place, self._answer = place, answer
        self.text = kind if place.name is None else f"{kind} {place.name!r}"

    def begin(self) -> None:
        """Ask."""
        self._answer(self)

    def leave(self) -> None:
        """Leave the line."""
        if self in self.place.line:
            self.place.line.remove(self)

    def give_back(self) -> None:
        """Return its grant to the queue."""
        if self.state == "FINISHED":
            self.place.take_back(self)

    def time_out(self) -> None:
        """End it at its time limit."""
        self.place.time_out(self)


# ---- arguments ------------------------------------------------------------------------------


def checked(activities: Sequence[ThreadsActivity]) -> list[ThreadsActivity]:
    """Return the activities; raise if there is anything else among them."""
    for each in activities:
        if not isinstance(each, ThreadsActivity):
            raise TypeError(f"expected activities, not {each!r}")
    return list(activities)


def a_number(value: Any, what: str, *, is_positive: bool = False) -> float:
    """Check that a number is finite, and not negative, or above zero."""
    # Python would read a number in a text.
    if isinstance(value, str | bytes | bytearray) or not hasattr(value, "__float__"):
        raise TypeError(f"{what} must be a number, not {value!r}")
    result = float(value)
    if not 0 <= result < float("inf") or (is_positive and result == 0):
        least = "> 0" if is_positive else ">= 0"
        raise ValueError(f"{what} must be a finite number {least}, not {value!r}")
    return result
