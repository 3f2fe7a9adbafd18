"""What can start when, without SimGrid: random graphs in random orders of events."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simplugin.taskgraphs.actors.conductor import Progress
from simplugin.workloads.graph_sets import GraphSet
from simplugin.workloads.task_graphs import TaskGraph


@st.composite
def graph_sets(draw):
    """Draw up to three graphs of up to seven tasks."""
    graphs = []
    for number in range(draw(st.integers(1, 3))):
        count = draw(st.integers(1, 7))
        pairs = [(i, j) for j in range(count) for i in range(j)]
        chosen = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
        graphs.append(
            TaskGraph(
                f"g{number}",
                tuple(f"t{task}" for task in range(count)),
                np.ones(count),
                np.zeros(count),
                np.zeros(count),
                np.array(chosen, dtype=np.int64).reshape(-1, 2),
                np.ones(len(chosen)),
            )
        )
    return GraphSet(tuple(graphs))


class Course:
    """Goes through an execution in an order of events that is drawn, and keeps its own account."""

    def __init__(self, graphs, n_processors, data):
        self.graphs, self.data = graphs, data
        self.progress = Progress(graphs, n_processors)
        self.n_processors = n_processors
        self.edges = graphs.edges.tolist()
        self.to_release = list(range(graphs.n_graphs))
        self.released, self.mapped, self.ready = set(), [], set()
        self.places = {}
        self.moving, self.arrived, self.computing, self.finished = set(), set(), set(), set()

    def sees(self):
        """Collect what can start, each thing once, and compare it with what should be able to."""
        ready = self.progress.ready_tasks()
        assert not self.ready & {*ready}
        self.ready |= {*ready}
        edges = self.progress.edges_to_start()
        assert not (self.moving | self.arrived) & {*edges}
        assert len({*edges}) == len(edges)
        self.moving |= {*edges}
        tasks = self.progress.tasks_to_start()
        assert not (self.computing | self.finished) & {*tasks}
        self.computing |= {*tasks}
        assert self.ready - {*self.mapped} == self.should_be_ready()
        assert self.moving | self.arrived == self.should_have_left()
        assert self.computing | self.finished == self.should_have_started()

    def inputs(self, task):
        """Return the edges to a task."""
        return [at for at, (_, target) in enumerate(self.edges) if target == task]

    def submitted(self, task):
        """Whether the graph of a task is."""
        return int(self.graphs.graph_of[task]) in self.released

    def should_be_ready(self):
        """Return the tasks that should be ready and are not mapped."""
        return {
            task
            for task in range(self.graphs.n_tasks)
            if self.submitted(task)
            and task not in self.mapped
            and all(self.edges[edge][0] in self.finished for edge in self.inputs(task))
        }

    def should_have_left(self):
        """Return the edges whose redistribution should have started."""
        return {
            at
            for at, (source, target) in enumerate(self.edges)
            if source in self.finished and target in self.mapped
        }

    def should_have_started(self):
        """Return the tasks that should have started."""
        return {
            task
            for at, task in enumerate(self.mapped)
            if self.submitted(task)
            and all(edge in self.arrived for edge in self.inputs(task))
            and not any(
                before not in self.finished and {*self.places[before]} & {*self.places[task]}
                for before in self.mapped[:at]
            )
        }

    def assign(self, task):
        """Map a task somewhere."""
        places = self.data.draw(
            st.lists(st.integers(0, self.n_processors - 1), min_size=1, unique=True)
        )
        self.places[task] = places
        self.mapped.append(task)
        self.progress.assign(task, places)

    def step(self):
        """Let something happen; False if nothing can."""
        events = [("release", each) for each in self.to_release]
        events += [("assign", each) for each in sorted(self.ready - {*self.mapped})]
        events += [("arrive", each) for each in sorted(self.moving)]
        events += [("finish", each) for each in sorted(self.computing)]
        if not events:
            return False
        what, which = self.data.draw(st.sampled_from(events))
        if what == "release":
            self.to_release.remove(which)
            self.released.add(which)
        elif what == "arrive":
            self.moving.remove(which)
            self.arrived.add(which)
        elif what == "finish":
            self.computing.remove(which)
            self.finished.add(which)
        getattr(self if what == "assign" else self.progress, what)(which)
        return True


@settings(max_examples=60)
@given(graph_sets(), st.integers(1, 4), st.booleans(), st.data())
def test_everything_starts_as_soon_as_it_can_and_once(graphs, n_processors, planned, data):
    course = Course(graphs, n_processors, data)
    if planned:
        for graph, first in zip(graphs.graphs, graphs.first.tolist(), strict=False):
            for task in graph.order.tolist():
                course.assign(first + task)
    course.sees()
    while course.step():
        course.sees()
    assert course.progress.is_over
    assert course.progress.order == course.mapped
    assert len(course.finished) == graphs.n_tasks
    assert all(course.progress.has_finished(task) for task in range(graphs.n_tasks))


def test_what_is_left_of_each_graph():
    one = TaskGraph(
        "g", ("a", "b"), np.ones(2), np.zeros(2), np.zeros(2), np.zeros((0, 2)), np.zeros(0)
    )
    progress = Progress(GraphSet((one,)), 1)
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
