"""Mutexes, semaphores, condition variables and barriers."""

from __future__ import annotations

from typing import Any

from conformance import ada, bob, cyd, errors_of, returns, scenario, tried

# ---- mutexes ------------------------------------------------------------------------------------


async def pass_the_door(me: Any, delay: float, stay: float = 1.0) -> list[float]:
    await me.sleep_for(delay)
    async with me.mutex("door"):
        entered = me.now
        await me.sleep_for(stay)
    return [entered, me.now]


scenario(
    "mutex_in_order",
    ada(pass_the_door, 0.75, name="third", gives=[2.25, 3.25]),
    ada(pass_the_door, 0.25, name="first", gives=[0.25, 1.25]),
    ada(pass_the_door, 0.5, name="second", gives=[1.25, 2.25]),
)


async def knock(me: Any) -> list[Any]:
    mutex = me.mutex("door")
    seen: list[Any] = [mutex.try_lock(), mutex.owner is me]
    await mutex.lock()
    seen += [me.now, mutex.owner is me]
    await me.sleep_for(0.5)
    mutex.unlock()
    return seen


@returns([None, True, True, False, [False, False, 1.0, True], "RuntimeError"], clock=1.5)
async def try_the_door(me: Any) -> list[Any]:
    mutex = me.mutex("door")
    seen = [mutex.owner, mutex.try_lock(), mutex.owner is me, mutex.try_lock()]
    child = me.spawn(knock)
    await me.sleep_for(1)
    mutex.unlock()
    seen.append(await child.join())
    return [*seen, *errors_of(mutex.unlock)]


@returns([1.5, 1.5])
async def kill_the_holder(me: Any) -> list[float]:
    holder = me.spawn(pass_the_door, 0, 100)
    await me.sleep_for(1.5)
    holder.kill()
    return await pass_the_door(me, 0, 0)


@returns([2.0, 3.0, 3.0])
async def kill_who_waits(me: Any) -> list[float]:
    mutex = me.mutex("door")
    await mutex.lock()
    child = me.spawn(pass_the_door, 0, 100)
    other = me.spawn(pass_the_door, 0.5)
    await me.sleep_for(1)
    child.kill()
    await me.sleep_for(1)
    mutex.unlock()
    return [*await other.join(), me.now]


async def lock_and_leave(me: Any) -> None:
    await me.mutex("door").lock()


async def come_later(me: Any) -> None:
    await me.sleep_for(1)
    await me.mutex("door").lock()


scenario(
    "dead_owner_keeps_the_mutex",
    ada(lock_and_leave),
    bob(come_later),
    wrong={
        "error": "DeadlockError",
        "clock": 1.0,
        "blocked": [("come_later", "bob", 1.0, "lock 'door'", "scenarios_synchro.py")],
    },
)

# ---- semaphores ---------------------------------------------------------------------------------


async def take_a_place(me: Any) -> list[float]:
    async with me.semaphore(2, "places"):
        came = me.now
        await me.sleep_for(1)
    return [came, me.now]


