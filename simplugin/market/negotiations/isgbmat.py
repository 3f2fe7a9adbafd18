"""ISGBMAT as messages: the local scheduler announces the mean of what peers last asked for."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from simplugin.elementary import exp, log
from simplugin.errors import WorkloadError
from simplugin.market.negotiations.brackets import Bracket, ask_all, counts_of
from simplugin.market.negotiations.own_tasks import OwnTasks
from simplugin.market.negotiations.protocol import (
    Agreement,
    Call,
    Message,
    Negotiation,
    Scheduler,
)
from simplugin.workloads.bundle_markets import Amounts, Floats


class RetailPeer:
    """A peer that says how many tasks it takes in a round, and at which mean price.

    Parameters
    ----------
    own : OwnTasks
        What tasks are worth to it.
    """

    def __init__(self, own: OwnTasks) -> None:
        self._own = own
        self._assigned = self._latest = 0

    def reply(self, message: Message, /) -> Message:
        """Return its cap and base price; or its tasks of this round; or what the last are worth.

        ``("begin", m)`` is answered by the cap and the logarithm of V. ``("pass", x, over)``, with
        the logarithm of p* and 1 if the last pass ended a round, by F and the logarithms of the
        retail price after F tasks and of what the next task is worth, which is the retail price if
        this pass ends the round. ``("last", count)`` by that many tasks' worth, the last one first.
        """
        kind, *numbers = message
        own = self._own
        if kind == "begin":
            return ("retail", own.limit(*numbers), own.log_worth(1))
        if kind == "pass":
            log_price, over = numbers
            if over:
                self._assigned, self._latest = self._assigned + self._latest, 0
            room = own.cap - self._assigned
            wanted = own.bought(log_price) - self._assigned
            self._latest = min(max(wanted, self._latest), room)
            last = self._assigned + self._latest
            mean = own.log_mean(self._assigned + 1, self._latest)
            return ("takes", self._latest, mean, own.log_worth(last + 1))
        if kind == "last":
            last, count = self._assigned + self._latest, min(int(numbers[0]), self._latest)
            return ("worths", *map(own.log_worth, range(last, last - count, -1)))
        raise WorkloadError(f"a peer is asked {kind!r}, which it does not understand")


def isgbmat(n_peers: int, m: int, generator: np.random.Generator) -> Scheduler:  # noqa: ARG001
    """Sell by ISGBMAT with all repairs of `simplugin.market.isgbmat`, in as many passes.

    Each pass is a round, in which the peers that are not at their caps hear the market price. One
    round before tells caps and base prices, and one after it what the last pass's tasks are worth,
    of which those beyond m go back.

    Parameters
    ----------
    n_peers, m : int
        How many peers and tasks there are.
    generator : Generator
        Not drawn from.
    """
    limits, retail = yield from ask_all(n_peers, ("begin", m))
    caps = counts_of(limits)
    Bracket.everything(m, caps)  # refuses what does not fit
    assigned, latest = np.zeros_like(caps), np.zeros_like(caps)
    over = 0
    while True:
        open_ = np.flatnonzero(assigned < caps)
        replies = yield Call(tuple(open_.tolist()), ("pass", _log_mean(retail[open_]), over))
        takes, means, following = np.array([reply[1:] for reply in replies]).T
        before = assigned + latest
        over = int(np.array_equal(latest[open_], counts_of(takes)))
        latest[open_], retail[open_] = counts_of(takes), means
        if assigned.sum() + latest.sum() >= m:
            return (yield from _trimmed(m, before, assigned + latest))
        if over:
            assigned, latest = assigned + latest, np.zeros_like(latest)
            retail[open_] = following


def _log_mean(logarithms: Floats) -> float:
    """Return the logarithm of a mean, which is never above all of them."""
    top = float(logarithms.max())
    return top + log(np.sum(exp(logarithms - top)) / len(logarithms))


def _trimmed(m: int, before: Amounts, after: Amounts) -> Generator[Call, list[Message], Agreement]:
    """Take back the least valuable of the last pass's tasks; of equal ones the last peer's."""
    beyond = int(after.sum()) - m
    buyers = np.flatnonzero(after > before)
    replies = yield Call(tuple(buyers.tolist()), ("last", beyond + 1))
    new = (after - before)[buyers]
    worths = [reply[1:][:count] for reply, count in zip(replies, new, strict=True)]
    peers = np.repeat(buyers, [len(each) for each in worths])
    place = np.concatenate([np.arange(len(each)) for each in worths])
    worth: Floats = np.concatenate(worths)
    ranked = np.lexsort((place, -peers, worth))
    amounts = after - np.bincount(peers[ranked[:beyond]], minlength=len(after))
    return Agreement(amounts, exp(worth[ranked[beyond]]))


def retail_peer(value: float, cap: int, q: float, generator: np.random.Generator) -> RetailPeer:  # noqa: ARG001
    """Return a peer of ISGBMAT; it draws nothing."""
    return RetailPeer(OwnTasks(value, cap, q))


ISGBMAT = Negotiation("isgbmat", isgbmat, retail_peer)
