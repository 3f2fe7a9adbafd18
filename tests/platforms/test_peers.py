"""Sites of computing peers: fields, the star that they become, and the paper's twelve peers."""

import numpy as np
import pytest
from naming import raises_naming

from simplugin.core.errors import PlatformError
from simplugin.market.model import heterogeneity
from simplugin.platforms.peers import PeerGrid, PeerSite
from simplugin.platforms.twelve_peers import DEGREES, chosen_site, consistent_site, scaled_site
from simplugin.simulation import SimGridOptions, simulate
from simplugin.simulation.resolve import resolve

SPEED, BANDWIDTH = np.array([1e9, 2e9, 4e9]), np.array([1e7, 2e7, 5e6])


REFUSED_SITES = [
    ({"names": ()}, ""),
    ({"names": ("a", "b", "a")}, "'a'"),
    ({"scheduler": "b"}, "'b'"),
    ({"speed": [1.0, 2.0]}, "speed (2,) (3,)"),
    ({"bandwidth": [1.0, 0.0, 1.0]}, "bandwidth[1] 0.0"),
    ({"speed": [1.0, np.inf, 1.0]}, "speed[1] inf"),
    ({"latency": -1.0}, "latency -1.0"),
    ({"uplink": 0.0}, "uplink 0.0"),
]


async def _send_all(me, names, byte):
    await me.wait_all([me.sendto_async(me.host, name, byte, label=name) for name in names])


def _dates(site, byte):
    """Return when transfers to all peers, begun together, end."""
    actors = [(site.scheduler, _send_all, site.names, byte)]
    trace = simulate(site.platform(), actors, options=SimGridOptions.linear()).trace.to_pandas()
    ends = trace[trace.label.isin(site.names)].set_index("label").end
    return ends.loc[list(site.names)].to_numpy()


def test_peers_have_links_of_their_own_and_share_an_uplink():
    site = PeerSite.numbered(SPEED, BANDWIDTH, latency=0.25)
    assert _dates(site, 1e8) == pytest.approx(0.25 + 1e8 / BANDWIDTH, rel=1e-12)
    # Of 6e6 byte/s each gets 2e6, which none of the links limits; so 3 x 6e7 byte take 30 s.
    site = PeerSite.numbered(SPEED, BANDWIDTH, latency=0.25, uplink=6e6)
    assert _dates(site, 6e7) == pytest.approx([30.25] * 3, rel=1e-12)


def _site(name, latency=0.0):
    speed, options = np.array([1e9, 2e9]), {"scheduler": f"{name}-ls", "latency": latency}
    return PeerSite.numbered(speed, speed / 100, name, **options)


def test_routes_pass_the_backbone_and_the_local_scheduler():
    grid = PeerGrid(("a", "b"), (_site("a", 0.25), _site("b")), 1e8, 0.5)
    pairs = [("global-scheduler", "a-ls"), ("b-ls", "global-scheduler"), ("a-ls", "a-2")]
    found = resolve(grid.platform(), pairs)
    speeds = {host.name: host.speed for host in found.hosts}
    assert (speeds["a-1"], speeds["b-2"]) == (1e9, 2e9)
    links = [" ".join(route.links) for route in found.routes]
    assert links == ["backbone", "backbone", "a-ls-link a-2-link"]
    assert [route.latency for route in found.routes] == [0.5, 0.5, 0.25]
    assert {link.name: link.bandwidth for link in found.links}["backbone"] == 1e8


REFUSED_GRIDS = [
    ({"names": (), "sites": ()}, "0 names"),
    ({"names": ("a",)}, "1 2 names"),
    ({"names": ("a", "a")}, "'a' sites"),
    ({"names": ("a", "global")}, "'global'"),
    ({"names": ("a", "a-2")}, "'a-2'"),
    ({"names": ("global-scheduler", "b")}, "'global-scheduler'"),
    ({"scheduler": "grid"}, "'grid'"),
    ({"sites": (_site("a"), _site("a"))}, "'a-ls'"),
    ({"scheduler": "b-2"}, "'b-2'"),
    ({"bandwidth": np.inf}, "bandwidth inf"),
    ({"latency": -0.5}, "latency -0.5"),
]


REFUSED = [(PeerSite, *each) for each in REFUSED_SITES]
REFUSED += [(PeerGrid, *each) for each in REFUSED_GRIDS]


@pytest.mark.parametrize(("kind", "fields", "named"), REFUSED)
def test_invalid_sites_and_grids_are_refused(kind, fields, named):
    valid = {
        PeerSite: {"names": ("a", "b", "c"), "speed": SPEED, "bandwidth": BANDWIDTH},
        PeerGrid: {"names": ("a", "b"), "sites": (_site("a"), _site("b"))},
    }
    with raises_naming(PlatformError, *named.split()):
        kind(**valid[kind] | fields)


# Twelve peers.


def first_prices(site, flop=1000.0, byte=1.0):
    """Eqs. (4) and (6), written anew: a task an hour, sizes and capacities in millions."""
    return 3600 / (0.005 + byte / (site.bandwidth / 1e6) + flop / (site.speed / 1e6))


def degree_of(site):
    """Eq. (13) in millions."""
    return heterogeneity(site.speed / 1e6, site.bandwidth / 1e6)


@pytest.mark.parametrize("seed", range(4))
def test_the_three_numbers_of_the_paper(seed):
    site = consistent_site(seed)
    prices = first_prices(site)
    assert site.n_peers == 12
    assert prices[9] == pytest.approx(4.5, rel=1e-12)
    assert prices.mean() == pytest.approx(83.3, rel=1e-12)
    spreads = [np.std(each) / 1e6 for each in (site.speed, site.bandwidth)]
    assert sum(spreads) / 2 == pytest.approx(11.0468, rel=1e-12)
    assert prices.argmin() == 9


@pytest.mark.parametrize("spread", [0.2, 0.8])
def test_other_spreads_fit_too(spread):
    site = consistent_site(3, spread)
    assert first_prices(site).mean() == pytest.approx(83.3, rel=1e-12)
    assert degree_of(site) == pytest.approx(11.0468, rel=1e-12)
    others = np.delete(np.log(site.speed), 9)
    assert others.std() == pytest.approx(spread, rel=0.6)


def test_sites_of_different_seeds_differ_and_those_of_one_do_not():
    assert np.all(consistent_site(0).speed == chosen_site().speed)
    assert np.all(consistent_site(1).speed[:9] != chosen_site().speed[:9])


@pytest.mark.parametrize("degree", [0.0, 0.5, *DEGREES])
def test_degrees_are_those_wanted_and_means_stay(degree):
    site, whole = scaled_site(4, degree), consistent_site(4)
    assert degree_of(site) == pytest.approx(degree, rel=1e-12, abs=1e-12)
    assert site.speed.mean() == pytest.approx(whole.speed.mean(), rel=1e-12)
    assert site.bandwidth.mean() == pytest.approx(whole.bandwidth.mean(), rel=1e-12)


def test_degrees_out_of_range_are_refused():
    with raises_naming(PlatformError, 12, 11.0468):
        scaled_site(0, 12)
    with raises_naming(PlatformError, 30.0):
        consistent_site(0, 30.0)
