"""The front of completion time and benefit against enumeration."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naming import raises_naming

from simplugin.core.errors import InfeasibleError, WorkloadError
from simplugin.optimum.bundle_benefit import largest_benefit
from simplugin.papers.zheng.trade_offs import front, least_completion


def enumerated(values, times, m, caps, q) -> list[tuple[float, float]]:
    """Return completion and benefit of all assignments that no other beats in both."""
    points = []
    for amounts in itertools.product(*[range(cap + 1) for cap in caps]):
        if sum(amounts) == m:
            long = max(k * time for k, time in zip(amounts, times, strict=True))
            worth = sum(
                value * kept**j
                for value, kept, k in zip(values, q, amounts, strict=True)
                for j in range(k)
            )
            points.append((long, worth))
    kept, best = [], 0.0
    for long, worth in sorted(points, key=lambda point: (point[0], -point[1])):
        if worth > best * (1 + 1e-12):
            kept.append((long, worth))
            best = worth
    return kept


@st.composite
def sites(draw):
    """Draw a small market and times, many of which tie."""
    n = draw(st.integers(1, 4))
    m = draw(st.integers(1, 8))

    def several(of):
        return draw(st.lists(of, min_size=n, max_size=n))

    times = several(st.one_of(st.sampled_from([1.0, 2.0, 3.0]), st.floats(0.1, 10)))
    # With q = 1/2 tasks of different peers are worth the same, but take another time.
    alike = several(st.sampled_from([1.0, 2.0, 4.0]))
    priced = [12 / time for time in times]
    values = draw(st.sampled_from([alike, priced, several(st.floats(0.5, 20.0))]))
    caps = several(st.integers(0, m))
    caps[0] = max(caps[0], m - sum(caps[1:]))
    q = draw(st.sampled_from([[0.5] * n, [0.9] * n, several(st.floats(0.05, 0.99))]))
    return values, times, m, caps, q


@given(sites())
@settings(max_examples=100)
def test_every_point_and_no_other(site):
    values, times, m, caps, q = site
    expected = np.array(enumerated(*site))
    found = front(*site)
    assert found.completion == pytest.approx(expected[:, 0], rel=1e-12)
    assert found.benefit == pytest.approx(expected[:, 1], rel=1e-12)
    for amounts, completion in zip(found.amounts, found.completion, strict=True):
        assert amounts.sum() == m
        assert np.all(amounts <= caps)
        assert np.max(amounts * times) == completion
    assert least_completion(times, m, caps) == expected[0, 0]
    best = largest_benefit(values, m, caps, q)
    assert found.benefit[-1] == pytest.approx(best.benefit)
    assert found.price[-1] == pytest.approx(best.price)


@given(sites(), st.integers(2, 6))
@settings(max_examples=50)
def test_fewer_points_are_points_of_the_front(site, n_points):
    expected = enumerated(*site)
    found = front(*site, n_points=n_points)
    assert 1 <= len(found) <= n_points
    for point in zip(found.completion, found.benefit, strict=True):
        assert any(point == pytest.approx(each, rel=1e-12) for each in expected)
    # Both ends are there.
    assert (found.completion[0], found.benefit[0]) == pytest.approx(expected[0])
    assert (found.completion[-1], found.benefit[-1]) == pytest.approx(expected[-1])


def test_a_whole_number_of_tasks_fits_to_the_last_bit():
    """The quotient of a time and that of a task is rounded down below the number, or up."""
    for each in (0.1, 0.7, 1 / 3):
        for count in range(1, 200, 7):
            assert least_completion([each], count, count) == count * each
            found = front([1.0], [each], count, count, 0.99)
            assert found.completion.tolist() == [count * each]


def test_the_largest_bundle_of_the_paper():
    """12 peers and 1,000 tasks; least completion against the smallest of all products."""
    rng = np.random.default_rng(12)
    times = rng.uniform(20, 100, 12)
    found = front(3600 / times, times, 1000, 1000, 0.99)
    products = np.sort(np.outer(times, np.arange(1, 1001)).ravel())
    assert found.completion[0] == products[999]
    # The least is hardly above that of tasks which can be divided.
    assert 1000 / np.sum(1 / times) <= found.completion[0] < 1000 / np.sum(1 / times) + 100
    some = front(3600 / times, times, 1000, 1000, 0.99, n_points=8)
    # Evenly spread limits: each point is the last of the front below its own.
    limits = np.linspace(found.completion[0], found.completion[-1], 8)
    last = np.searchsorted(found.completion, limits * (1 + 1e-12), side="right") - 1
    assert some.completion.tolist() == found.completion[np.unique(last)].tolist()


def test_invalid_fronts_are_refused():
    for times, points, names in (
        ([1.0], None, ["(1,)", "2"]),
        ([1.0, np.inf], None, ["[1.0, inf]"]),
        ([1.0, 2.0], 1, ["n_points", "1"]),
    ):
        with raises_naming(WorkloadError, *names):
            front([1.0, 2.0], times, 4, 4, 0.5, points)
    with raises_naming(InfeasibleError, "9 tasks"):
        front([1.0, 2.0], [1.0, 2.0], 9, 4, 0.5)
