"""The relaxation of task graphs' schedules against other programs and simpler bounds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simplugin.errors import WorkloadError
from simplugin.optimum import task_graph_bounds
from simplugin.optimum.solvers import solve_by_clarabel
from simplugin.optimum.task_graph_arcs import Arcs, Choices
from simplugin.optimum.task_graph_bounds import (
    area_bound,
    critical_path_bound,
    relaxation,
    relaxation_bound,
)
from simplugin.platforms.sites import SUBSETS, Site
from simplugin.scenarios.importing import importable
from simplugin.workloads.graph_sets import GraphSet

with importable(Path(__file__).parent):
    from small_task_graphs import EVEN, graph_of, random_set


def relaxation_program(graphs: GraphSet, site: Site, *, transfers: bool = False) -> float:
    """Return the least makespan of divided tasks by cvxpy and Clarabel [s], to about 1e-8 of it.

    The program of `simplugin.optimum.task_graph_bounds.relaxation` in the order of its
    description, with x_vkp as `share`.
    """
    import cvxpy

    # Its stubs export no functions.
    functions: Any = cvxpy
    choices = Choices(graphs, site, transfers)
    path = float(np.max(choices.earliest + choices.least_time + choices.rest))
    unit = max(path, float(np.sum(graphs.flop)) / site.power) or 1.0
    n, edges = graphs.n_tasks, graphs.edges
    start: Any = cvxpy.Variable(n)
    makespan: Any = cvxpy.Variable()
    # Of each cluster the shares of all its numbers of processors.
    share: list[Any] = [
        cvxpy.Variable((n, processors), nonneg=True) for processors in site.processors.tolist()
    ]

    def total(values: Any, of: Any = slice(None)) -> Any:
        """Return the sum of values over all choices of each task, or of the first of each edge."""
        return sum(
            functions.sum(functions.multiply(x[of], values[:, k, : x.shape[1]] / unit), axis=1)
            for k, x in enumerate(share)
        )

    end = start + total(choices.time)
    constraints = [
        sum(functions.sum(x, axis=1) for x in share) == 1,
        start >= graphs.release[graphs.graph_of] / unit,
        end <= makespan,
    ]
    if len(edges):
        source, target = edges.T
        constraints += [
            start[target] >= end[source] + total(choices.sending, source),
            start[target] >= end[source] + total(choices.receiving, target),
        ]
    margin, member = _windows(choices)
    for k, x in enumerate(share):
        load = functions.sum(functions.multiply(x, choices.load[:, k, : x.shape[1]] / unit), axis=1)
        constraints.append(margin / unit + member @ load <= makespan)
    problem: Any = cvxpy.Problem(cvxpy.Minimize(makespan), constraints)
    solve_by_clarabel(
        problem, "the relaxation", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10
    )
    return float(makespan.value) * unit


def _windows(choices: Choices) -> tuple[Any, Any]:
    """Return the seconds outside of each window, and which tasks run in it, without empty ones."""
    windows = [
        (first + rest, (choices.earliest >= first) & (choices.rest >= rest))
        for first in np.unique(choices.earliest)
        for rest in np.unique(choices.rest)
    ]
    full = [(margin, member) for margin, member in windows if np.any(member)]
    margins, members = zip(*full, strict=True)
    return np.array(margins), np.array(members, dtype=np.float64)


class TestRelaxation:
    @pytest.mark.parametrize("transfers", [False, True])
    @settings(max_examples=10, derandomize=True)
    @given(seed=st.integers(0, 2**32 - 1), n_graphs=st.integers(1, 3), n_tasks=st.integers(1, 6))
    def test_is_that_of_cvxpy(self, transfers, seed, n_graphs, n_tasks):
        graphs, site = random_set(seed, n_graphs, n_tasks, most=9)
        relaxed = relaxation(graphs, site, transfers=transfers, tolerance=1e-7)
        program = relaxation_program(graphs, site, transfers=transfers)
        assert relaxed.value == pytest.approx(program, rel=1e-6)
        assert relaxed.limit == pytest.approx(program, rel=1e-6)

    @settings(max_examples=10, derandomize=True)
    @given(seed=st.integers(0, 2**32 - 1))
    def test_is_as_good_as_the_simple_bounds(self, seed):
        graphs, site = random_set(seed, 3, 10, most=20)
        relaxed = relaxation(graphs, site, transfers=True).value
        area = area_bound(graphs, site).value
        path = critical_path_bound(graphs, site, transfers=True).value
        assert relaxed >= max(area, path) * (1 - 1e-6)
        assert relaxation_bound(graphs, site, transfers=True).value >= max(area, path)
        assert relaxed >= relaxation(graphs, site).value * (1 - 1e-6)

    def test_prices_and_relaxed_schedule(self):
        graphs, site = random_set(7, 3, 10, most=20)
        relaxed = relaxation(graphs, site)
        # A mean of chains is no longer than what the relaxed schedule makes of it, and that of
        # release dates and windows no longer than the bound.
        weighed = relaxed.urgency @ relaxed.time + np.sum(relaxed.load_price * relaxed.load)
        assert weighed <= relaxed.limit * (1 + 1e-6)
        assert np.all(relaxed.load.sum(axis=0) <= relaxed.limit * (1 + 1e-6))
        shortest = Choices(graphs, site).least_time
        assert np.all(relaxed.time >= shortest * (1 - 1e-6))

    def test_urgency_is_a_slope(self):
        # A chain of 2 s and 4 s beside nothing: each second of a task counts in full.
        graphs = GraphSet((graph_of([2e9, 4e9], [(0, 1)], alpha=1.0),))
        relaxed = relaxation(graphs, EVEN)
        assert relaxed.urgency == pytest.approx([1.0, 1.0])
        assert relaxed.load_price == pytest.approx(np.zeros((2, 1)))
        # So many tasks that only the area counts.
        many = relaxation(GraphSet((graph_of([1e9] * 12, alpha=1.0),)), EVEN)
        assert many.load_price == pytest.approx(np.ones((12, 1)))
        assert many.time == pytest.approx(np.ones(12))

    def test_wrong_duals_make_a_bound_all_the_same(self, monkeypatch):
        graphs, site = random_set(11, 2, 6, most=6)
        right = relaxation(graphs, site).value
        rng = np.random.default_rng(0)
        flow = Arcs.unit_flow
        monkeypatch.setattr(
            Arcs, "unit_flow", lambda self, weight: flow(self, weight + rng.random(len(weight)))
        )
        monkeypatch.setattr(task_graph_bounds, "ROUNDS", 5)
        wrong = relaxation(graphs, site).value
        assert 0 < wrong < right * (1 - 1e-3)

    @pytest.mark.parametrize("tolerance", [0.0, 1.0, float("nan")])
    def test_tolerance_out_of_range(self, tolerance):
        with pytest.raises(WorkloadError, match="give a share from 1e-9"):
            relaxation(GraphSet((graph_of([1e9]),)), EVEN, tolerance=tolerance)


def test_paper_site_in_one_go():
    """Ten graphs of a layered shape on Rennes: proven to 1e-6 from both sides."""
    rng = np.random.default_rng(1)
    graphs = []
    for number in range(10):
        edges = [(u, v) for v in range(5, 50) for u in range(v // 5 * 5 - 5, v // 5 * 5)
                 if rng.random() < 0.4]  # fmt: skip
        flop = (1024 * rng.integers(2, 11, 50)) ** 3.0
        graphs.append(
            graph_of(list(flop), edges, alpha=list(rng.uniform(0, 0.25, 50)), name=f"g{number}")
        )
    relaxed = relaxation(GraphSet(tuple(graphs)), SUBSETS["rennes"].site())
    assert relaxed.limit * (1 - 1e-6) <= relaxed.value <= relaxed.limit * (1 + 1e-9)
