"""Mutexes, semaphores, condition variables and barriers."""

from __future__ import annotations

from typing import Any

from conformance import Scenario
from worlds import PLAIN

from simplugin.errors import TimeoutException
from simplugin.simulation import Placement


async def one_at_a_time(me: Any, delay: float) -> list[float]:
    await me.sleep_for(delay)
    async with me.mutex("door"):
        entered = me.now
        await me.sleep_for(1)
    return [entered, me.now]


async def try_the_door(me: Any) -> list[Any]:
    mutex = me.mutex("door")
    seen = [mutex.owner, mutex.try_lock(), mutex.owner is me, mutex.try_lock()]
    child = me.spawn(knock)
    await me.sleep_for(1)
    mutex.unlock()
    seen.append(await child.join())
    try:
        mutex.unlock()
    except RuntimeError:
        seen.append(me.now)
    return seen


async def knock(me: Any) -> list[Any]:
    mutex = me.mutex("door")
    seen: list[Any] = [mutex.try_lock(), mutex.owner is me]
    await mutex.lock()
    seen += [me.now, mutex.owner is me]
    await me.sleep_for(0.5)
    mutex.unlock()
    return seen


async def wait_at_the_gate(me: Any, delay: float) -> list[Any]:
    await me.sleep_for(delay)
    return [await me.barrier(3, "gate").wait(), me.now]


async def kill_at_the_gate(me: Any) -> float:
    waiter = me.spawn(wait_at_the_gate, 0.0, name="victim")
    await me.sleep_for(1)
    waiter.kill()
    return me.now


async def hold(me: Any) -> None:
    async with me.mutex("door"):
        await me.sleep_for(100)


async def kill_the_holder(me: Any) -> float:
    holder = me.spawn(hold)
    await me.sleep_for(1.5)
    holder.kill()
    async with me.mutex("door"):
        return me.now


async def wait_at_the_door(me: Any) -> None:
    async with me.mutex("door"):
        await me.sleep_for(100)


async def kill_who_waits(me: Any) -> list[float]:
    mutex = me.mutex("door")
    await mutex.lock()
    child = me.spawn(wait_at_the_door)
    other = me.spawn(one_at_a_time, 0.5)
    await me.sleep_for(1)
    child.kill()
    await me.sleep_for(1)
    mutex.unlock()
    return [*await other.join(), me.now]


async def take_a_place(me: Any) -> list[float]:
    async with me.semaphore(2, "places"):
        came = me.now
        await me.sleep_for(1)
    return [came, me.now]


async def no_place(me: Any) -> list[Any]:
    places = me.semaphore(1)
    seen: list[Any] = [places.capacity, places.would_block]
    await places.acquire()
    seen += [places.capacity, places.would_block]
    for timeout in (1.5, 0):
        try:
            await places.acquire(timeout)
        except TimeoutException:
            seen.append(me.now)
    me.spawn(free_later, places)
    await places.acquire(timeout=5)
    return [*seen, me.now]


async def free_later(me: Any, places: Any) -> None:
    await me.sleep_for(1)
    places.release()


async def produce(me: Any) -> float:
    mutex, stock = me.mutex("stock"), me.message_queue("stock")
    filled = me.condition(mutex, "filled")
    for number in range(2):
        await me.sleep_for(1)
        async with mutex:
            stock.put_detached(number)
            filled.notify_one()
    return me.now


async def consume(me: Any) -> list[Any]:
    mutex, stock = me.mutex("stock"), me.message_queue("stock")
    filled = me.condition(mutex, "filled")
    async with mutex:
        while stock.empty:
            await filled.wait()
        return [await stock.get(), me.now]


async def wait_for_the_gun(me: Any, delay: float) -> list[Any]:
    mutex = me.mutex("start")
    async with mutex:
        notified = await me.condition(mutex, "gun").wait()
        heard = me.now
        await me.sleep_for(delay)
    return [notified, heard, me.now]


async def fire_the_gun(me: Any) -> float:
    await me.sleep_for(2)
    mutex = me.mutex("start")
    async with mutex:
        me.condition(mutex, "gun").notify_all()
        await me.sleep_for(1)
    return me.now


async def tired_of_waiting(me: Any) -> list[Any]:
    mutex = me.mutex("start")
    gun = me.condition(mutex)
    await mutex.lock()
    child = me.spawn(one_at_a_time_too)
    notified = await gun.wait(timeout=1.5)
    seen = [notified, me.now, mutex.owner is me]
    mutex.unlock()
    return [*seen, await child.join()]


