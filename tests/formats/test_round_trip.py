from __future__ import annotations

import random
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from simplugin.formats.platform_xml import platform_text, read_platform, write_platform
from simplugin.platforms import Cluster, Host, Link, Platform, Zone
from simplugin.simulation.resolve import resolve

RELAXED = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large]


@settings(max_examples=60, suppress_health_check=RELAXED)
@given(data=st.data())
def test_what_is_read_back_equals_what_was_written(
    data: st.DataObject, random_platforms: st.SearchStrategy[Platform], tmp_path: Path
) -> None:
    platform = data.draw(random_platforms)
    path = tmp_path / "platform.xml"
    write_platform(platform, path)
    assert read_platform(path) == platform


@settings(max_examples=15, suppress_health_check=RELAXED, phases=[Phase.explicit, Phase.generate])
@given(data=st.data())
def test_simgrid_has_what_the_data_classes_say(
    data: st.DataObject, random_platforms: st.SearchStrategy[Platform]
) -> None:
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
        elif isinstance(part, Link):
            for name in part.simgrid_names:
                link = links[name]
                assert (link.bandwidth, link.latency) == (part.bandwidth, part.latency)
                # SimGrid keeps the properties of a split-duplex link to itself.
                split = part.sharing_policy == "SPLITDUPLEX"
                assert link.properties == ({} if split else part.properties)


def test_text_does_not_depend_on_where_it_is_made() -> None:
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


def test_units_survive_simgrid_bit_for_bit(tmp_path: Path) -> None:
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
