"""Hosts and links that actors turn off and on."""

from __future__ import annotations

from typing import Any

from conformance import Scenario
from worlds import ADA, PLAIN, ab

from simplugin.errors import HostFailureException, NetworkFailureException
from simplugin.simulation import Placement


async def switch_host(me: Any, name: str, off: float, on: float | None) -> float:
    host = me.host_by_name(name)
    await me.sleep_until(off)
    host.turn_off()
    host.turn_off()
    if on is not None:
        await me.sleep_until(on)
        host.turn_on()
    return me.now


async def switch_link(me: Any, name: str, off: float, on: float | None) -> float:
    link = me.link_by_name(name)
    await me.sleep_until(off)
    link.turn_off()
    if on is not None:
        await me.sleep_until(on)
        link.turn_on()
    return me.now


async def work_on_ada(me: Any) -> list[Any]:
    work = me.exec_async(5e9, host="ada")
    try:
        await work
    except HostFailureException as error:
        seen = [me.now, error.activity is work, work.state]
    try:
        await me.execute(1e9, host="ada")
    except HostFailureException:
        seen.append(me.now)
    await me.sleep_until(5)
    await me.execute(1e9, host="ada")
    return [*seen, me.now]


async def doomed(me: Any, notes: Any) -> None:
    me.on_exit(lambda failed: notes.append(("exit", failed, me.now)))
    try:
        await me.execute(1e12)
    finally:
        notes.append(("finally", me.now))


async def kill_by_host(me: Any) -> list[Any]:
    notes: list[Any] = []
    child = me.spawn(doomed, notes, host="ada")
    await me.sleep_for(1.5)
    me.host_by_name("ada").turn_off()
    alive = child.is_alive
    value = await child.join()
    try:
        me.spawn(doomed, notes, host="ada")
    except HostFailureException:
        notes.append("no host")
    return [alive, value, me.now, notes]


async def send(me: Any) -> list[Any]:
    try:
        await me.mailbox("box").put("data", 5e6)
    except NetworkFailureException:
        return ["failed", me.now]
    return ["sent", me.now]


async def receive(me: Any) -> list[Any]:
    try:
        return [await me.mailbox("box").get(), me.now]
    except NetworkFailureException:
        return ["failed", me.now]


async def send_stubbornly(me: Any) -> list[Any]:
    failures = []
    while True:
        try:
            await me.mailbox("box").put("data", 1e6)
        except NetworkFailureException:
            failures.append(me.now)
            await me.sleep_for(1)
        else:
            return [failures, me.now]


async def receive_stubbornly(me: Any) -> list[Any]:
    while True:
        try:
            return [await me.mailbox("box").get(), me.now]
        except NetworkFailureException:
            continue


async def transfer_direct(me: Any) -> list[Any]:
    try:
        await me.sendto("ada", "bob", 5e6)
    except NetworkFailureException:
        return ["failed", me.now]
    return []


async def wait_for_either(me: Any) -> list[Any]:
    safe = me.exec_async(9e9)
    risky = me.exec_async(9e9, host="ada")
    try:
        await me.wait_any([safe, risky])
    except HostFailureException as error:
        seen = [me.now, error.activity is risky]
    try:
        await me.wait_all([safe, risky])
    except HostFailureException:
        seen.append(me.now)
    return [*seen, risky.test(), safe.state]


async def live_again(me: Any) -> float:
    me.message_queue("lives").put_detached((me.now, me.properties["role"]))
    await me.execute(3e9)
    return me.now


async def count_lives(me: Any) -> list[Any]:
    queue = me.message_queue("lives")
    return [await queue.get(), await queue.get(), me.now]


async def turn_off_my_own(me: Any) -> str:
    try:
        me.host.turn_off()
    finally:
        me.properties["date"] = str(me.now)
    return "survived"


async def see_it_go(me: Any) -> list[Any]:
    child = me.spawn(turn_off_my_own, host="ada")
    value = await child.join()
    return [value, me.now, child.properties, me.host_by_name("ada").is_on]


