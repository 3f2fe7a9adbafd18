"""Global ordering, HEFT and MHEFT: each step against all that could have been done instead."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_graphs import graph_of, in_levels, random_scene, site_of, star

from simplugin.core.errors import WorkloadError
from simplugin.taskgraphs.execution import execute
from simplugin.taskgraphs.policies.allocation import scrap_max
from simplugin.taskgraphs.policies.lists import _Switch, global_ordering, mheft
from simplugin.taskgraphs.policies.shipped import SCHEDULERS
from simplugin.taskgraphs.policies.single_processors import heft
from simplugin.taskgraphs.schedule import violations
from simplugin.taskgraphs.timing import redistribution, redistribution_time
from simplugin.workloads.task_graphs import GraphSet

SEEDS = st.integers(0, 2**32 - 1)
LOCAL = st.sampled_from(["sent", "kept"])


def ready(schedule, task, processors, transfers):
    """When the data of a task would be there, in a schedule that has its predecessors.

    What is kept follows from the messages of a redistribution.
    """
    graphs, site, pre = schedule.graphs, schedule.site, schedule.graphs.predecessors
    there = [graphs.release[graphs.graph_of[task]]]
    cluster = cluster_of(site, processors)
    for before, edge in zip(pre.of(task), pre.edges_of(task), strict=True):
        source = schedule.cluster[before]
        byte = graphs.edge_byte[edge] if transfers else 0.0
        time = redistribution_time(
            site, byte, source, schedule.allocation[before], cluster, len(processors)
        )
        if schedule.local == "kept":
            ends = schedule.processors_of(before).tolist(), list(processors)
            _, sizes = redistribution(byte, *ends, local="kept")
            most = max(
                np.max(np.sum(sizes, axis=1)) / site.bandwidth[source],
                np.max(np.sum(sizes, axis=0)) / site.bandwidth[cluster],
                np.sum(sizes) / site.shared[source, cluster],
            )
            time = site.latency[source, cluster] + most if np.any(sizes) else 0.0
        there.append(schedule.finish[before] + time)
    return max(there)


def cluster_of(site, processors):
    return int(np.searchsorted(site.first, processors[0], side="right")) - 1


def duration(schedule, task, cluster, count):
    alpha = schedule.graphs.alpha[task]
    share = alpha + (1 - alpha) / count
    return share * schedule.graphs.flop[task] / schedule.site.speed[cluster]


def steps(schedule):
    """The tasks in the order in which they were placed, and what was on each processor before."""
    busy = [[] for _ in range(schedule.site.n_processors)]
    for task in schedule.order.tolist():
        yield task, busy
        for processor in schedule.processors_of(task):
            busy[processor].append((schedule.start[task], schedule.finish[task]))


def free_from(busy, processors):
    return max([0.0, *(finish for each in processors for _, finish in busy[each])])


def first_free(busy, site, cluster, count):
    everyone = range(site.first[cluster], site.first[cluster + 1])
    return sorted(sorted(everyone, key=lambda each: free_from(busy, [each]))[:count])


@settings(max_examples=120, derandomize=True)
@given(
    seed=SEEDS,
    transfers=st.booleans(),
    limit=st.sampled_from([1.0, 0.5, 1 / 3, None]),
    local=LOCAL,
)
def test_lists_take_the_earliest_finish_of_all_that_is_allowed(seed, transfers, limit, local):
    """MHEFT within limits; without one the global ordering, where no task overtakes another."""
    graphs, allocations, site = random_scene(seed)
    how = {"transfers": transfers, "local": local}
    if limit is not None:
        schedule = mheft(graphs, site, limit=limit, **how)
        most = [max(1, round(limit * count - 0.499)) for count in site.processors.tolist()]
        counts = [[range(1, each + 1)] * graphs.n_tasks for each in most]
    else:
        schedule = global_ordering(graphs, allocations, site, **how)
        counts = np.concatenate([each.processors for each in allocations], axis=1)[..., np.newaxis]
        level = graphs.union.bottom_levels(np.concatenate([each.time for each in allocations]))
        assert np.all(np.diff(level[schedule.order]) <= 0)
        assert np.all(np.diff(schedule.start[schedule.order]) >= 0)
    assert violations(schedule, transfers=transfers) == []
    last = 0.0
    for task, busy in steps(schedule):
        found = []
        for cluster in range(site.n_clusters):
            for count in counts[cluster][task]:
                chosen = first_free(busy, site, cluster, count)
                data = ready(schedule, task, chosen, transfers)
                start = max(data, free_from(busy, chosen), last)
                finish = start + duration(schedule, task, cluster, count)
                found.append((finish, cluster, count, start))
        finish, cluster, count, start = min(found)
        if local == "sent":
            assert (schedule.cluster[task], schedule.allocation[task]) == (cluster, count)
        # What is kept is rounded elsewhere: of ties, another may come first.
        assert schedule.finish[task] == pytest.approx(finish, rel=1e-12)
        if limit is None:
            last = schedule.start[task]
            assert last == pytest.approx(start, rel=1e-12)


@pytest.mark.parametrize("limit", [0.0, 1.5])
def test_a_limit_is_a_part(limit):
    with pytest.raises(WorkloadError):
        mheft(GraphSet((graph_of("a", [8.0]),)), site_of([4], [1.0]), limit=limit)


@settings(max_examples=40, derandomize=True)
@given(seed=SEEDS, transfers=st.booleans(), name=st.sampled_from(sorted(SCHEDULERS)), local=LOCAL)
def test_every_baseline_keeps_to_the_model(seed, transfers, name, local):
    graphs, _, site = random_scene(seed)
    schedule = SCHEDULERS[name](graphs, site, transfers=transfers, local=local)
    assert schedule.local == local
    assert violations(schedule, transfers=transfers) == []
    assert name in ("mheft", "merged") or np.all(schedule.allocation == 1)
    choices = {"redistribution": "together", "local": local}
    shared = SCHEDULERS[name](graphs, site, transfers=transfers, **choices)
    assert violations(shared, transfers=transfers) == []


def test_merged_graphs_are_allocated_as_one():
    parts = [replace(in_levels(seed, 20, 5), name=f"g{seed}") for seed in range(3)]
    graphs, site = GraphSet(tuple(parts)), site_of([4, 7], [1e9, 2e9], bandwidth=1e9)
    one = GraphSet((graphs.union,))
    whole = global_ordering(one, [scrap_max(graphs.union, site, 1.0)], site)
    schedule = SCHEDULERS["merged"](graphs, site)
    assert schedule.start.tolist() == whole.start.tolist()
    assert schedule.processor.tolist() == whole.processor.tolist()


def test_estimates_that_share_links_are_those_of_the_simulation():
    # A task hands 1 GB to each of six over its own link of 1 GB/s: they have it after 6 s, not 1;
    # and three tasks hand 1 GB each to one, over a switch of 1 GB/s.
    for edges, end in (
        ([(0, task, 1e9) for task in range(1, 7)], 8.0),
        ([(task, 3, 1e9) for task in range(3)], 5.0),
    ):
        graph = graph_of("a", [1e9] * (1 + max(max(each[:2]) for each in edges)), edges)
        site = star(8).site()
        alone, together = (
            heft(GraphSet((graph,)), site, redistribution=each, local="sent")
            for each in ("alone", "together")
        )
        assert alone.makespan == pytest.approx(3.0)
        assert together.makespan == pytest.approx(end)
        done = execute(together.graphs, site, decisions=together, platform=star(8).platform())
        assert done.makespan == pytest.approx(end, rel=1e-6)
        kept = heft(GraphSet((graph,)), site, redistribution="together")
        done = execute(kept.graphs, site, decisions=kept, platform=star(8).platform())
        assert done.makespan == pytest.approx(kept.makespan, rel=1e-6)


@settings(max_examples=60, derandomize=True)
@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(1, 6)), max_size=12),
    st.integers(0, 30),
    st.integers(1, 6),
)
def test_a_switch_passes_data_in_its_idle_time(taken, ready, work):
    switch, busy = _Switch(), set()
    for begin, length in taken:
        switch.take(begin, length)
        idle = [date for date in range(begin, 200) if date not in busy][:length]
        busy |= set(idle)
    last = [date for date in range(ready, 200) if date not in busy][work - 1]
    assert switch.end(ready, work) == last + 1
