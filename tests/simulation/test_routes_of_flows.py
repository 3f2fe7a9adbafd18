"""Every transfer takes SimGrid's own route, there and with cross-traffic back.

``--random-programs=250`` runs 2,000 platforms.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from random_platforms import Maker

from simplugin.core.errors import NoRouteError
from simplugin.simulation import SimGridOptions, simulate
from simplugin.simulation.resolve import ResolvedPlatform, ResolvedRoute, resolve

PAIRS = 6
SIZE = 1e15  # byte; none ends while one looks


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    count = 8 * metafunc.config.getoption("--random-programs")
    metafunc.parametrize("seed", range(count))


async def measure(me: Any, pairs: list[tuple[str, str]]) -> list[Any]:
    """Return of each pair the route, and the loads of links under a transfer, twice."""
    found: list[Any] = []
    for source, destination in pairs:
        try:
            route = me.route(source, destination)
            seen = [[link.name for link in route.links]]
            for _ in range(2):
                transfer = me.sendto_async(source, destination, SIZE)
                await me.sleep_for(1.5 * me.route(source, destination).latency + 1e-3)
                seen.append({link.name: link.load for link in me.links if link.load > 0})
                transfer.cancel()
                for link in route.links:
                    if link.sharing_policy != "WIFI":
                        link.latency += 1e-5  # the route is looked for again
            found.append(seen)
        except NoRouteError:
            found.append(None)
    return found


def weights(
    platform: ResolvedPlatform, there: ResolvedRoute, back: ResolvedRoute | None
) -> dict[str, float]:
    """Return what a transfer takes of each link for each byte/s, as SimGrid documents it."""
    links = {link.name: link for link in platform.links}
    hosts = {host.name: host for host in platform.hosts}
    taken: Counter[str] = Counter()
    ways = [(there.links, 1.0), (back.links if back else (), 0.05)]
    for names, share in ways:
        for name in names:
            if name in links and links[name].sharing_policy == "FATPIPE":
                taken[name] = max(taken[name], share)
            elif name not in links or links[name].sharing_policy != "WIFI":
                taken[name] += share
    ends = [(there.source, there.links[:1]), (there.destination, there.links[1:][-1:])]
    for host, names in ends:
        for name in names:
            if name in links and links[name].sharing_policy == "WIFI":
                rate = RATES[int(hosts[host].properties["wifi_rate"])]
                taken[name] += (1.05 if back else 1.0) / rate
    return dict(taken)


RATES = (6.75e6, 4.5e6, 2.25e6)


def test_links_of_transfers(seed: int) -> None:
    platform = Maker(seed).platform()
    draw = random.Random(seed)
    names = list(platform.host_names())
    pairs = [(draw.choice(names), draw.choice(names)) for _ in range(PAIRS)]
    pairs += [(destination, source) for source, destination in pairs]
    crossing = draw.random() < 0.7
    options = SimGridOptions(network_model="CM02", crosstraffic=crossing, tcp_gamma=0)
    resolved = resolve(platform, pairs)
    routes = {(route.source, route.destination): route for route in resolved.routes}
    found = simulate(platform, [(names[0], measure, pairs)], options=options).value_of("measure")
    bandwidths = {link.name: link.bandwidth for link in resolved.links}
    for pair, seen in zip(pairs, found, strict=True):
        there, back = routes.get(pair), routes.get(pair[::-1])
        # SimGrid takes a Wi-Fi link at the ends of a route only; a bypass may put one in between.
        if (
            there is None
            or (crossing and back is None)
            or any(is_wifi(resolved, name) for name in there.links[1:-1])
        ):
            assert seen is None
            continue
        assert seen is not None, pair
        assert tuple(seen[0]) == there.links
        taken = weights(resolved, there, back if crossing else None)
        for loads in seen[1:]:
            assert set(loads) == set(taken)
            if taken and set(taken) <= set(bandwidths):
                wired = [bandwidths[name] for name in there.links if not is_wifi(resolved, name)]
                full = [capacity(resolved, name) / weight for name, weight in taken.items()]
                rate = min([*wired, *full])
                expected = {name: rate * weight for name, weight in taken.items()}
                assert loads == pytest.approx(expected, rel=1e-9)


def is_wifi(platform: ResolvedPlatform, name: str) -> bool:
    return any(link.name == name and link.sharing_policy == "WIFI" for link in platform.links)


def capacity(platform: ResolvedPlatform, name: str) -> float:
    """Return the bandwidth of a link [byte/s], 1 of a Wi-Fi link: all of its time."""
    (link,) = [link for link in platform.links if link.name == name]
    return 1.0 if link.sharing_policy == "WIFI" else link.bandwidth
