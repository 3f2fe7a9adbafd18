"""Values of tasks, and sites of peers on platforms of others."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from naming import raises_naming

from simplugin.core.errors import WorkloadError
from simplugin.market.execution import execute
from simplugin.market.model import MarketTerms, completion_times
from simplugin.market.sites import hosts_beside, shared_site, site_of
from simplugin.platforms.peers import PeerSite
from simplugin.platforms.twelve_peers import chosen_site
from simplugin.workloads.bundle_markets import largest_share
from simplugin.workloads.bundles import CLASSES, Bundle

SITE = PeerSite.numbered(np.array([25e6, 50e6]), np.array([10e6, 20e6]))


def test_estimated_times_add_setup_transfer_and_execution():
    times = completion_times(SITE, Bundle("b", 10, 1e9, 40e6), setup=0.5)
    assert times == pytest.approx([0.5 + 4 + 40, 0.5 + 2 + 20])


def test_a_task_that_takes_an_hour_is_worth_one():
    assert MarketTerms().values([3600.0, 36.0]).tolist() == [1.0, 100.0]
    assert MarketTerms(price_unit=1.0).values([4.0]).tolist() == [0.25]


def test_terms_make_the_market_that_they_describe():
    market = MarketTerms(alpha=[0.5, 0.25], n_max=7).market([3600.0, 1800.0], 10)
    assert market.values.tolist() == [1.0, 2.0]
    assert market.q.tolist() == [0.5, 0.75]
    assert market.caps.tolist() == [7, 7]
    assert MarketTerms().market([1.0, 1.0], 10).caps.tolist() == [10, 10]


INVALID_TERMS = [
    *({"alpha": alpha} for alpha in ([0.5, 0.0], [0.5, 1e-300], "ab")),
    *({"n_max": limit} for limit in (-1, [4, np.nan], "ab")),
    *({"discounts": factors} for factors in ([1.1], [])),
    {"price_unit": 0.0},
    {"setup": -1.0},
]


@pytest.mark.parametrize("fields", INVALID_TERMS)
def test_invalid_terms_are_refused(fields):
    with raises_naming(WorkloadError, *fields, *fields.values()):
        MarketTerms(**fields)  # type: ignore[arg-type]


def test_discounts_fall_and_have_no_rate_beside_them():
    with raises_naming(WorkloadError, "discounts", "0.5", "task 2", "0.6"):
        MarketTerms(discounts=[1.0, 0.5, 0.6])
    with raises_naming(WorkloadError, "alpha", "discounts"):
        MarketTerms(alpha=0.5, discounts=[1.0])


def test_the_largest_share_counts_in_means_rounded_up():
    assert [largest_share(1000, 12, factor) for factor in (1, 1.5, 2)] == [84, 126, 168]
    with raises_naming(WorkloadError, "0.9"):
        largest_share(1000, 12, 0.9)


def test_a_share_that_is_whole_but_for_rounding_is_whole():
    hundredths = range(100, 500)
    shares = [largest_share(1200, 12, number / 100) for number in hundredths]
    assert shares == list(hundredths)
    # No more of many tasks, however many.
    assert largest_share(12 * 10**14, 12, 1) == 10**14
    assert largest_share(2**52, 1, 1) == 2**52


LIMITS = [(np.inf, None), ([5, np.inf], [5, 2**53]), (10**30, 2**53), ([0, 10], [0, 10])]


@pytest.mark.parametrize(("given", "kept"), LIMITS)
def test_no_limit_is_one_beyond_all_bundles(given, kept):
    terms = MarketTerms(n_max=given)  # type: ignore[arg-type]
    found = terms.n_max
    assert (found.tolist() if isinstance(found, np.ndarray) else found) == kept
    market = terms.market([1.0, 1.0], 10)
    limits = np.broadcast_to(np.minimum(np.array(given, dtype=float), 10), 2)
    assert market.caps.tolist() == limits.tolist()


def test_terms_keep_what_they_were_given():
    alpha, n_max = np.array([0.5, 0.25]), np.array([5, 6])
    terms = MarketTerms(alpha, n_max)
    alpha[0], n_max[0] = 0.1, 0
    market = terms.market([1.0, 1.0], 10)
    assert market.q.tolist() == [0.5, 0.75]
    assert market.caps.tolist() == [5, 6]
    for kept in (terms.alpha, terms.n_max):
        assert not kept.flags.writeable  # type: ignore[union-attr]


STAR = Path(__file__).parents[2] / "platforms_xml" / "star.xml"
CHAIN = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="z" routing="Full">
    <host id="desk" speed="1Gf"/> <host id="b10" speed="3Gf" core="4"/> <host id="b9" speed="2Gf"/>
    <host id="alone" speed="1Gf"/> <host id="idle" speed="0f"/> <host id="near" speed="1Gf"/>
    <link id="wide" bandwidth="100MBps" latency="3ms"/>
    <link id="narrow" bandwidth="10MBps" latency="4ms"/>
    <route src="desk" dst="b10"> <link_ctn id="wide"/> <link_ctn id="narrow"/> </route>
    <route src="desk" dst="b9"> <link_ctn id="wide"/> </route>
    <route src="desk" dst="idle"> <link_ctn id="wide"/> </route>
    <route src="b9" dst="near"> <link_ctn id="wide"/> </route>
  </zone>
</platform>
"""


