"""Local schedulers: they sell bundles to their peers and answer for them to a global one."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from simplugin.errors import InfeasibleError, WorkloadError
from simplugin.market.actors.absences import converse, sell_to_present, send
from simplugin.market.actors.messages import (
    ANNOUNCEMENT,
    AWARD,
    ESTIMATE,
    REPORT,
    Announcement,
    Award,
    Capacity,
    Estimate,
    Submission,
    bundles_for,
    capacity_of,
    ends_at,
    estimates_of,
    inbox_of,
    questions_for,
    reports_of,
    tasks_for,
)
from simplugin.market.actors.stations import SchedulerStation
from simplugin.market.model import DealRecord, checked_payments, discounted, task_time
from simplugin.market.policies.dispatch import completion_of_best
from simplugin.market.policies.negotiation import (
    Agreement,
    Negotiation,
    negotiation_seed,
    own_generator,
)
from simplugin.simulation.api import Actor
from simplugin.workloads.bundle_markets import BundleMarket
from simplugin.workloads.bundles import Bundle


async def local_scheduler(
    me: Actor, station: SchedulerStation, negotiation: Negotiation, records: list[DealRecord]
) -> None:
    """Serve one bundle after the other.

    Parameters
    ----------
    me : Actor
        On the scheduler's host.
    station : SchedulerStation
        Its knowledge.
    negotiation : Negotiation
        The negotiation.
    records : list of DealRecord
        Where it writes down what happened.
    """
    queue = me.message_queue(bundles_for(station.host))
    while True:
        submitted: Submission = await queue.get()
        done = await _serve(me, station, negotiation, submitted.number, submitted.bundle)
        records.append(done)
        if station.reports:
            me.mailbox(reports_of(station.host)).put_detached(station.site, REPORT, label="report")
        else:
            me.message_queue(reports_of(station.host)).put_detached(station.site)


async def _serve(
    me: Actor, station: SchedulerStation, negotiation: Negotiation, number: int, bundle: Bundle
) -> DealRecord:
    """Announce a bundle, negotiate, hand out its tasks and wait for their ends."""
    n_peers = len(station.peers)
    record = DealRecord(number, station.site, me.now, 0.0, 0.0, np.zeros(0, np.int64), 0.0, [])
    if station.patience is not None:
        await sell_to_present(me, station, negotiation, record, bundle)
        record.finished = me.now
        return record
    announced = Announcement(number, bundle.flop, bundle.byte, bundle.count)
    await send(me, station.peers, announced, ANNOUNCEMENT, "announcement", None)
    generator = own_generator(negotiation_seed(station.seed, number, station.site))
    talk = negotiation.scheduler(n_peers, bundle.count, generator)
    agreement = await converse(me, station.peers, talk, record, None)
    record.agreed = me.now
    record.amounts = _checked(agreement, n_peers, bundle, negotiation.name)
    record.price = float(agreement.price)
    if agreement.payments is not None:
        record.payments = checked_payments(agreement.payments, record.amounts)
    record.peer_finish = await _hand_out(me, station, bundle, record)
    record.finished = me.now
    return record


def _checked(agreement: Agreement, n_peers: int, bundle: Bundle, name: str) -> NDArray[np.int64]:
    """Return the amounts; raise WorkloadError if they do not place all tasks."""
    given = np.asarray(agreement.amounts)
    amounts = given.astype(np.int64)
    if (
        amounts.shape != (n_peers,)
        or np.any(amounts != given)
        or np.any(amounts < 0)
        or amounts.sum() != bundle.count
    ):
        raise WorkloadError(
            f"negotiation {name!r} gives {n_peers} peers {given.tolist()} tasks of bundle"
            f" {bundle.name!r}; let it place all {bundle.count}"
        )
    return amounts


async def _hand_out(
    me: Actor, station: SchedulerStation, bundle: Bundle, record: DealRecord
) -> list[float]:
    """Send all peers their tasks, side by side; return when each had done the last one."""
    work = np.full(bundle.count, bundle.flop) if bundle.work is None else bundle.work
    parts = np.split(work, np.cumsum(record.amounts)[:-1])
    paid = record.amounts * record.price if record.payments is None else record.payments
    handing = [
        me.spawn(
            _deliver, host, part.tolist(), bundle.byte, payment, record, name=f"tasks for {host}"
        )
        for host, part, payment in zip(station.peers, parts, paid.tolist(), strict=True)
    ]
    return [await each.join() for each in handing]


async def _deliver(
    me: Actor, host: str, work: list[float], byte: float, payment: float, record: DealRecord
) -> float:
    """Send a peer its award and its tasks; return when it had done the last one."""
    award = Award(len(work), payment)
    await me.mailbox(inbox_of(host)).put(award, AWARD, label="award")
    if not work:
        return record.agreed
    tasks, end = me.mailbox(tasks_for(host)), me.mailbox(ends_at(host))
    ends = []
    for flop in work:
        # Requested before the task is there: an end is in transit as soon as the peer sends it.
        ends.append(end.get_async())
        await tasks.put(flop, byte, label="task")
    for each in ends:
        await each
    return me.now


async def estimator(me: Actor, station: SchedulerStation) -> None:
    """Hear what each peer can do, then answer all questions, beside what else the site does.

    Parameters
    ----------
    me : Actor
        On the local scheduler's host.
    station : SchedulerStation
        Its knowledge.
    """
    questions = me.mailbox(questions_for(station.host))
    answers = me.mailbox(estimates_of(station.host))
    # Questions are under way while peers still speak.
    asking = questions.get_async()
    telling = [me.mailbox(capacity_of(peer)).get_async() for peer in station.peers]
    capacities: list[Capacity] = [await each for each in telling]
    while True:
        asked: Announcement = await asking
        asking = questions.get_async()
        estimate = Estimate(asked.number, station.site, seconds(capacities, asked))
        answers.put_detached(estimate, ESTIMATE, label="estimate")


def seconds(capacities: Sequence[Capacity], asked: Announcement) -> float:
    """Return how long peers would take for a bundle, if no discounts of earlier ones are left.

    Parameters
    ----------
    capacities : sequence of Capacity, shape (n_peers,)
        Their reports.
    asked : Announcement
        The bundle.

    Returns
    -------
    float
        Estimated completion time of the assignment of the largest benefit [s];
        inf if they cannot take the bundle.
    """
    columns = [
        (each.speed, each.bandwidth, each.setup, each.price_unit, each.q, each.n_max)
        for each in capacities
    ]
    speed, bandwidth, setup, price_unit, q, n_max = np.array(columns, dtype=np.float64).T
    times = task_time(asked.flop, asked.byte, speed, bandwidth, setup)
    caps = np.minimum(n_max, asked.m).astype(np.int64)
    values, parts = price_unit / times, capacities[0].discounts
    try:
        market = (
            BundleMarket(discounted(values[:, None], parts, 0.0, int(caps.max())), asked.m, caps)
            if parts
            else BundleMarket(values, asked.m, caps, q)
        )
    except InfeasibleError:
        return math.inf
    return completion_of_best(market, times)
