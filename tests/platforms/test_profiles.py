"""Profiles; laws of chance against scipy's, and their residual lives against integrals."""

import contextlib
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naming import raises_naming
from scipy import integrate, stats

from simplugin.core.errors import PlatformError
from simplugin.core.units import parse_time
from simplugin.platforms import Host, Platform, Profile, ProfileUse, Zone
from simplugin.platforms.laws import PARAMETERS, Law, parse_law
from simplugin.platforms.profiles import profile_problem, timeline
from simplugin.simulation.resolve import resolve

# Text, period and whether SimGrid takes it.
PROFILES = [
    ("0 1.0\n11.0 0.5\n20.0 0.8\n", 21.0, True),
    ("0 1.0\n11.0 0.5\n", -1.0, True),
    ("# comment\n% another\n\n1 1\n", -1.0, True),
    ("PERIODICITY 12\n1 1\n2 0.5\n", -1.0, True),
    ("LOOPAFTER 3\n1 1\n2 0.5\n", -1.0, True),
    ("STOCHASTIC LOOP\nUNIF 1 2 DET 1\nEXP 0.1 NORM 1 0.1\n", -1.0, True),
    ("\n", -1.0, True),
    ("1\n", -1.0, False),
    ("one two\n", -1.0, False),
    ("2 1\n1 1\n", -1.0, False),
    ("-1 1\n", -1.0, False),
    ("1 1\n5 1\n", 3.0, False),
    ("5e-324 1\n", -1.0, False),
    ("STOCHASTIC\n1 1\n", -1.0, False),
    ("STOCHASTIC\nDET 1 DET\n", -1.0, False),
]


@pytest.mark.parametrize(("text", "period", "taken"), PROFILES)
def test_profiles_are_judged_as_simgrid_judges_them(text, period, taken):
    assert (profile_problem(text, period) is None) is taken
    zone = Zone("w", "Full", (Host("a", 1e9),))
    platform = Platform((zone, Profile("t", text, period=period), ProfileUse("t", "a", "SPEED")))
    if taken:
        assert len(resolve(platform).hosts) == 1
    else:
        with raises_naming(PlatformError, "'t'"):
            resolve(platform)


def test_points_become_lines():
    profile = Profile.of_points("t", [(0.0, 1.0), (1.5, 0.25)], period=3.0)
    assert profile.text.split() == ["0.0", "1.0", "1.5", "0.25"]


TIMELINES = [
    ("# none\n", -1.0, []),
    ("1 0\n3 1\n", -1.0, [(1, 0), (3, 1)]),
    ("1 0\r\n% no\nDET 3 DET 1\n12 0", -1.0, [(1, 0), (3, 1)]),
    # Every 4 s, from 1 s on.
    ("1 0\n3 1\n", 4.0, [(1, 0), (3, 1), (5, 0), (7, 1), (9, 0)]),
    ("PERIODICITY 4\n1 0\n3 1\n", -1.0, [(1, 0), (3, 1), (5, 0), (7, 1), (9, 0)]),
    # 2 s after the last, plus the first date's delay.
    ("1 0\n3 1\nLOOPAFTER 2\n", -1.0, [(1, 0), (3, 1), (6, 0), (8, 1)]),
    ("0 2\n3 1\nLOOPAFTER 2\n", -1.0, [(0, 2), (3, 1), (5, 2), (8, 1)]),
]


@pytest.mark.parametrize(("text", "period", "found"), TIMELINES)
def test_dates_and_values(text, period, found):
    assert timeline(text, 10.0, period) == found


NO_TIMELINES = [
    ("STOCHASTIC LOOP\nEXP 1 UNIF 0 1\n", ""),
    ("NORM 1 0.1 0.5\n", ""),
    ("0 1\nLOOPAFTER 0\n", ""),
    ("0 1\n1e-6 0\nLOOPAFTER 1e-6\n", "10"),
    ("2 1\n1 0\n", "2 1"),
]


@pytest.mark.parametrize(("text", "named"), NO_TIMELINES)
def test_what_cannot_be_foretold(text, named):
    with raises_naming(PlatformError, *named.split()):
        timeline(text, 10.0)


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
def test_moments_and_draws_are_scipys(law, known):
    assert law.mean == pytest.approx(known.mean(), rel=1e-9)
    if "variation" in PARAMETERS[law.name]:
        assert law.parameters[1] == pytest.approx(known.std() / known.mean(), rel=1e-9)
    drawn = law.draw(np.random.default_rng(11), SIZE)
    assert stats.kstest(drawn, known.cdf).pvalue > 0.01


@pytest.mark.parametrize(("law", "known"), CONTINUOUS, ids=by_name)
def test_residual_lives_follow_the_integral_of_the_tail(law, known):
    # P(residual <= x) = integral of 1 - F from 0 to x, over the mean; summed up on a fine grid.
    grid = np.concatenate([[0.0], np.geomspace(1e-9, known.ppf(1 - 1e-12), 200_000)])
    tail = integrate.cumulative_trapezoid(known.sf(grid), grid, initial=0.0) / known.mean()
    assert tail[-1] == pytest.approx(1.0, abs=1e-4)
    drawn = law.draw_residual(np.random.default_rng(12), SIZE)
    assert stats.kstest(drawn, lambda x: np.interp(x, grid, tail)).pvalue > 0.01


def test_a_residual_life_is_no_whole_one():
    # The tests above can tell the two apart.
    law, known = CONTINUOUS[3]
    assert stats.kstest(law.draw_residual(np.random.default_rng(1), SIZE), known.cdf).pvalue < 1e-9


def test_a_constant_is_drawn_as_it_is_and_lives_on_evenly():
    law = Law("constant", (8.0,))
    assert set(law.draw(np.random.default_rng(1), 9)) == {8.0}
    drawn = law.draw_residual(np.random.default_rng(1), SIZE)
    assert stats.kstest(drawn, stats.uniform(0.0, 8.0).cdf).pvalue > 0.01


LAWS = [
    ("weibull(0.545, 275599s)", Law("weibull", (0.545, 275599.0))),
    ("weibull( .5 ,2h )", Law("weibull", (0.5, 7200.0))),
    ("exponential(90)", Law("exponential", (90.0,))),
    ("log-uniform(1s, 1m)", Law("log-uniform", (1.0, 60.0))),
    ("10m", Law("constant", (600.0,))),
    ("constant(10m)", Law("constant", (600.0,))),
]


@pytest.mark.parametrize(("text", "law"), LAWS)
def test_laws_are_read_with_their_units(text, law):
    assert parse_law(text, parse_time) == law


NO_LAWS = [
    ("weibull(1)", "weibull(1) scale"),
    ("weibul(1, 2)", "'weibul' weibull"),
    ("exponential(2 parsecs)", "'2 parsecs'"),
    ("exponential(1", "'exponential(1'"),
    ("exponential()", "'exponential()'"),
    ("exponential(-1)", "exponential -1.0"),
    ("exponential(0)", "exponential 0.0"),
    ("exponential(inf)", "exponential inf"),
    ("uniform(2, 1)", "uniform 2.0 1.0"),
]


@pytest.mark.parametrize(("text", "named"), NO_LAWS)
def test_texts_that_are_no_law_are_refused(text, named):
    with raises_naming(PlatformError, *named.split()):
        parse_law(text, parse_time)


@given(st.text())
def test_no_text_makes_reading_fail_otherwise(text):
    with contextlib.suppress(PlatformError):
        parse_law(text, parse_time)
