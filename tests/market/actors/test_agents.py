"""Agents know what they were given and what they have heard, and nothing else."""

import numpy as np
import pytest

from simplugin.market.actors.local_schedulers import local_scheduler
from simplugin.market.actors.messages import (
    Announcement,
    Award,
    Question,
    Submission,
    bundles_for,
    ends_at,
    inbox_of,
    replies_of,
    tasks_for,
)
from simplugin.market.actors.peers import computing_peer
from simplugin.market.actors.stations import (
    DiscountCounter,
    Ledger,
    PeerStation,
    SchedulerStation,
    lifetime,
)
from simplugin.market.execution import execute
from simplugin.market.model import Terms
from simplugin.market.policies.negotiation import Agreement, Call, Negotiation, own_generator
from simplugin.market.policies.shipped import NEGOTIATIONS
from simplugin.platforms.peers import PeerSite
from simplugin.simulation import Placement, SimGridOptions, simulate
from simplugin.workloads.bundles import Bundle

SITE = PeerSite.numbered(np.array([4e9, 1e9, 2e9]), np.array([1e8, 1e8, 1e8]))
BUNDLE = Bundle("b", 12, 2e9, 1e6)
LINEAR = SimGridOptions.linear()


async def _one_bundle(me, counter, negotiation, bundle):
    """Run a local scheduler until it has served a bundle."""
    record = []
    me.spawn(local_scheduler, counter, negotiation, record, daemon=True)
    me.message_queue(bundles_for(counter.host)).put_detached(Submission(0, bundle))
    await me.message_queue(f"reports of {counter.host}").get()
    return record[0]


async def _scripted_peer(me, value, heard):
    """Post a value that has nothing to do with the host, and take what comes."""
    host = me.host.name
    inbox = me.mailbox(inbox_of(host))
    heard.append(await inbox.get())
    heard.append(await inbox.get())
    await me.mailbox(replies_of(host)).put(("posted", value, 12.0, 0.5), 64)
    award = await inbox.get()
    heard.append(award)
    for _ in range(award.amount):
        heard.append(await me.mailbox(tasks_for(host)).get())
        await me.mailbox(ends_at(host)).put(None, 0)
    return heard


def test_a_scheduler_goes_by_what_peers_say():
    # The fastest host says that tasks are worth least to it; all values halve with each task.
    said = {"peer-1": 1.0, "peer-2": 64.0, "peer-3": 16.0}
    counter = SchedulerStation(SITE.scheduler, SITE.names, 0, 0, reports=False)
    actors = [
        Placement(host, _scripted_peer, (value, []), name=host) for host, value in said.items()
    ]
    one = (counter, NEGOTIATIONS["optimum"], BUNDLE)
    actors.append(Placement(SITE.scheduler, _one_bundle, one, name="market"))
    result = simulate(SITE.platform(), actors, options=LINEAR)
    record = result.value_of("market")
    worth = sorted((v * 0.5**k for v in said.values() for k in range(12)), reverse=True)[:12]
    sold = [
        v * 0.5**k for v, n in zip(said.values(), record.amounts, strict=True) for k in range(n)
    ]
    assert sorted(sold, reverse=True) == worth
    for host, amount in zip(said, record.amounts, strict=True):
        announced, question, award, *tasks = result.value_of(host)
        assert announced == Announcement(0, 2e9, 1e6, 12)
        assert question == Question(("post",), True)
        assert award == Award(amount, amount * record.price)
        assert tasks == [2e9] * amount


async def _scripted_scheduler(me, host):
    """Speak to a peer as a local scheduler would, and say how long its tasks took."""
    inbox = me.mailbox(inbox_of(host))
    await inbox.put(Announcement(3, 2e9, 1e6, 12), 72)
    await inbox.put(Question(("post",), True), 40)
    reply = await me.mailbox(replies_of(host)).get()
    await inbox.put(Question(("post",), False), 40)
    await inbox.put(Award(2, 1.0), 56)
    start = me.now
    for _ in range(2):
        await me.mailbox(tasks_for(host)).put(8e9, 1e8)
        await me.mailbox(ends_at(host)).get()
    return reply, me.now - start


