"""The simulations of shipped scenarios end with the same bytes as their branches."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from simplugin.scenarios.loading import load_scenario, run_scenario
from simplugin.simulation import Result, Simulation
from simplugin.simulation.simulate import SimulationJob

SCENARIOS = Path(__file__).parents[2] / "scenarios"
N_PAUSES = 2


@pytest.fixture
def branched(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Branch all simulations at several pauses; returns the dates at which a branch was right."""
    dates: list[float] = []
    whole = SimulationJob.run

    def run(job: SimulationJob) -> Result:
        result = whole(job)
        body = pickle.dumps(result)
        steps = replace(job, settings=replace(job.settings, steps=True))
        supervision = steps.supervision()
        with supervision.started():
            with steps.locating():
                supervision.wait()
            sim = Simulation(steps, supervision)
            for date in np.linspace(0, result.clock, N_PAUSES, endpoint=False).tolist():
                sim.run_until(date)
                with sim.branch(quiet=True) as other:
                    assert pickle.dumps(other.run()) == body
                dates.append(date)
            assert pickle.dumps(sim.run()) == body
        return result

    monkeypatch.setattr(SimulationJob, "run", run)
    return dates


@pytest.mark.parametrize("name", [each.name for each in sorted(SCENARIOS.glob("*.toml"))])
def test_branches_of_scenarios(name: str, branched: list[float]) -> None:
    run_scenario(load_scenario(SCENARIOS / name))
    assert len(branched) >= N_PAUSES
