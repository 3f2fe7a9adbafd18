"""Actors: spawned, joined, killed, suspended, migrated; daemons and callbacks."""

from __future__ import annotations

from typing import Any

import numpy as np
from conformance import ada, bob, cyd, receive, returns, scenario, send, sleep, tried, work
from worlds import AB, AB_LATENCY, ADA, BOB, NO_LATENCY, ab

from simplugin.core.errors import HostFailureException

# ---- spawn and join -----------------------------------------------------------------------------


@returns([0.0, [2, 3], True, (1.0, 1.0), (2.0, 2.0), False, (2.0, 2.0)])
async def spawn_and_join(me: Any) -> list[Any]:
    children = [me.spawn(work, 2e9, name="here"), me.spawn(work, 2e9, host="bob", name="there")]
    seen: list[Any] = [me.now, [child.pid for child in children], children[0].is_alive]
    seen += [await tried(me, child.join()) for child in reversed(children)]
    return [*seen, children[0].is_alive, await tried(me, children[0].join())]


async def say(me: Any, queue: Any) -> None:
    queue.put_detached(me.now)


@returns([0, 1, 0.0])
async def spawn_then_speak(me: Any) -> list[Any]:
    queue = me.message_queue("order")
    me.spawn(say, queue)
    before = queue.size
    await me.yield_()
    await me.yield_()
    return [before, queue.size, me.now]


# Time limits expire before actors run: an end at that date is too late.
@returns([("TimeoutException", 1.5), ("TimeoutException", 3.0), (3.0, 3.0), (3.0, 3.0)])
async def join_in_vain(me: Any) -> list[Any]:
    child = me.spawn(work, 3e9)
    return [await tried(me, child.join(limit)) for limit in (1.5, 1.5, 3, None)]


@returns(20, 20, clock=1.0)
async def chain(me: Any, depth: int) -> int:
    if depth == 0:
        await me.sleep_for(1)
        return 0
    return 1 + int(await me.spawn(chain, depth - 1, name=f"link {depth}").join())


async def who(me: Any) -> list[Any]:
    others = sorted(actor.name for actor in me.actors)
    return [me.name, me.pid, me.host.name, me.properties, me.is_daemon, others, me.now]


CHIEF = {"role": "chief"}
scenario(
    "who_am_i",
    bob(
        who,
        name="first",
        properties=CHIEF,
        gives=["first", 1, "bob", CHIEF, False, ["first", "second"], 0.0],
    ),
    ada(who, name="second", daemon=True, gives=["second", 2, "ada", {}, True, ["second"], 0.0]),
    clock=0.0,
)
scenario(
    "start_and_kill_times",
    ada(work, 2e9, name="late", start_time=1.5, gives=1.5 + 2e9 / ADA),
    bob(work, 9e9, name="cut", start_time=1.0, kill_time=3.0),
    bob(sleep, 5.0, gives=5.0),
    clock=5.0,
)


async def draw(me: Any) -> list[float]:
    return [float(value) for value in me.random.random(3)]


def random_values(pid: int) -> list[float]:
    """Return what an actor of the runs' seed draws first."""
    return [float(value) for value in np.random.default_rng((42, pid)).random(3)]


scenario(
    "random_numbers",
    ada(draw, name="one", gives=random_values(1)),
    ada(draw, name="two", gives=random_values(2)),
)

# ---- ends ---------------------------------------------------------------------------------------


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


@returns([False, None, 2.5, ["cleaned up", ("registered last", True), ("registered first", True)]])
async def killer(me: Any) -> list[Any]:
    notes: list[Any] = []
    victim = me.spawn(mortal, notes)
    await me.sleep_for(2.5)
    victim.kill()
    gone = victim.is_alive
    value = await victim.join()
    victim.kill()
    return [gone, value, me.now, notes]


@returns([None, 0.0, [("by the parent", True)]])
async def kill_before_it_runs(me: Any) -> list[Any]:
    notes: list[Any] = []
    victim = me.spawn(mortal, notes)
    victim.on_exit(lambda failed: notes.append(("by the parent", failed)))
    victim.kill()
    return [*await tried(me, victim.join()), notes]


