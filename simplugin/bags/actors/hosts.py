"""Actors of a host: scheduler, worker, sender, receiver, and those that carry requests."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from dataclasses import replace

from simplugin.bags.actors.messages import (
    NodeLog,
    NodeSetup,
    ReturnedResult,
    changes_at,
    look_of,
    requests_of,
    results_for,
    tasks_for,
)
from simplugin.bags.actors.node import NodeScheduler
from simplugin.bags.actors.planning import Neighbourhood
from simplugin.bags.policy import LOOKS, BagPolicy, NodeKnowledge, message_size
from simplugin.core.errors import ActivityError, TimeoutException
from simplugin.simulation.api import Activity, Actor

# Number of turns of the shortest of the transfers in progress.
TURNS = 4


class TransferPort:
    """Takes turns between the transfers of several senders, one at a time.

    SimGrid would share links by bytes, and has no ports. Here each transfer goes at the full
    bandwidth of its link during its turn, and rests in the others'.

    Parameters
    ----------
    me : Actor
        On its host.
    deeds : NodeLog
        Where to count how long it was sending.
    """

    def __init__(self, me: Actor, deeds: NodeLog) -> None:
        self.under_way: list[tuple[Activity, float]] = []
        self.entered = me.semaphore(0)
        self.booking = 0
        self._me, self._deeds, self._since = me, deeds, 0.0

    async def share(self, transfer: Activity, needed: float) -> None:
        """Wait for a transfer that takes turns with others.

        Parameters
        ----------
        transfer : Activity
            It has just been started.
        needed : float
            Its duration if it were alone [s].
        """
        if needed <= 0:
            # Nothing that would take a turn.
            await transfer
            return
        if self.under_way:
            transfer.suspend()
        else:
            self._since = self._me.now
        self.under_way.append((transfer, needed))
        self.entered.release()
        try:
            await transfer
        finally:
            self.under_way = [each for each in self.under_way if each[0] is not transfer]
            if len(self.under_way) == 1:
                self.under_way[0][0].resume()
            elif not self.under_way:
                self._deeds.port_busy += self._me.now - self._since

    async def book(self, me: Actor, needed: float) -> None:
        """Wait for a time that others who wait for theirs share equally [s]."""
        self.booking += 1
        step = needed / TURNS
        while needed > 0:
            sharing = self.booking
            await me.sleep_for(min(step, needed) * sharing)
            needed -= step
        self.booking -= 1

    async def take_turns(self, me: Actor) -> None:
        """Let the transfers that are under way go on in turn."""
        while True:
            await self.entered.acquire()
            while len(self.under_way) > 1:
                await self._turn(me)

    async def _turn(self, me: Actor) -> None:
        """Let the first transfer go on alone for a while; then it is the last."""
        for each, _ in self.under_way[1:]:
            each.suspend()
        self.under_way.append(self.under_way.pop(0))
        transfer, _ = self.under_way[-1]
        transfer.resume()
        length = min(needed for _, needed in self.under_way) / TURNS
        try:
            await transfer.wait(timeout=length)
        except TimeoutException:
            return
        except ActivityError:
            # Its sender deals with it.
            pass
        # Let its sender note that it is over.
        await me.yield_()


async def run_host(me: Actor, stations: tuple[NodeSetup, ...], policy: BagPolicy) -> list[NodeLog]:
    """Run the nodes of a host, one for each line; they share its port and CPU and nothing else."""
    nodes = [NodeScheduler(me, station, policy) for station in stations]
    port = TransferPort(me, nodes[0].deeds)
    if policy.parallel:
        me.spawn(port.take_turns, name=f"{me.host.name} takes turns", daemon=True)
    for node in nodes:
        start(me, node, port, _plan, _schedule)
    if stations[0].results and stations[0].place.children:
        me.spawn(_collect, nodes, name=f"{me.host.name} collects", daemon=True)
    for node in nodes:
        await node.over.acquire()
    return [node.deeds for node in nodes]


def start(
    me: Actor,
    node: NodeScheduler,
    port: TransferPort,
    plan: Callable[..., Awaitable[None]],
    schedule: Callable[..., Awaitable[None]],
    watch: Callable[..., Awaitable[None]] | None = None,
    answer: Callable[..., Awaitable[None]] | None = None,
) -> None:
    """Start the actors of a node; those that watch children and answer calls if hosts can fail."""
    place = node.station.place
    name = place.name
    if node.policy.planner is not None:
        me.spawn(plan, node, name=f"{name} plans", daemon=True)
    me.spawn(schedule, node, name=f"{name} schedules", daemon=True)
    me.spawn(_work, node, name=f"{name} works", daemon=True)
    if node.station.turns:
        me.spawn(_settle, node, name=f"{name} settles", daemon=True)
    if place.children:
        me.spawn(_send, node, port, name=f"{name} sends", daemon=True)
    for target, child in enumerate(place.children, 1):
        me.spawn(_hear, node, target, child, name=f"{name} hears {child}", daemon=True)
        if watch is not None:
            me.spawn(watch, node, target, child, name=f"{name} calls {child}", daemon=True)
    if place.parent is not None:
        me.spawn(_receive, node, name=f"{name} receives", daemon=True)
        if node.station.results:
            me.spawn(_return, node, name=f"{name} returns", daemon=True)
        if answer is not None:
            me.spawn(answer, node, name=f"{name} answers", daemon=True)


async def _plan(me: Actor, node: NodeScheduler) -> None:
    """Negotiate the node's plan, now and whenever something has changed somewhere in the tree."""
    near = Neighbourhood(node.policy, node.station.place, node.state.known)
    while True:
        planned = near.known(node.state.known)
        node.adopt(await near.plan(me, planned))
        if math.isinf(node.policy.period):
            return
        await _wait_for_changes(me, node, near, planned)


