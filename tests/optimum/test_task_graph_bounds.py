"""Lower bounds on makespans, against closed forms, other programs and schedules."""

from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naming import raises_naming
from small_task_graphs import EVEN, TWO, graph_of, random_graph, random_set, random_site

from simplugin.core.errors import WorkloadError
from simplugin.optimum import task_graph_bounds
from simplugin.optimum.task_graph_arcs import Arcs, Choices
from simplugin.optimum.task_graph_bounds import (
    area_bound,
    critical_path_bound,
    makespan_bound,
    network_bound,
    own_bounds,
    relaxation,
)
from simplugin.platforms.sites import SUBSETS, MultiCluster, Site
from simplugin.taskgraphs.execution import execute
from simplugin.taskgraphs.policies.allocation import scrap_max
from simplugin.workloads.task_graphs import GraphSet


def duration(graphs: GraphSet, site: Site, task: int, cluster: int, processors: int) -> float:
    """Return Amdahl's time."""
    alpha = graphs.alpha[task]
    part = alpha + (1 - alpha) / processors
    return float(part * graphs.flop[task] / site.speed[cluster])


def moving(site: Site, byte: float, source: tuple[int, int], target: tuple[int, int]) -> float:
    """Return the time of a redistribution between numbers of processors of two clusters."""
    if byte == 0:
        return 0.0
    (k, m), (other, n) = source, target
    limits = (m * site.bandwidth[k], n * site.bandwidth[other], site.shared[k, other])
    return float(site.latency[k, other] + byte / min(limits))


def makespan_of(
    graphs: GraphSet,
    site: Site,
    order: tuple[int, ...],
    choice: list[tuple[int, int]],
    transfers: bool,
) -> float:
    """Start tasks in this order, each as early as its processors and its data allow."""
    free = [[0.0] * int(count) for count in site.processors]
    finish = np.zeros(graphs.n_tasks)
    into, release = graphs.predecessors, graphs.release[graphs.graph_of]
    for task in order:
        cluster, processors = choice[task]
        start = release[task]
        for before, edge in zip(into.of(task), into.edges_of(task), strict=True):
            byte = float(graphs.edge_byte[edge]) if transfers else 0.0
            way = moving(site, byte, choice[before], choice[task])
            start = max(start, finish[before] + way)
        rooms = sorted(free[cluster])
        start = max(start, rooms[processors - 1])
        finish[task] = start + duration(graphs, site, task, cluster, processors)
        free[cluster] = [*rooms[processors:], *[finish[task]] * processors]
    return float(finish.max())


def orders(graphs: GraphSet) -> list[tuple[int, ...]]:
    """Return all orders in which each task comes after its predecessors."""
    return [
        order
        for order in permutations(range(graphs.n_tasks))
        if all(order.index(u) < order.index(v) for u, v in graphs.edges.tolist())
    ]


def optimum(graphs: GraphSet, site: Site, transfers: bool) -> float:
    """Return the makespan of the best of all schedules.

    In the order of their starts, each can be started as early as possible: none gets later.
    """
    pairs = [(k, p) for k, count in enumerate(site.processors) for p in range(1, count + 1)]
    return min(
        makespan_of(graphs, site, order, list(choice), transfers)
        for order in orders(graphs)
        for choice in product(pairs, repeat=graphs.n_tasks)
    )


