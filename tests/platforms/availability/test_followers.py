"""Platforms with profiles drawn at random: who follows them, and what SimGrid does then."""

import contextlib
import math
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from naming import raises_naming

from simplugin import Cluster, Link, Placement, Platform, SimGridOptions, Zone, simulate
from simplugin.core.errors import PlatformError
from simplugin.formats.platform_xml import read_platform
from simplugin.platforms import (
    Cabinet,
    Host,
    LinkUse,
    Peer,
    Profile,
    ProfileUse,
    Route,
    Router,
    ZoneRoute,
)
from simplugin.platforms.availability.followers import Availability, with_availability
from simplugin.platforms.availability.processes import Churn, Levels, Outages
from simplugin.platforms.host_choices import HostChoice
from simplugin.platforms.laws import Law
from simplugin.platforms.peers import PeerSite
from simplugin.platforms.profiles import timeline
from simplugin.platforms.sites import MultiCluster

SPEED = 1e9
BANDWIDTH = 1000.0


def profiles(platform: Platform) -> dict[tuple[str, str], list[tuple[float, float]]]:
    """The dated values by follower and kind, read from the text again."""
    text = {part.id: part.text for part, _ in platform.walk() if isinstance(part, Profile)}
    return {
        (use.element, use.kind): timeline(text[use.profile], math.inf)
        for use, _ in platform.walk()
        if isinstance(use, ProfileUse)
    }


# Platforms


def lab(sharing_policy: str = "SHARED") -> Platform:
    """A cluster and two hosts of their own, and a link between each two."""
    uses = [LinkUse("cable", "UP" if sharing_policy == "SPLITDUPLEX" else "NONE")]
    cable = Link("cable", BANDWIDTH, 0.0, sharing_policy)
    parts = Host("ada", SPEED), Host("bob", SPEED), Router("door"), cable
    ways = [Route(*ends, uses) for ends in combinations(("ada", "bob", "door"), 2)]
    room = Zone("room", "Full", parts, ways)
    rack = Cluster("rack", "1-3", SPEED, 1e6, 0.0, prefix="rack-")
    route = ZoneRoute("room", "rack", "door", "rack-rack_router", ["uplink"])
    return Platform(Zone("lab", "Full", (room, rack, Link("uplink", 1e6, 1e-3)), (route,)))


OUTAGES = Outages(Law("exponential", (40.0,)), Law("exponential", (10.0,)))
LOAD = Levels(Law("uniform", (0.1, 1.0)), Law("exponential", (2.0,)))


def followers(**given: Any) -> set[tuple[str, str]]:
    return set(profiles(with_availability(lab(), 1000.0, 1, Availability(**given))))


def test_whom_names_stand_for():
    rack = {(f"rack-{number}", "HOST_AVAIL") for number in (1, 2, 3)}
    room = {("ada", "HOST_AVAIL"), ("bob", "HOST_AVAIL")}
    assert followers(states=OUTAGES) == rack | room
    assert followers(states=OUTAGES, hosts=["room", "rack-2"]) == room | {("rack-2", "HOST_AVAIL")}
    assert followers(states=OUTAGES, spared=["room", "rack-2"]) == rack - {("rack-2", "HOST_AVAIL")}
    assert followers(states=OUTAGES, spared="room,rack:1") == rack - {("rack-1", "HOST_AVAIL")}
    cable, both = {("cable", "BANDWIDTH")}, {("cable", "BANDWIDTH"), ("uplink", "BANDWIDTH")}
    assert followers(bandwidths=LOAD) == both
    assert followers(bandwidths=LOAD, links="room") == cable
    assert followers(bandwidths=LOAD, links="c?ble, up*") == both
    assert followers(bandwidths=LOAD, spared="up*") == cable
    assert followers(bandwidths=LOAD, spared="uplink") == cable
    growth = Levels(Law("uniform", (1.0, 9.0)), Law("constant", (5.0,)), math.inf)
    # The cable has no latency that could grow.
    assert followers(latencies=growth) == {("uplink", "LATENCY")}


