"""Matrix games, against closed forms and linear programs."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from simplugin.bags.policies.price_negotiation import solve_game


def test_a_single_row_takes_its_best_column():
    assert solve_game(np.array([[1.0], [3.0], [2.0]])) == (
        [0.0, 1.0, 0.0],
        [1.0],
        pytest.approx(3.0),
    )


def test_a_row_that_gets_nothing_has_the_whole_price():
    weights, prices, value = solve_game(np.array([[5.0, 0.0], [7.0, 0.0]]))
    assert sum(weights) == pytest.approx(1)
    assert prices == pytest.approx([0.0, 1.0])
    assert value == pytest.approx(0.0, abs=1e-15)


@settings(max_examples=40)
@example(22839)  # a price that rounds to less than 0
@given(st.integers(0, 10**6))
def test_games_have_the_value_of_their_linear_program(seed):
    generator = np.random.default_rng(seed)
    columns, rows = int(generator.integers(1, 25)), int(generator.integers(1, 6))
    payoffs = generator.uniform(-1, 2, (columns, rows)) * 10.0 ** generator.integers(-9, 9)
    if seed % 3 == 0:
        # Ties and zeros, as rounds have them that serve one type only.
        payoffs = np.round(payoffs / np.abs(payoffs).max() * 2) * np.abs(payoffs).max()
    weights, prices, value = solve_game(payoffs)
    scale = np.abs(payoffs).max()
    found = linprog(
        np.append(np.zeros(columns), -1.0),
        A_ub=np.hstack([-payoffs.T / scale, np.ones((rows, 1))]),
        b_ub=np.zeros(rows),
        A_eq=[[1.0] * columns + [0.0]],
        b_eq=[1.0],
        bounds=[(0, None)] * columns + [(None, None)],
    )
    assert value / scale == pytest.approx(-found.fun, abs=1e-9)
    for each in (weights, prices):
        assert min(each) >= 0
        assert sum(each) == pytest.approx(1)
    # Either side has what the value says, whatever the other does.
    assert np.min(np.array(weights) @ payoffs) / scale == pytest.approx(value / scale, abs=1e-12)
    assert np.max(payoffs @ np.array(prices)) / scale == pytest.approx(value / scale, abs=1e-12)
