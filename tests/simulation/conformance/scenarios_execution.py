"""Executions, parallel tasks and sleeping."""

from __future__ import annotations

from typing import Any

import numpy as np
from conformance import Scenario
from worlds import AB, AB_LATENCY, ADA, BOB, CYD, CYD_CORES, PLAIN

from simplugin.simulation import Placement, SimGridOptions

# Parallel tasks have their own model; without its TCP window the network is linear there too.
PTASK = SimGridOptions(host_model="ptask_L07", tcp_gamma=0, crosstraffic=False)


async def execute(me: Any, flops: float, **how: Any) -> float:
    await me.execute(flops, **how)
    return me.now


async def execute_with_priority(me: Any, flops: float, priority: float) -> float:
    return await execute(me, flops, priority=priority)


async def execute_remotely(me: Any) -> list[float]:
    dates = []
    for host in ("bob", me.host_by_name("cyd"), None):
        await me.execute(1e9, host=host)
        dates.append(me.now)
    return dates


async def execute_bounded(me: Any) -> tuple[float, float]:
    bounded = me.exec_async(1e9, bound=ADA / 4)
    await me.execute(1.5e9)
    free = me.now
    await bounded
    return free, me.now


async def execute_async(me: Any) -> list[Any]:
    work = me.exec_async(2e9, label="big")
    seen: list[Any] = [work.state, work.label, work.start_time]
    await me.sleep_for(0.5)
    seen += [work.remaining, work.test()]
    await work
    return [*seen, me.now, work.state, work.remaining, work.test(), work.finish_time]


async def execute_async_with_priorities(me: Any) -> list[float]:
    works = [me.exec_async(1e9, priority=priority) for priority in (1, 3)]
    dates = []
    for _ in works:
        works.remove(await me.wait_any(works))
        dates.append(me.now)
        if not works:
            break
    await me.wait_all(works)
    return [*dates, me.now]


async def suspend_execution(me: Any) -> list[float]:
    work = me.exec_async(2e9)
    await me.sleep_for(0.5)
    work.suspend()
    await me.sleep_for(3)
    left = work.remaining
    work.resume()
    await work
    return [left, me.now]


async def ptask(me: Any, hosts: list[str], flops: list[float], sizes: Any) -> float:
    await me.parallel_execute(hosts, flops, sizes, label="together")
    return me.now


async def ptask_arrays(me: Any) -> list[float]:
    await me.parallel_execute(["ada", "bob"], np.array([1e9, 4e9]), None)
    dates = [me.now]
    await me.parallel_execute(["ada", "bob"], None, np.array([[0, 3e6], [0, 0]]))
    return [*dates, me.now]


async def bad_ptasks(me: Any) -> list[Any]:
    none, zeros, hosts = np.zeros((0, 0)), np.zeros((2, 2)), ["ada", "bob"]
    wrong = []
    for flops, sizes in (
        (np.ones(3), zeros),
        (np.ones(1), None),
        (np.ones(2), np.zeros((3, 2))),
        (np.ones(2), np.zeros((2, 3))),
        (np.ones(2), none),
        (np.array([1.0, -1.0]), zeros),
        (np.array([1.0, np.nan]), zeros),
        (np.array([1.0, np.inf]), zeros),
        (np.ones(2), np.array([[0.0, -1.0], [0.0, 0.0]])),
        (np.ones(2), np.array([[0.0, 0.0], [np.nan, 0.0]])),
        ([1.0, 1.0, 1.0], [[0.0, 0.0], [0.0, 0.0]]),
        ([1.0, -1.0], None),
    ):
        try:
            me.parallel_async(hosts, flops, sizes)
        except ValueError as error:
            wrong.append(type(error).__name__)
    return [wrong, me.now]


async def ptask_async(me: Any) -> list[Any]:
    task = me.parallel_async(["ada", "bob"], [2e9, 2e9], [[0, 0], [0, 0]])
    await me.sleep_for(1)
    early = task.test()
    await task
    return [early, me.now, task.state]


async def sleeping(me: Any) -> list[float]:
    dates = [me.now]
    await me.sleep_for(1.5)
    dates.append(me.now)
    await me.sleep_until(4.25)
    dates.append(me.now)
    await me.sleep_until(2)
    await me.sleep_for(0)
    return [*dates, me.now]


async def yielding(me: Any, name: str, said: Any) -> None:
    for turn in range(3):
        said.put_detached((name, turn, me.now))
        await me.yield_()


async def listening(me: Any) -> list[Any]:
    queue = me.message_queue("said")
    a = me.spawn(yielding, "a", queue)
    b = me.spawn(yielding, "b", queue)
    await a.join()
    await b.join()
    said = [await queue.get() for _ in range(queue.size)]
    return [sorted(said), me.now]


