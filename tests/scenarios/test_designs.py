"""Designs of sensitivity analyses in sweeps: their points, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simplugin.scenarios.designs import Design, DesignTable
from simplugin.scenarios.sweeps import SweepError, variations_of


def design(method, count, n_keys, **table):
    tables = {
        f"x{at}": DesignTable(**{method: count, "low": 0, "high": 1} | table)
        for at in range(n_keys)
    }
    return Design(method, count, tables)


@given(st.integers(2, 6), st.integers(1, 5))
def test_blocks_are_those_of_saltelli_and_morris(power, n_keys):
    points = design("sobol", 2**power, n_keys).shares
    first, second = points[:, 0], points[:, 1]
    for key in range(n_keys):
        mixed = first.copy()
        mixed[:, key] = second[:, key]
        np.testing.assert_array_equal(points[:, 2 + key], mixed)
    # Each column of A and B has one point in each of n equal parts.
    for column in (*first.T, *second.T):
        assert sorted(np.floor(column * 2**power)) == list(range(2**power))
    larger = design("sobol", 2 ** (power + 1), n_keys).shares
    np.testing.assert_array_equal(larger[: 2**power], points)
    walks = design("morris", 2**power, n_keys).shares
    steps = np.diff(walks, axis=1)
    np.testing.assert_allclose(np.sort(abs(steps), axis=2)[..., -1], 2 / 3)
    assert (np.count_nonzero(steps, axis=(1, 2)) == n_keys).all()
    assert (np.count_nonzero(steps, axis=1) == 1).all()
    assert np.isclose(walks[..., None], np.arange(4) / 3).any(axis=-1).all()


def test_whole_numbers_are_equally_probable():
    first = design("sobol", 256, 1, low=1, high=3, whole=True).values()[0][::3]
    # One point lies in each of 256 equal parts of the range.
    assert all(abs(first.count(each) - 256 / 3) <= 1 for each in (1, 2, 3))
    wide = design("sobol", 256, 1, low=1, high=100, whole=True, scale="log").values()[0]
    assert (min(wide), max(wide)) == (1, 100)


def test_designs_are_crossed_with_other_keys():
    x = {"sobol": 8, "low": 1, "high": 100, "scale": "log", "unit": "MBps"}
    sweep = {"s": ["a", "b"], "x": x, "seed": [1, 2], "y": {"sobol": 8, "choices": [3, 5]}}
    found = variations_of({}, sweep, ())
    points = [found.varied(*found.point(at)) for at in range(found.total)]
    assert found.total == 2 * 8 * 4 * 2
    assert {each["y"] for each in points} == {3, 5}
    assert all(1 <= float(each["x"].removesuffix("MBps")) <= 100 for each in points)
    pairs = [(each["x"], each["y"]) for each in points]
    # The schedulers vary slowest, seeds fastest; keys of the design go together.
    assert pairs[:64] == pairs[64:]
    assert pairs[0:64:2] == pairs[1:64:2]
    assert [each["seed"] for each in points[:4]] == [1, 2, 1, 2]
    assert len(found.selected(["s"], {})) == 2


RANGE = {"low": 1, "high": 2}


@pytest.mark.parametrize(
    ("sweep", "path"),
    [
        ({"x": {"sobol": 100, **RANGE}}, ("x", "sobol")),
        ({"x": {"sobol": 8, "low": 2, "high": 2}}, ("x",)),
        ({"x": {"sobol": 8, "low": 0, "high": 2, "scale": "log"}}, ("x",)),
        ({"x": {"sobol": 8, "low": 1, "hihg": 2}}, ("x", "hihg")),
        ({"x": {"sobol": 8, "morris": 8, **RANGE}}, ("x", "morris")),
        ({"x": {"morris": 8, "choices": [1, 2]}}, ("x", "choices")),
        ({"x": {"sobol": 8, "choices": ["u", "u", "v"]}}, ("x", "choices")),
        ({"x": {"morris": 8, "low": 0.4, "high": 1.4, "whole": True}}, ("x",)),
        ({"x": {"sobol": 8, **RANGE}, "y": {"morris": 8, **RANGE}}, ("y",)),
        ({"x": {"sobol": 8, **RANGE}, "y": {"sobol": 16, **RANGE}}, ("y",)),
    ],
)
def test_what_is_refused(sweep, path):
    with pytest.raises(SweepError) as caught:
        variations_of({}, sweep, ())
    assert caught.value.problem.path == ("sweep", *path)
    assert caught.value.problem.remedy
