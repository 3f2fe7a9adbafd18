"""Groups of runs, and their comparison."""

import math

import pytest

from simplugin.errors import SimpluginError
from simplugin.reports.groups import compared, pairing_columns, rows_by_group
from simplugin.reports.page.contents import Column
from simplugin.reports.page.documents import report_document


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
    report = report_of(
        Column("scheduler.name", names, role="varied"),
        Column("scheduler.parameters.share", share, role="varied"),
        Column("makespan", [1.0, 9.0, 7.0, 2.0, 3.0, 4.0], "s", sense="min"),
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
    with pytest.raises(SimpluginError, match="there is no group 'd'"):
        compared(report, metric, "d")
