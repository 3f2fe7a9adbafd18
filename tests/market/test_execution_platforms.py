"""Markets on any site and on platform files of other shapes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simplugin.errors import DeploymentError
from simplugin.formats.platform_xml import write_platform
from simplugin.market.execution import execute
from simplugin.market.model import Terms
from simplugin.optimum.bundle_benefit import largest_benefit
from simplugin.papers.zheng.times import one_by_one, overlapped
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


@settings(max_examples=25)
@given(data=st.data())
def test_any_site(data):
    n_peers = data.draw(st.integers(1, 5))
    some = st.lists(st.floats(1e6, 1e8), min_size=n_peers, max_size=n_peers)
    latency = data.draw(st.sampled_from([0.0, 1e-3, 0.5]))
    speed, bandwidth = np.array(data.draw(some)), np.array(data.draw(some))
    site = PeerSite.numbered(speed, bandwidth, latency=latency)
    m = data.draw(st.integers(1, 30))
    rates = st.lists(st.floats(0.001, 0.3), min_size=n_peers, max_size=n_peers)
    terms = Terms(data.draw(rates), n_max=-(-m // n_peers) + data.draw(st.integers(0, 5)))
    flop, byte = data.draw(st.tuples(st.floats(0, 1e9), st.integers(1, 10**9)))
    bundle = Bundle("b", m, flop, byte)
    overlap = data.draw(st.booleans())
    deal = execute(site, bundle, terms, "secant", overlap=overlap).deals[0]
    times = terms.setup + byte / bandwidth + flop / speed
    best = largest_benefit(3600 / times, m, terms.n_max, 1 - np.array(terms.alpha))
    assert deal.outcome().benefit == pytest.approx(best.benefit, rel=1e-9)
    predicted = (overlapped if overlap else one_by_one)(site, bundle, deal.amounts)
    np.testing.assert_allclose(deal.outcome().times, predicted, rtol=1e-6)
    assert deal.negotiation >= latency * (1 + 2 * deal.rounds)
