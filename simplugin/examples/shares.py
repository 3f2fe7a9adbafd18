"""Shares of task graphs: in proportion to the number of precedence levels."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from simplugin.platforms import Site
from simplugin.scenarios import load_scenario, run_scenario
from simplugin.workloads import TaskGraph


def by_depth(graphs: Sequence[TaskGraph], site: Site, *, power: float = 1.0) -> NDArray[np.float64]:
    """Return the share of each graph, above 0 and up to 1; they need not be 1 together."""
    levels = np.array([graph.level.max() + 1.0 for graph in graphs]) ** power
    shares: NDArray[np.float64] = levels / levels.sum()
    return shares


def test_the_makespan_is_above_its_bound():
    outcome = run_scenario(load_scenario(Path(__file__).with_suffix(".toml")))
    assert 0 <= outcome.row.gap < 1
    assert sum(outcome.listings[0].column("beta")) == 1
