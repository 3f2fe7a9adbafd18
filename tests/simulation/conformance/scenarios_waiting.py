"""Handles: waiting for one, any or all, cancelling; message queues; direct transfers."""

from __future__ import annotations

from typing import Any

from conformance import ada, bob, cyd, receive, returns, scenario, send, tried, work
from worlds import AB, AB_LATENCY, ADA, NO_LATENCY, PLAIN, READ, ab, ac
from xml_zones import zone_xml

from simplugin.core.errors import ActivityError, TimeoutException
from simplugin.simulation import SimGridOptions

# ---- wait ---------------------------------------------------------------------------------------


@returns([("TimeoutException", 0.5, True, "STARTED"), ("TimeoutException", 0.5), (None, 2.0)])
async def wait_with_limit(me: Any) -> list[Any]:
    task = me.exec_async(2e9)
    first = await tried(me, task.wait(0.5), task)
    return [first, await tried(me, task.wait(timeout=0)), await tried(me, task.wait(1.5))]


@returns([None, 1, 1.0, 1, 1, 1.0, ("TimeoutException", 1.5), (None, 3.0)])
async def wait_for_any(me: Any) -> list[Any]:
    tasks = [me.exec_async(flops, host=host) for flops, host in ((3e9, "ada"), (1e9, "cyd"))]
    seen: list[Any] = [me.test_any(tasks)]
    first = await me.wait_any(tasks)
    seen += [tasks.index(first), me.now, tasks.index(me.test_any(tasks))]
    again = await me.wait_any(tasks)
    seen += [tasks.index(again), me.now]
    return [*seen, await tried(me, me.wait_any(tasks[:1], timeout=0.5)), await tried(me, tasks[0])]


# All end at 1 s; the first in the list counts.
@returns([2, 1.0])
async def wait_for_ties(me: Any) -> list[Any]:
    tasks = [me.exec_async(1e9, host=host) for host in ("cyd", "ada", "cyd")]
    first = await me.wait_any(list(reversed(tasks)))
    return [tasks.index(first), me.now]


@returns(["FINISHED", 1.0, 0, 2.0, 2.0])
async def limits_at_the_end(me: Any) -> list[Any]:
    task = me.exec_async(1e9)
    await task.wait(1e9 / ADA)
    seen: list[Any] = [task.state, me.now]
    tasks = [me.exec_async(1e9), me.exec_async(1e9, host="cyd")]
    first = await me.wait_any(tasks, timeout=1.0)
    seen += [tasks.index(first), me.now]
    await me.wait_all(tasks, timeout=0)
    return [*seen, me.now]


async def send_both(me: Any) -> None:
    await me.mailbox("box").put("by mail", 1e6)
    await me.sleep_for(1)
    await me.message_queue("queue").put("by word")


@returns((["by word", "by mail", None], 1 + ab(1e6)), on=bob, beside=[ada(send_both)])
async def wait_for_all(me: Any) -> Any:
    get = me.mailbox("box").get_async()
    task = me.exec_async(1e9)
    message = me.message_queue("queue").get_async()
    return await tried(me, me.wait_all([message, get, task]))


@returns([("TimeoutException", 2.0), ["FINISHED", "STARTED"], ([], 2.0)])
async def wait_for_all_in_vain(me: Any) -> list[Any]:
    tasks = [me.exec_async(1e9, host="cyd"), me.exec_async(3e9, host="ada")]
    seen = await tried(me, me.wait_all(tasks, timeout=2))
    return [seen, [task.state for task in tasks], await tried(me, me.wait_all([]))]


@returns([(None, 1.0)] * 5)
async def many_waiters(me: Any) -> list[Any]:
    task = me.exec_async(1e9)
    children = [me.spawn(tried, task) for _ in range(3)]
    seen = [await tried(me, task), *[await child.join() for child in children]]
    return [*seen, await tried(me, task)]


# SimGrid cancels what a killed actor waits for.
@returns(("CancelException", 1.0))
async def kill_a_waiter(me: Any) -> Any:
    task = me.exec_async(2e9)
    child = me.spawn(tried, task)
    await me.sleep_for(1)
    child.kill()
    return await tried(me, task)


@returns([True, ab(1e6), ("send", 5.0)], on=bob, beside=[ada(send, gives=(None, ab(1e6)))])
async def late_result(me: Any) -> list[Any]:
    get = me.mailbox("box").get_async()
    await me.sleep_for(5)
    return [get.test(), get.finish_time, await tried(me, get)]


# ---- the examples activityset-waitany, -waitallfor and -testany of SimGrid -----------------------

