"""Processes of outages, churn and load, and published models, against scipy's laws."""

import math
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naming import raises_naming
from scipy import stats

from simplugin.core.errors import PlatformError
from simplugin.platforms.availability import processes
from simplugin.platforms.availability.followers import stream
from simplugin.platforms.availability.processes import Churn, Levels, Outages, model_named
from simplugin.platforms.laws import Law

DAY = 86400.0


def constant(value: float) -> Law:
    return Law("constant", (value,))


def times(points: list[tuple[float, float]], value: float) -> list[float]:
    """Return the length of each phase of a value."""
    return [b[0] - a[0] for a, b in pairwise(points) if a[1] == value]


# Processes


@pytest.mark.parametrize("start", ["up", "stationary"])
def test_durations_follow_the_laws(start):
    up, down = Law("weibull", (0.5, 4000.0)), Law("gamma", (900.0, 0.5))
    points = Outages(up, down, start).points(np.random.default_rng(5), 3e7)
    assert len(points) > 5000
    known = stats.weibull_min(0.5, scale=4000.0), stats.gamma(4.0, scale=225.0)
    for value, law in zip((1.0, 0.0), known, strict=True):
        assert stats.kstest(times(points, value), law.cdf).pvalue > 0.01


def up_at(outages: Outages, dates: list[float], count: int) -> np.ndarray:
    """The fraction of hosts that are up at each date."""
    up = np.zeros(len(dates))
    for host in range(count):
        points = outages.points(stream(3, "HOST_AVAIL", f"h{host}"), dates[-1] + 1)
        at = np.searchsorted([date for date, _ in points], dates, side="right")
        up += [points[i - 1][1] if i else 1.0 for i in at]
    return up / count


def test_a_stationary_start_is_a_date_like_any_other():
    laws = Law("weibull", (0.4, 300.0)), Law("uniform", (100.0, 700.0))
    dates = [0.0, 1.0, 30.0, 200.0, 1000.0, 5000.0]
    count = 1500
    outages = Outages(*laws)
    share = outages.availability
    # 4 standard deviations.
    tolerance = 4 * math.sqrt(share * (1 - share) / count)
    assert up_at(outages, dates, count) == pytest.approx(share, abs=tolerance)
    # Starting up, hosts are not that soon; the test can fail.
    assert up_at(Outages(*laws, start="up"), dates, count)[1] > share + 2 * tolerance


LAWS = st.one_of(
    st.builds(lambda mean: Law("exponential", (mean,)), st.floats(0.1, 1e4)),
    st.builds(lambda shape, s: Law("weibull", (shape, s)), st.floats(0.3, 3), st.floats(1, 1e4)),
    st.builds(lambda m, v: Law("lognormal", (m, v)), st.floats(0.1, 1e4), st.floats(0.1, 5)),
    st.builds(lambda m, v: Law("gamma", (m, v)), st.floats(0.1, 1e4), st.floats(0.1, 5)),
    st.builds(lambda value: Law("constant", (value,)), st.floats(0.1, 1e4)),
)


