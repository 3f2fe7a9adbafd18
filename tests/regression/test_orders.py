"""Which results of scenarios depend on who comes first of actors that are ready at one date."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from naming import raises_naming

from simplugin.core.errors import DeadlockError, SimulationError
from simplugin.regression import orders
from simplugin.regression.orders import order_sensitivity
from simplugin.results.row import Metric, Row
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


FOUND = {None: (3.0, 1.0, math.nan), 0: (3.0, math.nan, 2.0), 1: (5.0, 1.0, "text")}


def test_metrics_that_are_no_numbers(monkeypatch):
    scenario = load_scenario(SCENARIOS / "market.toml")
    whole = run_scenario(scenario)

    def run(_, order):
        metrics = tuple(Metric(*each) for each in zip("abc", FOUND[order], strict=True))
        return replace(whole, row=Row(metrics, {}))

    monkeypatch.setattr(orders, "_run", run)
    found = order_sensitivity(scenario, 2)
    json.dumps(found.document(), allow_nan=False)
    rows = [(each.name, each.least, each.largest, each.n_other) for each in found.ranges]
    assert rows == [("a", 3.0, 5.0, 1), ("b", 1.0, 1.0, 1)]
    assert (found.metric, found.farthest) == ("a", (None, 1))


def test_an_order_that_fails_is_named(monkeypatch):
    def fail(scenario):
        if scenario.simulation.order == 1:
            raise DeadlockError(2.0, ())
        return usual

    scenario = load_scenario(SCENARIOS / "market.toml")
    usual = run_scenario(scenario)
    monkeypatch.setattr(orders, "run_scenario", fail)
    with raises_naming(SimulationError, "order 1", "2 s"):
        order_sensitivity(scenario, 3)
