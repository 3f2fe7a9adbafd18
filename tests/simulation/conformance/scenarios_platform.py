"""Hosts and links, as actors see and change them; energy."""

from __future__ import annotations

from typing import Any

from conformance import ada, bob, cyd, errors_of, returns, scenario, sleep, tried, work
from worlds import AB, AB_LATENCY, ADA, BC_LATENCY, BOB, CYD, CYD_CORES, ab
from xml_zones import zone_xml

IDLE, FULL, OFF = 95.0, 200.0, 10.0  # W
LINK_IDLE, LINK_FULL = 10.0, 50.0  # W
HOST_WATTS = """<prop id="wattage_per_state" value="95.0:95.0:200.0"/>
      <prop id="wattage_off" value="10"/>"""
WATTS = zone_xml(f"""
    <host id="ada" speed="1Gf">{HOST_WATTS}</host>
    <host id="bob" speed="1Gf">{HOST_WATTS}</host>
    <link id="ab" bandwidth="1MBps" latency="125ms">
      <prop id="wattage_range" value="10.0:50.0"/><prop id="wattage_off" value="1"/>
    </link>
    <route src="ada" dst="bob"><link_ctn id="ab"/></route>
""")

# ---- what there is ------------------------------------------------------------------------------


@returns(
    [
        ["ada", "bob", "cyd"],
        [ADA, 1, 0.0, 1.0, True, {"colour": "red"}],
        [CYD, CYD_CORES, 1e9, 0, 1, {}],
    ],
    clock=0.5,
)
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


@returns([True, ["ab", AB, AB_LATENCY, 0.0, True], ["SHARED", {"cable": "blue"}]])
async def look_at_links(me: Any) -> list[Any]:
    link = me.link_by_name("ab")
    return [
        {"ab", "ac", "bc1", "bc2"} <= {each.name for each in me.links},
        [link.name, link.bandwidth, link.latency, link.load, link.is_on],
        [link.sharing_policy, link.properties],
    ]


@returns([0.5, 1.0, "ValueError"], clock=1.0)
async def other_load(me: Any) -> list[Any]:
    execution = me.exec_async(0.75 * ADA)
    await me.sleep_for(0.5)
    me.host.available_speed = 0.5
    await execution
    wrong = errors_of(lambda: setattr(me.host, "available_speed", -0.5))
    return [me.host.available_speed, me.now, *wrong]


@returns([["bc1", "bc2"], BC_LATENCY, ["bc2", "bc1"], BC_LATENCY, 0.0])
async def find_routes(me: Any) -> list[Any]:
    seen: list[Any] = []
    for route in (me.route("bob", "cyd"), me.route("cyd", me.host_by_name("bob"))):
        seen += [[link.name for link in route.links], route.latency]
    return [*seen, me.now]


@returns([["SimpluginError"] * 6, 0.0])
async def look_for_nothing(me: Any) -> list[Any]:
    wrong = errors_of(
        lambda: me.host_by_name("dora"),
        lambda: me.link_by_name("no link"),
        lambda: me.route("ada", "dora"),
        lambda: me.exec_async(1e9, host="dora"),
        lambda: me.parallel_async(["ada", "bob"], [1, 1], [[0, 0], [0, 0]]),
        lambda: me.host.energy,
    )
    return [wrong, me.now]


