import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simplugin.errors import InfeasibleError, WorkloadError
from simplugin.optimum import bundle_benefit
from simplugin.optimum.bundle_benefit import (
    identical_benefit,
    largest_benefit,
    mixed_benefit,
    scaled_benefit,
)


def best_of_all(values, caps, q):
    """The largest benefit over all ways to give tasks to peers, each peer's best task first."""
    n, m = values.shape
    best = 0.0
    for who in itertools.product(range(n), repeat=m):
        given_ = [np.sort(values[i, np.array(who) == i])[::-1] for i in range(n)]
        if all(len(row) <= cap for row, cap in zip(given_, caps, strict=True)):
            best = max(
                best,
                sum(
                    float(np.sum(row * q[i] ** np.arange(len(row)))) for i, row in enumerate(given_)
                ),
            )
    return best


def drawn(seed, n, m):
    generator = np.random.default_rng(seed)
    caps = generator.integers(0, m + 1, n)
    caps[0] += max(0, m - caps.sum())
    return generator, caps, generator.uniform(0.3, 0.99, n)


def is_consistent(found, values, caps, q):
    """Whether places are the first ones of each peer, and the benefit is theirs."""
    n, m = values.shape
    amounts = np.bincount(found.peers, minlength=n)
    worth = values[found.peers, np.arange(m)] * q[found.peers] ** (found.places - 1.0)
    return (
        np.all(amounts <= caps)
        and all(
            sorted(found.places[found.peers == i]) == list(range(1, amounts[i] + 1))
            for i in range(n)
        )
        and worth.sum() == pytest.approx(found.benefit)
    )


@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(1, 6))
@settings(max_examples=60)
def test_tasks_that_only_compute_against_all_assignments(seed, n, m):
    generator, caps, q = drawn(seed, n, m)
    speeds, sizes = np.exp(generator.normal(0, 1, n)), np.exp(generator.normal(0, 1, m))
    found = scaled_benefit(speeds, sizes, caps, q)
    values = speeds[:, None] / sizes
    assert found.benefit == pytest.approx(best_of_all(values, caps, q), rel=1e-12)
    assert is_consistent(found, values, caps, q)


@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(1, 6))
@settings(max_examples=60)
def test_any_values_against_all_assignments(seed, n, m):
    generator, caps, q = drawn(seed, n, m)
    values = np.exp(generator.normal(0, 1, (n, m)))
    found = mixed_benefit(values, caps, q)
    assert found.benefit == pytest.approx(best_of_all(values, caps, q), rel=1e-12)
    assert is_consistent(found, values, caps, q)


@pytest.mark.parametrize("seed", range(5))
def test_both_methods_agree_on_large_bundles(seed):
    generator = np.random.default_rng(seed)
    speeds, sizes = np.exp(generator.normal(0, 0.5, 8)), np.exp(generator.normal(0, 0.8, 120))
    paired = mixed_benefit(speeds[:, None] / sizes, 40, 0.97)
    sorted_ = scaled_benefit(speeds, sizes, 40, 0.97)
    assert paired.benefit == pytest.approx(sorted_.benefit, rel=1e-12)
    amounts = largest_benefit(speeds, 120, 40, 0.97).amounts
    assert np.bincount(sorted_.peers, minlength=8).tolist() == amounts.tolist()


def test_mixed_values_against_a_linear_program():
    from scipy.optimize import linprog

    generator = np.random.default_rng(3)
    n, m, cap, q = 4, 12, 5, 0.8
    values = np.exp(generator.normal(0, 1, (n, m)))
    worth = (values[:, None, :] * q ** np.arange(cap)[:, None]).reshape(n * cap, m)
    places = np.kron(np.eye(n * cap), np.ones(m))
    tasks = np.kron(np.ones(n * cap), np.eye(m))
    solved = linprog(
        -worth.ravel(), A_ub=places, b_ub=np.ones(n * cap), A_eq=tasks, b_eq=np.ones(m)
    )
    assert mixed_benefit(values, cap, q).benefit == pytest.approx(-solved.fun, rel=1e-9)


def test_identical_tasks_are_the_market_of_bundles():
    values = np.array([5.0, 3.0, 2.0])
    best = largest_benefit(values, 20, 10, 0.9)
    same = np.repeat(values[:, None], 20, axis=1)
    for found in (
        scaled_benefit(values, np.ones(20), 10, 0.9),
        mixed_benefit(same, 10, 0.9),
        identical_benefit(same, values, 10, 0.9),
    ):
        assert found.benefit == pytest.approx(best.benefit)
        assert np.bincount(found.peers, minlength=3).tolist() == best.amounts.tolist()


@given(st.integers(0, 10**6))
@settings(max_examples=40)
def test_dealing_as_identical_is_no_better(seed):
    generator = np.random.default_rng(seed)
    speeds, sizes = np.exp(generator.normal(0, 1, 4)), np.exp(generator.normal(0, 1, 15))
    values = speeds[:, None] / sizes
    dealt = identical_benefit(values, speeds / sizes.mean(), 9, 0.8)
    assert dealt.benefit <= scaled_benefit(speeds, sizes, 9, 0.8).benefit * (1 + 1e-12)
    assert is_consistent(dealt, values, np.full(4, 9), np.full(4, 0.8))


def test_what_dealing_as_identical_loses_by_hand():
    # One peer, sizes 4 and 1 in this order: places are worth 8 and 4; dealt 8/4 + 4/1, best
    # 8/1 + 4/4.
    values = np.array([[2.0, 8.0]])
    assert identical_benefit(values, [3.2], 2, 0.5).benefit == pytest.approx(2 + 4)
    best = scaled_benefit([8.0], [4.0, 1.0], 2, 0.5)
    assert best.benefit == pytest.approx(8 + 1)
    assert best.places.tolist() == [2, 1]
    assert mixed_benefit(values, 2, 0.5).benefit == pytest.approx(9)


def test_errors(monkeypatch):
    with pytest.raises(WorkloadError, match="sizes are not positive numbers"):
        scaled_benefit([1.0], [1.0, 0.0], 2, 0.5)
    with pytest.raises(WorkloadError, match="values have shape"):
        mixed_benefit([1.0, 2.0], 2, 0.5)
    with pytest.raises(InfeasibleError, match="3 tasks cannot be placed"):
        mixed_benefit(np.ones((2, 3)), 1, 0.5)
    monkeypatch.setattr(bundle_benefit, "_LARGEST", 5)
    with pytest.raises(InfeasibleError, match="too many to pair"):
        mixed_benefit(np.ones((2, 3)), 3, 0.5)
