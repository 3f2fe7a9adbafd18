"""The nodes that negotiate by prices, over mailboxes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simplugin.bags.nodes import NodePlan
from simplugin.bags.prices.decision import slots_for
from simplugin.bags.prices.messages import Posted, size_of
from simplugin.bags.prices.roles import PriceNode, answer, hear, is_over
from simplugin.bags.prices.root import asks, open_negotiation, react

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simplugin.bags.nodes import Known, Place
    from simplugin.bags.prices.filter import Sieve
    from simplugin.bags.prices.messages import Down, Up
    from simplugin.bags.prices.roles import Rates
    from simplugin.bags.prices.root import Terms
    from simplugin.simulation.api import Actor


@dataclass(slots=True)
class Negotiated:
    """What a node has after a negotiation.

    Attributes
    ----------
    rates : Rates
        See `NodePlan`.
    rounds : int
        How often it heard prices; for the root, posted them.
    messages : int
        How many it sent.
    bytes : float
        How long these were [byte].
    duration : float
        From its first message, heard or sent, to its last [s].
    """

    rates: Rates
    rounds: int
    messages: int
    bytes: float
    duration: float


async def price_planner(
    me: Actor,
    place: Place,
    known: Known,
    *,
    terms: Terms,
    sieve: Sieve | None,
    buffer: int,
    typed: bool,
) -> NodePlan:
    """Negotiate with the neighbours; return the node's own plan.

    Parameters
    ----------
    me : Actor
        An actor on the node's host.
    place : Place
        Its neighbours.
    known : Known
        What it has measured.
    terms, sieve
        See `simplugin.bags.prices.negotiate_prices`; the root's terms count.
    buffer : int
        Tasks that the node's buffer holds.
    typed : bool
        Whether requests are to name a type.
    """
    rates = (await negotiate(me, place, known, terms, sieve)).rates
    return NodePlan(rates, slots_for(rates, buffer) if typed else ())


async def negotiate(
    me: Actor, place: Place, known: Known, terms: Terms, sieve: Sieve | None
) -> Negotiated:
    """Negotiate with the neighbours; all nodes of a tree call it, the root begins.

    Parameters
    ----------
    me, place, known, terms, sieve
        As of `price_planner`.
    """
    post = _Post(me, place)
    if place.parent is None:
        return await _lead(post, known, terms, sieve)
    return await _follow(post, known, sieve)


async def _lead(post: _Post, known: Known, terms: Terms, sieve: Sieve | None) -> Negotiated:
    """Be the root."""
    start = post.me.now
    root = open_negotiation(known, terms, sieve)
    told = asks(root)
    while root.settled < 0:
        await post.down(told)
        root, told = react(root, await post.from_children())
    await post.down(told)
    return post.negotiated(root.rates, root.sweeps, start)


async def _follow(post: _Post, known: Known, sieve: Sieve | None) -> Negotiated:
    """Be any other node."""
    node, rounds, start = PriceNode(known, sieve), 0, -1.0
    while True:
        heard = await post.from_parent()
        start = post.me.now if start < 0 else start
        rounds += isinstance(heard, Posted)
        node, told = hear(node, heard)
        await post.down(told)
        if is_over(node):
            return post.negotiated(node.rates, rounds, start)
        node, answered = answer(node, await post.from_children())
        await post.up(answered)


class _Post:
    """A node's messages to its neighbours and from them, counted."""

    def __init__(self, me: Actor, place: Place) -> None:
        self.me, self.place = me, place
        self.messages, self.bytes = 0, 0.0

    async def down(self, messages: Sequence[Down]) -> None:
        """Tell each child, all at the same time."""
        activities = []
        for child, message in zip(self.place.children, messages, strict=True):
            box, size = self.me.mailbox(f"plan down {child}"), self.count(message)
            activities.append(box.put_async(message, size, label="plan"))
        for activity in activities:
            await activity

    async def up(self, message: Up) -> None:
        """Tell the parent."""
        box = self.me.mailbox(f"plan up {self.place.name}")
        await box.put(message, self.count(message), label="plan")

    async def from_parent(self) -> Any:
        """Hear the parent."""
        return await self.me.mailbox(f"plan down {self.place.name}").get()

    async def from_children(self) -> list[Up]:
        """Hear each child."""
        return [await self.me.mailbox(f"plan up {child}").get() for child in self.place.children]

    def count(self, message: Down | Up) -> float:
        """Count a message, and return how long it is [byte]."""
        size = size_of(message)
        self.messages, self.bytes = self.messages + 1, self.bytes + size
        return size

    def negotiated(self, rates: Rates, rounds: int, start: float) -> Negotiated:
        """Return the outcome."""
        return Negotiated(rates, rounds, self.messages, self.bytes, self.me.now - start)