FAST = zone_xml("""
    <host id="ada" speed="1Gf"><disk id="d" read_bw="100MBps" write_bw="40MBps"/></host>
    <host id="bob" speed="1Gf"/>
    <host id="cyd" speed="1Gf"/>
    <link id="ab" bandwidth="125MBps" latency="150us"/>
    <link id="ac" bandwidth="125MBps" latency="150us"/>
    <route src="ada" dst="bob"><link_ctn id="ab"/></route>
    <route src="ada" dst="cyd"><link_ctn id="ac"/></route>
""")
# SimGrid's default network: factors of latency and bandwidth, and 5 % of cross-traffic.
ARRIVAL = 13.01 * 150e-6 + 6e8 * 1.05 / (0.97 * 125e6)


def pending(me: Any) -> dict[str, Any]:
    return {
        "Exec": me.exec_async(5e9),
        "Comm": me.mailbox("box").get_async(),
        "Mess": me.message_queue("queue").get_async(),
        "Io": me.host.disks[0].read_async(3e8),
    }


def remove(activities: dict[str, Any], done: Any) -> str:
    name = next(name for name, each in activities.items() if each is done)
    del activities[name]
    return name


async def wait_for_each(me: Any, left: list[Any]) -> None:
    await me.wait_any(left)


async def wait_second_by_second(me: Any, left: list[Any]) -> None:
    await tried(me, me.wait_all(left, timeout=1))


async def look_now_and_then(me: Any, _left: list[Any]) -> None:
    await me.sleep_for(1.0 if me.now == 0 else 0.5)


async def note_the_ends(me: Any, wait: Any) -> list[Any]:
    activities, seen = pending(me), []
    while activities:
        await wait(me, list(activities.values()))
        while done := me.test_any(list(activities.values())):
            seen.append((remove(activities, done), me.now))
    return seen


async def say_at(me: Any, date: float) -> None:
    await me.sleep_for(date)
    await me.message_queue("queue").put("word")


for wait, dates in (
    (wait_for_each, (1.99, 3.0, 5.0, ARRIVAL)),
    (wait_second_by_second, (2.0, 3.0, 5.0, ARRIVAL)),
    (look_now_and_then, (2.0, 3.0, 5.0, 5.5)),
):
    scenario(
        wait.__name__,
        ada(
            note_the_ends,
            wait,
            gives=list(zip(("Mess", "Io", "Exec", "Comm"), dates, strict=True)),
        ),
        bob(send, 6e8, gives=(None, ARRIVAL)),
        cyd(say_at, 1.99),
        platform=FAST,
        options=SimGridOptions(),
    )


async def turn_off_disk(me: Any) -> None:
    await me.sleep_for(1)
    me.host_by_name("ada").disks[0].turn_off()


# A failed member is raised with its name; the others go on.
@returns(
    [("read", "StorageFailureException", 1.0), ("task", 2.0), ("late", 3.5)],
    on=cyd,
    beside=[bob(turn_off_disk)],
)
async def wait_for_the_rest(me: Any) -> list[Any]:
    disk = me.host_by_name("ada").disks[0]
    activities = {"read": disk.read_async(2 * READ), "task": me.exec_async(2e9)}
    activities["put"] = me.mailbox("nobody reads").put_async("data", 1e6)
    seen = []
    for _ in range(3):
        try:
            done = await me.wait_any(list(activities.values()), timeout=1.5)
            seen.append((remove(activities, done), me.now))
        except TimeoutException:
            seen.append(("late", me.now))
        except ActivityError as error:
            seen.append((remove(activities, error.activity), type(error).__name__, me.now))
    return seen


# ---- cancel -------------------------------------------------------------------------------------


async def cancel_later(me: Any, task: Any, delay: float) -> None:
    await me.sleep_for(delay)
    task.cancel()


@returns(["CANCELED", True, ("CancelException", 0.5, True, "CANCELED"), 0.5 + 1e9 / ADA])
async def cancel_execution(me: Any) -> list[Any]:
    task = me.exec_async(2e9)
    await me.sleep_for(0.5)
    task.cancel()
    return [task.state, task.test(), await tried(me, task, task), await work(me, 1e9)]


@returns([("CancelException", 0.75), "CANCELED", ("CancelException", 1.5), "CANCELED", True])
async def cancelled_while_awaited(me: Any) -> list[Any]:
    seen = []
    for task in (me.exec_async(2e9), me.mailbox("nobody writes").get_async()):
        me.spawn(cancel_later, task, 0.75)
        seen += [await tried(me, task), task.state]
    return [*seen, me.mailbox("nobody writes").empty]


@returns([("CancelException", 0.75, True, "CANCELED"), "STARTED"])
async def cancelled_among_others(me: Any) -> list[Any]:
    get = me.mailbox("nobody writes").get_async()
    task = me.exec_async(3e9)
    me.spawn(cancel_later, get, 0.75)
    return [await tried(me, me.wait_any([task, get]), get), task.state]


