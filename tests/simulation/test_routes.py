"""Hosts without a route, and hosts of Wi-Fi zones, on both back ends."""

from __future__ import annotations

import itertools
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from naming import raises_naming
from xml_zones import zone_xml

from simplugin.core.errors import NoRouteError, PlatformError, SimpluginError
from simplugin.platforms import Host, Link, Platform, Route, Zone
from simplugin.simulation import Placement, SimGridOptions, simulate
from simplugin.simulation.resolve import resolve

HOSTS = """
    <host id="ada" speed="1Gf"/><host id="bob" speed="1Gf"/><host id="cyd" speed="1Gf"/>
    <link id="wire" bandwidth="1MBps" latency="0s"/>
"""
ONE_ROUTE = '<route src="ada" dst="bob"><link_ctn id="wire"/></route>'
# The gateways hang together, the hosts of the second zone do not.
NESTED = """
    <zone id="left" routing="Full"><host id="ada" speed="1Gf"/></zone>
    <zone id="right" routing="Floyd">
      <host id="bob" speed="1Gf"/><host id="cyd" speed="1Gf"/><host id="eve" speed="1Gf"/>
      <link id="local" bandwidth="1MBps" latency="0s"/>
      <route src="cyd" dst="eve"><link_ctn id="local"/></route>
    </zone>
    <link id="wire" bandwidth="1MBps" latency="0s"/>
    <zoneRoute src="left" dst="right" gw_src="ada" gw_dst="bob"><link_ctn id="wire"/></zoneRoute>
"""
# Nobody said how to get from one zone to the other.
APART = """
    <zone id="left" routing="Full"><host id="ada" speed="1Gf"/></zone>
    <zone id="right" routing="Full"><host id="cyd" speed="1Gf"/></zone>
"""
PAIRS = [
    *((routing, HOSTS + ONE_ROUTE) for routing in ("Full", "Floyd", "Dijkstra", "DijkstraCache")),
    ("None", HOSTS),
    *((routing, body) for routing in ("Full", "Floyd") for body in (NESTED, APART)),
]


def write(directory: Path, routing: str, body: str) -> Path:
    file = directory / "platform.xml"
    file.write_text(zone_xml(body, routing))
    return file


async def refused(awaitable: Any) -> str:
    with pytest.raises(NoRouteError) as caught:
        await awaitable()
    return str(caught.value)


async def send(me: Any) -> list[str]:
    async def ask() -> None:
        me.route("ada", "cyd")

    box = me.mailbox("box")
    return [
        await refused(lambda: box.put("data", 1e6)),
        await refused(lambda: me.sendto("ada", "cyd", 1e6)),
        await refused(ask),
    ]


async def receive(me: Any) -> str:
    return await refused(lambda: me.mailbox("box").get())


@pytest.mark.parametrize(("routing", "body"), PAIRS)
def test_no_route_names_both_hosts(back_end: Any, routing: str, body: str, tmp_path: Path) -> None:
    actors = [Placement("ada", send), Placement("cyd", receive)]
    result = simulate(write(tmp_path, routing, body), actors, back_end=back_end)
    message = "there is no route from 'ada' to 'cyd'"
    assert [each.value for each in result.returned] == [[message] * 3, message]


async def share_work(me: Any) -> list[str]:
    sizes = [[0.0, 1e6], [0.0, 0.0]]

    async def start() -> None:
        await me.parallel_execute(["ada", "cyd"], None, sizes)

    await me.parallel_execute(["cyd", "ada"], [1e9, 0.0], None)
    return [await refused(start), me.now]


def test_transfers_of_the_model_constant_need_no_route(back_end: Any, tmp_path: Path) -> None:
    async def sender(me: Any) -> None:
        await me.mailbox("box").put(None, 1e9)
        await me.sendto("ada", "cyd", 1e9)

    async def receiver(me: Any) -> float:
        await me.mailbox("box").get()
        return float(me.now)

    hosts = "".join(f'<host id="{name}" speed="1Gf"/>' for name in ("ada", "cyd"))
    result = simulate(
        write(tmp_path, "None", hosts),
        [("ada", sender), ("cyd", receiver)],
        options=SimGridOptions(network_model="Constant"),
        back_end=back_end,
    )
    assert (result.value_of("receiver"), result.clock) == (1.0, 2.0)


def test_no_route_for_a_parallel_task(back_end: Any, tmp_path: Path) -> None:
    result = simulate(
        write(tmp_path, "Full", HOSTS + ONE_ROUTE),
        [Placement("bob", share_work)],
        options=SimGridOptions(host_model="ptask_L07"),
        back_end=back_end,
    )
    assert result.returned[0].value == ["there is no route from 'ada' to 'cyd'", 1.0]


WIFI = """
    <prop id="access_point" value="ap"/>
    <host id="ada" speed="1Gf"><prop id="wifi_rate" value="RATE"/></host>
    <host id="bob" speed="1Gf"/>
    <link id="air" sharing_policy="WIFI" bandwidth="4MBps,2MBps" latency="0s"/>
    <router id="ap"/>
"""