@returns([["ValueError"] * 11, ["TypeError"] * 9, 0.0])
async def bad_arguments(me: Any) -> list[Any]:
    link = me.link_by_name("ab")
    values = errors_of(
        lambda: me.exec_async(-1),
        lambda: me.exec_async(float("nan")),
        lambda: me.exec_async(1, priority=0),
        lambda: me.mailbox("box").put_detached(None, -5),
        lambda: me.wait_any([]),
        lambda: me.semaphore(-1),
        lambda: me.barrier(0),
        lambda: me.sleep_for(float("inf")),
        lambda: me.sleep_for(-1),
        lambda: setattr(link, "bandwidth", -1),
        lambda: setattr(link, "latency", -1),
    )
    types = errors_of(
        lambda: me.mailbox(3),
        lambda: me.wait_all(["no activity"]),
        lambda: me.execute("1"),
        lambda: me.execute(None),
        # The text of other objects may hold their address, which is another one in each run.
        lambda: me.exec_async(1, label=object()),
        lambda: me.barrier(1.5),
        lambda: me.spawn(sleep, name=5),
        lambda: setattr(link, "bandwidth", None),
        lambda: setattr(link, "latency", None),
    )
    return [values, types, me.now]


# ---- what changes -------------------------------------------------------------------------------


@returns([BOB, 1e9, 1e9, 1, 1 + (4e9 - BOB) / 1e9, ["ValueError"]], on=bob)
async def slow_down(me: Any) -> list[Any]:
    task = me.exec_async(4e9)
    await me.sleep_for(1)
    speeds = [me.host.speed, me.host.pstate_speed(1)]
    me.host.pstate = 1
    await task
    bad = errors_of(lambda: setattr(me.host, "pstate", 7))
    return [*speeds, me.host.speed, me.host.pstate, me.now, bad]


async def narrow(me: Any) -> list[float]:
    link = me.link_by_name("ab")
    await me.sleep_for(AB_LATENCY + 1)
    link.bandwidth = AB / 2
    link.latency = 0.5
    return [link.bandwidth, link.latency]


async def receive_twice(me: Any) -> None:
    await me.mailbox("box").get()
    await me.mailbox("box").get()


# The first transfer has paid its latency; the second pays the new one.
@returns(
    [(None, ab(1e6) + 2), (None, ab(1e6) + 2 + 0.5 + 4)],
    beside=[bob(receive_twice), cyd(narrow, gives=[AB / 2, 0.5])],
)
async def change_a_link(me: Any) -> list[Any]:
    return [await tried(me, me.mailbox("box").put("data", 2e6)) for _ in range(2)]


# ---- energy -------------------------------------------------------------------------------------


@returns(
    [0.0, 2 * FULL, 2 * FULL + 3 * IDLE],
    platform=WATTS,
    energy=[2 * FULL + 3 * IDLE, 5 * IDLE],
    clock=5.0,
)
async def burn(me: Any) -> list[float]:
    seen = [me.host.energy]
    await me.execute(2e9)
    seen.append(me.host.energy)
    await me.sleep_for(3)
    return [*seen, me.host.energy]


@returns(
    [IDLE + 4 * OFF, IDLE + 4 * OFF + FULL],
    platform=WATTS,
    energy=[6 * IDLE, IDLE + 4 * OFF + FULL],
)
async def switch(me: Any) -> list[float]:
    bob = me.host_by_name("bob")
    await me.sleep_for(1)
    bob.turn_off()
    await me.sleep_for(4)
    asleep = bob.energy
    bob.turn_on()
    await me.execute(1e9, host=bob)
    return [asleep, bob.energy]


# SimGrid counts the latency as busy.
@returns(
    [LINK_IDLE, LINK_IDLE + LINK_FULL * (AB_LATENCY + 2), 1 + ab(2e6)],
    platform=WATTS,
    energy=[(1 + ab(2e6)) * IDLE] * 2,
)
async def send_and_measure(me: Any) -> list[float]:
    link = me.link_by_name("ab")
    await me.sleep_for(1)
    before = link.energy
    await me.sendto("ada", "bob", 2e6)
    return [before, link.energy, me.now]


# A limit of simulated time changes nothing, neither at the end nor after it.
for until in (None, 20.0, 5000.0):
    scenario(
        f"energy_before_{until}",
        ada(work, 20e9, gives=20.0),
        platform=WATTS,
        energy=[20 * FULL, 20 * IDLE],
        clock=20.0,
        until=until,
    )