async def _wait_for_changes(
    me: Actor, node: NodeScheduler, near: Neighbourhood, planned: NodeKnowledge
) -> None:
    """Return when the root has heard that plans, made with `planned`, are out of date."""
    place = near.place
    is_outdated = False
    while not is_outdated:
        if place.parent is None:
            # A run that lasts far longer than expected needs no more looks in each of its halves.
            late = me.now > 2 * node.policy.horizon
            await me.sleep_for(max(node.policy.period, me.now / (2 * LOOKS) if late else 0.0))
            is_outdated = await _look(me, node, near, planned)
            continue
        is_outdated = await me.mailbox(look_of(place.name)).get()
        if not is_outdated:
            changed = await _look(me, node, near, planned)
            await me.mailbox(changes_at(place.name)).put(changed, message_size(1), label="plan")
    await _notify_children(me, near, is_outdated)


async def _look(
    me: Actor, node: NodeScheduler, near: Neighbourhood, planned: NodeKnowledge
) -> bool:
    """Return whether something has changed in the subtree."""
    # Before messages of its own get in the way of what it measures. One change is enough.
    if near.known(node.state.known).differs(planned, node.policy.tolerance):
        return True
    await _notify_children(me, near, False)
    boxes = [me.mailbox(changes_at(child)) for child in near.place.children]
    return any([await box.get() for box in boxes])


async def _notify_children(me: Actor, near: Neighbourhood, is_outdated: bool) -> None:
    """Ask children to negotiate anew, or to look for changes."""
    for child in near.place.children:
        await me.mailbox(look_of(child)).put(is_outdated, message_size(1), label="plan")


async def _schedule(me: Actor, node: NodeScheduler) -> None:
    """Open the node when it has its plan, then carry its requests to the parent."""
    station = node.station
    if node.policy.planner is not None:
        await node.ready.acquire()
    await me.sleep_for(station.delay)
    node.is_asking = station.place.parent is None
    node.open()
    if station.place.parent is None:
        return
    name = requests_of(station.place.name, station.line)
    while True:
        await node.ask.acquire()
        asked = node.requested()
        if station.free_requests:
            await me.message_queue(name).put(asked)
        else:
            await me.mailbox(name).put(asked, message_size(len(asked)), label="request")
        node.is_asking = False
        node.look()


