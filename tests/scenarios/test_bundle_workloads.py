"""Bundles, logs, peers and sites that scenarios name."""

import pytest
from changed_scenarios import change, cut, refused, run

from simplugin.market.sites import site_of
from simplugin.platforms.twelve_peers import chosen_site, consistent_site, scaled_site
from simplugin.scenarios import load_scenario
from simplugin.workloads.bundles import lcg_bundles

SIZES = 'flop = "1Gf"\nbyte = "100MB"\ncount = 3'


def site_in(path):
    return site_of(load_scenario(path).make_platform())


def test_classes_are_those_of_the_paper(three):
    change(three, "price_unit = 10.0", 'price_unit = "1h"')
    outcome = run(change(three, SIZES, 'class = "neutral"'))
    # 500 Mflop and 500 MB.
    assert outcome.listings[0].column("ECT") == pytest.approx((5.5, 10.25))
    assert outcome.listings[0].column("base price")[0] == pytest.approx(3600 / 5.5)


def test_peers_of_a_site_may_be_named(two_sites):
    named = '"scheduler-2", peers = ["peer-2-2"]'
    peers = run(change(two_sites, '"scheduler-2"', named)).listings[1]
    assert peers.column("peer") == ("peer-1-1", "peer-2-2")


def test_any_platform_file(three, pytestconfig):
    star = pytestconfig.rootpath / "platforms_xml" / "star.xml"
    change(three, "count = 3", "count = 100")
    cut(three, "generator =", "[workload]", f"file = '{star}'")
    refused(three, "'scheduler' is no host; there are master, worker-1", "workload.scheduler")
    outcome = run(change(three, "setup = 0.0", 'scheduler = "master"'))
    assert sum(outcome.listings[0].column("tasks")) == 100
    # All share the master's link, which the estimates know nothing of.
    assert outcome.row["ect_error"] > 1
    change(three, 'scheduler = "master"', 'scheduler = "master"\nestimates = "shared"')
    assert abs(run(three).row["ect_error"]) < 0.5


def test_a_log(three):
    change(three, SIZES, 'file = "log.swf"\nleast = 2\nspeed = "1Gf"\nbyte = "100MB"')
    [bundles, peers] = run(three).listings
    assert bundles.column("bundle") == ("log-1", "log-2")
    assert bundles.column("tasks") == (3, 2)
    # The last job of either at 120 and 405 s.
    assert bundles.column("from") == (0.0, 285.0)
    assert sum(peers.column("tasks")) == 5


def test_real_sizes_of_a_log(three):
    log = 'file = "log.swf"\nleast = 2\nfirst = 1\nspeed = "1Gf"\nrelease = "5s"'
    change(three, SIZES, log + "\nreal_sizes = true")
    change(three, "setup = 0.0", "setup = 0.0\npeers = ['peer-1']")
    real = run(three)
    assert real.row["makespan"] == pytest.approx(5 + 2 * (10 + 20 + 30), rel=1e-6)
    assert abs(real.row["ect_error"]) < 1e-6
    change(three, "peers = ['peer-1']", "peers = ['peer-2']", '"1Gf", "2Gf"', '"1Gf", "4Gf"')
    assert run(three).row["completion"] == pytest.approx(30.0, rel=1e-6)


def test_the_shipped_log(three):
    change(three, SIZES, 'log = "lcg"\nfirst = 3\nspeed = "1Mf"')
    known = lcg_bundles()[:3]
    mean = run(three)
    assert mean.listings[0].column("tasks") == tuple(each.count for each in known)
    released = [each.release - known[0].release for each in known]
    assert mean.listings[0].column("from") == pytest.approx(released)
    computed = sum(each.count * each.mean for each in known) * 1e6
    assert mean.result.hosts.flops.sum() == pytest.approx(computed, rel=1e-4)
    real = run(change(three, "first = 3", "first = 3\nreal_sizes = true"))
    # As much is computed, but not by the estimates.
    assert real.result.hosts.flops.sum() == pytest.approx(computed, rel=1e-4)
    assert abs(real.row["ect_error"]) > 1e-2 > abs(mean.row["ect_error"])
    assert run(three).row.flat() == real.row.flat()


PEERS = [
    ("", "", chosen_site()),
    ("", "seed = 4", consistent_site(4)),
    ("{ degree = 3.0 }", "seed = 4", scaled_site(4, 3.0)),
    ("{ degree = 3.0 }", "", scaled_site(0, 3.0)),
]


@pytest.mark.parametrize(("parameters", "seed", "site"), PEERS)
def test_peers_that_fit_the_paper(three, parameters, seed, site):
    given = f"parameters = {parameters}\n" if parameters else ""
    found = site_in(cut(three, "parameters =", "[workload]", given + seed))
    assert found.speed == pytest.approx(site.speed)
    assert found.bandwidth == pytest.approx(site.bandwidth)


def test_sites_that_fit_the_paper(two_sites):
    given = 'parameters = { sites = 2, bandwidth = "1GBps" }\nseed = 4'
    cut(two_sites, "[platform.parameters]", "[workload]", given)
    peers = [f"peer-2-{number}" for number in range(1, 13)]
    found = site_of(load_scenario(two_sites).make_platform(), "scheduler-2", peers)
    assert found.speed == pytest.approx(consistent_site(5).speed)
