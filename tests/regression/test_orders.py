"""Which results of scenarios depend on who comes first of actors that are ready at one date."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from simplugin.regression.orders import order_sensitivity
from simplugin.scenarios.loading import load_scenario, run_scenario

SCENARIOS = Path(__file__).parents[2] / "scenarios"


def test_the_orders_that_differ_most_can_be_repeated():
    scenario = load_scenario(SCENARIOS / "demo.toml")
    found = order_sensitivity(scenario, 3)
    makespan = next(each for each in found.ranges if each.name == "makespan")
    assert found.depends
    assert found.ties
    assert makespan.n_other == 3
    assert makespan.usual == run_scenario(scenario).row["makespan"]
    assert found.metric == "makespan"
    values = []
    for order in found.farthest:
        simulation = replace(scenario.simulation, order=order)
        values.append(run_scenario(replace(scenario, simulation=simulation)).row["makespan"])
    assert values == [makespan.least, makespan.largest]
    assert found.divergence.first[0].date == 0.0


@pytest.mark.parametrize(("name", "status"), [("demo", 1), ("market", 0)])
def test_the_command(name, status, simplugin):
    file = SCENARIOS / f"{name}.toml"
    done = simplugin("robust", file, "--orders", "2")
    assert done.returncode == status
    assert ("first difference" in done.stdout) == bool(status)
    told = json.loads(simplugin("robust", file, "--orders", "2", "--json").stdout)
    assert (told["orders"], told["depends"]) == (2, bool(status))
    assert all(each["n_other"] == 0 for each in told["metrics"]) != bool(status)


def test_a_back_end_that_has_no_orders(simplugin, tmp_path):
    text = (SCENARIOS / "market.toml").read_text()
    file = tmp_path / "market.toml"
    file.write_text(text + '\n[simulation]\nback_end = "threads"\n')
    done = simplugin("robust", file)
    assert done.returncode == 2
    assert "threads" in done.stderr
