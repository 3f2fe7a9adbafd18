"""Hosts and links that actors or profiles turn off and on; profiles of speeds and bandwidths."""

from __future__ import annotations

import functools
from typing import Any

from conformance import (
    ada,
    attempt,
    bob,
    cyd,
    errors_of,
    receive,
    returns,
    scenario,
    send,
    sleep,
    tried,
    work,
)
from worlds import AB, AB_LATENCY, ADA, PLAIN, ab


async def switch(me: Any, name: str, off: float, on: float | None = None) -> None:
    """Turn a host or a link off, twice, and on again."""
    resource = me.link_by_name(name) if name == "ab" else me.host_by_name(name)
    await me.sleep_until(off)
    resource.turn_off()
    resource.turn_off()
    if on is not None:
        await me.sleep_until(on)
        resource.turn_on()


# ---- by actors ----------------------------------------------------------------------------------


@returns(
    [
        ("HostFailureException", 2.0, True, "FAILED"),
        ("HostFailureException", 2.0),
        (None, 5 + 1e9 / ADA),
    ],
    on=bob,
    beside=[cyd(switch, "ada", 2.0, 4.0)],
)
async def remote_work_fails(me: Any) -> list[Any]:
    task = me.exec_async(5e9, host="ada")
    seen = [await tried(me, task, task), await tried(me, me.execute(1e9, host="ada"))]
    await me.sleep_until(5)
    return [*seen, await tried(me, me.execute(1e9, host="ada"))]


async def doomed(me: Any, notes: Any) -> None:
    me.on_exit(lambda failed: notes.append(("exit", failed, me.now)))
    try:
        await me.execute(1e12)
    finally:
        notes.append(("finally", me.now))


@returns(
    [False, (None, 1.5), [("finally", 1.5), ("exit", True, 1.5), "HostFailureException"]], on=cyd
)
async def kill_by_host(me: Any) -> list[Any]:
    notes: list[Any] = []
    child = me.spawn(doomed, notes, host="ada")
    await me.sleep_for(1.5)
    me.host_by_name("ada").turn_off()
    seen = [child.is_alive, await tried(me, child.join())]
    notes += errors_of(lambda: me.spawn(doomed, notes, host="ada"))
    return [*seen, notes]


FAILED = ("NetworkFailureException", 2.5)
for victim, sent, received in (
    ("ada", None, FAILED),
    ("bob", FAILED, None),
    ("ab", FAILED, FAILED),
):
    scenario(
        f"{victim}_off_under_a_transfer",
        ada(send, 5e6, gives=sent),
        bob(receive, gives=received),
        cyd(switch, victim, 2.5),
    )


scenario(
    "direct_transfer_fails",
    cyd(attempt, lambda me: me.sendto("ada", "bob", 5e6), gives=FAILED),
    cyd(switch, "bob", 2.5),
)


async def receive_stubbornly(me: Any, sender: str) -> Any:
    while (got := await receive(me))[0] != sender:
        pass
    return got


# A transfer over a link that is off fails at once.
@returns(
    [
        ("NetworkFailureException", 0.5),
        ("NetworkFailureException", 1.5),
        (None, 2.5 + ab(1e6)),
    ],
    beside=[
        bob(receive_stubbornly, "send_stubbornly", gives=("send_stubbornly", 2.5 + ab(1e6))),
        cyd(switch, "ab", 0.5, 2.25),
    ],
)
async def send_stubbornly(me: Any) -> list[Any]:
    attempts: list[Any] = []
    while not attempts or attempts[-1][0]:
        attempts.append(await send(me))
        await me.sleep_for(1)
    return attempts


@returns(
    [("HostFailureException", 1.25, True, "FAILED"), ("HostFailureException", 1.25), "STARTED"],
    on=bob,
    beside=[cyd(switch, "ada", 1.25)],
)
async def one_of_several_fails(me: Any) -> list[Any]:
    safe = me.exec_async(9e9)
    risky = me.exec_async(9e9, host="ada")
    seen = await tried(me, me.wait_any([safe, risky]), risky)
    return [seen, await tried(me, me.wait_all([safe, risky])), safe.state]


async def live_again(me: Any) -> float:
    me.message_queue("lives").put_detached((me.now, me.properties["role"]))
    await me.execute(3e9)
    return float(me.now)


async def count_lives(me: Any) -> list[Any]:
    queue = me.message_queue("lives")
    # Somebody must have something to do: profiles alone do not keep a simulation going.
    await me.sleep_for(4.5)
    return [await queue.get(), await queue.get()]


PHOENIX: dict[str, Any] = {"restart": True, "properties": {"role": "phoenix"}}
scenario(
    "restart_with_its_host",
    ada(live_again, **PHOENIX, gives=2.5 + 3e9 / ADA),
    bob(count_lives, gives=[(0.0, "phoenix"), (2.5, "phoenix")]),
    cyd(switch, "ada", 1.0, 2.5),
)


