"""Two events at the same date, and their remains."""

from __future__ import annotations

from typing import Any

from conformance import Scenario
from worlds import AB, AB_LATENCY, ADA, PLAIN, ab, platform

from simplugin.errors import CancelException, TimeoutException
from simplugin.simulation import Placement

NO_LATENCY = platform("""
    <host id="ada" speed="1Gf"/><host id="bob" speed="1Gf"/>
    <link id="ab" bandwidth="1MBps" latency="0s"/>
    <route src="ada" dst="bob"><link_ctn id="ab"/></route>
""")


async def limits_at_the_end(me: Any) -> list[Any]:
    work = me.exec_async(1e9)
    await work.wait(1e9 / ADA)
    seen: list[Any] = [work.state, me.now]
    works = [me.exec_async(1e9), me.exec_async(1e9, host="cyd")]
    first = await me.wait_any(works, timeout=1.0)
    seen += [works.index(first), me.now]
    await me.wait_all(works, timeout=0)
    return [*seen, me.now]


async def join_at_the_end(me: Any) -> list[Any]:
    child = me.spawn(sleeper, 1.5)
    try:
        await child.join(1.5)
    except TimeoutException:
        return [me.now, await child.join(), me.now]
    return []


async def sleeper(me: Any, duration: float) -> float:
    await me.sleep_for(duration)
    return me.now


async def free_in_time(me: Any) -> list[Any]:
    me.spawn(free, 1.0)
    return await free_at_the_limit(me)


async def free_at_the_limit(me: Any) -> list[Any]:
    places = me.semaphore(0, "places")
    try:
        await places.acquire(timeout=1.25)
    except TimeoutException:
        return ["too late", me.now]
    return ["in time", me.now]


async def free_too_late(me: Any) -> list[Any]:
    me.spawn(free, 1.25)
    return await free_at_the_limit(me)


async def free(me: Any, delay: float) -> None:
    await me.sleep_for(delay)
    me.semaphore(0, "places").release()


async def lock_and_leave(me: Any) -> None:
    await me.mutex("door").lock()


async def come_later(me: Any) -> None:
    await me.sleep_for(1)
    await me.mutex("door").lock()


async def become_a_daemon(me: Any) -> list[Any]:
    before = me.is_daemon
    me.daemonize()
    me.daemonize()
    me.properties["daemon"] = f"{before} {me.is_daemon}"
    await me.sleep_for(100)
    return []


async def outlive(me: Any) -> list[Any]:
    child = me.spawn(become_a_daemon)
    await me.sleep_for(1.5)
    return [child.is_daemon, child.properties["daemon"], me.now]


async def suspended_before_it_runs(me: Any) -> list[Any]:
    child = me.spawn(sleeper, 1.0)
    await child.suspend()
    await me.sleep_for(2)
    child.resume()
    return [await child.join(), me.now]


async def suspend_twice(me: Any) -> list[Any]:
    child = me.spawn(worker)
    await me.sleep_for(0.5)
    await child.suspend()
    await child.suspend()
    await me.sleep_for(1)
    child.resume()
    child.resume()
    return [await child.join(), me.now]


async def worker(me: Any) -> float:
    await me.execute(1e9)
    return me.now


async def kill_the_suspended(me: Any) -> list[Any]:
    child = me.spawn(worker)
    await me.sleep_for(0.5)
    await child.suspend()
    await me.sleep_for(1)
    child.kill()
    return [await child.join(), me.now, child.is_alive, child.is_suspended]


async def awaits_while_dying(me: Any, notes: list[Any]) -> None:
    try:
        await me.sleep_for(100)
    finally:
        notes.append(me.now)
        await me.sleep_for(1)
        notes.append("slept")


async def kill_who_cannot_sleep(me: Any) -> list[Any]:
    notes: list[Any] = []
    child = me.spawn(awaits_while_dying, notes)
    await me.sleep_for(1)
    child.kill()
    await child.join()
    return [list(notes), me.now]


async def many_waiters(me: Any) -> list[Any]:
    work = me.exec_async(1e9)
    children = [me.spawn(wait_for, work) for _ in range(3)]
    return [await child.join() for child in children]


async def wait_for(me: Any, work: Any) -> Any:
    try:
        await work
    except CancelException:
        return ("cancelled", me.now)
    return me.now


async def cancel_for_many(me: Any) -> list[Any]:
    get = me.mailbox("nobody writes").get_async()
    children = [me.spawn(wait_for, get) for _ in range(3)]
    await me.sleep_for(1)
    get.cancel()
    return [await child.join() for child in children]


async def cancel_what_is_over(me: Any) -> list[Any]:
    work = me.exec_async(1e9)
    await me.sleep_for(1.5)
    work.cancel()
    return [work.state, await work, me.now]


async def late_result(me: Any) -> list[Any]:
    get = me.mailbox("box").get_async()
    await me.sleep_for(5)
    return [get.test(), get.finish_time, await get, me.now]


