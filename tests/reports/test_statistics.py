"""Statistics against scipy, closed forms and simulated samples; groups of runs."""

import math
from dataclasses import replace

import numpy as np
import pytest
from naming import raises_naming
from scipy import stats

from simplugin.core.errors import SimpluginError
from simplugin.reports.comparisons import compared, pairing_columns, rows_by_group
from simplugin.reports.page.assembly import report_document
from simplugin.reports.page.contents import Column
from simplugin.reports.statistics import ConfidenceInterval, bootstrap_interval, cumulated, summary


def test_a_summary_agrees_with_scipy():
    values = np.random.default_rng(3).lognormal(2.0, 0.7, 25)
    found = summary(values.tolist())
    for interval, centre, data, back in (
        (found.mean_interval, found.mean, values, lambda x: x),
        (found.geometric_interval, found.geometric_mean, np.log(values), np.exp),
    ):
        expected = stats.t.interval(0.95, 24, loc=data.mean(), scale=stats.sem(data))
        assert (interval.low, interval.high) == pytest.approx(tuple(back(np.array(expected))))
        assert centre == pytest.approx(float(back(data.mean())))
    assert found.deviation == pytest.approx(float(np.std(values, ddof=1)))
    assert found.median == float(np.median(values))
    # Hyndman and Fan's type 7 is also scipy's (alphap, betap) = (1, 1).
    quartiles = stats.mstats.mquantiles(values, [0.25, 0.75], alphap=1, betap=1)
    assert found.quartiles == pytest.approx(tuple(quartiles))
    assert (found.least, found.most) == (values.min(), values.max())
    assert (found.n, found.missing, found.infinite) == (25, 0, 0)


def test_what_is_missing_is_counted_and_left_out():
    found = summary([1.0, None, math.nan, 4.0, math.inf, -math.inf, np.float64(2.0)])
    assert (found.n, found.missing, found.infinite) == (3, 2, 2)
    assert found == replace(summary([4.0, 2.0, 1.0]), missing=2, infinite=2)
    assert found.geometric_mean == pytest.approx(2.0)


def test_one_value_has_no_interval_and_none_has_nothing():
    one = summary([5])
    assert (one.n, one.mean, one.geometric_mean, one.median) == (1, 5.0, pytest.approx(5.0), 5.0)
    assert one.mean_interval is one.geometric_interval is one.deviation is None
    none = summary([None, math.nan])
    assert (none.n, none.missing, none.mean, none.quartiles) == (0, 2, None, None)
    assert none.why_not_geometric == "there are no values"


def test_a_geometric_mean_needs_positive_values():
    found = summary([0.0, 2.0, -1.0])
    assert found.geometric_mean is found.geometric_interval is None
    assert found.why_not_geometric == "2 of 3 values are not above 0"
    assert found.mean == pytest.approx(1 / 3)
    assert summary([1.0, 2.0]).why_not_geometric == ""


def test_ranks_of_the_interval_of_the_median():
    # Ranks (k, n - k + 1) that cover at least 95 %: tables of the sign test, e.g. 6: 1, 10: 2,
    # 20: 6, 50: 18, 100: 40; none below 6.
    for n, k in ((6, 1), (8, 1), (9, 2), (10, 2), (20, 6), (50, 18), (100, 40)):
        found = summary(range(1, n + 1)).median_interval
        assert (found.low, found.high) == (k, n - k + 1)
        assert found.level == pytest.approx(1 - 2 * stats.binom.cdf(k - 1, n, 0.5))
    assert all(summary(range(1, n + 1)).median_interval is None for n in range(6))


def by_the_book(values, resamples):
    """Efron's BCa interval of the mean, with the skewness of the sample for its acceleration."""
    rng = np.random.default_rng(77)
    means = np.sort(rng.choice(values, (resamples, len(values))).mean(axis=1))
    bias = stats.norm.ppf((means < values.mean()).mean())
    distances = values - values.mean()
    acceleration = (distances**3).sum() / (6 * (distances**2).sum() ** 1.5)
    z = bias + stats.norm.ppf([0.025, 0.975])
    return np.quantile(means, stats.norm.cdf(bias + z / (1 - acceleration * z)))


def test_a_bootstrap_is_skewed_as_the_sample_is():
    values = np.random.default_rng(3).lognormal(2.0, 0.4, 20)
    found = bootstrap_interval(values, seed=4)
    assert found == bootstrap_interval(values, seed=4)
    assert found != bootstrap_interval(values, seed=5)
    assert (found.low, found.high) == pytest.approx(by_the_book(values, 50_000), rel=0.01)
    mean = values.mean()
    assert found.high - mean > mean - found.low > 0
    for statistic, function in (("geometric_mean", stats.gmean), ("median", np.median)):
        other = bootstrap_interval(values, seed=4, statistic=statistic)
        assert other.low <= function(values) <= other.high < found.high


def test_what_cannot_be_bootstrapped():
    assert bootstrap_interval([2.0] * 10, seed=1) is bootstrap_interval([5], seed=1) is None
    with raises_naming(SimpluginError, 0, "mean"):
        bootstrap_interval([0.0, 1.0, 2.0], seed=1, statistic="geometric_mean")
    with raises_naming(SimpluginError, 5001, 5000):
        bootstrap_interval(np.ones(5001), seed=1)


