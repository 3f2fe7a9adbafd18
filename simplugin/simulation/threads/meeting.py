"""Where actors meet: mailboxes and message queues."""

from __future__ import annotations

from collections import deque
from typing import Any

import simgrid
from simplugin.errors import NetworkFailureException, NoRouteError, SimpluginError
from simplugin.simulation import _driver
from simplugin.simulation.threads.activity import NAN, Activity, watch
from simplugin.simulation.threads.blocking import Blocking, a_number, positive, time_limit
from simplugin.simulation.threads.record import Row
from simplugin.simulation.threads.world import World


class Half(Activity):
    """A put or a get.

    SimGrid matches them first in, first out. We do the same beside it, because the bindings tell
    neither what waits in a mailbox nor where a transfer goes.
    """

    meeting: Meeting
    payload: Any = None
    peer: Half | None = None
    is_put = False
    detached = False

    def describe(self) -> str:
        """Say what it is, for messages."""
        return f"{self.kind} {self.meeting.name!r}"

    def partner_waits(self) -> bool:
        """Say whether there is somebody to meet."""
        others = self.meeting.gets if self.is_put else self.meeting.puts
        while others and others[0].over:
            others.popleft()
        return bool(others)

    def meet(self) -> None:
        """Find the partner, or wait in line for it."""
        mine, others = self.meeting.puts, self.meeting.gets
        if not self.is_put:
            mine, others = others, mine
        if self.partner_waits():
            self.peer = others.popleft()
            self.peer.peer = self
        else:
            mine.append(self)


class Meeting:
    """What mailboxes and message queues have in common."""

    def __init__(self, world: World, name: str) -> None:
        self._world = world
        self.name = name
        self.puts: deque[Half] = deque()
        self.gets: deque[Half] = deque()

    @property
    def empty(self) -> bool:
        """Whether neither a put nor a get is pending."""
        return self.size == 0 and all(half.over for half in self.gets)

    @property
    def size(self) -> int:
        """Number of pending puts."""
        return sum(not half.over for half in self.puts)

    def listen(self) -> bool:
        """Say whether a put is pending."""
        return self.size > 0


# ---- mailboxes ------------------------------------------------------------------------------


class Transfer(Half):
    """A put or a get of a mailbox: a transfer once both are there."""

    source: str
    destination: str

    def _remaining(self) -> float:
        """Return the size until the transfer starts."""
        return self.amount if self.peer is None else super()._remaining()

    def meet(self) -> None:
        """Note when and where the transfer starts, or that it cannot."""
        super().meet()
        if self.peer is None:
            return
        put, get = (self, self.peer) if self.is_put else (self.peer, self)
        assert isinstance(put, Transfer)
        assert isinstance(get, Transfer)
        put.start_time = get.start_time = self.world.now
        put.source = get.source = put.owner.host.name
        put.destination = get.destination = get.owner.host.name
        if not put.owner.host.is_on:
            self._cannot_start(NetworkFailureException)  # a detached put has outlived its host
        elif _driver.route_problem(put.source, put.destination, True):
            self._cannot_start(NoRouteError)

    def _cannot_start(self, failure: type[SimpluginError]) -> None:
        """End both sides before SimGrid, which would abort, hears of this one."""
        peer = self.peer
        assert peer is not None
        self.peer = peer.peer = None
        self.ends(failure, 0.0)
        peer.ends(failure, 0.0)
        if peer.detached:
            _driver.withdraw_put(self.meeting.name)  # SimGrid does not cancel it
        else:
            self.world.call(simgrid.this_actor.yield_)  # it may be about to start
            self.world.call(peer.native.cancel)
        peer.wake_waiters()

    def suspend_with_peer(self) -> None:
        """Suspend the transfer, which this side has just started, if the other's actor is."""
        peer = self.peer
        if peer is not None and peer.owner.is_suspended and not peer.detached:
            self.world.call(peer.native.resume)  # it counts as suspended since before
            self.world.call(peer.native.suspend)

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

    def _account(self, amount: float) -> None:
        """Record the transfer once, as the sender's."""
        if self.peer is None or not self.is_put:
            return
        record, start, end = self.world.record, self.start_time, self.finish_time
        assert start is not None
        assert end is not None
        record.carried(self.source, self.destination, amount)
        place = f"{self.source}->{self.destination}"
        record.add(Row(self.owner.pid, place, "comm", self.label, start, end, amount, self._state))


class Put(Transfer):
    """The sender's side."""

    kind = "put"
    is_put = True


