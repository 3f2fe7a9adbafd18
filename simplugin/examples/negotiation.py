"""A negotiation by messages: the price falls until peers want to buy all tasks."""

from pathlib import Path

import numpy as np

from simplugin.market import Agreement, BundleNegotiation, Call
from simplugin.scenarios import load_scenario, run_scenario


class Buyer:
    """A peer with the value of its first task; further values fall by the factor q."""

    def __init__(self, value, cap, q, generator):
        self.value, self.cap, self.log_q = value, cap, np.log(q)

    def reply(self, message):
        """Return the number of tasks of at least the announced price."""
        count = 1 + np.floor(np.log(message[1] / self.value) / self.log_q)
        return ("count", int(np.clip(count, 0, self.cap)))


def falling(*, first: float = 1e4, step: float = 0.9) -> BundleNegotiation:
    """Return the negotiation; its scheduler knows only the answers to its calls."""

    def scheduler(n_peers, m, generator):
        price, sold = first, np.zeros(n_peers, dtype=np.int64)
        while sold.sum() < m:
            price, before = price * step, sold
            replies = yield Call(tuple(range(n_peers)), ("price", price))
            sold = np.array([count for _, count in replies])
        # The first peers get the remaining tasks among those that the last price adds.
        added = np.minimum(np.cumsum(sold - before), m - np.sum(before))
        return Agreement(before + np.diff(added, prepend=0), price)

    return BundleNegotiation("falling price", scheduler, Buyer)


def test_little_of_the_largest_benefit_is_lost():
    assert 0 <= run_scenario(load_scenario(Path(__file__).with_suffix(".toml"))).row.gap < 0.01
