"""The shipped study of a link: known parameters come back from a table of transfer times."""

import contextlib
import runpy
import shutil
from pathlib import Path

import numpy as np
import pytest

from simplugin.calibration.calibrating import calibrate_predictions
from simplugin.calibration.evaluation import Evaluator
from simplugin.calibration.study import load_study
from simplugin.campaigns.running.campaign_runs import LocalRunners

STUDIES = Path(__file__).parents[2] / "scenarios" / "studies"
KNOWN = runpy.run_path(str(STUDIES / "network.py"))
TRUE = {
    "platform.parameters.latency": KNOWN["LATENCY"],
    "simulation.options.latency_factor.65536": KNOWN["LATENCY_FACTORS"][1],
    "simulation.options.bandwidth_factor.0": KNOWN["BANDWIDTH_FACTORS"][0],
    "simulation.options.bandwidth_factor.65536": KNOWN["BANDWIDTH_FACTORS"][1],
}
BANDWIDTH = "platform.parameters.bandwidth"


class _TransferTimes:
    """Predictions by the closed form of CM02 with factors by size."""

    def __init__(self, study):
        self.study = study
        self.runs = self.failed = 0
        self.seconds, self.failure = 0.0, ""

    def predict(self, points, rows):
        """Return transfer times, shape (n_points, n_rows, 1)."""
        return np.array([[[self._time(point, row)] for row in rows] for point in points])

    def _time(self, point, row):
        """Return the time of a row."""
        given = {} if point is None else self.study.values(point)
        size = self.study.rows[row].cells["bytes"]
        above = "65536" if size > 65536 else "0"
        factor = {
            kind: given.get(f"simulation.options.{kind}_factor.{above}", 1.0)
            for kind in ("latency", "bandwidth")
        }
        latency = given.get("platform.parameters.latency", 1e-4) * factor["latency"]
        return latency + size / (given.get(BANDWIDTH, 125e6) * factor["bandwidth"])


def study_in(place, seed=0, free_bandwidth=False):
    """Return a copy of the study with the table of a seed, perhaps with a free bandwidth."""
    shutil.copytree(STUDIES, place, ignore=shutil.ignore_patterns("out", "__pycache__"))
    with (place / "network.csv").open("w") as table, contextlib.redirect_stdout(table):
        KNOWN["main"](seed)
    file = place / "network.toml"
    if free_bandwidth:
        text = file.read_text()
        assert f"# {BANDWIDTH}" in text
        file.write_text(text.replace(f"# {BANDWIDTH}", BANDWIDTH))
    return load_study(file)


def test_known_parameters_are_in_their_intervals(tmp_path):
    """Intervals of 95 % hold the known parameters: all for the shipped table, most for others."""
    inside = []
    for seed in range(16):
        study = study_in(tmp_path / str(seed), seed)
        found = calibrate_predictions(study, _TransferTimes(study))
        assert {each.key for each in found.parameters} == TRUE.keys()
        assert not found.not_identified
        assert found.within_budget
        for each in found.parameters:
            low, high = each.profile
            assert low <= each.value <= high < 2 * low
            inside.append(low <= TRUE[each.key] <= high)
        losses = found.losses["held_out"]
        assert losses["calibrated"] < 0.07 < losses["constant_factor"]
    shipped = (STUDIES / "network.csv").read_text()
    assert shipped == (tmp_path / "0" / "network.csv").read_text()
    assert all(inside[: len(TRUE)])
    # At a probability of 0.95 each, fewer than 57 of 64 are improbable.
    assert sum(inside) >= 57


def test_products_act_alike(tmp_path):
    """A free bandwidth and its factors are named together; latencies stay identified."""
    study = study_in(tmp_path / "two", free_bandwidth=True)
    found = calibrate_predictions(study, _TransferTimes(study))
    alike = {BANDWIDTH, *(each for each in TRUE if "bandwidth" in each)}
    assert [set(each) for each in found.not_identified] == [alike]
    assert {each.key for each in found.parameters if not each.identified} == alike


def test_simgrid_has_the_closed_form(tmp_path):
    """Runs of the study, at other values than those of the file, take the closed form's times."""
    study = study_in(tmp_path / "three")
    rows = [0, len(study.rows) // 2, len(study.rows) - 1]
    points = [None, (0.7, 0.4, 0.3, 0.8)]
    runners = LocalRunners(1)
    try:
        ours = Evaluator(study, tmp_path / "runs.sqlite", runners).predict(points, rows)
    finally:
        runners.close()
    assert ours == pytest.approx(_TransferTimes(study).predict(points, rows), rel=1e-9)
