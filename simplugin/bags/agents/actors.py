"""The actors of a node: scheduler, worker, sender, receiver, and those that carry requests."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from simplugin.bags.agents.node import Deeds, Node, requests_of, tasks_for
from simplugin.bags.agents.ports import Port

if TYPE_CHECKING:
    from simplugin.bags.agents.node import Station
    from simplugin.bags.nodes import Policy
    from simplugin.simulation.api import Actor

# A request says how many tasks, and headers of 40 as TCP and IP have them [byte].
NUMBER, HEADERS = 8.0, 40.0


async def host(me: Actor, stations: tuple[Station, ...], policy: Policy) -> list[Deeds]:
    """Run the nodes of a host, one for each line; they share its port and CPU and nothing else."""
    port = Port(me)
    nodes = [Node(me, station, policy) for station in stations]
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
    me.spawn(_work, node, name=f"{name} works", daemon=True)
    if node.station.place.children:
        me.spawn(_send, node, port, name=f"{name} sends", daemon=True)
    for target, child in enumerate(node.station.place.children, 1):
        me.spawn(_hear, node, target, child, name=f"{name} hears {child}", daemon=True)
    if node.station.place.parent is not None:
        me.spawn(_receive, node, name=f"{name} receives", daemon=True)


async def _plan(me: Actor, node: Node) -> None:
    """Negotiate the node's plan, now and, as the root says, again and again."""
    policy, place = node.policy, node.station.place
    assert policy.planner is not None
    while True:
        known = node.state.known
        plan = await policy.planner(me, place, replace(known, bandwidth=list(known.bandwidth)))
        node.adopt(plan)
        if math.isinf(policy.period):
            return
        if place.parent is None:
            await me.sleep_for(policy.period)


async def _schedule(me: Actor, node: Node) -> None:
    """Open the node when it has its plan, then carry its requests to the parent."""
    station = node.station
    if node.policy.planner is not None:
        await node.ready.acquire()
    await me.sleep_for(station.delay)
    node.is_asking = False
    node.open()
    box = me.mailbox(requests_of(station.place.name, station.line))
    while True:
        await node.ask.acquire()
        asked = node.requested()
        await box.put(asked, HEADERS + NUMBER * len(asked), label="request")
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
        got = await box.get()
        if isinstance(got, int):
            node.end(got)
        else:
            node.arrive(got)


async def _send(me: Actor, node: Node, port: Port) -> None:
    """Send tasks to children, one at a time."""
    station = node.station
    while True:
        await node.port.acquire()
        assert node.outgoing is not None
        target, parcel = node.outgoing
        box = me.mailbox(tasks_for(station.place.children[target - 1], station.line))
        start = me.now
        if node.policy.parallel:
            needed = parcel.byte / node.state.known.bandwidth[target - 1]
            await port.share(box.put_async(parcel, parcel.byte, label="task"), needed)
        else:
            await box.put(parcel, parcel.byte, label="task")
        node.sent(me.now - start)


async def _work(me: Actor, node: Node) -> None:
    """Compute tasks, one at a time."""
    while True:
        await node.work.acquire()
        assert node.in_hand is not None
        start = me.now
        for application, flop in node.in_hand.parts:
            await me.execute(flop, label=str(application))
            node.deeds.done.append((application, me.now))
        node.worked(me.now - start)
