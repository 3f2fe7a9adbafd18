"""Hosts and links, as actors see and change them; energy."""

from __future__ import annotations

from typing import Any

from conformance import Scenario
from worlds import (
    AB,
    AB_LATENCY,
    ADA,
    BC_LATENCY,
    BOB,
    CYD,
    CYD_CORES,
    PLAIN,
    ab,
    platform,
)

from simplugin.errors import SimpluginError
from simplugin.simulation import Placement

IDLE, FULL, OFF = 95.0, 200.0, 10.0  # W
LINK_IDLE, LINK_FULL = 10.0, 50.0  # W
WATTS = platform("""
    <host id="ada" speed="1Gf">
      <prop id="wattage_per_state" value="95.0:95.0:200.0"/><prop id="wattage_off" value="10"/>
    </host>
    <host id="bob" speed="1Gf">
      <prop id="wattage_per_state" value="95.0:95.0:200.0"/><prop id="wattage_off" value="10"/>
    </host>
    <link id="ab" bandwidth="1MBps" latency="125ms">
      <prop id="wattage_range" value="10.0:50.0"/><prop id="wattage_off" value="1"/>
    </link>
    <route src="ada" dst="bob"><link_ctn id="ab"/></route>
""")


async def look_at_hosts(me: Any) -> list[Any]:
    cyd = me.host_by_name("cyd")
    me.exec_async(1e9, host="cyd")
    await me.sleep_for(0.5)
    ada = me.host
    return [
        [host.name for host in me.hosts],
        [ada.speed, ada.cores, ada.load, ada.available_speed, ada.is_on, ada.properties],
        [cyd.speed, cyd.cores, cyd.load, cyd.pstate, cyd.pstate_count, cyd.properties],
    ]


async def look_at_links(me: Any) -> list[Any]:
    link = me.link_by_name("ab")
    names = {"ab", "ac", "bc1", "bc2"}
    return [
        sorted(names & {each.name for each in me.links}),
        [link.name, link.bandwidth, link.latency, link.load, link.is_on],
        [link.sharing_policy, link.properties],
    ]


async def find_routes(me: Any) -> list[Any]:
    there = me.route("bob", "cyd")
    back = me.route("cyd", me.host_by_name("bob"))
    return [
        [link.name for link in there.links],
        there.latency,
        [link.name for link in back.links],
        back.latency,
        me.now,
    ]


async def look_for_nothing(me: Any) -> list[Any]:
    wrong = []
    for find in (
        lambda: me.host_by_name("dora"),
        lambda: me.link_by_name("no link"),
        lambda: me.route("ada", "dora"),
        lambda: me.exec_async(1e9, host="dora"),
        lambda: me.parallel_async(["ada", "bob"], [1, 1], [[0, 0], [0, 0]]),
        lambda: me.host.energy,
    ):
        try:
            find()
        except SimpluginError as error:
            wrong.append(type(error).__name__)
    return [wrong, me.now]


async def bad_arguments(me: Any) -> list[Any]:
    wrong = []
    for call in (
        lambda: me.exec_async(-1),
        lambda: me.exec_async(float("nan")),
        lambda: me.mailbox("box").put_detached(None, -5),
        lambda: me.mailbox(3),
        lambda: me.wait_any([]),
        lambda: me.wait_all(["no activity"]),
        lambda: me.semaphore(-1),
        lambda: me.barrier(0),
        lambda: me.sleep_for(float("inf")),
        lambda: me.exec_async(1, priority=0),
    ):
        try:
            call()
        except (ValueError, TypeError) as error:
            wrong.append(type(error).__name__)
    return [wrong, me.now]


async def slow_down(me: Any) -> list[Any]:
    work = me.exec_async(4e9)
    await me.sleep_for(1)
    speeds = [me.host.speed, me.host.pstate_speed(1)]
    me.host.pstate = 1
    await work
    seen = [*speeds, me.host.speed, me.host.pstate, me.now]
    try:
        me.host.pstate = 7
    except ValueError:
        seen.append("no such state")
    return seen