def test_equal_values_have_an_interval_of_no_width():
    found = summary([0.1] * 7)
    assert found.mean_interval == ConfidenceInterval(0.1, 0.1)
    assert found.deviation == 0.0


def test_values_at_the_ends_of_the_numbers():
    # Exactly: exp of the mean logarithm is the root of the product.
    far = summary([1e-200, 1e200])
    assert far.geometric_mean == pytest.approx(1.0)
    assert (far.geometric_interval.low, far.geometric_interval.high) == (0.0, math.inf)
    assert far.deviation == pytest.approx(1e200 / math.sqrt(2))
    huge = summary([1.7e308, 1.7e308, 1.6e308])
    assert huge.mean == pytest.approx(1.7e308 - 1e307 / 3)
    assert huge.deviation == pytest.approx(1e307 / math.sqrt(3))
    both = summary([-1.7e308, 1.7e308])
    assert (both.mean, both.median, both.mean_interval.high) == (0.0, 0.0, math.inf)
    # Squares of these are 0.
    assert summary([1e-200, 3e-200]).deviation == pytest.approx(math.sqrt(2) * 1e-200, abs=0)


def test_distribution_functions():
    # Of five runs one has failed and one never ends.
    steps, heights = cumulated([2.0, 1.0, None, 2.0, math.inf])
    assert steps.tolist() == [1.0, 2.0]
    assert heights.tolist() == [0.2, 0.6]
    assert cumulated([2.0, 1.0, -math.inf, None])[1].tolist() == [0.5, 0.75]
    assert len(cumulated([None])[0]) == 0


def test_no_run_is_lost_where_names_of_groups_are_alike(report_of):
    alike = [None, 1, 1.0, 2.5, "1", True, "(none)", None]
    report = report_of(Column("g", alike, role="varied"), group="g")
    found = {"1": [1, 2], "2.5": [3], '"1"': [4], "true": [5], '"(none)"': [6], "(none)": [0, 7]}
    assert list(rows_by_group(report).items()) == list(found.items())


def test_groups_have_the_names_that_the_page_gives_them(report_of):
    # As JavaScript writes numbers, whichever of two equal ones comes first.
    values = [1.0, "a", 1, "1", 2.5, 1e-5, -1e-7, 1e21, 1e16, -0.0, math.nan, -math.inf, 2**70]
    names = f'1 a "1" 2.5 0.00001 -1e-7 1e+21 10000000000000000 0 NaN -Infinity {2**70}'.split()
    report = report_of(Column("g", values, role="varied"), group="g")
    assert list(rows_by_group(report)) == names
    [column] = [each for each in report_document(report)["columns"] if each["name"] == "g"]
    assert column["texts"] == names


def test_parameters_of_schedulers_pair_runs_only_where_both_have_them(report_of):
    names = ["a", "a", "b", "b", "c", "c"]
    # a and b have a share of 0.5 in common, in another order; c knows no shares.
    share = [0.5, 0.9, 0.1, 0.5, None, None]
    report = schedulers = report_of(
        Column("scheduler.name", names, role="varied"),
        Column("scheduler.parameters.share", share, role="varied"),
        Column("makespan", [1.0, 9.0, 7.0, 2.0, 3.0, 4.0], "s", sense="min"),
        group="scheduler.name",
    )
    metric = report.column("makespan")
    found = compared(report, metric)
    assert (found["b"].n, found["b"].alone, found["b"].ratio) == (1, 1, pytest.approx(2.0))
    # The first with the first: 3 over 1, 4 over 9.
    assert (found["c"].n, found["c"].ratio) == (2, pytest.approx(math.sqrt(3 * 4 / 9)))
    assert found["c"].adjusted == min(1.0, 2 * found["c"].wilcoxon)
    assert pairing_columns(report) == []
    [column] = pairing_columns(report, "ab")
    assert column.name == "scheduler.parameters.share"
    with raises_naming(SimpluginError, "'d'", "a, b, c"):
        compared(report, metric, "d")
    # The same by another key that goes with the scheduler, and c swept a parameter.
    sizes = [None, None, None, None, 3, 5]
    report = report_of(
        Column("variation", names, role="varied"),
        Column("scheduler.name", names, role="varied"),
        Column("scheduler", [f"{n} {s}" for n, s in zip(names, sizes, strict=True)], role="varied"),
        Column("scheduler.parameters.buffer", sizes, role="varied"),
        Column("platform.seed", [1, 2] * 2 + [1, 1], role="varied"),
        report.column("makespan"),
        group="variation",
    )
    assert [each.name for each in pairing_columns(report, "ab")] == ["platform.seed"]
    found = compared(report, report.column("makespan"))
    assert (found["b"].n, found["b"].alone) == (2, 0)
    assert (found["c"].n, found["c"].alone) == (1, 1)
    # What c does not know is in the names of the groups that are chosen.
    groups = rows_by_group(report_of(*schedulers.columns))
    assert list(groups) == [
        *(f"{n} (share = {s})" for n, s in zip("aabb", share[:4], strict=True)),
        "c",
    ]