async def turn_off_my_own(me: Any) -> str:
    try:
        me.host.turn_off()
    finally:
        me.properties["date"] = str(me.now)
    return "survived"


@returns([(None, 0.0), {"date": "0.0"}, False], on=cyd)
async def see_it_go(me: Any) -> list[Any]:
    child = me.spawn(turn_off_my_own, host="ada")
    return [await tried(me, child.join()), child.properties, me.host_by_name("ada").is_on]


@returns(
    None,
    beside=[bob(receive, 2, gives=("NetworkFailureException", 2.0)), cyd(switch, "ada", 1.0)],
)
async def put_of_a_dead_host(me: Any) -> None:
    me.mailbox("box").put_detached("from a dead host", 1e6)
    await me.sleep_for(10)


# ---- by profiles --------------------------------------------------------------------------------


def profiled(kind: str, element: str, points: str) -> str:
    """Return the usual hosts and links, one of them with a profile of dates and values."""
    head, _, tail = PLAIN.rpartition("</zone>")
    return f"""{head}<trace id="profile" periodicity="-1">\n{points}\n</trace>
<trace_connect kind="{kind}" trace="profile" element="{element}"/></zone>{tail}"""


HOST_FAILS = profiled("HOST_AVAIL", "ada", "0.0 1\n2.0 0\n4.0 1")


async def compute(me: Any, flops: float) -> list[float]:
    before = me.host.available_speed
    await me.execute(flops)
    return [before, me.host.available_speed, me.now]


# 1 Gflop until 1 s, 1 until 3 s, the rest at a quarter.
scenario(
    "speed_profile",
    ada(compute, 2.5e9, gives=[1.0, 0.25, 3 + 0.5e9 / (0.25 * ADA)]),
    platform=profiled("SPEED", "ada", "0.0 1.0\n1.0 0.5\n3.0 0.25"),
)
# 1 MB until 1.125 s, then half as fast.
scenario(
    "bandwidth_profile",
    ada(send, 2e6, gives=(None, 1.125 + 2.0)),
    bob(receive, gives=("send", 1.125 + 2.0)),
    platform=profiled("BANDWIDTH", "ab", "0.0 1e6\n1.125 5e5"),
)
scenario(
    "latency_profile",
    ada(send, gives=(None, AB_LATENCY + 1e6 / AB)),
    bob(receive, gives=("send", AB_LATENCY + 1e6 / AB)),
    ada(send, 1e6, 3.0, name="later", gives=(None, 3 + 0.5 + 1e6 / AB)),
    bob(receive, name="second", start_time=2.0, gives=("later", 3 + 0.5 + 1e6 / AB)),
    platform=profiled("LATENCY", "ab", "2.0 0.5"),
)
scenario(
    "host_fails_and_restarts",
    ada(live_again, **PHOENIX, gives=4.0 + 3.0),
    bob(count_lives, gives=[(0.0, "phoenix"), (4.0, "phoenix")]),
    platform=HOST_FAILS,
    clock=7.0,
)


@returns(
    2.5,
    on=functools.partial(ada, restart=True),
    beside=[bob(sleep, 9, gives=9.0)],
    platform=profiled("HOST_AVAIL", "ada", "0 0\n2.5 1"),
)
async def start_on_a_host_that_is_off(me: Any) -> float:
    """Return when it started: the life that is last in the results."""
    start = float(me.now)
    await me.execute(1e9)
    return start


async def wait_for_the_dead(me: Any) -> Any:
    other = next(actor for actor in me.actors if actor.name == "sleep")
    return await tried(me, other.join())


async def watch(me: Any) -> list[Any]:
    seen = []
    for date in (1.0, 3.0, 5.0):
        await me.sleep_until(date)
        seen.append(me.host_by_name("ada").is_on)
    return seen


scenario(
    "users_of_a_failing_host",
    ada(sleep, 50),
    bob(wait_for_the_dead, gives=(None, 2.0)),
    bob(watch, gives=[True, False, True]),
    bob(
        attempt,
        lambda me: me.execute(5e9, host="ada"),
        gives=("HostFailureException", 2.0),
    ),
    ada(send, 9e6),
    bob(receive, gives=("NetworkFailureException", 2.0)),
    platform=HOST_FAILS,
    clock=5.0,
)
scenario(
    "failing_link",
    ada(send, 9e6, gives=("NetworkFailureException", 2.0)),
    bob(receive, gives=("NetworkFailureException", 2.0)),
    platform=profiled("LINK_AVAIL", "ab", "0.0 1\n2.0 0\n4.0 1"),
)
# A limit of simulated time changes nothing: the profile goes on after the end.
for until in (None, 22.0, 500.0):
    scenario(
        f"end_before_{until}_by_a_failing_host",
        ada(work, 1e11, restart=True),
        platform=profiled("HOST_AVAIL", "ada", "20 0\n25 1"),
        clock=20.0,
        until=until,
    )
