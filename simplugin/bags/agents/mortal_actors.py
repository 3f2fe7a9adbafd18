"""The actors of nodes whose hosts may go off and come back."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from simplugin.bags.agents.actors import ship, work
from simplugin.bags.agents.mortal import MortalNode
from simplugin.bags.agents.ports import Port
from simplugin.bags.agents.stations import requests_of, tasks_for
from simplugin.bags.message_sizes import message_size
from simplugin.errors import ActivityError, TimeoutException

if TYPE_CHECKING:
    from simplugin.bags.agents.mortal import Notice
    from simplugin.bags.agents.stations import Deeds, Station
    from simplugin.bags.nodes import Policy
    from simplugin.simulation.api import Actor

# What each life of a host has done: an account of the experiment's, which no node reads.
Book = list[tuple[str, list["Deeds"]]]
_BOOK = "book of deeds"


async def mortal_host(
    me: Actor, stations: tuple[Station, ...], policy: Policy, patience: float
) -> tuple[Book, list[Notice]] | None:
    """Run the nodes of a host, one for each line, for as long as it is on.

    The root's returns when it has heard of the end of all tasks; nobody waits for the others.
    """
    book: Book = []
    is_root = stations[0].place.parent is None
    if is_root:
        me.spawn(_keep, book, name="keeps book", daemon=True)
    is_new = me.now == 0
    nodes = [MortalNode(me, station, policy, is_new=is_new) for station in stations]
    port = Port(me, nodes[0].deeds)
    me.message_queue(_BOOK).put_detached((me.host.name, [node.deeds for node in nodes]))
    if policy.parallel:
        me.spawn(port.take_turns, name=f"{me.host.name} takes turns", daemon=True)
    for node in nodes:
        _start(me, node, port, patience, is_new=is_new)
    for node in nodes:
        await node.over.acquire()
    return (book, [each for node in nodes for each in node.notices.values()]) if is_root else None


def _start(me: Actor, node: MortalNode, port: Port, patience: float, *, is_new: bool) -> None:
    """Start the actors of a node."""
    place = node.station.place
    name = place.name
    if node.policy.planner is not None:
        me.spawn(_plan, node, name=f"{name} plans", daemon=True)
    me.spawn(_schedule, node, patience, is_new, name=f"{name} schedules", daemon=True)
    me.spawn(work, node, name=f"{name} works", daemon=True)
    if place.children:
        me.spawn(_send, node, port, name=f"{name} sends", daemon=True)
    for target, child in enumerate(place.children, 1):
        me.spawn(_hear, node, target, child, name=f"{name} hears {child}", daemon=True)
        me.spawn(_watch, node, target, child, patience, name=f"{name} calls {child}", daemon=True)
    if place.parent is not None:
        me.spawn(_receive, node, name=f"{name} receives", daemon=True)
        me.spawn(_answer, node, name=f"{name} answers", daemon=True)


async def _keep(me: Actor, book: Book) -> None:
    """Keep book of the deeds of each life."""
    while True:
        book.append(await me.message_queue(_BOOK).get())


async def _plan(me: Actor, node: MortalNode) -> None:
    """Negotiate the node's plan, once; who comes back finds it on its disk."""
    disk, known = node.station.disk, node.state.known
    if not disk:
        assert node.policy.planner is not None
        place = node.station.place
        told = replace(known, bandwidth=list(known.bandwidth))
        disk.append(await node.policy.planner(me, place, told))
    node.adopt(disk[0])


async def _schedule(me: Actor, node: MortalNode, patience: float, is_new: bool) -> None:
    """Open the node when it has its plan and knows its children, then report to the parent."""
    place = node.station.place
    if node.policy.planner is not None:
        await node.ready.acquire()
    if is_new:
        await me.sleep_for(node.station.delay)
    else:
        await _take_stock(me, node, patience)
    node.is_asking = place.parent is None
    node.open()
    box = me.mailbox(requests_of(place.name, node.station.line))
    while place.parent is not None:
        await node.ask.acquire()
        report = node.report()
        try:
            await box.put(report, message_size(report.numbers), label="request")
        except ActivityError:
            node.unsaid(report)
            await me.sleep_for(patience)
        node.is_asking = False
        node.look()


async def _take_stock(me: Actor, node: MortalNode, patience: float) -> None:
    """Wait until all children have told what they hold, but not for ever."""
    end = me.now + patience
    for _ in node.station.place.children:
        try:
            await node.counted.acquire(timeout=max(end - me.now, 0.0))
        except TimeoutException:
            return


async def _hear(me: Actor, node: MortalNode, target: int, child: str) -> None:
    """Take note of what a child tells."""
    box = me.mailbox(requests_of(child, node.station.line))
    while True:
        try:
            report = await box.get()
        except ActivityError:
            continue
        node.learn_of(target, report)


async def _watch(me: Actor, node: MortalNode, target: int, child: str, patience: float) -> None:
    """Call a child from which nothing has been heard."""
    box = me.mailbox(_calls_for(child, node.station.line))
    while True:
        away = node.off[target]
        quiet = me.now - node.heard[target] >= patience
        busy = bool(node.below[target]) or (
            node.outgoing is not None and node.outgoing.target == target
        )
        if away or (quiet and busy):
            try:
                await box.put(away, message_size(1), timeout=patience, label="call")
                node.heard[target] = me.now
            except ActivityError:
                if not node.off[target]:
                    node.distrust(target)
        await me.sleep_for(patience)


async def _answer(me: Actor, node: MortalNode) -> None:
    """Answer the parent's calls."""
    box = me.mailbox(_calls_for(node.station.place.name, node.station.line))
    while True:
        try:
            node.called(await box.get())
        except ActivityError:
            continue


async def _receive(me: Actor, node: MortalNode) -> None:
    """Take in tasks, and the news that types have ended."""
    box = me.mailbox(tasks_for(node.station.place.name, node.station.line))
    while True:
        try:
            got = await box.get()
        except ActivityError:
            continue
        node.receive(got)


async def _send(me: Actor, node: MortalNode, port: Port) -> None:
    """Send tasks to children, one at a time."""
    while True:
        await node.port.acquire()
        try:
            duration = await ship(me, node, port)
        except ActivityError:
            node.undelivered()
        else:
            node.sent(duration)


def _calls_for(name: str, line: int) -> str:
    """Return the mailbox in which a node is called."""
    return f"calls for {name}" if not line else f"calls for {name}, {line}"
