"""Choices of task graphs: the scheduler's own places first, other clusters as alternatives."""

import pickle
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_graphs import graph_of, random_scene, star

from simplugin.core.errors import WorkloadError
from simplugin.platforms.sites import MultiCluster
from simplugin.simulation import Rollout
from simplugin.simulation.choices import first_option
from simplugin.taskgraphs import ModelAssumptions, Schedule, execute, violations
from simplugin.taskgraphs.policies.allocation import Allocator
from simplugin.taskgraphs.policies.lists import global_ordering
from simplugin.taskgraphs.policies.mapping import Assignment, Mapper
from simplugin.taskgraphs.policies.shares import wps_width
from simplugin.taskgraphs.policies.shipped import SCHEDULERS
from simplugin.workloads.task_graphs import GraphSet

# Schedules of one processor a task, of several, and decisions while tasks run.
DECISIONS = ("heft", "peft", "min_min", "mheft", "ordering", "online", "start", "together", "user")


def scene(seed, clusters=3, most=7):
    """Return random graphs, one of them released later, and clusters of different speeds."""
    rng = np.random.default_rng(seed)
    parts = tuple((f"c{k}", int(rng.integers(1, 4)), (1 + k) * 1e9) for k in range(clusters))
    world = MultiCluster("random", parts, True, 1e8, 1e-4, 2e8, 1e-4)
    graphs = []
    for number in range(2):
        size = int(rng.integers(1, most))
        pairs = [(i, j) for j in range(size) for i in range(j) if rng.random() < 0.4]
        byte = rng.choice([0.0, 1e7, 2e8], len(pairs))
        flop = rng.choice([0.0, 1e9, rng.uniform(1e9, 9e9)], size)
        graphs.append(graph_of(f"g{number}", flop + 1e8, pairs, byte, rng.uniform(0, 0.3, size)))
    return GraphSet(tuple(graphs), np.array([0.0, float(rng.choice([0.0, 2.5]))])), world


class EveryOther:
    """A user's mapper, which hears of nothing; it leaves one ready task for a later call."""

    def __init__(self, site):
        self.site, self.left = site, []

    def map_ready(self, _, tasks):
        self.left += tasks
        self.left, now_mapped = self.left[1:] if self.left[2:] else [], self.left
        now_mapped = now_mapped[:1] if self.left else now_mapped
        for task in now_mapped:
            yield Assignment(task, 0, np.array([task % self.site.n_processors]), 0.0, 0.0)

    def started(self, task, date):
        pass

    finished = started


def run(graphs, world, how, **options):
    """Execute graphs as one of `DECISIONS` has it."""
    site = world.site()
    if how in SCHEDULERS:
        decisions = SCHEDULERS[how](graphs, site)
    elif how == "user":
        decisions = partial(EveryOther, site)
    else:
        shares = wps_width(graphs.graphs, site)
        pairs = zip(graphs.graphs, shares.tolist(), strict=True)
        decisions = [Allocator(graph, site).scrap_max(share) for graph, share in pairs]
        if how == "ordering":
            decisions = global_ordering(graphs, decisions, site)
        elif how != "online":
            field = "fixing" if how == "start" else "redistribution"
            options["assumptions"] = ModelAssumptions(**{field: how})
    return execute(graphs, site, decisions, platform=world.platform(), **options)


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), how=st.sampled_from(DECISIONS))
def test_the_first_option_is_the_scheduler_itself(seed, how):
    graphs, world = scene(seed)
    alone, asked = (run(graphs, world, how, choices=each) for each in (False, True))
    assert not alone.result.choices
    assert sorted(each.label for each in asked.result.choices) == sorted(
        map(graphs.name_of, range(graphs.n_tasks))
    )
    assert {each.n_options for each in asked.result.choices} == {3}
    for name in ("start", "finish", "processor", "order", "cluster"):
        assert np.array_equal(getattr(alone.schedule, name), getattr(asked.schedule, name))
    for name in ("sent", "arrived", "moved"):
        assert np.array_equal(getattr(alone, name), getattr(asked, name))


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), how=st.sampled_from(DECISIONS))
def test_any_decisions_end_as_they_say(seed, how):
    graphs, world = scene(seed)

    def chooser(choice):
        # Reads the options of some choices only.
        wanted = (seed + 7 * choice.number) % 4
        if wanted < 3:
            seen = choice.observation
            assert len(seen.start) == len(seen.finish) == len(seen.allocation) == 3
            assert np.all(seen.finish > seen.start)
            assert np.all(seen.start >= choice.date)
            clusters = [each.cluster for each in choice.options]
            assert sorted(clusters) == [0, 1, 2]
            assert seen.finish[1] <= seen.finish[2]
            assert seen.allocation[0] == max(seen.allocation)
            assert seen.ready >= 0
            copy = pickle.loads(pickle.dumps(choice))
            assert copy.observation.finish.tolist() == seen.finish.tolist()
            return clusters.index(wanted)
        return 0

    done = run(graphs, world, how, choices=True, chooser=chooser)
    assert violations(done.schedule, transfers=False, exact=False) == []
    if how in SCHEDULERS:
        # Every task went where its choice says: plans do not change, but by choices.
        planned = run(graphs, world, how).schedule.cluster.tolist()
        names = [each.label for each in done.result.choices]
        for task, own in enumerate(planned):
            wanted = (seed + 7 * names.index(graphs.name_of(task))) % 4
            assert done.schedule.cluster[task] == (wanted if wanted < 3 else own)


