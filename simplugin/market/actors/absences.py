"""Bundles that are sold while peers fail, come back, leave and join."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from simplugin.errors import ActivityError, HostFailureException, InfeasibleError
from simplugin.market.actors.messages import (
    ANNOUNCEMENT,
    AWARD,
    Announcement,
    Award,
    Question,
    ends_at,
    inbox_of,
    plain,
    replies_of,
    tasks_for,
)
from simplugin.market.policies.negotiation import (
    Agreement,
    Negotiation,
    Scheduler,
    message_size,
    negotiation_seed,
    own_generator,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from simplugin.market.actors.stations import SchedulerStation
    from simplugin.market.model import DealRecord
    from simplugin.simulation.api import Activity, Actor
    from simplugin.workloads.bundles import Bundle


class _AbsentError(Exception):
    """Some peers have not answered a call in time."""

    def __init__(self, hosts: set[str]) -> None:
        super().__init__(hosts)
        self.hosts = hosts


async def enrol(
    me: Actor, patience: float, start: Callable[..., object], host: str, *arguments: object
) -> None:
    """Start a peer's actor once its host is on, looking each `patience`; it restarts with it."""
    while True:
        try:
            me.spawn(
                start, *arguments, host=host, name=f"peer on {host}", daemon=True, restart=True
            )
            return
        except HostFailureException:
            await me.sleep_for(patience)


async def sell_to_present(
    me: Actor,
    station: SchedulerStation,
    negotiation: Negotiation,
    record: DealRecord,
    bundle: Bundle,
) -> None:
    """Sell a bundle, and what peers leave undone again, until all its tasks are done.

    A peer from which nothing is heard for `station.patience` is absent until tasks are announced
    again: the negotiation starts anew among the others. Peers pay for what they have done.

    Parameters
    ----------
    me : Actor
        On the scheduler's host.
    station : SchedulerStation
        Its knowledge.
    negotiation : Negotiation
        The negotiation.
    record : DealRecord
        Where it writes down what happened.
    bundle : Bundle
        The tasks.

    Raises
    ------
    InfeasibleError
        Peers that answer cannot take the tasks that are left, or do none of them.
    """
    n_peers = len(station.peers)
    work = [bundle.flop] * bundle.count if bundle.work is None else list(bundle.work)
    record.amounts, payments = np.zeros(n_peers, np.int64), np.zeros(n_peers)
    barren = 0
    while work:
        announced = Announcement(record.bundle, bundle.flop, bundle.byte, len(work))
        hosts, agreement = await _agree(me, station, negotiation, record, announced, bundle)
        if not record.peer_finish:
            record.agreed, record.peer_finish = me.now, [me.now] * n_peers
        amounts = np.asarray(agreement.amounts)
        paid = amounts * agreement.price if agreement.payments is None else agreement.payments
        parts = np.split(np.array(work), np.cumsum(amounts)[:-1])
        handing = [
            me.spawn(_deliver, station, host, part.tolist(), bundle.byte, payment)
            for host, part, payment in zip(hosts, parts, paid.tolist(), strict=True)
        ]
        work, before = [], int(record.amounts.sum())
        for host, part, payment, each in zip(hosts, parts, paid, handing, strict=True):
            done, last = await each.join()
            peer = station.peers.index(host)
            if done:
                record.peer_finish[peer] = last
                record.amounts[peer] += done
                payments[peer] += payment * done / len(part)
            work += part[done:].tolist()
        barren = 0 if record.amounts.sum() > before else barren + 1
        if barren > n_peers:
            raise InfeasibleError(
                f"{len(work)} tasks of bundle {bundle.name!r} are left at {me.now:g} s, and none"
                f" was done in {barren} sales; give a patience longer than a task takes"
            )
    record.price, record.payments = float(payments.sum()) / bundle.count, payments