scenario(
    "semaphore_of_two",
    *(ada(take_a_place, name=f"guest{i}", gives=[i // 2, i // 2 + 1.0]) for i in range(5)),
)


async def free_later(me: Any, places: Any, delay: float) -> None:
    await me.sleep_for(delay)
    places.release()


@returns([1, False, 0, True, ("TimeoutException", 1.5), ("TimeoutException", 1.5), (None, 2.5)])
async def no_place(me: Any) -> list[Any]:
    places = me.semaphore(1)
    seen: list[Any] = [places.capacity, places.would_block]
    await places.acquire()
    seen += [places.capacity, places.would_block]
    seen += [await tried(me, places.acquire(timeout)) for timeout in (1.5, 0)]
    me.spawn(free_later, places, 1)
    return [*seen, await tried(me, places.acquire(timeout=5))]


# Time limits expire before actors run: what another actor does at that date is too late.
@returns([(None, 1.0), ("TimeoutException", 2.25)])
async def free_at_the_limit(me: Any) -> list[Any]:
    places, seen = me.semaphore(0), []
    for delay in (1.0, 1.25):
        me.spawn(free_later, places, delay)
        seen.append(await tried(me, places.acquire(timeout=1.25)))
    return seen


def place(me: Any, kind: str) -> Any:
    return me.mutex("one") if kind == "mutex" else me.semaphore(1, "one")


async def hold_and_kill(me: Any, kind: str) -> None:
    async with place(me, kind):
        await me.sleep_for(1)
    for other in me.actors:
        if other.name == "victim":
            other.kill()


async def inherit(me: Any, kind: str, delay: float) -> float:
    await me.sleep_for(delay)
    async with place(me, kind):
        return float(me.now)


for kind in ("mutex", "semaphore"):
    scenario(
        f"{kind}_granted_to_the_dead_goes_to_the_next",
        ada(hold_and_kill, kind),
        bob(inherit, kind, 0.125, name="victim"),
        cyd(inherit, kind, 0.25, name="heir", gives=1.0),
    )

# ---- condition variables ------------------------------------------------------------------------


async def produce(me: Any) -> None:
    mutex, stock = me.mutex("stock"), me.message_queue("stock")
    filled = me.condition(mutex, "filled")
    for number in range(2):
        await me.sleep_for(1)
        async with mutex:
            stock.put_detached(number)
            filled.notify_one()


async def consume(me: Any) -> list[Any]:
    mutex, stock = me.mutex("stock"), me.message_queue("stock")
    filled = me.condition(mutex, "filled")
    async with mutex:
        while stock.empty:
            await filled.wait()
        return [await stock.get(), me.now]


scenario(
    "condition_one_by_one",
    ada(consume, name="first", gives=[0, 1.0]),
    bob(consume, name="second", gives=[1, 2.0]),
    cyd(produce),
)


async def wait_for_the_gun(me: Any, delay: float) -> list[Any]:
    mutex = me.mutex("start")
    async with mutex:
        notified = await me.condition(mutex, "gun").wait()
        heard = me.now
        await me.sleep_for(delay)
    return [notified, heard, me.now]


# Each goes on when it has the mutex again.
@returns(
    None,
    on=cyd,
    beside=[
        ada(wait_for_the_gun, 0.5, name="first", gives=[True, 3.0, 3.5]),
        bob(wait_for_the_gun, 0.25, name="second", gives=[True, 3.5, 3.75]),
    ],
)
async def fire_the_gun(me: Any) -> None:
    await me.sleep_for(2)
    mutex = me.mutex("start")
    async with mutex:
        me.condition(mutex, "gun").notify_all()
        await me.sleep_for(1)


# The child holds the mutex from 1 to 2.
@returns([(False, 2.0), True, [1.0, 2.0]])
async def tired_of_waiting(me: Any) -> list[Any]:
    mutex = me.mutex("door")
    await mutex.lock()
    child = me.spawn(pass_the_door, 1)
    notified = await tried(me, me.condition(mutex).wait(timeout=1.5))
    seen = [notified, mutex.owner is me]
    mutex.unlock()
    return [*seen, await child.join()]


@returns(["not locked", (False, 0.25)])
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
        return [*seen, await tried(me, gun.wait(0.25))]


# ---- barriers -----------------------------------------------------------------------------------


async def meet(me: Any, delay: float) -> list[Any]:
    barrier = me.barrier(3, "meeting point")
    await me.sleep_for(delay)
    first = await tried(me, barrier.wait())
    await me.sleep_for(delay)
    return [first, await tried(me, barrier.wait())]


scenario(
    "barrier_of_three",
    *(ada(meet, i, name=f"guest{i}", gives=[(i == 3, 3.0), (i == 3, 6.0)]) for i in (1, 2, 3)),
)


async def wait_at_the_gate(me: Any, delay: float = 0.0) -> Any:
    await me.sleep_for(delay)
    return await tried(me, me.barrier(3, "gate").wait())


async def kill_at_the_gate(me: Any) -> None:
    waiter = me.spawn(wait_at_the_gate)
    await me.sleep_for(1)
    waiter.kill()


scenario(
    "killed_at_a_barrier",
    ada(kill_at_the_gate),
    ada(wait_at_the_gate, 0.5, name="first", gives=(False, 3.0)),
    bob(wait_at_the_gate, 2.0, name="second", gives=(False, 3.0)),
    cyd(wait_at_the_gate, 3.0, name="third", gives=(True, 3.0)),
)


async def wait_at(me: Any, barrier: Any) -> Any:
    return await tried(me, barrier.wait())


# The one that is killed is not counted.
@returns([(True, 2.0), (False, 2.0)])
async def kill_at_a_barrier(me: Any) -> list[Any]:
    barrier = me.barrier(2)
    child = me.spawn(wait_at, barrier)
    await me.sleep_for(1)
    child.kill()
    other = me.spawn(wait_at, barrier)
    await me.sleep_for(1)
    return [await tried(me, barrier.wait()), await other.join()]
