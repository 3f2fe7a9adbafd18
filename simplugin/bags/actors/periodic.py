"""Actors that follow a periodic schedule."""

from __future__ import annotations

from dataclasses import dataclass, field

from simplugin.simulation.api import Actor

# Date and type of a task that came, was computed or was sent.
Event = tuple[float, int]


@dataclass(frozen=True, slots=True)
class Duty:
    """The work of a host in each of its periods.

    Attributes
    ----------
    name : str
        Of the host.
    is_root : bool
        True if tasks are there from the start.
    dates : tuple of float, shape (n_periods,)
        When its periods begin [s].
    flop, byte : tuple of float, shape (n_types,)
        Of a task of each type [flop, byte].
    compute : tuple of int, shape (n_types,)
        Tasks that it computes in a period.
    children : tuple of str
        To which hosts it sends.
    sends : tuple of tuple of int, shape (n_children, n_types)
        Number of tasks in a period.
    """

    name: str
    is_root: bool
    dates: tuple[float, ...]
    flop: tuple[float, ...]
    byte: tuple[float, ...]
    compute: tuple[int, ...]
    children: tuple[str, ...]
    sends: tuple[tuple[int, ...], ...]


@dataclass(slots=True)
class Log:
    """Dates at which tasks came to a host, and left it.

    Attributes
    ----------
    came, computed, sent : list of (float, int)
        Dates [s] and types.
    """

    came: list[Event] = field(default_factory=list)
    computed: list[Event] = field(default_factory=list)
    sent: list[Event] = field(default_factory=list)


async def periodic_host(me: Actor, duty: Duty) -> Log:
    """Receive, compute and send side by side, until all periods are over."""
    log = Log()
    parts = [me.spawn(_work, duty, log, name=f"worker {duty.name}")]
    if duty.children:
        parts.append(me.spawn(_send, duty, log, name=f"sender {duty.name}"))
    if not duty.is_root:
        incoming = sum(duty.compute) + sum(map(sum, duty.sends))
        for _ in range(incoming * len(duty.dates)):
            kind = await me.mailbox(f"tasks for {duty.name}").get()
            log.came.append((me.now, kind))
            me.message_queue(_stock(duty, kind)).put_detached(None)
    for part in parts:
        await part.join()
    return log


async def _work(me: Actor, duty: Duty, log: Log) -> None:
    """Compute the tasks of each period."""
    for date in duty.dates:
        await me.sleep_until(date)
        for kind, tasks in enumerate(duty.compute):
            for _ in range(tasks):
                await _take(me, duty, kind)
                await me.execute(duty.flop[kind])
                log.computed.append((me.now, kind))


async def _send(me: Actor, duty: Duty, log: Log) -> None:
    """Send the tasks of each period, one at a time."""
    for date in duty.dates:
        await me.sleep_until(date)
        for child, row in zip(duty.children, duty.sends, strict=True):
            for kind, tasks in enumerate(row):
                for _ in range(tasks):
                    await _take(me, duty, kind)
                    await me.mailbox(f"tasks for {child}").put(kind, duty.byte[kind])
                    log.sent.append((me.now, kind))


async def _take(me: Actor, duty: Duty, kind: int) -> None:
    """Take a task out of the buffer; the oldest of its type, and so one of the last period."""
    if not duty.is_root:
        await me.message_queue(_stock(duty, kind)).get()


def _stock(duty: Duty, kind: int) -> str:
    """Return the name of the queue of the tasks of a type in a host's buffer."""
    return f"stock {duty.name} {kind}"