async def transmit(me: Any) -> list[Any]:
    box, seen = me.mailbox("box"), []
    seen.append(await refused(lambda: box.put("data", 1e6)))
    with pytest.raises(ValueError, match=r"'air'.*'bob'"):
        me.link_by_name("air").set_host_wifi_rate("bob", 2)
    me.link_by_name("air").set_host_wifi_rate("bob", 1)
    await box.put("data", 1e6)
    return [*seen, me.now]


async def hear(me: Any) -> float:
    await refused(lambda: me.mailbox("box").get())
    await me.mailbox("box").get()
    return float(me.now)


def test_wifi_rates(back_end: Any, tmp_path: Path) -> None:
    options = SimGridOptions.linear()
    actors = [Placement("ada", transmit), Placement("bob", hear)]
    file = write(tmp_path, "Wifi", WIFI.replace("RATE", "0"))
    if back_end == "threads":
        with raises_naming(SimpluginError, "Link.set_host_wifi_rate"):
            simulate(file, actors, options=options, back_end=back_end)
        return
    result = simulate(file, actors, options=options)
    (message, date), received = (each.value for each in result.returned)
    assert "host 'bob' has no rate on the Wi-Fi link 'air'" in message
    # Each byte takes the air twice: up at 4 MB/s, down at 2 MB/s.
    assert date == received == pytest.approx(1e6 / 4e6 + 1e6 / 2e6, rel=1e-9)
    with raises_naming(PlatformError, "'air'"):
        simulate(write(tmp_path, "Wifi", WIFI.replace("RATE", "2")), actors)


@pytest.mark.parametrize("routing", ["Dijkstra", "DijkstraCache"])
@settings(max_examples=12)
@given(
    edges=st.sets(
        st.tuples(st.integers(0, 4), st.integers(0, 4)).filter(lambda pair: pair[0] != pair[1]),
        min_size=1,
        max_size=8,
    )
)
@example(edges={(0, 2), (1, 2), (2, 3), (3, 1)})
def test_one_way_graphs_have_the_routes_of_floyd(
    back_end: Any, routing: str, edges: set[tuple[int, int]]
) -> None:
    async def ask(me: Any) -> dict[Any, int]:
        found: dict[Any, int] = {}
        for pair in itertools.permutations(names, 2):
            try:
                found[pair] = len(me.route(*pair).links)
            except NoRouteError:
                found[pair] = 0
        return found

    names = [f"h{number}" for number in range(5)]
    links = [Link(f"{i}-{j}", 1e8, 1e-3) for i, j in sorted(edges)]
    routes = [Route(names[i], names[j], [f"{i}-{j}"], symmetrical=False) for i, j in sorted(edges)]
    parts = [*(Host(name, 1e9) for name in names), *links]
    found, expected = (
        simulate(
            Platform(Zone("z", kind, parts, routes)),
            [("h0", ask)],
            back_end=back_end,
            wall_limit=60.0,
        ).value_of("ask")
        for kind in (routing, "Floyd")
    )
    # Of ways of as many links each takes its own.
    assert found == expected


# Routes as SimGrid finds them by itself.
_ALONE = """
import itertools, json, sys
sys.path.insert(0, sys.argv[1])
import simgrid
engine = simgrid.Engine(["alone", "--log=root.thres:critical"])
engine.load_platform(sys.argv[2])
engine.netzone_root.seal()
hosts = sorted(engine.all_hosts, key=lambda host: host.name)
routes = ([link.name for link in a.route_to(b)[0]] for a, b in itertools.permutations(hosts, 2))
print(json.dumps(list(routes)))
"""


@pytest.mark.parametrize("routing", ["Dijkstra", "DijkstraCache"])
def test_of_equal_ways_the_one_of_simgrid_is_taken(
    routing: str, tmp_path: Path, simgrid_prefix: Path
) -> None:
    draw = random.Random(3)
    hosts = [f"h{number:02}" for number in range(30)]
    edges = [(draw.randrange(number), number) for number in range(1, 30)]
    edges += [tuple(sorted(draw.sample(range(30), 2))) for _ in range(40)]
    lines = [f'<host id="{host}" speed="1Gf"/>' for host in hosts]
    pairs = dict.fromkeys(edges)
    lines += [f'<link id="{a}-{b}" bandwidth="1GBps" latency="1us"/>' for a, b in pairs]
    lines += [
        f'<route src="{hosts[a]}" dst="{hosts[b]}"><link_ctn id="{a}-{b}"/></route>'
        for a, b in pairs
    ]
    file = write(tmp_path, routing, "\n".join(lines))
    words = [sys.executable, "-c", _ALONE, simgrid_prefix / "python", file]
    told = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    every = list(itertools.permutations(hosts, 2))
    found = [list(route.links) for route in resolve(file, every).routes]
    assert found == json.loads(told.splitlines()[-1])
