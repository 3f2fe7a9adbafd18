"""The actor that every agent and price manager is: it delivers messages to a decision."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from simplugin.pricing.agents.neighbourhood import inbox

if TYPE_CHECKING:
    from simplugin.pricing.agents.neighbourhood import Address
    from simplugin.simulation.api import Actor

# The sender's number and its round, then numbers.
Message = tuple[Any, ...]
Posts = list[tuple["Address", Message]]

# The senders that readings of the local sensor, and of the local clock, bear.
SENSOR, CLOCK = -1, -2


class Role(Protocol):
    """What the actor asks of a role's state.

    Attributes
    ----------
    side : str
        Where the messages that it waits for come from: ABOVE or BELOW.
    local, remote : int
        How many it waits for before its next decision: from its own host, from others.
    over : bool
        Whether it has ended.
    round : int
        How many rounds it has ended.
    value : float
        Its rate or price: what an observer writes down, and no message.
    """

    side: str
    local: int
    remote: int
    over: bool
    round: int

    @property
    def value(self) -> float:
        """Its rate or price."""
        ...


_State = TypeVar("_State", bound=Role)
# A pure function of what it is given; the state given is its own to change and give back.
Decision = Callable[[_State, Sequence[Message]], tuple[_State, Posts]]


@dataclass(frozen=True, slots=True)
class Envelope:
    """What messages weigh in the simulated network.

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


async def act(
    me: Actor,
    number: int,
    decide: Decision[Any],
    state: Role,
    sensor: str | None,
    envelope: Envelope,
) -> tuple[list[float], list[float]]:
    """Deliver messages to a decision, and post what it answers, until it is over.

    Parameters
    ----------
    me : Actor
        The actor.
    number : int
        The role's.
    decide : Decision
        What the role does.
    state : Role
        What the role knows.
    sensor : str or None
        What the role may look at: the link of that name, its own host if empty; None: nothing.
    envelope : Envelope
        Sizes of messages.

    Returns
    -------
    list of float, list of float
        Its value after each round, from its start on, and when the round ended [s].
    """
    log: list[float] = []
    dates: list[float] = []
    messages: list[Message] = []
    while True:
        state, posts = decide(state, [*messages, *sense(me, sensor)])
        post(me, posts, envelope)
        if state.round == len(log):
            log.append(state.value)
            dates.append(me.now)
        if state.over:
            return log, dates
        name = inbox(number, state.side)
        queue, mailbox = me.message_queue(name), me.mailbox(name)
        # Gets are posted before the first is awaited: transfers overlap, as they should.
        remote = [mailbox.get_async() for _ in range(state.remote)]
        messages = [await queue.get() for _ in range(state.local)]
        messages += await me.wait_all(remote) if remote else ()


def post(me: Actor, posts: Posts, envelope: Envelope) -> None:
    """Send messages: through the network to other hosts, at no cost within the host."""
    for address, message in posts:
        if address.local:
            me.message_queue(address.name).put_detached(message)
        else:
            me.mailbox(address.name).put_detached(message, envelope.size(message))


def sense(me: Actor, sensor: str | None) -> tuple[Message, ...]:
    """Return what the sensor of a resource says: its capacity now [flop/s or byte/s]."""
    if sensor is None:
        return ()
    if sensor:
        link = me.link_by_name(sensor)
        return ((SENSOR, 0, link.bandwidth if link.is_on else 0.0),)
    host = me.host
    return ((SENSOR, 0, host.speed * host.available_speed * host.cores),)
