"""Network bounds of makespans, against all sets of edges and simulations."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_task_graphs import EVEN, graph_of, random_graph, random_set

from simplugin.optimum.task_graph_arcs import Choices
from simplugin.optimum.task_graph_bounds import makespan_bound, network_bound, own_bounds
from simplugin.platforms.sites import MultiCluster, Site
from simplugin.taskgraphs.execution import execute
from simplugin.taskgraphs.policies.allocation import scrap_max
from simplugin.workloads.task_graphs import GraphSet


def crossing(graphs: GraphSet, site: Site) -> float:
    """Return what a star of switches proves: every set of late and early edges, one by one.

    Of each task the earliest end and the least rest come from all paths, walked one after the
    other.
    """
    choices = Choices(graphs, site, transfers=True)
    width: dict[int, float] = {}
    for cluster, switch in enumerate(site.switch.tolist()):
        width[switch] = max(width.get(switch, 0.0), float(site.shared[cluster, cluster]))

    total = sum(width.values())

    def ends(task: int) -> float:
        into = graphs.predecessors
        before = [float(graphs.release[graphs.graph_of[task]])] + [
            ends(int(other)) + float(choices.least_transfer[edge])
            for other, edge in zip(into.of(task), into.edges_of(task), strict=True)
        ]
        return max(before) + float(choices.least_time[task])

    def lasts(task: int) -> float:
        later = [
            lasts(int(v)) + float(choices.least_transfer[edge])
            for edge, (u, v) in enumerate(graphs.edges.tolist())
            if u == task
        ]
        return max(later, default=0.0) + float(choices.least_time[task])

    moved = [
        (ends(u), lasts(v), byte)
        for (u, v), byte in zip(graphs.edges.tolist(), graphs.edge_byte.tolist(), strict=True)
        if byte > 0
    ]
    return max(
        (
            first + rest + sum(b for e, r, b in moved if e >= first and r >= rest) / total
            for first, _, _ in moved
            for _, rest, _ in moved
            if any(e >= first and r >= rest for e, r, _ in moved)
        ),
        default=0.0,
    )


def simulated(graphs: GraphSet, made: MultiCluster) -> float:
    """Return the makespan of an execution of one graph."""
    allocations = [scrap_max(graphs.graphs[0], made.site(), 1.0)]
    done = execute(graphs, made.site(), platform=made.platform(), decisions=allocations)
    return done.makespan


class TestNetwork:
    def test_all_data_of_a_fork_pass_the_switch(self):
        # 1 s on four processors, then 10 times 1e9 byte at 1.25e9 byte/s, then 2 s of one task.
        graph = graph_of([4e9, *[8e9] * 10], [(0, v) for v in range(1, 11)], byte=1e9)
        graphs = GraphSet((graph,), np.array([3.0]))
        assert network_bound(graphs, EVEN).value == pytest.approx(3 + 1 + 10 / 1.25 + 2)
        bound = makespan_bound(graphs, replace(EVEN, speed=EVEN.speed * 100), transfers=True)
        assert (bound.kind, bound.value) == ("network", pytest.approx(3 + 0.01 + 8 + 0.02))
        own = own_bounds(graphs, replace(EVEN, speed=EVEN.speed * 100), transfers=True)
        assert [each.value for each in own] == pytest.approx([0.01 + 8 + 0.02])
        without = makespan_bound(graphs, EVEN, transfers=False)
        assert (without.kind, without.value) == ("area", pytest.approx(3 + 84 / 4))

    def test_no_data_and_no_switch_prove_nothing(self):
        still = GraphSet((graph_of([1e9, 1e9], [(0, 1)]), graph_of([1e9], name="h")))
        assert network_bound(still, EVEN).value == 0.0
        graphs = GraphSet((graph_of([4e9, 4e9], [(0, 1)], byte=1e12),))
        endless = replace(EVEN, shared=np.full((1, 1), np.inf))
        assert network_bound(graphs, endless).value == pytest.approx(2.0)

    @settings(max_examples=25, derandomize=True)
    @given(seed=st.integers(0, 2**32 - 1), factor=st.sampled_from([1.0, 30.0]))
    def test_is_that_of_all_sets_one_by_one(self, seed, factor):
        graphs, site = random_set(seed, 2, 5, most=6)
        heavier = tuple(replace(g, edge_byte=g.edge_byte * factor) for g in graphs.graphs)
        graphs = replace(graphs, graphs=heavier)
        assert network_bound(graphs, site).value == pytest.approx(crossing(graphs, site))

    @pytest.mark.parametrize("one_switch", [True, False])
    def test_no_simulation_is_shorter(self, one_switch):
        clusters = (("a", 3, 4e9), ("b", 4, 3e9))
        made = MultiCluster("s", clusters, one_switch=one_switch, switch_bandwidth=1e8)
        rng, kinds = np.random.default_rng(11), set()
        for _ in range(6):
            graph = random_graph(rng, 10, "g")
            graphs = GraphSet((replace(graph, edge_byte=graph.edge_byte * 20),))
            bound = makespan_bound(graphs, made.site(), transfers=True)
            assert simulated(graphs, made) >= bound.value * (1 - 1e-6)
            kinds.add(bound.kind)
        assert "network" in kinds

    def test_is_reached_where_the_switch_is_never_idle(self):
        made = MultiCluster("even", (("a", 4, 1e9),), bandwidth=1e12)
        graph = graph_of([4e9, *[0.0] * 10], [(0, v) for v in range(1, 11)], byte=1e9)
        graphs = GraphSet((graph,))
        bound = makespan_bound(graphs, made.site(), transfers=True)
        assert (bound.kind, bound.value) == ("network", pytest.approx(1 + 10 / 1.25))
        # Only latencies are left out.
        assert bound.value < simulated(graphs, made) < bound.value + 1e-2
