"""Mailboxes and message queues, where actors meet."""

from __future__ import annotations

from collections import deque
from typing import Any

from simplugin.core import errors
from simplugin.simulation import api
from simplugin.simulation.threads.activity import ENDS, Failure, offered
from simplugin.simulation.threads.refused import complete
from simplugin.simulation.threads.work import Transfer
from simplugin.simulation.threads.world import SimulationState


class PendingPutOrGet(Transfer):
    """A put or a get; in a mailbox, the put is the transfer.

    Parameters
    ----------
    meeting : ThreadsRendezvous
        The mailbox or queue.
    payload, size, rate, label
        Of a put; see `simplugin.simulation.api.Mailbox.put`.
    """

    peer: PendingPutOrGet | None = None
    # True of a put that came after its get.
    is_second = False

    is_put = True

    def __init__(
        self,
        meeting: ThreadsRendezvous,
        payload: Any = None,
        size: Any = 0,
        rate: Any = None,
        label: Any = None,
    ) -> None:
        kind = meeting.kind + ("put" if self.is_put else "get")
        amount = self.size_of(size, "size, the argument after the payload,", rate)
        super().__init__(meeting.world.running_actor(kind), label, amount)
        self._meeting, self._payload = meeting, payload
        self.text = f"{kind} {meeting.name!r}"
        lines = meeting.puts, meeting.gets
        self._line, self._others = lines if self.is_put else lines[::-1]

    def begin(self) -> None:
        """Find the partner, or wait in line for it."""
        if not self._others:
            self._line.append(self)
            return
        first = self._others.popleft()
        put, get = (self, first) if self.is_put else (first, self)
        put.peer, get.peer, put.is_second = get, put, put is self
        get.value = put._payload
        if self._meeting.takes_time:
            put._meet(get)
        else:
            put.end()

    def _meet(self, get: PendingPutOrGet) -> None:
        """Start the transfer, suspended if an actor is."""
        self.hosts = get.hosts = [self.owner.host, get.owner.host]
        super().begin()
        if self.over:
            return
        get.start_time = self.start_time
        if get.owner.is_suspended or (self.owner.is_suspended and not self.is_detached):
            self.hold_action(is_held=True)

    def hold_action(self, *, is_held: bool) -> None:
        """Suspend or resume the transfer in SimGrid."""
        if self.is_put or self.peer is None:
            super().hold_action(is_held=is_held)
        else:
            self.peer.hold_action(is_held=is_held)

    def leave(self) -> None:
        """Leave the line."""
        if self in self._line:
            self._line.remove(self)
        super().leave()

    def end(self, failure: Failure | None = None) -> None:
        """End it, and its partner with it; the one that came first is woken first."""
        peer, self.peer = self.peer, None
        if self.over or peer is None:
            super().end(failure)
            return
        peer.peer = None
        (self if self.is_put else peer).stop(ENDS[failure][0])
        is_same = failure in (None, errors.NoRouteError)
        lost = failure if is_same else errors.NetworkFailureException
        if self.is_second:
            peer.end(lost)
        super().end(failure)
        peer.end(lost)


class Get(PendingPutOrGet):
    """A get."""

    is_put = False


class ThreadsRendezvous:
    """The common part of mailboxes and message queues."""

    kind = ""
    takes_time = True
    name: str

    def __init__(self, world: SimulationState, name: str) -> None:
        if not isinstance(name, str):
            raise TypeError(f"a name is a str, not {name!r}")
        self.world = world
        self.name = name
        self.puts: deque[PendingPutOrGet] = deque()
        self.gets: deque[PendingPutOrGet] = deque()

    @property
    def empty(self) -> bool:
        """True if neither a put nor a get is pending."""
        return not (self.puts or self.gets)

    @property
    def size(self) -> int:
        """Number of pending puts."""
        return len(self.puts)

    get = offered(api.Mailbox.get, Get)
    get_async = offered(api.Mailbox.get_async, Get, "start")


@complete(api.Mailbox)
class ThreadsMailbox(ThreadsRendezvous):
    """A rendezvous point; see :class:`simplugin.simulation.api.Mailbox`."""

    put = offered(api.Mailbox.put, PendingPutOrGet)
    put_async = offered(api.Mailbox.put_async, PendingPutOrGet, "start")
    put_detached = offered(api.Mailbox.put_detached, PendingPutOrGet, "forget")

    def listen(self) -> bool:
        """Return True if a put is pending."""
        return bool(self.puts)


@complete(api.MessageQueue)
class ThreadsMessageQueue(ThreadsRendezvous):
    """A mailbox outside of time; see :class:`simplugin.simulation.api.MessageQueue`."""

    kind = "message "
    takes_time = False
    put = offered(api.MessageQueue.put, PendingPutOrGet)
    put_async = offered(api.MessageQueue.put_async, PendingPutOrGet, "start")
    put_detached = offered(api.MessageQueue.put_detached, PendingPutOrGet, "forget")
