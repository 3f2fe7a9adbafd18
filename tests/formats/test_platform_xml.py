"""Platforms in XML and profiles in files: what is read back, and what SimGrid has of it."""

import math
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from naming import raises_naming

from simplugin import Placement, simulate
from simplugin.core.errors import PlatformError
from simplugin.formats.check import check
from simplugin.formats.platform_xml import (
    platform_text,
    read_platform,
    write_platform,
)
from simplugin.formats.profiles import read_profile, write_profiles
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
from simplugin.platforms.availability.followers import Availability, with_availability
from simplugin.platforms.availability.processes import Levels, Outages
from simplugin.platforms.laws import Law
from simplugin.platforms.profiles import timeline
from simplugin.simulation.resolve import resolve

PLATFORMS = Path(__file__).parents[2] / "platforms_xml"
OPTIONS: Any = {"prefix": "n", "backbone_bandwidth": 1e9, "properties": {"ram": "64"}}
CLUSTER = Cluster("c", "0-99999", 1e9, 1.25e8, 1e-4, suffix=".site", cores=4, **OPTIONS)


def test_a_large_cluster_is_one_element(tmp_path):
    path = tmp_path / "platform.xml"
    write_platform(Platform(CLUSTER), path)
    assert len(path.read_text().splitlines()) == 7
    assert read_platform(path).host_count == 100_000


@pytest.mark.parametrize("policy", ["SPLITDUPLEX", "SHARED", "FATPIPE"])
def test_an_expanded_cluster_is_the_same_to_simgrid(policy, tmp_path):
    more = OPTIONS | {"sharing_policy": policy, "backbone_latency": 1e-3, "further_speeds": (5e8,)}
    cluster = Cluster("c", "3-6,9", 1e9, 1e8, 1e-4, cores=2, **more)
    platform = Platform(Zone("w", "Full", (cluster,)))
    path = tmp_path / "expanded.xml"
    write_platform(platform, path, expand=True)
    assert path.read_text().count("<host ") == 5
    assert resolve(path, 20) == resolve(platform, 20)


NOT_EXPANDED = [
    {"topology": "TORUS", "topology_parameters": "2,2"},
    {"limiter_bandwidth": 1e8},
    {"loopback_bandwidth": 1e9},
    {"backbone_bandwidth": 1e9, "backbone_sharing_policy": "FATPIPE"},
]


@pytest.mark.parametrize("options", NOT_EXPANDED)
def test_what_cannot_be_expanded_is_refused(options):
    cluster = Cluster("c", "0-3", 1e9, 1e8, 1e-4, **options)  # type: ignore[arg-type]
    with raises_naming(PlatformError, "'c'"):
        platform_text(Platform(Zone("w", "Full", (cluster,))), expand=True)


def test_a_zone_is_written_in_the_order_of_simgrids_parser(tmp_path):
    link, zone = Link("l", 1e8), Zone("y", "Full", (Host("a", 1e9),))
    profiles = (Profile("p", "1 0"), ProfileUse("p", "a"))
    given = Zone("w", "Full", (*profiles, link, CLUSTER, zone))
    assert given.elements == (CLUSTER, link, zone, *profiles)
    write_platform(Platform(given), tmp_path / "platform.xml")
    assert read_platform(tmp_path / "platform.xml") == Platform(given)
    small = Zone("w", "Full", (*profiles, link, Cluster("c", "0-3", 1e9, 1e8, 1e-4), zone))
    assert len(resolve(Platform(small)).hosts) == 5


def test_what_simgrid_would_refuse_is_not_written(tmp_path):
    zone = Zone("w", "Full", (Host("a", 1e9), Host("b", 1e9)), (Route("a", "b", ["l"]),))
    with pytest.raises(PlatformError) as caught:
        write_platform(Platform(zone), tmp_path / "platform.xml")
    assert "'l'" in str(caught.value)
    assert not (tmp_path / "platform.xml").exists()


