"""Coalitions against games by hand, orders one by one, and what a linear program finds."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naming import raises_naming
from scipy.optimize import linprog

from simplugin.core.errors import InfeasibleError, WorkloadError
from simplugin.market import core, objection, shapley_value, vickrey_clarke_groves
from simplugin.market.coalitions import coalition_worths, least_core
from simplugin.market.mechanisms import uniform
from simplugin.workloads.bundle_markets import BundleMarket


@st.composite
def markets(draw):
    n_peers, m = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    whole = st.integers(0, 20).map(float)
    row = st.lists(whole, min_size=m, max_size=m).map(lambda each: sorted(each, reverse=True))
    table = draw(st.lists(row, min_size=n_peers, max_size=n_peers))
    caps = draw(st.lists(st.integers(0, m), min_size=n_peers, max_size=n_peers))
    return BundleMarket(table, m, caps if sum(caps) >= m else m)


def by_hand(market, members):
    tasks = [market.table[peer, : market.caps[peer]] for peer in members if peer < market.n_peers]
    return float(np.sort(np.concatenate([*tasks, [0.0]]))[::-1][: market.m].sum())


def test_a_majority_of_three():
    # Any two may share 1: the least core gives each a third, and a pair lacks a third.
    found = least_core(np.array([0.0, 0, 0, 1, 0, 1, 1, 1]))
    assert found.epsilon == pytest.approx(1 / 3)
    assert found.shares == pytest.approx([1 / 3] * 3)
    with pytest.raises(WorkloadError):
        least_core(np.zeros(3))


@settings(max_examples=40)
@given(market=markets(), scheduler=st.booleans(), data=st.data())
def test_cores_and_values_of_small_games(market, scheduler, data):
    n_players = market.n_peers + scheduler
    boss = market.n_peers if scheduler else None

    def worth(members):
        return by_hand(market, members) if boss is None or boss in members else 0.0

    coalitions = [
        [player for player in range(n_players) if number >> player & 1]
        for number in range(1 << n_players)
    ]
    worths = np.array([worth(each) for each in coalitions])
    assert coalition_worths(market, scheduler=scheduler) == pytest.approx(worths)
    orders = list(permutations(range(n_players)))
    added = np.zeros(n_players)
    for order in orders:
        for place, player in enumerate(order):
            added[player] += worth(order[: place + 1]) - worth(order[:place])
    shapley = shapley_value(market, scheduler=scheduler).shares
    assert shapley == pytest.approx(added / len(orders))
    found = core(market, scheduler=scheduler)
    assert found.shares.sum() == pytest.approx(worths[-1])
    rows = [[-(player in each) for player in range(n_players)] for each in coalitions[1:-1]]
    if rows:
        program = linprog(
            [0] * n_players + [1],
            [[*row, -1] for row in rows],
            -worths[1:-1],
            [[1] * n_players + [0]],
            worths[-1:],
            bounds=(None, None),
        )
        assert found.epsilon == pytest.approx(program.fun, abs=1e-7)
    additive = worths[-1] == sum(worths[1 << player] for player in range(n_players))
    if not scheduler:
        assert (found.epsilon < 1e-6) == additive
        sums = [shapley[each].sum() for each in coalitions]
        assert np.all(sums <= worths + 1e-9)
    else:
        assert found.epsilon < 1e-6
        assert objection(market, found.shares, scheduler=True) is None
        for deal in [uniform(market), vickrey_clarke_groves(market, unsold="worthless")]:
            profits = np.append(deal.profits(), deal.revenue)
            assert objection(market, profits, scheduler=True) is None
    some = st.lists(st.integers(0, 9), min_size=n_players, max_size=n_players)
    parts = np.array(data.draw(some), dtype=np.float64) + 1e-3
    shares = worths[-1] * parts / parts.sum()
    excess = [worths[k] - shares[each].sum() for k, each in enumerate(coalitions)]
    against = objection(market, shares, scheduler=scheduler)
    assert (against is not None) == (max(excess) > 1e-9 * worths[-1])
    if against is not None:
        assert against.worth == pytest.approx(worth(against.members))
        assert against.worth > against.share == pytest.approx(shares[list(against.members)].sum())


@pytest.mark.parametrize("scheduler", [False, True])
def test_samples_are_within_their_margins(scheduler):
    market = BundleMarket([9.0, 8.0, 7.0, 5.0, 0.0], 12, [12, 12, 4, 12, 12], 0.8)
    exact = shapley_value(market, scheduler=scheduler).shares
    drawn = shapley_value(market, scheduler=scheduler, samples=400, seed=3)
    assert np.all(np.abs(drawn.shares - exact) <= drawn.margins)
    assert drawn.shares.sum() == pytest.approx(exact.sum())
    again = shapley_value(market, scheduler=scheduler, samples=400, seed=3)
    assert again.shares.tolist() == drawn.shares.tolist()
    # A quarter of the margin takes sixteen times the samples.
    few = shapley_value(market, scheduler=scheduler, samples=25)
    assert drawn.margins == pytest.approx(few.margins / 4)


def test_many_peers():
    market = BundleMarket(np.full(20, 3.0), 40, 2, 0.5)
    with raises_naming(InfeasibleError, "20 peers", "samples"):
        shapley_value(market)
    # None takes a task from another.
    assert shapley_value(market, samples=1).shares == pytest.approx(np.full(20, 4.5))
    assert objection(market, [4.5] * 20 + [0.0], scheduler=True) is None
    with raises_naming(WorkloadError, "21", "90.0"):
        objection(market, [4.5] * 20 + [0.5], scheduler=True)
