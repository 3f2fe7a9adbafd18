"""Actors: spawned, joined, killed, suspended, migrated; daemons and callbacks."""

from __future__ import annotations

from typing import Any

import numpy as np
from conformance import Scenario
from worlds import AB, AB_LATENCY, ADA, BOB, PLAIN, ab

from simplugin.errors import CancelException, NetworkFailureException, TimeoutException
from simplugin.simulation import Placement


async def work(me: Any, flops: float) -> tuple[str, float]:
    await me.execute(flops)
    return me.host.name, me.now


async def spawn_and_join(me: Any) -> list[Any]:
    children = [me.spawn(work, 2e9, name="here"), me.spawn(work, 2e9, host="bob", name="there")]
    seen: list[Any] = [me.now, [child.pid for child in children], children[0].is_alive]
    seen += [(await child.join(), me.now) for child in reversed(children)]
    seen.append(children[0].is_alive)
    return [*seen, await children[0].join(), me.now]


async def say(me: Any, queue: Any) -> None:
    queue.put_detached(me.now)


async def spawn_then_speak(me: Any) -> list[Any]:
    queue = me.message_queue("order")
    me.spawn(say, queue)
    before = queue.size
    await me.yield_()
    await me.yield_()
    return [before, queue.size, me.now]


async def join_in_vain(me: Any) -> list[Any]:
    child = me.spawn(work, 3e9)
    try:
        await child.join(timeout=1.5)
    except TimeoutException:
        return [me.now, await child.join(3), me.now]
    return []


async def killer(me: Any) -> list[Any]:
    notes: list[Any] = []
    poor = me.spawn(mortal, notes)
    await me.sleep_for(2.5)
    poor.kill()
    gone = poor.is_alive
    value = await poor.join()
    poor.kill()
    return [gone, value, me.now, notes]


async def mortal(me: Any, notes: list[Any]) -> str:
    me.on_exit(lambda failed: notes.append(("registered first", failed)))
    me.on_exit(lambda failed: notes.append(("registered last", failed)))
    try:
        await me.execute(1e12)
    except Exception:  # a kill is none
        notes.append("caught")
    finally:
        notes.append("cleaned up")
    return "unharmed"


async def kill_before_it_runs(me: Any) -> list[Any]:
    notes: list[Any] = []
    poor = me.spawn(mortal, notes)
    poor.on_exit(lambda failed: notes.append(("by the parent", failed)))
    poor.kill()
    value = await poor.join()
    return [value, me.now, notes]


async def leave(me: Any) -> str:
    notes = me.properties
    await me.sleep_for(1)
    try:
        me.exit()
    finally:
        notes["left"] = str(me.now)
    return "stayed"


async def see_it_leave(me: Any) -> list[Any]:
    child = me.spawn(leave)
    value = await child.join()
    return [value, me.now, child.properties]


async def ends_well(me: Any) -> list[Any]:
    notes: list[Any] = []
    child = me.spawn(counted, notes)
    await child.join()
    return [notes, me.now]


async def counted(me: Any, notes: list[Any]) -> None:
    for number in range(3):
        me.on_exit(lambda failed, number=number: notes.append((number, failed)))
    await me.sleep_for(1)


async def send_and_die(me: Any) -> None:
    await me.mailbox("box").put("never arrives", 1e9)


async def receive_or_fail(me: Any) -> list[Any]:
    try:
        await me.mailbox("box").get()
    except NetworkFailureException:
        return [me.now]
    return []


async def kill_the_sender(me: Any) -> None:
    sender = me.spawn(send_and_die, host="ada")
    await me.sleep_for(3)
    sender.kill()


async def forget_to_wait(me: Any) -> float:
    me.mailbox("box").put_async("lost", 1e6)
    await me.sleep_for(0.5)
    return me.now


async def put_and_leave(me: Any) -> None:
    me.mailbox("box").put_async("withdrawn", 1e6)
    me.mailbox("box").put_detached("stays", 1e6)


async def receive_late(me: Any) -> Any:
    await me.sleep_for(1)
    return await me.mailbox("box").get(), me.now


async def tick(me: Any, notes: Any) -> None:
    try:
        while True:
            await me.sleep_for(1)
            notes.append(me.now)
    finally:
        notes.append(("stopped", me.now))


async def outlive_a_daemon(me: Any) -> list[Any]:
    notes: list[Any] = []
    clock = me.spawn(tick, notes, daemon=True)
    await me.sleep_for(2.5)
    return [list(notes), clock.is_daemon, me.is_daemon]


async def suspended_worker(me: Any) -> float:
    await me.execute(2e9)
    return me.now


async def suspended_sleeper(me: Any, duration: float) -> float:
    await me.sleep_for(duration)
    return me.now


async def pause(me: Any, function: Any, args: tuple[Any, ...]) -> list[Any]:
    child = me.spawn(function, *args)
    await me.sleep_for(0.5)
    await child.suspend()
    suspended = child.is_suspended
    await me.sleep_for(2)
    child.resume()
    return [suspended, child.is_suspended, await child.join(), me.now]


async def doze(me: Any) -> list[float]:
    me.spawn(wake, me)
    before = me.now
    await me.suspend()
    return [before, me.now]


async def wake(me: Any, other: Any) -> None:
    await me.sleep_for(1.75)
    other.resume()


async def suspended_sender(me: Any) -> float:
    await me.mailbox("box").put("data", 1e6)
    return me.now


async def pause_the_sender(me: Any) -> list[Any]:
    child = me.spawn(suspended_sender, host="ada")
    await me.sleep_for(AB_LATENCY + 0.25)
    await child.suspend()
    await me.sleep_for(3)
    child.resume()
    return [await child.join(), me.now]


async def receive(me: Any) -> Any:
    return await me.mailbox("box").get(), me.now


