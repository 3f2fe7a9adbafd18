"""The policy stays near the optimum, and its results stay what they were."""

import pytest

SCENARIO = "../scenarios/small_tree.toml"


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_throughput_is_near_the_optimum(simulation, seed):
    row = simulation(SCENARIO, {"platform.seed": seed}).row
    assert row["tasks"] == 200
    assert -0.05 < row.gap < 0.3


def test_without_a_tolerance_the_result_is_the_recorded_one(simulation, snapshot):
    outcome = simulation(SCENARIO, {"scheduler.parameters.tolerance": 0.0})
    assert outcome == snapshot(rel=1e-9)
