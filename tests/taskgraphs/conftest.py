"""Graphs without data that tests of allocations share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from simplugin.workloads.task_graphs import TaskGraph

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def without_data(
    flop: Sequence[float], alpha: Sequence[float], edges: Sequence[tuple[int, int]]
) -> TaskGraph:
    """Return a graph without data."""
    names = tuple(f"t{task}" for task in range(len(flop)))
    pairs = np.array(edges, dtype=np.int64).reshape(-1, 2)
    return TaskGraph(
        "graph", names, np.array(flop), np.array(alpha), np.zeros(len(flop)), pairs,
        np.zeros(len(pairs)),
    )  # fmt: skip


def in_levels(seed: int, n_tasks: int, n_levels: int) -> TaskGraph:
    """Return a random graph of some levels, whose tasks need 1e9 to 1e12 flop."""
    rng = np.random.default_rng(seed)
    level = np.sort(np.append(rng.integers(0, n_levels, n_tasks - n_levels), range(n_levels)))
    edges = [
        (int(parent), task)
        for task in range(n_tasks)
        for parent in rng.permutation(np.flatnonzero(level == level[task] - 1))[:3]
    ]
    order = rng.permutation(n_tasks)
    return without_data(
        10 ** rng.uniform(9, 12, n_tasks),
        rng.uniform(0, 0.25, n_tasks),
        [(int(order[one]), int(order[other])) for one, other in rng.permutation(edges)],
    )


@pytest.fixture(scope="session", name="graph_of")
def _graph_of() -> Callable[..., TaskGraph]:
    """Return what makes a graph of computation, alpha and edges."""
    return without_data


@pytest.fixture(scope="session", name="layered")
def _layered() -> Callable[..., TaskGraph]:
    """Return what draws a graph of some levels."""
    return in_levels
