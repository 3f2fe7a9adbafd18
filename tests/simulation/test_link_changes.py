"""Links that change under transfers, whose shares follow from the latencies of their routes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from naming import raises_naming

from simplugin.core.errors import SimulationError
from simplugin.platforms import Host, Link, Platform, Profile, ProfileUse, Route, Router, Zone
from simplugin.simulation import SimGridOptions, simulate

SIZE = 1e8  # byte
BANDWIDTH = 1e8  # byte/s
CHANGE = 0.5  # s
UPDATES: dict[str, dict[str, Any]] = {
    "incremental": {},
    "Lazy": {"incremental": False},
    "Full": {"network_optim": "Full"},
}
ROUTES = {"a": ("one", "shared"), "b": ("other", "shared")}
NAMES = ("one", "other", "shared", "back")
latencies = st.tuples(*[st.sampled_from([0.0, 1e-4, 2.1e-3, 0.05])] * len(NAMES))


def platform(latency: dict[str, float], later: dict[str, float] | None = None) -> Platform:
    """Return two hosts that share the last link to a third one, and the way back.

    Latencies follow profiles if there are later ones.
    """
    profiles: list[Profile | ProfileUse] = []
    for name, value in (later or {}).items():
        profiles.append(Profile(f"of {name}", f"{CHANGE} {value}"))
        profiles.append(ProfileUse(f"of {name}", name, "LATENCY"))
    links = [
        Link(name, BANDWIDTH if name == "shared" else 100 * BANDWIDTH, latency[name])
        for name in NAMES
    ]
    hosts = [Host(name, 1e9) for name in ("a", "b", "end")]
    routes = [Route(host, "end", way, symmetrical=False) for host, way in ROUTES.items()]
    routes += [Route("end", host, ["back"], symmetrical=False) for host in ROUTES]
    return Platform(Zone("z", "Full", [*hosts, *links, *profiles], routes))


async def send(me: Any, changes: dict[str, dict[str, float]]) -> list[float]:
    """Start both transfers, change links, and return when the transfers ended."""
    transfers = [me.sendto_async(host, "end", SIZE) for host in ROUTES]
    await me.sleep_for(CHANGE)
    for name, change in changes.items():
        for what, value in change.items():
            setattr(me.link_by_name(name), what, value)
    for transfer in transfers:
        await transfer
    return [transfer.finish_time for transfer in transfers]


def weight(host: str, latency: dict[str, float]) -> float:
    return sum(latency[name] for name in ROUTES[host]) or 1.0


def ends(before: dict[str, float], after: dict[str, float]) -> list[float]:
    """Return when the transfers end, by the shares of the link in between [s]."""
    left = dict.fromkeys(ROUTES, SIZE)
    starts = {host: sum(before[name] for name in ROUTES[host]) for host in ROUTES}
    found: dict[str, float] = {}
    date = 0.0
    while len(found) < len(ROUTES):
        latency = before if date < CHANGE else after
        running = {
            host: 1 / weight(host, latency)
            for host in ROUTES
            if host not in found and starts[host] <= date
        }
        rates = {host: BANDWIDTH * part / sum(running.values()) for host, part in running.items()}
        events = [date + left[host] / rate for host, rate in rates.items()]
        following = min([*events, *(each for each in (CHANGE, *starts.values()) if each > date)])
        for host, rate in rates.items():
            left[host] -= rate * (following - date)
            if left[host] < 1e-6 * SIZE * 1e-6:
                found[host] = following
        date = following
    return [found[host] for host in ROUTES]


@pytest.mark.parametrize("update", UPDATES)
@settings(max_examples=15)
@given(before=latencies, after=latencies, profiles=st.booleans())
@example(before=(0.002, 1e-4, 1e-4, 0.05), after=(0.0, 0.0, 0.0, 0.0), profiles=False)
@example(before=(0.002, 1e-4, 1e-4, 0.05), after=(0.0, 0.0, 0.0, 0.0), profiles=True)
@example(before=(0.05, 2.1e-3, 1e-4, 0.05), after=(0.0, 1e-4, 0.0, 0.0), profiles=False)
def test_shares_follow_the_latencies(
    back_end: Any,
    update: str,
    before: tuple[float, ...],
    after: tuple[float, ...],
    profiles: bool,
) -> None:
    first, second = (dict(zip(NAMES, each, strict=True)) for each in (before, after))
    options = SimGridOptions(network_model="CM02", tcp_gamma=0, **UPDATES[update])
    changes = {} if profiles else {name: {"latency": value} for name, value in second.items()}
    world = platform(first, second if profiles else None)
    result = simulate(world, [("end", send, changes)], options=options, back_end=back_end)
    assert result.value_of("send") == pytest.approx(ends(first, second), rel=1e-6)


@pytest.mark.parametrize("model", ["LV08", "CM02", "SMPI", "raw"])
@settings(max_examples=15)
@given(
    update=st.sampled_from(sorted(UPDATES)),
    values=st.lists(
        st.tuples(st.sampled_from([1e-3, 1.0, 1e6, 1e12]), st.sampled_from([0.0, 1e-9, 1.0, 1e6])),
        min_size=1,
        max_size=4,
    ),
)
def test_the_way_back_changes_no_weight(model: str, update: str, values: list[Any]) -> None:
    async def play(me: Any) -> float:
        transfer = me.sendto_async("a", "end", SIZE)
        for bandwidth, latency in values:
            await me.sleep_for(0.1)
            back = me.link_by_name("back")
            back.bandwidth, back.latency = bandwidth, latency
        back.bandwidth = 100 * BANDWIDTH
        await transfer
        return float(transfer.finish_time)

    options = SimGridOptions(network_model=model, crosstraffic=True, **UPDATES[update])
    result = simulate(platform(dict.fromkeys(NAMES, 1e-3)), [("end", play)], options=options)
    # What crosses a slow way back is slow only as long as it is.
    least = simulate(
        platform(dict.fromkeys(NAMES, 1e-3)), [("end", send, {})], options=options
    ).value_of("send")
    assert min(least) / 2 < result.value_of("play") <= min(least) + 0.1 * (len(values) + 1)


WIFI = Platform(
    Zone(
        "air",
        "Wifi",
        [
            Host("a", 1e9, properties={"wifi_rate": "0"}),
            Host("b", 1e9, properties={"wifi_rate": "0"}),
            Router("ap"),
            Link("cell", 1e6, 0.0, "WIFI"),
        ],
        properties={"access_point": "ap"},
    )
)


@pytest.mark.parametrize("update", UPDATES)
def test_wifi_is_not_shared_by_simgrid(back_end: Any, update: str) -> None:
    async def play(me: Any) -> float:
        await me.sendto("a", "b", 1e6)
        return float(me.now)

    options = replace(SimGridOptions.linear(), **UPDATES[update])
    if update == "incremental":
        result = simulate(WIFI, [("a", play)], options=options, back_end=back_end)
        assert result.value_of("play") == pytest.approx(2.0, rel=1e-9)
    else:
        with raises_naming(SimulationError, "'cell'"):
            simulate(WIFI, [("a", play)], options=options, back_end=back_end)