class TestClosedForms:
    def test_area(self):
        graphs = GraphSet((graph_of([3e9, 4e9, 7e9]),))
        assert area_bound(graphs, TWO).value == pytest.approx(14 / 7)

    def test_area_of_what_comes_late(self):
        parts = (graph_of([7e9], name="first"), graph_of([14e9], name="second"))
        graphs = GraphSet(parts, np.array([0.0, 5.0]))
        assert area_bound(graphs, TWO).value == pytest.approx(5 + 14 / 7)
        early = replace(graphs, release=np.array([0.0, 0.5]))
        assert area_bound(early, TWO).value == pytest.approx(21 / 7)

    def test_critical_path_takes_the_best_cluster_for_each_task(self):
        # With alpha = 1 the faster processors count, without the larger power: 3e9 against 4e9.
        slow = replace(TWO, speed=np.array([2e9, 2.5e9]))
        graph = graph_of([6e9, 5e9, 1e9], [(0, 1)], alpha=[0.0, 1.0, 0.0])
        bound = critical_path_bound(GraphSet((graph,), np.array([10.0])), slow)
        assert bound.value == pytest.approx(10 + 6e9 / 6e9 + 5e9 / 2.5e9)

    def test_transfers_between_the_best_ends(self):
        graph = graph_of([4e9, 4e9], [(0, 1)], byte=1e8)
        bound = critical_path_bound(GraphSet((graph,)), TWO, transfers=True)
        # Within the larger cluster: three links of 1.25e8 byte/s on either side, one switch.
        assert bound.value == pytest.approx(1 + 1 + 150e-6 + 1e8 / 3.75e8)

    def test_alike_tasks_fill_the_site(self):
        # With alpha = 1, one processor is as fast as four: 12 tasks of 1 s on 4 processors.
        graphs = GraphSet((graph_of([1e9] * 12, alpha=1.0),))
        assert makespan_bound(graphs, EVEN).value == pytest.approx(3.0)
        assert makespan_bound(graphs, EVEN).kind == "area"

    @pytest.mark.parametrize("alpha", [0.0, 0.1, 1.0])
    def test_single_task(self, alpha):
        graphs = GraphSet((graph_of([8e9], alpha=alpha),))
        bound = makespan_bound(graphs, EVEN)
        assert bound.value == pytest.approx(8 * (alpha + (1 - alpha) / 4))
        assert bound.kind == "critical path"

    def test_chord_of_whole_processors(self):
        # A chain of two beside a task of their size, on two processors, all alike. Chain with a
        # share s of each task on two: 2 (1 - s/4) s; area 3 + s for two processors: both meet at
        # s = 1/2. The area of Amdahl's curve at the time of 7/8 is less than the chord's 5/4.
        site = MultiCluster("pair", (("a", 2, 1e9),)).site()
        chain = graph_of([1e9, 1e9], [(0, 1)], alpha=0.5)
        graphs = GraphSet((chain, graph_of([1e9], alpha=0.5, name="beside")))
        bound = makespan_bound(graphs, site)
        assert bound.kind == "relaxation"
        assert bound.value == pytest.approx(7 / 4, rel=1e-6)

    def test_window_between_narrow_ends(self):
        # A fork: nothing of its middle can run in the first and the last second.
        fork = [(0, v) for v in range(1, 9)] + [(v, 9) for v in range(1, 9)]
        graphs = GraphSet((graph_of([1e9, *[1e9] * 8, 1e9], fork, alpha=1.0),))
        assert makespan_bound(graphs, EVEN).value == pytest.approx(1 + 8 / 4 + 1)
        in_turn = makespan_of(graphs, EVEN, tuple(range(10)), [(0, 1)] * 10, transfers=False)
        assert in_turn == pytest.approx(4.0)

    def test_late_graphs_have_windows(self):
        parts = (graph_of([3e9], alpha=1.0), graph_of([1e9] * 8, alpha=1.0, name="late"))
        graphs = GraphSet(parts, np.array([0.0, 2.5]))
        assert makespan_bound(graphs, EVEN).value == pytest.approx(2.5 + 8 / 4)

    def test_no_work(self):
        graphs = GraphSet((graph_of([0.0, 0.0], [(0, 1)]),))
        assert makespan_bound(graphs, EVEN).value == 0.0
        late = replace(graphs, release=np.array([2.0]))
        assert makespan_bound(late, EVEN).value == pytest.approx(2.0)

    def test_slow_links_call_for_many_processors(self):
        # With alpha = 1, more processors compute no faster, but p of them send in 4 / p s.
        pair = graph_of([1e9, 1e9], [(0, 1)], alpha=1.0, byte=4 * 1.25e8)
        graphs = GraphSet((pair, graph_of([1e9] * 6, alpha=1.0, name="others")))
        assert relaxation(graphs, EVEN).value == pytest.approx(2.0)
        latency = 150e-6
        path = critical_path_bound(graphs, EVEN, transfers=True).value
        assert path == pytest.approx(2 + 4 / 4 + latency)
        # With p = 3 the path takes 2 + 4 / 3 and the area (6 + 2 * 3) / 4, with p = 4 they take
        # 2 + 4 / 4 and (6 + 2 * 4) / 4: between, with a share s of 4, one falls, the other grows.
        s = (1 / 3 + latency) / (1 / 3 + 1 / 2)
        bound = relaxation(graphs, EVEN, transfers=True).value
        assert bound == pytest.approx(3 + s / 2, rel=1e-6)


