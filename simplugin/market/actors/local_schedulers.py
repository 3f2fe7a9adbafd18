"""Local schedulers: they sell bundles to their peers and report to a global scheduler.

Where hosts may fail, they sell to the peers that answer; peers may leave, return and join.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from simplugin.core.errors import ActivityError, InfeasibleError
from simplugin.market.actors.messages import (
    ANNOUNCEMENT,
    AWARD,
    ESTIMATE,
    REPORT,
    Announcement,
    Award,
    Capacity,
    Estimate,
    MarketMailbox,
    NegotiationMessage,
    Submission,
)
from simplugin.market.actors.stations import SchedulerStation
from simplugin.market.model import DealRecord, discounted, task_time
from simplugin.market.policies.dispatch import completion_of_best
from simplugin.market.policies.negotiation import (
    Agreement,
    BundleNegotiation,
    Scheduler,
    checked_agreement,
    checked_call,
    message_size,
    negotiation_seed,
    party_generator,
)
from simplugin.simulation.api import Activity, Actor
from simplugin.workloads.bundle_markets import BundleMarket
from simplugin.workloads.bundles import Bundle


async def local_scheduler(
    me: Actor, station: SchedulerStation, negotiation: BundleNegotiation, records: list[DealRecord]
) -> None:
    """Serve one bundle after the other.

    Parameters
    ----------
    me : Actor
        On the scheduler's host.
    station : SchedulerStation
        Its knowledge.
    negotiation : BundleNegotiation
        The negotiation.
    records : list of DealRecord
        List to which it appends a record of each bundle.
    """
    queue = me.message_queue(MarketMailbox.BUNDLES.of(station.host))
    while True:
        submitted: Submission = await queue.get()
        sale = _Sale(me, station, negotiation, submitted.number, submitted.bundle)
        records.append(await sale.serve())
        ends = MarketMailbox.REPORTS.of(station.host)
        if station.reports:
            me.mailbox(ends).put_detached(station.site, REPORT, label="report")
        else:
            me.message_queue(ends).put_detached(station.site)


class _AbsentError(Exception):
    """Peers that did not answer a call in time."""

    def __init__(self, hosts: set[str]) -> None:
        super().__init__(hosts)
        self.hosts = hosts


class _Sale:
    """The sale of a bundle and the execution of its tasks.

    Where hosts may fail, a peer without a message for `station.patience` is absent until the next
    announcement: the others start the negotiation again. Peers pay for the tasks that they have
    done.
    """

    def __init__(
        self,
        me: Actor,
        station: SchedulerStation,
        negotiation: BundleNegotiation,
        number: int,
        bundle: Bundle,
    ) -> None:
        self.me, self.station, self.negotiation, self.bundle = me, station, negotiation, bundle
        amounts = np.zeros(len(station.peers), np.int64)
        self.record = DealRecord(number, station.site, me.now, 0.0, 0.0, amounts, 0.0, [])

    async def serve(self) -> DealRecord:
        """Sell the bundle and have its tasks done; sell tasks left undone again.

        Raises
        ------
        InfeasibleError
            Peers that answer cannot take the remaining tasks, or do none of them.
        """
        me, bundle, record, peers = self.me, self.bundle, self.record, self.station.peers
        amounts, payments = record.amounts, np.zeros(len(peers))
        work = [bundle.flop] * bundle.count if bundle.work is None else list(bundle.work)
        barren = 0
        while work:
            hosts, agreement = await self._agree(len(work))
            if not record.peer_finish:
                record.agreed, record.peer_finish = me.now, [me.now] * len(peers)
            parts = np.split(np.array(work), np.cumsum(agreement.amounts)[:-1])
            sold = list(zip(hosts, parts, agreement.paid.tolist(), strict=True))
            deliveries = [
                me.spawn(self._deliver, host, part.tolist(), payment, name=f"tasks for {host}")
                for host, part, payment in sold
            ]
            work, before = [], int(amounts.sum())
            for (host, part, payment), each in zip(sold, deliveries, strict=True):
                done, last = await each.join()
                peer = peers.index(host)
                if done:
                    record.peer_finish[peer] = last
                    amounts[peer] += done
                    payments[peer] += payment * done / len(part)
                work += part[done:].tolist()
            barren = 0 if amounts.sum() > before else barren + 1
            if barren > len(peers):
                raise InfeasibleError(
                    f"{self._left(len(work))}, and none was done in {barren} sales; give a patience"
                    " longer than a task takes"
                )
        if self.station.patience is None:
            record.price, record.payments = agreement.price, agreement.payments
        else:
            record.price, record.payments = float(payments.sum()) / bundle.count, payments
        record.finished = me.now
        return record

    def _left(self, tasks: int) -> str:
        """Return the beginning of a message about tasks that are not done."""
        return f"{tasks} tasks of bundle {self.bundle.name!r} are left at {self.me.now:g} s"

    async def _deliver(
        self, me: Actor, host: str, work: list[float], payment: float
    ) -> tuple[int, float]:
        """Send a peer its award and tasks; return the number done and the date of the last end."""
        done, last, byte, patience = 0, me.now, self.bundle.byte, self.station.patience
        box, tasks = me.mailbox(MarketMailbox.INBOX.of(host)), MarketMailbox.TASKS.of(host)
        task, end = me.mailbox(tasks), me.mailbox(MarketMailbox.ENDS.of(host))
        try:
            await box.put(Award(len(work), payment), AWARD, label="award", timeout=patience)
            if patience is None:
                ends = []
                for flop in work:
                    # Requested before the task arrives: an end is in transit once it is sent.
                    ends.append(end.get_async())
                    await task.put(flop, byte, label="task")
                for each in ends:
                    await each
                return len(work), me.now
            for flop in work:
                await task.put(flop, byte, label="task", timeout=patience)
                await end.get(timeout=patience)
                done, last = done + 1, me.now
        except ActivityError:
            if patience is None:
                raise
        return done, last

    async def _agree(self, m: int) -> tuple[tuple[str, ...], Agreement]:
        """Return the hosts that answer, and their agreement about `m` tasks."""
        station, name, number = self.station, self.negotiation.name, self.record.bundle
        announced = Announcement(number, self.bundle.flop, self.bundle.byte, m)
        absent: set[str] = set()
        seed = negotiation_seed(station.seed, number, station.site)
        while True:
            hosts = [host for host in station.peers if host not in absent]
            absent |= await self._send(hosts, announced, ANNOUNCEMENT, "announcement")
            there = tuple(host for host in hosts if host not in absent)
            n_peers, patience = len(there), station.patience or 0
            answers = f"{n_peers} of {len(station.peers)} peers answer within {patience:g} s"
            left = f"{self._left(m)}, and {answers}"
            if not there:
                remedy = "let hosts come back earlier, or give a longer patience"
                raise InfeasibleError(f"{left}; {remedy}")
            talk = self.negotiation.scheduler(n_peers, m, party_generator(seed))
            try:
                agreement = await self._converse(there, talk)
                return there, checked_agreement(name, agreement, n_peers, m)
            except _AbsentError as error:
                absent |= error.hosts
            except InfeasibleError as error:
                if station.patience is None:
                    raise
                raise InfeasibleError(f"{left}: {error}") from error

    async def _converse(self, hosts: Sequence[str], talk: Scheduler) -> Agreement:
        """Deliver calls and replies until there is an agreement.

        Raises
        ------
        _AbsentError
            A peer does not receive a call or answer it within the patience.
        """
        me, record = self.me, self.record
        try:
            call = next(talk)
            while True:
                call = checked_call(self.negotiation.name, call, len(hosts))
                called = [hosts[peer] for peer in call.peers]
                boxes = {host: me.mailbox(MarketMailbox.REPLIES.of(host)) for host in called}
                gets = {host: box.get_async() for host, box in boxes.items() if call.answers}
                question = NegotiationMessage(call.message, call.answers)
                size = message_size(call.message)
                silent = await self._send(called, question, size, "call")
                silent |= await self._late(gets)
                if silent:
                    raise _AbsentError(silent)
                replies = [gets[host].result for host in called if call.answers]
                record.rounds += 1
                record.messages += len(call.peers) + len(replies)
                record.bytes += len(call.peers) * size
                record.bytes += sum(map(message_size, replies))
                call = talk.send(replies)
        except StopIteration as end:
            agreement: Agreement = end.value
            return agreement

    async def _send(self, hosts: Sequence[str], what: object, size: float, label: str) -> set[str]:
        """Send peers the same message in parallel, and wait until all have received it.

        Return the hosts that have not received it within the patience.
        """
        boxes = {host: self.me.mailbox(MarketMailbox.INBOX.of(host)) for host in hosts}
        puts = {host: box.put_async(what, size, label=label) for host, box in boxes.items()}
        return await self._late(puts)

    async def _late(self, activities: dict[str, Activity]) -> set[str]:
        """Wait for an activity of each host; cancel late activities and return their hosts."""
        me, patience = self.me, self.station.patience
        late: set[str] = set()
        if patience is None:
            for activity in activities.values():
                await activity
            return late
        deadline = me.now + patience
        for host, activity in activities.items():
            try:
                ended = activity.test() or deadline <= me.now
                await activity.wait(0.0 if ended else deadline - me.now)
            except ActivityError:
                activity.cancel()
                late.add(host)
        return late


async def estimator(me: Actor, station: SchedulerStation) -> None:
    """Receive the capacity of each peer, then answer all questions of the global scheduler.

    Parameters
    ----------
    me : Actor
        On the local scheduler's host.
    station : SchedulerStation
        Its knowledge.
    """
    questions = me.mailbox(MarketMailbox.QUESTIONS.of(station.host))
    answers = me.mailbox(MarketMailbox.ESTIMATES.of(station.host))
    # Questions may arrive before the capacities of all peers.
    asking = questions.get_async()
    telling = [me.mailbox(MarketMailbox.CAPACITY.of(peer)).get_async() for peer in station.peers]
    capacities: list[Capacity] = [await each for each in telling]
    while True:
        asked: Announcement = await asking
        asking = questions.get_async()
        estimate = Estimate(asked.number, station.site, seconds(capacities, asked))
        answers.put_detached(estimate, ESTIMATE, label="estimate")


def seconds(capacities: Sequence[Capacity], asked: Announcement) -> float:
    """Return the time that peers would need for a bundle, without discounts of earlier bundles.

    Parameters
    ----------
    capacities : sequence of Capacity, shape (n_peers,)
        Reports of the peers.
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
