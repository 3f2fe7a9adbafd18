"""What cannot be executed is refused with a message that says why."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from simplugin.errors import (
    ActorError,
    PlatformError,
    SimpluginError,
    WorkloadError,
)
from simplugin.simulation import SimGridOptions, simulate
from simplugin.taskgraphs.actors.conductor import Orders, conduct
from simplugin.taskgraphs.execution import _queue, execute
from simplugin.taskgraphs.schedule import Schedule
from simplugin.workloads.graph_sets import GraphSet


@pytest.fixture
def given(graph, star, allocated):
    """Return graphs, a site, and what else is right."""
    one = graph("g", [1e9, 1e9], [(0, 1, 1e6)])
    site = star(2, 1)
    right = {"platform": site.platform(), "allocations": [allocated(one, 1, 2)]}
    return GraphSet((one,)), site.site(), right


def test_other_host_models(given):
    graphs, site, right = given
    for options in (SimGridOptions(), SimGridOptions.linear()):
        with pytest.raises(SimpluginError, match="host_model='ptask_L07'"):
            execute(graphs, site, **right, options=options)


@pytest.mark.parametrize(("processors", "missing"), [((1, 1), "c0-2"), ((2,), "c1-1")])
def test_platforms_without_all_hosts(given, star, processors, missing):
    graphs, site, right = given
    with pytest.raises(PlatformError, match=f"no host '{missing}', which site 'star' has"):
        execute(graphs, site, **right | {"platform": star(*processors).platform()})


def test_platforms_of_other_hosts(given):
    graphs, site, right = given
    renamed = replace(
        site, hosts=tuple(tuple(f"x{host}" for host in hosts) for hosts in site.hosts)
    )
    with pytest.raises(PlatformError, match="no host 'xc0-1'"):
        execute(graphs, renamed, **right)


def test_contradictions(given, scheduled, by_hand):
    graphs, site, right = given
    platform = right["platform"]
    schedule = scheduled(graphs, site, [(0, (0,)), (1, (1,))])
    with pytest.raises(WorkloadError, match="either allocations, or a schedule, or a mapper"):
        execute(graphs, site, platform=platform)
    with pytest.raises(WorkloadError, match="either allocations"):
        execute(graphs, site, **right, schedule=schedule, mode="planned")
    with pytest.raises(WorkloadError, match="only executed with mode='planned'"):
        execute(graphs, site, platform=platform, schedule=schedule)
    with pytest.raises(WorkloadError, match="only decide with mode='online'"):
        execute(graphs, site, platform=platform, mapper=partial(by_hand, []), mode="planned")
    with pytest.raises(WorkloadError, match="only decide with mode='online'"):
        execute(graphs, site, **right, revise=dict, mode="planned")
    with pytest.raises(WorkloadError, match="choose 'online' or 'planned'"):
        execute(graphs, site, **right, mode="offline")


def test_schedules_of_something_else(given, graph, star, scheduled):
    graphs, site, right = given
    platform = right["platform"]
    other = GraphSet((graph("h", [1e9]),))
    with pytest.raises(WorkloadError, match="1 tasks on 3 processors; there are 2 on 3"):
        execute(
            graphs,
            site,
            platform=platform,
            schedule=scheduled(other, site, [(0, (0,))]),
            mode="planned",
        )
    small = scheduled(graphs, star(2).site(), [(0, (0,)), (1, (1,))])
    with pytest.raises(WorkloadError, match="2 tasks on 2 processors; there are 2 on 3"):
        execute(graphs, site, platform=platform, schedule=small, mode="planned")


@pytest.mark.parametrize(
    ("processors", "fault"),
    [
        ((), "no processor; give at least one"),
        ((-1,), "processors [-1]; site 'star' has the numbers from 0 to 2"),
        ((0, 3), "processors [0, 3]; site 'star' has the numbers from 0 to 2"),
        ((1, 1), "processors [1, 1]; give each once"),
    ],
)
def test_places_that_are_none(given, by_hand, processors, fault):
    graphs, site, right = given
    platform = right["platform"]
    start, count = np.array([0, 1, 1 + len(processors)]), np.zeros(2, dtype=np.int64)
    wrong = Schedule(
        site, graphs, count, np.zeros(2), np.zeros(2), start,
        np.array([0, *processors]), np.array([0, 1]),
    )  # fmt: skip
    with pytest.raises(WorkloadError, match=re.escape(f"schedule has task 'g:t1' on {fault}")):
        execute(graphs, site, platform=platform, schedule=wrong, mode="planned")
    mapper = partial(by_hand, [[0], list(processors)])
    with pytest.raises(WorkloadError, match=re.escape(f"mapper has task 'g:t1' on {fault}")):
        execute(graphs, site, platform=platform, mapper=mapper)


def test_schedules_without_all_tasks(given, scheduled):
    graphs, site, right = given
    schedule = scheduled(graphs, site, [(0, (0,)), (1, (1,))])
    for order in ([0], [0, 0], [0, 2]):
        wrong = replace(schedule, order=np.array(order))
        with pytest.raises(WorkloadError, match="not of 2 tasks; give each task once"):
            execute(graphs, site, platform=right["platform"], schedule=wrong, mode="planned")


class Wrong:
    """A mapper that maps something else than it is asked about."""

    def __init__(self, tasks):
        self.tasks = tasks

    def map_ready(self, _now, _tasks):
        return [SimpleNamespace(task=task, processors=np.array([0])) for task in self.tasks]


@pytest.mark.parametrize(
    ("tasks", "match"),
    [
        ((-1,), "maps task -1, which is unknown; give a number from 0 to 1"),
        ((2,), "maps task 2, which is unknown; give a number from 0 to 1"),
        ((0, 0), "maps task 'g:t0' twice"),
    ],
)
def test_mappers_of_other_tasks(given, tasks, match):
    graphs, site, right = given
    with pytest.raises(WorkloadError, match=match):
        execute(graphs, site, platform=right["platform"], mapper=partial(Wrong, tasks))


@pytest.mark.parametrize("graph_number", [-1, 1])
def test_revisions_of_other_graphs(given, graph_number):
    graphs, site, right = given
    [allocation] = right["allocations"]
    with pytest.raises(
        WorkloadError, match=f"for graph {graph_number}, which is unknown; .* from 0 to 0"
    ):
        execute(graphs, site, **right, revise=partial(revised, {graph_number: allocation}))
    asking = partial(asked, {graph_number: allocation})
    with pytest.raises(WorkloadError, match=f"there is no graph {graph_number}"):
        execute(graphs, site, **right, revise=asking)


def revised(allocations, *_):
    return allocations


def asked(allocations, now, _active, _mapped, forecast):
    forecast(now, allocations)
    return {}


def test_unknown_redistributions(given):
    graphs, site, right = given
    with pytest.raises(WorkloadError, match="pattern is 'cyclic'; choose 'block' or 'uniform'"):
        execute(graphs, site, **right, pattern="cyclic")
    with pytest.raises(WorkloadError, match="local is 'lost'; choose 'sent' or 'kept'"):
        execute(graphs, site, **right, local="lost")


def test_schedules_against_the_order_of_a_graph(given, scheduled):
    graphs, site, right = given
    backwards = scheduled(graphs, site, [(1, (0,)), (0, (0,))])
    with pytest.raises(WorkloadError, match="task 'g:t1' can never start"):
        execute(graphs, site, platform=right["platform"], schedule=backwards, mode="planned")


def test_mappers_that_never_map(given, by_hand):
    class Idle(by_hand):
        def map_ready(self, now, tasks):
            return super().map_ready(now, [task for task in tasks if task == 0])

    graphs, site, right = given
    with pytest.raises(WorkloadError, match="task 'g:t1' is never mapped"):
        execute(graphs, site, platform=right["platform"], mapper=partial(Idle, [[0], [1]]))


def test_failures_of_hosts(given, scheduled):
    # The second host goes off at 0.5 s, while it computes.
    graphs, site, right = given

    async def culprit(me):
        await me.sleep_for(0.5)
        me.host_by_name("c0-2").turn_off()

    schedule = scheduled(graphs, site, [(0, (0, 1)), (1, (0,))])
    orders = Orders(graphs, site, _queue(schedule), None, None, "block", "sent", False)
    options = SimGridOptions(host_model="ptask_L07")
    with pytest.raises(ActorError, match=r"at 0\.5 s: .*the host failed"):
        simulate(right["platform"], [("c0-1", conduct, orders), ("c1-1", culprit)], options=options)