async def awaits_while_dying(me: Any, notes: list[Any]) -> None:
    try:
        await me.sleep_for(100)
    finally:
        notes.append(me.now)
        await me.sleep_for(1)
        notes.append("slept")


@returns([[1.0], 1.0])
async def kill_who_cannot_sleep(me: Any) -> list[Any]:
    notes: list[Any] = []
    child = me.spawn(awaits_while_dying, notes)
    await me.sleep_for(1)
    child.kill()
    await child.join()
    return [list(notes), me.now]


async def leave(me: Any) -> str:
    await me.sleep_for(1)
    try:
        me.exit()
    finally:
        me.properties["left"] = str(me.now)
    return "stayed"


@returns([None, 1.0, {"left": "1.0"}])
async def see_it_leave(me: Any) -> list[Any]:
    child = me.spawn(leave)
    return [*await tried(me, child.join()), child.properties]


@returns(None, clock=0.0)
async def leave_in_an_exit_callback(me: Any) -> None:
    me.on_exit(lambda _failed: me.exit())


async def counted(me: Any, notes: list[Any]) -> None:
    for number in range(3):
        me.on_exit(lambda failed, number=number: notes.append((number, failed)))
    await me.sleep_for(1)


@returns([[(2, False), (1, False), (0, False)], 1.0])
async def ends_well(me: Any) -> list[Any]:
    notes: list[Any] = []
    await me.spawn(counted, notes).join()
    return [notes, me.now]


@returns(None, on=cyd, beside=[bob(receive, gives=("NetworkFailureException", 3.0))])
async def kill_the_sender(me: Any) -> None:
    sender = me.spawn(send, 1e9, host="ada")
    await me.sleep_for(3)
    sender.kill()


@returns(0.5, beside=[bob(receive, gives=("NetworkFailureException", 0.5))])
async def end_of_a_sender(me: Any) -> float:
    me.mailbox("box").put_async("lost", 1e6)
    await me.sleep_for(0.5)
    return float(me.now)


@returns(None, beside=[bob(receive, 1, gives=("stays", 1 + ab(1e6)))])
async def puts_of_an_ended_actor(me: Any) -> None:
    me.mailbox("box").put_async("withdrawn", 1e6)
    me.mailbox("box").put_detached("stays", 1e6)


async def forget_work(me: Any, found: list[Any]) -> None:
    found.append(me.exec_async(5e9))
    await me.sleep_for(1)


@returns([("CancelException", 2.0), "CANCELED", 1.0])
async def find_work(me: Any) -> list[Any]:
    found: list[Any] = []
    await me.spawn(forget_work, found).join()
    await me.sleep_for(1)
    return [await tried(me, found[0]), found[0].state, found[0].finish_time]


async def tick(me: Any, notes: Any) -> None:
    while True:
        await me.sleep_for(1)
        notes.append(me.now)


@returns([[1.0, 2.0], True, False], clock=2.5)
async def outlive_a_daemon(me: Any) -> list[Any]:
    notes: list[Any] = []
    clock = me.spawn(tick, notes, daemon=True)
    await me.sleep_for(2.5)
    return [list(notes), clock.is_daemon, me.is_daemon]


async def become_a_daemon(me: Any) -> None:
    before = me.is_daemon
    me.daemonize()
    me.daemonize()
    me.properties["daemon"] = f"{before} {me.is_daemon}"
    await me.sleep_for(100)


@returns([True, "False True", 1.5], clock=1.5)
async def outlive(me: Any) -> list[Any]:
    child = me.spawn(become_a_daemon)
    await me.sleep_for(1.5)
    return [child.is_daemon, child.properties["daemon"], me.now]


# ---- suspended ----------------------------------------------------------------------------------


async def pause(me: Any, start: float, end: float, function: Any, *args: Any) -> list[Any]:
    """Suspend and resume a child twice: the second time changes nothing."""
    child = me.spawn(function, *args)
    await me.sleep_until(start)
    await child.suspend()
    await child.suspend()
    suspended = child.is_suspended
    await me.sleep_until(end)
    child.resume()
    child.resume()
    return [suspended, child.is_suspended, await tried(me, child.join())]


