"""Random markets: ranges, and independence of the order in which they are drawn."""

import numpy as np
import pytest

from simplugin.core.errors import WorkloadError
from simplugin.papers.zheng.random_markets import ALPHA, PEERS, TASKS, random_market

DRAWN = [random_market(seed) for seed in range(1000)]


def test_ranges():
    peers = [each.n_peers for each in DRAWN]
    assert (min(peers), max(peers)) == PEERS
    tasks = [each.m for each in DRAWN]
    assert min(tasks) == TASKS[0]
    assert 1400 < max(tasks) <= TASKS[1]
    assert np.median(tasks) == pytest.approx(np.sqrt(TASKS[0] * TASKS[1]), rel=0.15)
    alpha = np.array([1 - each.q[0] for each in DRAWN])
    assert ALPHA[0] <= alpha.min() < 1.1e-4
    assert 0.45 < alpha.max() <= ALPHA[1]
    assert all(np.ptp(each.q) == 0 for each in DRAWN)
    # A third each without caps, with one for all and with each peer's own.
    free = sum(bool(np.all(each.caps == each.m)) for each in DRAWN)
    own = sum(bool(np.ptp(each.caps) > 0) for each in DRAWN)
    assert 280 < free < 480
    assert 280 < own < 390


def test_rates_of_each_peers_own():
    for seed in range(50):
        market = random_market(seed, own_rates=True)
        assert market.values.tolist() == DRAWN[seed].values.tolist()
        assert len(set(market.q)) == market.n_peers
        assert np.all((1 - market.q >= ALPHA[0] * (1 - 1e-9)) & (1 - market.q <= ALPHA[1]))


def test_fewer_tasks():
    assert max(random_market(seed, most_tasks=30).m for seed in range(100)) <= 30
    with pytest.raises(WorkloadError):
        random_market(0, most_tasks=1)
