"""Starts of all actors, and the global scheduler: a queue of bundles, first in first out."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence

from simplugin.core.errors import InfeasibleError
from simplugin.market.actors.local_schedulers import estimator, local_scheduler
from simplugin.market.actors.messages import (
    ANNOUNCEMENT,
    SUBMISSION,
    Announcement,
    Estimate,
    MarketMailbox,
    Submission,
)
from simplugin.market.actors.peers import computing_peer, enrol
from simplugin.market.actors.stations import (
    DiscountCounter,
    PeerRecords,
    PeerStation,
    SchedulerStation,
    lifetime,
)
from simplugin.market.model import DealRecord
from simplugin.market.policies.dispatch import DISPATCHERS, Situation
from simplugin.market.policies.negotiation import BundleNegotiation
from simplugin.simulation.api import Actor
from simplugin.workloads.bundles import Bundle

Notes = tuple[list[DealRecord], list[list[PeerRecords]]]


async def one_site(
    me: Actor,
    scheduler: SchedulerStation,
    peers: Sequence[PeerStation],
    negotiation: BundleNegotiation,
    bundles: Sequence[Bundle],
) -> Notes:
    """Run one site, whose users submit bundles to its local scheduler.

    Parameters
    ----------
    me : Actor
        On the scheduler's host.
    scheduler : SchedulerStation
        The local scheduler.
    peers : sequence of PeerStation
        Its peers.
    negotiation : BundleNegotiation
        The negotiation between the local scheduler and the peers.
    bundles : sequence of Bundle
        The bundles that users submit at their release dates.

    Returns
    -------
    list of DealRecord
        A record of each bundle, in the order of their ends.
    list of list of PeerRecords
        Records of the peers of each site.
    """
    records: list[DealRecord] = []
    ledgers = open_site(me, scheduler, peers, negotiation, records)
    me.spawn(submit, bundles, MarketMailbox.BUNDLES.of(scheduler.host), name="users", daemon=True)
    done = me.message_queue(MarketMailbox.REPORTS.of(scheduler.host))
    for _ in bundles:
        await done.get()
    return records, [ledgers]


def open_site(
    me: Actor,
    scheduler: SchedulerStation,
    peers: Sequence[PeerStation],
    negotiation: BundleNegotiation,
    records: list[DealRecord],
) -> list[PeerRecords]:
    """Start a local scheduler and its peers; return the ledgers of these."""
    ledgers = [PeerRecords(DiscountCounter(lifetime(station.rules.counters))) for station in peers]
    side, host = (scheduler, negotiation, records), scheduler.host
    me.spawn(local_scheduler, *side, host=host, name=f"local scheduler on {host}", daemon=True)
    if scheduler.reports:
        me.spawn(estimator, scheduler, host=host, name=f"estimates of {host}", daemon=True)
    for station, ledger in zip(peers, ledgers, strict=True):
        own = (station, negotiation, ledger)
        if scheduler.patience is not None:
            me.spawn(enrol, *own, name=f"start of {station.host}", daemon=True)
            continue
        me.spawn(
            computing_peer, *own, host=station.host, name=f"peer on {station.host}", daemon=True
        )
    return ledgers


async def submit(me: Actor, bundles: Sequence[Bundle], queue: str) -> None:
    """Put bundles into a queue on this host at their release dates."""
    for number in sorted(range(len(bundles)), key=lambda number: bundles[number].release):
        await me.sleep_until(bundles[number].release)
        me.message_queue(queue).put_detached(Submission(number, bundles[number]))


class GlobalSchedulerState:
    """Queue of a global scheduler, its bundles at each site, and the answers of sites.

    The scheduler asks all sites about the first bundle of its queue, and forwards the bundle when
    it has all answers. It knows sites by these answers and the ends of bundles only.

    Parameters
    ----------
    n_sites : int
        Number of sites.
    dispatch : str
        Name of the rule by which the scheduler chooses a site.
    """

    def __init__(self, n_sites: int, dispatch: str) -> None:
        self.waiting: deque[Submission] = deque()
        self.handed = self.done = 0
        self._decide = DISPATCHERS[dispatch]
        # Expected duration of each bundle at each site, and the start of its first bundle.
        self._has: list[deque[float]] = [deque() for _ in range(n_sites)]
        self._since = [0.0] * n_sites
        # Answers about the first bundle of the queue; None before the question.
        self._answers: dict[int, float] | None = None

    def question(self) -> Announcement | None:
        """Return the question to all sites about the first bundle; None if they have it."""
        if not self.waiting or self._answers is not None:
            return None
        self._answers = {}
        number, bundle = self.waiting[0].number, self.waiting[0].bundle
        return Announcement(number, bundle.flop, bundle.byte, bundle.count)

    def answer(self, estimate: Estimate) -> None:
        """Note a site's answer about the first bundle."""
        assert self._answers is not None
        assert estimate.number == self.waiting[0].number
        self._answers[estimate.site] = estimate.seconds

    def finish(self, site: int, now: float) -> None:
        """Note the end of the first bundle of a site."""
        self._has[site].popleft()
        self._since[site] = now
        self.done += 1

    def next(self, now: float) -> tuple[Submission, int] | None:
        """Return the bundle to forward now and its site; None if the bundle has to wait.

        Raises
        ------
        InfeasibleError
            No site can take it.
        """
        n_sites = len(self._has)
        if self._answers is None or len(self._answers) < n_sites:
            return None
        estimates = tuple(self._answers[site] for site in range(n_sites))
        if min(estimates) == math.inf:
            name = self.waiting[0].bundle.name
            raise InfeasibleError(f"no site can take bundle {name!r}; raise N_max")
        backlog = [
            sum(has) - min(now - since, has[0]) if has else 0.0
            for has, since in zip(self._has, self._since, strict=True)
        ]
        idle = tuple(not has for has in self._has)
        site = self._decide(Situation(estimates, tuple(backlog), idle, self.handed))
        if site is None:
            return None
        if not self._has[site]:
            self._since[site] = now
        self._has[site].append(estimates[site])
        self.handed += 1
        self._answers = None
        return self.waiting.popleft(), site