def test_hosts_are_chosen_as_workers_are():
    box = Zone("shelf", "Cluster", (Cabinet("box", "0-1", SPEED, 1e6, 0.0, prefix="b"),))
    two = Zone("two", "None", (Host("2", SPEED),))
    platform = Platform(Zone("all of it", "Full", (*lab().elements, box, two)))
    alike = {each: each for each in ("all", "3", "rack:2", "box", "*a*:2", "rack-?,ada", "ada,2")}
    # In a list a name is first of all that of a host.
    for choice, workers in {**alike, ("2",): "[2]", ("bob", "1"): "bob,1"}.items():
        found = profiles(
            with_availability(platform, 1e3, 1, Availability(hosts=choice, states=OUTAGES))
        )
        assert [host for host, _ in found] == list(HostChoice(platform).chosen(workers))


GRID5000 = read_platform(Path(__file__).parents[3] / "platforms_xml/grid5000.xml")


def test_links_that_limit_nothing_follow_only_by_name():
    """Of Grid'5000, and what generators put between parts that are joined directly."""
    names = {link.id for link, _ in GRID5000.walk() if isinstance(link, Link)}
    real = {name for name in names if not name.startswith(("patch.", "fabric."))}
    site = MultiCluster("site", (("a", 2, SPEED), ("b", 2, SPEED)), one_switch=False)
    peers = PeerSite.numbered(np.full(2, SPEED), np.full(2, 1e6))
    for platform, links in (
        (GRID5000, real),
        (peers.platform(), {"peer-1-link", "peer-2-link"}),
        (Platform(Zone("z", "Full", (Link("fat", 1.0, 1e-3, "FATPIPE"),))), {"fat"}),
    ):
        everything = with_availability(platform, 1e3, 1, Availability(link_states=OUTAGES))
        ends = {link.removesuffix("_UP").removesuffix("_DOWN") for link, _ in profiles(everything)}
        assert ends == links
    with pytest.raises(PlatformError):
        with_availability(site.platform(), 1e3, 1, Availability(link_states=OUTAGES))
    for links in ("nancy", "*nancy*"):
        found = profiles(
            with_availability(GRID5000, 1e3, 1, Availability(links=links, link_states=OUTAGES))
        )
        assert found
        assert not [link for link, _ in found if link.startswith("patch.")]
    with raises_naming(PlatformError, "'patch.*'"):
        with_availability(GRID5000, 1e3, 1, Availability(links="patch.*", bandwidths=LOAD))
    named = with_availability(GRID5000, 1e3, 1, Availability(links="patch.nancy", bandwidths=LOAD))
    assert set(profiles(named)) == {("patch.nancy", "BANDWIDTH")}


def test_each_has_a_stream_of_its_own():
    everything = {"states": OUTAGES, "speeds": LOAD, "link_states": OUTAGES, "bandwidths": LOAD}
    full = profiles(with_availability(lab(), 500.0, 9, Availability(**everything)))  # type: ignore[arg-type]
    assert len({tuple(points) for points in full.values()}) == len(full)
    alone = with_availability(lab(), 500.0, 9, Availability(hosts="bob", states=OUTAGES))
    assert profiles(alone) == {("bob", "HOST_AVAIL"): full["bob", "HOST_AVAIL"]}
    other = profiles(with_availability(lab(), 500.0, 10, Availability(**everything)))  # type: ignore[arg-type]
    assert all(other[follower] != full[follower] for follower in full)


def test_a_split_duplex_link_fails_as_a_whole():
    wanted: Any = {"links": "cable", "link_states": OUTAGES, "bandwidths": LOAD}
    found = profiles(with_availability(lab("SPLITDUPLEX"), 500.0, 9, Availability(**wanted)))
    assert found["cable_UP", "LINK_AVAIL"] == found["cable_DOWN", "LINK_AVAIL"]
    assert found["cable_UP", "BANDWIDTH"] != found["cable_DOWN", "BANDWIDTH"]
    assert all(BANDWIDTH * 0.1 <= v <= BANDWIDTH for _, v in found["cable_UP", "BANDWIDTH"])


FREQUENT = Levels(Law("constant", (0.5,)), Law("constant", (0.2,)))


