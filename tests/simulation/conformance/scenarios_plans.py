"""Activities before they start; dates of SimGrid's examples, whose names stand beside."""

from __future__ import annotations

import itertools
from typing import Any

from conformance import ada, attempt, bob, cyd, errors_of, returns, scenario, tried
from worlds import AB_LATENCY, ADA, BOB, READ, WRITE, ab, ac

from simplugin.simulation import SimGridOptions


def states(*activities: Any) -> list[str]:
    return [activity.state for activity in activities]


# exec-dependent
@returns([["STARTED", "STARTED", "STARTING"], (0, 1.0), (1, 2.0), (2, 3.0), []], on=cyd)
async def execute_dependent(me: Any) -> list[Any]:
    first, second, child = (me.exec_init(flops) for flops in (1e9, 2e9, 1e9))
    first.add_successor(child)
    second.add_successor(child).start()
    first.start()
    child.start()
    tasks = [first, second, child]
    seen: list[Any] = [states(*tasks)]
    while tasks:
        done = await me.wait_any(tasks)
        seen.append(([first, second, child].index(done), me.now))
        tasks.remove(done)
    return [*seen, child.dependencies]


# exec-unassigned
@returns(["INITED", 1e9, None, "STARTING", 10.0, "ada", 11.0, 10.0])
async def execute_unassigned(me: Any) -> list[Any]:
    task = me.exec_init(1e9)
    seen: list[Any] = [task.state, task.remaining]
    task.host = None
    task.start()
    seen += [task.host, task.state]
    await me.sleep_for(10)
    seen.append(me.now)
    task.host = "ada"
    seen.append(task.host.name)
    await task
    return [*seen, me.now, task.start_time]


@returns(
    [1.0, "STARTING", 1e9 / ADA, 1e9 / ADA + 4e9 / BOB],
    options=SimGridOptions(host_model="ptask_L07"),
)
async def parallel_task_dependent(me: Any) -> list[Any]:
    first, task = me.exec_init(1e9), me.parallel_init(["ada", "bob"], [1e9, 4e9], None)
    first.add_successor(task).start()
    seen: list[Any] = [task.remaining, task.start().state]
    await task
    return [*seen, task.start_time, me.now]


# comm-dependent
async def compute_and_send(me: Any) -> float:
    task = me.exec_init(2e9)
    put = me.mailbox("box").put_init("flops", 1e6)
    task.add_successor(put).start()
    put.start()
    await task
    await put
    return float(me.now)


@returns(
    [("flops", 2 + ab(1e6)), (None, 2 + ab(1e6) + 4e9 / BOB)],
    on=bob,
    beside=[ada(compute_and_send, gives=2e9 / ADA + ab(1e6))],
)
async def put_and_get_dependent(me: Any) -> Any:
    get, task = me.mailbox("box").get_init(), me.exec_init(4e9)
    get.add_successor(task).start()
    task.start()
    return [await tried(me, get), await tried(me, task)]


# comm-host2host
@returns(["INITED", 1e6, ab(1e6), 1 + ac(1e6), 1 + ac(1e6) + ab(0)], on=cyd)
async def transfer_later(me: Any) -> list[Any]:
    there, here = me.sendto_async("ada", "bob", 1e6), me.sendto_init("ada", None, 1e6)
    me.sendto_init("ada", "bob", 0).detach()
    seen: list[Any] = [here.state, here.remaining]
    await me.sleep_for(1)
    here.destination = "cyd"
    here.start()
    await there
    seen.append(me.now)
    await here
    seen.append(me.now)
    await me.sendto_init("bob", "ada", 0)
    return [*seen, me.now]


# io-dependent, with a transfer between
@returns(
    [("execution", 1.0), ("write", 1.1), ("transfer", 1.1 + ab(1e6)), ("read", 1.14 + ab(1e6))],
)
async def chain_of_everything(me: Any) -> list[Any]:
    disk = me.host.disks[0]
    plan = {
        "execution": me.exec_init(1e9),
        "write": disk.write_init(0.1 * WRITE),
        "transfer": me.sendto_init("ada", "bob", 1e6),
        "read": disk.read_init(0.04 * READ),
    }
    order = list(plan.values())
    for before, after in itertools.pairwise(order):
        before.add_successor(after)
    order[3].disk = None
    for each in reversed(order):
        each.start()
    order[3].disk = disk
    seen = []
    while plan:
        done = await me.wait_any(list(plan.values()))
        name = next(name for name, each in plan.items() if each is done)
        seen.append((name, me.now))
        del plan[name]
    return seen