def test_a_peer_goes_by_itself_and_what_it_hears():
    # What it takes itself for: not what its host is.
    station = PeerStation("peer-1", 1e9, 1e6, 0.9, 5, 3600.0, 0.5, np.inf, False, 0, 0, 0)
    ledger = Ledger(DiscountCounter(np.inf))
    actors = [
        Placement(SITE.scheduler, _scripted_scheduler, ("peer-1",), name="scheduler"),
        Placement(
            "peer-1", computing_peer, (station, NEGOTIATIONS["optimum"], ledger), daemon=True
        ),
    ]
    reply, duration = simulate(SITE.platform(), actors, options=LINEAR).value_of("scheduler")
    assert reply == ("posted", 3600 / (0.5 + 1.0 + 2.0), 5, 0.9)
    # It sets up for 0.5 s, then really fetches 1e8 byte and computes 8e9 flop.
    assert duration == pytest.approx(2 * (0.5 + 1.0 + 2.0), rel=1e-12)


class _Guesser:
    """A peer that says what it was made of, and a number that only it draws."""

    def __init__(self, *own):
        self._own = own

    def reply(self, _):
        """Tell all."""
        value, cap, q, generator = self._own
        return ("told", value, cap, q, generator.random())


def _all_to_the_luckiest(n_peers, m, generator):
    """Give all tasks to the peer with the largest draw; the price tells what was told."""
    assert (n_peers, m, type(generator)) == (3, 12, np.random.Generator)
    told = yield Call((0, 1, 2), ("tell",))
    assert [message[1:4] for message in told] == [
        (pytest.approx(3600 / (0.005 + 2e9 / speed + 0.01)), 12, pytest.approx(0.99))
        for speed in (4e9, 1e9, 2e9)
    ]
    draws = [message[4] for message in told]
    amounts = np.zeros(3, dtype=np.int64)
    amounts[int(np.argmax(draws))] = 12
    return Agreement(amounts, max(draws))


@pytest.mark.parametrize("seed", range(4))
def test_sides_are_made_of_their_own(seed):
    negotiation = Negotiation("luck", _all_to_the_luckiest, _Guesser)
    deal = execute(SITE, BUNDLE, Terms(), negotiation, seed=seed).deals[0]
    draws = [own_generator(seed, peer).random() for peer in range(3)]
    assert deal.price == max(draws)
    assert deal.amounts[int(np.argmax(draws))] == 12


def test_one_way_calls_are_not_answered():
    def scheduler(*_):
        heard = yield Call((1,), ("hush", 1.0), answers=False)
        assert heard == []
        (reply,) = yield Call((1,), ("tell",))
        return Agreement(np.array([0, 12, 0]), reply[4])

    deal = execute(SITE, BUNDLE, Terms(), Negotiation("quiet", scheduler, _Guesser)).deals[0]
    # The peer has drawn for the first call too.
    assert deal.price == own_generator(0, 1).random(2)[1]
    assert (deal.rounds, deal.messages, deal.bytes) == (2, 3, 48 + 40 + 72)


def test_counters_forget():
    counter = DiscountCounter(10.0)
    counter.sell(0.0, 8)
    assert counter.sold(0.0) == 8
    assert counter.sold(10.0) == pytest.approx(8 / np.e)
    counter.sell(10.0, 2)
    assert counter.sold(30.0) == pytest.approx((8 / np.e + 2) / np.e**2)
    for lasts, left in ((0.0, 0.0), (np.inf, 5.0)):
        counter = DiscountCounter(lasts)
        counter.sell(1.0, 5)
        assert counter.sold(1e9) == left
    assert (lifetime("reset"), lifetime("kept"), lifetime(7)) == (0.0, np.inf, 7.0)