REFUSED = [
    ({"states": OUTAGES, "hosts": ()}, "hosts"),
    ({"states": OUTAGES, "spared": "lab"}, "hosts"),
    ({"bandwidths": LOAD, "links": "rack_link_1_UP"}, "'rack_link_1_UP' 'rack'"),
    ({"bandwidths": LOAD, "links": "calbe"}, "'calbe' 'cable'"),
    ({"bandwidths": LOAD, "hosts": "racc"}, "'racc' 'rack'"),
    ({"bandwidths": LOAD, "hosts": "rack"}, "hosts states speeds"),
    ({"speeds": LOAD, "links": "cable"}, "links link_states"),
    ({"states": OUTAGES, "hosts": "rack:4"}, "4 'rack' 3"),
    ({"states": OUTAGES, "until": math.inf}, "until inf"),
    ({"states": OUTAGES, "seed": -1}, "seed -1"),
    ({"speeds": FREQUENT, "until": 86400.0}, "'ada' 100,000 86400"),
]


@pytest.mark.parametrize(("given", "named"), REFUSED)
def test_what_cannot_be_is_refused(given, named):
    changes = {name: value for name, value in given.items() if name not in ("until", "seed")}
    until, seed = given.get("until", 100.0), given.get("seed", 1)
    with raises_naming(PlatformError, *named.split()):
        with_availability(lab(), until, seed, Availability(**changes))


def test_links_that_simgrid_has_sealed_are_refused():
    peers = Zone("p", "Vivaldi", (Peer("eve", 1e9, 1e6, 1e6, (0.0, 0.0, 0.0)),))
    cabinet = Zone("c", "Cluster", (Cabinet("box", "0-1", 1e9, 1e6, 0.0, prefix="b"),))
    air = Zone("w", "Wifi", (Host("s", 1e9), Router("ap"), Link("air", 1e6, 0.0, "WIFI")))
    for zone, link in ((peers, "link_eve_UP"), (cabinet, "link_b1_DOWN"), (air, "air")):
        with raises_naming(PlatformError, repr(link)):
            with_availability(Platform(zone), 9.0, 1, Availability(links=link, link_states=OUTAGES))
        with pytest.raises(PlatformError):
            with_availability(Platform(zone), 9.0, 1, Availability(link_states=OUTAGES))


def test_a_second_profile_of_a_kind_is_refused():
    once = with_availability(lab(), 500.0, 1, Availability(states=OUTAGES))
    with raises_naming(PlatformError, "'ada'"):
        with_availability(once, 500.0, 2, Availability(states=OUTAGES))
    assert (
        profiles(with_availability(once, 500.0, 2, Availability(speeds=LOAD))).keys()
        > profiles(once).keys()
    )
    named = Platform(Zone("z", "Full", (Host("a", 1e9, state_profile="a.txt"),)))
    with raises_naming(PlatformError, "'a'"):
        with_availability(named, 500.0, 1, Availability(states=OUTAGES))
    titled = replace(lab(), elements=(*lab().elements, Profile("ada.state", "1 1\n")))
    with raises_naming(PlatformError, "'ada.state'"):
        with_availability(titled, 500.0, 1, Availability(states=OUTAGES))


# What SimGrid does


async def watch(me: Any, host: str, dates: list[float]) -> list[tuple[bool, bool]]:
    """Say whether a host is on a microsecond before and after each date."""
    seen = []
    for date in dates:
        await me.sleep_until(date - 1e-6)
        before = me.host_by_name(host).is_on
        await me.sleep_until(date + 1e-6)
        seen.append((before, me.host_by_name(host).is_on))
    return seen


async def since(me: Any) -> float:
    """Work for longer than the host is there; return when it started, if it ends."""
    start = me.now
    await me.execute(2.0 * SPEED)
    return start


def test_hosts_go_and_come_at_the_dates():
    host = "rack-2"
    platform = with_availability(lab(), 300.0, 6, Availability(hosts=host, states=OUTAGES))
    points = [point for point in profiles(platform)[host, "HOST_AVAIL"] if point[0] > 0]
    assert len(points) > 6
    dates = [date for date, _ in points]
    watcher = Placement("ada", watch, (host, dates))
    result = simulate(platform, [watcher, Placement(host, since, restart=True)])
    assert result.value_of("watch") == [(value == 0, value == 1) for _, value in points]
    # Who is started again with the host starts when it comes back, to the last bit.
    starts = {date for date, value in points if value == 1} | {0.0}
    restarted = [each.value for each in result.returned if each.name == "since"]
    assert {start for start in restarted if start is not None} <= starts
    assert len(restarted) == len(starts)


