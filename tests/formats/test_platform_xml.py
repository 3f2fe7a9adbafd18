from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from simplugin.errors import PlatformError
from simplugin.formats.expansion import expanded_platform
from simplugin.formats.platform_xml import platform_text, read_platform, write_platform
from simplugin.platforms import (
    Cluster,
    Host,
    Link,
    Opaque,
    Platform,
    Profile,
    ProfileUse,
    Route,
    Zone,
)
from simplugin.simulation.resolve import resolve

PLATFORMS = Path(__file__).parents[2] / "platforms_xml"
OPTIONS: Any = {"prefix": "n", "backbone_bandwidth": 1e9, "properties": {"ram": "64"}}
CLUSTER = Cluster("c", "0-99999", 1e9, 1.25e8, 1e-4, suffix=".site", cores=4, **OPTIONS)


def test_a_large_cluster_is_one_element(tmp_path: Path) -> None:
    path = tmp_path / "platform.xml"
    write_platform(Platform(CLUSTER), path)
    assert len(path.read_text().splitlines()) == 7
    assert read_platform(path).host_count == 100_000


@pytest.mark.parametrize("policy", ["SPLITDUPLEX", "SHARED", "FATPIPE"])
def test_an_expanded_cluster_is_the_same_to_simgrid(policy: str, tmp_path: Path) -> None:
    more = OPTIONS | {"sharing_policy": policy, "backbone_latency": 1e-3, "further_speeds": (5e8,)}
    cluster = Cluster("c", "3-6,9", 1e9, 1e8, 1e-4, cores=2, **more)
    platform = Platform(Zone("w", "Full", (cluster,)))
    path = tmp_path / "expanded.xml"
    write_platform(platform, path, expand=True)
    assert path.read_text().count("<host ") == 5
    assert resolve(path, 20) == resolve(platform, 20)


@pytest.mark.parametrize(
    "options",
    [
        {"topology": "TORUS", "topology_parameters": "2,2"},
        {"limiter_bandwidth": 1e8},
        {"loopback_bandwidth": 1e9},
        {"backbone_bandwidth": 1e9, "backbone_sharing_policy": "FATPIPE"},
    ],
)
def test_what_cannot_be_expanded_is_refused(options: dict[str, object]) -> None:
    cluster = Cluster("c", "0-3", 1e9, 1e8, 1e-4, **options)  # type: ignore[arg-type]
    with pytest.raises(PlatformError, match=r"'c' cannot be written host by host.*expand=False"):
        platform_text(Platform(Zone("w", "Full", (cluster,))), expand=True)
    with pytest.raises(PlatformError, match="; leave the clusters as they"):
        expanded_platform(Platform(Zone("w", "Full", (cluster,))))


@pytest.mark.parametrize("name", ["grid5000", "nancy", "three_sites", "five_hosts"])
def test_expansion_is_what_writing_and_reading_gives(name: str, tmp_path: Path) -> None:
    platform = read_platform(PLATFORMS / f"{name}.xml")
    expanded = expanded_platform(platform)
    write_platform(platform, tmp_path / "expanded.xml", expand=True)
    assert expanded.elements == read_platform(tmp_path / "expanded.xml").elements
    assert not [part for part, _ in expanded.walk() if isinstance(part, Cluster)]
    assert list(expanded.host_names()) == list(platform.host_names())


def test_a_zone_is_written_in_the_order_of_simgrids_parser(tmp_path: Path) -> None:
    link, zone = Link("l", 1e8), Zone("y", "Full", (Host("a", 1e9),))
    profiles = (Profile("p", "1 0"), ProfileUse("p", "a"))
    given = Zone("w", "Full", (*profiles, link, CLUSTER, zone))
    assert given.elements == (CLUSTER, link, zone, *profiles)
    write_platform(Platform(given), tmp_path / "platform.xml")
    assert read_platform(tmp_path / "platform.xml") == Platform(given)
    small = Zone("w", "Full", (*profiles, link, Cluster("c", "0-3", 1e9, 1e8, 1e-4), zone))
    assert len(resolve(Platform(small)).hosts) == 5


def test_what_simgrid_would_refuse_is_not_written(tmp_path: Path) -> None:
    zone = Zone("w", "Full", (Host("a", 1e9), Host("b", 1e9)), (Route("a", "b", ["l"]),))
    with pytest.raises(PlatformError, match="unknown link 'l'"):
        write_platform(Platform(zone), tmp_path / "platform.xml")
    assert not (tmp_path / "platform.xml").exists()


def test_old_names_are_read_and_new_ones_written(tmp_path: Path) -> None:
    path = tmp_path / "old.xml"
    path.write_text(
        '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n<platform version="4.1">'
        '<random id="r" min="0" max="1" mean="0" std_deviation="1"/><AS id="w" routing="full">'
        '<AS id="x" routing="Full"><host id="a" speed="1Gf" availability_file=""/></AS>'
        '<AS id="y" routing="Full"><host id="b" speed="1e9"/></AS>'
        '<link id="l" bandwidth="1MBps" latency="0" sharing_policy="FULLDUPLEX"/>'
        '<ASroute src="x" dst="y" gw_src="a" gw_dst="b" symmetrical="no">'
        '<link_ctn id="l" direction="UP"/></ASroute></AS></platform>'
    )
    platform = read_platform(path)
    assert isinstance(platform.config[0], Opaque)
    zone = platform.elements[0]
    assert isinstance(zone, Zone)
    assert zone.links == (Link("l", 1e6, sharing_policy="SPLITDUPLEX"),)
    write_platform(platform, tmp_path / "new.xml")
    text = (tmp_path / "new.xml").read_text()
    assert "AS" not in text
    assert "<zoneRoute " in text
    assert read_platform(tmp_path / "new.xml") == platform
    assert resolve(tmp_path / "new.xml", 2) == resolve(path, 2)


def test_a_copy_elsewhere_is_equal_up_to_the_names_of_its_profiles(tmp_path: Path) -> None:
    (tmp_path / "speed.txt").write_text("0 1.0\n")
    (tmp_path / "copies").mkdir()

    def platform(profile: str) -> Platform:
        hosts = (Host("a", 1e9, speed_profile=profile), Host("b", 2e9, state_profile="absent.txt"))
        return Platform((Zone("w", "None", hosts),))

    write_platform(platform("speed.txt"), tmp_path / "first.xml")
    first = read_platform(tmp_path / "first.xml")
    assert first == platform("speed.txt")
    write_platform(first, tmp_path / "same_directory.xml")
    assert read_platform(tmp_path / "same_directory.xml") == first
    write_platform(first, tmp_path / "copies" / "copy.xml")
    assert read_platform(tmp_path / "copies" / "copy.xml") == platform("../speed.txt")


def test_an_absolute_profile_becomes_relative(tmp_path: Path) -> None:
    # SimGrid 4.1 never opens a profile by an absolute path.
    profile = tmp_path / "speed.txt"
    profile.write_text("0 1.0\n5 0.5\n")
    zone = Zone("w", "Full", (Host("a", 1e9, speed_profile=str(profile)),))
    write_platform(Platform(zone), tmp_path / "platform.xml")
    assert 'speed_file="speed.txt"' in (tmp_path / "platform.xml").read_text()
    assert len(resolve(Platform(zone)).hosts) == 1
