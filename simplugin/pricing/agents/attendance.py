"""The actor of a role that waits for nobody: each period it acts on what it last heard."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simplugin.errors import NetworkFailureException
from simplugin.pricing.agents.delivery import CLOCK, sense
from simplugin.pricing.agents.neighbourhood import inbox

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from simplugin.pricing.agents.delivery import Decision, Envelope, Message, Posts, Role
    from simplugin.simulation.api import Activity, Actor, Mailbox


@dataclass(frozen=True, slots=True)
class Post:
    """Where a role is posted, and how it attends to it.

    Attributes
    ----------
    number : int
        The role's.
    decide : Decision
        What it does each period.
    new_state : callable
        Returns the state that it starts with, and starts again with when its host comes back.
    ears : mapping of str to int
        How many messages may come at a time from other hosts, by side.
    sensor : str or None
        As in `act`.
    period : float
        Between two decisions [s].
    envelope : Envelope
        Sizes of messages.
    """

    number: int
    decide: Decision[Any]
    new_state: Callable[[], Role]
    ears: dict[str, int]
    sensor: str | None
    period: float
    envelope: Envelope


async def attend(me: Actor, post: Post, board: NDArray[np.float64]) -> None:
    """Decide each period on what has arrived since the last, and never wait for anybody.

    Parameters
    ----------
    me : Actor
        The actor.
    post : Post
        What it does.
    board : float64, shape (n_roles,)
        Where the role's value is written for the observer; 0 once the actor is gone.
    """
    me.on_exit(lambda _: board.__setitem__(post.number, 0.0))
    state = post.new_state()
    arrived: list[Message] = []
    sent: dict[str, Activity] = {}
    for side, count in post.ears.items():
        for _ in range(count):
            me.spawn(listen, me.mailbox(inbox(post.number, side)), arrived, daemon=True)
    await me.sleep_for(post.period * me.random.random())
    while True:
        for side in post.ears:
            queue = me.message_queue(inbox(post.number, side))
            arrived += [await queue.get() for _ in range(queue.size)]
        readings = [(CLOCK, 0, me.now), *sense(me, post.sensor)]
        state, posts = post.decide(state, [*arrived, *readings])
        arrived.clear()
        board[post.number] = state.value
        send(me, posts, post.envelope, sent)
        await me.sleep_for(post.period)


async def listen(me: Actor, mailbox: Mailbox, arrived: list[Message]) -> None:
    """Receive messages from other hosts at all times."""
    del me
    while True:
        try:
            arrived.append(await mailbox.get())
        except NetworkFailureException:
            continue  # Lost on the way: the next will tell more.


def send(me: Actor, posts: Posts, envelope: Envelope, sent: dict[str, Activity]) -> None:
    """Send messages, but none to whom the last has not reached yet."""
    for address, message in posts:
        if address.local:
            me.message_queue(address.name).put_detached(message)
        elif address.name not in sent or sent[address.name].test():
            size = envelope.size(message)
            sent[address.name] = me.mailbox(address.name).put_async(message, size)
