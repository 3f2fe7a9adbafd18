"""Claims about section 5: verdicts that follow from printed numbers, and form."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simplugin.claims import Claim
from simplugin.market.section5 import Row
from simplugin.market.section5_claims import PARTS
from simplugin.market.section5_figures import FIGURES
from simplugin.market.section5_printed_claims import spread_needed
from simplugin.market.section5_selection_claims import bounds, cleared, rate_of_price
from simplugin.market.section5_sites import chosen_site, consistent_site


def claims(part):
    """Quick claims of a part."""
    return PARTS[part](True)


@pytest.mark.parametrize("part", PARTS)
def test_parts_give_claims(part):
    found = claims(part)
    assert found or part == "Figure 5, threshold"
    for each in found:
        assert isinstance(each, Claim)
        assert isinstance(each.agrees, bool)
        assert "grees" in each.why
        json.dumps(each.document(), allow_nan=False)


def test_only_proportional_share_has_a_total_time_that_is_impossible():
    # 16:56:31 against 12 times 1:23:46.
    assert [each.agrees for each in claims("Table 1, sums")] == [True, True, False, True]
    assert 12 * 5026 < 60991


def test_lambda_one_rounded_down_is_refused_with_the_reason():
    (claim,) = claims("Figure 5, lambda 1")
    assert not claim.agrees
    assert "996 < 1000" in claim.measured
    assert "m > n N_max" in claim.measured


def test_the_slow_peer_is_idle_and_the_market_price_is_not_the_clearing_one():
    (slow,) = claims("Figure 4, slow peer")
    assert slow.agrees
    assert slow.measured == 0
    (price,) = claims("Figure 4, market price")
    assert not price.agrees
    # By sorting all values.
    site = chosen_site()
    times = 0.005 + 1 / (site.bandwidth / 1e6) + 1000 / (site.speed / 1e6)
    worth = np.sort(((3600 / times)[:, None] * 0.99 ** np.arange(1000)).ravel())
    assert price.measured == pytest.approx(worth[-1000], rel=1e-9)


def test_the_maximum_is_isgbmats():
    (claim,) = claims("Table 1, benefit")
    assert claim.agrees
    assert claim.measured == pytest.approx(claim.optimum, rel=1e-12)


def test_only_the_auction_varies():
    (claim,) = claims("Table 1, runs")
    assert not claim.agrees
    assert "only Double Auction does" in claim.why


@given(
    st.lists(st.tuples(st.floats(1, 100), st.integers(0, 50)), min_size=2, max_size=8).filter(
        lambda peers: sum(amount for _, amount in peers) > 0
    ),
    st.floats(0.01, 1),
)
def test_no_peers_are_more_alike_than_benefit_and_total_time_allow(peers, discount):
    values, amounts = (np.array(each, dtype=float) for each in zip(*peers, strict=True))
    scale = 1000 / amounts.sum()
    benefit = discount * scale * np.sum(amounts * values)
    total = scale * np.sum(amounts * 3600 / values)
    used = values[amounts > 0]
    needed = spread_needed(Row(benefit, total, total), 3600.0)
    assert needed <= used.max() / used.min() * (1 + 1e-6)


def test_two_halves_reach_the_spread_that_is_needed():
    # Kantorovich's inequality is tight for half of the tasks at either end.
    benefit, total = 500 * 1.0 + 500 * 9.0, 3600 * (500 / 1.0 + 500 / 9.0)
    assert spread_needed(Row(benefit, total, total), 3600.0) == pytest.approx(9)


@pytest.mark.parametrize("seed", [0, 5])
def test_bounds_of_the_slow_peer_are_sharp(seed):
    site = consistent_site(seed)
    found = bounds(site)
    assert cleared(site, found.alpha * 0.999).amounts[9] == 0
    assert cleared(site, found.alpha * 1.001).amounts[9] > 0
    for n_max in range(84, 120):
        assert (cleared(site, 0.01, n_max).amounts[9] == 0) == (n_max >= found.n_max)


def test_the_rate_of_a_price_clears_it():
    site = chosen_site()
    rate = rate_of_price(site, 83.3)
    assert cleared(site, rate * 0.999).price > 83.3 > cleared(site, rate * 1.001).price


@pytest.mark.parametrize("part", FIGURES)
def test_figures_are_complete(part):
    for figure in FIGURES[part](True):
        assert figure.x_label
        assert figure.y_label
        for name, (x, y) in figure.series.items():
            assert len(x) == len(y) + figure.bars
            assert np.all(np.isfinite(np.asarray(y, dtype=float)))
            assert len(figure.names.get(name, x)) == len(x)


def test_no_algorithm_is_beyond_the_front():
    (figure,) = FIGURES["table 1, neutral"](True)
    benefit, completion = (np.asarray(each) for each in figure.series["front"])
    for b, c in zip(*figure.series["on the chosen site"], strict=True):
        # Points as early have no less benefit, but for those between two of the front.
        later = completion >= c
        assert not later.any() or benefit[later][0] >= b * (1 - 1e-9)
        assert b <= benefit[-1] * (1 + 1e-9)
