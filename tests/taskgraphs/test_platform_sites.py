"""Sites of platforms, against sites whose numbers are known."""

import numpy as np
import pytest
from naming import raises_naming

from simplugin.core.errors import PlatformError
from simplugin.formats.platform_xml import write_platform
from simplugin.platforms import Cluster, Host, HostLink, Link, Platform, Route, Zone
from simplugin.platforms.sites import LILLE, SUBSETS, MultiCluster
from simplugin.taskgraphs.platform_sites import site_of

ODD = MultiCluster(
    "odd",
    (("a", 1, 1e9), ("b", 2, 1e9), ("c", 7, 3e9)),
    one_switch=False,
    bandwidth=2e8,
    latency=1e-3,
    switch_bandwidth=3e9,
    switch_latency=2e-3,
)


def assert_same(one, other):
    assert one.hosts == other.hosts
    for field in ("speed", "bandwidth", "latency", "shared"):
        assert getattr(one, field).ravel() == pytest.approx(getattr(other, field).ravel()), field


@pytest.mark.parametrize("name", ["lille", "sophia"])
def test_sites_of_the_paper(name):
    site = SUBSETS[name].site()
    found = site_of(SUBSETS[name].platform())
    assert_same(found, site)
    assert (found.name, found.clusters) == (site.name, site.clusters)


def test_files_and_names(tmp_path):
    write_platform(LILLE.platform(), tmp_path / "lille.xml")
    found = site_of(tmp_path / "lille.xml", "there")
    assert_same(found, LILLE.site())
    assert found.name == "there"


def test_small_clusters():
    # A host alone in its cluster has a latency to itself, over its link and its switch.
    found = site_of(ODD.platform())
    expected = ODD.site()
    assert found.hosts == expected.hosts
    assert found.latency.ravel() == pytest.approx(expected.latency.ravel())
    assert found.bandwidth.tolist() == pytest.approx([2e8] * 3)
    others = [(0, 1), (0, 2), (1, 2), (2, 2)]
    assert [found.shared[pair] for pair in others] == pytest.approx([3e9] * 4)


def test_hosts_of_one_zone_by_their_speed():
    hosts = [Host(f"fast{number}", speed=2e9) for number in range(3)]
    slow = [Host(f"slow{number}", speed=1e9, cores=4) for number in range(2)]
    links = [Link(f"{host.id}-link", 1e8, 1e-3) for host in (*hosts, *slow)]
    ends = [HostLink(host.id, f"{host.id}-link", f"{host.id}-link") for host in (*hosts, *slow)]
    mixed = [hosts[0], slow[0], *hosts[1:], slow[1]]
    found = site_of(Platform((Zone("z", "Cluster", (*mixed, *links, *ends)),)))
    assert found.clusters == ("fast", "slow")
    assert found.hosts == (("fast0", "fast1", "fast2"), ("slow0", "slow1"))
    # One processor a host, as fast as one of its cores; nothing but their links limits them.
    assert found.speed.tolist() == [2e9, 1e9]
    assert found.bandwidth.tolist() == [1e8, 1e8]
    assert np.all(np.isinf(found.shared))
    assert found.latency.ravel() == pytest.approx([2e-3] * 4)


def test_hosts_that_are_all_different():
    # Each is a cluster; what they send to themselves is nobody's business.
    link = Link("wire", 1e8, 1e-3)
    hosts = (Host("ada", speed=1e9), Host("bob", speed=2e9))
    found = site_of(
        Platform((Zone("z", "Full", (*hosts, link), (Route("ada", "bob", ("wire",)),)),))
    )
    assert found.clusters == ("ada", "bob")
    assert found.bandwidth.tolist() == [1e8, 1e8]
    assert found.latency.tolist() == [[0.0, 1e-3], [1e-3, 0.0]]


def test_names_that_are_numbers_or_alike():
    clusters = [
        Cluster(id="x", prefix="", radical="0-2", speed=1e9, bandwidth=1e8, latency=1e-4),
    ]
    assert site_of(Platform(tuple(clusters))).clusters == ("0",)


def test_hosts_without_a_route():
    apart = Platform((Zone("z", "Full", (Host("ada", speed=1e9), Host("bob", speed=1e9))),))
    with raises_naming(PlatformError, "'ada'", "'bob'"):
        site_of(apart)


def test_no_host():
    with pytest.raises(PlatformError):
        site_of(Platform((Zone("z", "Full"),)))
