"""Messages, counted by hand, and the knowledge of each role."""

import contextlib

import numpy as np
import pytest
from heard import heard

from simplugin.market.policies.negotiation import (
    Agreement,
    Call,
    Negotiation,
    negotiate,
    own_generator,
)
from simplugin.market.policies.shipped import NEGOTIATIONS, posted
from simplugin.workloads.random_markets import random_market

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

    echoes = Negotiation("echo", scheduler, lambda *_: Echo())
    agreed = negotiate(echoes, [1.0, 2.0], 3, 3, 0.5, seed=4)
    assert agreed.rounds == 2
    assert agreed.messages == 2 + 2 + 1
    assert agreed.bytes == 2 * 48 + 2 * (40 + 3 * 8) + (40 + 3 * 8)
    assert agreed.price == 5.0
    assert got[0] == (2, 3, own_generator(4).random())
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
    assert (again.rounds, again.messages, again.bytes) == (
        agreed.rounds,
        agreed.messages,
        agreed.bytes,
    )


@pytest.mark.parametrize("name", NEGOTIATIONS)
def test_a_local_scheduler_needs_nothing_but_replies(name):
    # Replies of one run are played back to another scheduler: it calls and agrees as before.
    drawn, log = random_market(8), []
    values, m, *_ = drawn.arguments
    agreed = negotiate(heard(NEGOTIATIONS[name], log), *drawn.arguments, seed=2)
    scheduler = NEGOTIATIONS[name].scheduler(len(values), m, own_generator(2))
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

    agreed = negotiate(posted(first, share=2), [3.0, 1.0], 7, 9, 0.5)
    assert agreed.amounts.tolist() == [5, 2]
    assert (agreed.price, agreed.rounds, agreed.messages) == (3.0, 1, 4)
    assert agreed.bytes == 2 * 40 + 2 * 64
    assert posted(first).name == "first"
    assert posted(first, "mine").name == "mine"
