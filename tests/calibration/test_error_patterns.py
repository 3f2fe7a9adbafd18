"""Tests of errors against columns, on errors whose dependence is known."""

import numpy as np
import pytest
from calibration import CASES, closed_form, write_study

from simplugin.calibration.calibrating import calibrate_predictions
from simplugin.calibration.error_patterns import error_patterns

SIZES = np.arange(1.0, 16.0)
USES = ["train", "test", "other"] * 5


def significant(errors, **columns):
    """Return the significant patterns of one metric."""
    cells = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    found = error_patterns(cells, ["time"], np.array(errors)[:, None], {"name"})
    return {(each.column, each.kind): each.statistic for each in found if each.is_significant}


def test_dependences_are_found():
    """A trend, a bend and groups are told apart; names of rows are not tested."""
    noise = 0.01 * np.random.default_rng(1).standard_normal(len(SIZES))
    names = [f"r{each}" for each in SIZES]
    columns = {"name": names, "size": SIZES, "use": USES, "seed": [7] * 15, "date": names}
    [(key, tau)] = significant(0.01 * SIZES + noise, **columns).items()
    assert (key, tau > 0.5) == (("size", "trend"), True)
    [(key, tau)] = significant(-0.002 * (SIZES - 8) ** 2 + noise, **columns).items()
    assert (key, tau < -0.5) == (("size", "bend"), True)
    by_use = np.array([0.2 * (each == "test") for each in USES])
    assert {*significant(by_use + noise, **columns)} == {("use", "groups")}
    assert significant(np.zeros(15), **columns) == {}


def test_noise_is_seldom_taken_for_a_dependence():
    """At a level of 5 % over all columns, about 10 of 200 tables of noise have a pattern."""
    random = np.random.default_rng(2)
    draws = (random.standard_normal((3, len(SIZES))) for _ in range(200))
    wrong = sum(bool(significant(each[0], size=each[1], load=each[2], use=USES)) for each in draws)
    assert wrong <= 19


def test_a_scenario_that_lacks_an_effect_is_told(tmp_path):
    """Measured times have a part that the scenario has not: the column is named."""
    study, predictions = closed_form(write_study(tmp_path, seed=1, noise=0.005))
    assert "no dependence" in calibrate_predictions(study, predictions).findings()[-1]
    usual = predictions.makespan
    predictions.makespan = lambda point, row: usual(point, row) / (1 + 0.3 * (CASES[row][0] == 1e8))
    found = calibrate_predictions(study, predictions)
    [first, *_] = found.patterns
    assert (first.column, first.is_significant) == ("work", True)
    assert first.text in found.findings()[-1]
    assert found.document()["findings"] == found.findings()


@pytest.mark.parametrize(("evaluations", "is_linear"), [(40, True), (218, False)])
def test_intervals_without_a_profile_are_told(tmp_path, evaluations, is_linear):
    """A budget that ends before the profiles is named, with one that suffices."""
    study, predictions = closed_form(write_study(tmp_path, options=f"evaluations = {evaluations}"))
    found = calibrate_predictions(study, predictions)
    assert found.within_budget is not is_linear
    assert any(each.is_linear for each in found.parameters) is is_linear
    assert ("218 evaluations" in " ".join(found.findings())) is is_linear
