"""Actors that follow a periodic schedule."""

from __future__ import annotations

from dataclasses import dataclass, field

from simplugin.bags.periodic import PeriodicSchedule
from simplugin.simulation.api import Actor

# Date and type of a task that came, was computed or was sent.
Event = tuple[float, int]


@dataclass(slots=True)
class PeriodicLog:
    """Dates at which tasks came to a host, and left it.

    Attributes
    ----------
    dates : tuple of float, shape (n_periods,)
        Start of each of the host's periods [s].
    came, computed, sent : list of (float, int)
        Dates [s] and types.
    """

    dates: tuple[float, ...]
    came: list[Event] = field(default_factory=list)
    computed: list[Event] = field(default_factory=list)
    sent: list[Event] = field(default_factory=list)


async def periodic_host(
    me: Actor, schedule: PeriodicSchedule, host: int, n_periods: int
) -> PeriodicLog:
    """Receive, compute and send side by side, until all periods are over."""
    name, first = schedule.tree.hosts[host], int(schedule.tree.depth[host])
    log = PeriodicLog(tuple(float((first + i) * schedule.period) for i in range(n_periods)))
    parts = [
        me.spawn(_work, schedule, host, log, name=f"worker {name}"),
        me.spawn(_send, schedule, host, log, name=f"sender {name}"),
    ]
    for _ in range(sum(schedule.sent[host]) * n_periods if host else 0):
        kind = await me.mailbox(f"tasks for {name}").get()
        log.came.append((me.now, kind))
        me.message_queue(f"stock {host} {kind}").put_detached(None)
    for part in parts:
        await part.join()
    return log


async def _work(me: Actor, schedule: PeriodicSchedule, host: int, log: PeriodicLog) -> None:
    """Compute the tasks of each period."""
    for date in log.dates:
        await me.sleep_until(date)
        for kind, tasks in enumerate(schedule.compute[host]):
            for _ in range(tasks):
                await _take(me, host, kind)
                await me.execute(float(schedule.bags.flop[kind]))
                log.computed.append((me.now, kind))


async def _send(me: Actor, schedule: PeriodicSchedule, host: int, log: PeriodicLog) -> None:
    """Send the tasks of each period, one after the other."""
    children = [child for child in schedule.tree.children[host] if any(schedule.sent[child])]
    for date in log.dates if children else ():
        await me.sleep_until(date)
        for child in children:
            for kind, tasks in enumerate(schedule.sent[child]):
                for _ in range(tasks):
                    await _take(me, host, kind)
                    box = me.mailbox(f"tasks for {schedule.tree.hosts[child]}")
                    await box.put(kind, float(schedule.bags.byte[kind]))
                    log.sent.append((me.now, kind))


async def _take(me: Actor, host: int, kind: int) -> None:
    """Take the oldest task of a type, of the last period, out of a host's buffer."""
    if host:
        await me.message_queue(f"stock {host} {kind}").get()
