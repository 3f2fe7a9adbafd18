"""Handles: waiting for one, any or all, cancelling; message queues; direct transfers."""

from __future__ import annotations

from typing import Any

from conformance import Scenario
from worlds import AB, AB_LATENCY, ADA, PLAIN, ab, ac

from simplugin.errors import CancelException, NetworkFailureException, TimeoutException
from simplugin.simulation import Placement


async def wait_with_limit(me: Any) -> list[Any]:
    work = me.exec_async(2e9)
    seen: list[Any] = []
    try:
        await work.wait(0.5)
    except TimeoutException as error:
        seen += [me.now, error.activity is work, work.state]
    try:
        await work.wait(timeout=0)
    except TimeoutException:
        seen.append(me.now)
    await work.wait(1.5)
    return [*seen, me.now, work.state]


async def wait_for_any(me: Any) -> list[Any]:
    works = [me.exec_async(flops, host=host) for flops, host in ((3e9, "ada"), (1e9, "cyd"))]
    seen: list[Any] = [me.test_any(works)]
    first = await me.wait_any(works)
    seen += [works.index(first), me.now, works.index(me.test_any(works))]
    again = await me.wait_any(works)
    seen += [works.index(again), me.now]
    try:
        await me.wait_any(works[:1], timeout=0.5)
    except TimeoutException:
        seen.append(me.now)
    await works[0]
    return [*seen, me.now]


async def wait_for_ties(me: Any) -> list[Any]:
    works = [me.exec_async(1e9, host=host) for host in ("cyd", "ada", "cyd")]
    first = await me.wait_any(list(reversed(works)))
    return [works.index(first), me.now]


async def wait_for_all(me: Any) -> list[Any]:
    get = me.mailbox("box").get_async()
    work = me.exec_async(1e9)
    message = me.message_queue("queue").get_async()
    results = await me.wait_all([message, get, work])
    return [results, me.now]


async def wait_for_all_in_vain(me: Any) -> list[Any]:
    works = [me.exec_async(1e9, host="cyd"), me.exec_async(3e9, host="ada")]
    try:
        await me.wait_all(works, timeout=2)
    except TimeoutException:
        return [me.now, [work.state for work in works], await me.wait_all([]), me.now]
    return []


async def send_both(me: Any) -> float:
    await me.mailbox("box").put("by mail", 1e6)
    await me.sleep_for(1)
    await me.message_queue("queue").put("by word")
    return me.now


async def cancel_execution(me: Any) -> list[Any]:
    work = me.exec_async(2e9)
    await me.sleep_for(0.5)
    work.cancel()
    seen: list[Any] = [work.state, work.test()]
    try:
        await work
    except CancelException as error:
        seen += [me.now, error.activity is work]
    await me.execute(1e9)
    return [*seen, me.now]


async def cancel_later(me: Any, work: Any, delay: float) -> None:
    await me.sleep_for(delay)
    work.cancel()


async def cancelled_execution(me: Any) -> list[Any]:
    work = me.exec_async(2e9)
    me.spawn(cancel_later, work, 0.5)
    try:
        await work
    except CancelException:
        return [me.now, work.state]
    return []


async def cancelled_reception(me: Any) -> list[Any]:
    box = me.mailbox("nobody writes")
    get = box.get_async()
    me.spawn(cancel_later, get, 0.75)
    try:
        await get
    except CancelException:
        return [me.now, get.state, box.empty]
    return []


async def cancelled_among_others(me: Any) -> list[Any]:
    get = me.mailbox("nobody writes").get_async()
    work = me.exec_async(3e9)
    me.spawn(cancel_later, get, 0.75)
    try:
        await me.wait_any([work, get])
    except CancelException as error:
        return [me.now, error.activity is get, work.state]
    return []


async def cancel_transfer(me: Any) -> list[Any]:
    put = me.mailbox("box").put_async("data", 2e6)
    await me.sleep_for(1)
    put.cancel()
    try:
        await put
    except CancelException:
        return [me.now, put.state]
    return []


async def receive_or_fail(me: Any) -> list[Any]:
    try:
        await me.mailbox("box").get()
    except NetworkFailureException:
        return [me.now]
    return []


async def suspend_transfer(me: Any) -> float:
    put = me.mailbox("box").put_async("data", 1e6)
    await me.sleep_for(AB_LATENCY + 0.25)
    put.suspend()
    await me.sleep_for(2)
    put.resume()
    await put
    return me.now


async def suspend_pending_put(me: Any) -> float:
    put = me.mailbox("box").put_async("data", 1e6)
    put.suspend()
    await me.sleep_for(6)
    put.resume()
    await put
    return float(put.finish_time)


async def suspend_pending_get(me: Any) -> list[Any]:
    get = me.mailbox("box").get_async()
    get.suspend()
    return [await get, me.now]


async def receive_soon(me: Any) -> Any:
    await me.sleep_for(1)
    return await receive(me)


async def send_soon(me: Any) -> float:
    await me.sleep_for(1)
    await me.mailbox("box").put("data", 1e6)
    return float(me.now)