SCENARIOS = [
    Scenario(
        "execute_alone", PLAIN, (Placement("ada", execute, (3e9,)),), {"execute": 3e9 / ADA}, 3.0
    ),
    Scenario(
        "execute_on_other_hosts",
        PLAIN,
        (Placement("ada", execute_remotely),),
        {"execute_remotely": [1e9 / BOB, 1e9 / BOB + 1e9 / CYD, 1e9 / BOB + 2e9 / CYD]},
    ),
    Scenario(
        "execute_share_a_core",
        PLAIN,
        (
            Placement("ada", execute, (1e9,), name="short"),
            Placement("ada", execute, (2e9,), name="long"),
        ),
        {"short": 2 * 1e9 / ADA, "long": 3e9 / ADA},
    ),
    Scenario(
        "execute_more_than_cores",
        PLAIN,
        tuple(Placement("cyd", execute, (1e9,), name=f"task{i}") for i in range(CYD_CORES + 1)),
        {f"task{i}": (CYD_CORES + 1) * 1e9 / (CYD_CORES * CYD) for i in range(CYD_CORES + 1)},
    ),
    Scenario(
        "execute_with_priorities",
        PLAIN,
        (
            Placement("ada", execute_with_priority, (1e9, 1.0), name="plain"),
            Placement("ada", execute_with_priority, (1e9, 3.0), name="urgent"),
        ),
        # Three quarters go to the urgent one until it ends.
        {"urgent": 1e9 / (0.75 * ADA), "plain": 2e9 / ADA},
    ),
    Scenario(
        "execute_async_with_priorities",
        PLAIN,
        (Placement("ada", execute_async_with_priorities),),
        {"execute_async_with_priorities": [1e9 / (0.75 * ADA), 2e9 / ADA]},
        only="no priority of asynchronous executions",
    ),
    Scenario(
        "execute_with_bound",
        PLAIN,
        (Placement("ada", execute_bounded),),
        # The bounded one uses a quarter of the host and leaves three to the other.
        {"execute_bounded": (1.5e9 / (0.75 * ADA), 1e9 / (0.25 * ADA))},
        only="no bound",
    ),
    Scenario("execute_nothing", PLAIN, (Placement("ada", execute, (0,)),), {"execute": 0.0}, 0.0),
    Scenario(
        "execute_async",
        PLAIN,
        (Placement("ada", execute_async),),
        {
            "execute_async": [
                *["STARTED", "big", 0.0],
                *[2e9 - 0.5 * ADA, False],
                *[2e9 / ADA, "FINISHED", 0.0, True, 2e9 / ADA],
            ]
        },
    ),
    Scenario(
        "suspend_execution",
        PLAIN,
        (Placement("ada", suspend_execution),),
        {"suspend_execution": [1.5e9, 2e9 / ADA + 3]},
    ),
    Scenario(
        "parallel_computation",
        PLAIN,
        (Placement("ada", ptask, (["ada", "bob"], [1e9, 4e9], [[0, 0], [0, 0]])),),
        {"ptask": max(1e9 / ADA, 4e9 / BOB)},
        options=PTASK,
    ),
    Scenario(
        "parallel_communication",
        PLAIN,
        (Placement("cyd", ptask, (["ada", "bob"], [1e9, 1e9], [[0, 3e6], [0, 0]])),),
        {"ptask": AB_LATENCY + max(1e9 / ADA, 1e9 / BOB, 3e6 / AB)},
        options=PTASK,
    ),
    Scenario(
        "parallel_arrays",
        PLAIN,
        (Placement("cyd", ptask_arrays),),
        {
            "ptask_arrays": [
                max(1e9 / ADA, 4e9 / BOB),
                max(1e9 / ADA, 4e9 / BOB) + AB_LATENCY + 3e6 / AB,
            ]
        },
        options=PTASK,
    ),
    Scenario(
        "parallel_nothing",
        PLAIN,
        (Placement("cyd", ptask, (["ada", "bob"], None, None)),),
        {"ptask": 0.0},
        0.0,
        options=PTASK,
    ),
    Scenario(
        "parallel_bad_arguments",
        PLAIN,
        (Placement("cyd", bad_ptasks),),
        {"bad_ptasks": [["ValueError"] * 12, 0.0]},
        options=PTASK,
    ),
    Scenario(
        "parallel_async",
        PLAIN,
        (Placement("cyd", ptask_async),),
        {"ptask_async": [False, 2e9 / ADA, "FINISHED"]},
        options=PTASK,
    ),
    Scenario(
        "sleeping", PLAIN, (Placement("ada", sleeping),), {"sleeping": [0.0, 1.5, 4.25, 4.25]}
    ),
    Scenario(
        "yielding",
        PLAIN,
        (Placement("ada", listening),),
        {"listening": [[(name, turn, 0.0) for name in "ab" for turn in range(3)], 0.0]},
    ),
]