async def grid(
    me: Actor,
    host: str,
    dispatch: str,
    schedulers: Sequence[SchedulerStation],
    peers: Sequence[Sequence[PeerStation]],
    negotiation: BundleNegotiation,
    bundles: Sequence[Bundle],
) -> Notes:
    """Run a grid, in which users submit bundles to the global scheduler.

    Parameters
    ----------
    me : Actor
        On the global scheduler's host.
    host : str
        Name of this host.
    dispatch : str
        Name of the rule by which it chooses sites.
    schedulers, peers, negotiation, bundles
        As in `one_site`; one local scheduler and some peers for each site.

    Returns
    -------
    list of DealRecord, list of list of PeerRecords
        As from `one_site`.
    """
    records: list[DealRecord] = []
    ledgers = [
        open_site(me, scheduler, own, negotiation, records)
        for scheduler, own in zip(schedulers, peers, strict=True)
    ]
    hosts = [each.host for each in schedulers]
    for site in hosts:
        own = (MarketMailbox.BUNDLES.of(site), MarketMailbox.BUNDLES.of(site))
        me.spawn(_forward, *own, host=site, name=f"bundles for {site}", daemon=True)
        for box in (MarketMailbox.REPORTS.of(site), MarketMailbox.ESTIMATES.of(site)):
            me.spawn(
                _forward, box, MarketMailbox.BUNDLES.of(host), name=f"{box} heard", daemon=True
            )
    me.spawn(submit, bundles, MarketMailbox.BUNDLES.of(host), name="users", daemon=True)
    desk = GlobalSchedulerState(len(hosts), dispatch)
    news = me.message_queue(MarketMailbox.BUNDLES.of(host))
    while desk.done < len(bundles):
        heard: Submission | Estimate | int = await news.get()
        match heard:
            case Submission():
                desk.waiting.append(heard)
            case Estimate():
                desk.answer(heard)
            case number:
                desk.finish(number, me.now)
        if (chosen := desk.next(me.now)) is not None:
            submission, number = chosen
            mailbox = me.mailbox(MarketMailbox.BUNDLES.of(hosts[number]))
            mailbox.put_detached(submission, SUBMISSION, label="submission")
        if (asked := desk.question()) is not None:
            for site in hosts:
                mailbox = me.mailbox(MarketMailbox.QUESTIONS.of(site))
                mailbox.put_detached(asked, ANNOUNCEMENT, label="question")
    return records, ledgers


async def _forward(me: Actor, box: str, queue: str) -> None:
    """Forward messages from a mailbox to a queue of this host."""
    heard, news = me.mailbox(box), me.message_queue(queue)
    while True:
        news.put_detached(await heard.get())
