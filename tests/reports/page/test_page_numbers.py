"""Numbers of a page against those of the figures for papers."""

import math
import re

import numpy as np
import pytest
from scipy.stats import t as student
from scipy.stats import wilcoxon

from simplugin.reports.comparisons import corrected, paired, signed_rank_test
from simplugin.reports.distributions import profiles
from simplugin.reports.statistics import summary

SCHEDULERS = ("bags.fcfs", "bags.prices", "bags.lag")
HOSTS = (10, 20, 40)


def expected_summary(values):
    """Compute the summary with the functions that figures for papers use."""
    found = summary(values)
    return {
        "n": found.n,
        "missing": found.missing + found.infinite,
        "mean": found.mean,
        "mean-low": found.mean_interval and found.mean_interval.low,
        "geometric": found.geometric_mean,
        "geometric-low": found.geometric_interval and found.geometric_interval.low,
        "min": found.least,
        "q1": found.quartiles and found.quartiles[0],
        "median": found.median,
        "q3": found.quartiles and found.quartiles[1],
        "max": found.most,
    }


def check_numbers(page, rows, group, metric, chosen=lambda _: True):
    shown = page.numbers("summary")
    by_group = {}
    for row in filter(chosen, rows):
        by_group.setdefault(str(row[group]), []).append(None if row[5] else row[metric])
    assert page.texts("#summary tbody th") == list(by_group)
    for name, values in by_group.items():
        for key, value in expected_summary(values).items():
            assert shown[name][key] == (value and pytest.approx(value, rel=1e-9)), (name, key)


def by_instance(rows):
    """Return the makespans of each scheduler by hosts and seed."""
    values = {name: {} for name in SCHEDULERS}
    for row in rows:
        values[row[0]][row[1], row[2]] = None if row[5] else row[3]
    return values


def check_comparison(page, rows, baseline, chosen=lambda _: True):
    values = by_instance(filter(chosen, rows))
    shown = page.numbers("comparison")
    assert set(shown) == set(SCHEDULERS) - {baseline}
    base = values.pop(baseline)
    comparisons = corrected({name: paired(each, base) for name, each in values.items()})
    for name, found in shown.items():
        wanted = comparisons[name]
        counts = [found[each] for each in ("pairs", "below", "equal", "above", "alone")]
        alone = wanted.alone + wanted.missing
        assert counts == [wanted.n, wanted.wins, wanted.ties, wanted.losses, alone]
        numbers = [found[each] for each in ("ratio", "ratio-low", "p")]
        known = [wanted.ratio, wanted.interval.low, wanted.adjusted]
        assert numbers == pytest.approx(known, rel=1e-9)


def test_numbers_are_those_of_the_figures_before_and_after_a_filter(page, rows):
    assert page.looked_at() == "90 runs"
    check_numbers(page, rows, 0, 3)
    check_comparison(page, rows, "bags.fcfs")
    page.choose("baseline", "bags.lag")
    check_comparison(page, rows, "bags.lag")
    page.filter("platform.hosts", ">10", "60 of 90 runs")
    check_numbers(page, rows, 0, 3, lambda row: row[1] > 10)
    check_comparison(page, rows, "bags.lag", lambda row: row[1] > 10)
    page.choose("metric", "surplus")
    check_numbers(page, rows, 0, 4, lambda row: row[1] > 10)
    assert "not defined" in page.one("#summary").text
    assert "not above 0" in page.one("#summary-note").text
    page.clear()
    page.choose("group", "platform.hosts")
    check_numbers(page, rows, 1, 4)
    page.click("#every-metric summary")
    page.wait(lambda: len(page.all("#every-summary tr[data-group]")) == 2 * 3)


def test_quantiles_of_student_are_right(page):
    freedoms = [*range(1, 200), 1000, 10_000, 100_000]
    found = page.script("return arguments[0].map(tQuantile)", freedoms)
    wanted = student.ppf(0.975, freedoms)
    np.testing.assert_allclose(found[:30], wanted[:30], rtol=1e-12)
    np.testing.assert_allclose(found[30:], wanted[30:], rtol=2e-8)


def last_height(path):
    """Return the part of the frame's height at which a curve ends."""
    return (236 - float(re.findall(r"V([\d.]+)", path.get_attribute("d"))[-1])) / 210


def test_plots_show_the_runs_that_are_looked_at(page, rows):
    finite = [row for row in rows if not row[5] and row[3] is not None and math.isfinite(row[3])]
    assert len(page.all("#boxes circle")) == len(finite)
    assert page.texts("#boxes text title") == list(SCHEDULERS)
    assert page.texts("#ecdf .legend li") == list(SCHEDULERS)
    dashes = {each.get_attribute("stroke-dasharray") for each in page.all("#ecdf path")}
    assert len(dashes) == len(SCHEDULERS)
    assert len(page.all("#across-plot circle")) == len(SCHEDULERS) * len(HOSTS)
    # Failed and missing runs are never reached: the last step is at the part that has a value.
    for name, path in zip(SCHEDULERS, page.all("#ecdf path"), strict=True):
        reached = sum(row[0] == name for row in finite) / 30
        assert last_height(path) == pytest.approx(reached, abs=1e-3)
    marks = [float(each.get_attribute("data-value")) for each in page.all("#boxes .mean")]
    means = [np.mean([row[3] for row in finite if row[0] == name]) for name in SCHEDULERS]
    assert marks == pytest.approx(means)
    page.filter("scheduler.name", "lag", "30 of 90 runs")
    assert page.texts("#boxes text title") == ["bags.lag"]
    assert len(page.all("#boxes circle")) == sum(row[0] == "bags.lag" for row in finite)
    assert not page.one("#comparison-part").is_displayed()


def test_signed_ranks_are_those_of_the_figures(page):
    rng = np.random.default_rng(4)
    samples = [rng.normal(0.3, 1.0, n) for n in (1, 2, 7, 20, 50, 51, 400)]
    samples += [rng.integers(-3, 5, n).astype(float) for n in (12, 50, 90)]
    samples += [np.zeros(4), np.arange(1.0, 61.0), np.arange(1.0, 31.0)]
    found = page.script(
        "return arguments[0].map(signedRankTest)", [each.tolist() for each in samples]
    )
    assert found == pytest.approx([signed_rank_test(each) for each in samples], rel=1e-9)
    assert found[3] == pytest.approx(wilcoxon(samples[3], method="exact").pvalue)


def test_profiles_are_those_of_the_figures(page, rows):
    wanted = profiles(by_instance(rows), sense="min")
    found = page.script(
        """const found = profilesOf(view.metric, grouped(view.group, view.rows));
        return [found.n, found.groups.map((each) => [...each.ratios].filter(Number.isFinite))]"""
    )
    assert found[0] == wanted.n == 30
    for ratios, name in zip(found[1], SCHEDULERS, strict=True):
        finite = wanted.ratios[name][np.isfinite(wanted.ratios[name])]
        np.testing.assert_allclose(ratios, finite, rtol=1e-12)
    # The curve ends at the part of the instances that the scheduler solved.
    solved = np.isfinite(wanted.ratios[SCHEDULERS[0]]).mean()
    assert last_height(page.one("#profile path")) == pytest.approx(solved, abs=1e-3)
    page.choose("metric", "surplus")
    assert not page.one("#profile-part").is_displayed()
