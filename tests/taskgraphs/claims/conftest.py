"""Measurements that no simulation made."""

import pytest

from simplugin.taskgraphs import (
    bound_claims,
    past_claims,
    readings_claims,
    section5_claims,
    section7,
    section7_tables,
)
from simplugin.taskgraphs.campaign import STRATEGIES, Measurement
from simplugin.taskgraphs.section7 import Averages

TABLES = (
    section7_tables.table,
    section7_tables.beside,
    section7_tables.mu_table,
    readings_claims.alternative_table,
)
# Mean unfairness and relative makespan in the order of `STRATEGIES`, as the paper tells of them.
UNFAIRNESS = (1.0, 0.64, 1.1, 0.84, 1.2, 0.84, 0.5, 0.65)
LENGTH = (1.15, 1.4, 1.02, 1.95, 1.0, 1.04, 1.16, 1.06)


def told(**changed):
    """Return averages as the paper tells of random graphs, but for some (unfairness, length)."""
    import numpy as np

    counts = (2, 4, 6, 8, 10)
    growing = np.linspace(0.2, 1.8, 5)
    unfairness, relative = np.outer(UNFAIRNESS, growing), np.outer(LENGTH, np.ones(5))
    # Those of S grow.
    relative[0] = np.linspace(1.1, 1.2, 5)
    for name, (unfair, length) in changed.items():
        row = STRATEGIES.index(name)
        unfairness[row], relative[row] = unfair * growing, length
    return Averages(STRATEGIES, counts, unfairness, relative, 100 * relative, 100 * relative)


@pytest.fixture(name="told")
def _told():
    return told


@pytest.fixture
def fake(monkeypatch):
    """Let settings come to what a function of case and setting says.

    It gives a slowdown for the first graph, all others have 1; and the makespan.
    """

    def clear():
        for table in TABLES:
            table.cache_clear()

    def given(outcome):
        def invented(case, setting):
            slowdown, makespan = outcome(case, setting)
            shared = (makespan,) * case.count
            own = (slowdown * makespan,) + (makespan,) * (case.count - 1)
            return Measurement(case, setting.key, own, shared, makespan * 1.1)

        for module in (section7, past_claims, bound_claims, section5_claims):
            monkeypatch.setattr(module, "measured", invented)
        clear()

    yield given
    clear()