async def receive(me: Any, box: str = "box") -> Any:
    payload = await me.mailbox(box).get()
    return payload, me.now


async def transfer_elsewhere(me: Any) -> list[Any]:
    await me.sendto("ada", "bob", 1e6, label="direct")
    blocking = me.now
    there = me.sendto_async("ada", "cyd", 1e6)
    here = me.sendto_async("ada", me.host_by_name("bob"), 0)
    await me.wait_all([there, here])
    return [blocking, me.now, here.finish_time, there.finish_time]


async def transfer_and_end(me: Any) -> float:
    me.sendto_async("ada", "bob", 1e6)
    return me.now


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
    heard: list[Any] = [(await queue.get(), me.now), (await queue.get(), me.now)]
    await me.sleep_for(2)
    heard.append((await queue.get(), me.now))
    try:
        await queue.get(timeout=0.5)
    except TimeoutException:
        heard.append((queue.empty, me.now))
    return heard


async def unheard(me: Any) -> list[Any]:
    queue = me.message_queue("queue")
    try:
        await queue.put("hello?", timeout=1.25)
    except TimeoutException:
        return [me.now, queue.size]
    return []


async def either(me: Any) -> list[Any]:
    queue = me.message_queue("queue")
    work = me.exec_async(3e9)
    message = queue.get_async()
    first = await me.wait_any([work, message])
    seen = [first is message, first.result, me.now]
    message = queue.get_async()
    first = await me.wait_any([message, work])
    message.cancel()
    return [*seen, first is work, me.now, message.state, queue.empty]


async def say_later(me: Any) -> None:
    await me.sleep_for(1.5)
    await me.message_queue("queue").put("word")


def alone(function: Any, expected: Any, **more: Any) -> Scenario:
    """Return a scenario of one actor on ada."""
    name = function.__name__
    return Scenario(name, PLAIN, (Placement("ada", function),), {name: expected}, **more)


def two(name: str, first: Any, second: Any, expected: Any, host: str = "bob") -> Scenario:
    """Return a scenario of one actor on ada and another elsewhere."""
    values = dict(zip((first.__name__, second.__name__), expected, strict=True))
    return Scenario(name, PLAIN, (Placement("ada", first), Placement(host, second)), values)


SCENARIOS = [
    alone(wait_with_limit, [0.5, True, "STARTED", 0.5, 2e9 / ADA, "FINISHED"]),
    alone(wait_for_any, [None, 1, 1.0, 1, 1, 1.0, 1.5, 3.0]),
    # All end at 1 s; the first in the list counts.
    alone(wait_for_ties, [2, 1.0]),
    two(
        "wait_for_all",
        send_both,
        wait_for_all,
        [1 + ab(1e6), [["by word", "by mail", None], 1 + ab(1e6)]],
    ),
    alone(wait_for_all_in_vain, [2.0, ["FINISHED", "STARTED"], [], 2.0]),
    alone(cancel_execution, ["CANCELED", True, 0.5, True, 0.5 + 1e9 / ADA]),
    alone(cancelled_execution, [0.5, "CANCELED"]),
    alone(cancelled_reception, [0.75, "CANCELED", True]),
    alone(cancelled_among_others, [0.75, True, "STARTED"]),
    two("cancel_transfer", cancel_transfer, receive_or_fail, [[1.0, "CANCELED"], [1.0]]),
    two(
        "suspend_transfer",
        suspend_transfer,
        receive,
        [2 + AB_LATENCY + 1e6 / AB, ("data", 2 + AB_LATENCY + 1e6 / AB)],
    ),
    # As with S4U, a put or get that waits for its partner has nothing that could be suspended.
    two(
        "suspend_pending_put",
        suspend_pending_put,
        receive_soon,
        [1 + ab(1e6), ("data", 1 + ab(1e6))],
    ),
    two(
        "suspend_pending_get",
        suspend_pending_get,
        send_soon,
        [["data", 1 + ab(1e6)], 1 + ab(1e6)],
    ),
    Scenario(
        "transfer_elsewhere",
        PLAIN,
        (Placement("cyd", transfer_elsewhere),),
        {
            "transfer_elsewhere": [
                *[ab(1e6), ab(1e6) + ac(1e6)],
                *[ab(1e6) + AB_LATENCY, ab(1e6) + ac(1e6)],
            ]
        },
    ),
    # SimGrid does not count a direct transfer among the actor's activities.
    alone(transfer_and_end, 0.0, clock=ab(1e6)),
    two(
        "message_queue",
        talk,
        hear,
        [
            [True, 0, "queue", 2, "STARTED", 3.0, "FINISHED"],
            [("one", 1.0), ("two", 1.0), ("three", 3.0), (True, 3.5)],
        ],
    ),
    alone(unheard, [1.25, 0]),
    two(
        "message_or_work",
        either,
        say_later,
        [[True, "word", 1.5, True, 3.0, "CANCELED", True], None],
    ),
]
