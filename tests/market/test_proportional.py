from fractions import Fraction
from math import floor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simplugin.market.proportional import proportional_share
from simplugin.workloads.bundle_markets import BundleMarket


def largest_remainder(values, m, caps):
    """The same in fractions: water filling, then the largest remainders."""
    fixed = set()
    while True:
        rest = m - sum(caps[i] for i in fixed)
        free = sum(values[i] for i in range(len(values)) if i not in fixed)
        shares = [
            Fraction(caps[i]) if i in fixed else Fraction(values[i] * rest, free)
            for i in range(len(values))
        ]
        beyond = {i for i in range(len(values)) if i not in fixed and shares[i] >= caps[i]}
        if not beyond:
            break
        fixed |= beyond
    amounts = [floor(share) for share in shares]
    ranked = sorted(range(len(values)), key=lambda i: (amounts[i] - shares[i], i))
    for i in ranked[: m - sum(amounts)]:
        amounts[i] += 1
    return amounts


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 60), st.integers(0, 80)), min_size=1, max_size=8), st.data()
)
def test_against_fractions(peers, data):
    values, caps = zip(*peers, strict=True)
    m = data.draw(st.integers(1, max(sum(caps), 1)))
    if sum(caps) < m:
        caps = (m,) * len(caps)
    amounts, price = proportional_share(np.array(values, dtype=float), m, caps, 0.9)
    assert amounts.tolist() == largest_remainder(values, m, [min(cap, m) for cap in caps])
    market = BundleMarket(values, m, caps, 0.9)
    assert price * m == pytest.approx(market.benefit(amounts))


def test_peers_finish_together():
    # Tasks take 1/4, 1/2 and 1 h: 400, 200 and 100 of them take 100 h each.
    amounts, _ = proportional_share((4.0, 2.0, 1.0), 700, 700, 0.99)
    assert amounts.tolist() == [400, 200, 100]


def test_ties_go_to_the_lowest_number():
    amounts, _ = proportional_share((0.1, 0.1, 0.1), 8, 8, 0.99)
    assert amounts.tolist() == [3, 3, 2]


def test_shares_of_next_to_nothing():
    amounts, price = proportional_share((5e-324, 1e300), 4, (4, 3), 0.5)
    assert amounts.tolist() == [1, 3]
    assert price == pytest.approx(1.75e300 / 4)
    amounts, _ = proportional_share((5e-324, 1e300), 4, 4, 0.5)
    assert amounts.tolist() == [0, 4]


def test_many():
    amounts, _ = proportional_share(np.linspace(1, 2, 10_000), 10**7, 1001, 0.99)
    assert amounts.sum() == 10**7
    assert amounts.max() <= 1001