async def migrate(me: Any) -> list[Any]:
    task = me.exec_async(3e9)
    await me.sleep_for(1)
    me.set_host("bob")
    await task
    return [me.host.name, me.now]


async def who(me: Any) -> list[Any]:
    others = sorted(actor.name for actor in me.actors)
    return [me.name, me.pid, me.host.name, me.properties, me.is_daemon, others, me.now]


async def draw(me: Any) -> list[float]:
    return [float(value) for value in me.random.random(3)]


async def awaiting_twice(me: Any) -> list[Any]:
    task = me.exec_async(1e9)
    helper = me.spawn(wait_for, task)
    await task
    seen = [me.now, await helper.join()]
    await task
    return [*seen, me.now]


async def wait_for(me: Any, task: Any) -> float:
    await task
    return me.now


async def forget_work(me: Any, found: list[Any]) -> None:
    found.append(me.exec_async(5e9))
    await me.sleep_for(1)


async def find_work(me: Any) -> list[Any]:
    found: list[Any] = []
    child = me.spawn(forget_work, found)
    await child.join()
    await me.sleep_for(1)
    try:
        await found[0]
    except CancelException:
        return [me.now, found[0].state, found[0].finish_time]
    return []


def random_values(pid: int) -> list[float]:
    """Return what an actor of the runs' seed draws first."""
    return [float(value) for value in np.random.default_rng((42, pid)).random(3)]


def alone(function: Any, expected: Any, *args: Any, **more: Any) -> Scenario:
    """Return a scenario of one actor on ada."""
    name = function.__name__
    return Scenario(name, PLAIN, (Placement("ada", function, args),), {name: expected}, **more)


SCENARIOS = [
    alone(
        spawn_and_join,
        [
            *[0.0, [2, 3], True],
            *[(("bob", 2e9 / BOB), 2e9 / BOB), (("ada", 2e9 / ADA), 2e9 / ADA)],
            *[False, ("ada", 2e9 / ADA), 2e9 / ADA],
        ],
    ),
    alone(spawn_then_speak, [0, 1, 0.0]),
    alone(join_in_vain, [1.5, ("ada", 3e9 / ADA), 3e9 / ADA]),
    alone(
        killer,
        [
            *[False, None, 2.5],
            ["cleaned up", ("registered last", True), ("registered first", True)],
        ],
    ),
    alone(kill_before_it_runs, [None, 0.0, [("by the parent", True)]]),
    alone(see_it_leave, [None, 1.0, {"left": "1.0"}]),
    alone(ends_well, [[(2, False), (1, False), (0, False)], 1.0]),
    Scenario(
        "kill_a_sender",
        PLAIN,
        (Placement("cyd", kill_the_sender), Placement("bob", receive_or_fail)),
        {"kill_the_sender": None, "receive_or_fail": [3.0]},
    ),
    Scenario(
        "end_of_a_sender",
        PLAIN,
        (Placement("ada", forget_to_wait), Placement("bob", receive_or_fail)),
        {"forget_to_wait": 0.5, "receive_or_fail": [0.5]},
    ),
    Scenario(
        "puts_of_an_ended_actor",
        PLAIN,
        (Placement("ada", put_and_leave), Placement("bob", receive_late)),
        {"put_and_leave": None, "receive_late": ("stays", 1 + ab(1e6))},
    ),
    alone(outlive_a_daemon, [[1.0, 2.0], True, False], clock=2.5),
    Scenario(
        "suspended_work",
        PLAIN,
        (Placement("ada", pause, (suspended_worker, ())),),
        {"pause": [True, False, 2e9 / ADA + 2, 2e9 / ADA + 2]},
    ),
    Scenario(
        "suspended_sleep_goes_on",
        PLAIN,
        (Placement("ada", pause, (suspended_sleeper, (4.0,))),),
        {"pause": [True, False, 4.0, 4.0]},
    ),
    Scenario(
        "suspended_past_its_sleep",
        PLAIN,
        (Placement("ada", pause, (suspended_sleeper, (1.0,))),),
        {"pause": [True, False, 2.5, 2.5]},
    ),
    alone(doze, [0.0, 1.75]),
    Scenario(
        "suspended_sender",
        PLAIN,
        (Placement("cyd", pause_the_sender), Placement("bob", receive)),
        {
            "pause_the_sender": [3 + AB_LATENCY + 1e6 / AB] * 2,
            "receive": ("data", 3 + AB_LATENCY + 1e6 / AB),
        },
    ),
    alone(migrate, ["bob", 1 + 2e9 / BOB]),
    Scenario(
        "who_am_i",
        PLAIN,
        (
            Placement("bob", who, name="first", properties={"role": "chief"}),
            Placement("ada", who, name="second", daemon=True),
        ),
        {
            "first": ["first", 1, "bob", {"role": "chief"}, False, ["first", "second"], 0.0],
            "second": ["second", 2, "ada", {}, True, ["second"], 0.0],
        },
        0.0,
    ),
    Scenario(
        "start_and_kill_times",
        PLAIN,
        (
            Placement("ada", work, (2e9,), name="late", start_time=1.5),
            Placement("bob", work, (9e9,), name="cut", start_time=1.0, kill_time=3.0),
            Placement("bob", suspended_sleeper, (5.0,), name="last"),
        ),
        {"late": ("ada", 1.5 + 2e9 / ADA), "cut": None, "last": 5.0},
        5.0,
    ),
    Scenario(
        "random_numbers",
        PLAIN,
        (Placement("ada", draw, name="one"), Placement("ada", draw, name="two")),
        {"one": random_values(1), "two": random_values(2)},
    ),
    alone(awaiting_twice, [1.0, 1.0, 1.0]),
    alone(find_work, [2.0, "CANCELED", 1.0]),
]
