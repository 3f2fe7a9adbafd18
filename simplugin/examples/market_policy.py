"""A market for bundles: the best peer gets a part, the others equal shares of the rest."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from simplugin.market import in_proportion
from simplugin.scenarios import load_scenario, run_scenario


def parts(
    values: NDArray[np.float64],
    n_tasks: int,
    capacities: NDArray[np.int64],
    discounts: NDArray[np.float64],
    *,
    part: float = 0.5,
) -> tuple[NDArray[np.int64], float]:
    """Return the tasks of each peer and the price of a task.

    Each peer reports the value of its first task, the maximum number of tasks that it takes, and
    the ratio of the value of each further task to that of the previous one.
    """
    weights = np.full(len(values), (1 - part) / max(1, len(values) - 1))
    weights[np.argmax(values)] = part
    return in_proportion(weights, n_tasks, capacities), float(np.min(values))


def test_little_of_the_largest_benefit_is_lost():
    row = run_scenario(load_scenario(Path(__file__).with_suffix(".toml"))).row
    assert 0 <= row.gap < 0.2
