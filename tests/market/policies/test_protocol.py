"""Messages, counted by hand, the knowledge of each role; negotiations that reach the maximum."""

import contextlib

import numpy as np
import pytest
from heard import heard
from hypothesis import given, settings
from hypothesis import strategies as st
from market_draws import bundle_markets
from naming import raises_naming

from simplugin.core.errors import InfeasibleError
from simplugin.market.policies.negotiation import (
    Agreement,
    BundleNegotiation,
    Call,
    negotiate,
    party_generator,
)
from simplugin.market.policies.shipped import NEGOTIATIONS, as_negotiation
from simplugin.optimum.bundle_benefit import largest_benefit
from simplugin.papers.zheng.negotiations import bisection_rounds, median_rounds, secant_rounds
from simplugin.papers.zheng.random_markets import random_market

# Replies in which all numbers are counts of tasks.
COUNTS = {"cap", "count", "counts"}


def test_messages_and_bytes_are_counted():
    class Echo:
        def reply(self, message):
            return ("three", *message[1:], 1, 2)

    got = []

    def scheduler(n_peers, m, generator):
        got.append((n_peers, m, generator.random()))
        got.append((yield Call((1, 0), ("ask", 7))))
        got.append((yield Call((0,), ("tell", 1, 2, 3), answers=False)))
        return Agreement(np.array([m, 0]), 5.0)

    echoes = BundleNegotiation("echo", scheduler, lambda *_: Echo())
    agreed = negotiate(echoes, [1.0, 2.0], 3, 3, 0.5, seed=4)
    assert agreed.rounds == 2
    assert agreed.messages == 2 + 2 + 1
    assert agreed.bytes == 2 * 48 + 2 * (40 + 3 * 8) + (40 + 3 * 8)
    assert agreed.price == 5.0
    assert got[0] == (2, 3, party_generator(4).random())
    assert got[1:] == [[("three", 7, 1, 2)] * 2, []]


@pytest.mark.parametrize("name", NEGOTIATIONS)
def test_counters_agree_with_what_peers_hear(name):
    drawn, log = random_market(11), []
    agreed = negotiate(heard(NEGOTIATIONS[name], log), *drawn.arguments, seed=1)
    assert agreed.messages == 2 * len(log)
    sent = [each for _, message, answer in log for each in (message, answer)]
    assert agreed.bytes == sum(40 + 8 * (len(message) - 1) for message in sent)
    # A message is a kind and numbers.
    for kind, *numbers in sent:
        assert isinstance(kind, str)
        assert all(float(number) == number for number in numbers)
    again = negotiate(NEGOTIATIONS[name], *drawn.arguments, seed=1)
    assert again.amounts.tolist() == agreed.amounts.tolist()
    costs = [(each.rounds, each.messages, each.bytes) for each in (again, agreed)]
    assert costs[0] == costs[1]


@pytest.mark.parametrize("name", NEGOTIATIONS)
def test_a_local_scheduler_needs_nothing_but_replies(name):
    # Replies of one run are played back to another scheduler: it calls and agrees as before.
    drawn, log = random_market(8), []
    values, m, *_ = drawn.arguments
    agreed = negotiate(heard(NEGOTIATIONS[name], log), *drawn.arguments, seed=2)
    scheduler = NEGOTIATIONS[name].scheduler(len(values), m, party_generator(2))
    played, ended = iter(log), []

    def driven():
        ended.append((yield from scheduler))

    calls, replies = driven(), None
    with contextlib.suppress(StopIteration):
        while True:
            call = calls.send(replies)
            replies = []
            for peer in call.peers:
                number, message, answer = next(played)
                assert (number, message) == (peer, call.message)
                replies.append(answer)
    assert ended[0].amounts.tolist() == agreed.amounts.tolist()
    assert next(played, None) is None


@pytest.mark.parametrize("seed", range(5))
def test_in_bisection_peers_tell_counts_until_tasks_are_in_doubt(seed):
    drawn, log = random_market(seed), []
    negotiate(heard(NEGOTIATIONS["bisection"], log), *drawn.arguments)
    kinds = [answer[0] for _, _, answer in log]
    told = [answer for _, _, answer in log if answer[0] == "worths"]
    first = kinds.index("worths") if told else len(kinds)
    assert set(kinds[:first]) <= COUNTS
    assert set(kinds[first:]) <= {"worths"}
    assert sum(len(answer) - 1 for answer in told) <= 2 * len(drawn.values)