async def _agree(
    me: Actor,
    station: SchedulerStation,
    negotiation: Negotiation,
    record: DealRecord,
    announced: Announcement,
    bundle: Bundle,
) -> tuple[tuple[str, ...], Agreement]:
    """Return who answers, and what they agree on."""
    absent: set[str] = set()
    seed = negotiation_seed(station.seed, announced.number, station.site)
    while True:
        hosts = tuple(host for host in station.peers if host not in absent)
        absent |= await send(me, hosts, announced, ANNOUNCEMENT, "announcement", station.patience)
        hosts = tuple(host for host in hosts if host not in absent)
        who = f"{len(hosts)} of {len(station.peers)} peers answer within {station.patience:g} s"
        left = f"{announced.m} tasks of bundle {bundle.name!r} are left at {me.now:g} s, and {who}"
        if not hosts:
            raise InfeasibleError(f"{left}; let hosts come back earlier, or give a longer patience")
        talk = negotiation.scheduler(len(hosts), announced.m, own_generator(seed))
        try:
            return hosts, await converse(me, hosts, talk, record, station.patience)
        except _AbsentError as error:
            absent |= error.hosts
        except InfeasibleError as error:
            raise InfeasibleError(f"{left}: {error}") from error


async def converse(
    me: Actor, hosts: Sequence[str], talk: Scheduler, record: DealRecord, patience: float | None
) -> Agreement:
    """Carry calls to peers and their replies back until there is an agreement.

    Raises
    ------
    _AbsentError
        Some peers do not hear a call or answer it in time, if there is a patience.
    """
    try:
        call = next(talk)
        while True:
            called = [hosts[peer] for peer in call.peers]
            wanted = called if call.answers else []
            gets = {host: me.mailbox(replies_of(host)).get_async() for host in wanted}
            question = Question(plain(call.message), call.answers)
            size = message_size(call.message)
            silent = await send(me, called, question, size, "call", patience)
            silent |= await _late(me, gets, patience)
            if silent:
                raise _AbsentError(silent)
            replies = [gets[host].result for host in wanted]
            record.rounds += 1
            record.messages += len(call.peers) + len(replies)
            record.bytes += len(call.peers) * size
            record.bytes += sum(map(message_size, replies))
            call = talk.send(replies)
    except StopIteration as end:
        agreement: Agreement = end.value
        return agreement


async def send(
    me: Actor,
    hosts: Sequence[str],
    what: object,
    size: float,
    label: str,
    patience: float | None,
) -> set[str]:
    """Send peers the same message in parallel, and wait until all have received it.

    Returned are those that have not received it in time, if there is a patience.
    """
    puts = {h: me.mailbox(inbox_of(h)).put_async(what, size, label=label) for h in hosts}
    return await _late(me, puts, patience)


async def _late(me: Actor, activities: dict[str, Activity], patience: float | None) -> set[str]:
    """Wait for what concerns each host; cancel what is not over in time, and return whose it is."""
    late: set[str] = set()
    if patience is None:
        for activity in activities.values():
            await activity
        return late
    deadline = me.now + patience
    for host, activity in activities.items():
        try:
            if activity.test() or deadline <= me.now:
                await activity.wait(0.0)
            else:
                await activity.wait(deadline - me.now)
        except ActivityError:
            activity.cancel()
            late.add(host)
    return late


async def _deliver(
    me: Actor, station: SchedulerStation, host: str, work: list[float], byte: float, payment: float
) -> tuple[int, float]:
    """Send a peer its award and tasks; return how many it has done, and until when."""
    done, last, patience = 0, me.now, station.patience
    tasks, end = me.mailbox(tasks_for(host)), me.mailbox(ends_at(host))
    try:
        award = Award(len(work), payment)
        await me.mailbox(inbox_of(host)).put(award, AWARD, label="award", timeout=patience)
        for flop in work:
            await tasks.put(flop, byte, label="task", timeout=patience)
            await end.get(timeout=patience)
            done, last = done + 1, me.now
    except ActivityError:
        pass
    return done, last
