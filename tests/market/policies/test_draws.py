"""No two things that are drawn share a stream of random numbers."""

import numpy as np
import pytest

from simplugin.market.policies.negotiation import own_generator
from simplugin.papers.zheng.theorems import made_state, small_market
from simplugin.platforms.twelve_peers import consistent_site
from simplugin.workloads.random_markets import random_market

SEEDS = 12
DRAWN = {
    "random market": random_market,
    "rates": lambda seed: random_market(seed, own_rates=True),
    "site": consistent_site,
    "made state": made_state,
    "small market": small_market,
    "local scheduler": own_generator,
    "peer": lambda seed: [own_generator(seed, peer) for peer in range(SEEDS)],
}


@pytest.fixture
def streams(monkeypatch):
    """First numbers of all generators that are made, and what each was made for."""
    made, make = {}, np.random.default_rng

    def noted(entropy):
        # Whoever asks for the same entropy, spelt alike, asks for the same on purpose.
        first = make(entropy).random()
        made.setdefault(first, set()).add(str(entropy))
        return make(entropy)

    monkeypatch.setattr(np.random, "default_rng", noted)
    return made


def test_first_draws_differ(streams):
    for draw in DRAWN.values():
        for seed in range(SEEDS):
            draw(seed)
    shared = [entropies for entropies in streams.values() if len(entropies) > 1]
    assert shared == []
    assert len(streams) == SEEDS * (len(DRAWN) - 1 + SEEDS)