async def _hear(me: Actor, node: NodeScheduler, target: int, child: str) -> None:
    """Process the messages of a child."""
    name = requests_of(child, node.station.line)
    box = me.message_queue(name) if node.station.free_requests else me.mailbox(name)
    while True:
        try:
            got = await box.get()
        except ActivityError:
            if not node.survives:
                raise
            continue
        node.learn_of(target, got)


async def _settle(me: Actor, node: NodeScheduler) -> None:
    """Let the node decide when all requests of an instant are there."""
    while True:
        await node.settle.acquire()
        while node.turns:
            node.turns -= 1
            await me.yield_()
        node.decide()


async def _receive(me: Actor, node: NodeScheduler) -> None:
    """Take in tasks, and the news that types have ended."""
    box = me.mailbox(tasks_for(node.station.place.name, node.station.line))
    while node.survives or not all(node.state.ended):
        try:
            got = await box.get()
        except ActivityError:
            if not node.survives:
                raise
            continue
        if isinstance(got, int):
            node.end(got)
        else:
            node.arrive(got)


async def _send(me: Actor, node: NodeScheduler, port: TransferPort) -> None:
    """Send tasks to children, one at a time."""
    while True:
        await node.port.acquire()
        try:
            duration = await _ship(me, node, port)
        except ActivityError:
            if not node.survives:
                raise
            node.undelivered()
        else:
            node.sent(duration)


async def _ship(me: Actor, node: NodeScheduler, port: TransferPort) -> float:
    """Send the task that is to leave; return for how long, 0 where the port counts that."""
    assert node.outgoing is not None
    station, policy = node.station, node.policy
    target, byte = node.outgoing.target, node.outgoing.parcel.byte
    box = me.mailbox(tasks_for(station.place.children[target - 1], station.line))
    start = me.now
    if station.results:
        await box.put(node.outgoing, message_size(1), label="order")
        # As the result will take this time of the port, no further task is handed out before.
        booked = byte / node.state.known.bandwidth[target - 1]
        await port.book(me, max(booked - (me.now - start), 0.0))
        return 0.0
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


async def _work(me: Actor, node: NodeScheduler) -> None:
    """Compute tasks, one at a time."""
    while True:
        await node.work.acquire()
        assert node.in_hand is not None
        start = me.now
        for application, number, flop in node.in_hand.parts:
            await me.execute(flop, label=str(application))
            node.deeds.done.append((application, number, me.now))
        duration = me.now - start
        if node.station.results:
            while node.is_full:
                await node.worker_space.acquire()
            name = node.station.place.name
            node.keep(ReturnedResult(name, node.in_hand, name, node.station.line, me.now))
        node.worked(duration)


async def _return(me: Actor, node: NodeScheduler) -> None:
    """Send results to the parent, one at a time."""
    assert node.station.place.parent is not None
    name, box = node.station.place.name, me.mailbox(results_for(node.station.place.parent))
    while True:
        await node.out.acquire()
        result = replace(node.outbox[0], child=name, date=me.now)
        await box.put(result, result.parcel.byte, label="result")
        node.returned()


async def _collect(me: Actor, nodes: list[NodeScheduler]) -> None:
    """Receive results for all lines, one at a time, in the order in which they are ready."""
    place = nodes[0].station.place
    box = me.mailbox(results_for(place.name))
    targets = {child: target for target, child in enumerate(place.children, 1)}
    while True:
        while full := next((node for node in nodes if node.is_full), None):
            await full.port_space.acquire()
        start = me.now
        result: ReturnedResult = await box.get()
        duration = me.now - max(start, result.date)
        nodes[result.line].collect(result, targets[result.child], duration)
