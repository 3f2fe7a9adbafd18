"""The choice of sites, tasks dealt to peers, and the random numbers of each that is drawn."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simplugin.core.errors import InfeasibleError
from simplugin.market.actors.global_schedulers import GlobalSchedulerState
from simplugin.market.actors.local_schedulers import seconds
from simplugin.market.actors.messages import Announcement, Capacity, Estimate, Submission
from simplugin.market.model import MarketTerms, completion_times
from simplugin.market.policies.dispatch import Situation, completion_of_best, first_idle
from simplugin.market.policies.negotiation import party_generator
from simplugin.market.policies.shares import one_by_one, round_robin
from simplugin.papers.zheng.random_markets import random_market
from simplugin.papers.zheng.theorems import made_state, small_market
from simplugin.platforms.peers import PeerSite
from simplugin.platforms.twelve_peers import consistent_site
from simplugin.workloads.bundles import Bundle


def test_first_idle_takes_the_quickest_of_the_idle():
    assert first_idle(Situation((3.0, 1.0, 2.0), (0.0,) * 3, (True, False, True), 7)) == 2
    assert first_idle(Situation((2.0, 2.0), (0.0,) * 2, (True, True), 7)) == 0
    assert first_idle(Situation((3.0, 1.0), (1.0,) * 2, (False, False), 7)) is None


def _desk(dispatch, estimates):
    desk = GlobalSchedulerState(len(estimates[0]), dispatch)
    bundle = Bundle("b", 3, 7.0, 5.0, work=np.arange(3.0))
    desk.waiting.extend(Submission(number, bundle) for number in range(len(estimates)))
    return desk, estimates


def _handed(account, now):
    """Return which bundles a desk hands over where, as sites answer its questions."""
    desk, estimates = account
    chosen = []
    while True:
        asked = desk.question()
        if asked is not None:
            assert desk.question() is None
            # What tasks really compute is nobody's to know.
            assert asked == Announcement(asked.number, 7.0, 5.0, 3)
            for site, answer in reversed(list(enumerate(estimates[asked.number]))):
                assert desk.next(now) is None
                desk.answer(Estimate(asked.number, site, answer))
        each = desk.next(now)
        if each is None:
            return chosen
        chosen.append((each[0].number, each[1]))


def test_a_queue_is_first_in_first_served():
    account = _desk("first_idle", ((5.0, 9.0), (5.0, 9.0), (1.0, 1.0)))
    desk = account[0]
    # The third would be done at once, but waits its turn.
    assert _handed(account, 0.0) == [(0, 0), (1, 1)]
    assert _handed(account, 1.0) == []
    desk.finish(0, 5.0)
    assert _handed(account, 5.0) == [(2, 0)]
    desk.finish(1, 9.0)
    desk.finish(0, 9.0)
    assert (desk.done, desk.handed) == (3, 3)


@pytest.mark.parametrize(("now", "least"), [(7.0, 4.0), (1.0, 7.0)])
@pytest.mark.parametrize(("later", "site"), [(0.1, 0), (-0.1, 1)])
def test_earliest_lets_overdue_bundles_count_nothing(now, least, later, site):
    account = _desk("earliest", ((4.0, 10.0),))
    assert _handed(account, 0.0) == [(0, 0)]
    account[0].waiting.append(Submission(0, Bundle("late", 3, 7.0, 5.0)))
    # At 7 the first is three seconds late: site 0 counts as done, not as done before now.
    assert _handed((account[0], ((4.0, least + later),)), now) == [(0, site)]


def test_estimates_are_what_the_best_assignment_takes():
    site = PeerSite.numbered(np.array([4.0, 1.0]), np.array([1e9, 1e9]))
    bundle = Bundle("b", 6, 4.0, 0.0)
    terms = MarketTerms(alpha=0.5, price_unit=1.0, setup=0.0)
    # Tasks take 1 s and 4 s, and are worth 1, 1/2, 1/4, 1/8, ... and 1/4, 1/8, ...: of the best six
    # four are at the first, which takes 4 s, and two at the other, which takes 8 s.
    times = completion_times(site, bundle, 0.0)
    assert completion_of_best(terms.market(times, 6), times) == 8.0


@pytest.mark.parametrize(
    ("dispatch", "sites"),
    [("first_idle", [1, 2]), ("round_robin", [1, 1, 2, 1]), ("earliest", [1, 1, 2, 1])],
)
def test_a_site_that_cannot_take_a_bundle_does_not_get_it(dispatch, sites):
    # The first site is idle and would be next.
    account = _desk(dispatch, ((math.inf, 4.0, 10.0),) * 4)
    assert _handed(account, 0.0) == list(enumerate(sites))


@given(
    speed=st.lists(st.floats(1e6, 1e8), min_size=1, max_size=5),
    m=st.integers(1, 40),
    n_max=st.none() | st.integers(0, 20),
    alpha=st.floats(1e-3, 0.5),
)
def test_sites_answer_by_what_peers_say(speed, m, n_max, alpha):
    site = PeerSite.numbered(np.array(speed), np.array(speed)[::-1])
    terms = MarketTerms(alpha, n_max=n_max, price_unit=7.0, setup=0.25)
    said = [
        Capacity(Cp, Cm, 0.25, 7.0, 1 - alpha, math.inf if n_max is None else n_max)
        for Cp, Cm in zip(site.speed.tolist(), site.bandwidth.tolist(), strict=True)
    ]
    answer = seconds(said, Announcement(0, 3e8, 2e7, m))
    if n_max is not None and n_max * len(speed) < m:
        assert answer == math.inf
    else:
        times = completion_times(site, Bundle("b", m, 3e8, 2e7), 0.25)
        assert answer == completion_of_best(terms.market(times, m), times)


CAPS = st.lists(st.integers(0, 9), min_size=1, max_size=7)


@given(CAPS, st.data())
def test_round_robin_deals_in_turns(caps, data):
    count = data.draw(st.integers(0, sum(caps)))
    dealt, left, turn = [0] * len(caps), count, 0
    while left:
        peer = turn % len(caps)
        if dealt[peer] < caps[peer]:
            dealt[peer] += 1
            left -= 1
        turn += 1
    assert round_robin(count, np.array(caps)).tolist() == dealt


@given(CAPS, st.data())
def test_one_by_one_fills_in_order(caps, data):
    count = data.draw(st.integers(0, sum(caps)))
    order = data.draw(st.permutations(range(len(caps))))
    dealt, left = [0] * len(caps), count
    for peer in order:
        dealt[peer] = min(caps[peer], left)
        left -= dealt[peer]
    assert one_by_one(count, np.array(caps), np.array(order)).tolist() == dealt


def test_too_small_caps():
    with pytest.raises(InfeasibleError):
        round_robin(4, np.array([1, 2]))


SEEDS = 12
DRAWN = {
    "random market": random_market,
    "rates": lambda seed: random_market(seed, own_rates=True),
    "site": consistent_site,
    "made state": made_state,
    "small market": small_market,
    "local scheduler": party_generator,
    "peer": lambda seed: [party_generator(seed, peer) for peer in range(SEEDS)],
}


@pytest.fixture
def streams(monkeypatch):
    """First numbers of all generators that are made, and what each was made for."""
    made, make = {}, np.random.default_rng

    def noted(entropy):
        # Whoever asks for the same entropy, spelt alike, asks for the same on purpose.
        first = make(entropy).random()
        made.setdefault(first, set()).add(str(entropy))
        return make(entropy)

    monkeypatch.setattr(np.random, "default_rng", noted)
    return made


def test_first_draws_differ(streams):
    for draw in DRAWN.values():
        for seed in range(SEEDS):
            draw(seed)
    shared = [entropies for entropies in streams.values() if len(entropies) > 1]
    assert shared == []
    assert len(streams) == SEEDS * (len(DRAWN) - 1 + SEEDS)
