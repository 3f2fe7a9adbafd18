"""The global scheduler: a queue of bundles, first in first served, and the sites below."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simplugin.market.agents.local_schedulers import receive_bundles
from simplugin.market.agents.messages import SUBMISSION, Submission, bundles_for, reports_of
from simplugin.market.agents.observers import open_site, submit
from simplugin.market.dispatch import DISPATCHERS, Situation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simplugin.market.agents.local_schedulers import DealRecord
    from simplugin.market.agents.observers import Notes
    from simplugin.market.agents.stations import PeerStation, SchedulerStation
    from simplugin.market.negotiations.protocol import Negotiation
    from simplugin.simulation.api import Actor
    from simplugin.workloads.bundles import Bundle


@dataclass(frozen=True, slots=True)
class Directory:
    """What a global scheduler is given when it starts.

    Attributes
    ----------
    host : str
        Where it is.
    schedulers : tuple of str
        Hosts of the local schedulers.
    dispatch : str
        Name of the rule by which it chooses sites.
    estimates : tuple of tuple of float, shape (n_bundles, n_sites)
        How long each site is expected to take for each bundle [s].
    """

    host: str
    schedulers: tuple[str, ...]
    dispatch: str
    estimates: tuple[tuple[float, ...], ...]


class Desk:
    """Which bundles a global scheduler waits with, and which each site has.

    Parameters
    ----------
    directory : Directory
        What it is given.
    """

    def __init__(self, directory: Directory) -> None:
        self.waiting: deque[Submission] = deque()
        self.handed = self.done = 0
        self._directory = directory
        self._decide = DISPATCHERS[directory.dispatch]
        # Of each site, how long each of its bundles is expected to take, and since when the first
        # of them has been served.
        self._has: list[deque[float]] = [deque() for _ in directory.schedulers]
        self._since = [0.0] * len(directory.schedulers)

    def finish(self, site: int, now: float) -> None:
        """Note that a site is done with its first bundle."""
        self._has[site].popleft()
        self._since[site] = now
        self.done += 1

    def next(self, now: float) -> tuple[Submission, int] | None:
        """Return the bundle to hand over now, and to which site, if there is one."""
        if not self.waiting:
            return None
        estimates = self._directory.estimates[self.waiting[0].number]
        site = self._decide(self._situation(now, estimates))
        if site is None:
            return None
        if not self._has[site]:
            self._since[site] = now
        self._has[site].append(estimates[site])
        self.handed += 1
        return self.waiting.popleft(), site

    def _situation(self, now: float, estimates: tuple[float, ...]) -> Situation:
        """Return what is known at a date."""
        backlog = [
            sum(has) - min(now - since, has[0]) if has else 0.0
            for has, since in zip(self._has, self._since, strict=True)
        ]
        idle = tuple(not has for has in self._has)
        return Situation(estimates, tuple(backlog), idle, self.handed)


async def grid(
    me: Actor,
    directory: Directory,
    schedulers: Sequence[SchedulerStation],
    peers: Sequence[Sequence[PeerStation]],
    negotiation: Negotiation,
    bundles: Sequence[Bundle],
) -> Notes:
    """Run a grid whose users submit bundles to the global scheduler.

    Parameters
    ----------
    me : Actor
        On the global scheduler's host.
    directory : Directory
        The global scheduler.
    schedulers, peers, negotiation, bundles
        As in `one_site`; one local scheduler and some peers for each site.

    Returns
    -------
    list of DealRecord, list of list of Ledger
        As from `one_site`.
    """
    records: list[DealRecord] = []
    ledgers = [
        open_site(me, scheduler, own, negotiation, records)
        for scheduler, own in zip(schedulers, peers, strict=True)
    ]
    for host in directory.schedulers:
        me.spawn(receive_bundles, host, host=host, name=f"bundles for {host}", daemon=True)
        me.spawn(_hear, host, directory.host, name=f"reports of {host}", daemon=True)
    me.spawn(submit, bundles, bundles_for(directory.host), name="users", daemon=True)
    await _schedule(me, directory, len(bundles))
    return records, ledgers


async def _schedule(me: Actor, directory: Directory, n_bundles: int) -> None:
    """Hand bundles to sites until all are done."""
    desk = Desk(directory)
    news = me.message_queue(bundles_for(directory.host))
    while desk.done < n_bundles:
        heard: Submission | int = await news.get()
        if isinstance(heard, Submission):
            desk.waiting.append(heard)
        else:
            desk.finish(heard, me.now)
        while (chosen := desk.next(me.now)) is not None:
            submission, site = chosen
            box = me.mailbox(bundles_for(directory.schedulers[site]))
            box.put_detached(submission, SUBMISSION, label="submission")


async def _hear(me: Actor, scheduler: str, host: str) -> None:
    """Put a site's reports where the global scheduler's news are."""
    box, news = me.mailbox(reports_of(scheduler)), me.message_queue(bundles_for(host))
    while True:
        news.put_detached(await box.get())
