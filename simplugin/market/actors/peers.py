"""Computing peers: each negotiates for itself, then fetches and computes its tasks."""

from __future__ import annotations

from simplugin.core.errors import ActivityError, HostFailureException
from simplugin.market.actors.messages import Announcement, Award, MarketMailbox, NegotiationMessage
from simplugin.market.actors.stations import PeerRecords, PeerStation
from simplugin.market.policies.negotiation import (
    BundleNegotiation,
    MarketPeer,
    checked_message,
    message_size,
)
from simplugin.simulation.api import Actor


async def computing_peer(
    me: Actor, station: PeerStation, negotiation: BundleNegotiation, ledger: PeerRecords
) -> None:
    """Serve one bundle after the other.

    Parameters
    ----------
    me : Actor
        On the peer's host.
    station : PeerStation
        Its knowledge.
    negotiation : BundleNegotiation
        The negotiation.
    ledger : PeerRecords
        Record of its values and sales, which the execution reads at the end.
    """
    inbox = me.mailbox(MarketMailbox.INBOX.of(station.host))
    if station.reports:
        box = me.mailbox(MarketMailbox.CAPACITY.of(station.host))
        await box.put(station.capacity, station.capacity.size, label="capacity")
    replies, patience = me.mailbox(MarketMailbox.REPLIES.of(station.host)), station.rules.patience
    side: MarketPeer | None = None
    number = -1
    while True:
        try:
            heard: Announcement | NegotiationMessage | Award = await inbox.get()
            if isinstance(heard, Announcement):
                number = heard.number
                value, cap = ledger.value(station, heard, me.now), ledger.cap(station, heard)
                q = None if station.capacity.discounts else station.capacity.q
                side = negotiation.peer(value, cap, q, station.generator(heard))
            elif side is None:
                continue  # a message of a negotiation whose announcement it missed
            elif isinstance(heard, NegotiationMessage):
                who = f"a peer of negotiation {negotiation.name!r} replies"
                reply = checked_message(who, side.reply(heard.message))
                if heard.answers:
                    size = message_size(reply)
                    await replies.put(reply, size, label="reply", timeout=patience)
            elif patience is None:
                ledger.counter.sell(me.now, heard.amount)
                await (_overlapped if station.rules.overlap else _one_by_one)(
                    me, station, heard.amount
                )
            else:
                for _ in range(heard.amount):
                    await _one_by_one(me, station, 1)
                    ledger.note(number, me.now)
        except ActivityError:
            if patience is None:
                raise
            # The scheduler counts this peer as absent.
            side = None


async def enrol(
    me: Actor, station: PeerStation, negotiation: BundleNegotiation, ledger: PeerRecords
) -> None:
    """Start a peer's actor once its host is on, which it checks each `patience`."""
    host, patience = station.host, station.rules.patience
    assert patience is not None
    actor = (computing_peer, station, negotiation, ledger)
    while True:
        try:
            me.spawn(*actor, host=host, name=f"peer on {host}", daemon=True, restart=True)
            return
        except HostFailureException:
            await me.sleep_for(patience)


async def _one_by_one(me: Actor, station: PeerStation, amount: int) -> None:
    """Set up, fetch, compute and acknowledge one task after the other."""
    tasks = me.mailbox(MarketMailbox.TASKS.of(station.host))
    ends = me.mailbox(MarketMailbox.ENDS.of(station.host))
    for _ in range(amount):
        await me.sleep_for(station.capacity.setup)
        await me.execute(await tasks.get(timeout=station.rules.patience), label="task")
        await ends.put(None, 0, label="end", timeout=station.rules.patience)


async def _overlapped(me: Actor, station: PeerStation, amount: int) -> None:
    """Compute tasks while the next is fetched."""
    if not amount:
        return
    host = station.host
    ready, ends = me.message_queue(f"ready at {host}"), me.mailbox(MarketMailbox.ENDS.of(host))
    me.spawn(_fetch, station, amount, name=f"{host} fetches", daemon=True)
    for _ in range(amount):
        await me.execute(await ready.get(), label="task")
        ends.put_detached(None, 0, label="end")


async def _fetch(me: Actor, station: PeerStation, amount: int) -> None:
    """Set up and fetch tasks, the next while the previous one is computed."""
    host = station.host
    tasks, ready = me.mailbox(MarketMailbox.TASKS.of(host)), me.message_queue(f"ready at {host}")
    for _ in range(amount):
        await me.sleep_for(station.capacity.setup)
        await ready.put(await tasks.get())
