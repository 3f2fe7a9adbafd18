"""What mapping refuses: allocations that do not fit, and invalid numbers, times and dates."""

from functools import partial

import numpy as np
import pytest
from small_graphs import allocated, graph_of, site_of

from simplugin.errors import WorkloadError
from simplugin.taskgraphs.policies.mapping import Mapper, plan
from simplugin.workloads.graph_sets import GraphSet

SITE = site_of([4], [1.0])
CHAIN = GraphSet((graph_of("a", [1.0, 1.0], [(0, 1)]), graph_of("b", [1.0])))
ONES = allocated(CHAIN, SITE, 1)


def mapper_of(graphs=CHAIN):
    return Mapper(graphs, allocated(graphs, SITE, 1), SITE)


@pytest.mark.parametrize(
    ("allocations", "match"),
    [
        (ONES[:1], "1 allocations for 2 graphs"),
        (allocated(CHAIN, SITE, 0), r"'a' has a task on no processor.*most \[4\]"),
        (allocated(CHAIN, SITE, 5), r"'a' has a task on no processor.*most \[4\]"),
        (allocated(CHAIN, SITE, 1, np.zeros(1)), r"shape \(1, 2\), and times of shape \(1,\)"),
        (allocated(CHAIN, SITE, 1, np.array([0.5, np.nan])), "'a' says that task 't1' takes nan s"),
        (allocated(CHAIN, SITE, 1, np.array([0.5, -1.0])), "'a' says that task 't1' takes -1.0 s"),
    ],
)
def test_allocations_that_do_not_fit_are_refused(allocations, match):
    for refused in (plan, Mapper):
        with pytest.raises(WorkloadError, match=match):
            refused(CHAIN, allocations, SITE)
    if len(allocations) > 1:
        mapper, match = mapper_of(), match.partition("'a' ")[2] or match
        for refused in (
            partial(mapper.set_allocation, 0, allocations[0]),
            partial(mapper.forecast, 0.0, {0: allocations[0]}),
        ):
            with pytest.raises(WorkloadError, match=match):
                refused()


def test_halves_of_processors_are_refused():
    halves = allocated(CHAIN, SITE, 1)
    halves[0].processors = halves[0].processors * 1.5
    with pytest.raises(WorkloadError, match="'a' counts processors in float64"):
        plan(CHAIN, halves, SITE)


def test_what_cannot_happen_is_refused():
    mapper = mapper_of(GraphSet(CHAIN.graphs[:1]))
    with pytest.raises(WorkloadError, match="'a:t0' cannot start"):
        mapper.started(0, 0.0)
    mapper.map_ready(1.0, [0])
    with pytest.raises(WorkloadError, match="'a:t0' becomes ready twice"):
        mapper.map_ready(1.0, [0])
    with pytest.raises(WorkloadError, match="'a:t1' is not ready before 'a:t0' has finished"):
        mapper.map_ready(1.0, [1])
    with pytest.raises(WorkloadError, match=r"at 0\.5 s after 1\.0 s"):
        mapper.map_ready(0.5, [])
    with pytest.raises(WorkloadError, match="'a:t1' is not mapped yet"):
        mapper.schedule()
    mapper.finished(0, 2.0)
    with pytest.raises(WorkloadError, match="'a:t0' cannot finish"):
        mapper.finished(0, 2.0)


@pytest.mark.parametrize("number", [-1, 3])
def test_unknown_tasks_and_graphs_are_refused(number):
    mapper, graph = mapper_of(), 2 if number > 0 else number
    task = rf"there is no task {number}; give a number from 0 to 2"
    for refused in (
        partial(mapper.map_ready, 0.0, [0, number]),
        partial(mapper.started, number, 0.0),
        partial(mapper.finished, number, 0.0),
    ):
        with pytest.raises(WorkloadError, match=task):
            refused()
    for refused in (
        partial(mapper.set_allocation, graph, ONES[0]),
        partial(mapper.forecast, 0.0, {graph: ONES[0]}),
    ):
        with pytest.raises(WorkloadError, match=rf"no graph {graph}; give a number from 0 to 1"):
            refused()
    # Nothing has happened.
    assert [each.task for each in mapper.map_ready(0.0, [0, 2])] == [0, 2]


def test_the_kernel_refuses_unknown_numbers():
    kernel, ones = mapper_of()._kernel, np.ones((1, 2), dtype=np.int64)
    for task in (-1, 3):
        for refused in (
            partial(kernel.map_ready, 0.0, [task]),
            partial(kernel.started, task, 0.0),
            partial(kernel.finished, task, 0.0),
            partial(kernel.mapping, task),
        ):
            with pytest.raises(IndexError, match="task that is not there"):
                refused()
    for arguments, error, match in (
        ((-1, ones, np.ones(2)), IndexError, "tasks that are not there"),
        ((2, ones, np.ones(2)), IndexError, "tasks that are not there"),
        ((0, ones[:, :1], np.ones(2)), IndexError, "tasks that are not there"),
        ((0, ones * 0, np.ones(2)), ValueError, "processors that are not there"),
        ((0, ones * 5, np.ones(2)), ValueError, "processors that are not there"),
        ((0, ones, np.array([1.0, np.nan])), ValueError, "time is not a number"),
        ((1, ones, np.ones(2)), ValueError, "part of a graph"),
    ):
        with pytest.raises(error, match=match):
            kernel.set_allocation(*arguments)
    with pytest.raises(ValueError, match="before those that it follows"):
        kernel.map_ready(0.0, [1])


def test_invalid_dates_are_refused():
    mapper = mapper_of()
    for date in (np.nan, np.inf):
        with pytest.raises(WorkloadError, match=rf"mapped at {date} s"):
            mapper.map_ready(date, [0])
        with pytest.raises(WorkloadError, match=rf"forecast at {date} s; give a date"):
            mapper.forecast(date)
    mapper.map_ready(0.0, [0])
    with pytest.raises(WorkloadError, match="'a:t0' cannot start at nan s; give a date"):
        mapper.started(0, np.nan)
    with pytest.raises(WorkloadError, match="'a:t0' cannot finish at nan s; give a date"):
        mapper.finished(0, np.nan)
