"""Random platforms that SimGrid loads, and a small reference of Grid'5000 to damage."""

import json
from collections.abc import Callable
from itertools import combinations, count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from simplugin.formats.grid5000.reference import read_reference
from simplugin.platforms import (
    Cluster,
    Config,
    DeployedActor,
    Disk,
    Host,
    HostLink,
    Link,
    LinkUse,
    Platform,
    Profile,
    ProfileUse,
    Route,
    Router,
    Zone,
    ZoneRoute,
)
from simplugin.platforms.grid5000.facts import DataWarning, Grid5000

SMALL = Path(__file__).with_name("grid5000_small.json")

SPEEDS = st.floats(1e-3, 1e24)
BANDWIDTHS = st.floats(1e-3, 1e20)
LATENCIES = st.just(0.0) | st.floats(1e-14, 1e6)
# Whatever XML has to quote, and more than ASCII.
LABELS = st.text(st.sampled_from("abz09.-_ &<>\"'é中\t\n"), max_size=5)
TEXTS = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"), max_size=8
)
PROPERTIES = st.dictionaries(TEXTS.filter(bool), TEXTS, max_size=2)


class SmallGrid(dict[str, Any]):
    """A reference: one site has a switch with four nodes, the other a node at its router."""

    def alpha(self, number: int = 1) -> dict[str, Any]:
        """Return a node behind the switch."""
        nodes: dict[str, Any] = self["sites"]["north"]["clusters"]["alpha"]["nodes"]
        return nodes[f"alpha-{number}"]

    def adapter(self, number: int = 1) -> dict[str, Any]:
        """Return the first adapter of such a node."""
        found: dict[str, Any] = self.alpha(number)["network_adapters"][0]
        return found

    def equipment(self) -> dict[str, Any]:
        """Return the switches and the router of that site."""
        found: dict[str, Any] = self["sites"]["north"]["network_equipments"]
        return found

    def switch(self, uid: str = "sw") -> dict[str, Any]:
        """Return the switch, or the router beside it."""
        found: dict[str, Any] = self.equipment()[uid]
        return found

    @staticmethod
    def node(**changes: Any) -> dict[str, Any]:
        """Return a node as it is at the other site, with some values changed."""
        sites = json.loads(SMALL.read_text())["sites"]
        return {**sites["south"]["clusters"]["beta"]["nodes"]["beta-1"], **changes}

    @staticmethod
    def ports(kind: str, *ports: dict[str, Any], rate: int | None = 10**10) -> dict[str, Any]:
        """Return a line card: an unused port and those given."""
        return {"kind": kind, "ports": [{}, *ports]} | ({} if rate is None else {"rate": rate})


@pytest.fixture
def grid() -> SmallGrid:
    """The small reference, to be changed."""
    return SmallGrid(json.loads(SMALL.read_text()))


@pytest.fixture
def read(tmp_path: Path) -> Callable[[Any], tuple[Grid5000, tuple[DataWarning, ...]]]:
    """A function from a reference to what is read of it."""

    def reader(grid: Any) -> tuple[Grid5000, tuple[DataWarning, ...]]:
        path = tmp_path / "grid.json"
        path.write_text(json.dumps(grid))
        return read_reference(path)

    return reader


@pytest.fixture(scope="session")
def random_platforms() -> st.SearchStrategy[Platform]:
    """Strategy of platforms that SimGrid loads."""
    return _platforms()


class _Names:
    """Hands out names that no two elements share."""

    def __init__(self) -> None:
        self.count = count()

    def __call__(self, kind: str) -> st.SearchStrategy[str]:
        return LABELS.map(lambda label: f"{kind}{label}{next(self.count)}")


@st.composite
def _platforms(draw: st.DrawFn) -> Platform:
    """Draw a platform with one root zone."""
    names = _Names()
    profile = draw(names("p"))
    points = draw(st.lists(st.floats(0, 1e9, allow_subnormal=False), max_size=3).map(sorted))
    root = draw(_zones(names) | _leaves(names))
    elements = [Profile.of_points(profile, [(date, 0.5) for date in points], period=2e9), root]
    if root.hosts:
        elements.append(ProfileUse(profile, root.hosts[0].id, "SPEED"))
    hosts = st.sampled_from(list(Platform(tuple(elements)).host_names()))
    arguments = st.lists(TEXTS, max_size=2).map(tuple)
    times = st.just(0.0) | st.floats(1e-9, 1e9), st.none() | st.floats(2e9, 3e9)
    failure = st.sampled_from(["DIE", "RESTART"])
    actor = st.builds(
        DeployedActor, hosts, TEXTS.filter(bool), arguments, *times, failure, PROPERTIES
    )
    config = st.builds(Config, st.just({"network/model": "CM02"}), TEXTS)
    configs = draw(st.lists(config, max_size=1))
    return Platform(tuple(elements), tuple(configs), tuple(draw(st.lists(actor, max_size=2))))