async def start_and_sleep(me: Any) -> float:
    me.exec_async(1e8)
    return await sleep(me, 2)


for name, args, date in (
    ("work", (0.5, 2.5, work, 2e9), 2e9 / ADA + 2),
    ("sleep_goes_on", (0.5, 2.5, sleep, 4.0), 4.0),
    ("past_its_sleep", (0.5, 2.5, sleep, 1.0), 2.5),
    ("before_it_runs", (0.0, 2.0, sleep, 1.0), 3.0),
    ("after_its_work", (1.0, 4.0, start_and_sleep), 4.0),
):
    scenario(f"suspended_{name}", ada(pause, *args, gives=[True, False, (date, date)]))


@returns([(None, 1.5), False, False])
async def kill_the_suspended(me: Any) -> list[Any]:
    child = me.spawn(work, 1e9)
    await me.sleep_for(0.5)
    await child.suspend()
    await me.sleep_for(1)
    child.kill()
    return [await tried(me, child.join()), child.is_alive, child.is_suspended]


async def wake(me: Any, other: Any) -> None:
    await me.sleep_for(1.75)
    other.resume()


@returns([0.0, 1.75])
async def doze(me: Any) -> list[float]:
    me.spawn(wake, me)
    before = me.now
    await me.suspend()
    return [before, me.now]


@returns(
    (None, 3 + AB_LATENCY + 1e6 / AB),
    on=cyd,
    beside=[bob(receive, gives=("send", 3 + AB_LATENCY + 1e6 / AB))],
)
async def suspended_sender(me: Any) -> Any:
    child = me.spawn(send, host="ada")
    await me.sleep_for(AB_LATENCY + 0.25)
    await child.suspend()
    await me.sleep_for(3)
    child.resume()
    return await child.join()


# ---- migrated -----------------------------------------------------------------------------------


@returns(["bob", 1 + 2e9 / BOB])
async def migrate(me: Any) -> list[Any]:
    task = me.exec_async(3e9)
    await me.sleep_for(1)
    me.set_host("bob")
    await task
    return [me.host.name, me.now]


@returns([7.5e8, 1.25])
async def migrate_with_suspended_work(me: Any) -> list[Any]:
    task = me.exec_async(1e9)
    await me.sleep_for(0.25)
    task.suspend()
    me.set_host("bob")
    await me.sleep_for(1)
    return [task.remaining, me.now]


@returns(("HostFailureException", 0.125))
async def migrate_when_work_has_just_failed(me: Any) -> Any:
    task = me.exec_async(1e9, host="cyd")
    await me.sleep_for(0.125)
    me.host_by_name("cyd").turn_off()
    me.set_host("bob")
    return await tried(me, task)


@returns((None, 1.0), platform=NO_LATENCY)
async def migrate_the_dead_among_the_living(me: Any) -> Any:
    dead, living = me.spawn(sleep, 0, host="bob"), me.spawn(sleep, 10, host="bob")
    await me.sleep_for(1)
    dead.set_host("ada")
    me.host_by_name("bob").turn_off()
    return await tried(me, living.join())


async def off_for_a_while(me: Any) -> None:
    me.host_by_name("bob").turn_off()
    await me.sleep_for(2)
    me.host_by_name("bob").turn_on()


# As a spawn there: the actor stays where it is.
@returns(
    [
        "cannot move actor 'move_to_a_host_that_is_off': host 'bob' is off; turn it on first",
        *("ada", "bob", None, 3.5),
    ],
    beside=[cyd(off_for_a_while)],
)
async def move_to_a_host_that_is_off(me: Any) -> list[Any]:
    task = me.exec_async(4e9)
    seen = []
    for _ in range(2):
        await me.sleep_for(1.5)
        try:
            me.set_host("bob")
        except HostFailureException as error:
            seen.append(str(error))
        seen.append(me.host.name)
    return [*seen, *await tried(me, task)]
