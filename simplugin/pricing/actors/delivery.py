"""Delivery of messages to the decisions of agents and price managers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from simplugin.core.errors import NetworkFailureException
from simplugin.pricing.actors.neighbourhood import BELOW, inbox

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from simplugin.pricing.actors.neighbourhood import Address, Circle
    from simplugin.pricing.policies.task_queues import LiveProportions
    from simplugin.simulation.api import Activity, Actor, Mailbox, MessageQueue

# The sender's number and its round, then numbers.
Message = tuple[Any, ...]
Posts = list[tuple["Address", Message]]

# The senders that readings of the local sensor, and of the local clock, bear.
SENSOR, CLOCK = -1, -2


@dataclass(slots=True, kw_only=True)
class Role:
    """The part of a role's state that its actor uses.

    Attributes
    ----------
    side : str
        The side of the messages that it waits for: ABOVE, BELOW or ACROSS.
    local, remote : int
        The number of messages that it waits for, from its own host and from others.
    over : bool
        True if it has ended.
    round : int
        The number of rounds that it has ended.
    """

    side: str = BELOW
    local: int = 0
    remote: int = 0
    over: bool = False
    round: int = 0

    @property
    def value(self) -> float:
        """Its rate or price, for the observer only."""
        raise NotImplementedError

    @property
    def shares(self) -> tuple[float, ...]:
        """An agent's rate, and the flows into its children' subtrees that it heard of [tasks/s]."""
        raise NotImplementedError

    def wait(self, side: str, senders: Circle) -> None:
        """Wait for one message of each sender."""
        self.side, self.local, self.remote = side, senders.local, senders.remote


_State = TypeVar("_State", bound=Role)
# A function of its arguments; it may change the state, which it returns.
Decision = Callable[[_State, Sequence[Message]], tuple[_State, Posts]]


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
        True if it has ended by itself.
    """

    values: list[float] = field(default_factory=list)
    dates: list[float] = field(default_factory=list)
    sizes: list[float] = field(default_factory=list)
    over: bool = False


async def act(
    me: Actor,
    name: str,
    decide: Decision[Any],
    state: Role,
    sensor: str | None,
    envelope: Envelope,
    record: RoleRecord,
    watched: bool,
) -> None:
    """Deliver messages to a decision, and post its answers, until it is over.

    Parameters
    ----------
    me : Actor
        The actor.
    name : str
        Its number, with the prefix of all mailboxes.
    decide : Decision
        The decision of the role.
    state : Role
        The state of the role.
    sensor : str or None
        Name of the link whose capacity it reads, empty for its own host; None for neither.
    envelope : Envelope
        Sizes of messages.
    record : Record
        Where it writes down its rounds.
    watched : bool
        True if somebody ends it where a host fails: it then waits for that.
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
        state, posts = decide(state, messages)
        for (_, to, local), message in posts:
            if local:
                queue = queues.get(to) or queues.setdefault(to, me.message_queue(to))
                queue.put_detached(message)
            else:
                mailbox = mailboxes.get(to) or mailboxes.setdefault(to, me.mailbox(to))
                bytes_ = header + number * (len(message) - 2)
                size += bytes_
                mailbox.put_detached(message, bytes_)
        if state.round == len(record.values):
            record.values.append(state.value)
            record.dates.append(me.now)
            record.sizes.append(size)
        if state.over:
            record.over = True
            return
        side = state.side
        if side not in inboxes:
            inboxes[side] = me.message_queue(inbox(name, side)), me.mailbox(inbox(name, side))
        queue, mailbox = inboxes[side]
        # Gets are posted before the first is awaited: transfers overlap, as they should.
        gets = [mailbox.get_async() for _ in range(state.remote)]
        gets += [queue.get_async() for _ in range(state.local)]
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


async def attend(
    me: Actor,
    board: NDArray[np.float64],
    number: int,
    decide: Decision[Any],
    new_state: Callable[[], Role],
    ears: Mapping[str, int],
    sensor: str | None,
    period: float,
    envelope: Envelope,
    live: LiveProportions | None,
) -> None:
    """Decide each period on the messages since the last, and wait for none.

    Parameters
    ----------
    me : Actor
        The actor.
    board : float64, shape (n_roles,)
        Values of the roles, for the observer; 0 once the actor is gone.
    number : int
        The role's.
    decide : Decision
        The decision, once a period.
    new_state : callable
        Returns the state that it starts with, and starts again with when its host comes back.
    ears : mapping of str to int
        Maximum number of simultaneous messages from other hosts, by side.
    sensor : str or None
        As in `act`.
    period : float
        Between two decisions [s].
    envelope : Envelope
        Sizes of messages.
    live : LiveProportions, optional
        Where an agent puts its rate and the flows of its children for the tasks on its host.
    """
    me.on_exit(lambda _: board.__setitem__(number, 0.0))
    state = new_state()
    arrived: list[Message] = []
    sent: dict[str, Activity] = {}
    for side, count in ears.items():
        for _ in range(count):
            me.spawn(listen, me.mailbox(inbox(number, side)), arrived, daemon=True)
    await me.sleep_for(period * me.random.random())
    while True:
        for side in ears:
            queue = me.message_queue(inbox(number, side))
            arrived += [await queue.get() for _ in range(queue.size)]
        arrived.append((CLOCK, 0, me.now))
        if sensor is not None:
            arrived.append(sense(me, sensor))
        state, posts = decide(state, arrived)
        arrived.clear()
        board[number] = state.value
        if live is not None:
            live.hear(state.shares)
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


# A message of this length has no numbers: its sender takes its leave.
FAREWELL = 2


@dataclass(slots=True)
class News:
    """The last message of each sender, forgotten when the sender has been silent for long.

    Attributes
    ----------
    patience : int
        Periods for which a sender may be silent.
    period : int
        Periods that have passed.
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
