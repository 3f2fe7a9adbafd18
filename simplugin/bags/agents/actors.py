"""The actors of a node: scheduler, worker, sender, receiver, and those that carry requests."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from simplugin.bags.agents.node import Node
from simplugin.bags.agents.ports import Port
from simplugin.bags.agents.stations import changes_at, look_of, requests_of, tasks_for
from simplugin.bags.message_sizes import message_size

if TYPE_CHECKING:
    from simplugin.bags.agents.stations import Deeds, Station
    from simplugin.bags.nodes import Known, Policy
    from simplugin.simulation.api import Actor


async def host(me: Actor, stations: tuple[Station, ...], policy: Policy) -> list[Deeds]:
    """Run the nodes of a host, one for each line; they share its port and CPU and nothing else."""
    nodes = [Node(me, station, policy) for station in stations]
    port = Port(me, nodes[0].deeds)
    if policy.parallel:
        me.spawn(port.take_turns, name=f"{me.host.name} takes turns", daemon=True)
    for node in nodes:
        _start(me, node, port)
    for node in nodes:
        await node.over.acquire()
    return [node.deeds for node in nodes]


def _start(me: Actor, node: Node, port: Port) -> None:
    """Start the actors of a node."""
    name = node.station.place.name
    if node.policy.planner is not None:
        me.spawn(_plan, node, name=f"{name} plans", daemon=True)
    me.spawn(_schedule, node, name=f"{name} schedules", daemon=True)
    me.spawn(work, node, name=f"{name} works", daemon=True)
    if node.station.place.children:
        me.spawn(_send, node, port, name=f"{name} sends", daemon=True)
    for target, child in enumerate(node.station.place.children, 1):
        me.spawn(_hear, node, target, child, name=f"{name} hears {child}", daemon=True)
    if node.station.place.parent is not None:
        me.spawn(_receive, node, name=f"{name} receives", daemon=True)


async def _plan(me: Actor, node: Node) -> None:
    """Negotiate the node's plan, now and whenever something has changed somewhere in the tree."""
    policy = node.policy
    assert policy.planner is not None
    while True:
        known = node.state.known
        planned = replace(known, bandwidth=list(known.bandwidth))
        node.adopt(await policy.planner(me, node.station.place, planned))
        if math.isinf(policy.period):
            return
        await _wait_for_changes(me, node, planned)


async def _wait_for_changes(me: Actor, node: Node, planned: Known) -> None:
    """Return when the root has heard that plans, made with `planned`, are out of date."""
    place = node.station.place
    is_outdated = False
    while not is_outdated:
        if place.parent is None:
            await me.sleep_for(node.policy.period)
            is_outdated = await _look(me, node, planned)
            continue
        is_outdated = await me.mailbox(look_of(place.name)).get()
        if not is_outdated:
            changed = await _look(me, node, planned)
            await me.mailbox(changes_at(place.name)).put(changed, message_size(1), label="plan")
    await _tell_children(me, node, is_outdated)


async def _look(me: Actor, node: Node, planned: Known) -> bool:
    """Return whether something has changed in the subtree."""
    # Before messages of its own get in the way of what it measures. One change is enough.
    if node.state.known.differs(planned, node.policy.tolerance):
        return True
    await _tell_children(me, node, False)
    boxes = [me.mailbox(changes_at(child)) for child in node.station.place.children]
    return any([await box.get() for box in boxes])


async def _tell_children(me: Actor, node: Node, is_outdated: bool) -> None:
    """Tell children that they are to negotiate anew, or to look for changes."""
    for child in node.station.place.children:
        await me.mailbox(look_of(child)).put(is_outdated, message_size(1), label="plan")


async def _schedule(me: Actor, node: Node) -> None:
    """Open the node when it has its plan, then carry its requests to the parent."""
    station = node.station
    if node.policy.planner is not None:
        await node.ready.acquire()
    await me.sleep_for(station.delay)
    node.is_asking = station.place.parent is None
    node.open()
    if station.place.parent is None:
        return
    box = me.mailbox(requests_of(station.place.name, station.line))
    while True:
        await node.ask.acquire()
        asked = node.requested()
        await box.put(asked, message_size(len(asked)), label="request")
        node.is_asking = False
        node.look()


async def _hear(me: Actor, node: Node, target: int, child: str) -> None:
    """Note what a child requests."""
    box = me.mailbox(requests_of(child, node.station.line))
    while True:
        node.hear(target, await box.get())


async def _receive(me: Actor, node: Node) -> None:
    """Take in tasks, and the news that types have ended."""
    box = me.mailbox(tasks_for(node.station.place.name, node.station.line))
    while not all(node.state.ended):
        node.receive(await box.get())


async def _send(me: Actor, node: Node, port: Port) -> None:
    """Send tasks to children, one at a time."""
    while True:
        await node.port.acquire()
        node.sent(await ship(me, node, port))


async def ship(me: Actor, node: Node, port: Port) -> float:
    """Send the task that is to leave; return for how long, 0 where the port counts that."""
    assert node.outgoing is not None
    station, policy = node.station, node.policy
    target, byte = node.outgoing.target, node.outgoing.parcel.byte
    box = me.mailbox(tasks_for(station.place.children[target - 1], station.line))
    start = me.now
    node.transfer = box.put_async(node.outgoing, byte, label="task")
    try:
        if policy.parallel:
            # Of transfers side by side, each lasts longer than the port is busy for it.
            await port.share(node.transfer, byte / node.state.known.bandwidth[target - 1])
        else:
            await node.transfer
    finally:
        node.transfer = None
    return 0.0 if policy.parallel else me.now - start


async def work(me: Actor, node: Node) -> None:
    """Compute tasks, one at a time."""
    while True:
        await node.work.acquire()
        assert node.in_hand is not None
        start = me.now
        for application, number, flop in node.in_hand.parts:
            await me.execute(flop, label=str(application))
            node.deeds.done.append((application, number, me.now))
        node.worked(me.now - start)
