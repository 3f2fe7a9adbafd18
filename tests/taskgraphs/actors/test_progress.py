"""What happens when in executions, and what mappers hear of it."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_graphs import ByHand, allocation_of, graph_of, random_scene, run_on, star

from simplugin.taskgraphs.actors.conductor import INSTANT, TaskProgress
from simplugin.taskgraphs.assumptions import PAPER, ModelAssumptions
from simplugin.taskgraphs.policies.mapping import Mapper
from simplugin.workloads.task_graphs import GraphSet


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_everything_starts_as_soon_as_it_can_and_once(seed, planned):
    graphs, *_ = random_scene(seed)
    rng = np.random.default_rng(seed)
    progress, edges = TaskProgress(graphs, 3), graphs.edges.tolist()
    released, places, arrived, finished = set(), {}, set(), set()
    ready, moving, begun = set(), set(), set()

    def assign(task):
        places[task] = rng.permutation(3)[rng.integers(3) :].tolist()
        progress.assign(task, places[task])

    def inputs(task):
        return [edge for edge, (_, target) in enumerate(edges) if target == task]

    def can_start(task):
        before = list(places)[: list(places).index(task)]
        busy = {place for each in before if each not in finished for place in places[each]}
        return arrived.issuperset(inputs(task)) and busy.isdisjoint(places[task])

    if planned:
        for graph, first in zip(graphs.graphs, graphs.first.tolist(), strict=False):
            for task in graph.order.tolist():
                assign(first + task)
    while True:
        for seen, found in (
            (ready, progress.ready_tasks()),
            (moving, progress.edges_to_start()),
            (begun, progress.tasks_to_start()),
        ):
            assert len(found) == len({*found} - seen)
            seen |= {*found}
        submitted = {each for each in range(graphs.n_tasks) if graphs.graph_of[each] in released}
        assert ready - places.keys() == {
            task
            for task in submitted - places.keys()
            if finished.issuperset(edges[edge][0] for edge in inputs(task))
        }
        assert moving == {
            edge
            for edge, (source, target) in enumerate(edges)
            if source in finished and target in places
        }
        assert begun == {task for task in submitted & places.keys() if can_start(task)}
        events = [("release", each) for each in range(graphs.n_graphs) if each not in released]
        events += [("assign", each) for each in sorted(ready - places.keys())]
        events += [("arrive", each) for each in sorted(moving - arrived)]
        events += [("finish", each) for each in sorted(begun - finished)]
        if not events:
            break
        kind, which = events[rng.integers(len(events))]
        if kind == "assign":
            assign(which)
        else:
            {"release": released, "arrive": arrived, "finish": finished}[kind].add(which)
            getattr(progress, kind)(which)
        left = [graphs.graph_of[task] for task in range(graphs.n_tasks) if task not in finished]
        assert progress.left == [left.count(graph) for graph in range(graphs.n_graphs)]
        assert progress.is_over == (not left)
    assert progress.is_over
    assert progress.order == list(places)
    assert len(finished) == graphs.n_tasks
    assert all(progress.finished)


@pytest.mark.parametrize(
    ("apart", "order"),
    [(0.0, [2, 0, 3, 1]), (0.3 * INSTANT, [2, 0, 3, 1]), (1e-5, [2, 0, 1, 3])],
)
def test_tasks_of_one_instant_are_mapped_together(apart, order):
    # Backwards if together: first both entry tasks; then the successors of tasks that end at 0.3 s.
    one = graph_of("g", [0.3e9, 1e9], [(0, 1, 0)])
    other = graph_of("h", [0.3e9 * (1 + apart), 1e9], [(0, 1, 0)])
    done = run_on(star(4), (one, other), decisions=partial(ByHand, [[0], [1], [2], [3]]))
    assert done.schedule.order.tolist() == order
    assert done.plan is None
    assert np.isnan(done.estimate)
    # To wait for the end of an instant hardly costs anything.
    assert done.schedule.start[[1, 3]].tolist() == pytest.approx([0.3, 0.3], rel=1e-4)


def test_mappers_hear_everything_in_time():
    # It asserts that tasks start before they finish; here, that the log has all of it.
    class Telling(ByHand):
        def finished(self, task, date):
            super().finished(task, date)
            if task == 2:
                raise KeyError(self.log)

    one = graph_of("g", [1e9, 2e9, 1e9], [(0, 2, 1e9), (1, 2, 0)])
    with pytest.raises(Exception, match="failed") as caught:
        run_on(star(2), (one,), decisions=partial(Telling, [[0], [1], [0]]), release=[1.5])
    log = caught.value.__cause__.args[0]
    assert [(what, which) for what, _, which in log] == [
        ("map", [0, 1]),
        ("start", 1),
        ("start", 0),
        ("finish", 0),
        ("map", []),
        ("finish", 1),
        ("map", [2]),
        ("start", 2),
        ("finish", 2),
    ]
    dates = [date for _, date, _ in log]
    assert dates == pytest.approx([1.5, 1.5, 1.5, 2.5, 2.5, 3.5, 3.5, 4.5, 5.5])


@pytest.mark.parametrize("fixing", ["reserve", "start"])
def test_online_without_disturbance_is_as_planned(fixing):
    # All data of a task come from one other, and nothing is redistributed beside.
    graphs = tuple(
        graph_of(f"g{n}", [3e9, 5e9, 2e9], [(0, 1, 0), (1, 2, 0)], alpha=0.2) for n in range(3)
    )
    done = run_on(star(2, 3), graphs, counts=2, assumptions=ModelAssumptions(fixing=fixing))
    assert done.schedule.start.tolist() == pytest.approx(done.plan.start.tolist(), rel=1e-6)
    assert done.schedule.processor.tolist() == done.plan.processor.tolist()


def test_allocations_are_revised_when_graphs_come_and_go():
    # Two processors for all: a graph alone gets both, two get one each.
    graphs = tuple(graph_of(name, [4e9, 4e9], [(0, 1, 0)]) for name in "abc")
    release = np.array([0.0, 1.0, 100.0])
    joint = GraphSet(graphs, release)

    def shared(now, active, mapped, forecast):
        assert (now >= release[list(active)]).all()
        assert (forecast(now)[list(active)] > now).all()
        assert np.isnan(forecast(now)[release > now]).all()
        assert all(mapped) or now < 104
        counts = 2 // len(active)
        return {each: allocation_of(graphs[each], counts) for each in active}

    first = [allocation_of(each, 1) for each in graphs]
    mapper = partial(Mapper, joint, first, star(2).site(), PAPER)
    done = run_on(star(2), graphs, release=release, decisions=mapper, revise=shared)
    # a is alone until 1, and its first task keeps both until 2; then one each until 6, when a is
    # completed, and b has the other as well for its last task.
    assert done.schedule.allocation.tolist() == [2, 1, 1, 2, 2, 2]
    assert done.schedule.completion.tolist() == pytest.approx([6.0, 8.0, 104.0])