def test_posted_prices_take_one_round_and_any_policy():
    def first(values, m, caps, q, share=1):
        assert q.shape == values.shape
        assert caps.dtype == np.int64
        return np.array([m - share, share]), float(values[0])

    agreed = negotiate(as_negotiation(first, parameters={"share": 2}), [3.0, 1.0], 7, 9, 0.5)
    assert agreed.amounts.tolist() == [5, 2]
    assert (agreed.price, agreed.rounds, agreed.messages) == (3.0, 1, 4)
    assert agreed.bytes == 2 * 40 + 2 * 64
    assert as_negotiation(first).name == "first"
    assert as_negotiation(first, "mine").name == "mine"


CLEARING = ("bisection", "median", "secant")
EXACT = ("optimum", "isgbmat", *CLEARING)


@settings(max_examples=60)
@given(market=bundle_markets(7, 60))
def test_the_most_valuable_tasks_are_sold_for_what_the_last_of_them_is_worth(market):
    best = largest_benefit(*market.arguments)
    for name in EXACT:
        agreed = negotiate(NEGOTIATIONS[name], *market.arguments)
        benefit = market.benefit(market.check(agreed.amounts))
        assert benefit == pytest.approx(best.benefit, rel=1e-9)
        assert agreed.price == pytest.approx(best.price, rel=1e-12, abs=0), name
        if name != "isgbmat":  # which takes tasks for equal that differ by less than 1e-12
            assert (agreed.price, agreed.amounts.tolist()) == (best.price, best.amounts.tolist())


@pytest.mark.parametrize("name", CLEARING)
def test_values_of_any_size_and_tiny_discounts_need_no_more_room_than_logarithms(name):
    values = np.array([1e-300, 3e-300, 2e-300])
    agreed = negotiate(NEGOTIATIONS[name], values, 30, 30, 1 - 1e-12)
    assert agreed.amounts.tolist() == [0, 30, 0]
    # Values underflow here, their logarithms do not.
    agreed = negotiate(NEGOTIATIONS[name], [1.0, 2.0], 9000, 9000, 0.5)
    assert agreed.amounts.tolist() == [4500, 4500] or agreed.amounts.tolist() == [4499, 4501]


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), own_rates=st.booleans())
def test_rounds_stay_below_their_bounds_and_below_25(seed, own_rates):
    market = random_market(seed, own_rates=own_rates)
    total, n_peers = int(market.caps.sum()), market.n_peers
    bounds = {
        "bisection": bisection_rounds(market, largest_benefit(*market.arguments).price),
        "median": median_rounds(total, n_peers),
        "secant": secant_rounds(total, n_peers),
    }
    for name, bound in bounds.items():
        rounds = negotiate(NEGOTIATIONS[name], *market.arguments).rounds
        assert rounds <= min(bound, 25), name


@pytest.mark.parametrize("name", ["isgbmat", "commodity", "double_auction", *CLEARING])
def test_a_local_scheduler_itself_refuses_what_does_not_fit(name):
    shipped = NEGOTIATIONS[name]
    generator = np.random.default_rng(0)
    scheduler = shipped.scheduler(2, 10, generator)
    peers = [shipped.peer(1.0, 4, 0.5, generator), shipped.peer(2.0, 5, 0.5, generator)]
    call = next(scheduler)
    with raises_naming(InfeasibleError, "10"):
        scheduler.send([peers[i].reply(call.message) for i in call.peers])


def test_secants_take_few_rounds_whatever_there_is():
    rounds = [
        negotiate(NEGOTIATIONS["secant"], *random_market(s).arguments).rounds for s in range(50)
    ]
    assert np.median(rounds) <= 4
    values = np.exp(np.random.default_rng(3).normal(4, 0.5, 1000))
    assert negotiate(NEGOTIATIONS["secant"], values, 10**6, 10**6, 0.999).rounds <= 5
