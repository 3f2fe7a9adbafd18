"""A chooser of clusters for tasks of task graphs, which rollouts improve."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from simplugin.scenarios import load_scenario, run_scenario
from simplugin.simulation import Choice
from simplugin.taskgraphs import MappingObservation


def earliest_end(choice: Choice) -> int:
    """Return the option with the earliest estimated end; option 0 is the scheduler's own."""
    seen: MappingObservation = choice.observation
    return int(np.argmin(seen.finish))


def test_rollouts_are_no_worse_than_the_chooser():
    scenario = load_scenario(Path(__file__).with_suffix(".toml"))
    alone = scenario.scheduler.lookahead.model_copy(update={"most": 1})
    scheduler = scenario.scheduler.model_copy(update={"lookahead": alone})
    base = run_scenario(replace(scenario, scheduler=scheduler)).row
    row = run_scenario(scenario).row
    assert row.best.value <= row["makespan"] <= base["makespan"]
    assert (base["branches"], row["branches"] > 0) == (0, True)