@returns([("CancelException", 1.0)] * 3 + [("CancelException", 2.0)] * 3)
async def cancelled_for_many(me: Any) -> list[Any]:
    seen = []
    for task in (me.mailbox("nobody writes").get_async(), me.exec_async(5e9)):
        children = [me.spawn(tried, task) for _ in range(3)]
        await me.sleep_for(1)
        task.cancel()
        seen += [await child.join() for child in children]
    return seen


@returns(["FINISHED", (None, 1.5)])
async def cancel_what_is_over(me: Any) -> list[Any]:
    task = me.exec_async(1e9)
    await me.sleep_for(1.5)
    task.cancel()
    return [task.state, await tried(me, task)]


@returns(
    [("CancelException", 1.0), "CANCELED"],
    beside=[bob(receive, gives=("NetworkFailureException", 1.0))],
)
async def cancel_transfer(me: Any) -> list[Any]:
    put = me.mailbox("box").put_async("data", 2e6)
    await me.sleep_for(1)
    put.cancel()
    return [await tried(me, put), put.state]


# ---- suspend ------------------------------------------------------------------------------------


async def suspend_transfer(me: Any, latency: float) -> Any:
    put = me.mailbox("box").put_async("data", 1e6)
    await me.sleep_for(latency + 0.25)
    put.suspend()
    await me.sleep_for(2)
    put.resume()
    return await tried(me, put)


for platform, latency in ((PLAIN, AB_LATENCY), (NO_LATENCY, 0.0)):
    scenario(
        f"suspend_transfer_after_{latency}",
        ada(suspend_transfer, latency, gives=(None, 2 + latency + 1e6 / AB)),
        bob(receive, gives=("data", 2 + latency + 1e6 / AB)),
        platform=platform,
    )


# As with S4U, a put or get that waits for its partner has nothing that could be suspended.
@returns(1 + ab(1e6), beside=[bob(receive, 1, gives=("data", 1 + ab(1e6)))])
async def suspend_pending_put(me: Any) -> float:
    put = me.mailbox("box").put_async("data", 1e6)
    put.suspend()
    await me.sleep_for(6)
    put.resume()
    await put
    return float(put.finish_time)


@returns(("send", 1 + ab(1e6)), beside=[bob(send, 1e6, 1, gives=(None, 1 + ab(1e6)))])
async def suspend_pending_get(me: Any) -> Any:
    get = me.mailbox("box").get_async()
    get.suspend()
    return await tried(me, get)


# ---- direct transfers and message queues --------------------------------------------------------


@returns([ab(1e6), ab(1e6) + ac(1e6), ab(1e6) + AB_LATENCY, ab(1e6) + ac(1e6)], on=cyd)
async def transfer_elsewhere(me: Any) -> list[Any]:
    await me.sendto("ada", "bob", 1e6, label="direct")
    blocking = me.now
    there = me.sendto_async("ada", "cyd", 1e6)
    here = me.sendto_async("ada", me.host_by_name("bob"), 0)
    await me.wait_all([there, here])
    return [blocking, me.now, here.finish_time, there.finish_time]


# SimGrid does not count a direct transfer among the actor's activities.
@returns(0.0, clock=ab(1e6))
async def transfer_and_end(me: Any) -> float:
    me.sendto_async("ada", "bob", 1e6)
    return float(me.now)


async def talk(me: Any) -> list[Any]:
    queue = me.message_queue("queue")
    seen: list[Any] = [queue.empty, queue.size, queue.name]
    queue.put_detached("one")
    two = queue.put_async("two")
    seen += [queue.size, two.state]
    await queue.put("three")
    return [*seen, me.now, two.state]


async def hear(me: Any) -> list[Any]:
    queue = me.message_queue("queue")
    await me.sleep_for(1)
    heard = [await tried(me, queue.get()) for _ in range(2)]
    await me.sleep_for(2)
    heard.append(await tried(me, queue.get()))
    return [*heard, await tried(me, queue.get(timeout=0.5)), queue.empty]


scenario(
    "message_queue",
    ada(talk, gives=[True, 0, "queue", 2, "STARTED", 3.0, "FINISHED"]),
    bob(hear, gives=[("one", 1.0), ("two", 1.0), ("three", 3.0), ("TimeoutException", 3.5), True]),
)


@returns([("TimeoutException", 1.25), 0])
async def unheard(me: Any) -> list[Any]:
    queue = me.message_queue("queue")
    return [await tried(me, queue.put("hello?", timeout=1.25)), queue.size]


@returns([True, "word", 1.5, True, 3.0, "CANCELED", True], beside=[bob(say_at, 1.5)])
async def message_or_work(me: Any) -> list[Any]:
    queue = me.message_queue("queue")
    task = me.exec_async(3e9)
    message = queue.get_async()
    first = await me.wait_any([task, message])
    seen = [first is message, first.result, me.now]
    message = queue.get_async()
    first = await me.wait_any([message, task])
    message.cancel()
    return [*seen, first is task, me.now, message.state, queue.empty]
