"""Pages of reports that have something unusual."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import gmean
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select

from simplugin.reports.page import CampaignReport, Column, KeptRun
from simplugin.results.curves import CurvePlot

ERRORS = 25
LONG = "the_metric_of_which_the_name_" * 6


@pytest.fixture(scope="module")
def odd_rows():
    """Factor, seed beyond 2**53, number among equal runs, and value: some fail, each otherwise."""
    rng = np.random.default_rng(8)
    runs = product(range(2), range(4), (5.0, 0.5, None))
    found = [[factor, 2**63 + seed, n, float(rng.lognormal(0, 4))] for n, seed, factor in runs]
    return found + [[None, 2**63 + 100 + at, 0, None] for at in range(ERRORS)]


@pytest.fixture
def odd(open_report, odd_rows):
    """Groups that are numbers or nothing, seeds that JavaScript cannot count, long names."""
    failed = [row[3] is None for row in odd_rows]
    names = {"s": ("a" * 30, "\u6d4b\u8bd5" * 20, "near the right end")}
    points = CurvePlot("f", LONG, "x", "y", {"s": ([0, 1, 2], [1, 2, 3])}, names=names)
    report = CampaignReport(
        title="Odd",
        columns=(
            Column("workload.factor", [row[0] for row in odd_rows], role="varied"),
            Column("workload.seed", [row[1] for row in odd_rows], role="varied"),
            Column("spread", [row[3] for row in odd_rows], "s", sense="min"),
            Column(LONG, [float(at) for at in range(len(odd_rows))]),
        ),
        position=range(len(odd_rows)),
        status=["failed" if each else "done" for each in failed],
        failure=["error" if each else "" for each in failed],
        error=[f"=error {at}, of its own" if each else "" for at, each in enumerate(failed)],
        total=len(odd_rows),
        baseline=5,
        kept=(KeptRun(LONG, 1, (points,)),),
    )
    page = open_report(report)
    yield page
    assert page.driver.get_log("browser") == []


def odd_ratio(rows, left_out=()):
    """Return the comparison of factor 0.5 with 5 on the page."""
    values = {tuple(row[:3]): row[3] for at, row in enumerate(rows) if at not in left_out}
    keys = [key[1:] for key in values if key[0] == 0.5 and (5.0, *key[1:]) in values]
    return len(keys), gmean([values[0.5, *key] / values[5.0, *key] for key in keys])


def test_groups_of_numbers_of_nothing_and_of_all(odd, odd_rows):
    assert odd.texts("#summary tbody th") == ["0.5", "5", "(none)"]
    assert odd.one("#comparison-title").text == "spread, relative to 5"
    shown = odd.numbers("comparison")
    assert set(shown) == {"0.5", "(none)"}
    pairs, ratio = odd_ratio(odd_rows)
    assert shown["0.5"]["pairs"] == pairs == 8
    assert shown["0.5"]["ratio"] == pytest.approx(ratio)
    assert odd.numbers("summary")["(none)"]["missing"] == ERRORS
    # The first of two equal runs is gone: the second is still the second.
    odd.filter("spread", f"!={odd_rows[1][3]!r}", f"{len(odd_rows) - ERRORS - 1} of 49 runs")
    pairs, ratio = odd_ratio(odd_rows, left_out={1})
    shown = odd.numbers("comparison")
    assert (shown["0.5"]["pairs"], shown["0.5"]["alone"]) == (pairs, 0)
    assert shown["0.5"]["ratio"] == pytest.approx(ratio)
    # A scale of logarithms has geometric means.
    done = [(row[0], row[3]) for at, row in enumerate(odd_rows) if row[3] is not None and at != 1]
    means = [gmean([v for g, v in done if g == group]) for group in (0.5, 5.0, None)]
    marks = [float(each.get_attribute("data-value")) for each in odd.all("#boxes .mean")]
    assert marks == pytest.approx(means)
    # Seeds are no axis unless one wants them.
    assert not odd.one("#across-part").is_displayed()
    odd.choose("group", "")
    assert odd.texts("#summary tbody th") == ["all runs"]
    assert odd.texts("#across option[selected]") == ["workload.factor"]
    odd.choose("across", "workload.seed")
    assert odd.one("#across-part").is_displayed()


def test_numbers_keep_their_digits(odd, odd_rows):
    Select(odd.one("#page-size")).select_by_value("100")

    seeds = [row[1] for row in odd_rows]
    assert [int(each.replace("\u202f", "")) for each in odd.column("workload.seed")] == seeds
    spread = odd.column("spread")[: len(odd_rows) - ERRORS]
    for text, row in zip(spread, odd_rows, strict=False):
        written = text.replace("\u202f", "").replace("\u2212", "-")
        assert float(written) == float(f"{row[3]:.5g}")
    odd.click('th[data-column="workload.seed"] button')
    order = sorted(range(len(seeds)), key=seeds.__getitem__)
    assert odd.runs() == order
    odd.filter("workload.seed", f"={2**63 + 2}", "6 of 49 runs")
    odd.filter("workload.seed", f">{2**63 + 100}", f"{ERRORS - 1} of 49 runs")


def test_many_failures_and_long_names(odd):
    items = odd.all("#failure-list > li")
    assert len(items) == 21
    assert "5 more messages, of 5 runs" in items[-1].text
    odd.filter("spread", ">0", "24 of 49 runs")
    items[3].find_element(By.CSS_SELECTOR, "button").click()
    odd.wait(lambda: odd.looked_at() == "1 of 49 runs")
    assert odd.column("error") == ["=error 27, of its own"]
    odd.click("#failure-list > li:last-child button")
    assert len(odd.all("#failure-list > li")) == ERRORS
    odd.click("#clear")
    odd.choose("metric", LONG)
    ends = odd.script(
        """const svg = document.querySelector("#kept svg").getBoundingClientRect();
        return [...document.querySelectorAll("#kept circle ~ text")].map((text) => {
          const box = text.getBoundingClientRect();
          return [box.left - svg.left, svg.right - box.right];
        })"""
    )
    assert len(ends) == 3
    assert min(min(each) for each in ends) >= 0
    odd.use_window(400)
    odd.use_window()


def test_parameters_of_one_scheduler_pair_no_runs_of_another(open_report, report_of):
    steps = {"a": (0.1, 0.2), "b": (None,), "c": (0.2, 0.3)}
    rows = [(name, step, seed) for name in steps for step in steps[name] for seed in (1, 2, 3)]
    worth = {("a", 0.1): 10.0, ("a", 0.2): 20.0, ("b", None): 15.0, ("c", 0.2): 60.0}
    values = [worth.get(row[:2], 1.0) * row[2] for row in rows]
    report = report_of(
        Column("scheduler.name", [row[0] for row in rows], role="varied"),
        Column("scheduler.parameters.step", [row[1] for row in rows], role="varied"),
        Column("platform.seed", [row[2] for row in rows], role="varied"),
        Column("makespan", values, sense="min"),
        group="scheduler.name",
    )
    shown = open_report(report).numbers("comparison")
    # b knows no steps: it has a partner in the first run of a of each seed; c has those of 0.2.
    assert (shown["b"]["pairs"], shown["c"]["pairs"]) == (3, 3)
    assert shown["b"]["ratio"] == pytest.approx(1.5)
    assert shown["c"]["ratio"] == pytest.approx(3.0)
