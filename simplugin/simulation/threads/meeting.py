"""Mailboxes and message queues, where actors meet."""

from __future__ import annotations

from collections import deque
from typing import Any

from simplugin.errors import NetworkFailureException, NoRouteError, SimpluginError
from simplugin.simulation import _driver
from simplugin.simulation.threads import simgrid
from simplugin.simulation.threads.activity import NAN, Activity, watch
from simplugin.simulation.threads.world import Blocking, World, a_number, positive, time_limit


class Half(Activity):
    """A put or a get.

    SimGrid matches them first in, first out. We do the same beside it, because the bindings tell
    neither what waits in a mailbox nor where a transfer goes.

    Parameters
    ----------
    meeting : Meeting
        Where.
    is_put : bool
        True for a put.
    payload : object
        Payload of a put.
    size : float
        Size of a put [byte].
    label : str or None
        Label in the trace.
    """

    peer: Half | None = None
    detached = False

    def __init__(
        self,
        meeting: Meeting,
        is_put: bool,
        payload: Any = None,
        size: float = 0.0,
        label: str | None = None,
    ) -> None:
        self.kind = meeting.kind + ("put" if is_put else "get")
        # SimGrid counts whole bytes.
        amount = float(int(a_number(size, "size, the argument after the payload,")))
        super().__init__(meeting.world.running(self.kind), label, amount)
        self.meeting = meeting
        self.is_put = is_put
        self.payload = payload

    def describe(self) -> str:
        """Return its description for messages."""
        return f"{self.kind} {self.meeting.name!r}"

    def meet(self) -> None:
        """Find the partner, or wait in line for it."""
        mine, others = self.meeting.puts, self.meeting.gets
        if not self.is_put:
            mine, others = others, mine
        while others and others[0].over:
            others.popleft()
        if others:
            self.peer = others.popleft()
            self.peer.peer = self
        else:
            mine.append(self)


class Meeting:
    """The common part of mailboxes and message queues."""

    kind = ""

    def __init__(self, world: World, name: str) -> None:
        self.world = world
        self.name = name
        self.puts: deque[Half] = deque()
        self.gets: deque[Half] = deque()

    @property
    def empty(self) -> bool:
        """True if neither a put nor a get is pending."""
        return self.size == 0 and all(half.over for half in self.gets)

    @property
    def size(self) -> int:
        """Number of pending puts."""
        return sum(not half.over for half in self.puts)

    def listen(self) -> bool:
        """Return True if a put is pending."""
        return self.size > 0


# ---- mailboxes ------------------------------------------------------------------------------


class Transfer(Half):
    """A put or a get of a mailbox: a transfer once both are there."""

    source: str
    destination: str

    def _remaining(self) -> float:
        """Return the size until the transfer starts."""
        return self.amount if self.peer is None else super()._remaining()

    def start(self, mailbox: Any, rate: float | None = None) -> None:
        """Start it at SimGrid's mailbox."""
        self.meet()
        if self.peer is not None:
            self._meet_natively(self.peer)
        if self.over:
            return
        call = self.world.call
        if self.is_put:
            native = call(mailbox.put_init, self, int(self.amount))
            if rate is not None:
                call(native.set_rate, rate)
            self.started(native)
            call(native.detach if self.detached else native.start)
            if self.detached and self.peer is not None:
                call(_driver.transfer_met, self.source, self.destination)
        else:
            self.started(call(mailbox.get_async))
        if self.peer is not None and self.peer.owner.is_suspended and not self.peer.detached:
            # Its owner is suspended, and so is this transfer, which counts as suspended already.
            call(self.peer.native.resume)
            call(self.peer.native.suspend)

    def _meet_natively(self, peer: Half) -> None:
        """Note when and where the transfer starts, or that it cannot."""
        put, get = (self, peer) if self.is_put else (peer, self)
        ends = put.owner.host, get.owner.host
        for half in (put, get):
            assert isinstance(half, Transfer)
            half.start_time = self.world.now
            half.source, half.destination = (end.name for end in ends)
        if not ends[0].is_on:
            self._cannot_start(peer, NetworkFailureException)  # a detached put outlived its host
        elif _driver.route_problem(self.source, self.destination, True):
            self._cannot_start(peer, NoRouteError)

    def _cannot_start(self, peer: Half, failure: type[SimpluginError]) -> None:
        """End both sides before SimGrid, which would abort, hears of this one."""
        self.peer = peer.peer = None
        self.ends(failure, 0.0)
        peer.ends(failure, 0.0)
        if peer.detached:
            _driver.withdraw_put(self.meeting.name)  # SimGrid does not cancel it
        else:
            self.world.call(simgrid.this_actor.yield_)  # it may be about to start
            self.world.call(peer.native.cancel)
        peer.wake_waiters()

    def error(self, kind: type[SimpluginError]) -> SimpluginError:
        """Make an exception about this activity."""
        if kind is NoRouteError:
            problem = _driver.route_problem(self.source, self.destination, True)
            started = f"no transfer could start from {self.source!r} to {self.destination!r}"
            return NoRouteError(problem or started)
        return super().error(kind)

    @property
    def needs_signal(self) -> bool:
        """SimGrid wakes nobody who waits for a partner that will not come."""
        return self.peer is None

    def ends(self, failure: type[SimpluginError] | None, amount: float) -> None:
        """End; a detached put has nobody else to notice its end."""
        super().ends(failure, amount)
        if self.peer is not None and self.peer.detached and not self.peer.over:
            self.peer.ends(failure, amount)

    def _take_result(self) -> None:
        """Fetch the payload of a get: SimGrid carried the put itself."""
        if self.is_put:
            return
        put: Transfer = self.native.get_payload()
        if put is not self.peer:
            raise AssertionError(f"mailbox {self.meeting.name!r}: matched another put than SimGrid")
        self._result = put.payload
        # Only a get knows its size from its partner.
        self.amount = put.amount

    def _account(self, amount: float) -> None:
        """Record the transfer once, as the sender's."""
        if self.peer is not None and self.is_put:
            self.world.record.carried(self.source, self.destination, amount)
            self._row(f"{self.source}->{self.destination}", "comm", amount)


