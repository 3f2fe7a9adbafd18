"""Closed forms of peers' times against a simulation of their own in plain Python."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simplugin.market.execution import execute
from simplugin.market.model import Terms
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


def _fair(bandwidth, uplink, fetching):
    """Return max-min fair rates by raising all alike until a link is full."""
    rates, rising = np.zeros(len(bandwidth)), set(fetching)
    while rising:
        room = min(
            min(bandwidth[peer] - rates[peer] for peer in rising),
            (uplink - rates.sum()) / len(rising),
        )
        for peer in rising:
            rates[peer] += room
        if uplink - rates.sum() <= 1e-12 * uplink:
            break
        rising = {peer for peer in rising if bandwidth[peer] - rates[peer] > 1e-12 * uplink}
    return rates


def _simulated(site, bundle, amounts, setup):
    """Return when peers that share an uplink are done, event by event."""
    phases = [setup, bundle.byte, bundle.flop]
    left, phase, todo = [setup] * site.n_peers, [0] * site.n_peers, list(amounts)
    now, ends = 0.0, np.zeros(site.n_peers)
    while any(todo):
        active = [peer for peer in range(site.n_peers) if todo[peer]]
        fetching = [peer for peer in active if phase[peer] == 1]
        fair = _fair(site.bandwidth, site.uplink, fetching)
        pace = [(1.0, fair[peer], site.speed[peer])[phase[peer]] for peer in range(site.n_peers)]
        step = min(left[peer] / pace[peer] for peer in active)
        now += step
        for peer in active:
            over = left[peer] / pace[peer] <= step * (1 + 1e-12)
            left[peer] -= step * pace[peer]
            if over:
                phase[peer] = (phase[peer] + 1) % 3
                left[peer] = phases[phase[peer]]
                if phase[peer] == 0:
                    todo[peer] -= 1
                    ends[peer] = now
    return ends


@pytest.mark.parametrize(("flop", "byte"), [(1e9, 1e6), (5e8, 5e8), (1e6, 1e9)])
def test_contention_is_that_of_fair_shares(flop, byte):
    speed, bandwidth = np.array([31e6, 12e6, 22e6, 17e6]), np.array([9e6, 40e6, 14e6, 25e6])
    site = PeerSite.numbered(speed, bandwidth, uplink=2e7)
    bundle = Bundle("b", 60, flop, byte)
    deal = execute(site, bundle, Terms(alpha=0.02), "optimum").deals[0]
    expected = _simulated(site, bundle, deal.amounts, 0.005)
    # Awards take some microseconds, in which nobody has a task yet.
    np.testing.assert_allclose(deal.outcome().times, expected, rtol=1e-5)
    if byte > flop:
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
