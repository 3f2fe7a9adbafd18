"""Closed forms of peers' times against a simulation of their own in plain Python."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simplugin.market.execution import execute
from simplugin.market.model import MarketTerms
from simplugin.papers.zheng.times import one_by_one, overlapped, shared_transfers
from simplugin.platforms.peers import PeerSite
from simplugin.workloads.bundles import Bundle

SITE = PeerSite.numbered(np.array([4.0, 2.0, 1.0]), np.array([8.0, 2.0, 4.0]), latency=0.5)
BUNDLE = Bundle("b", 8, 4.0, 16.0)
AMOUNTS = np.array([5, 3, 0])
# Of an award: an envelope and two numbers [byte].
AWARD = 56


def test_one_by_one_by_hand():
    # Awards take 0.5 + 56/8 and 0.5 + 56/2; tasks 0.005 + 0.5 + 2 + 1 + 0.5 and so on.
    expected = [7.5 + 5 * 4.005, 28.5 + 3 * 11.005, 0.0]
    assert one_by_one(SITE, BUNDLE, AMOUNTS) == pytest.approx(expected, rel=1e-12)
    longer = [1.0 + 14 + 5 * (0.005 + 2 + 4 + 1), 1.0 + 56 + 3 * (0.005 + 2 + 16 + 2), 0.0]
    found = one_by_one(SITE, BUNDLE, AMOUNTS, transfers=2.0, latencies=2.0)
    assert found == pytest.approx(longer, rel=1e-12)


def _pipeline(fetch, execution, amount):
    """Return when the last of some tasks is computed, each fetched when the last one begins."""
    begun = fetched = done = 0.0
    for _ in range(amount):
        fetched = begun + fetch
        begun = max(fetched, done)
        done = begun + execution
    return done


@given(st.integers(1, 30), st.floats(0.01, 10), st.floats(0.01, 10))
def test_overlapped_is_a_pipeline(amount, transfer, execution):
    site = PeerSite.numbered(np.array([1 / execution]), np.array([1 / transfer]), latency=0.125)
    found = overlapped(site, Bundle("b", amount, 1.0, 1.0), np.array([amount]))
    pipeline = _pipeline(0.005 + 0.125 + transfer, execution, amount)
    assert found[0] == pytest.approx(0.125 + AWARD * transfer + pipeline + 0.125, rel=1e-12)


def test_shared_transfers_by_hand():
    # An uplink of 6: rates 2, 2, 2, until the second and the third have their 16 byte at 8 s; what
    # is left for the first, 32 of 48, goes at its 6, of the 8 of its own link.
    site = PeerSite.numbered(np.ones(3), np.array([8.0, 2.0, 4.0]), uplink=6.0)
    amounts = np.array([3, 1, 1])
    found = shared_transfers(site, Bundle("b", 5, 0.0, 16.0), amounts)
    assert found == pytest.approx([8 + 32 / 6, 8.0, 8.0], rel=1e-12)
    # What the second's link leaves goes to the others: 5, 2, 4 of 11.
    wide = PeerSite.numbered(np.ones(3), np.array([8.0, 2.0, 4.0]), uplink=11.0)
    found = shared_transfers(wide, Bundle("b", 5, 0.0, 16.0), amounts)
    assert found == pytest.approx([4 + (48 - 20) / 8, 8.0, 4.0], rel=1e-12)


def test_transfers_that_share_an_uplink_take_what_simgrid_has():
    speed, bandwidth = np.array([31e6, 12e6, 22e6, 17e6]), np.array([9e6, 40e6, 14e6, 25e6])
    site = PeerSite.numbered(speed, bandwidth, uplink=2e7)
    bundle = Bundle("b", 60, 1e6, 1e9)
    deal = execute(site, bundle, MarketTerms(alpha=0.02), "optimum").deals[0]
    shared = shared_transfers(site, bundle, deal.amounts)
    np.testing.assert_allclose(deal.outcome().times, shared, rtol=0.02)


@settings(max_examples=30)
@given(
    st.lists(st.tuples(st.integers(0, 20), st.floats(1, 50)), min_size=1, max_size=6),
    st.floats(5, 100),
)
def test_an_uplink_is_neither_idle_nor_overfull(peers, capacity):
    amounts = np.array([amount for amount, _ in peers])
    bandwidth = np.array([own for _, own in peers])
    site = PeerSite.numbered(np.ones(len(peers)), bandwidth, uplink=capacity)
    times = shared_transfers(site, Bundle("b", 1, 0.0, 10.0), amounts)
    byte = 10.0 * amounts
    assert np.all(times * (1 + 1e-9) >= byte / np.minimum(bandwidth, capacity))
    assert times.max() * (1 + 1e-9) >= byte.sum() / capacity
    # Who is last has had its fair part all the time.
    part = np.minimum(bandwidth, capacity / np.count_nonzero(amounts) if amounts.any() else 1.0)
    assert np.all(times <= byte / part * (1 + 1e-9))
