"""Grids of sites of peers: fields, and the routes between schedulers and peers."""

import numpy as np
import pytest

from simplugin.errors import PlatformError
from simplugin.platforms.peers import PeerGrid, PeerSite
from simplugin.simulation.resolve import resolve


def _site(name, latency=0.0):
    return PeerSite.numbered(
        np.array([1e9, 2e9]), np.array([1e7, 2e7]), name, scheduler=f"{name}-ls", latency=latency
    )


def test_routes_pass_the_backbone_and_the_local_scheduler():
    grid = PeerGrid(("a", "b"), (_site("a", 0.25), _site("b")), 1e8, 0.5)
    pairs = [("global-scheduler", "a-ls"), ("b-ls", "global-scheduler"), ("a-ls", "a-2")]
    found = resolve(grid.platform(), pairs)
    assert {host.name: host.speed for host in found.hosts}["b-2"] == 2e9
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
        ({"names": ("grid", "b")}, "a site of a grid of peers is called 'grid', as a zone around"),
        ({"names": ("a", "_world_")}, "a site of a grid of peers is called '_world_', as a zone"),
        ({"names": ("a", "a-2")}, "a host of a grid of peers is called 'a-2', as a site or a zone"),
        ({"names": ("b-ls", "b")}, "a host of a grid of peers is called 'b-ls', as a site"),
        ({"names": ("global-scheduler", "b")}, "a host .* is called 'global-scheduler', as a site"),
        ({"scheduler": "grid"}, "a host of a grid of peers is called 'grid', as a site or a zone"),
        ({"scheduler": "global"}, "a host of a grid of peers is called 'global', as a site"),
        ({"sites": (_site("a"), _site("a"))}, "two hosts of a grid of peers are called 'a-ls'"),
        ({"scheduler": "b-2"}, "two hosts of a grid of peers are called 'b-2'"),
        ({"bandwidth": np.inf}, "bandwidth of a grid of peers is inf"),
        ({"latency": -0.5}, "latency of a grid of peers is -0.5"),
    ],
)
def test_refuses(fields, message):
    given = {"names": ("a", "b"), "sites": (_site("a"), _site("b"))} | fields
    with pytest.raises(PlatformError, match=message):
        PeerGrid(**given)