def test_old_names_are_read_and_new_ones_written(tmp_path):
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


def test_a_copy_elsewhere_is_equal_up_to_the_names_of_its_profiles(tmp_path):
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


def test_an_absolute_profile_becomes_relative(tmp_path):
    # SimGrid 4.1 never opens a profile by an absolute path.
    profile = tmp_path / "speed.txt"
    profile.write_text("0 1.0\n5 0.5\n")
    zone = Zone("w", "Full", (Host("a", 1e9, speed_profile=str(profile)),))
    write_platform(Platform(zone), tmp_path / "platform.xml")
    assert 'speed_file="speed.txt"' in (tmp_path / "platform.xml").read_text()
    assert len(resolve(Platform(zone)).hosts) == 1


RELAXED = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large]


@settings(max_examples=60, suppress_health_check=RELAXED)
@given(data=st.data())
def test_what_is_read_back_equals_what_was_written(data, random_platforms, tmp_path):
    platform = data.draw(random_platforms)
    path = tmp_path / "platform.xml"
    write_platform(platform, path)
    assert read_platform(path) == platform


@settings(max_examples=15, suppress_health_check=RELAXED, phases=[Phase.explicit, Phase.generate])
@given(data=st.data())
def test_simgrid_has_what_the_data_classes_say(data, random_platforms):
    drawn = data.draw(random_platforms)
    # SimGrid wants the functions of actors registered, which is another matter.
    platform = Platform(drawn.elements, drawn.config)
    resolved = resolve(platform)
    hosts = {host.name: host for host in resolved.hosts}
    assert set(hosts) == set(platform.host_names())
    links = {link.name: link for link in resolved.links}
    for part, _ in platform.walk():
        if isinstance(part, Host):
            host = hosts[part.id]
            assert (host.cores, host.speeds) == (part.cores, part.speeds)
            assert host.speed == part.speeds[part.pstate]
            assert host.properties == part.properties
        elif isinstance(part, Cluster):
            for name in part.host_names():
                assert (hosts[name].cores, hosts[name].speeds) == (part.cores, part.speeds)
        # In Wi-Fi each host has a rate of its own.
        elif isinstance(part, Link) and part.sharing_policy != "WIFI":
            for name in part.simgrid_names:
                link = links[name]
                assert (link.bandwidth, link.latency) == (part.bandwidth, part.latency)
                # SimGrid keeps the properties of a split-duplex link to itself.
                split = part.sharing_policy == "SPLITDUPLEX"
                assert link.properties == ({} if split else part.properties)


def test_text_does_not_depend_on_where_it_is_made():
    platform = Platform((Cluster("c", "0-9", 1e9, 1.25e8, 5e-5, prefix="n"),))
    assert platform_text(platform, comment="made -- by hand") == (
        "<?xml version='1.0'?>\n"
        '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
        "<!-- made - - by hand -->\n"
        '<platform version="4.1">\n'
        '  <cluster id="c" prefix="n" suffix="" radical="0-9" speed="1Gf" bw="125MBps"'
        # 50us would read as 4.9999999999999996e-05.
        ' lat="0.05ms"/>\n'
        "</platform>\n"
    )


def test_units_survive_simgrid_bit_for_bit(tmp_path):
    generator = random.Random(0)
    values = [10 ** generator.uniform(-3, 21) for _ in range(500)]
    delays = [10 ** generator.uniform(-12, 5) for _ in range(500)]
    hosts = [Host(f"h{index:03}", value) for index, value in enumerate(values)]
    pairs = enumerate(zip(values, delays, strict=True))
    links = [Link(f"l{index:03}", *pair) for index, pair in pairs]
    path = tmp_path / "platform.xml"
    write_platform(Platform(Zone("z", "Full", (*hosts, *links))), path)
    resolved = resolve(path)
    assert [host.speed for host in resolved.hosts] == values
    assert [link.bandwidth for link in resolved.links] == values
    assert [link.latency for link in resolved.links] == delays


