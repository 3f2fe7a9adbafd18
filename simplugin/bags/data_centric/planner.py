"""The nodes that trade applications, over mailboxes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simplugin.bags.data_centric.roles import PARENT, decides, new_trader, opens
from simplugin.bags.message_sizes import message_size

if TYPE_CHECKING:
    from simplugin.bags.data_centric.rates import Order
    from simplugin.bags.data_centric.roles import Message, Posts, Trader
    from simplugin.bags.nodes import Known, NodePlan, Place
    from simplugin.simulation.api import Actor

# Each message has four numbers [byte].
SIZE = message_size(4)


async def data_centric_planner(
    me: Actor, place: Place, known: Known, *, balance: float, order: Order, limit: int
) -> NodePlan:
    """Trade with the neighbours until the root stops; return the node's own rates.

    Parameters
    ----------
    me : Actor
        An actor on the node's host.
    place : Place
        Its neighbours.
    known : Known
        What it has measured.
    balance, order, limit
        See `simplugin.bags.data_centric.trade`; the root's balance and limit count.
    """
    state = new_trader(known, place.parent is None, balance=balance, order=order, limit=limit)
    posts: Posts = []
    if place.parent is None:
        state, posts = opens(state)
        await _deliver(me, place, posts)
    while not state.stopped:
        source, message = await _next(me, place, state)
        state, posts = decides(state, source, message)
        await _deliver(me, place, posts)
    return state.rates.plan()


async def _deliver(me: Actor, place: Place, posts: Posts) -> None:
    """Send messages, one at a time."""
    for target, message in posts:
        name = f"plan up {place.name}"
        if target != PARENT:
            name = f"plan down {place.children[target - 1]}"
        await me.mailbox(name).put(message, SIZE, label="plan")


async def _next(me: Actor, place: Place, state: Trader) -> tuple[int, Message]:
    """Wait for what the node needs next."""
    if state.awaited:
        child = state.awaited[0]
        return child, await me.mailbox(f"plan up {place.children[child - 1]}").get()
    return PARENT, await me.mailbox(f"plan down {place.name}").get()