async def send(me: Any) -> float:
    await me.mailbox("box").put("data", 2e6)
    return me.now


async def receive(me: Any) -> float:
    await me.mailbox("box").get()
    return me.now


async def narrow(me: Any) -> list[float]:
    link = me.link_by_name("ab")
    await me.sleep_for(AB_LATENCY + 1)
    link.bandwidth = AB / 2
    link.latency = 0.5
    return [link.bandwidth, link.latency]


async def send_again(me: Any) -> list[float]:
    await me.mailbox("box").put("data", 2e6)
    first = me.now
    await me.mailbox("box").put("data", 2e6)
    return [first, me.now]


async def receive_twice(me: Any) -> None:
    await me.mailbox("box").get()
    await me.mailbox("box").get()


async def burn(me: Any) -> list[float]:
    seen = [me.host.energy]
    await me.execute(2e9)
    seen.append(me.host.energy)
    await me.sleep_for(3)
    return [*seen, me.host.energy]


async def switch(me: Any) -> list[float]:
    bob = me.host_by_name("bob")
    await me.sleep_for(1)
    bob.turn_off()
    await me.sleep_for(4)
    asleep = bob.energy
    bob.turn_on()
    await me.execute(1e9, host=bob)
    return [asleep, bob.energy]


async def send_and_measure(me: Any) -> list[float]:
    link = me.link_by_name("ab")
    await me.sleep_for(1)
    before = link.energy
    await me.sendto("ada", "bob", 2e6)
    return [before, link.energy, me.now]


def alone(function: Any, expected: Any, xml: str = PLAIN, **more: Any) -> Scenario:
    """Return a scenario of one actor on ada."""
    name = function.__name__
    return Scenario(name, xml, (Placement("ada", function),), {name: expected}, **more)


SCENARIOS = [
    alone(
        look_at_hosts,
        [
            ["ada", "bob", "cyd"],
            [ADA, 1, 0.0, 1.0, True, {"colour": "red"}],
            [CYD, CYD_CORES, 1e9, 0, 1, {}],
        ],
        clock=0.5,
    ),
    alone(
        look_at_links,
        [
            ["ab", "ac", "bc1", "bc2"],
            ["ab", AB, AB_LATENCY, 0.0, True],
            ["SHARED", {"cable": "blue"}],
        ],
    ),
    alone(find_routes, [["bc1", "bc2"], BC_LATENCY, ["bc2", "bc1"], BC_LATENCY, 0.0]),
    alone(look_for_nothing, [["SimpluginError"] * 6, 0.0]),
    alone(
        bad_arguments,
        [
            [
                *["ValueError", "ValueError", "ValueError", "TypeError", "ValueError"],
                *["TypeError", "ValueError", "ValueError", "ValueError", "ValueError"],
            ],
            0.0,
        ],
    ),
    Scenario(
        "slow_down",
        PLAIN,
        (Placement("bob", slow_down),),
        {"slow_down": [BOB, 1e9, 1e9, 1, 1 + (4e9 - BOB) / 1e9, "no such state"]},
    ),
    Scenario(
        "change_a_link",
        PLAIN,
        (Placement("ada", send_again), Placement("bob", receive_twice), Placement("cyd", narrow)),
        # The first transfer has paid its latency; the second pays the new one.
        {
            "send_again": [ab(1e6) + 2, ab(1e6) + 2 + 0.5 + 4],
            "receive_twice": None,
            "narrow": [AB / 2, 0.5],
        },
    ),
    alone(
        burn,
        [0.0, 2 * FULL, 2 * FULL + 3 * IDLE],
        WATTS,
        energy=True,
        clock=5.0,
    ),
    alone(switch, [IDLE + 4 * OFF, IDLE + 4 * OFF + FULL], WATTS, energy=True),
    alone(
        send_and_measure,
        [
            LINK_IDLE,
            # SimGrid counts the latency as busy.
            LINK_IDLE * 1 + LINK_FULL * (AB_LATENCY + 2),
            1 + ab(2e6),
        ],
        WATTS,
        energy=True,
    ),
]
