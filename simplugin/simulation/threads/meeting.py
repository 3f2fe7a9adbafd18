"""Mailboxes and message queues, where actors meet."""

from __future__ import annotations

from collections import deque
from typing import Any

from simplugin.errors import NetworkFailureException, NoRouteError, SimpluginError
from simplugin.simulation import _driver
from simplugin.simulation.threads import simgrid
from simplugin.simulation.threads.activity import NAN, Activity, launched
from simplugin.simulation.threads.world import Blocking, World, a_number, positive


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
    rate : float or None
        Largest speed of a put [byte/s].
    """

    peer: Half | None = None

    def __init__(
        self,
        meeting: Meeting,
        is_put: bool,
        payload: Any = None,
        size: float = 0.0,
        label: str | None = None,
        rate: float | None = None,
    ) -> None:
        self.kind = meeting.kind + ("put" if is_put else "get")
        # SimGrid counts whole bytes.
        amount = float(int(a_number(size, "size, the argument after the payload,")))
        super().__init__(meeting.world.running(self.kind), label, amount)
        self.meeting = meeting
        self.is_put = is_put
        self.payload = payload
        self.rate = None if rate is None else positive(rate, "rate")

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
    half: type[Half]
    # SimGrid's object, if it has one.
    native: Any = None

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

    def get(self, *, timeout: float | None = None) -> Blocking[Any]:
        """Receive; gives the payload."""
        return self._get().blocking(timeout)

    def _get(self) -> Half:
        """Receive."""
        return self.half(self, False)

    get_async, get_init = launched(_get, "begun", "later")


# ---- mailboxes ------------------------------------------------------------------------------


class Transfer(Half):
    """A put or a get of a mailbox: a transfer once both are there."""

    _source: str
    _destination: str

    def _remaining(self) -> float:
        """Return the size until the transfer starts."""
        return self.amount if self.peer is None else super()._remaining()

    def begin(self) -> None:
        """Start it at SimGrid's mailbox."""
        mailbox = self.meeting.native
        self.meet()
        if self.peer is not None:
            self._meet_natively(self.peer)
        if self.over:
            return
        call = self.world.call
        if self.is_put:
            native = call(mailbox.put_init, self, int(self.amount))
            if self.rate is not None:
                call(native.set_rate, self.rate)
            self.started(native)
            call(native.detach if self.detached else native.start)
            if self.detached and self.peer is not None:
                call(_driver.transfer_met, self._source, self._destination)
        else:
            self.started(call(mailbox.get_async))
        if self.peer is not None and self.peer.owner.is_suspended and not self.peer.detached:
            # Its owner is suspended, and so is this transfer, which counts as suspended already.
            call(self.peer.native.resume)
            call(self.peer.native.suspend)

    def detach(self) -> None:
        """Start it, and let it outlive its owner."""
        if not self.is_put:
            raise ValueError("SimGrid detaches no get")
        super().detach()

    def send_off(self) -> None:
        """Start it, and forget it."""
        self.detached = True
        self.begin()

    def watched(self) -> None:
        """Wait, in a watcher, for its end; that of a detached put is its partner's."""
        if not self.detached:
            super().watched()

    def _meet_natively(self, peer: Half) -> None:
        """Note when and where the transfer starts, or that it cannot."""
        put, get = (self, peer) if self.is_put else (peer, self)
        ends = put.owner.host, get.owner.host
        for half in (put, get):
            assert isinstance(half, Transfer)
            half.start_time = self.world.now
            half._source, half._destination = (end.name for end in ends)
        if not ends[0].is_on:
            self._cannot_start(peer, NetworkFailureException)  # a detached put outlived its host
        elif _driver.route_problem(self._source, self._destination, True):
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
            problem = _driver.route_problem(self._source, self._destination, True)
            started = f"no transfer could start from {self._source!r} to {self._destination!r}"
            return NoRouteError(problem or started)
        return super().error(kind)

    @property
    def needs_signal(self) -> bool:
        """SimGrid wakes nobody who waits for a partner that will not come."""
        return self.peer is None or self.is_daemons

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
            self.world.record.carried(self._source, self._destination, amount)
            self._row(f"{self._source}->{self._destination}", "comm", amount)


class Mailbox(Meeting):
    """A rendezvous point; see :class:`simplugin.simulation.api.Mailbox`."""

    half = Transfer

    def __init__(self, world: World, name: str) -> None:
        super().__init__(world, name)
        self.native = world.call(simgrid.Mailbox.by_name, name)

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
        return Transfer(self, True, payload, size, label, rate).blocking(timeout)

    def _put(
        self, payload: Any, size: float, *, rate: float | None = None, label: str | None = None
    ) -> Transfer:
        """Send a payload of some bytes."""
        return Transfer(self, True, payload, size, label, rate)

    put_async, put_init, put_detached = launched(_put, "begun", "later", "send_off")


# ---- message queues -------------------------------------------------------------------------


class Message(Half):
    """A put or a get of a message queue; takes no simulated time."""

    def _remaining(self) -> float:
        """Return 0: nothing is carried."""
        return 0.0

    def begin(self) -> None:
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

    def begun(self) -> Activity:
        """Start it now."""
        self.begin()
        return self

    def send_off(self) -> None:
        """Start it, and forget it."""
        self.ends_with_owner = False
        self.begin()

    def perform(self, limit: float) -> Any:
        """Start and block; others go first even if the partner was there, as in SimGrid."""
        self.begin()
        if self.over:
            simgrid.this_actor.yield_()
        return self.perform_wait_or_cancel(limit)


class MessageQueue(Meeting):
    """A rendezvous point outside of time; see :class:`simplugin.simulation.api.MessageQueue`."""

    kind = "message "
    half = Message

    def put(self, payload: Any, *, timeout: float | None = None) -> Blocking[None]:
        """Give a payload; over when it is taken."""
        return Message(self, True, payload).blocking(timeout)

    def _put(self, payload: Any) -> Message:
        """Give a payload."""
        return Message(self, True, payload)

    put_async, put_detached = launched(_put, "begun", "send_off")
