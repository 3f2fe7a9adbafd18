"""Actors of a host: scheduler, worker, sender, receiver, and those that carry requests."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

from simplugin.bags.actors.messages import (
    HostSetup,
    NodeLog,
    ReturnedResult,
    changes_at,
    look_of,
    requests_of,
    results_for,
    tasks_for,
)
from simplugin.bags.actors.node import NodeScheduler
from simplugin.bags.actors.planning import Neighbourhood
from simplugin.bags.policy import LOOKS, NodeKnowledge, message_size
from simplugin.core.errors import ActivityError, TimeoutException
from simplugin.simulation.api import Activity, Actor, Mailbox, MessageQueue

# Number of turns of the shortest transfer in progress.
TURNS = 4


class TransferPort:
    """Round-robin sharing of a host's port between the transfers of several senders.

    SimGrid would share links by bytes, and has no ports. Here one transfer after the other uses
    the full bandwidth of its link for a turn, while the others are suspended.

    Parameters
    ----------
    me : Actor
        On its host.
    log : NodeLog
        Log of the time for which the port was sending.
    """

    def __init__(self, me: Actor, log: NodeLog) -> None:
        self.under_way: list[tuple[Activity, float]] = []
        self.entered = me.semaphore(0)
        self.booking = 0
        self._me, self._log, self._since = me, log, 0.0

    async def share(self, transfer: Activity, needed: float) -> None:
        """Wait for a transfer that takes turns with others.

        Parameters
        ----------
        transfer : Activity
            The transfer, just started.
        needed : float
            Its duration without other transfers [s].
        """
        if needed <= 0:
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
                self._log.port_busy += self._me.now - self._since

    async def book(self, me: Actor, needed: float) -> None:
        """Reserve the port for a time [s], shared equally with other reservations."""
        self.booking += 1
        step = needed / TURNS
        while needed > 0:
            sharing = self.booking
            await me.sleep_for(min(step, needed) * sharing)
            needed -= step
        self.booking -= 1

    async def take_turns(self, me: Actor) -> None:
        """Resume the transfers in progress in turn."""
        while True:
            await self.entered.acquire()
            while len(self.under_way) > 1:
                await self._turn(me)

    async def _turn(self, me: Actor) -> None:
        """Resume only the first transfer for one turn, and move it to the end."""
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
            # Its sender handles it.
            pass
        # Let its sender note the end.
        await me.yield_()


# What an actor of a node does.
Duty = Callable[..., Awaitable[None]]


async def run_host(me: Actor, host: HostSetup) -> list[NodeLog]:
    """Run the nodes of a host, one for each line."""
    nodes = [NodeScheduler(me, setup, host.policy) for setup in host.nodes]
    await run_nodes(me, nodes, _plan, _schedule)
    return [node.log for node in nodes]


async def run_nodes(
    me: Actor,
    nodes: Sequence[NodeScheduler],
    plan: Duty,
    schedule: Duty,
    watch: Duty | None = None,
    answer: Duty | None = None,
) -> None:
    """Run the nodes of a host until they are over; they share only its port and CPU.

    If hosts can fail, some actors watch children, and others answer calls.
    """
    port = TransferPort(me, nodes[0].log)
    if nodes[0].policy.parallel:
        me.spawn(port.take_turns, name=f"{me.host.name} takes turns", daemon=True)
    for node in nodes:
        place = node.setup.place
        name = place.name
        if node.policy.planner is not None:
            me.spawn(plan, node, name=f"{name} plans", daemon=True)
        me.spawn(schedule, node, name=f"{name} schedules", daemon=True)
        me.spawn(_work, node, name=f"{name} works", daemon=True)
        if node.setup.turns:
            me.spawn(_settle, node, name=f"{name} settles", daemon=True)
        if place.children:
            me.spawn(_send, node, port, name=f"{name} sends", daemon=True)
        for target, child in enumerate(place.children, 1):
            me.spawn(_hear, node, target, child, name=f"{name} hears {child}", daemon=True)
            if watch is not None:
                me.spawn(watch, node, target, child, name=f"{name} calls {child}", daemon=True)
        if place.parent is not None:
            me.spawn(_receive, node, name=f"{name} receives", daemon=True)
            if node.setup.results:
                me.spawn(_return, node, name=f"{name} returns", daemon=True)
            if answer is not None:
                me.spawn(answer, node, name=f"{name} answers", daemon=True)
    if nodes[0].setup.results and nodes[0].setup.place.children:
        me.spawn(_collect, nodes, name=f"{me.host.name} collects", daemon=True)
    for node in nodes:
        await node.over.acquire()


async def _plan(me: Actor, node: NodeScheduler) -> None:
    """Negotiate the node's plan at the start, and after each change in the tree."""
    near = Neighbourhood(node.policy, node.setup.place, node.state.known)
    while True:
        planned = near.known(node.state.known)
        node.adopt(await near.plan(me, planned))
        if math.isinf(node.policy.period):
            return
        await _wait_for_changes(me, node, near, planned)


