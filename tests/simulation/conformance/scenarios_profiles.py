"""Availability, speed, bandwidth and latency that change by themselves."""

from __future__ import annotations

from typing import Any

from conformance import Scenario
from worlds import AB, AB_LATENCY, ADA, PLAIN

from simplugin.errors import HostFailureException, NetworkFailureException
from simplugin.simulation import Placement


def profiled(*profiles: tuple[str, str, str]) -> str:
    """Return the usual hosts and links with profiles: (kind, host or link, dates and values)."""
    traces = "".join(
        f'<trace id="profile{i}" periodicity="-1">\n{text}\n</trace>\n'
        f'<trace_connect kind="{kind}" trace="profile{i}" element="{element}"/>\n'
        for i, (kind, element, text) in enumerate(profiles)
    )
    head, _, tail = PLAIN.rpartition("</zone>")
    return f"{head}{traces}</zone>{tail}"


async def work(me: Any, flops: float) -> list[float]:
    before = me.host.available_speed
    await me.execute(flops)
    return [before, me.host.available_speed, me.now]


async def send(me: Any, size: float, delay: float = 0.0) -> list[Any]:
    await me.sleep_for(delay)
    try:
        await me.mailbox("box").put("data", size)
    except NetworkFailureException:
        return ["failed", me.now]
    return ["sent", me.now]


async def receive(me: Any) -> list[Any]:
    try:
        return [await me.mailbox("box").get(), me.now]
    except NetworkFailureException:
        return ["failed", me.now]


async def count(me: Any) -> float:
    me.message_queue("lives").put_detached(me.now)
    await me.execute(5e9)
    return me.now


async def keep_books(me: Any) -> list[Any]:
    queue = me.message_queue("lives")
    # Somebody must have something to do: profiles alone do not keep a simulation going.
    await me.sleep_for(4.5)
    return [await queue.get(), await queue.get(), me.now, me.host_by_name("ada").is_on]


async def wake_up_late(me: Any) -> float:
    """Return when it started: the life that is last in the results."""
    start = float(me.now)
    await me.execute(1e9)
    return start


async def outlast(me: Any) -> float:
    await me.sleep_for(9)
    return float(me.now)


async def sleeper(me: Any) -> None:
    notes = me.message_queue("notes")
    me.on_exit(lambda failed: notes.put_detached((failed, me.now)))
    await me.sleep_for(50)


async def watch(me: Any) -> list[Any]:
    ada = me.host_by_name("ada")
    seen = []
    for date in (1.0, 3.0, 5.0):
        await me.sleep_until(date)
        seen.append(ada.is_on)
    return seen


async def delegate(me: Any) -> list[Any]:
    try:
        await me.execute(5e9, host="ada")
    except HostFailureException:
        return ["failed", me.now]
    return []


async def wait_for_the_dead(me: Any, name: str) -> list[Any]:
    other = next(actor for actor in me.actors if actor.name == name)
    return [await other.join(), me.now]


SPEED = "0.0 1.0\n1.0 0.5\n3.0 0.25"
BANDWIDTH = "0.0 1e6\n1.125 5e5"
LATENCY = "2.0 0.5"
ON_OFF = "0.0 1\n2.0 0\n4.0 1"

SCENARIOS = [
    Scenario(
        "restartable_on_a_host_that_is_off",
        profiled(("HOST_AVAIL", "ada", "0 0\n2.5 1")),
        (Placement("ada", wake_up_late, restart=True), Placement("bob", outlast)),
        {"wake_up_late": 2.5, "outlast": 9.0},
    ),
    Scenario(
        "speed_profile",
        profiled(("SPEED", "ada", SPEED)),
        (Placement("ada", work, (2.5e9,)),),
        # 1 Gflop until 1 s, 1 until 3 s, the rest at a quarter.
        {"work": [1.0, 0.25, 3 + 0.5e9 / (0.25 * ADA)]},
    ),
    Scenario(
        "bandwidth_profile",
        profiled(("BANDWIDTH", "ab", BANDWIDTH)),
        (Placement("ada", send, (2e6,)), Placement("bob", receive)),
        # 1 MB until 1.125 s, then half as fast.
        {"send": ["sent", 1.125 + 2.0], "receive": ["data", 1.125 + 2.0]},
    ),
    Scenario(
        "latency_profile",
        profiled(("LATENCY", "ab", LATENCY)),
        (
            Placement("ada", send, (1e6,)),
            Placement("bob", receive),
            Placement("ada", send, (1e6, 3.0), name="later"),
            Placement("bob", receive, name="second", start_time=2.0),
        ),
        {
            "send": ["sent", AB_LATENCY + 1e6 / AB],
            "receive": ["data", AB_LATENCY + 1e6 / AB],
            "later": ["sent", 3 + 0.5 + 1e6 / AB],
            "second": ["data", 3 + 0.5 + 1e6 / AB],
        },
    ),
    Scenario(
        "host_fails_and_restarts",
        profiled(("HOST_AVAIL", "ada", ON_OFF)),
        (Placement("ada", count, restart=True), Placement("bob", keep_books)),
        {"keep_books": [0.0, 4.0, 4.5, True], "count": 4.0 + 5.0},
        9.0,
    ),
    Scenario(
        "sleeper_on_a_failing_host",
        profiled(("HOST_AVAIL", "ada", ON_OFF)),
        (
            Placement("ada", sleeper),
            Placement("bob", wait_for_the_dead, ("sleeper",), name="mourner"),
            Placement("bob", watch),
        ),
        {"sleeper": None, "mourner": [None, 2.0], "watch": [True, False, True]},
        5.0,
    ),
    Scenario(
        "work_on_a_failing_host",
        profiled(("HOST_AVAIL", "ada", ON_OFF)),
        (Placement("bob", delegate),),
        {"delegate": ["failed", 2.0]},
    ),
    Scenario(
        "partner_on_a_failing_host",
        profiled(("HOST_AVAIL", "ada", ON_OFF)),
        (Placement("ada", send, (9e6,)), Placement("bob", receive)),
        {"send": None, "receive": ["failed", 2.0]},
    ),
    Scenario(
        "failing_link",
        profiled(("LINK_AVAIL", "ab", ON_OFF)),
        (Placement("ada", send, (9e6,)), Placement("bob", receive)),
        {"send": ["failed", 2.0], "receive": ["failed", 2.0]},
    ),
]