# Nobody waits for what comes before.
@returns([3.0, 1.0, 0.5, AB_LATENCY, AB_LATENCY + 0.5], on=cyd)
async def unawaited_dependencies(me: Any) -> list[float]:
    running, transfer = me.exec_async(1e9), me.sendto_async("ada", "bob", 0)
    after = me.exec_init(5e8, host="ada")
    late = me.exec_init(5e8, host="ada")
    running.add_successor(late)
    transfer.add_successor(after)
    late.start()
    after.start()
    await me.sleep_for(3)
    return [me.now, late.start_time, late.finish_time - late.start_time, after.start_time,
            after.finish_time]  # fmt: skip


# A failure solves no dependency.
@returns([("TimeoutException", 2.0), "STARTING", ["CANCELED"], (None, 3.0), "ValueError"], on=cyd)
async def cancelled_dependency(me: Any) -> list[Any]:
    first, second = me.exec_async(5e9), me.exec_init(1e9)
    first.add_successor(second)
    second.start()
    await me.sleep_for(1)
    first.cancel()
    seen: list[Any] = [await tried(me, second.wait(1)), second.state]
    seen.append(states(*second.dependencies))
    first.remove_successor(second)
    seen.append(await tried(me, second))
    return [*seen, *errors_of(lambda: first.add_successor(me.exec_init(1e9)))]


# Those that wait start it; what is suspended or cancelled before is so at its start.
@returns([[None, None], 1.0, "CANCELED", "CANCELED", 2.0, 1e9, 3.0], on=cyd)
async def plans_of_waiters(me: Any) -> list[Any]:
    seen: list[Any] = [await me.wait_all([me.exec_init(1e9), me.exec_init(1e9)]), me.now]
    unborn, waiting = me.exec_init(1e9), me.exec_init(1e9)
    unborn.add_successor(waiting)
    waiting.start()
    for task in (unborn, waiting):
        task.cancel()
        seen.append(task.state)
    held = me.exec_init(1e9)
    held.suspend()
    held.start()
    await me.sleep_for(1)
    seen += [me.now, held.remaining]
    held.resume()
    await held
    return [*seen, me.now]


# What a plan has started ends with its actor, unless it is detached.
async def leave_plans(me: Any) -> None:
    first, disk = me.exec_async(5e8), me.host_by_name("ada").disks[0]
    plans = [me.exec_init(4e9), me.exec_init(4e9), disk.write_init(4 * WRITE)]
    plans.append(disk.write_init(4 * WRITE))
    for second in plans:
        first.add_successor(second)
    for second in plans[::2]:
        second.start()
    for second in plans[1::2]:
        second.detach()
    await me.sleep_for(1)


# Two writes shared the disk for half a second.
scenario("plans_of_an_actor_that_ends", cyd(leave_plans), clock=0.5 + 0.5 + 3.75)


scenario(
    "never_assigned",
    ada(attempt, lambda me: me.sendto_init("ada", None, 1e6)),
    wrong={"error": "DeadlockError", "clock": 0.0},
)


@returns(["STARTING"] * 2)
async def wait_for_each_other(me: Any) -> list[str]:
    first, second = me.exec_init(1.0), me.exec_init(1.0)
    first.add_successor(second)
    second.add_successor(first)
    assert all("execution on ada" in repr(each.start()) for each in (first, second))
    return states(first, second)


@returns((None, 0.0))
async def drop_a_long_chain(me: Any) -> Any:
    chain = [me.exec_init(1.0) for _ in range(100_000)]
    for before, after in itertools.pairwise(chain):
        before.add_successor(after)
    chain[0].host = None
    for each in chain[:10]:
        each.start()
    assert "not assigned" in repr(chain[0])
    assert "after execution" in repr(chain[9])
    for each in chain[:10]:
        each.cancel()
    del chain, each, before, after
    return await tried(me, me.sleep_for(0))
