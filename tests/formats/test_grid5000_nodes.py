"""Faults of nodes of Grid'5000, one at a time."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from simplugin.core.errors import PlatformError
from simplugin.platforms.grid5000.facts import Adapter, BackboneLink, DataWarning, NodeGroup, Uplink

Grid = Any  # SmallGrid of conftest.py
Read = Callable[[Grid], tuple[Any, tuple[DataWarning, ...]]]


def _groups(facts: Any) -> tuple[NodeGroup, ...]:
    return tuple(facts.sites[0].clusters[0].groups)


def _warning(kind: str, message: str) -> DataWarning:
    """Return a warning about the cluster alpha."""
    return DataWarning(kind, "sites/north/clusters/alpha", message, ("cluster", "north", "alpha"))


def test_what_is_in_order_gives_no_warning(grid, read):
    facts, warnings = read(grid)
    assert warnings == ()
    assert facts.date == ""
    assert _groups(facts) == (NodeGroup("1-3,10", 4, 2e9, Adapter("Ethernet", 10e9, "sw")),)
    assert facts.sites[0].uplinks == (Uplink("sw", "gw", 40e9),)
    # An alias of the router is the router.
    assert facts.sites[1].clusters[0].groups[0].adapter.switch == "gw"
    assert facts.sites[1].uplinks == ()
    ends = (("north", "renater-paris"), ("south", "renater-paris"))
    assert facts.backbone == tuple(BackboneLink(each, 10e9) for each in ends)


def test_a_reference_of_before_2017(grid, read):
    """Cores were called ``smt_size``, as in its own pages of that time."""
    before = read(grid)[0]
    for number in (1, 2, 3, 10):
        architecture = grid.alpha(number)["architecture"]
        architecture["smt_size"] = architecture.pop("nb_cores")
    facts, warnings = read(grid)
    assert facts == before
    message = "alpha-1-3,10: there is no nb_cores, as before 2017; smt_size 4 is taken"
    assert warnings == (_warning("assumed", message),)


LEFT_OUT = [
    ({"architecture": {}}, "the number of cores is unknown"),
    ({"performance": None}, "no performance figure"),
    ({"performance": {"node_flops": "8e9", "core_flops": -1}}, "no performance figure"),
    ({"architecture": {"nb_cores": "4"}}, "the number of cores is '4'"),
    ({"architecture": {"nb_cores": 0}}, "the number of cores is 0"),
    ({"architecture": {"nb_cores": 2.5}}, "the number of cores is 2.5"),
    ({"status": "retired"}, "retired"),
    ({"state": "Retired"}, "retired"),
    ({"network_adapters": []}, "no mounted Ethernet adapter"),
]


@pytest.mark.parametrize(("change", "message"), LEFT_OUT)
def test_nodes_that_cannot_be_described_are_left_out(change, message, grid, read):
    for number in (1, 3):
        grid.alpha(number).update(change)
    facts, warnings = read(grid)
    assert warnings == (_warning("left-out", f"alpha-1,3: {message}"),)
    assert [group.numbers for group in _groups(facts)] == ["2,10"]


@pytest.mark.parametrize(
    ("key", "value"),
    [("mounted", False), ("management", True), ("enabled", False), ("mounted", "true")],
)
def test_adapters_not_in_use_do_not_count(key, value, grid, read):
    grid.adapter()[key] = value
    facts, warnings = read(grid)
    assert warnings == (_warning("left-out", "alpha-1: no mounted Ethernet adapter"),)
    assert _groups(facts)[0].numbers == "2-3,10"


def test_total_is_believed_and_made_of_cores_where_it_is_missing(grid, read):
    grid.alpha()["performance"]["node_flops"] = 7_000_000_000
    facts, warnings = read(grid)
    message = "alpha-1: node_flops 7e+09 is not 4 cores of core_flops 2e+09; node_flops is kept"
    assert warnings == (_warning("contradiction", message),)
    assert [(g.numbers, g.cores * g.speed) for g in _groups(facts)] == [("1", 7e9), ("2-3,10", 8e9)]
    del grid.alpha()["performance"]["node_flops"]
    facts, warnings = read(grid)
    message = "alpha-1: node_flops is unknown; 4 cores of core_flops are taken"
    assert warnings == (_warning("assumed", message),)
    assert len(_groups(facts)) == 1


@pytest.mark.parametrize("rate", [None, "10 Gbps", 0, 10**400, True])
def test_an_adapter_without_a_rate_has_that_of_its_port(rate, grid, read):
    grid.adapter()["rate"] = rate
    facts, warnings = read(grid)
    shown = "1" + 36 * "0" + "..." if rate == 10**400 else repr(rate)
    shown = "unknown" if rate is None else shown
    message = f"alpha-1: the rate of eth0 is {shown}; that of its port at sw is taken"
    assert warnings == (_warning("assumed", message),)
    assert len(_groups(facts)) == 1


def test_node_without_any_rate_is_left_out(grid, read):
    del grid.adapter()["rate"]
    del grid.switch()["linecards"][0]["rate"]
    message = "alpha-1: the rate of eth0 is unknown, and its port has none"
    assert read(grid)[1] == (_warning("left-out", message),)


def test_a_cable_is_as_fast_as_its_slower_end(grid, read):
    grid.switch()["linecards"][0]["ports"][2]["rate"] = 1_000_000_000
    facts, warnings = read(grid)
    message = "alpha-2: eth0 has 10 Gbit/s, its port at sw 1 Gbit/s; the lower is kept"
    assert warnings == (_warning("contradiction", message),)
    assert [(g.numbers, g.adapter.rate) for g in _groups(facts)] == [("1,3,10", 10e9), ("2", 1e9)]


def test_the_node_is_believed_about_its_switch(grid, read):
    grid.adapter()["switch"] = "gw"
    facts, warnings = read(grid)
    message = "alpha-1: eth0 is at gw, says the node, at sw, say ports; gw is kept"
    assert warnings == (_warning("contradiction", message),)
    switches = [(group.numbers, group.adapter.switch) for group in _groups(facts)]
    assert switches == [("1", "gw"), ("2-3,10", "sw")]


def test_missing_ports_and_nodes_give_warnings(grid, read):
    ports = grid.switch()["linecards"][0]["ports"]
    ports[1] = {"uid": "alpha-77"}
    facts, warnings = read(grid)
    message = "alpha-1: eth0 is at sw, says the node, but no port there names it; it is kept"
    ghost = _warning("left-out", "its ports name alpha-77, which no file describes")
    place = "sites/north/network_equipments/sw"
    assert warnings == (_warning("contradiction", message), replace(ghost, place=place))
    assert len(_groups(facts)) == 1


def test_an_unknown_switch_is_that_of_the_port_else_the_router(grid, read):
    grid.adapter(1)["switch"] = "lost"
    del grid.adapter(2)["switch"]
    del grid.switch()["linecards"][0]["ports"][2]
    facts, warnings = read(grid)
    message = "alpha-1: eth0 names an unknown switch, 'lost'; sw is taken, a port of which names it"
    assert warnings == (
        _warning("assumed", message),
        _warning("assumed", "alpha-2: eth0 has no switch; gw is taken"),
    )
    switches = [(group.numbers, group.adapter.switch) for group in _groups(facts)]
    assert switches == [("1,3,10", "sw"), ("2", "gw")]


def test_the_fastest_of_several_adapters_is_taken(grid, read):
    second = grid.adapter() | {"device": "eth1", "rate": 25_000_000_000}
    grid.alpha()["network_adapters"].append(second)
    ports = grid.ports("node", {"uid": "alpha-1", "port": "eth1"}, rate=25_000_000_000)
    grid.switch()["linecards"].append(ports)
    facts, warnings = read(grid)
    assert warnings == (_warning("assumed", "alpha-1: eth0, eth1 are mounted; eth1 is taken"),)
    assert _groups(facts)[0].adapter.rate == 25e9


def test_fast_network_is_found_by_the_ports_of_its_switch(grid, read):
    fast = {"device": "ib0", "interface": "InfiniBand", "mounted": True, "rate": 100_000_000_000}
    for number, rate in ((1, {}), (2, {}), (3, {"rate": None})):
        grid.alpha(number)["network_adapters"].append(fast | rate)
    ports = grid.ports("node", {"uid": "alpha-1", "port": "ib0"})
    grid.equipment()["ib"] = {"kind": "hpcswitch", "linecards": [ports]}
    facts, warnings = read(grid)
    fast_ones = [Adapter("InfiniBand", 100e9, switch) for switch in ("ib", "")]
    assert [group.fast_adapter for group in _groups(facts)] == [*fast_ones, None]
    assert warnings == (_warning("left-out", "alpha-3: ib0 is 'InfiniBand' at rate unknown"),)


ODD_NAMES = [
    ("alpha-01", {}, "'alpha-01' is not 'alpha' and a number"),
    ("alpha-5", {"uid": 5}, "uid 5 is no name"),
    ("alpha-5", {"uid": "a b"}, "uid 'a b' is no name"),
    ("alpha-5", {"uid": "alpha-1"}, "there are two entries of uid 'alpha-1'"),
]


@pytest.mark.parametrize(("uid", "content", "message"), ODD_NAMES)
def test_nodes_with_odd_names_are_left_out(uid, content, message, grid, read):
    nodes = grid["sites"]["north"]["clusters"]["alpha"]["nodes"]
    nodes[uid] = grid.node(**content)
    facts, warnings = read(grid)
    assert ("left-out", message) in {(r.kind, r.message) for r in warnings}
    assert [group.numbers for group in _groups(facts)] == ["1-3,10"]


def test_what_is_no_object_is_left_out(grid, read):
    clusters = grid["sites"]["north"]["clusters"]
    clusters["alpha"]["nodes"]["alpha-4"] = "lost"
    clusters["empty"] = {}
    grid["sites"]["south"]["clusters"]["alpha"] = {"nodes": {"alpha-1": grid.node()}}
    grid.switch()["linecards"] += [7, grid.ports("node", rate=-1)]
    facts, warnings = read(grid)
    assert [group.numbers for group in _groups(facts)] == ["1-3,10"]
    assert [str(warning).replace("left-out: ", "") for warning in warnings] == [
        "sites/north/clusters/alpha/nodes/alpha-4: this is no object: 'lost'",
        "sites/north/clusters/empty: empty has no node that can be described",
        "sites/north/network_equipments/sw: linecards[2] is no object: 7",
        "sites/north/network_equipments/sw: the rate of linecard 3 is -1, no bit/s above 0",
        "sites/south/clusters/alpha: another site has a cluster alpha too",
    ]


def test_retired_clusters_and_empty_sites_are_left_out(grid, read):
    grid["sites"]["south"]["clusters"]["beta"]["status"] = "retired"
    facts, warnings = read(grid)
    assert [site.uid for site in facts.sites] == ["north"]
    told = [(warning.kind, warning.message) for warning in warnings]
    assert told == [("left-out", "south has no nodes"), ("left-out", "beta is retired")]


def test_without_any_node_there_are_no_facts(grid, read):
    for number in (1, 2, 3, 10):
        grid.alpha(number)["performance"] = {}
    del grid["sites"]["south"]
    with pytest.raises(PlatformError):
        read(grid)
