"""What is said about loading, against what `resolve` says."""

from __future__ import annotations

from pathlib import Path

import pytest

from simplugin.errors import PlatformError, WallClockLimitError
from simplugin.platforms import Cluster, Host, Link, Platform, Route, Zone
from simplugin.platforms.census import telling_pairs
from simplugin.simulation.resolve import load, resolve

PLATFORM = Platform(
    Zone(
        "w",
        "Floyd",
        (
            Host("a", 1e9, 4, (5e8,), 1),
            Host("b", 2e9),
            Host("c", 3e9),
            Link("s", 1e7, 0.25, "SPLITDUPLEX"),
            Link("f", 1e6, 0.5, "FATPIPE"),
        ),
        (Route("a", "b", ["f"]), Route("b", "c", ["f"], symmetrical=False)),
    )
)


def test_counts() -> None:
    loading = load(PLATFORM)
    assert (loading.hosts, loading.cores) == (3, 6)
    assert loading.speed == 4 * 5e8 + 2e9 + 3e9
    assert loading.links == {"FATPIPE": 1, "SHARED": 2}
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
        load(Platform(Cluster("c", f"1-{count}", 1e9, 1e8, 1e-4))) for count in (10, 20_000)
    )
    # A host with its two links takes more than 1 kB, and less than 100.
    assert 1e3 < (large.memory - small.memory) / 20_000 < 1e5
    assert large.links == {"SHARED": 40_000}


def test_what_simgrid_refuses(tmp_path: Path) -> None:
    file = tmp_path / "p.xml"
    file.write_text('<?xml version="1.0"?><platform version="4.1"><zone/></platform>')
    with pytest.raises(PlatformError):
        load(file)


def test_wall_limit() -> None:
    with pytest.raises(WallClockLimitError):
        load(PLATFORM, wall_limit=1e-3)
