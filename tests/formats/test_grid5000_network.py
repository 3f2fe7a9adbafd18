"""Faults of switches and the backbone of Grid'5000, one at a time."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from simplugin.platforms.grid5000.facts import (
    BackboneLink,
    DataWarning,
    Grid5000,
    SitePosition,
    Uplink,
)

Grid = Any  # SmallGrid of conftest.py
Read = Callable[[Grid], tuple[Grid5000, tuple[DataWarning, ...]]]


def _uplinks(facts: Grid5000) -> tuple[Uplink, ...]:
    return facts.sites[0].uplinks


def _texts(warnings: tuple[DataWarning, ...]) -> list[str]:
    """Return warnings as "kind: message"."""
    return [f"{warning.kind}: {warning.message}" for warning in warnings]


def _cut(grid: Grid) -> None:
    """Remove both ends of the uplink."""
    del grid.switch()["linecards"][1]
    del grid.switch("gw")["linecards"][0]["ports"][-1]


@pytest.mark.parametrize("end", ["gw", "sw"])
def test_either_end_may_tell_the_uplink(end, grid, read):
    del grid.switch(end)["linecards"][-1]["ports"][-1]
    facts, warnings = read(grid)
    assert (_uplinks(facts), warnings) == ((Uplink("sw", "gw", 40e9),), ())


def test_cables_between_the_same_two_add_up(grid, read):
    cable = {"kind": "switch", "rate": 5_000_000_000}
    grid.switch()["linecards"][1]["ports"].append(cable | {"uid": "gw"})
    grid.switch("gw")["linecards"][0]["ports"].append(cable | {"uid": "sw"})
    facts, warnings = read(grid)
    assert (_uplinks(facts), warnings) == ((Uplink("sw", "gw", 45e9),), ())


def test_the_slower_end_of_an_uplink_counts(grid, read):
    grid.switch()["linecards"][1]["rate"] = 1_000_000_000
    facts, warnings = read(grid)
    assert _uplinks(facts) == (Uplink("sw", "gw", 1e9),)
    place = "sites/north/network_equipments/sw"
    message = "the cable between sw and gw has 1 Gbit/s at sw and 40 Gbit/s at gw; 1 Gbit/s is kept"
    about = ("uplink", "north", "sw", "gw")
    assert warnings == (DataWarning("contradiction", place, message, about),)


def test_channel_is_as_it_is_declared(grid, read):
    card = grid.switch()["linecards"][1]
    card["ports"] = [{"kind": "channel", "uid": "lag1"}] * 2
    card["rate"] = 25_000_000_000
    channel = {"kind": "router", "uid": "gw", "rate": 40_000_000_000}
    grid.switch()["channels"] = {"lag1": channel}
    facts, warnings = read(grid)
    assert _uplinks(facts) == (Uplink("sw", "gw", 40e9),)
    message = "channel 'lag1' to gw is declared as 40 Gbit/s, its ports make 50 Gbit/s; "
    assert _texts(warnings) == [f"contradiction: {message}the declared rate is kept"]
    del channel["rate"]
    del grid.switch("gw")["linecards"][0]["ports"][-1]
    facts, warnings = read(grid)
    assert (_uplinks(facts), warnings) == ((Uplink("sw", "gw", 50e9),), ())


def test_switch_without_a_way_is_joined_so_that_nothing_gets_slow(grid, read):
    _cut(grid)
    facts, warnings = read(grid)
    assert _uplinks(facts) == (Uplink("sw", "gw", 4 * 10e9),)
    message = "assumed: no way to the router is known; sw is joined to gw at 40 Gbit/s, "
    assert _texts(warnings) == [f"{message}as fast as all adapters behind it together"]


def test_uplink_without_a_rate_carries_all_adapters_behind_it(grid, read):
    # alpha at leaf - sw - gw, where sw - gw has no rate.
    leaf = copy.deepcopy(grid.switch())
    leaf["linecards"][1] = grid.ports("switch", {"uid": "sw"}, rate=20_000_000_000)
    for number in (1, 2, 3, 10):
        grid.adapter(number)["switch"] = "leaf"
    _cut(grid)
    grid.switch()["linecards"] = [grid.ports("router", {"uid": "gw"}, rate=None)]
    grid.equipment()["leaf"] = leaf
    facts, warnings = read(grid)
    assert _uplinks(facts) == (Uplink("leaf", "sw", 20e9), Uplink("sw", "gw", 40e9))
    assert [warning.kind for warning in warnings] == ["assumed"]


def test_way_with_fewest_cables_then_the_fastest(grid, read):
    _cut(grid)
    # By `a` the first cable is the faster one, but the way has a narrow place.
    ways = [("sw", "a", 100), ("a", "gw", 1)]
    ways += [end for name in "bc" for end in (("sw", name, 10), (name, "gw", 10))]
    # Faster, but one cable more.
    ways += [("sw", "d", 400), ("d", "e", 400), ("e", "gw", 400)]
    for switch, other, rate in ways:
        cards = grid.equipment().setdefault(switch, {"kind": "switch", "linecards": []})
        cards["linecards"].append(grid.ports("switch", {"uid": other}, rate=rate * 10**9))
    facts, _ = read(grid)
    assert _uplinks(facts) == (Uplink("b", "gw", 10e9), Uplink("sw", "b", 10e9))


def test_site_without_a_router_gets_one(grid, read):
    del grid.equipment()["gw"]
    facts, warnings = read(grid)
    assert facts.sites[0].router == "gw"
    assert _uplinks(facts) == (Uplink("sw", "gw", 40e9),)
    assert "assumed: there is no router; 'gw' is taken" in _texts(warnings)


def test_second_router_is_a_switch(grid, read):
    grid.switch()["kind"] = "router"
    facts, warnings = read(grid)
    assert facts.sites[0].router == "gw"
    assert _uplinks(facts) == (Uplink("sw", "gw", 40e9),)
    message = "there are routers gw, sw; gw is taken, others as switches"
    assert warnings == (DataWarning("contradiction", "sites/north", message, ("site", "north")),)


def test_equipment_of_the_name_of_a_node_is_left_out(grid, read):
    grid.equipment()["alpha-2"] = {"kind": "switch"}
    facts, warnings = read(grid)
    assert _texts(warnings) == ["left-out: a node has the name alpha-2 too"]
    assert warnings[0].about == ("switch", "north", "alpha-2")
    assert facts.sites[0].node_count == 4


def test_link_that_one_point_of_presence_lists_is_kept(grid, read):
    pops = grid["network_equipments"]
    pops["renater-lyon"] = {"linecards": [grid.ports("virtual", {"uid": "renater-paris"})]}
    facts, warnings = read(grid)
    assert BackboneLink(("renater-lyon", "renater-paris"), 10e9) in facts.backbone
    message = "it does not list renater-lyon, which lists renater-paris; the link is kept"
    place, about = "network_equipments/renater-paris", ("link", "renater-lyon", "renater-paris")
    assert warnings == (DataWarning("contradiction", place, message, about),)


def test_site_goes_to_the_nearest_point_of_presence(grid, read):
    pops = grid["network_equipments"]
    ports = pops["renater-paris"]["linecards"][0]["ports"]
    card = grid.ports("virtual", ports.pop(), {"uid": "renater-paris"})
    pops["renater-south"] = {"linecards": [card]}
    ports.append({"uid": "renater-south"})
    router = grid["sites"]["south"]["network_equipments"]["gw"]
    router["linecards"][0]["ports"][-1]["uid"] = "renater-south"
    third = copy.deepcopy(grid["sites"]["north"])
    third["clusters"] = {"gamma": {"nodes": {"gamma-1": grid.node()}}}
    third["network_equipments"]["sw"]["linecards"][0]["ports"] = [{"uid": "gamma-1"}]
    exit_port = {"uid": "PE-RENATER", "kind": "other", "rate": 2_000_000_000}
    third["network_equipments"]["gw"]["linecards"][0]["ports"][1] = exit_port
    grid["sites"]["third"] = third | {"latitude": 43.5, "longitude": 6.0}
    facts, warnings = read(grid)
    assert BackboneLink(("third", "renater-south"), 2e9, assumed=True) in facts.backbone
    (told,) = warnings
    about = ("link", "third", "renater-south")
    assert (told.kind, told.place, told.about) == ("assumed", "sites/third", about)
    assert "renater-south is taken, the nearest one, at 2 Gbit/s" in warnings[0].message
    del third["latitude"], grid["sites"]["third"]["latitude"]
    facts, warnings = read(grid)
    assert "renater-paris is taken, since positions are missing, at" in warnings[0].message
    assert BackboneLink(("third", "renater-paris"), 2e9, assumed=True) in facts.backbone


def test_parts_of_the_backbone_are_joined(grid, read):
    for one, other in (("far", "off"), ("off", "far")):
        cards = [grid.ports("virtual", {"uid": f"renater-{other}"})]
        grid["network_equipments"][f"renater-{one}"] = {"linecards": cards}
    facts, warnings = read(grid)
    assumed = [link for link in facts.backbone if link.assumed]
    assert assumed == [BackboneLink(("renater-far", "renater-paris"), 10e9, assumed=True)]
    assert [r.kind for r in warnings] == ["assumed"]


def test_without_a_backbone_sites_are_joined_all_the_same(grid, read):
    del grid["network_equipments"]
    facts, warnings = read(grid)
    for site, link, text in zip(("north", "south"), facts.backbone, _texts(warnings), strict=True):
        assert link == BackboneLink((site, "renater-paris"), 10e9, assumed=True)
        assert text.startswith(f"assumed: no point of presence leads to {site}; renater-paris is ")
        assert "taken, since none is described, at" in text
    del grid["sites"]["south"]
    facts, warnings = read(grid)
    assert (facts.backbone, warnings) == ((), ())


def test_places_of_sites_and_of_points_with_names_of_their_own(grid, read):
    north, south = SitePosition("north", 50.0, 3.0), SitePosition("south", 43.0, 7.0)
    assert read(grid)[0].places == (north, SitePosition("renater-paris", 50.0, 3.0), south)
    pops = grid["network_equipments"]
    pops["renater-south"] = pops.pop("renater-paris")
    grid["sites"]["empty"] = {"latitude": -1, "longitude": 2}
    facts, _ = read(grid)
    # renater-south is where its namesake is.
    assert facts.places == (SitePosition("empty", -1.0, 2.0), north, south)


@pytest.mark.parametrize("latitude", [None, "50", 100, True, 10**400])
def test_positions_that_are_none_are_texts(latitude, grid, read):
    grid["sites"]["north"]["latitude"] = latitude
    facts, warnings = read(grid)
    assert "north" not in {place.name for place in facts.places}
    (told,) = warnings
    assert (told.kind, told.place, told.about) == ("left-out", "sites/north", ("site", "north"))
    assert told.message.startswith("its position is ")
