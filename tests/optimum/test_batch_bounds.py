"""Bounds and optima of batch schedules, beside all schedules of a few jobs."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simplugin.core.errors import InfeasibleError
from simplugin.optimum.batch_bounds import LastEndBound, last_end_bound, sum_of_ends_bound
from simplugin.optimum.models import batch_schedule

N_NODES = 4
JOBS = st.lists(
    st.tuples(st.integers(0, 8), st.integers(1, N_NODES), st.integers(1, 7)),
    min_size=1,
    max_size=4,
)
Jobs = Sequence[tuple[int, int, int]]


def best(jobs: Jobs) -> tuple[float, float]:
    """Return the least last end and the least sum of ends: some order, each job at its earliest."""
    found = []
    for order in itertools.permutations(jobs):
        placed: list[tuple[int, int, int]] = []
        for submit, size, time in order:
            dates = sorted({submit, *(end for _, end, _ in placed if end > submit)})
            start = next(
                date
                for date in dates
                if all(
                    sum(width for begin, end, width in placed if begin <= at < end) + size
                    <= N_NODES
                    for at in range(date, date + time)
                )
            )
            placed.append((start, start + time, size))
        found.append([end for _, end, _ in placed])
    return min(map(max, found)), min(map(sum, found))


@given(JOBS)
def test_no_schedule_is_below_the_bounds(jobs: Jobs) -> None:
    submit, size, time = np.array(jobs).T
    last, total = best(jobs)
    assert last_end_bound(submit * 1.0, size, time * 1.0, N_NODES).value <= last + 1e-9
    assert sum_of_ends_bound(submit * 1.0, size, time * 1.0, N_NODES) <= total + 1e-9


@settings(max_examples=8)
@given(JOBS)
def test_the_program_finds_the_best_schedule(jobs: Jobs) -> None:
    arrays = np.array(jobs).T
    last, total = best(jobs)
    assert batch_schedule(*arrays, N_NODES).solve() == pytest.approx(last, abs=1e-6)
    model = batch_schedule(*arrays, N_NODES, "sum of ends")
    assert model.solve() == pytest.approx(total, abs=1e-6)
    assert (model["start"].value >= arrays[0] - 1e-6).all()


def test_proofs() -> None:
    def bound(*jobs: tuple[float, int, float]) -> LastEndBound:
        submit, size, time = np.array(jobs).T
        return last_end_bound(submit, size.astype(np.int64), time, N_NODES)

    assert bound((3, 2, 10)) == LastEndBound(13, "longest")
    assert bound((0, 2, 5), (0, 2, 5), (0, 4, 1)) == LastEndBound(6, "area")
    # Two jobs on three nodes run one after the other, whatever fits beside them.
    assert bound((0, 3, 5), (0, 3, 5), (0, 1, 1)) == LastEndBound(10, "wide")
    with pytest.raises(InfeasibleError):
        bound((0, 5, 1))
