"""What mapping refuses: allocations that do not fit, and numbers, times and dates that are none."""

from functools import partial

import numpy as np
import pytest

from simplugin.errors import WorkloadError
from simplugin.taskgraphs.policies.mapping import Mapper, plan
from simplugin.workloads.graph_sets import GraphSet


def test_allocations_that_do_not_fit_are_refused(graph_of, site_of, allocated):
    site = site_of([4], [1.0])
    graphs = GraphSet((graph_of("a", [1.0]), graph_of("b", [1.0])))
    with pytest.raises(WorkloadError, match="1 allocations for 2 graphs"):
        plan(graphs, allocated(graphs, site, 1)[:1], site)
    for wrong in (0, 5):
        with pytest.raises(WorkloadError, match=r"'a' has a task on no processor.*most \[4\]"):
            plan(graphs, allocated(graphs, site, wrong), site)
    with pytest.raises(WorkloadError, match=r"'a' has shape \(1, 1\), and times of shape \(2,\)"):
        Mapper(graphs, allocated(graphs, site, 1, np.zeros(2)), site)


def test_what_cannot_happen_is_refused(graph_of, site_of, allocated):
    site = site_of([4], [1.0])
    graphs = GraphSet((graph_of("a", [1.0, 1.0], [(0, 1)]),))
    mapper = Mapper(graphs, allocated(graphs, site, 1), site)
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


@pytest.mark.parametrize("number", [-1, 2, 10**9])
def test_numbers_of_nothing_are_refused(graph_of, site_of, allocated, number):
    site = site_of([4], [1.0])
    graphs = GraphSet((graph_of("a", [1.0]), graph_of("b", [1.0])))
    [allocation, _] = allocated(graphs, site, 1)
    mapper = Mapper(graphs, allocated(graphs, site, 1), site)
    task = rf"there is no task {number}; give a number from 0 to 1"
    graph = rf"there is no graph {number}; give a number from 0 to 1"
    with pytest.raises(WorkloadError, match=task):
        mapper.map_ready(0.0, [0, number])
    for note in (mapper.started, mapper.finished):
        with pytest.raises(WorkloadError, match=task):
            note(number, 0.0)
    with pytest.raises(WorkloadError, match=graph):
        mapper.set_allocation(number, allocation)
    with pytest.raises(WorkloadError, match=graph):
        mapper.forecast(0.0, {number: allocation})
    # Nothing has happened.
    assert [each.task for each in mapper.map_ready(0.0, [0, 1])] == [0, 1]


def test_the_kernel_refuses_numbers_of_nothing(graph_of, site_of, allocated):
    site = site_of([4], [1.0])
    graphs = GraphSet((graph_of("a", [1.0, 1.0], [(0, 1)]), graph_of("b", [1.0])))
    kernel = Mapper(graphs, allocated(graphs, site, 1), site)._kernel
    for task in (-1, 3):
        for refused in (
            partial(kernel.map_ready, 0.0, [task]),
            partial(kernel.started, task, 0.0),
            partial(kernel.finished, task, 0.0),
            partial(kernel.mapping, task),
        ):
            with pytest.raises(IndexError, match="task that is not there"):
                refused()
    ones = np.ones((1, 2), dtype=np.int64)
    for first in (-1, 2):
        with pytest.raises(IndexError, match="tasks that are not there"):
            kernel.set_allocation(first, ones, np.ones(2))
    with pytest.raises(IndexError, match="tasks that are not there"):
        kernel.set_allocation(0, ones[:, :1], np.ones(2))
    for count in (0, 5):
        with pytest.raises(ValueError, match="processors that are not there"):
            kernel.set_allocation(0, ones * count, np.ones(2))
    with pytest.raises(ValueError, match="time is not a number"):
        kernel.set_allocation(0, ones, np.array([1.0, np.nan]))
    with pytest.raises(ValueError, match="part of a graph"):
        kernel.set_allocation(1, ones, np.ones(2))
    with pytest.raises(ValueError, match="before those that it follows"):
        kernel.map_ready(0.0, [1])


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -1.0])
def test_times_that_are_none_are_refused(graph_of, site_of, allocated, wrong):
    site = site_of([4], [1.0])
    graphs = GraphSet((graph_of("a", [1.0, 1.0]),))
    allocations = allocated(graphs, site, 1, np.array([1.0, wrong]))
    for refused in (plan, Mapper):
        with pytest.raises(WorkloadError, match=rf"graph 'a' says that task 't1' takes {wrong} s"):
            refused(graphs, allocations, site)
    mapper = Mapper(graphs, allocated(graphs, site, 1), site)
    with pytest.raises(WorkloadError, match="task 't1' takes"):
        mapper.set_allocation(0, *allocations)
    halves = allocated(graphs, site, 1)
    halves[0].processors = halves[0].processors * 1.5
    with pytest.raises(WorkloadError, match="'a' counts processors in float64"):
        plan(graphs, halves, site)


def test_dates_that_are_none_are_refused(graph_of, site_of, allocated):
    site = site_of([4], [1.0])
    graphs = GraphSet((graph_of("a", [1.0]),))
    mapper = Mapper(graphs, allocated(graphs, site, 1), site)
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
