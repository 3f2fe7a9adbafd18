"""The paper's algorithms as messages, against the same on all values at once."""

from functools import partial

import numpy as np
import pytest

from simplugin.errors import InfeasibleError, WorkloadError
from simplugin.market.policies.clocks import clock
from simplugin.market.policies.isgbmat import run_isgbmat
from simplugin.market.policies.negotiation import negotiate
from simplugin.market.policies.shipped import NEGOTIATIONS, POLICIES, posted
from simplugin.workloads.random_markets import random_market


@pytest.mark.parametrize("name", ["commodity", "double_auction", "proportional_share", "optimum"])
@pytest.mark.parametrize("seed", range(6))
def test_outcomes_are_those_of_the_policy(name, seed):
    drawn = random_market(seed, most_tasks=300)
    parameters = {"seed": seed} if name == "double_auction" else {}
    amounts, price = POLICIES[name](*drawn.arguments, **parameters)
    agreed = negotiate(NEGOTIATIONS[name], *drawn.arguments, seed=seed)
    assert agreed.amounts.tolist() == amounts.tolist()
    assert agreed.price == pytest.approx(price, rel=1e-9)


@pytest.mark.parametrize("own_rates", [False, True])
@pytest.mark.parametrize("seed", range(15))
def test_isgbmat_takes_as_many_passes_and_sells_the_same(seed, own_rates):
    market = random_market(seed, own_rates=own_rates)
    agreed = negotiate(NEGOTIATIONS["isgbmat"], *market.arguments)
    run = run_isgbmat(*market.arguments)
    assert agreed.amounts.tolist() == run.amounts.tolist()
    assert agreed.price == pytest.approx(run.price, rel=1e-9)
    # One round to begin, one for the tasks that go back.
    assert agreed.rounds == run.passes + 2


def test_a_commodity_market_takes_two_rounds():
    # Values 8 and 2, flat price 5: the first buys its task worth 8 and none worth 4.
    agreed = negotiate(NEGOTIATIONS["commodity"], [8.0, 2.0], 4, 4, 0.5)
    assert agreed.amounts.tolist() == [3, 1]
    assert (agreed.price, agreed.rounds, agreed.messages) == (5.0, 2, 8)


@pytest.mark.parametrize("name", ["isgbmat", "commodity", "double_auction", "bisection"])
def test_questions_that_nobody_asks_are_refused(name):
    peer = NEGOTIATIONS[name].peer(1.0, 2, 0.5, np.random.default_rng(0))
    with pytest.raises(WorkloadError, match="a peer is asked 'value'"):
        peer.reply(("value", 1))


@pytest.mark.parametrize("name", ["step", "start"])
@pytest.mark.parametrize("value", [np.inf, np.nan])
def test_a_clock_moves_by_finite_steps(name, value):
    with pytest.raises(WorkloadError, match=f"{name} .*give finite numbers"):
        clock(**{name: value})


def test_a_clock_that_rests_is_right():
    agreed = negotiate(clock(step=0.5), [7.0, 12.0], 4, 4, 0.5)
    assert agreed.amounts.tolist() == [2, 2]
    assert 3 <= agreed.price <= 3.5


def test_a_clock_may_never_rest():
    # Two tasks of each peer are worth 8 and 4: at 4 both want two, above it one; three are sold.
    # From ln 4 up by 1/3 of the step, and down again.
    start = float(np.log(8.0) - np.log(2.0))
    with pytest.raises(InfeasibleError, match="of round 1 on come again every 2 rounds"):
        negotiate(clock(step=0.1, start=start - 1e-9), [8.0, 8.0], 3, 2, 0.5)
    with pytest.raises(InfeasibleError, match="has not ended after 3 rounds"):
        negotiate(clock(step=0.1, rounds=3), [800.0, 8.0], 3, 3, 0.5)


def test_clocks_cycle_on_some_markets_without_equal_tasks():
    ends = 0
    for seed in range(40):
        try:
            negotiate(clock(), *random_market(seed).arguments)
            ends += 1
        except InfeasibleError:
            pass
    assert 20 <= ends < 40


MARKET = [7.0, 12.0, 5.0], 12, 12, 0.5


@pytest.mark.parametrize(
    ("amounts", "price", "message"),
    [
        ([4, 3, 4], 1.0, "policy own: 11 tasks are placed; place all 12"),
        ([4, 3, 5], float("nan"), "policy own: the price is nan; give a number"),
        ([4, 3, 5], None, "policy own: the price is None"),
    ],
)
def test_what_is_no_assignment_is_refused(amounts, price, message):
    def own(*_):
        return amounts, price

    with pytest.raises(WorkloadError, match=message):
        negotiate(posted(own), *MARKET)


def test_a_policy_is_given_seeds_unless_one_is_bound():
    def own(*_, seed=-1):
        return [4, 3, 5], seed

    def other(*_, **parameters):
        assert not parameters
        return [4, 3, 5], -1

    def prices(how):
        return [negotiate(how, *MARKET, seed=seed).price for seed in range(20)]

    assert len(set(prices(posted(own)))) == 20
    assert prices(posted(own)) == prices(posted(own))
    assert set(prices(posted(own, seed=3))) == set(prices(posted(partial(own, seed=3)))) == {3}
    assert set(prices(posted(other))) == {-1}