async def forgotten_put(me: Any) -> None:
    me.mailbox("box").put_detached("from a dead host", 1e6)
    await me.sleep_for(10)


async def receive_late(me: Any) -> list[Any]:
    await me.sleep_for(2)
    return await receive(me)


SCENARIOS = [
    Scenario(
        "remote_work_fails",
        PLAIN,
        (Placement("bob", work_on_ada), Placement("cyd", switch_host, ("ada", 2.0, 4.0))),
        {"work_on_ada": [2.0, True, "FAILED", 2.0, 5 + 1e9 / ADA], "switch_host": 4.0},
    ),
    Scenario(
        "host_off_kills",
        PLAIN,
        (Placement("cyd", kill_by_host),),
        {
            "kill_by_host": [
                *[False, None, 1.5],
                [("finally", 1.5), ("exit", True, 1.5), "no host"],
            ]
        },
    ),
    Scenario(
        "host_off_under_a_transfer",
        PLAIN,
        (
            Placement("ada", send),
            Placement("bob", receive),
            Placement("cyd", switch_host, ("ada", 2.5, None)),
        ),
        {"send": None, "receive": ["failed", 2.5], "switch_host": 2.5},
    ),
    Scenario(
        "receiver_off_under_a_transfer",
        PLAIN,
        (
            Placement("ada", send),
            Placement("bob", receive),
            Placement("cyd", switch_host, ("bob", 2.5, None)),
        ),
        {"receive": None, "send": ["failed", 2.5], "switch_host": 2.5},
    ),
    Scenario(
        "link_off_under_a_transfer",
        PLAIN,
        (
            Placement("ada", send),
            Placement("bob", receive),
            Placement("cyd", switch_link, ("ab", 2.5, None)),
        ),
        {"send": ["failed", 2.5], "receive": ["failed", 2.5], "switch_link": 2.5},
    ),
    Scenario(
        "try_until_the_link_is_on",
        PLAIN,
        (
            Placement("ada", send_stubbornly),
            Placement("bob", receive_stubbornly),
            Placement("cyd", switch_link, ("ab", 0.5, 2.25)),
        ),
        # A transfer over a link that is off fails at once.
        {
            "send_stubbornly": [[0.5, 1.5], 2.5 + ab(1e6)],
            "receive_stubbornly": ["data", 2.5 + ab(1e6)],
            "switch_link": 2.25,
        },
    ),
    Scenario(
        "direct_transfer_fails",
        PLAIN,
        (Placement("cyd", transfer_direct), Placement("cyd", switch_host, ("bob", 1.75, None))),
        {"transfer_direct": ["failed", 1.75], "switch_host": 1.75},
    ),
    Scenario(
        "one_of_several_fails",
        PLAIN,
        (Placement("bob", wait_for_either), Placement("cyd", switch_host, ("ada", 1.25, None))),
        {"wait_for_either": [1.25, True, 1.25, True, "STARTED"], "switch_host": 1.25},
    ),
    Scenario(
        "restart_with_its_host",
        PLAIN,
        (
            Placement("ada", live_again, restart=True, properties={"role": "phoenix"}),
            Placement("bob", count_lives),
            Placement("cyd", switch_host, ("ada", 1.0, 2.5)),
        ),
        {
            "live_again": 2.5 + 3e9 / ADA,
            "count_lives": [(0.0, "phoenix"), (2.5, "phoenix"), 2.5],
            "switch_host": 2.5,
        },
    ),
    Scenario(
        "turn_off_my_own_host",
        PLAIN,
        (Placement("cyd", see_it_go),),
        {"see_it_go": [None, 0.0, {"date": "0.0"}, False]},
    ),
    Scenario(
        "put_of_a_dead_host",
        PLAIN,
        (
            Placement("ada", forgotten_put),
            Placement("bob", receive_late),
            Placement("cyd", switch_host, ("ada", 1.0, None)),
        ),
        {"forgotten_put": None, "receive_late": ["failed", 2.0], "switch_host": 1.0},
        only="SimGrid aborts",
    ),
]
