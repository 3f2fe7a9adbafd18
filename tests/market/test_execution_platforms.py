"""Markets on any site and on platform files of other shapes."""

import numpy as np
import pytest

from simplugin.errors import DeploymentError
from simplugin.formats.platform_xml import write_platform
from simplugin.market.execution import execute
from simplugin.papers.zheng.times import one_by_one
from simplugin.platforms.hosts import Host
from simplugin.platforms.links import Link, Route
from simplugin.platforms.peers import PeerSite
from simplugin.platforms.platform import Platform, Zone
from simplugin.workloads.bundles import Bundle

SPEED, BANDWIDTH = np.array([3e7, 1e7, 2e7]), np.array([1e7, 4e7, 2e7])


def _two_hops():
    """Return hosts of other names, two links away from the scheduler, the far one the slower."""
    names = ("north", "east", "south")
    hosts = [Host("post", speed=1e9)]
    links = [Link("trunk", 1e9, sharing_policy="FATPIPE")]
    routes = []
    for name, speed, bandwidth in zip(names, SPEED, BANDWIDTH, strict=True):
        hosts.append(Host(name, speed=float(speed)))
        links.append(Link(f"to-{name}", float(bandwidth)))
        routes.append(Route("post", name, ("trunk", f"to-{name}")))
    site = PeerSite(names, SPEED, BANDWIDTH, scheduler="post")
    return site, Platform((Zone("z", "Full", (*hosts, *links), tuple(routes)),))


def test_a_platform_file(tmp_path):
    site, platform = _two_hops()
    path = tmp_path / "hops.xml"
    write_platform(platform, path)
    bundle = Bundle.of_class("neutral", 40)
    deals = [
        execute(site, bundle, negotiation="isgbmat", platform=where).deals[0]
        for where in (None, platform, path)
    ]
    for deal in deals:
        np.testing.assert_array_equal(deal.amounts, deals[0].amounts)
        expected = one_by_one(site, bundle, deal.amounts)
        np.testing.assert_allclose(deal.outcome().times, expected, rtol=1e-12)


def test_a_platform_without_the_hosts():
    _, platform = _two_hops()
    other = PeerSite.numbered(SPEED, BANDWIDTH)
    with pytest.raises(DeploymentError, match="scheduler"):
        execute(other, Bundle.of_class("neutral", 4), platform=platform)