async def one_at_a_time_too(me: Any) -> float:
    await me.sleep_for(1)
    async with me.mutex("start"):
        await me.sleep_for(1)
    return me.now


async def notify_nobody(me: Any) -> list[Any]:
    mutex = me.mutex()
    gun = me.condition(mutex)
    gun.notify_one()
    gun.notify_all()
    seen: list[Any] = []
    try:
        await gun.wait()
    except RuntimeError:
        seen.append("not locked")
    async with mutex:
        seen.append(await gun.wait(0.25))
    return [*seen, me.now]


async def meet(me: Any, delay: float) -> list[Any]:
    barrier = me.barrier(3, "meeting point")
    await me.sleep_for(delay)
    last = await barrier.wait()
    first_time = me.now
    await me.sleep_for(delay)
    return [last, first_time, await barrier.wait(), me.now]


SCENARIOS = [
    Scenario(
        "killed_at_a_barrier",
        PLAIN,
        (
            Placement("ada", kill_at_the_gate),
            Placement("ada", wait_at_the_gate, (0.5,), name="first"),
            Placement("bob", wait_at_the_gate, (2.0,), name="second"),
            Placement("cyd", wait_at_the_gate, (3.0,), name="third"),
        ),
        {
            "kill_at_the_gate": 1.0,
            "victim": None,
            "first": [False, 3.0],
            "second": [False, 3.0],
            "third": [True, 3.0],
        },
        3.0,
    ),
    Scenario(
        "mutex_in_order",
        PLAIN,
        tuple(
            Placement("ada", one_at_a_time, (delay,), name=name)
            for name, delay in (("third", 0.75), ("first", 0.25), ("second", 0.5))
        ),
        {"first": [0.25, 1.25], "second": [1.25, 2.25], "third": [2.25, 3.25]},
    ),
    Scenario(
        "try_lock",
        PLAIN,
        (Placement("ada", try_the_door),),
        {"try_the_door": [None, True, True, False, [False, False, 1.0, True], 1.5]},
    ),
    Scenario(
        "killed_holder_lets_go",
        PLAIN,
        (Placement("ada", kill_the_holder),),
        {"kill_the_holder": 1.5},
    ),
    Scenario(
        "killed_waiter_is_skipped",
        PLAIN,
        (Placement("ada", kill_who_waits),),
        {"kill_who_waits": [2.0, 3.0, 3.0]},
    ),
    Scenario(
        "semaphore_of_two",
        PLAIN,
        tuple(Placement("ada", take_a_place, name=f"guest{i}") for i in range(5)),
        {f"guest{i}": [float(i // 2), i // 2 + 1.0] for i in range(5)},
    ),
    Scenario(
        "semaphore_time_limit",
        PLAIN,
        (Placement("ada", no_place),),
        {"no_place": [1, False, 0, True, 1.5, 1.5, 2.5]},
    ),
    Scenario(
        "condition_one_by_one",
        PLAIN,
        (
            Placement("ada", consume, name="first"),
            Placement("bob", consume, name="second"),
            Placement("cyd", produce),
        ),
        {"first": [0, 1.0], "second": [1, 2.0], "produce": 2.0},
    ),
    Scenario(
        "condition_for_all",
        PLAIN,
        (
            Placement("ada", wait_for_the_gun, (0.5,), name="first"),
            Placement("bob", wait_for_the_gun, (0.25,), name="second"),
            Placement("cyd", fire_the_gun),
        ),
        # Each goes on when it has the mutex again.
        {"fire_the_gun": 3.0, "first": [True, 3.0, 3.5], "second": [True, 3.5, 3.75]},
    ),
    Scenario(
        "condition_time_limit",
        PLAIN,
        (Placement("ada", tired_of_waiting),),
        # The child holds the mutex from 1 to 2.
        {"tired_of_waiting": [False, 2.0, True, 2.0]},
    ),
    Scenario(
        "condition_without_waiters",
        PLAIN,
        (Placement("ada", notify_nobody),),
        {"notify_nobody": ["not locked", False, 0.25]},
    ),
    Scenario(
        "barrier_of_three",
        PLAIN,
        tuple(Placement("ada", meet, (float(delay),), name=f"guest{delay}") for delay in (1, 2, 3)),
        {f"guest{delay}": [delay == 3, 3.0, delay == 3, 6.0] for delay in (1, 2, 3)},
    ),
]
