"""The shipped workflow manager: a closed form, and makespans of real runs."""

import re
import runpy
from pathlib import Path

import pytest

from simplugin.scenarios import load_scenario, run_scenario

SCENARIOS = Path(__file__).parents[2] / "scenarios"


def test_levels_take_a_period_each():
    """A fork and join of three levels takes three negotiation periods."""
    scenario = load_scenario(SCENARIOS / "calibration.toml")
    assert run_scenario(scenario).row["makespan"] == pytest.approx(3 * 20.568)


def test_real_makespans_are_predicted(shared_data, capsys):
    """The mean error of six real runs is at most 10 %."""
    files = sorted((shared_data / "calibration").glob("*.json.xz"))
    assert len(files) == 6
    runpy.run_path(str(SCENARIOS / "workflow_manager.py"))["main"](files)
    errors = re.findall(r"([+-][\d.]+)% of", capsys.readouterr().out)
    assert len(errors) == 6
    assert sum(abs(float(each)) for each in errors) / 6 <= 10
