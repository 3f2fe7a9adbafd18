"""Plans pass the checks; each kind of harm is told."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_graphs import graph_of, random_scene, site_of

from simplugin.taskgraphs.policies.mapping import plan
from simplugin.taskgraphs.readings import PAPER
from simplugin.taskgraphs.schedule import Schedule, violations
from simplugin.taskgraphs.timing import task_times
from simplugin.workloads.graph_sets import GraphSet

READINGS = st.builds(
    replace,
    st.just(PAPER),
    packing=st.sampled_from(["earliest", "largest", "off"]),
    order=st.sampled_from(["bottom", "fifo"]),
    fixing=st.sampled_from(["reserve", "start"]),
)


@settings(max_examples=60, derandomize=True)
@given(seed=st.integers(0, 2**32 - 1), readings=READINGS, transfers=st.booleans())
def test_plans_violate_nothing(seed, readings, transfers):
    graphs, allocations, site = random_scene(seed)
    schedule = plan(graphs, allocations, site, readings=readings, transfers=transfers)
    assert violations(schedule, transfers=transfers) == []
    # No path is shorter than with each task on the whole of the cluster that is best for it.
    whole = np.min(
        task_times(graphs.flop, graphs.alpha, site.processors[:, None], site.speed[:, None]), axis=0
    )
    for graph, first, makespan in zip(
        graphs.graphs, graphs.first, schedule.makespans, strict=False
    ):
        bound = np.max(graph.bottom_levels(whole[first : first + graph.n_tasks]))
        assert makespan >= bound * (1 - 1e-12)
    assert schedule.area * np.max(site.speed) >= np.sum(graphs.flop) * (1 - 1e-12)


@pytest.fixture
def schedule():
    """Return two tasks of 4 and 2 s, 6 bytes from one to the other, on two hosts of one cluster."""
    site = site_of([2, 1], [1.0, 1.0])
    graphs = GraphSet((graph_of("g", [8.0, 4.0], [(0, 1)], 6.0),), np.array([1.0]))
    hosts = np.array([0, 1, 0, 1])
    dates = np.array([1.0, 8.0]), np.array([5.0, 10.0])
    return Schedule(
        site, graphs, np.array([0, 0]), *dates, np.array([0, 2, 4]), hosts, np.array([0, 1])
    )


def changed(schedule, **fields):
    return replace(schedule, **{name: np.array(value) for name, value in fields.items()})


def test_a_right_schedule_violates_nothing(schedule):
    assert violations(schedule, transfers=True) == []


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        ({"order": [0, 0]}, "the order of mapping does not have each task once"),
        ({"cluster": [0, 2]}, "'g:t1' is on cluster 2, which site 'site' does not have"),
        ({"processor": [0, 0, 0, 1]}, "'g:t0' has processors [0, 0]"),
        ({"processor": [0, 1, 0, 2]}, "'g:t1' has processors outside its cluster 'c0': [0, 2]"),
        ({"start": [1.0, np.nan]}, "'g:t1' has no date"),
        ({"finish": [5.0, 9.5]}, "'g:t1' takes 1.5 s instead of 2.0 s"),
        ({"start": [0.5, 8.0], "finish": [4.5, 10.0]}, "'g:t0' starts at 0.5 s, before its graph"),
        (
            {"start": [1.0, 7.5], "finish": [5.0, 9.5]},
            "'g:t1' starts at 7.5 s, before the data of 'g:t0' are there at 8.0 s",
        ),
        ({"order": [1, 0]}, "tasks 'g:t1' and 'g:t0' overlap on host 'c0-0', or are in the wrong"),
    ],
)
def test_harm_is_told(schedule, harm, told):
    assert told in violations(changed(schedule, **harm), transfers=True)[0]


def test_what_came_about_may_take_longer(schedule):
    late = changed(schedule, finish=[5.0, 10.5])
    assert violations(late, transfers=True, exact=False) == []
    early = changed(schedule, finish=[5.0, 9.5])
    assert len(violations(early, transfers=True, exact=False)) == 1


def test_without_transfers_data_are_there_at_once(schedule):
    soon = changed(schedule, start=[1.0, 5.0], finish=[5.0, 7.0])
    assert violations(soon, transfers=False) == []
    assert len(violations(soon, transfers=True)) == 1
    sooner = changed(schedule, start=[1.0, 4.5], finish=[5.0, 6.5])
    # It starts before the other one has finished: in precedence, and on either host.
    assert len(violations(sooner, transfers=False)) == 3