class TestSchedules:
    @pytest.mark.parametrize("transfers", [False, True])
    @settings(max_examples=25, derandomize=True)
    @given(seed=st.integers(0, 2**32 - 1), shape=st.sampled_from([(1, 2), (1, 3), (2, 1), (3, 1)]))
    def test_none_is_shorter(self, transfers, seed, shape):
        rng = np.random.default_rng(seed)
        graphs, site = random_set(seed, *shape, most=3)
        site = random_site(rng, 2) if site.n_processors > 4 else site
        best = optimum(graphs, site, transfers)
        for bound in (
            area_bound(graphs, site),
            critical_path_bound(graphs, site, transfers=transfers),
            relaxation(graphs, site, transfers=transfers),
        ):
            assert bound.value <= best * (1 + 1e-9)

    @pytest.mark.parametrize("transfers", [False, True])
    @settings(max_examples=20, derandomize=True)
    @given(seed=st.integers(0, 2**32 - 1))
    def test_lists_are_no_shorter(self, transfers, seed):
        rng = np.random.default_rng(seed)
        graphs, site = random_set(seed, 3, 8, most=12)
        # These lists have the network for each of their transfers, which no switch divides.
        bound = relaxation(graphs, site, transfers=transfers).value
        order = np.concatenate([first + np.arange(8) for first in graphs.first[:-1]])
        mixed = tuple(sorted(order.tolist(), key=lambda task: (task % 8, rng.random())))
        for most in (1, 4, 12):
            clusters = rng.integers(site.n_clusters, size=graphs.n_tasks)
            choice = [(int(k), int(min(most, site.processors[k]))) for k in clusters]
            assert bound <= makespan_of(graphs, site, mixed, choice, transfers) * (1 + 1e-9)


class TestChanges:
    @settings(max_examples=15, derandomize=True)
    @given(seed=st.integers(0, 2**32 - 1), exponent=st.integers(-12, 12))
    def test_more_of_everything(self, seed, exponent):
        graphs, site = random_set(seed, 2, 6, most=6)
        factor = 10.0**exponent
        larger = GraphSet(
            tuple(replace(graph, flop=graph.flop * factor) for graph in graphs.graphs),
            graphs.release * factor,
        )
        bound = makespan_bound(graphs, site).value
        assert makespan_bound(larger, site).value == pytest.approx(bound * factor, rel=2e-6)

    def test_graphs_alone(self):
        graphs, site = random_set(5, 3, 8, most=10)
        own = own_bounds(graphs, site)
        for graph, bound in zip(graphs.graphs, own, strict=True):
            assert bound == makespan_bound(GraphSet((graph,)), site)
        together = makespan_bound(graphs, site).value
        ends = graphs.release + [bound.value for bound in own]
        assert together >= np.max(ends) * (1 - 2e-6)

    def test_implied_edges_change_nothing(self):
        chain = [(u, u + 1) for u in range(5)]
        every = [(u, v) for u in range(6) for v in range(u + 1, 6)]
        flop = [1e9, 3e9, 2e9, 5e9, 1e9, 4e9]
        few = relaxation(GraphSet((graph_of(flop, chain, alpha=0.1),)), TWO)
        many = relaxation(GraphSet((graph_of(flop, every, alpha=0.1),)), TWO)
        assert many.value == pytest.approx(few.value, rel=1e-12)
        # Where the long way round is the slower one, an implied edge does count.
        direct = graph_of([1e9, 1e9, 1e9], [(0, 1), (1, 2), (0, 2)], alpha=1.0)
        direct = replace(direct, edge_byte=np.array([0.0, 0.0, 4e9]))
        bound = relaxation(GraphSet((direct,)), EVEN, transfers=True)
        assert bound.value == pytest.approx(1 + 150e-6 + 4e9 / 5e8 + 1)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.booleans(), st.booleans())
def test_no_schedule_beats_the_bound_by_rounding(seed, chain, backwards):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 40))
    flop = (1e9 * rng.random(n)).tolist()
    pairs = [(i, i + 1) for i in range(n - 1)]
    if not chain:
        pairs = [(u, v) for u in range(n) for v in range(u + 1, n) if rng.random() < 0.2]
    graphs = GraphSet((graph_of(flop, pairs, alpha=1.0),))
    site = MultiCluster("site", (("c", n, 1e9 * rng.random() + 1e8),)).site()
    # With as many processors as tasks, each starts when the last of its predecessors has ended.
    times = [duration(graphs, site, task, 0, 1) for task in range(n)]
    order = range(n - 1, -1, -1) if backwards else range(n)
    finish = [0.0] * n
    for task in order:
        ends = [u if v == task else v for u, v in pairs if task == (u if backwards else v)]
        finish[task] = max((finish[end] for end in ends), default=0.0) + times[task]
    assert makespan_bound(graphs, site).value <= max(finish)
    assert critical_path_bound(graphs, site).value <= max(finish)


class TestRelaxation:
    @settings(max_examples=10, derandomize=True)
    @given(seed=st.integers(0, 2**32 - 1))
    def test_is_as_good_as_the_simple_bounds(self, seed):
        graphs, site = random_set(seed, 3, 10, most=20)
        relaxed = relaxation(graphs, site, transfers=True).value
        area = area_bound(graphs, site).value
        path = critical_path_bound(graphs, site, transfers=True).value
        assert relaxed >= max(area, path) * (1 - 1e-6)
        assert relaxed >= relaxation(graphs, site).value * (1 - 1e-6)

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
        with raises_naming(WorkloadError, "tolerance", tolerance):
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