def test_a_host_that_is_off_at_date_0_kills_what_starts_there():
    churn = Churn(Law("constant", (50.0,)), Law("constant", (5.0,)))
    platform = with_availability(lab(), 100.0, 1, Availability(hosts="bob", states=churn))
    assert profiles(platform)["bob", "HOST_AVAIL"] == [(0.0, 0.0), (5.0, 1.0), (55.0, 0.0)]
    watcher = Placement("ada", watch, ("bob", [5.0, 55.0]))
    result = simulate(platform, [watcher, Placement("bob", since, restart=True)])
    assert result.value_of("watch") == [(False, True), (True, False)]
    told = [(each.state, each.value) for each in result.returned if each.name == "since"]
    assert told == [("killed", None), ("ended", 5.0)]


def end_of(points: list[tuple[float, float]], start: float, amount: float, cap: float) -> float:
    """When an amount is done at the rates of a profile, each up to a cap: by its integral."""
    dates = np.array([date for date, _ in points] + [1e9])
    rates = np.minimum([value for _, value in points], cap)
    done = np.concatenate([[0.0], np.cumsum(np.diff(dates) * rates)])
    return float(np.interp(np.interp(start, dates, done) + amount, done, dates))


async def execute(me: Any, flops: float) -> float:
    await me.execute(flops)
    return float(me.now)


@pytest.mark.parametrize(("host", "start"), [("bob", 0.0), ("rack-3", 7.5)])
def test_a_task_ends_when_the_integral_of_the_speed_says(host, start):
    platform = with_availability(lab(), 60.0, 4, Availability(hosts=host, speeds=LOAD))
    points = profiles(platform)[host, "SPEED"]
    result = simulate(platform, [Placement(host, execute, (20 * SPEED,), start_time=start)])
    known = end_of([(d, v * SPEED) for d, v in points], start, 20 * SPEED, SPEED)
    assert sum(start < date < known for date, _ in points) > 5
    assert result.value_of("execute") == pytest.approx(known, rel=1e-9)


async def put(me: Any, size: float) -> None:
    with contextlib.suppress(Exception):
        await me.mailbox("box").put(None, size)


async def get(me: Any) -> tuple[str, float]:
    try:
        await me.mailbox("box").get()
    except Exception as error:
        return type(error).__name__, me.now
    return "arrived", me.now


@pytest.mark.parametrize(
    ("policy", "start"), [("SHARED", 7.5), ("SPLITDUPLEX", 0.0), ("FATPIPE", 7.5)]
)
def test_a_transfer_ends_when_the_integral_of_the_bandwidth_says(policy, start):
    platform = with_availability(lab(policy), 90.0, 8, Availability(links="cable", bandwidths=LOAD))
    points = profiles(platform)["cable_UP" if policy == "SPLITDUPLEX" else "cable", "BANDWIDTH"]
    sender = Placement("ada", put, (20 * BANDWIDTH,), start_time=start)
    actors = [sender, Placement("bob", get, start_time=start)]
    result = simulate(platform, actors, options=SimGridOptions.linear())
    # SimGrid lets no transfer exceed the bandwidth that there was at its start; at date 0 this
    # is still that of the link itself.
    cap = BANDWIDTH if start == 0 else max((date, v) for date, v in points if date <= start)[1]
    known = end_of(points, start, 20 * BANDWIDTH, cap)
    assert sum(start < date < known for date, _ in points) > 5
    assert result.value_of("get") == ("arrived", pytest.approx(known, rel=1e-9))


@pytest.mark.parametrize("policy", ["SHARED", "SPLITDUPLEX"])
def test_a_transfer_fails_with_its_link(policy):
    outages = replace(OUTAGES, start="up")
    platform = with_availability(
        lab(policy), 300.0, 2, Availability(links="cable", link_states=outages)
    )
    name = "cable_UP" if policy == "SPLITDUPLEX" else "cable"
    first = profiles(platform)[name, "LINK_AVAIL"][0][0]
    result = simulate(platform, [("ada", put, 1e9), ("bob", get)])
    assert result.value_of("get") == ("NetworkFailureException", first)
