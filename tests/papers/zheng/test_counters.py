"""Bundles one after another: nested optima, and fading in between."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simplugin.optimum.bundle_benefit import largest_benefit
from simplugin.papers.zheng.arrivals import best_in_hindsight, kept_parts, serve

VALUES = st.lists(st.floats(0.1, 10), min_size=1, max_size=5)
COUNTS = st.lists(st.integers(1, 40), min_size=1, max_size=6)
RATES = st.floats(0.5, 0.999)


def greedy(values, q, sold, m):
    """Return the benefit of selling each task in turn to the peer that values it most."""
    amounts, benefit = [0] * len(values), 0.0
    for _ in range(m):
        worth = [v * q ** (a + k) for v, a, k in zip(values, sold, amounts, strict=True)]
        at = worth.index(max(worth))
        benefit += worth[at]
        amounts[at] += 1
    return benefit


@given(values=VALUES, counts=COUNTS, q=RATES)
def test_kept_counters_reach_the_optimum_of_all_tasks(values, counts, q):
    served = serve([values] * len(counts), counts, q, np.ones(len(counts)))
    best = largest_benefit(values, sum(counts), sum(counts), q)
    assert [each.amounts.sum() for _, each in served] == counts
    assert sum(each.benefit for _, each in served) == pytest.approx(best.benefit, rel=1e-9)
    # Amounts are those of the optimum where no two values are alike.
    if best.next_price < best.price * (1 - 1e-9):
        assert sum(each.amounts for _, each in served).tolist() == best.amounts.tolist()


@settings(max_examples=40)
@given(values=VALUES, counts=COUNTS, q=RATES, tau=st.floats(0.1, 100), data=st.data())
def test_fading_counters_one_task_after_another(values, counts, q, tau, data):
    steps = data.draw(st.lists(st.floats(0, 50), min_size=len(counts), max_size=len(counts)))
    dates = np.cumsum(steps)
    served = serve([values] * len(counts), counts, q, kept_parts(tau, dates))
    sold, last = [0.0] * len(values), dates[0]
    for number, (m, (before, best)) in enumerate(zip(counts, served, strict=True)):
        sold = [a * np.exp((last - dates[number]) / tau) for a in sold]
        assert before == pytest.approx(sold)
        assert best.benefit == pytest.approx(greedy(values, q, sold, m), rel=1e-9)
        sold = [a + b for a, b in zip(sold, best.amounts.tolist(), strict=True)]
        last = dates[number]


def test_counters_are_kept_or_reset():
    assert kept_parts("kept", np.arange(3.0)).tolist() == [1, 1, 1]
    assert kept_parts("reset", np.arange(3.0))[1:].tolist() == [0, 0]


def brute(values, counts, q, keep):
    """Best benefit of all histories, one at a time."""
    ways = [[w for w in product(range(m + 1), repeat=len(values)) if sum(w) == m] for m in counts]
    best = 0.0
    for history in product(*ways):
        sold, total = [0.0] * len(values), 0.0
        for way, rate in zip(history, keep, strict=True):
            sold = [a * rate for a in sold]
            for at, many in enumerate(way):
                total += sum(values[at] * q ** (sold[at] + k) for k in range(many))
                sold[at] += many
        best = max(best, total)
    return best


@settings(max_examples=30)
@given(
    values=st.lists(st.floats(0.5, 4), min_size=2, max_size=3),
    counts=st.lists(st.integers(1, 4), min_size=1, max_size=3),
    q=st.floats(0.3, 0.95),
    keep=st.floats(0.05, 0.95),
)
def test_the_best_in_hindsight(values, counts, q, keep):
    for part in (keep, 1.0, 0.0):
        parts = np.full(len(counts), part)
        best = best_in_hindsight(np.array(values), counts, q, parts)
        assert best == pytest.approx(brute(values, counts, q, parts.tolist()))
        online = sum(each.benefit for _, each in serve([values] * len(counts), counts, q, parts))
        if part == keep:
            assert online <= best * (1 + 1e-12)
        else:
            assert online == pytest.approx(best)