@st.composite
def _zones(draw: st.DrawFn, names: _Names) -> Zone:
    """Draw a zone of zones and clusters, with routes between some of them."""
    parts = draw(st.lists(_leaves(names) | _clusters(names), min_size=1, max_size=3))
    backbone = draw(_links(names))
    routes = []
    for source, destination in combinations(parts, 2):
        gateways = _gateway(source), _gateway(destination)
        if None not in gateways and draw(st.booleans()):
            ends = (source.id, destination.id, *gateways)
            uses = [draw(_uses(backbone))]
            routes.append(ZoneRoute(*ends, uses, symmetrical=draw(st.booleans())))
    profile = Profile(draw(names("p")), "1 0")
    elements = draw(st.permutations([*parts, backbone, profile]))
    routing = draw(st.sampled_from(["Full", "Floyd", "Dijkstra", "DijkstraCache"]))
    return Zone(draw(names("z")), routing, elements, routes, draw(PROPERTIES))


def _gateway(part: Zone | Cluster) -> str | None:
    """Name a host or router of a zone or cluster."""
    if isinstance(part, Cluster):
        return part.router_name or next(part.host_names())
    return part.routers[0].id if part.routers else part.hosts[0].id


@st.composite
def _leaves(draw: st.DrawFn, names: _Names) -> Zone:
    """Draw a zone of hosts, with routes between some of them."""
    routing = draw(st.sampled_from(["Full", "Floyd", "Dijkstra", "DijkstraCache", "Cluster"]))
    hosts = draw(st.lists(_hosts(names), min_size=1, max_size=4))
    links = draw(st.lists(_links(names), min_size=1, max_size=3))
    routers = draw(st.lists(st.builds(Router, names("r")), max_size=1))
    elements = draw(st.permutations([*hosts, *links, *routers]))
    routes, host_links = [], []
    if routing == "Cluster":
        for host in hosts:
            ways = [draw(st.sampled_from(links)).simgrid_names for _ in range(2)]
            host_links.append(HostLink(host.id, ways[0][0], ways[1][-1]))
    else:
        for source, destination in combinations([*hosts, *routers], 2):
            if draw(st.booleans()):
                uses = [draw(_uses(link)) for link in links[: draw(st.integers(1, 3))]]
                symmetrical = draw(st.booleans())
                routes.append(Route(source.id, destination.id, uses, symmetrical=symmetrical))
    return Zone(draw(names("z")), routing, (*elements, *host_links), routes, draw(PROPERTIES))


@st.composite
def _hosts(draw: st.DrawFn, names: _Names) -> Host:
    """Draw a host."""
    further = draw(st.lists(SPEEDS | st.just(0.0), max_size=2))
    disk = st.builds(Disk, st.just("d"), BANDWIDTHS, BANDWIDTHS, PROPERTIES)
    return Host(
        draw(names("h")),
        draw(SPEEDS),
        draw(st.integers(1, 1000)),
        tuple(further),
        draw(st.integers(0, len(further))),
        coordinates=draw(st.none() | st.tuples(*[st.floats(-1e3, 1e3, allow_subnormal=False)] * 3)),
        disks=tuple(draw(st.lists(disk, max_size=1))),
        properties=draw(PROPERTIES),
    )


def _links(names: _Names) -> st.SearchStrategy[Link]:
    """Links of all policies."""
    policies = st.sampled_from(["SHARED", "FATPIPE", "SPLITDUPLEX"])
    return st.builds(Link, names("l"), BANDWIDTHS, LATENCIES, policies, properties=PROPERTIES)


def _uses(link: Link) -> st.SearchStrategy[LinkUse]:
    """Return the ways in which a route may use a link."""
    ways = ["UP", "DOWN"] if link.sharing_policy == "SPLITDUPLEX" else ["NONE"]
    return st.sampled_from([LinkUse(link.id, way) for way in ways])


def _clusters(names: _Names) -> st.SearchStrategy[Cluster]:
    """Clusters of any topology."""
    topologies = [
        ("TORUS", "2,2,1", "0-3"),
        ("FAT_TREE", "2;2,2;1,2;1,1", "1-4"),
        ("DRAGONFLY", "2,1;1,1;2,1;1", "0-1,5-6"),
    ]
    common = {
        "speed": SPEEDS,
        "bandwidth": BANDWIDTHS,
        "latency": LATENCIES,
        "prefix": names("x").map(lambda name: f"{name}-"),
        "suffix": LABELS,
        "cores": st.integers(1, 64),
        "further_speeds": st.lists(SPEEDS, max_size=1).map(tuple),
        "sharing_policy": st.sampled_from(["SPLITDUPLEX", "SHARED", "FATPIPE"]),
        "backbone_sharing_policy": st.sampled_from(["SHARED", "FATPIPE"]),
        "limiter_bandwidth": st.none() | BANDWIDTHS,
        "loopback_bandwidth": st.none() | BANDWIDTHS,
        "properties": PROPERTIES,
    }
    rest = {"backbone_bandwidth": st.none() | BANDWIDTHS, "router": st.just("") | names("r")}
    made = [st.builds(Cluster, names("c"), st.sampled_from(["0-3", "7,10-12,8"]), **rest, **common)]
    for topology, parameters, radical in topologies:
        shape = {"topology": st.just(topology), "topology_parameters": st.just(parameters)}
        made.append(st.builds(Cluster, names("c"), st.just(radical), **shape, **common))
    return st.one_of(*made)
