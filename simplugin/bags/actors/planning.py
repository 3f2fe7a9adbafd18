"""Negotiation of plans over mailboxes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simplugin.bags.policy import PARENT, Negotiator, message_size

if TYPE_CHECKING:
    from simplugin.bags.policy import Known, NodePlan, Place, Posts
    from simplugin.simulation.api import Actor


@dataclass(slots=True)
class Negotiated:
    """Result of a node's negotiation.

    Attributes
    ----------
    node : Negotiator
        The node at the end.
    messages : int
        Number of messages that it sent.
    bytes : float
        Their length [byte].
    duration : float
        From its first message, received or sent, to its last [s].
    """

    node: Negotiator
    messages: int
    bytes: float
    duration: float

    @property
    def plan(self) -> NodePlan:
        """Return the plan of the node."""
        plan = self.node.plan
        assert plan is not None
        return plan


async def planned(
    me: Actor, place: Place, known: Known, *, make: Callable[..., Negotiator]
) -> NodePlan:
    """Negotiate with the neighbours; return the node's own plan.

    Parameters
    ----------
    me : Actor
        An actor on the node's host.
    place : Place
        Its neighbours.
    known : Known
        Its knowledge.
    make : callable
        ``(known, is_root=...) -> Negotiator``.
    """
    return (await negotiate(me, place, make(known, is_root=place.parent is None))).plan


async def negotiate(me: Actor, place: Place, node: Negotiator) -> Negotiated:
    """Negotiate with the neighbours; all nodes of a tree call it, the root begins."""
    found = Negotiated(node, 0, 0.0, 0.0)
    start = me.now if place.parent is None else -1.0
    posts = node.begin()
    while True:
        await _deliver(me, place, posts, found)
        if node.plan is not None:
            found.duration = me.now - start
            return found
        source = node.awaits
        name = f"plan down {place.name}"
        if source != PARENT:
            name = f"plan up {place.children[source - 1]}"
        message = await me.mailbox(name).get()
        start = me.now if start < 0 else start
        posts = node.hear(source, message)


async def _deliver(me: Actor, place: Place, posts: Posts, found: Negotiated) -> None:
    """Send messages, at the same time or one after the other."""
    activities = []
    for target, message in posts:
        name = f"plan up {place.name}"
        if target != PARENT:
            name = f"plan down {place.children[target - 1]}"
        size = message_size(message.numbers)
        found.messages, found.bytes = found.messages + 1, found.bytes + size
        activity = me.mailbox(name).put_async(message, size, label="plan")
        if found.node.together:
            activities.append(activity)
        else:
            await activity
    for activity in activities:
        await activity