@settings(max_examples=12)
@given(seed=st.integers(0, 10**6), how=st.sampled_from(DECISIONS))
def test_rollouts_are_never_worse(seed, how):
    graphs, world = scene(seed, clusters=2, most=5)
    base = run(graphs, world, how)
    found = run(graphs, world, how, choices=True, chooser=Rollout(workers=1))
    assert found.makespan <= base.makespan * (1 + 1e-12)
    # Every copy tries one option; the plan in hand is not tried again.
    n_choices = len(found.result.choices)
    assert 2 <= found.result.branches <= 2 * n_choices
    assert base.result.branches == 0


def test_estimates_are_dates_where_nothing_else_runs():
    # Two tasks of 4 Gflop in a row, 1 GB between them: the clusters are as fast, the data take
    # 1 s to another cluster, and to the same processor, as they are sent there too.
    graphs = GraphSet((graph_of("g", [4e9, 4e9], [(0, 1, 1e9)]),))
    world = star(1, 1)

    def chooser(choice):
        date, finish = [(0.0, 4.0), (4.0, 9.0)][choice.number]
        assert choice.date == pytest.approx(date)
        assert choice.label == f"g:t{choice.number}"
        assert choice.observation.finish.tolist() == pytest.approx([finish] * 2)
        return choice.number

    plan = Schedule.of(
        world.site(), graphs, ((0,), (0,)), np.array([0.0, 4.0]), np.array([4.0, 8.0]), (0, 1), None
    )
    done = execute(
        graphs, world.site(), plan, platform=world.platform(), choices=True, chooser=chooser
    )
    assert done.schedule.cluster.tolist() == [0, 1]
    assert done.schedule.finish.tolist() == pytest.approx([4.0, 9.0])


def test_the_compiled_mapper_learns_of_a_deviation():
    # Two equal tasks and two processors, the second one half as fast: if the first task goes
    # there, the other has the fast one to itself.
    graphs = GraphSet((graph_of("g", [4e9, 4e9]),))
    world = MultiCluster("two", (("fast", 1, 2e9), ("slow", 1, 1e9)), True, 1e9, 0, 1e9, 0)
    allocation = Allocator(graphs.graphs[0], world.site()).scrap_max(1.0)
    mapper = Mapper(graphs, [allocation], world.site())
    first, second = mapper.map_ready(0.0, [0, 1])
    assert [first.processors.tolist(), second.processors.tolist()] == [[0], [0]]
    assert second.finish == pytest.approx(4.0)
    [other] = mapper.deviate(0.0, first.task, [1])
    assert (other.task, other.processors.tolist()) == (second.task, [0])
    assert other.finish == pytest.approx(2.0)
    assert mapper.forecast(0.0).tolist() == pytest.approx([4.0])
    with pytest.raises(ValueError, match="one cluster"):
        mapper.deviate(0.0, first.task, [0, 1])


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    packing=st.sampled_from(["off", "earliest", "largest"]),
    redistribution=st.sampled_from(["alone", "together"]),
    local=st.sampled_from(["sent", "kept"]),
)
def test_a_deviation_to_the_same_place_changes_nothing(seed, packing, redistribution, local):
    graphs, _, site = random_scene(seed)
    allocations = [Allocator(graph, site).scrap_max(1.0) for graph in graphs.graphs]
    rules = ModelAssumptions(packing=packing, redistribution=redistribution)
    entries = [
        int(task)
        for graph, first in zip(graphs.graphs, graphs.first, strict=False)
        for task in first + graph.entries
    ]

    def plain(found):
        return [(each.task, each.processors.tolist(), each.start, each.finish) for each in found]

    plain_mapper, mapper = (Mapper(graphs, allocations, site, rules, local=local) for _ in range(2))
    mapped = mapper.map_ready(5.0, entries)
    assert plain(plain_mapper.map_ready(5.0, entries)) == plain(mapped)
    for number in (seed % len(mapped), 0):
        again = mapper.deviate(5.0, mapped[number].task, mapped[number].processors.tolist())
        assert plain(again) == plain(mapped[number + 1 :])
    # The tasks that follow are placed alike.
    for task, _, start, finish in plain(mapped):
        for each in (plain_mapper, mapper):
            each.started(task, start)
            each.finished(task, finish)
    after = sorted({int(each) for task in entries for each in graphs.successors.of(task)})
    ready = [task for task in after if set(graphs.predecessors.of(task)) <= set(entries)]
    late = max(each.finish for each in mapped)
    assert plain(plain_mapper.map_ready(late, ready)) == plain(mapper.map_ready(late, ready))


def test_a_schedule_out_of_order_is_refused():
    graphs = GraphSet((graph_of("g", [1e9, 1e9], [(0, 1)]),))
    site = star(1, 1).site()
    dates = np.array([0.0, 1.0])
    plan = Schedule.of(site, graphs, ((0,), (1,)), dates, dates + 1, (1, 0), None)
    with pytest.raises(WorkloadError, match="g:t1"):
        execute(graphs, site, plan, platform=star(1, 1).platform(), choices=True)
    assert execute(graphs, site, plan, platform=star(1, 1).platform()).makespan == 2.0


def test_one_cluster_leaves_no_choice():
    graphs = GraphSet((graph_of("g", [1e9]),))
    done = execute(
        graphs,
        star(2).site(),
        [Allocator(graphs.graphs[0], star(2).site()).scrap_max(1.0)],
        platform=star(2).platform(),
        choices=True,
        chooser=first_option,
    )
    assert done.result.choices == ()
