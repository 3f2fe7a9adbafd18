"""Optima of scenarios beside those of their models, on request."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from simplugin.core.errors import ScenarioError, UncertifiedError
from simplugin.optimum.bundle_benefit import largest_benefit
from simplugin.optimum.verification import bundle_optimum, verify_optima
from simplugin.scenarios.loading import load_scenario, run_scenario
from simplugin.scenarios.outputs import outcome_document
from simplugin.workloads.bundle_markets import BundleMarket

SCENARIOS = Path("scenarios").resolve()


def verified(name, tmp_path):
    """Return the table of verified optima of a shipped scenario."""
    text = (SCENARIOS / name).read_text().replace("[scheduler]", "[scheduler]\nverify = true")
    file = tmp_path / name
    file.write_text(text.replace('file = "', f'file = "{SCENARIOS}/'))
    document = json.loads(json.dumps(outcome_document(run_scenario(load_scenario(file)))))
    return document["listings"][-1]


@pytest.mark.parametrize("name", ["pricing.toml", "bags.toml", "market.toml", "taskgraphs.toml"])
def test_both_values_and_their_difference_are_in_the_result(name, tmp_path):
    table = verified(name, tmp_path)
    assert table["title"] == "Verified optima"
    for _, solver, model, difference, tolerance in table["lines"]:
        assert solver - model == pytest.approx(difference)
        assert abs(difference) <= tolerance <= 1e-5 * abs(solver)


def test_values_that_differ_by_more_than_their_tolerances_are_an_error():
    market = BundleMarket([7.0, 12.0], 4, 4, 0.5)
    optimum = bundle_optimum(market, largest_benefit(*market.arguments), "benefit")
    assert verify_optima([optimum]).lines[0][1] == 28.5
    with pytest.raises(UncertifiedError) as caught:
        verify_optima([replace(optimum, value=28.4)])
    assert "28.4" in str(caught.value)
    assert "28.5" in str(caught.value)


def test_a_kind_without_an_optimum_is_refused():
    from simplugin.cli.run import run_command

    with pytest.raises(ScenarioError) as caught:
        run_command(SCENARIOS / "demo.toml", {}, None, verify=True, as_json=True)
    assert caught.value.key == "workload.kind"


def test_cvxpy_is_loaded_on_request_only():
    program = """
import sys, simplugin, simplugin.optimum.models, simplugin.papers.zheng.policies
from simplugin.scenarios.loading import load_scenario, run_scenario
run_scenario(load_scenario("scenarios/pricing.toml"))
assert "cvxpy" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True, cwd=SCENARIOS.parent)