@settings(max_examples=40)
@given(LAWS, LAWS, st.sampled_from(["up", "stationary"]), st.integers(0, 2**32), st.floats(1, 500))
def test_outages_alternate_and_end(up, down, start, seed, until):
    outages = Outages(up, down, start)
    points = outages.points(np.random.default_rng(seed), until)
    dates = [date for date, _ in points]
    assert all(a < b for a, b in pairwise(dates))
    assert [value for _, value in points] == [0.0, 1.0] * (len(points) // 2)
    assert all(date < until for date in dates[::2])
    assert all(date == round(date, 3) for date in dates)
    if start == "up":
        assert 0.0 not in dates
    # A later end adds dates and changes none.
    assert outages.points(np.random.default_rng(seed), 2 * until)[: len(points)] == points


@settings(max_examples=40)
@given(LAWS, st.one_of(st.none(), LAWS), st.one_of(st.none(), LAWS), st.integers(0, 2**32))
def test_churn_joins_and_leaves_before_the_end(stay, arrival, away, seed):
    until = 300.0
    churn = Churn(stay, arrival, away)
    points = churn.points(np.random.default_rng(seed), until)
    dates, values = [date for date, _ in points], [value for _, value in points]
    assert all(a < b for a, b in pairwise(dates))
    assert all(a != b for a, b in pairwise(values))
    assert not dates or dates[-1] < until
    assert values[:1] == ([0.0] if points else [])
    assert (dates[:1] == [0.0]) is (arrival is not None)
    if away is None:
        assert len(points) <= (1 if arrival is None else 3)
    later = churn.points(np.random.default_rng(seed), 2 * until)
    assert later[: len(points)] == points


def test_churn_for_good_follows_its_laws():
    churn = Churn(Law("weibull", (0.8, 500.0)), Law("uniform", (0.0001, 1000.0)))
    drawn = [churn.points(np.random.default_rng([1, i]), 1e9) for i in range(1000)]
    assert stats.kstest([p[1][0] for p in drawn], stats.uniform(0, 1000).cdf).pvalue > 0.01
    known = stats.weibull_min(0.8, scale=500.0)
    assert stats.kstest([p[2][0] - p[1][0] for p in drawn], known.cdf).pvalue > 0.01


def test_levels_follow_the_laws():
    levels = Levels(Law("uniform", (0.2, 0.9)), Law("exponential", (60.0,)))
    points = levels.points(np.random.default_rng(4), 6e5)
    assert points[0][0] == 0.0
    assert points[-1][0] < 6e5
    assert stats.kstest([value for _, value in points], stats.uniform(0.2, 0.7).cdf).pvalue > 0.01
    lengths = [b[0] - a[0] for a, b in pairwise(points)]
    assert stats.kstest(lengths, stats.expon(scale=60.0).cdf).pvalue > 0.01


def test_levels_stay_within_their_bounds():
    wild = Levels(Law("lognormal", (0.5, 3000.0)), Law("constant", (1.0,)))
    values = [value for _, value in wild.points(np.random.default_rng(1), 3000.0)]
    assert (min(values), max(values)) == (processes.LEAST_LEVEL, 1.0)


OUT_OF_RANGE = [
    (lambda: Outages(constant(0.05), constant(1.0)), "up 0.05"),
    (lambda: Outages(constant(1.0), constant(0.05)), "down 0.05"),
    (lambda: Outages(constant(1.0), constant(1.0), "down"), "'down' stationary"),
    (lambda: Churn(constant(0.05)), "stay 0.05"),
    (lambda: Levels(constant(50.0), constant(1.0)), "constant(50)"),
    (lambda: Levels(Law("uniform", (0.5, 1.5)), constant(1.0)), "uniform(0.5, 1.5)"),
    (lambda: Levels(Law("exponential", (1.1,)), constant(1.0)), "exponential(1.1)"),
    (lambda: Levels(constant(0.5), constant(0.05)), "level 0.05"),
    *((partial(model_named, t), repr(t)) for t in ("", "g5k06-zipf", "g5k06-weibull(3d)")),
    (partial(model_named, "schroeder-gibson06"), "'schroeder-gibson06'"),
    (partial(model_named, "schroeder-gibson06(3x)"), "'3x'"),
    (partial(model_named, "schroeder-gibson06(1d, 2d)"), "(1d, 2d) 2"),
    (partial(model_named, "schroeder-gibson06(30)"), "'30'"),
    (partial(model_named, "schroeder-gibson06(0s)"), "schroeder-gibson06 0"),
]


@pytest.mark.parametrize(("make", "named"), OUT_OF_RANGE)
def test_invalid_processes_are_refused(make, named):
    with raises_naming(PlatformError, *named.split()):
        make()


# Models


@pytest.mark.parametrize("system", processes.ARCHIVE)
@pytest.mark.parametrize("which", [0, 1])
def test_fits_are_those_of_the_paper(system, which):
    """Fits by maximum likelihood that are exponential or gamma have the measured mean.

    They agree within what two decimals leave open: a slip of a digit or of a unit would show.
    """
    fits = {law: numbers[which] for law, numbers in processes.ARCHIVE[system].items()}
    (mean,), (shape, scale) = fits["exponential"], fits["gamma"]
    assert abs(mean - shape * scale) <= 0.005 * (scale + shape + 1) * 1.01
    (centre, spread), (power, length) = fits["lognormal"], fits["weibull"]
    known = {
        "exponential": stats.expon(scale=mean * 3600),
        "lognormal": stats.lognorm(spread, scale=math.exp(centre) * 3600),
        "weibull": stats.weibull_min(power, scale=length * 3600),
        "gamma": stats.gamma(shape, scale=scale * 3600),
    }
    for name, law in known.items():
        model = model_named(f"{system}-{name}")
        part = (model.up, model.down)[which]
        assert part.mean == pytest.approx(law.mean(), rel=1e-12)
        assert stats.kstest(part.draw(np.random.default_rng(2), 3000), law.cdf).pvalue > 0.01


def test_schroeder_and_gibson():
    model = model_named("schroeder-gibson06(30d)", "up")
    assert model == processes.schroeder_gibson(30 * DAY, start="up")
    assert model.up.mean == pytest.approx(30 * DAY)
    # Repairs at Los Alamos take as long by both papers.
    other = model_named("lanl05-exponential").down
    assert model.down.mean == pytest.approx(other.mean, rel=0.001)
    repairs = model.down.draw(np.random.default_rng(3), 40_000)
    assert np.median(repairs) == pytest.approx(54 * 60, rel=0.03)


def test_models_are_known_by_their_names():
    for name in processes.model_names():
        model = model_named(f"{name}(9d)" if name.startswith("schroeder") else name)
        assert 0 < model.availability < 1
