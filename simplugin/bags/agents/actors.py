"""The actors of a node: scheduler, worker, sender, receiver, and those that carry requests."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from simplugin.bags.agents.node import Node
from simplugin.bags.agents.ports import Port
from simplugin.bags.agents.stations import new_plan_for, requests_of, tasks_for

if TYPE_CHECKING:
    from simplugin.bags.agents.stations import Deeds, Station
    from simplugin.bags.nodes import Policy
    from simplugin.simulation.api import Actor

# A request says how many tasks, and headers of 40 as TCP and IP have them [byte].
NUMBER, HEADERS = 8.0, 40.0


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
    """Negotiate the node's plan, now and, as the root says, again and again."""
    policy, place = node.policy, node.station.place
    assert policy.planner is not None
    while True:
        known = node.state.known
        plan = await policy.planner(me, place, replace(known, bandwidth=list(known.bandwidth)))
        node.adopt(plan)
        if math.isinf(policy.period):
            return
        # Word goes down the tree, so that nobody negotiates with what it knew a period ago.
        if place.parent is None:
            await me.sleep_for(policy.period)
        else:
            await me.mailbox(new_plan_for(place.name)).get()
        for child in place.children:
            await me.mailbox(new_plan_for(child)).put(None, HEADERS, label="plan")


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
        target, byte = node.outgoing.target, node.outgoing.parcel.byte
        box = me.mailbox(tasks_for(station.place.children[target - 1], station.line))
        if node.policy.parallel:
            needed = byte / node.state.known.bandwidth[target - 1]
            # The port counts how long it is busy: of transfers side by side, each lasts longer.
            await port.share(box.put_async(node.outgoing, byte, label="task"), needed)
            node.sent(0.0)
        else:
            start = me.now
            await box.put(node.outgoing, byte, label="task")
            node.sent(me.now - start)


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
