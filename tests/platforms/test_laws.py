"""Laws of chance against scipy's, and their residual lives against the integral of the tail."""

from __future__ import annotations

import contextlib
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from simplugin.errors import PlatformError
from simplugin.platforms.laws import PARAMETERS, Law, parse_law
from simplugin.units import parse_time

SIZE = 20_000


def lognormal(mean: float, variation: float) -> Any:
    """A lognormal law from its first two moments, by scipy's own fit to moments."""
    spread = math.sqrt(math.log(1 + variation**2))
    return stats.lognorm(spread, scale=mean / math.sqrt(1 + variation**2))


# The law, and scipy's.
CONTINUOUS = [
    (Law("uniform", (2.0, 5.0)), stats.uniform(2.0, 3.0)),
    (Law("log-uniform", (0.5, 80.0)), stats.loguniform(0.5, 80.0)),
    (Law("exponential", (7.0,)), stats.expon(scale=7.0)),
    (Law("weibull", (0.5, 3.0)), stats.weibull_min(0.5, scale=3.0)),
    (Law("weibull", (2.5, 3.0)), stats.weibull_min(2.5, scale=3.0)),
    (Law("lognormal", (4.0, 1.5)), lognormal(4.0, 1.5)),
    (Law("gamma", (6.0, 1.7)), stats.gamma(1.7**-2, scale=6.0 * 1.7**2)),
]


def by_name(value: object) -> str:
    return value.name if isinstance(value, Law) else ""


@pytest.mark.parametrize(("law", "known"), CONTINUOUS, ids=by_name)
def test_moments_and_draws_are_scipys(law: Law, known: Any) -> None:
    assert law.mean == pytest.approx(known.mean(), rel=1e-9)
    if "variation" in PARAMETERS[law.name]:
        assert law.parameters[1] == pytest.approx(known.std() / known.mean(), rel=1e-9)
    drawn = law.draw(np.random.default_rng(11), SIZE)
    assert stats.kstest(drawn, known.cdf).pvalue > 0.01


@pytest.mark.parametrize(("law", "known"), CONTINUOUS, ids=by_name)
def test_residual_lives_follow_the_integral_of_the_tail(law: Law, known: Any) -> None:
    # P(residual <= x) = integral of 1 - F from 0 to x, over the mean; summed up on a fine grid.
    grid = np.concatenate([[0.0], np.geomspace(1e-9, known.ppf(1 - 1e-12), 200_000)])
    tail = integrate.cumulative_trapezoid(known.sf(grid), grid, initial=0.0) / known.mean()
    assert tail[-1] == pytest.approx(1.0, abs=1e-4)
    drawn = law.draw_residual(np.random.default_rng(12), SIZE)
    assert stats.kstest(drawn, lambda x: np.interp(x, grid, tail)).pvalue > 0.01


def test_a_residual_life_is_no_whole_one() -> None:
    # The tests above can tell the two apart.
    law, known = CONTINUOUS[3]
    assert stats.kstest(law.draw_residual(np.random.default_rng(1), SIZE), known.cdf).pvalue < 1e-9


def test_a_constant_is_drawn_as_it_is_and_lives_on_evenly() -> None:
    law = Law("constant", (8.0,))
    assert set(law.draw(np.random.default_rng(1), 9)) == {8.0}
    drawn = law.draw_residual(np.random.default_rng(1), SIZE)
    assert stats.kstest(drawn, stats.uniform(0.0, 8.0).cdf).pvalue > 0.01


@pytest.mark.parametrize(
    ("text", "law"),
    [
        ("weibull(0.545, 275599s)", Law("weibull", (0.545, 275599.0))),
        ("weibull( .5 ,2h )", Law("weibull", (0.5, 7200.0))),
        ("exponential(90)", Law("exponential", (90.0,))),
        ("log-uniform(1s, 1m)", Law("log-uniform", (1.0, 60.0))),
        ("10m", Law("constant", (600.0,))),
        ("constant(10m)", Law("constant", (600.0,))),
    ],
)
def test_laws_are_read_with_their_units(text: str, law: Law) -> None:
    assert parse_law(text, parse_time) == law


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("weibull(1)", "write weibull(shape, scale)"),
        ("weibul(1, 2)", "there is no law 'weibul'"),
        ("exponential(2 parsecs)", "'2 parsecs' in law"),
        ("exponential(1", "cannot be read"),
        ("exponential()", "cannot be read"),
        ("exponential(-1)", "positive"),
        ("exponential(0)", "positive"),
        ("exponential(inf)", "positive"),
        ("uniform(2, 1)", "2"),
    ],
)
def test_texts_that_are_no_law_are_refused(text: str, said: str) -> None:
    with pytest.raises(PlatformError) as caught:
        parse_law(text, parse_time)
    assert said in str(caught.value)


@given(st.text())
def test_no_text_makes_reading_fail_otherwise(text: str) -> None:
    with contextlib.suppress(PlatformError):
        parse_law(text, parse_time)
