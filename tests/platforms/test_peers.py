"""Sites of computing peers: fields, and the star that they become."""

from __future__ import annotations

import numpy as np
import pytest

from simplugin.errors import PlatformError
from simplugin.platforms.peers import PeerGrid, PeerSite
from simplugin.simulation import SimGridOptions, simulate
from simplugin.simulation.resolve import resolve

SPEED, BANDWIDTH = np.array([1e9, 2e9, 4e9]), np.array([1e7, 2e7, 5e6])


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"names": ()}, "has no peer"),
        ({"names": ("a", "b", "a")}, "two hosts of a site of peers are called 'a'"),
        ({"scheduler": "b"}, "are called 'b'"),
        ({"speed": [1.0, 2.0]}, r"speed has shape \(2,\); give \(3,\)"),
        ({"bandwidth": [1.0, 0.0, 1.0]}, "bandwidth has a value out of its range"),
        ({"speed": [1.0, np.inf, 1.0]}, "speed has a value out of its range"),
        ({"latency": -1.0}, "latency of a site of peers is -1.0"),
        ({"uplink": 0.0}, "uplink of a site of peers is 0.0"),
    ],
)
def test_refuses(fields, message):
    given = {"names": ("a", "b", "c"), "speed": SPEED, "bandwidth": BANDWIDTH} | fields
    with pytest.raises(PlatformError, match=message):
        PeerSite(**given)


async def _send_all(me, names, byte):
    await me.wait_all([me.sendto_async(me.host, name, byte, label=name) for name in names])


def _dates(site, byte):
    """Return when transfers to all peers, begun together, end."""
    actors = [(site.scheduler, _send_all, site.names, byte)]
    trace = simulate(site.platform(), actors, options=SimGridOptions.linear()).trace.to_pandas()
    ends = trace[trace.label.isin(site.names)].set_index("label").end
    return ends.loc[list(site.names)].to_numpy()


@pytest.mark.parametrize(
    ("uplink", "byte", "dates"),
    [
        (np.inf, 1e8, 0.25 + 1e8 / BANDWIDTH),
        # Of 6e6 byte/s each gets 2e6, which none of the links limits; so 3 x 6e7 byte take 30 s.
        (6e6, 6e7, [30.25] * 3),
    ],
)
def test_peers_have_links_of_their_own_and_share_an_uplink(uplink, byte, dates):
    site = PeerSite.numbered(SPEED, BANDWIDTH, latency=0.25, uplink=uplink)
    assert _dates(site, byte) == pytest.approx(dates, rel=1e-12)


def _site(name, latency=0.0):
    return PeerSite.numbered(
        np.array([1e9, 2e9]), np.array([1e7, 2e7]), name, scheduler=f"{name}-ls", latency=latency
    )


def test_routes_pass_the_backbone_and_the_local_scheduler():
    grid = PeerGrid(("a", "b"), (_site("a", 0.25), _site("b")), 1e8, 0.5)
    pairs = [("global-scheduler", "a-ls"), ("b-ls", "global-scheduler"), ("a-ls", "a-2")]
    found = resolve(grid.platform(), pairs)
    speeds = {host.name: host.speed for host in found.hosts}
    assert (speeds["a-1"], speeds["b-2"]) == (1e9, 2e9)
    routes = {(route.source, route.destination): route for route in found.routes}
    assert [tuple(routes[pair].links) for pair in pairs] == [
        ("backbone",), ("backbone",), ("a-ls-link", "a-2-link")
    ]  # fmt: skip
    assert [routes[pair].latency for pair in pairs] == [0.5, 0.5, 0.25]
    assert {link.name: link.bandwidth for link in found.links}["backbone"] == 1e8


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"names": (), "sites": ()}, "has 0 names and 0 sites"),
        ({"names": ("a",)}, "has 1 names and 2 sites"),
        ({"names": ("a", "a")}, "two sites of a grid of peers are called 'a'"),
        ({"names": ("a", "global")}, "a site of a grid of peers is called 'global', as a zone"),
        ({"names": ("a", "a-2")}, "a host of a grid of peers is called 'a-2', as a site or a zone"),
        ({"names": ("global-scheduler", "b")}, "a host .* is called 'global-scheduler', as a site"),
        ({"scheduler": "grid"}, "a host of a grid of peers is called 'grid', as a site or a zone"),
        ({"sites": (_site("a"), _site("a"))}, "two hosts of a grid of peers are called 'a-ls'"),
        ({"scheduler": "b-2"}, "two hosts of a grid of peers are called 'b-2'"),
        ({"bandwidth": np.inf}, "bandwidth of a grid of peers is inf"),
        ({"latency": -0.5}, "latency of a grid of peers is -0.5"),
    ],
)
def test_refuses_grids(fields, message):
    given = {"names": ("a", "b"), "sites": (_site("a"), _site("b"))} | fields
    with pytest.raises(PlatformError, match=message):
        PeerGrid(**given)
