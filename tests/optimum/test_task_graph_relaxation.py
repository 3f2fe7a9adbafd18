"""The relaxation of task graphs' schedules against other programs and simpler bounds."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simplugin.errors import WorkloadError
from simplugin.optimum import task_graph_bounds
from simplugin.optimum.task_graph_arcs import Arcs, Choices
from simplugin.optimum.task_graph_bounds import (
    area_bound,
    critical_path_bound,
    relaxation,
    relaxation_bound,
)
from simplugin.platforms.sites import SUBSETS, MultiCluster, Site
from simplugin.scenarios.importing import importable
from simplugin.workloads.graph_sets import GraphSet

with importable(Path(__file__).parent):
    from convex_programs import relaxation_program
    from small_task_graphs import EVEN, graph_of, random_set


class TestRelaxation:
    @pytest.mark.parametrize("transfers", [False, True])
    @settings(max_examples=15, derandomize=True)
    @given(seed=st.integers(0, 2**32 - 1), n_graphs=st.integers(1, 3), n_tasks=st.integers(1, 6))
    def test_is_that_of_cvxpy(self, transfers, seed, n_graphs, n_tasks):
        graphs, site = random_set(seed, n_graphs, n_tasks, most=9)
        relaxed = relaxation(graphs, site, transfers=transfers, tolerance=1e-7)
        program = relaxation_program(graphs, site, transfers=transfers)
        assert relaxed.value == pytest.approx(program, rel=1e-6)
        assert relaxed.limit == pytest.approx(program, rel=1e-6)

    @settings(max_examples=20, derandomize=True)
    @given(seed=st.integers(0, 2**32 - 1))
    def test_is_as_good_as_the_simple_bounds(self, seed):
        graphs, site = random_set(seed, 3, 10, most=20)
        relaxed = relaxation(graphs, site, transfers=True).value
        area = area_bound(graphs, site).value
        path = critical_path_bound(graphs, site, transfers=True).value
        assert relaxed >= max(area, path) * (1 - 1e-6)
        assert relaxation_bound(graphs, site, transfers=True).value >= max(area, path)
        assert relaxed >= relaxation(graphs, site).value * (1 - 1e-6)

    @settings(max_examples=15, derandomize=True)
    @given(seed=st.integers(0, 2**32 - 1))
    def test_is_above_that_of_any_numbers_of_processors(self, seed):
        graphs, site = random_set(seed, 2, 5, most=6)
        graphs = replace(graphs, release=np.zeros(2))
        curve = program_of_curves(graphs, site)
        assert relaxation(graphs, site).value >= curve * (1 - 1e-6)

    def test_approaches_that_of_any_numbers_of_processors(self):
        # Where clusters are large, whole numbers hardly matter; there are no windows to help.
        rng = np.random.default_rng(3)
        graph = graph_of(list(1e9 * rng.uniform(1, 9, 12)), alpha=0.05)
        graphs = GraphSet((graph, graph_of([2e9] * 3, [(0, 1), (1, 2)], alpha=0.2, name="chain")))
        site = MultiCluster("large", (("a", 30, 1e9), ("b", 20, 1.3e9))).site()
        curve = program_of_curves(graphs, site)
        path = critical_path_bound(graphs, site).value
        assert curve > 1.05 * max(path, area_bound(graphs, site).value)
        assert relaxation(graphs, site).value == pytest.approx(curve, rel=5e-3)

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


def program_of_curves(graphs: GraphSet, site: Site) -> float:
    """Minimise the makespan if processors need not be whole, with Amdahl's curve as a cone.

    A share y of a task that takes t of all t' = y T has an area of (1 - alpha) (y + alpha y² /
    (t s / w - alpha y)) w / s.
    """
    import cvxpy as cp

    n, unit = graphs.n_tasks, float(graphs.flop.sum()) / site.power + 1e-9
    start, makespan = cp.Variable(n), cp.Variable()
    share = cp.Variable((n, site.n_clusters), nonneg=True)
    part = cp.Variable((n, site.n_clusters), nonneg=True)
    rules = [cp.sum(share, axis=1) == 1, start >= 0]
    loads = [0.0] * site.n_clusters
    for v, k in product(range(n), range(site.n_clusters)):
        alpha, time = graphs.alpha[v], graphs.flop[v] / site.speed[k] / unit
        y, u = share[v, k], part[v, k]
        rules += [u <= y, u >= (alpha + (1 - alpha) / site.processors[k]) * y]
        curve = cp.quad_over_lin(y, u - alpha * y) if 0 < alpha < 1 else 0.0
        loads[k] += time * ((1 - alpha) * (y + alpha * curve) + (y if alpha == 1 else 0.0))
    end = [
        start[v] + sum(part[v, k] * (graphs.flop[v] / site.speed[k] / unit)
                       for k in range(site.n_clusters))
        for v in range(n)
    ]  # fmt: skip
    rules += [date <= makespan for date in end]
    rules += [start[v] >= end[u] for u, v in graphs.edges.tolist()]
    rules += [
        load <= makespan * int(count) for load, count in zip(loads, site.processors, strict=True)
    ]
    problem = cp.Problem(cp.Minimize(makespan), rules)
    problem.solve(solver=cp.CLARABEL)
    return float(makespan.value) * unit


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