class Mailbox(Meeting):
    """A rendezvous point; see :class:`simplugin.simulation.api.Mailbox`."""

    def __init__(self, world: World, name: str) -> None:
        super().__init__(world, name)
        self._native = world.call(simgrid.Mailbox.by_name, name)

    def put(
        self,
        payload: Any,
        size: float,
        *,
        rate: float | None = None,
        timeout: float | None = None,
        label: str | None = None,
    ) -> Blocking[None]:
        """Send a payload of some bytes; over when it is received."""
        return self._blocking(Transfer(self, True, payload, size, label), _rate(rate), timeout)

    def put_async(
        self, payload: Any, size: float, *, rate: float | None = None, label: str | None = None
    ) -> Transfer:
        """Start to send."""
        return self._begun(Transfer(self, True, payload, size, label), _rate(rate))

    def put_detached(
        self, payload: Any, size: float, *, rate: float | None = None, label: str | None = None
    ) -> None:
        """Send and forget."""
        put = Transfer(self, True, payload, size, label)
        put.detached = True
        put.start(self._native, _rate(rate))
        if put in put.owner.activities:
            put.owner.activities.remove(put)

    def get(self, *, timeout: float | None = None) -> Blocking[Any]:
        """Receive; gives the payload."""
        return self._blocking(Transfer(self, False), None, timeout)

    def get_async(self) -> Transfer:
        """Start to receive."""
        return self._begun(Transfer(self, False), None)

    def _blocking(self, half: Transfer, rate: float | None, timeout: float | None) -> Blocking[Any]:
        """Return an operation that starts a put or a get and waits for its end."""
        limit = time_limit(timeout)

        def perform() -> Any:
            half.start(self._native, rate)
            return half.perform_wait_or_cancel(limit)

        return Blocking(self.world, half.describe, perform)

    def _begun(self, half: Transfer, rate: float | None) -> Transfer:
        """Start a put or a get now."""
        half.start(self._native, rate)
        if not half.over:
            watch(half)
        return half


def _rate(rate: float | None) -> float | None:
    """Check a rate."""
    return None if rate is None else positive(rate, "rate")


# ---- message queues -------------------------------------------------------------------------


class Message(Half):
    """A put or a get of a message queue; takes no simulated time."""

    def _remaining(self) -> float:
        """Return 0: nothing is carried."""
        return 0.0

    def start(self) -> None:
        """Exchange the payload if the partner waits, or wait for it."""
        self.meet()
        if self.peer is None:
            self.started(None)
            return
        self.start_time = self.world.now
        put, get = (self, self.peer) if self.is_put else (self.peer, self)
        get._result = put.payload
        self.ends(None, NAN)
        self.peer.ends(None, NAN)
        self.peer.wake_waiters()

    def perform_start(self, limit: float) -> Any:
        """Start and block; others go first even if the partner was there, as in SimGrid."""
        self.start()
        if self.over:
            simgrid.this_actor.yield_()
        return self.perform_wait_or_cancel(limit)


class MessageQueue(Meeting):
    """A rendezvous point outside of time; see :class:`simplugin.simulation.api.MessageQueue`."""

    kind = "message "

    def put(self, payload: Any, *, timeout: float | None = None) -> Blocking[None]:
        """Give a payload; over when it is taken."""
        return self._blocking(Message(self, True, payload), timeout)

    def put_async(self, payload: Any) -> Message:
        """Start to give."""
        put = Message(self, True, payload)
        put.start()
        return put

    def put_detached(self, payload: Any) -> None:
        """Give and forget."""
        put = Message(self, True, payload)
        put.ends_with_owner = False
        put.start()

    def get(self, *, timeout: float | None = None) -> Blocking[Any]:
        """Take; gives the payload."""
        return self._blocking(Message(self, False), timeout)

    def get_async(self) -> Message:
        """Start to take."""
        get = Message(self, False)
        get.start()
        return get

    def _blocking(self, half: Message, timeout: float | None) -> Blocking[Any]:
        """Return an operation that starts a put or a get and waits for its end."""
        limit = time_limit(timeout)
        return Blocking(self.world, half.describe, lambda: half.perform_start(limit))
