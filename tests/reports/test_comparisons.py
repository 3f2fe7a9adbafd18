"""Paired comparisons against scipy, enumeration of all signs, and examples computed by hand."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from simplugin.reports.comparisons import corrected, holm, paired, sign_test, signed_rank_test


def keyed(values):
    return dict(enumerate(values))


def two(n=20, seed=2):
    rng = np.random.default_rng(seed)
    base = rng.lognormal(3.0, 1.0, n)
    return base * rng.lognormal(-0.1, 0.2, n), base


def test_pairs_agree_with_scipy():
    values, base = two()
    found = paired(keyed(values), keyed(base))
    steps = np.log(values / base)
    # Ratio of geometric means is the geometric mean of ratios.
    assert found.ratio == pytest.approx(stats.gmean(values) / stats.gmean(base))
    ends = np.exp(stats.ttest_1samp(steps, 0.0).confidence_interval(0.95))
    assert [found.interval.low, found.interval.high] == pytest.approx(ends)
    assert found.wilcoxon == pytest.approx(stats.wilcoxon(steps, method="exact").pvalue)
    wins = int((values < base).sum())
    assert (found.wins, found.ties, found.losses) == (wins, 0, 20 - wins)
    assert found.sign == pytest.approx(stats.binomtest(wins, 20).pvalue)
    assert (found.n, found.alone, found.without, found.missing) == (20, 0, 0, 0)


def test_partners_are_found_by_their_keys():
    values = {"a": 2.0, "b": 4.0, "c": None, "d": math.inf, "alone": 9.0}
    base = {"d": 1.0, "b": 2.0, "a": 1.0, "c": 3.0, "left": 1.0, "over": 1.0}
    found = paired(values, base)
    assert (found.n, found.alone, found.without, found.missing) == (2, 1, 2, 2)
    assert found.ratio == pytest.approx(2.0)
    assert (found.wins, found.losses) == (0, 2)
    assert paired(values, base, sense="max").wins == 2
    back = paired(base, values)
    assert (back.n, back.ratio, back.wins) == (2, pytest.approx(0.5), 2)
    one = paired({1: 3.0}, {1: 2.0})
    assert (one.n, one.interval, one.sign, one.wilcoxon) == (1, None, 1.0, 1.0)
    nothing = paired({"x": 1.0}, {"y": 1.0})
    assert (nothing.n, nothing.ratio, nothing.sign, nothing.wilcoxon) == (0, None, None, None)
    assert nothing.why_no_ratio == "there are no pairs"


def test_the_last_digits_make_no_winner():
    found = paired({1: 1.0, 2: 3.0, 3: 5.0}, {1: 1.0 + 1e-12, 2: 3.0, 3: 5.0 * (1 - 1e-7)})
    assert (found.wins, found.ties, found.losses) == (0, 2, 1)
    assert paired({1: 0.0}, {1: 0.0}).ties == 1
    same = paired(keyed([1.0, 2.0]), keyed([1.0, 2.0]))
    assert (same.ratio, same.sign, same.wilcoxon) == (1.0, 1.0, 1.0)


def test_pairs_at_the_ends_of_the_numbers():
    found = paired({1: 1e-200, 2: 1e250}, {1: 1e200, 2: 1e-200})
    assert found.ratio == pytest.approx(1e25)
    assert (found.interval.low, found.interval.high) == (0.0, math.inf)
    assert (found.wins, found.losses) == (1, 1)
    assert paired({1: -1.7e308}, {1: 1.7e308}).wins == 1


def test_values_without_logarithms_are_compared_by_differences():
    values, base = [0.0, 1.0, 2.0, -1.0], [1.0, 3.0, 5.0, 4.0]
    found = paired(keyed(values), keyed(base))
    assert found.ratio is found.interval is None
    assert found.why_no_ratio == "a value of 2 of 4 pairs is not above 0"
    assert found.wins == 4
    assert found.wilcoxon == pytest.approx(2 / 2**4)


def every_sign(differences):
    """P-value by counting all signs that the ranks could have."""
    kept = np.array([each for each in differences if each])
    ranks = stats.rankdata(np.abs(kept))
    seen = min(ranks[kept > 0].sum(), ranks[kept < 0].sum())
    sums = [np.dot(ranks, signs) for signs in product((0, 1), repeat=len(kept))]
    return min(1.0, 2 * float(np.mean(np.array(sums) <= seen)))


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=9).filter(any))
@settings(max_examples=50)
def test_signed_ranks_with_ties_are_counted_out(differences):
    found = signed_rank_test(np.array(differences, dtype=float))
    assert found == pytest.approx(every_sign(differences))


def test_signed_ranks_of_many_are_normal():
    rng = np.random.default_rng(5)
    for values in (rng.normal(0.1, 1, 300), np.round(rng.normal(0.2, 2, 120))):
        expected = stats.wilcoxon(values, method="asymptotic", correction=False).pvalue
        assert signed_rank_test(values) == pytest.approx(expected)
    # Where counting ends, both are nearly the same.
    values = rng.normal(0.2, 1, 50)
    asymptotic = stats.wilcoxon(values, method="asymptotic").pvalue
    assert signed_rank_test(values) == pytest.approx(asymptotic, abs=0.01)


def test_signs():
    for wins, losses in ((0, 0), (5, 5), (9, 1), (2, 30)):
        expected = stats.binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
        assert sign_test(wins, losses) == pytest.approx(expected)


def test_holm():
    # 0.01 * 4; 0.02 * 3; 0.03 * 2, no less than the one before; 0.04 * 1, likewise.
    assert holm([0.04, 0.01, None, 0.03, 0.02]) == pytest.approx([0.06, 0.04, None, 0.06, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_many_groups_against_one():
    values, base = two(12)
    groups = {"same": keyed(base), "better": keyed(0.5 * base), "other": keyed(values)}
    found = corrected({name: paired(each, keyed(base)) for name, each in groups.items()})
    assert list(found) == ["same", "better", "other"]
    assert found["better"].ratio == pytest.approx(0.5)
    # The least of three p-values, times three.
    assert found["better"].wilcoxon == pytest.approx(2 / 2**12)
    assert found["better"].adjusted == pytest.approx(3 * 2 / 2**12)
    assert found["same"].adjusted == 1.0
