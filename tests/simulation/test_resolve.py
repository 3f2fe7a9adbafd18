"""Platforms as SimGrid loads them."""

from __future__ import annotations

from pathlib import Path

import pytest
from naming import raises_naming
from xml_zones import zone_xml

from simplugin import simulate
from simplugin.core.errors import PlatformError, WallClockLimitError
from simplugin.inputs.files import write
from simplugin.platforms import Cluster, Config, Host, Link, LinkUse, Platform, Route, Zone
from simplugin.platforms.census import telling_pairs
from simplugin.simulation.api.actor import Actor
from simplugin.simulation.resolve import ResolvedHost, ResolvedLink, ResolvedRoute, load, resolve

PLATFORM = Platform(
    Zone(
        "w",
        "Floyd",
        (
            Host("a", 1e9, 4, (5e8,), 1, properties={"ram": "1"}),
            Host("b", 2e9),
            Host("c", 3e9),
            Link("l", 1e8, 1e-3),
            Link("s", 1e7, 0.25, "SPLITDUPLEX"),
            Link("f", 1e6, 0.5, "FATPIPE"),
        ),
        (
            Route("a", "b", ["l", LinkUse("s", "UP")]),
            Route("b", "c", ["f"], symmetrical=False),
        ),
    )
)


def test_hosts_links_and_routes() -> None:
    resolved = resolve(PLATFORM, [("a", "c"), ("b", "a"), ("c", "a")])
    assert resolved.hosts == (
        ResolvedHost("a", 5e8, 4, (1e9, 5e8), {"ram": "1"}),
        ResolvedHost("b", 2e9, 1, (2e9,)),
        ResolvedHost("c", 3e9, 1, (3e9,)),
    )
    assert resolved.links == (
        ResolvedLink("f", 1e6, 0.5, "FATPIPE"),
        ResolvedLink("l", 1e8, 1e-3, "SHARED"),
        ResolvedLink("s_DOWN", 1e7, 0.25, "SHARED"),
        ResolvedLink("s_UP", 1e7, 0.25, "SHARED"),
    )
    assert resolved.routes == (
        ResolvedRoute("a", "c", ("l", "s_UP", "f"), 1e-3 + 0.25 + 0.5),
        ResolvedRoute("b", "a", ("s_DOWN", "l"), 0.25 + 1e-3),
    )
    ((source, destination, reason),) = resolved.unreachable
    assert (source, destination) == ("c", "a")
    assert reason


def test_an_abort_costs_one_route_only() -> None:
    # SimGrid aborts on a route in a zone of routing None.
    hosts = tuple(Host(name, 1e9) for name in "abc")
    resolved = resolve(Platform(Zone("w", "None", hosts)), 100)
    assert len(resolved.unreachable) == 6
    assert resolved.routes == ()


def test_what_is_not_there(tmp_path: Path) -> None:
    ((_, _, reason),) = resolve(PLATFORM, [("a", "nobody")]).unreachable
    assert reason == "the platform has no host 'nobody'"
    with raises_naming(PlatformError, "absent.xml"):
        resolve(tmp_path / "absent.xml")


def test_pairs_are_spread_over_all_hosts() -> None:
    cluster = Cluster("c", "0-99", 1e9, 1e8, 1e-4, prefix="n")
    resolved = resolve(Platform(cluster), 50)
    assert len(resolved.routes) == 50
    assert len({route.source for route in resolved.routes}) == 50
    assert all(route.source != route.destination for route in resolved.routes)


def test_options_reach_simgrid() -> None:
    with raises_naming(PlatformError, "'nonsense'"):
        resolve(PLATFORM, options=["--cfg=network/model:nonsense"])


def test_a_refusal_has_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "wrong.xml"
    path.write_text(zone_xml('<host id="a" speed="1GHz"/>'))
    with raises_naming(PlatformError, "GHz") as caught:
        resolve(path)
    assert (str(caught.value.file), caught.value.line) == (str(path), 6)


async def compute(me: Actor) -> float:
    """Compute 1 Gflop on a host whose speed a file halves after a second."""
    await me.execute(2e9)
    return me.now


@pytest.mark.parametrize("suffix", [".gz", ".xz"])
def test_a_compressed_platform_is_that_of_its_content(tmp_path: Path, suffix: str) -> None:
    (tmp_path / "half.trace").write_text("1 0.5\n")
    host = '<host id="h" speed="1Gf" speed_file="half.trace"/>'
    plain, packed = tmp_path / "p.xml", tmp_path / f"p.xml{suffix}"
    for path in (plain, packed):
        write(zone_xml(host), path, PlatformError)
    assert plain.read_bytes() != packed.read_bytes()
    assert resolve(plain) == resolve(packed)
    for path in (plain, packed):
        # One second at full speed, two at half of it.
        assert simulate(path, [("h", compute)]).clock == pytest.approx(3.0)
    packed.write_bytes(packed.read_bytes()[:-9])
    for read in (resolve, load, lambda path: simulate(path, [("h", compute)])):
        with raises_naming(PlatformError, packed):
            read(packed)


def test_no_trace_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    options = {"tracing": "yes", "tracing/filename": "x.trace", "tracing/platform": "yes"}
    resolved = resolve(Platform(PLATFORM.elements, (Config(options),)))
    assert len(resolved.hosts) == 3
    assert list(tmp_path.iterdir()) == []


def test_the_wall_limit_holds() -> None:
    for ask in (resolve, load):
        with pytest.raises(WallClockLimitError) as caught:
            ask(PLATFORM, wall_limit=1e-3)
        assert caught.value.limit == 1e-3


def test_counts() -> None:
    loading = load(PLATFORM)
    assert (loading.hosts, loading.cores) == (3, 6)
    assert loading.speed == 4 * 5e8 + 2e9 + 3e9
    assert loading.links == {"FATPIPE": 1, "SHARED": 3}
    assert loading.seconds > 0
    assert loading.memory >= 0
    assert (loading.joined, loading.unreachable) == (0, ())


def test_pairs_are_lost_as_resolve_says() -> None:
    pairs = telling_pairs(PLATFORM).pairs
    loading, resolved = load(PLATFORM, pairs), resolve(PLATFORM, pairs)
    assert loading.unreachable == resolved.unreachable
    assert {pair[:2] for pair in loading.unreachable} == {("c", "a"), ("c", "b")}
    assert loading.joined == len(resolved.routes) == 4


def test_there_is_no_time_for_routes() -> None:
    loading = load(PLATFORM, telling_pairs(PLATFORM).pairs, route_limit=0.0)
    assert loading.asked == 0
    assert loading.hosts == 3


def test_larger_platforms_take_more() -> None:
    small, large = (
        load(Platform(Cluster("c", f"1-{count}", 1e9, 1e8, 1e-4))) for count in (10, 4_000)
    )
    # A host with its two links takes more than 1 kB, and less than 100.
    assert 1e3 < (large.memory - small.memory) / 4_000 < 1e5
    assert large.links == {"SHARED": 8_000}