@pytest.fixture
def chain(tmp_path):
    path = tmp_path / "chain.xml"
    path.write_text(CHAIN)
    return path


def test_capacities_are_those_of_the_file():
    site = site_of(STAR, "master")
    assert site.names == tuple(f"worker-{number}" for number in range(1, 11))
    speed = [5.6, 7.7, 9.5, 1.3, 2.2, 8.4, 9.5, 3.2, 3.8, 8.8]
    assert site.speed == pytest.approx(np.array(speed) * 1e9)
    # No worker gets more than the master's link of 59 MB/s lets through.
    own = np.array([41, 106, 39, 57, 84, 73, 19, 13, 110, 97])
    assert site.bandwidth == pytest.approx(np.minimum(own, 59) * 1e6)
    assert site.latency == pytest.approx(100e-6)
    assert (site.scheduler, site.uplink) == ("master", np.inf)


def test_a_route_counts_by_its_narrowest_link(chain):
    site = site_of(chain, "desk")
    # Hosts that compute nothing or cannot be reached are no peers; 9 comes before 10.
    assert site.names == ("b9", "b10")
    # One core of four.
    assert site.speed == pytest.approx([2e9, 3e9])
    assert site.bandwidth == pytest.approx([100e6, 10e6])
    assert site.latency == pytest.approx(7e-3)


def test_links_are_shared_by_transfers_that_are_under_way(chain):
    # Both peers pass the wide link, and the slower one of the two a narrow one.
    site = site_of(chain, "desk")
    sends = Bundle("b", 10, 0.0, 1e6)
    assert shared_site(chain, site, sends, 0.0).bandwidth == pytest.approx([90e6, 10e6])
    computes = Bundle("b", 10, 1e9, 0.0)
    assert shared_site(chain, site, computes).bandwidth == pytest.approx([1e8, 1e7])
    # Four alike that transfer 1 MB in one of two seconds just fill 2 MB/s; of 1 MB/s each gets
    # the r for which it transfers in three of four: 4 / (1 + 1 / r) = 1.
    alike = PeerSite.numbered([1e9] * 4, [1e6] * 4, uplink=2e6)
    task = Bundle("b", 10, 1e9, 1e6)
    assert shared_site(alike.platform(), alike, task, 0.0).bandwidth == pytest.approx([1e6] * 4)
    alike = replace(alike, uplink=1e6)
    found = shared_site(alike.platform(), alike, task, 0.0).bandwidth
    assert found == pytest.approx([1e6 / 3] * 4)


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("share", [1.0, 0.5, 1 / 12])
def test_estimates_know_a_shared_uplink(kind, share):
    plain = chosen_site()
    site = replace(plain, uplink=share * float(plain.bandwidth.sum()))
    bundle = Bundle.of_class(kind, 1000)
    believed = shared_site(site.platform(), site, bundle)
    deal = execute(site, bundle, MarketTerms(), "optimum", believed=believed).deals[0]
    # Without, completion is up to 10.8 times what is estimated.
    assert deal.outcome().completion == pytest.approx(deal.estimated().completion, rel=0.05)


def test_peers_keep_the_order_in_which_they_are_named(chain):
    assert site_of(chain, "desk", ["b10", "b9"]).names == ("b10", "b9")


def test_a_site_comes_back_from_its_own_platform():
    drawn = np.random.default_rng(3).uniform(1e6, 1e9, (2, 11))
    site = PeerSite.numbered(*drawn, latency=0.25, scheduler="desk")
    back = site_of(site.platform(), "desk")
    assert back.names == site.names
    assert back.speed == pytest.approx(site.speed)
    assert back.bandwidth == pytest.approx(site.bandwidth)
    assert back.latency == pytest.approx(0.25)


NO_SITES = [
    ("dusk", None, "dusk"),
    ("alone", None, "alone"),
    ("desk", ["b9", "b8"], "b8"),
    ("desk", ["b9", "desk"], "desk"),
    ("desk", ["b9", "b10", "b9"], "b9"),
    ("desk", ["idle"], "idle"),
    ("desk", ["b9", "near"], "near"),
]


@pytest.mark.parametrize(("scheduler", "peers", "culprit"), NO_SITES)
def test_invalid_sites_are_refused(chain, scheduler, peers, culprit):
    with pytest.raises(WorkloadError) as caught:
        site_of(chain, scheduler, peers)
    assert caught.value.argument == ("peers" if peers else "scheduler")
    assert repr(culprit) in str(caught.value)


def test_a_route_without_one_bandwidth_is_refused(simgrid_prefix):
    wifi = simgrid_prefix / "share" / "examples" / "platforms" / "wifi.xml"
    with pytest.raises(WorkloadError) as caught:
        site_of(wifi, "Station 1", ["Station 2"])
    assert caught.value.argument == "peers"


def test_hosts_beside_a_scheduler_are_those_of_its_zone(chain):
    assert hosts_beside(chain, "desk") == ["b10", "b9", "alone", "idle", "near"]
    assert hosts_beside(STAR, "worker-3")[0] == "master"
    with raises_naming(WorkloadError, "'nobody'"):
        hosts_beside(chain, "nobody")