async def _wait_for_changes(
    me: Actor, node: NodeScheduler, near: Neighbourhood, planned: NodeKnowledge
) -> None:
    """Wait until the root learns that plans, made with `planned`, are out of date."""
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
    """Return True if a measurement has changed in the subtree."""
    # Checked before its own messages can disturb measurements. One change is enough.
    if near.known(node.state.known).differs(planned, node.policy.tolerance):
        return True
    await _notify_children(me, near, False)
    boxes = [me.mailbox(changes_at(child)) for child in near.place.children]
    return any([await box.get() for box in boxes])


async def _notify_children(me: Actor, near: Neighbourhood, is_outdated: bool) -> None:
    """Request a new negotiation from the children, or a check for changes."""
    for child in near.place.children:
        await me.mailbox(look_of(child)).put(is_outdated, message_size(1), label="plan")


async def _schedule(me: Actor, node: NodeScheduler) -> None:
    """Open the node when it has its plan, then carry its requests to the parent."""
    setup = node.setup
    if node.policy.planner is not None:
        await node.ready.acquire()
    await me.sleep_for(setup.delay)
    node.is_asking = setup.place.parent is None
    node.open()
    if setup.place.parent is None:
        return
    name = requests_of(setup.place.name, setup.line)
    while True:
        await node.ask.acquire()
        asked = node.requested()
        if setup.free_requests:
            await me.message_queue(name).put(asked)
        else:
            await me.mailbox(name).put(asked, message_size(len(asked)), label="request")
        node.is_asking = False
        node.look()


async def _hear(me: Actor, node: NodeScheduler, target: int, child: str) -> None:
    """Process the messages of a child."""
    name = requests_of(child, node.setup.line)
    box = me.message_queue(name) if node.setup.free_requests else me.mailbox(name)
    while True:
        node.learn_of(target, await next_message(node, box))


async def next_message(node: NodeScheduler, box: Mailbox | MessageQueue) -> Any:
    """Return the next message; skip those that failures lose if the node survives them."""
    while True:
        try:
            return await box.get()
        except ActivityError:
            if not node.survives:
                raise


async def _settle(me: Actor, node: NodeScheduler) -> None:
    """Let the node decide after all requests of an instant have arrived."""
    while True:
        await node.settle.acquire()
        while node.turns:
            node.turns -= 1
            await me.yield_()
        node.decide()


async def _receive(me: Actor, node: NodeScheduler) -> None:
    """Receive tasks, and announcements of ended types."""
    box = me.mailbox(tasks_for(node.setup.place.name, node.setup.line))
    while node.survives or not all(node.state.ended):
        got = await next_message(node, box)
        if isinstance(got, int):
            node.end(got)
        else:
            node.arrive(got)


async def _send(me: Actor, node: NodeScheduler, port: TransferPort) -> None:
    """Send tasks to children, one after the other."""
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
    """Send the outgoing task; return the duration [s], 0 if the port logs it."""
    assert node.outgoing is not None
    setup, policy = node.setup, node.policy
    target, byte = node.outgoing.target, node.outgoing.parcel.byte
    box = me.mailbox(tasks_for(setup.place.children[target - 1], setup.line))
    start = me.now
    if setup.results:
        await box.put(node.outgoing, message_size(1), label="order")
        # The result will take this time of the port, so no further task leaves before.
        booked = byte / node.state.known.bandwidth[target - 1]
        await port.book(me, max(booked - (me.now - start), 0.0))
        return 0.0
    while policy.parallel and not node.survives and box.empty:
        # A transfer can be suspended once its receiver is there, which comes at this date.
        await me.yield_()
    node.transfer = box.put_async(node.outgoing, byte, label="task")
    try:
        if policy.parallel:
            # A transfer that takes turns lasts longer than its use of the port.
            await port.share(node.transfer, byte / node.state.known.bandwidth[target - 1])
        else:
            await node.transfer
    finally:
        node.transfer = None
    return 0.0 if policy.parallel else me.now - start


async def _work(me: Actor, node: NodeScheduler) -> None:
    """Compute tasks, one after the other."""
    while True:
        await node.work.acquire()
        assert node.in_hand is not None
        start = me.now
        for application, number, flop in node.in_hand.parts:
            await me.execute(flop, label=str(application))
            node.log.done.append((application, number, me.now))
        duration = me.now - start
        if node.setup.results:
            while node.is_full:
                await node.worker_space.acquire()
            name = node.setup.place.name
            node.keep(ReturnedResult(name, node.in_hand, name, node.setup.line, me.now))
        node.worked(duration)


async def _return(me: Actor, node: NodeScheduler) -> None:
    """Send results to the parent, one after the other."""
    assert node.setup.place.parent is not None
    name, box = node.setup.place.name, me.mailbox(results_for(node.setup.place.parent))
    while True:
        await node.out.acquire()
        result = replace(node.outbox[0], child=name, date=me.now)
        await box.put(result, result.parcel.byte, label="result")
        node.returned()


async def _collect(me: Actor, nodes: Sequence[NodeScheduler]) -> None:
    """Receive results for all lines, one after the other, in the order of their sends."""
    place = nodes[0].setup.place
    box = me.mailbox(results_for(place.name))
    targets = {child: target for target, child in enumerate(place.children, 1)}
    while True:
        while full := next((node for node in nodes if node.is_full), None):
            await full.port_space.acquire()
        start = me.now
        result: ReturnedResult = await box.get()
        duration = me.now - max(start, result.date)
        nodes[result.line].collect(result, targets[result.child], duration)
