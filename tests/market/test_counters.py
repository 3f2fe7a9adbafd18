"""Bundles one after another: nested optima, pieces that pay more, and fading in between."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simplugin.errors import InfeasibleError, WorkloadError
from simplugin.market.counters import best_in_hindsight, compositions, cut, replay, serve
from simplugin.optimum.bundle_benefit import largest_benefit

VALUES = st.lists(st.floats(0.1, 10), min_size=1, max_size=5)
COUNTS = st.lists(st.integers(1, 40), min_size=1, max_size=6)
RATES = st.floats(0.5, 0.999)


def greedy(values: list[float], q: float, sold: list[float], m: int) -> tuple[list[int], float]:
    """Sell one task after another to whom it is worth most."""
    amounts, benefit = [0] * len(values), 0.0
    for _ in range(m):
        worth = [v * q ** (a + k) for v, a, k in zip(values, sold, amounts, strict=True)]
        at = worth.index(max(worth))
        benefit += worth[at]
        amounts[at] += 1
    return amounts, benefit


@given(values=VALUES, counts=COUNTS, q=RATES)
def test_kept_counters_reach_the_optimum_of_all_tasks(
    values: list[float], counts: list[int], q: float
) -> None:
    served = serve(values, counts, None, q, "kept")
    best = largest_benefit(values, sum(counts), sum(counts), q)
    assert served.amounts.sum(axis=1).tolist() == counts
    assert served.benefit == pytest.approx(best.benefit, rel=1e-9)
    # Amounts are those of the optimum where no two values are alike.
    if best.next_price < best.price * (1 - 1e-9):
        assert served.amounts.sum(axis=0).tolist() == best.amounts.tolist()


@pytest.mark.parametrize("pieces", [1, 2, 5, 37, 1000])
def test_a_thousand_tasks_in_any_number_of_pieces(pieces: int) -> None:
    values = np.random.default_rng(4).uniform(20, 120, 12)
    served = serve(values, cut(1000, pieces), None, 0.99, "kept")
    best = largest_benefit(values, 1000, 1000, 0.99)
    assert served.amounts.sum(axis=0).tolist() == best.amounts.tolist()
    assert served.benefit == pytest.approx(best.benefit, rel=1e-12)


@given(values=VALUES, m=st.integers(2, 60), q=RATES, data=st.data())
def test_reset_counters_pay_for_more_pieces(
    values: list[float], m: int, q: float, data: st.DataObject
) -> None:
    pieces = data.draw(st.integers(1, m - 1))
    few, more = (serve(values, cut(m, each), None, q).benefit for each in (pieces, pieces + 1))
    assert more >= few * (1 - 1e-12)
    # One task a bundle: every task is the first of the best peer.
    assert serve(values, cut(m, m), None, q).benefit == pytest.approx(m * max(values))


@settings(max_examples=60)
@given(values=VALUES, counts=COUNTS, q=RATES, tau=st.floats(0.1, 100), data=st.data())
def test_fading_counters_one_task_after_another(
    values: list[float], counts: list[int], q: float, tau: float, data: st.DataObject
) -> None:
    steps = data.draw(st.lists(st.floats(0, 50), min_size=len(counts), max_size=len(counts)))
    dates = np.cumsum(steps)
    served = serve(values, counts, None, q, tau, dates)
    sold, last = [0.0] * len(values), dates[0]
    for number, m in enumerate(counts):
        sold = [a * np.exp((last - dates[number]) / tau) for a in sold]
        assert served.sold[number] == pytest.approx(sold)
        _, benefit = greedy(values, q, sold, m)
        assert served.benefits[number] == pytest.approx(benefit, rel=1e-9)
        sold = [a + b for a, b in zip(sold, served.amounts[number].tolist(), strict=True)]
        last = dates[number]
    assert served.benefit <= serve(values, counts, None, q).benefit * (1 + 1e-12)


def test_ends_of_fading() -> None:
    values, counts, dates = [3.0, 2, 1], [20, 30, 10], [0.0, 5, 9]
    for tau, counters in ((1e-3, "reset"), (1e12, "kept")):
        fading = serve(values, counts, None, 0.95, tau, dates)
        plain = serve(values, counts, None, 0.95, counters)
        assert fading.amounts.tolist() == plain.amounts.tolist()
        assert fading.benefit == pytest.approx(plain.benefit)


def test_values_of_each_bundle_and_caps() -> None:
    served = serve([[2, 1], [1, 2]], [3, 3], 2, 0.9)
    assert served.amounts.tolist() == [[2, 1], [1, 2]]
    assert served.benefits == pytest.approx([2 * 1.9 + 1] * 2)
    with pytest.raises(InfeasibleError, match="5 tasks cannot be placed"):
        serve([2, 1], [3, 5], 2, 0.9)


def test_ways_to_deal() -> None:
    expected = [each for each in product(range(5), repeat=3) if sum(each) == 4]
    assert sorted(map(tuple, compositions(4, 3).tolist())) == expected
    assert compositions(3, 1).tolist() == [[3]]


def brute(values: list[float], counts: list[int], q: float, keep: list[float]) -> float:
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
def test_the_best_in_hindsight(
    values: list[float], counts: list[int], q: float, keep: float
) -> None:
    dates = -np.log(keep) * np.arange(len(counts))
    best = best_in_hindsight(values, counts, q, 1.0, dates)
    assert best.amounts.sum(axis=1).tolist() == counts
    assert best.benefit == pytest.approx(brute(values, counts, q, [keep] * len(counts)))
    online = serve(values, counts, None, q, 1.0, dates)
    assert online.benefit <= best.benefit * (1 + 1e-12)
    again = replay(values, online.amounts, q, 1.0, dates)
    assert again.benefit == pytest.approx(online.benefit)
    for counters in ("kept", "reset"):
        ends = best_in_hindsight(values, counts, q, counters)
        assert ends.benefit == pytest.approx(serve(values, counts, None, q, counters).benefit)


def test_greed_loses_where_counters_fade() -> None:
    many = [
        (
            serve(v, [2, 3, 4], None, 0.7, 1.0, [0, 1, 1.5]).benefit,
            best_in_hindsight(v, [2, 3, 4], 0.7, 1.0, [0, 1, 1.5]).benefit,
        )
        for v in np.random.default_rng(2).uniform(1, 3, (20, 3))
    ]
    assert any(greed < best * (1 - 1e-6) for greed, best in many)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 2], [], None, 0.5), "0 bundles"),
        (([[1, 2]], [1, 2], None, 0.5), "2 bundles and values of 1"),
        (([1, 2], [1, 2], None, 0.5, 3.0), "dates are not given"),
        (([1, 2], [1, 2], None, 0.5, 3.0, [0]), "one a bundle"),
        (([1, 2], [1, 2], None, 0.5, 3.0, [1, 0]), "one a bundle"),
        (([1, 2], [1, 2], None, 0.5, 3.0, [0, np.nan]), "one a bundle"),
        (([1, 2], [1, 2], None, 0.5, "lost"), "lost"),
    ],
)
def test_refused(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(WorkloadError, match=message):
        serve(*arguments)


def test_what_is_too_large_for_hindsight() -> None:
    with pytest.raises(WorkloadError, match="histories"):
        best_in_hindsight([1] * 8, [30, 30], 0.9, "kept")
    for pieces in (0, 4):
        with pytest.raises(WorkloadError, match="pieces"):
            cut(3, pieces)
