"""Tasks that can start, without SimGrid: random graphs in random orders of events."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_graphs import graph_of, random_scene

from simplugin.taskgraphs.actors.conductor import Progress
from simplugin.workloads.graph_sets import GraphSet


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_everything_starts_as_soon_as_it_can_and_once(seed, planned):
    graphs, *_ = random_scene(seed)
    rng = np.random.default_rng(seed)
    progress, edges = Progress(graphs, 3), graphs.edges.tolist()
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
    assert progress.is_over
    assert progress.order == list(places)
    assert len(finished) == graphs.n_tasks
    assert all(progress.has_finished(task) for task in range(graphs.n_tasks))


def test_what_is_left_of_each_graph():
    progress = Progress(GraphSet((graph_of("g", [1.0, 1.0]),)), 1)
    progress.assign(0, [0])
    progress.release(0)
    assert progress.ready_tasks() == [1]
    assert progress.tasks_to_start() == [0]
    assert (progress.left, progress.is_over) == ([2], False)
    progress.finish(0)
    assert (progress.left, progress.is_over) == ([1], False)
    assert progress.processors == [(0,), None]
    with pytest.raises(IndexError):
        progress.assign(1, [1])
