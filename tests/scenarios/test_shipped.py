"""Scenarios of the project itself; that each runs, tests/cli/test_regress.py knows."""

from pathlib import Path

import numpy as np
import pytest
from changed_scenarios import run

SCENARIOS = Path(__file__).parents[2] / "scenarios"


@pytest.mark.parametrize("name", ["demo", "slow_backbone"])
def test_master_and_workers(name):
    outcome = run(SCENARIOS / f"{name}.toml")
    tasks = sum(outcome.result.values("worker"))
    # 150 of either application, with 180 and 45 Gflop, 20 and 240 MB.
    assert tasks == 300
    assert outcome.row["computed"] == pytest.approx(150 * 225e9)
    sent = outcome.result.links.row("grelon_link_1_UP")["bytes"]
    assert sent == pytest.approx(150 * 260e6 + 24 * 1e3)
    # No schedule beats all hosts at full speed, nor the master's link.
    speeds = 6 * 3.647e9 + 3 * 4.311e9 + 3 * 4.384e9 + 4 * 3.379e9 + 8 * 3.185e9
    assert outcome.result.clock >= 150 * 225e9 / speeds
    assert outcome.result.clock >= 150 * 260e6 / 125e6


def test_a_bundle_is_sold_at_the_largest_benefit():
    outcome = run(SCENARIOS / "market.toml")
    assert outcome.row.gap == pytest.approx(0.0, abs=1e-9)
    assert abs(outcome.row["ect_error"]) < 1e-6
    [peers] = outcome.listings
    assert sum(peers.column("tasks")) == 1000
    # Who is idle asks for less than the price for its first task, and nobody else does.
    asked = np.array(peers.column("base price")) >= outcome.row["price"] * (1 - 1e-9)
    assert (np.array(peers.column("tasks")) > 0).tolist() == asked.tolist()
