"""Actors that compute, request and pass on tasks: several for each agent, on its host.

They share the agent's `AgentQueues` and nothing else: tasks, and requests for tasks, are messages.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

from simplugin.pricing.policies.task_queues import (
    LiveProportions,
    Proportions,
    ReleaseAllowance,
    next_queue,
    to_request,
)
from simplugin.simulation.api import Actor

# A request for tasks: one number, and the 40 bytes of the headers of TCP and IP [byte].
REQUEST_SIZE = 48.0


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An agent's parent or child.

    Attributes
    ----------
    name : str
        Of the agent.
    here : bool
        True if it is on the same host: messages between them cross no network.
    """

    name: str
    here: bool


@dataclass(frozen=True, slots=True)
class AgentSetup:
    """Initial knowledge of an agent.

    Attributes
    ----------
    name : str
        Its own.
    parent : Neighbour, optional
        None for a master's agent.
    children : tuple of Neighbour
        Those that may get tasks.
    flop, byte : float
        Of a simulated task [flop, byte].
    proportions : Proportions or LiveProportions
        Shares of its queues, in simulated tasks per second.
    threshold : int
        Tasks that it keeps for each queue in use.
    paced : bool
        True if a master releases no more than its application's throughput.
    end : float
        When it stops [s].
    """

    name: str
    parent: Neighbour | None
    children: tuple[Neighbour, ...]
    flop: float
    byte: float
    proportions: Proportions | LiveProportions
    threshold: int
    paced: bool
    end: float


class AgentQueues:
    """Queues and finished tasks of an agent, shared by its actors.

    Attributes
    ----------
    arrived : int
        Tasks that came from the parent, or that a master's agent released.
    computed : list of tuples
        Number of each task computed here, and when it ended [s].
    """

    def __init__(self, me: Actor, station: AgentSetup) -> None:
        self.station = station
        self.queues: list[deque[int]] = [deque() for _ in range(1 + len(station.children))]
        self.asked = [0] * len(self.queues)
        self.deficit = [0.0] * len(self.queues)
        self.computed: list[tuple[int, float]] = []
        self.arrived = self.stock = self.requested = 0
        self.work = me.semaphore(0)
        self.room = me.semaphore(0)
        self.waits_for_room = False

    def wanted(self, now: float) -> int:
        """Return the number of tasks to request now."""
        weight = self.station.proportions.at(now)
        return to_request(self.stock, self.requested, self.station.threshold, weight)

    def take(self, me: Actor, task: int) -> None:
        """Put an arrived task into a queue."""
        weight = self.station.proportions.for_dispatch(me.now)
        queue, self.deficit = next_queue(self.deficit, weight)
        self.arrived += 1
        self.queues[queue].append(task)
        self.stock += 1
        if queue == 0:
            self.work.release()
        else:
            self.send(me, queue)

    def send(self, me: Actor, queue: int) -> None:
        """Send a child the requested tasks that are in its queue."""
        child = self.station.children[queue - 1]
        while self.asked[queue] and self.queues[queue]:
            self.asked[queue] -= 1
            task = self.leave(me, queue)
            if child.here:
                me.message_queue(f"tasks for {child.name}").put_detached(task)
            else:
                me.mailbox(f"tasks for {child.name}").put_detached(task, self.station.byte)

    def leave(self, me: Actor, queue: int) -> int:
        """Take the first task out of a queue, which may make room for others."""
        self.stock -= 1
        self.look_for_room(me)
        return self.queues[queue].popleft()

    def look_for_room(self, me: Actor) -> None:
        """Wake the actor that waits for room if there is some."""
        if self.waits_for_room and self.wanted(me.now):
            self.waits_for_room = False
            self.room.release()


async def agent(me: Actor, station: AgentSetup) -> tuple[int, list[tuple[int, float]]]:
    """Dispatch and compute tasks to the end; return the queues' `arrived` and `computed`."""
    desk = AgentQueues(me, station)
    # A task runs on one core; rates count on all of them.
    for _ in range(me.host.cores):
        me.spawn(_compute, desk, name=f"{station.name} computes", daemon=True)
    for queue, child in enumerate(station.children, 1):
        name = f"{station.name} serves {child.name}"
        me.spawn(_receive_requests, desk, queue, child, name=name, daemon=True)
    if station.parent is None:
        me.spawn(_release, desk, name=f"{station.name} releases", daemon=True)
    else:
        me.spawn(_request, desk, station.parent, name=f"{station.name} requests", daemon=True)
    me.spawn(_follow, desk, name=f"{station.name} follows", daemon=True)
    await me.sleep_until(station.end)
    return desk.arrived, desk.computed


async def _compute(me: Actor, desk: AgentQueues) -> None:
    """Compute the tasks of the agent's own queue, one after the other on one core."""
    while True:
        await desk.work.acquire()
        task = desk.leave(me, 0)
        await me.execute(desk.station.flop, label=desk.station.name)
        desk.computed.append((task, me.now))


async def _follow(me: Actor, desk: AgentQueues) -> None:
    """Look for room each time that the rates change."""
    for date in desk.station.proportions.date:
        # A sleep may end a rounding error too early, when the old rates are still in force.
        while me.now < date:
            await me.sleep_for(date - me.now)
        desk.look_for_room(me)


async def _receive_requests(me: Actor, desk: AgentQueues, queue: int, child: Neighbour) -> None:
    """Receive the requests of a child."""
    name = f"requests of {child.name}"
    while True:
        number = await (me.message_queue(name) if child.here else me.mailbox(name)).get()
        desk.asked[queue] += number
        desk.send(me, queue)


async def _request(me: Actor, desk: AgentQueues, parent: Neighbour) -> None:
    """Request tasks from the parent when there is room for them."""
    name, receivers = f"requests of {desk.station.name}", 0
    while True:
        number = await _room(me, desk)
        desk.requested += number
        # A transfer starts when it has a receiver: one for each task that may be in transit.
        while receivers < desk.requested:
            receivers += 1
            me.spawn(_receive, desk, parent, name=f"{desk.station.name} receives", daemon=True)
        if parent.here:
            await me.message_queue(name).put(number)
        else:
            await me.mailbox(name).put(number, REQUEST_SIZE)


async def _receive(me: Actor, desk: AgentQueues, parent: Neighbour) -> None:
    """Receive tasks one after the other."""
    name = f"tasks for {desk.station.name}"
    while True:
        task = await (me.message_queue(name) if parent.here else me.mailbox(name)).get()
        desk.requested -= 1
        desk.take(me, task)


async def _release(me: Actor, desk: AgentQueues) -> None:
    """Release a master's tasks, numbered from 0, when there is room and the pace allows it."""
    station, task = desk.station, 0
    # Single tasks from the start: tasks released together would stay together, cross each link
    # at the same time and wait for its latency at the same time, with the link idle.
    pace = ReleaseAllowance(1.0, me.now)
    while True:
        await _room(me, desk)
        pace = pace.until(me.now, station.proportions, float(station.threshold))
        if pace.may_release() or not station.paced:
            pace = pace.after_release()
            desk.take(me, task)
            task += 1
        else:
            date = min(pace.look_again(station.proportions), station.end)
            await me.sleep_for(max(date - me.now, math.ulp(0.0)))


async def _room(me: Actor, desk: AgentQueues) -> int:
    """Wait for room, and return the number of tasks to request."""
    while not desk.wanted(me.now):
        desk.waits_for_room = True
        await desk.room.acquire()
    return desk.wanted(me.now)
