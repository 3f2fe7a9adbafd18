"""Who starts all actors of a market, and collects what they leave behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simplugin.market.agents.counters import DiscountCounter
from simplugin.market.agents.estimators import estimator
from simplugin.market.agents.local_schedulers import local_scheduler
from simplugin.market.agents.messages import Submission, bundles_for, reports_of
from simplugin.market.agents.peers import computing_peer
from simplugin.market.agents.stations import Ledger

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simplugin.market.agents.local_schedulers import DealRecord
    from simplugin.market.agents.stations import PeerStation, SchedulerStation
    from simplugin.market.negotiations.protocol import Negotiation
    from simplugin.simulation.api import Actor
    from simplugin.workloads.bundles import Bundle

Notes = tuple[list["DealRecord"], list[list[Ledger]]]


async def one_site(
    me: Actor,
    scheduler: SchedulerStation,
    peers: Sequence[PeerStation],
    negotiation: Negotiation,
    bundles: Sequence[Bundle],
) -> Notes:
    """Run a site whose users submit bundles to the local scheduler itself.

    Parameters
    ----------
    me : Actor
        On the scheduler's host.
    scheduler : SchedulerStation
        The local scheduler.
    peers : sequence of PeerStation
        Its peers.
    negotiation : Negotiation
        How they deal.
    bundles : sequence of Bundle
        What users submit, at their release dates.

    Returns
    -------
    list of DealRecord, list of list of Ledger
        Of each bundle, in the order in which they were done; of each peer of each site.
    """
    records: list[DealRecord] = []
    ledgers = open_site(me, scheduler, peers, negotiation, records)
    me.spawn(submit, bundles, bundles_for(scheduler.host), name="users", daemon=True)
    done = me.message_queue(reports_of(scheduler.host))
    for _ in bundles:
        await done.get()
    return records, [ledgers]


def open_site(
    me: Actor,
    scheduler: SchedulerStation,
    peers: Sequence[PeerStation],
    negotiation: Negotiation,
    records: list[DealRecord],
) -> list[Ledger]:
    """Start a local scheduler and its peers; return the ledgers of these."""
    ledgers = [Ledger(DiscountCounter(station.lifetime)) for station in peers]
    side, host = (scheduler, negotiation, records), scheduler.host
    me.spawn(local_scheduler, *side, host=host, name=f"local scheduler on {host}", daemon=True)
    if scheduler.reports:
        me.spawn(estimator, scheduler, host=host, name=f"estimates of {host}", daemon=True)
    for station, ledger in zip(peers, ledgers, strict=True):
        own = (station, negotiation, ledger)
        me.spawn(
            computing_peer, *own, host=station.host, name=f"peer on {station.host}", daemon=True
        )
    return ledgers


async def submit(me: Actor, bundles: Sequence[Bundle], queue: str) -> None:
    """Put bundles into a queue on this host at their release dates."""
    for number in sorted(range(len(bundles)), key=lambda number: bundles[number].release):
        await me.sleep_until(bundles[number].release)
        me.message_queue(queue).put_detached(Submission(number, bundles[number]))
