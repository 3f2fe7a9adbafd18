"""Schedules that cannot be executed are refused with the reason."""

from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from naming import raises_naming
from small_graphs import ByHand, allocation_of, graph_of, scheduled, star

from simplugin.core.errors import ActorError, PlatformError, SimpluginError, WorkloadError
from simplugin.simulation import SimGridOptions, simulate
from simplugin.taskgraphs.actors.conductor import Orders, conduct
from simplugin.taskgraphs.execution import execute
from simplugin.workloads.task_graphs import GraphSet

ONE = graph_of("g", [1e9, 1e9], [(0, 1, 1e6)])
GRAPHS, MULTI = GraphSet((ONE,)), star(2, 1)
SITE = MULTI.site()
ALLOCATION = allocation_of(ONE, 1, 2)
RIGHT = {"decisions": [ALLOCATION]}
SCHEDULE = scheduled(GRAPHS, SITE, [(0, (0,)), (1, (1,))])


def refused(*names, error=WorkloadError, site=SITE, **how):
    """Assert that the execution of two tasks on three processors is refused."""
    with raises_naming(error, *names):
        execute(GRAPHS, site, **{"platform": MULTI.platform()} | how)


@pytest.mark.parametrize("options", [SimGridOptions(), SimGridOptions.linear()])
def test_other_host_models(options):
    refused("host_model", "ptask_L07", error=SimpluginError, **RIGHT, options=options)


@pytest.mark.parametrize(("processors", "missing"), [((1, 1), "'c0-2'"), ((2,), "'c1-1'")])
def test_platforms_without_all_hosts(processors, missing):
    refused(missing, "'star'", error=PlatformError, **RIGHT, platform=star(*processors).platform())


def test_platforms_of_other_hosts():
    hosts = tuple(tuple(f"x{host}" for host in hosts) for hosts in SITE.hosts)
    refused("'xc0-1'", error=PlatformError, site=replace(SITE, hosts=hosts), **RIGHT)


@pytest.mark.parametrize(
    ("names", "how"),
    [
        (["decisions", "None"], {"decisions": None}),
        (["revise"], {"decisions": SCHEDULE, "revise": dict}),
        (["pattern", "'cyclic'", "'block'", "'uniform'"], {**RIGHT, "pattern": "cyclic"}),
        (["local", "'lost'", "'sent'", "'kept'"], {**RIGHT, "local": "lost"}),
    ],
)
def test_contradictions_and_unknown_choices(names, how):
    refused(*names, **how)


def test_schedules_of_something_else():
    other = scheduled((graph_of("h", [1e9]),), SITE, [(0, (0,))])
    refused("cluster", "[0]", decisions=other)
    small = scheduled(GRAPHS, star(2).site(), [(0, (0,)), (1, (1,))])
    refused("'star'", decisions=small)


NO_PLACES = [(), (-1,), (0, 3), (1, 1), (0, 2), (0.5,), (True,), ("0",), (np.nan,), (10**30,)]


class Lists(ByHand):
    """A mapper that gives lists as they are."""

    def map_ready(self, _now, tasks):
        return [SimpleNamespace(task=task, processors=self.processors[task]) for task in tasks]


@pytest.mark.parametrize(
    "processors", [[np.int64(2)], (2,), np.array([2]), iter([2]), np.array([2.0])]
)
def test_right_places_of_any_kind(processors):
    done = execute(
        GRAPHS, SITE, platform=MULTI.platform(), decisions=partial(Lists, [[0], processors])
    )
    assert done.schedule.processors_of(1).tolist() == [2]


@pytest.mark.parametrize("processors", NO_PLACES)
def test_places_that_are_none(processors):
    refused("'Lists'", "'g:t1'", "'star'", decisions=partial(Lists, [[0], list(processors)]))
    start, places = np.array([0, 1, 1 + len(processors)]), [0, *processors]
    wrong = replace(SCHEDULE, processor_start=start, processor=places)
    refused("schedule", "processor", decisions=wrong)


@pytest.mark.parametrize("order", [[0], [0, 0], [0, 2]])
def test_schedules_without_all_tasks(order):
    wrong = replace(SCHEDULE, order=np.array(order))
    refused("order", decisions=wrong)


class Wrong:
    """A mapper that maps something else than it is asked about."""

    def __init__(self, tasks):
        self.tasks = tasks

    def map_ready(self, _now, _tasks):
        return [SimpleNamespace(task=task, processors=np.array([0])) for task in self.tasks]


@pytest.mark.parametrize(("tasks", "task"), [((-1,), "-1"), ((2,), "2"), ((0, 0), "'g:t0'")])
def test_mappers_of_other_tasks(tasks, task):
    refused("'Wrong'", f"task {task}", decisions=partial(Wrong, tasks))


@pytest.mark.parametrize("number", [-1, 1])
def test_revisions_of_other_graphs(number):
    def asking(now, _active, _mapped, forecast):
        forecast(now, {number: ALLOCATION})
        return {}

    refused(f"graph {number}", **RIGHT, revise=lambda *_: {number: ALLOCATION})
    refused(f"graph {number}", **RIGHT, revise=asking)


def test_schedules_against_the_order_of_a_graph():
    backwards = scheduled(GRAPHS, SITE, [(1, (0,)), (0, (0,))])
    refused("'g:t1'", decisions=backwards)


def test_mappers_that_never_map():
    class Idle(ByHand):
        def map_ready(self, now, tasks):
            return super().map_ready(now, [task for task in tasks if task == 0])

    refused("'g:t1'", decisions=partial(Idle, [[0], [1]]))


def test_failures_of_hosts():
    # The second host goes off at 0.5 s, while it computes.
    async def culprit(me):
        await me.sleep_for(0.5)
        me.host_by_name("c0-2").turn_off()

    schedule = scheduled(GRAPHS, SITE, [(0, (0, 1)), (1, (0,))])
    orders = Orders(GRAPHS, SITE, schedule, None, None, "block", "sent", False)
    options = SimGridOptions(host_model="ptask_L07")
    with raises_naming(ActorError, "c0-1", "0.5 s"):
        simulate(MULTI.platform(), [("c0-1", conduct, orders), ("c1-1", culprit)], options=options)
