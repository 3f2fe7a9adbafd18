import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simplugin.market.policies.auctions import (
    double_auction,
    double_auction_dearest,
    double_auction_mean,
    double_auction_rounds,
)
from simplugin.workloads.random_markets import random_market


def traded(values, m, caps, q, seed):
    """The continuous auction order by order, in plain prices, with a book that is a list."""

    def draws(stream):
        generator = np.random.default_rng([int.from_bytes(b"nego"), seed, stream])
        while True:
            yield 1 - generator.random()

    scheduler, *peers = [draws(stream) for stream in range(1, len(values) + 2)]
    amounts, book, prices = [0] * len(values), [], []
    while sum(amounts) < m:
        waiting = [i for i in range(len(values)) if amounts[i] < caps[i]]
        worth = {i: values[i] * q ** amounts[i] for i in waiting}
        who = next(scheduler)
        if who > 0.5:
            book.append(("ask", next(scheduler) * max(worth.values()), None))
        else:
            peer = waiting[min(int(2 * who * len(waiting)), len(waiting) - 1)]
            book.append(("bid", next(peers[peer]) * worth[peer], peer))
        bids = [order for order in book if order[0] == "bid"]
        asks = [order for order in book if order[0] == "ask"]
        if bids and asks:
            bid, ask = max(bids, key=lambda each: each[1]), min(asks, key=lambda each: each[1])
            if bid[1] >= ask[1]:
                amounts[bid[2]] += 1
                prices.append((ask if book[-1] is bid else bid)[1])
                book = []
    return amounts, float(np.mean(prices))


@settings(max_examples=30)
@given(st.integers(0, 10**6))
def test_continuous_order_by_order(seed):
    drawn = random_market(seed, most_tasks=120)
    amounts, price = double_auction(*drawn.arguments, seed=seed)
    expected, mean = traded(
        drawn.values.tolist(), drawn.m, drawn.caps.tolist(), float(drawn.q[0]), seed
    )
    assert amounts.tolist() == expected
    assert price == pytest.approx(mean, rel=1e-9)


@pytest.mark.parametrize("auction", [double_auction, double_auction_rounds])
def test_random_auctions_repeat_with_their_seed(auction):
    drawn = random_market(5)
    one, two = (auction(*drawn.arguments, seed=1) for _ in range(2))
    np.testing.assert_array_equal(one[0], two[0])
    assert one[1] == two[1]
    assert np.any(auction(*drawn.arguments, seed=2)[0] != one[0])


def test_rounds_in_closed_form():
    # Bids u_1 and v u_2 and an ask, all uniform: a round sells with the chance max(u_1, v u_2), and
    # the integrals of the winner's bid over its wins are 1/2 - v^2/6 and v^2/3. For v = 1/2, peer 1
    # gets 2/13 of the tasks.
    amounts, price = double_auction_rounds((1.0, 0.5), 10_000, 10_000, 1 - 1e-12, seed=0)
    assert amounts[1] / 10_000 == pytest.approx(2 / 13, abs=0.015)
    # A single peer: E[bid | bid >= ask] = 2/3 and E[ask | bid >= ask] = 1/3.
    assert double_auction_rounds((6.0,), 10_000, 10_000, 1 - 1e-12)[1] == pytest.approx(3, abs=0.08)
    assert 1 / 3 < price < 2 / 3


def test_values_that_underflow_are_traded():
    for auction in (double_auction, double_auction_rounds):
        amounts, price = auction((1.0, 2.0), 900, 500, 0.05)
        assert amounts.sum() == 900
        assert price > 0


@settings(max_examples=30)
@given(st.integers(0, 10**6))
def test_mean_bids_take_the_largest_mean_prices(seed):
    drawn = random_market(seed, most_tasks=60)
    means = []
    for peer, (value, cap) in enumerate(zip(drawn.values, drawn.caps, strict=True)):
        sums = np.cumsum(value * drawn.q[0] ** np.arange(cap))
        means += [(-total / (k + 1), peer) for k, total in enumerate(sums)]
    chosen = sorted(means)[: drawn.m]
    amounts, price = double_auction_mean(*drawn.arguments)
    counts = np.bincount([peer for _, peer in chosen], minlength=len(drawn.values))
    assert price == pytest.approx(-chosen[-1][0], rel=1e-9)
    np.testing.assert_array_equal(amounts, counts)


def test_dearest_first():
    amounts, price = double_auction_dearest((5.0, 9.0, 2.0, 9.0), 10, 4, 0.5)
    assert amounts.tolist() == [2, 4, 0, 4]
    assert price == 5.0
