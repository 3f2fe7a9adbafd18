"""Delivery of messages to the decisions of agents and price managers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from simplugin.core.errors import NetworkFailureException
from simplugin.pricing.method import CLOCK, SENSOR, Message, Posts, Role
from simplugin.pricing.neighbourhood import (
    ABOVE,
    BELOW,
    AgentNeighbourhood,
    ManagerNeighbourhood,
    inbox,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from simplugin.pricing.policies.task_queues import LiveProportions
    from simplugin.simulation.api import Activity, Actor, Mailbox, MessageQueue


@dataclass(frozen=True, slots=True)
class Envelope:
    """Sizes of messages in the simulated network.

    Attributes
    ----------
    header : float
        Of every message: protocol headers, sender and round [byte].
    number : float
        Of each number in it [byte].
    """

    header: float = 64.0
    number: float = 8.0

    def size(self, message: Message) -> float:
        """Return the size of a message [byte]."""
        return self.header + self.number * (len(message) - 2)


@dataclass(slots=True)
class RoleRecord:
    """Rounds of a role, from its start on.

    Attributes
    ----------
    values, dates, sizes : list of float
        Its value after each round, when the round ended [s], and the size of all that it had
        posted to other hosts by then [byte].
    over : bool
        True if the role has ended, and was not broken off.
    """

    values: list[float] = field(default_factory=list)
    dates: list[float] = field(default_factory=list)
    sizes: list[float] = field(default_factory=list)
    over: bool = False


@dataclass(frozen=True, slots=True)
class RolePlace:
    """A role of a deployment and its place on the platform.

    Attributes
    ----------
    seat : AgentNeighbourhood or ManagerNeighbourhood
        Its initial knowledge.
    host : str
        Name of the host that it runs on.
    new_role : callable
        Returns the role as it starts.
    sensor : str or None
        Name of the link that it reads the capacity of, empty for its own host; None for neither.
    """

    seat: AgentNeighbourhood | ManagerNeighbourhood
    host: str
    new_role: Callable[[], Role]
    sensor: str | None

    @property
    def senders(self) -> dict[str, int]:
        """Maximum number of simultaneous messages from other hosts, by side."""
        if isinstance(self.seat, AgentNeighbourhood):
            return {ABOVE: self.seat.above.remote, BELOW: self.seat.children.remote}
        return {BELOW: self.seat.members.remote}


def decide(role: Role, messages: Sequence[Message]) -> Posts:
    """Let a role decide until it waits for messages or has ended; return all that it sends."""
    posts = role.decide(messages)
    while not (role.over or role.local or role.remote):
        posts += role.decide(())
    return posts


async def act(
    me: Actor,
    name: str,
    role: Role,
    sensor: str | None,
    envelope: Envelope,
    record: RoleRecord,
    watched: bool,
) -> None:
    """Deliver messages to a role in synchronous rounds, and post its answers, until it is over.

    Parameters
    ----------
    me : Actor
        The actor.
    name : str
        Number of the role, with the prefix of all mailboxes.
    role : Role
        The role.
    sensor : str or None
        As in `RolePlace`.
    envelope : Envelope
        Sizes of messages.
    record : RoleRecord
        Receives its rounds.
    watched : bool
        True if the actor is killed when a host fails; it waits for that after a lost message.
    """
    size = 0.0
    messages: Sequence[Message] = ()
    # Looked up once: a queue for each address on the host, a mailbox for each other.
    queues: dict[str, MessageQueue] = {}
    mailboxes: dict[str, Mailbox] = {}
    inboxes: dict[str, tuple[MessageQueue, Mailbox]] = {}
    header, number = envelope.header, envelope.number
    while True:
        if sensor is not None:
            messages = [*messages, sense(me, sensor)]
        for (_, to, local), message in decide(role, messages):
            if local:
                queue = queues.get(to) or queues.setdefault(to, me.message_queue(to))
                queue.put_detached(message)
            else:
                mailbox = mailboxes.get(to) or mailboxes.setdefault(to, me.mailbox(to))
                bytes_ = header + number * (len(message) - 2)
                size += bytes_
                mailbox.put_detached(message, bytes_)
        if role.round == len(record.values):
            record.values.append(role.value)
            record.dates.append(me.now)
            record.sizes.append(size)
        if role.over:
            record.over = True
            return
        side = role.side
        if side not in inboxes:
            inboxes[side] = me.message_queue(inbox(name, side)), me.mailbox(inbox(name, side))
        queue, mailbox = inboxes[side]
        # Gets are posted before the first is awaited: transfers overlap, as they should.
        gets = [mailbox.get_async() for _ in range(role.remote)]
        gets += [queue.get_async() for _ in range(role.local)]
        try:
            messages = await me.wait_all(gets)
        except NetworkFailureException:
            if not watched:
                raise
            await me.semaphore(0).acquire()


def sense(me: Actor, sensor: str) -> Message:
    """Return the capacity of a link, or of the host, now [flop/s or byte/s], as a message."""
    if sensor:
        link = me.link_by_name(sensor)
        return SENSOR, 0, link.bandwidth if link.is_on else 0.0
    host = me.host
    return SENSOR, 0, host.speed * host.available_speed * host.cores


async def act_periodically(
    me: Actor,
    place: RolePlace,
    board: NDArray[np.float64],
    period: float,
    envelope: Envelope,
    live: LiveProportions | None,
) -> None:
    """Let a role decide once a period on the messages since the last, without waiting for any.

    Parameters
    ----------
    me : Actor
        The actor.
    place : RolePlace
        The role, which starts again when its host comes back.
    board : float64, shape (n_roles,)
        Values of the roles, for the observer; 0 once the actor is gone.
    period : float
        Between two decisions [s].
    envelope : Envelope
        Sizes of messages.
    live : LiveProportions, optional
        Receives an agent's rate and the flows of its children, for the tasks on its host.
    """
    number, senders = place.seat.number, place.senders
    me.on_exit(lambda _: board.__setitem__(number, 0.0))
    role = place.new_role()
    arrived: list[Message] = []
    sent: dict[str, Activity] = {}
    for side, count in senders.items():
        for _ in range(count):
            me.spawn(listen, me.mailbox(inbox(number, side)), arrived, daemon=True)
    await me.sleep_for(period * me.random.random())
    while True:
        for side in senders:
            queue = me.message_queue(inbox(number, side))
            arrived += [await queue.get() for _ in range(queue.size)]
        arrived.append((CLOCK, 0, me.now))
        if place.sensor is not None:
            arrived.append(sense(me, place.sensor))
        posts = role.decide(arrived)
        arrived.clear()
        board[number] = role.value
        if live is not None:
            live.hear(role.shares)
        for address, message in posts:
            if address.local:
                me.message_queue(address.name).put_detached(message)
            elif address.name not in sent or sent[address.name].test():
                # The last message has reached it.
                size = envelope.size(message)
                sent[address.name] = me.mailbox(address.name).put_async(message, size)
        await me.sleep_for(period)


async def listen(me: Actor, mailbox: Mailbox, arrived: list[Message]) -> None:
    """Receive messages from other hosts at all times."""
    del me
    while True:
        try:
            arrived.append(await mailbox.get())
        except NetworkFailureException:
            continue  # Lost; the next one is newer.


# A message of this length has no contents: its sender signs off.
FAREWELL = 2


@dataclass(slots=True)
class News:
    """The last message of each sender; those of senders that are silent for too long are dropped.

    Attributes
    ----------
    patience : int
        Periods for which a sender may be silent.
    period : int
        Number of the current period.
    last : dict of int to message
        By the sender's number.
    arrived : dict of int to int
        When it was received, in periods.
    """

    patience: int = 5
    period: int = 0
    last: dict[int, Message] = field(default_factory=dict)
    arrived: dict[int, int] = field(default_factory=dict)

    def take(self, messages: Sequence[Message]) -> dict[int, Message]:
        """Note the messages of one more period, in the order of their arrival.

        Returns
        -------
        dict of int to message
            The last message of each sender that has not been silent for too long.
        """
        self.period += 1
        for message in messages:
            if len(message) > FAREWELL:
                self.last[message[0]] = message
                self.arrived[message[0]] = self.period
            else:
                self.last.pop(message[0], None)
                self.arrived.pop(message[0], None)
        too_old = self.period - self.patience
        for sender in [each for each, period in self.arrived.items() if period < too_old]:
            del self.last[sender], self.arrived[sender]
        return self.last