class Get(Transfer):
    """The receiver's side."""

    kind = "get"

    def _take_result(self) -> None:
        """Fetch the payload: SimGrid carried the put itself."""
        put: Put = self.native.get_payload()
        if put is not self.peer:
            raise AssertionError(f"mailbox {self.meeting.name!r}: matched another put than SimGrid")
        self._result = put.payload
        # Only a get knows its size from its partner.
        self.amount = put.amount


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
        put, bound, limit = self._new_put(payload, size, label), _rate(rate), time_limit(timeout)

        def perform() -> None:
            self._start_put(put, bound)
            put.perform_wait_or_cancel(limit)

        return Blocking(self._world, put.describe, perform)

    def put_async(
        self, payload: Any, size: float, *, rate: float | None = None, label: str | None = None
    ) -> Put:
        """Start to send."""
        put = self._new_put(payload, size, label)
        self._start_put(put, _rate(rate))
        if not put.over:
            watch(put)
        return put

    def put_detached(
        self, payload: Any, size: float, *, rate: float | None = None, label: str | None = None
    ) -> None:
        """Send and forget."""
        put = self._new_put(payload, size, label)
        put.detached = True
        self._start_put(put, _rate(rate))
        if put in put.owner.activities:
            put.owner.activities.remove(put)

    def get(self, *, timeout: float | None = None) -> Blocking[Any]:
        """Receive; gives the payload."""
        get, limit = self._new_get(), time_limit(timeout)

        def perform() -> Any:
            self._start_get(get)
            return get.perform_wait_or_cancel(limit)

        return Blocking(self._world, get.describe, perform)

    def get_async(self) -> Get:
        """Start to receive."""
        get = self._new_get()
        self._start_get(get)
        if not get.over:
            watch(get)
        return get

    def _new_put(self, payload: Any, size: float, label: str | None) -> Put:
        """Make a put."""
        # SimGrid counts whole bytes.
        amount = float(int(a_number(size, "size")))
        put = Put(self._world, self._world.running("put"), label, amount)
        put.meeting, put.payload = self, payload
        return put

    def _start_put(self, put: Put, rate: float | None) -> None:
        """Start a put."""
        put.meet()
        if put.over:
            return
        native = self._world.call(self._native.put_init, put, int(put.amount))
        if rate is not None:
            self._world.call(native.set_rate, rate)
        put.started(native)
        self._world.call(native.detach if put.detached else native.start)
        if put.detached and put.peer is not None:
            self._world.call(_driver.transfer_met, put.source, put.destination)
        put.suspend_with_peer()

    def _new_get(self) -> Get:
        """Make a get."""
        get = Get(self._world, self._world.running("get"), None, 0.0)
        get.meeting = self
        return get

    def _start_get(self, get: Get) -> None:
        """Start a get."""
        get.meet()
        if not get.over:
            get.started(self._world.call(self._native.get_async))
            get.suspend_with_peer()


def _rate(rate: float | None) -> float | None:
    """Check a rate."""
    return None if rate is None else positive(rate, "rate")


# ---- message queues -------------------------------------------------------------------------


class Message(Half):
    """A put or a get of a message queue; takes no simulated time."""

    def _remaining(self) -> float:
        """Nothing is carried."""
        return 0.0

    def start(self) -> None:
        """Exchange the payload if the partner waits, or wait for it."""
        self.meet()
        if self.peer is None:
            self.started(None)
            return
        self.start_time = self.world.now
        for half in (self, self.peer):
            if not half.is_put and half.peer is not None:
                half._result = half.peer.payload
        self.ends(None, NAN)
        self.peer.ends(None, NAN)
        self.peer.wake_waiters()

    @property
    def needs_signal(self) -> bool:
        """SimGrid does not know it."""
        return True

    @property
    def ends_with_owner(self) -> bool:
        """A detached put does not."""
        return not self.detached

    def perform_start(self, limit: float) -> Any:
        """Start and block; others go first even if the partner was there, as in SimGrid."""
        self.start()
        if self.over:
            simgrid.this_actor.yield_()
        return self.perform_wait_or_cancel(limit)


class MessagePut(Message):
    """The giver's side."""

    kind = "message put"
    is_put = True


class MessageGet(Message):
    """The taker's side."""

    kind = "message get"


class MessageQueue(Meeting):
    """A rendezvous point outside of time; see :class:`simplugin.simulation.api.MessageQueue`."""

    def put(self, payload: Any, *, timeout: float | None = None) -> Blocking[None]:
        """Give a payload; over when it is taken."""
        put, limit = self._new_put(payload), time_limit(timeout)
        return Blocking(self._world, put.describe, lambda: put.perform_start(limit))

    def put_async(self, payload: Any) -> MessagePut:
        """Start to give."""
        put = self._new_put(payload)
        put.start()
        return put

    def put_detached(self, payload: Any) -> None:
        """Give and forget."""
        put = self._new_put(payload)
        put.detached = True
        put.start()

    def get(self, *, timeout: float | None = None) -> Blocking[Any]:
        """Take; gives the payload."""
        get, limit = self._new_get(), time_limit(timeout)
        return Blocking(self._world, get.describe, lambda: get.perform_start(limit))

    def get_async(self) -> MessageGet:
        """Start to take."""
        get = self._new_get()
        get.start()
        return get

    def _new_put(self, payload: Any) -> MessagePut:
        """Make a put."""
        put = MessagePut(self._world, self._world.running("put"), None, 0.0)
        put.meeting, put.payload = self, payload
        return put

    def _new_get(self) -> MessageGet:
        """Make a get."""
        get = MessageGet(self._world, self._world.running("get"), None, 0.0)
        get.meeting = self
        return get
