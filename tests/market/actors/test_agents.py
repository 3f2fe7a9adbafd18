"""Agents know what they were given and what they have heard, and nothing else."""

import numpy as np
import pytest

from simplugin.market.execution import execute
from simplugin.market.model import MarketTerms
from simplugin.market.policies.negotiation import (
    Agreement,
    BundleNegotiation,
    Call,
    party_generator,
)
from simplugin.platforms.peers import PeerSite
from simplugin.workloads.bundles import Bundle

SITE = PeerSite.numbered(np.array([4e9, 1e9, 2e9]), np.array([1e8, 1e8, 1e8]))
BUNDLE = Bundle("b", 12, 2e9, 1e6)


class _Guesser:
    """A peer that says what it was made of, and a number that only it draws."""

    def __init__(self, *own):
        self._own = own

    def reply(self, _):
        """Tell all."""
        value, cap, q, generator = self._own
        return ("told", value, cap, q, generator.random())


def _all_to_the_luckiest(n_peers, m, generator):
    """Give all tasks to the peer with the largest draw; the price tells what was told."""
    assert (n_peers, m, type(generator)) == (3, 12, np.random.Generator)
    told = yield Call((0, 1, 2), ("tell",))
    assert [message[1:4] for message in told] == [
        (pytest.approx(3600 / (0.005 + 2e9 / speed + 0.01)), 12, pytest.approx(0.99))
        for speed in (4e9, 1e9, 2e9)
    ]
    draws = [message[4] for message in told]
    amounts = np.zeros(3, dtype=np.int64)
    amounts[int(np.argmax(draws))] = 12
    return Agreement(amounts, max(draws))


@pytest.mark.parametrize("seed", range(2))
def test_sides_are_made_of_their_own(seed):
    negotiation = BundleNegotiation("luck", _all_to_the_luckiest, _Guesser)
    deal = execute(SITE, BUNDLE, MarketTerms(), negotiation, seed=seed).deals[0]
    draws = [party_generator(seed, peer).random() for peer in range(3)]
    assert deal.price == max(draws)
    assert deal.amounts[int(np.argmax(draws))] == 12


def test_one_way_calls_are_not_answered():
    def scheduler(*_):
        heard = yield Call((1,), ("hush", 1.0), answers=False)
        assert heard == []
        (reply,) = yield Call((1,), ("tell",))
        return Agreement(np.array([0, 12, 0]), reply[4])

    deal = execute(
        SITE, BUNDLE, MarketTerms(), BundleNegotiation("quiet", scheduler, _Guesser)
    ).deals[0]
    # The peer has drawn for the first call too.
    assert deal.price == party_generator(0, 1).random(2)[1]
    assert (deal.rounds, deal.messages, deal.bytes) == (2, 3, 48 + 40 + 72)
