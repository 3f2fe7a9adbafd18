"""Negotiations that reach the maximum, against all values sorted; their bounds on rounds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from market_draws import bundle_markets

from simplugin.errors import InfeasibleError
from simplugin.market.policies.clearing import (
    DemandModel,
    bisection_rounds,
    median_rounds,
    secant_rounds,
    weighted_median,
)
from simplugin.market.policies.negotiation import negotiate
from simplugin.market.policies.shipped import NEGOTIATIONS
from simplugin.optimum.bundle_benefit import largest_benefit
from simplugin.workloads.random_markets import random_market

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
    with pytest.raises(InfeasibleError, match="10 tasks cannot be placed"):
        scheduler.send([peers[i].reply(call.message) for i in call.peers])


def test_secants_take_few_rounds_whatever_there_is():
    rounds = [
        negotiate(NEGOTIATIONS["secant"], *random_market(s).arguments).rounds for s in range(50)
    ]
    assert np.median(rounds) <= 4
    values = np.exp(np.random.default_rng(3).normal(4, 0.5, 1000))
    assert negotiate(NEGOTIATIONS["secant"], values, 10**6, 10**6, 0.999).rounds <= 5


def test_a_model_of_demand_finds_the_price_after_two_answers():
    logs, fall = np.log([50.0, 80.0, 20.0]), 0.03
    quoted = logs - 9 * fall
    model = DemandModel(np.full(3, 10), quoted, np.full(3, 1000))
    assert np.all(np.isnan(model.prices((30.0,), -np.inf, np.inf)))
    price = float(quoted.mean()) - 1.0
    counts = np.floor(1 + (logs - price) / fall).astype(int)
    model.heard(price, counts)
    # One number of tasks leaves what it may be to within one in fifty.
    assert model.falls() == pytest.approx(np.full(3, fall), rel=0.02)
    (found,) = model.prices((60.0,), -np.inf, np.inf)
    wanted = np.maximum(0, np.floor(1 + (logs - found) / fall))
    assert wanted.sum() == pytest.approx(60, abs=2)


@given(
    st.lists(st.tuples(st.integers(-5, 5), st.integers(0, 4)), min_size=1).filter(
        lambda pairs: any(weight for _, weight in pairs)
    )
)
def test_a_weighted_median_has_half_the_weight_on_both_sides(pairs):
    values, weights = map(np.array, zip(*pairs, strict=True))
    middle = weighted_median(values.astype(float), weights)
    assert 2 * weights[values >= middle].sum() >= weights.sum()
    assert 2 * weights[values <= middle].sum() >= weights.sum()