@pytest.fixture
def platform() -> Platform:
    rack = Zone("z", "Full", (Cluster("rack", "0-2", 1e9, 1e6, 0.0, prefix="rack-"),))
    states = Outages(Law("exponential", (30.0,)), Law("exponential", (3.0,)), "up")
    speeds = Levels(Law("uniform", (0.3, 1.0)), Law("exponential", (4.0,)))
    return with_availability(Platform(rack), 80.0, 5, Availability(states=states, speeds=speeds))


async def work(me: Any) -> float:
    await me.execute(5e9)
    return float(me.now)


def ends(platform: Platform | Path) -> list[tuple[str, Any, str]]:
    """When work ends on each host, however often it starts again."""
    actors = [Placement(f"rack-{number}", work, restart=True) for number in range(3)]
    result = simulate(platform, actors)
    return [(each.host, each.value, each.state) for each in result.returned]


def test_simgrid_does_the_same_with_files(platform, tmp_path):
    known = ends(platform)
    moved = write_profiles(platform, tmp_path / "here" / "profiles")
    assert ends(moved) == known
    (tmp_path / "there").mkdir()
    file = tmp_path / "there" / "platform.xml"
    write_platform(moved, file)
    assert '"../here/profiles/rack-0.speed.profile"' in file.read_text()
    assert ends(file) == known
    assert check([file]) == []
    # Neither the actors nor the hosts did without the profiles.
    assert ends(Platform(platform.elements[0])) != known


def test_what_is_in_the_files(platform, tmp_path):
    moved = write_profiles(platform, tmp_path)
    within = {part.id: part for part, _ in platform.walk() if isinstance(part, Profile)}
    outside = {part.id: part for part, _ in moved.walk() if isinstance(part, Profile)}
    assert outside.keys() == within.keys()
    assert {file.name for file in tmp_path.iterdir()} == {f"{name}.profile" for name in within}
    for name, profile in within.items():
        text = read_profile(moved, outside[name].file)
        assert timeline(text, math.inf) == timeline(profile.text, math.inf)
    uses = [part for part, _ in platform.walk() if isinstance(part, ProfileUse)]
    assert [part for part, _ in moved.walk() if isinstance(part, ProfileUse)] == uses
    # Once in files they stay there.
    assert write_profiles(moved, tmp_path / "again") == moved
    assert list((tmp_path / "again").iterdir()) == []


def test_a_period_goes_with_its_profile(tmp_path):
    zone = Zone("z", "Full", (Host("a", 1e9), Profile.of_points("p", [(1.0, 0.5)], period=3.0)))
    moved = write_profiles(Platform((zone, ProfileUse("p", "a", "SPEED"))), tmp_path)
    assert (tmp_path / "p.profile").read_text() == "PERIODICITY 3.0\n1.0 0.5\n"
    inner = moved.elements[0]
    assert isinstance(inner, Zone)
    assert inner.elements[1] == Profile("p", file=str(tmp_path / "p.profile"))


def test_names_that_are_no_file_names(tmp_path):
    odd = [Profile(name, "1 1\n") for name in ("../up", "a/b", "50% é", ".")]
    write_profiles(Platform(tuple(odd)), tmp_path / "p")
    names = {"..%2Fup", ".", "50%25%20%C3%A9", "a%2Fb"}
    assert {file.name for file in (tmp_path / "p").iterdir()} == {f"{n}.profile" for n in names}
    assert [each.name for each in tmp_path.iterdir()] == ["p"]
    with raises_naming(PlatformError, "'A.profile'"):
        write_profiles(Platform((Profile("a", "1 1\n"), Profile("A", "1 1\n"))), tmp_path)


def test_a_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with raises_naming(PlatformError, tmp_path / "file"):
        write_profiles(Platform((Profile("a", "1 1\n"),)), tmp_path / "file")
