"""Executions, parallel tasks and sleeping."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from conformance import ada, attempt, cyd, errors_of, returns, scenario, sleep, tried, work
from worlds import AB, AB_LATENCY, ADA, BOB, CYD, CYD_CORES, WRITE
from xml_zones import zone_xml

from simplugin.simulation import SimGridOptions

WEIGHTED = ((2.25e9, 1), (3e9, 3), (2.75e9, 1))  # flop and priority
# Parallel tasks have their own model; without its TCP window the network is linear there too.
PTASK = SimGridOptions(host_model="ptask_L07", tcp_gamma=0, crosstraffic=False)
LIMITED = zone_xml("""
    <host id="cyd" speed="1Gf" core="4">
      <disk id="disk" read_bw="100MBps" write_bw="40MBps"/>
    </host>
    <host id="bob" speed="1Gf"/>
    <link id="link" bandwidth="1MBps" latency="0"/>
    <route src="cyd" dst="bob"><link_ctn id="link"/></route>
""")

# ---- executions ---------------------------------------------------------------------------------

scenario("execute_alone", ada(work, 3e9, gives=3e9 / ADA), clock=3.0)
scenario("execute_nothing", ada(work, 0, gives=0.0), clock=0.0)
scenario(
    "execute_share_a_core",
    ada(work, 1e9, name="short", gives=2 * 1e9 / ADA),
    ada(work, 2e9, name="long", gives=3e9 / ADA),
)
scenario(
    "execute_more_than_cores",
    *(
        cyd(work, 1e9, name=f"task{i}", gives=(CYD_CORES + 1) * 1e9 / (CYD_CORES * CYD))
        for i in range(CYD_CORES + 1)
    ),
)


@returns([(None, 1e9 / BOB), (None, 1e9 / BOB + 1e9 / CYD), (None, 1e9 / BOB + 2e9 / CYD)])
async def execute_on_other_hosts(me: Any) -> list[Any]:
    hosts = ("bob", me.host_by_name("cyd"), None)
    return [await tried(me, me.execute(1e9, host=host)) for host in hosts]


# Three quarters go to the urgent one until it ends.
scenario(
    "execute_with_priorities",
    ada(work, 1e9, name="plain", gives=2e9 / ADA),
    ada(
        attempt,
        lambda me: me.execute(1e9, priority=3.0),
        name="urgent",
        gives=(None, 1e9 / (0.75 * ADA)),
    ),
)


# The third becomes urgent, too, after 2.5 s: three sevenths are its own then.
@returns([6.0, 7.0, 8.0])
async def execute_async_with_priorities(me: Any) -> list[float]:
    plain, urgent, later = (me.exec_async(flops, priority=p) for flops, p in WEIGHTED)
    await me.sleep_for(2.5)
    later.priority = 3
    await me.wait_all([plain, urgent, later])
    return [urgent.finish_time, later.finish_time, plain.finish_time]


# The bounded one uses a quarter of the host and leaves three to the other.
@returns((1.5e9 / (0.75 * ADA), 1e9 / (0.25 * ADA)))
async def execute_bounded(me: Any) -> tuple[float, float]:
    bounded = me.exec_async(1e9, bound=ADA / 4)
    await me.execute(1.5e9)
    free = me.now
    await bounded
    return free, me.now


@returns(
    ["STARTED", "big", 0.0, 2e9 - 0.5 * ADA, False, 2e9 / ADA, "FINISHED", 0.0, True, 2e9 / ADA]
)
async def execute_async(me: Any) -> list[Any]:
    task = me.exec_async(2e9, label="big")
    seen: list[Any] = [task.state, task.label, task.start_time]
    await me.sleep_for(0.5)
    seen += [task.remaining, task.test()]
    await task
    return [*seen, me.now, task.state, task.remaining, task.test(), task.finish_time]


@returns([1.5e9, 2e9 / ADA + 3])
async def suspend_execution(me: Any) -> list[float]:
    task = me.exec_async(2e9)
    await me.sleep_for(0.5)
    task.suspend()
    await me.sleep_for(3)
    left = task.remaining
    task.resume()
    await task
    return [left, me.now]


# The dates of SimGrid's example exec-threads; then one that is moved keeps its threads.
@returns(
    [10.0, 20.0, 35.0, 45.0, 57.5, 62.5, 80.0, 85.0, 95.0, [8e9, 98.5, 99.5]],
    on=cyd,
    platform=zone_xml(
        '<host id="ada" speed="2Gf" core="2"/><host id="cyd" speed="100Mf" core="4"/>'
    ),
)
async def execute_with_threads(me: Any) -> list[Any]:
    dates = []

    async def note(operation: Any) -> None:
        await operation
        dates.append(me.now)

    for threads in (2, 4, 6):
        await note(me.execute(1e9, threads=threads))
    behind = me.exec_async(2.5e9)
    await note(me.execute(1e9, threads=2))
    await note(me.execute(1e9, threads=4))
    await note(behind)
    behind = me.exec_async(2e9, threads=4)
    await me.sleep_for(5)
    await note(me.execute(1e9))
    await note(behind)
    await note(me.wait_all([me.exec_async(1e9, threads=2) for _ in range(2)]))
    moved = me.exec_async(4.2e9, threads=2)
    await me.sleep_for(2)
    moved.host = "ada"
    moved.suspend()
    moved.resume()
    left, other = moved.remaining, me.exec_async(2e9, host="ada")
    await moved
    return [*dates, [left, other.finish_time, me.now]]


# The dates of exec-remote: one goes on elsewhere, the next fails with its host.
@returns(
    [[1e9, 0.0], [0.0, 2e9], (None, 0.75), "ValueError", ("HostFailureException", 1.25)],
    on=cyd,
)
async def move_an_execution(me: Any) -> list[Any]:
    hosts = ada, bob = me.host_by_name("ada"), me.host_by_name("bob")
    execution = me.exec_async(1e9, host=ada)
    await me.sleep_for(0.5)
    seen: list[Any] = [[host.load for host in hosts]]
    execution.host = bob
    await me.sleep_for(0.125)
    seen.append([host.load for host in hosts])
    seen.append(await tried(me, execution))
    seen += errors_of(lambda: setattr(execution, "host", ada))
    execution = me.exec_async(2e9, host=ada)
    await me.sleep_for(0.25)
    execution.host = bob
    await me.sleep_for(0.25)
    bob.turn_off()
    return [*seen, await tried(me, execution)]


@returns(
    [None, 1, [2.0, 3.0, 3.0], [8e7 / WRITE, 16e7 / WRITE], [4.0, 8.0], ["ValueError", 1], None],
    on=cyd,
    platform=LIMITED,
)
async def a_limited_number_at_a_time(me: Any) -> list[Any]:
    host, link, disk = me.host, me.link_by_name("link"), me.host.disks[0]
    seen: list[Any] = [host.concurrency_limit]
    host.concurrency_limit, link.concurrency_limit, disk.concurrency_limit = 2, 1, 1
    seen.append(link.concurrency_limit)
    executions = [me.exec_async(flops) for flops in (2e9, 3e9, 1e9)]
    writes = [disk.write_async(8e7) for _ in range(2)]
    transfers = [me.sendto_async("cyd", "bob", 4e6) for _ in range(2)]
    await me.wait_all([*executions, *writes, *transfers])
    seen += [[each.finish_time for each in group] for group in (executions, writes, transfers)]
    wrong = errors_of(lambda: setattr(link, "concurrency_limit", 0))
    seen.append([*wrong, link.concurrency_limit])
    host.concurrency_limit = None
    return [*seen, host.concurrency_limit]


@returns(["SimpluginError", None])
async def a_limit_while_something_runs(me: Any) -> list[Any]:
    execution = me.exec_async(1e9)
    wrong = errors_of(lambda: setattr(me.host, "concurrency_limit", 1))
    await execution
    return [*wrong, me.host.concurrency_limit]


# ---- parallel tasks -----------------------------------------------------------------------------

parallel = functools.partial(returns, options=PTASK)


# All at once, and the latency once.
@parallel(
    [
        max(1e9 / ADA, 4e9 / BOB),
        AB_LATENCY + max(1e9 / ADA, 1e9 / BOB, 3e6 / AB),
        max(2e9 / ADA, 4e9 / BOB),
        AB_LATENCY + 3e6 / AB,
        0.0,
    ],
    on=cyd,
)
async def parallel_tasks(me: Any) -> list[float]:
    message = [[0, 3e6], [0, 0]]
    durations = []
    for flops, sizes in (
        ([1e9, 4e9], [[0, 0], [0, 0]]),
        ([1e9, 1e9], message),
        (np.array([2e9, 4e9]), None),
        (None, np.array(message)),
        (None, None),
    ):
        before = me.now
        await me.parallel_execute(["ada", "bob"], flops, sizes, label="together")
        durations.append(me.now - before)
    return durations


@parallel([["ValueError"] * 16, 0.0], on=cyd)
async def bad_parallel_tasks(me: Any) -> list[Any]:
    ones, zeros = np.ones(2), np.zeros((2, 2))
    pairs = (
        (np.ones(3), zeros),
        (ones, np.zeros((3, 2))),
        (ones, np.zeros((2, 3))),
        (ones, np.zeros((0, 0))),
        (np.array([1.0, -1.0]), zeros),
        (np.array([1.0, np.nan]), zeros),
        (np.array([1.0, np.inf]), zeros),
        (ones, np.array([[0.0, -1.0], [0.0, 0.0]])),
    )
    start = functools.partial(me.parallel_async, ["ada", "bob"])
    wrong = errors_of(
        *(functools.partial(start, *pair) for pair in pairs),
        *(functools.partial(start, flops.tolist(), sizes.tolist()) for flops, sizes in pairs),
    )
    return [wrong, me.now]


@parallel([False, (None, 2e9 / ADA), "FINISHED"], on=cyd)
async def parallel_async(me: Any) -> list[Any]:
    task = me.parallel_async(["ada", "bob"], [2e9, 2e9], [[0, 0], [0, 0]])
    await me.sleep_for(1)
    early = task.test()
    return [early, await tried(me, task), task.state]


@parallel([("HostFailureException", 0.0), ("HostFailureException", 1.0)], on=cyd)
async def execute_where_it_is_off(me: Any) -> list[Any]:
    ada = me.host_by_name("ada")
    ada.turn_off()
    seen = [await tried(me, me.execute(1e9, host=ada))]
    await me.sleep_for(1)
    return [*seen, await tried(me, me.parallel_execute(["ada", "bob"], [1e9, 1e9], None))]


# ---- sleeping -----------------------------------------------------------------------------------


@returns([0.0, 1.5, 4.25, 4.25])
async def sleeping(me: Any) -> list[float]:
    dates = [me.now]
    await me.sleep_for(1.5)
    dates.append(me.now)
    await me.sleep_until(4.25)
    dates.append(me.now)
    await me.sleep_until(2)
    await me.sleep_for(0)
    return [*dates, me.now]


# The precision follows the date.
scenario("doze_off", ada(sleep, 1e-12, gives=1e-12))


async def yielding(me: Any, name: str, said: Any) -> None:
    for turn in range(3):
        said.put_detached((name, turn, me.now))
        await me.yield_()


@returns([[(name, turn, 0.0) for name in "ab" for turn in range(3)], 0.0])
async def listening(me: Any) -> list[Any]:
    queue = me.message_queue("said")
    children = [me.spawn(yielding, name, queue) for name in "ab"]
    for child in children:
        await child.join()
    said = [await queue.get() for _ in range(queue.size)]
    return [sorted(said), me.now]