async def send(me: Any) -> None:
    await me.mailbox("box").put("early", 1e6)


async def suspended_send(me: Any) -> float:
    put = me.mailbox("box").put_async("early", 1e6)
    await me.sleep_for(0.25)
    put.suspend()
    await me.sleep_for(1)
    put.resume()
    await put
    return me.now


async def receive(me: Any) -> float:
    await me.mailbox("box").get()
    return me.now


async def doze_off(me: Any) -> float:
    await me.sleep_for(1e-12)
    return me.now


async def kill_at_a_barrier(me: Any) -> list[Any]:
    barrier = me.barrier(2)
    child = me.spawn(wait_at, barrier)
    await me.sleep_for(1)
    child.kill()
    other = me.spawn(wait_at, barrier)
    await me.sleep_for(1)
    return [await barrier.wait(), await other.join(), me.now]


async def wait_at(me: Any, barrier: Any) -> float:
    await barrier.wait()
    return me.now


async def kill_a_waiter(me: Any) -> float:
    work = me.exec_async(2e9)
    child = me.spawn(wait_for, work)
    await me.sleep_for(1)
    child.kill()
    try:
        await work
    except CancelException:
        return float(me.now)
    return -1.0


async def start_and_sleep(me: Any) -> float:
    me.exec_async(1e8)
    await me.sleep_for(2)
    return me.now


async def suspend_after_work(me: Any) -> list[Any]:
    child = me.spawn(start_and_sleep)
    await me.sleep_for(1)
    await child.suspend()
    await me.sleep_for(3)
    child.resume()
    return [await child.join(), me.now]


async def crowd(me: Any, number: int) -> float:
    await me.mailbox("counter").put(number, 0)
    return me.now


async def count(me: Any, size: int) -> list[Any]:
    return [sorted([await me.mailbox("counter").get() for _ in range(size)]), me.now]


async def chain(me: Any, depth: int) -> int:
    if depth == 0:
        await me.sleep_for(1)
        return 0
    return 1 + await me.spawn(chain, depth - 1, name=f"link {depth}").join()


def alone(function: Any, expected: Any, *args: Any, **more: Any) -> Scenario:
    """Return a scenario of one actor on ada."""
    name = function.__name__
    return Scenario(name, PLAIN, (Placement("ada", function, args),), {name: expected}, **more)


SCENARIOS = [
    alone(limits_at_the_end, ["FINISHED", 1.0, 0, 2.0, 2.0]),
    # Time limits expire before actors run: what another actor does at that date is too late.
    alone(join_at_the_end, [1.5, 1.5, 1.5]),
    alone(free_in_time, ["in time", 1.0]),
    alone(free_too_late, ["too late", 1.25]),
    Scenario(
        "dead_owner_keeps_the_mutex",
        PLAIN,
        (Placement("ada", lock_and_leave), Placement("bob", come_later)),
        {
            "error": "DeadlockError",
            "clock": 1.0,
            "blocked": [("come_later", "bob", 1.0, "scenarios_edges.py")],
        },
    ),
    alone(outlive, [True, "False True", 1.5], clock=1.5),
    alone(suspended_before_it_runs, [3.0, 3.0]),
    alone(suspend_twice, [2.0, 2.0]),
    alone(kill_the_suspended, [None, 1.5, False, False]),
    alone(kill_who_cannot_sleep, [[1.0], 1.0]),
    alone(many_waiters, [1.0, 1.0, 1.0]),
    alone(cancel_for_many, [("cancelled", 1.0)] * 3),
    alone(cancel_what_is_over, ["FINISHED", None, 1.5]),
    Scenario(
        "late_result",
        PLAIN,
        (Placement("bob", late_result), Placement("ada", send)),
        {"late_result": [True, ab(1e6), "early", 5.0], "send": None},
    ),
    Scenario(
        "crowd",
        PLAIN,
        (
            Placement("bob", count, (50,)),
            *(Placement("ada", crowd, (number,), name=f"actor{number}") for number in range(50)),
        ),
        # One after the other, each paying the latency.
        {
            "count": [list(range(50)), 50 * AB_LATENCY],
            **{f"actor{number}": (number + 1) * AB_LATENCY for number in range(50)},
        },
    ),
    alone(chain, 20, 20, clock=1.0),
    Scenario(
        "suspended_without_latency",
        NO_LATENCY,
        (Placement("ada", suspended_send), Placement("bob", receive)),
        {"suspended_send": 1 + 1e6 / AB, "receive": 1 + 1e6 / AB},
    ),
    # SimGrid's precision.
    alone(doze_off, 1e-9),
    alone(kill_at_a_barrier, [True, 2.0, 2.0], only="SimGrid crashes"),
    # SimGrid cancels what a killed actor waits for.
    alone(kill_a_waiter, 1.0),
    alone(suspend_after_work, [4.0, 4.0]),
]
