"""Trees of applications on graphs and on platforms."""

from dataclasses import fields, replace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naming import raises_naming

from simplugin.core.errors import PlatformError, WorkloadError
from simplugin.formats.platform_xml import write_platform
from simplugin.platforms import Cluster, Host, Link, LinkUse, Platform, Route, Zone, ZoneRoute
from simplugin.platforms.graphs import Graph
from simplugin.platforms.links import FATPIPE, SPLITDUPLEX
from simplugin.pricing.deployment import deploy, sharing_of
from simplugin.workloads import Application, SharedDeployment

# A square a-b-d-c with a tail d-e.
SQUARE_ENDS = np.array([[0, 1], [0, 2], [1, 3], [2, 3], [3, 4]])
SQUARE = Graph.duplex("abcde", np.array([1e9, 2e9, 0.0, 3e9, 4e9]), SQUARE_ENDS, np.full(5, 1e6))
FROM_A = Application("left", "a", flop=1e6, byte=10)
FROM_E = Application("right", "e", flop=2e6, byte=20, weight=3)


def arcs(graph: Graph, sharing: SharedDeployment, application: int) -> list[tuple[str, str]]:
    """Return from where to where an application's data go, in the order of its agents."""
    found = []
    for agent in np.flatnonzero((sharing.application == application) & (sharing.parent >= 0)):
        ends = sharing.host[sharing.parent[agent]], sharing.host[agent]
        link = sharing.link[agent]
        assert (graph.source[link], graph.destination[link]) == ends
        found.append((graph.hosts[ends[0]], graph.hosts[ends[1]]))
    return found


@st.composite
def deployments(draw: st.DrawFn) -> tuple[Graph, SharedDeployment, list[int]]:
    """Graphs, connected or not, some of whose links carry nothing, and applications on them."""
    n = draw(st.integers(1, 9))
    pairs = [(i, j) for i in range(n) for j in range(i)]
    ends = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    each = st.lists(st.sampled_from([0.0, 1e6]), min_size=2 * len(ends), max_size=2 * len(ends))
    graph = Graph.duplex(
        [f"h{i}" for i in range(n)],
        np.ones(n),
        np.array(ends, dtype=np.int64),
        np.array(draw(each)).reshape(-1, 2),
    )
    masters = draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=4))
    applications = [Application(f"a{k}", f"h{m}", 1, 1) for k, m in enumerate(masters)]
    return graph, deploy(graph, applications), masters


def test_an_application_goes_breadth_first_from_its_master():
    sharing = deploy(SQUARE, [FROM_A, FROM_E])
    assert arcs(SQUARE, sharing, 0) == [("a", "b"), ("a", "c"), ("b", "d"), ("d", "e")]
    assert arcs(SQUARE, sharing, 1) == [("e", "d"), ("d", "b"), ("d", "c"), ("b", "a")]
    assert sharing.depth.tolist() == [0, 0, 1, 1, 1, 2, 2, 2, 3, 3]
    assert sharing.application.tolist() == [0, 1, 0, 0, 1, 0, 1, 1, 0, 1]
    assert sharing.flop.tolist() == [1e6, 2e6]
    assert sharing.byte.tolist() == [10, 20]
    assert sharing.weight.tolist() == [1, 3]


def test_an_application_computes_where_it_may_and_a_host_can():
    restricted = Application("left", "a", 1e6, 10, hosts=("c", "d"))
    sharing = deploy(SQUARE, [restricted, FROM_E])
    computing = {
        (int(k), SQUARE.hosts[host])
        for k, host in zip(
            sharing.application[sharing.computes], sharing.host[sharing.computes], strict=True
        )
    }
    # Host c only forwards; the second application may go anywhere.
    assert computing == {(0, "d"), (1, "a"), (1, "b"), (1, "d"), (1, "e")}


def test_a_tree_that_is_given_is_taken():
    tree = {"c": "a", "d": "c", "b": "d"}
    sharing = deploy(SQUARE, [FROM_A, FROM_E], {"left": tree})
    assert arcs(SQUARE, sharing, 0) == [("a", "c"), ("c", "d"), ("d", "b")]
    assert arcs(SQUARE, sharing, 1) == [("e", "d"), ("d", "b"), ("d", "c"), ("b", "a")]


def test_a_link_without_bandwidth_is_avoided():
    bandwidth = np.full((5, 2), 1e6)
    bandwidth[0, 0] = 0.0
    graph = Graph.duplex("abcde", SQUARE.speed, SQUARE_ENDS, bandwidth)
    sharing = deploy(graph, [FROM_A, FROM_E])
    assert arcs(graph, sharing, 0) == [("a", "c"), ("c", "d"), ("d", "b"), ("d", "e")]
    assert arcs(graph, sharing, 1)[-1] == ("b", "a")


@given(deployments())
def test_routes_are_shortest(case):
    graph, sharing, masters = case
    usable = nx.DiGraph()
    usable.add_nodes_from(range(graph.n_hosts))
    usable.add_edges_from(
        (int(graph.source[i]), int(graph.destination[i]))
        for i in np.flatnonzero(graph.bandwidth > 0)
    )
    for k, master in enumerate(masters):
        mine = sharing.application == k
        found = dict(zip(sharing.host[mine].tolist(), sharing.depth[mine].tolist(), strict=True))
        assert found == nx.single_source_shortest_path_length(usable, master)
        assert len(arcs(graph, sharing, k)) == mine.sum() - 1
    # Children of one parent are neighbours: a parent does not come back.
    runs = sharing.parent[np.flatnonzero(np.diff(sharing.parent, prepend=-2))]
    children = runs[runs >= 0]
    assert len(np.unique(children)) == len(children)


NOT_DEPLOYED = [
    ([], None, ""),
    ([FROM_A, FROM_A], None, "'left'"),
    ([FROM_A], {"up": {}}, "'up'"),
    ([replace(FROM_A, master="z")], None, "'left' 'z'"),
    ([replace(FROM_A, hosts=("a", "y"))], None, "'left' 'y'"),
    ([FROM_A], {"left": {"x": "a"}}, "'left' 'x'"),
    ([FROM_A], {"left": {"d": "a"}}, "'left' 'a' 'd'"),
    ([FROM_A], {"left": {"a": "b"}}, "'left' 'a'"),
    ([FROM_A], {"left": {"b": "a", "e": "d"}}, "'left' 'e' 'a'"),
]


@pytest.mark.parametrize(("applications", "trees", "named"), NOT_DEPLOYED)
def test_what_cannot_be_deployed_is_refused(applications, trees, named):
    with raises_naming(WorkloadError, *named.split()):
        deploy(SQUARE, applications, trees)


# Host C only forwards; every direction has a bandwidth of its own.
GRAPH = Graph.duplex(
    "ABCDE",
    np.array([5e8, 4e8, 0, 3e8, 2e8]),
    np.array([(0, 1), (0, 2), (2, 3), (3, 4), (1, 3)]),
    np.arange(1e6, 11e6, 1e6).reshape(5, 2),
)
APPLICATIONS = (
    Application("x", "D", 5000, 1000),
    Application("y", "A", 800, 2000, weight=2.0, hosts=("B", "D")),
)
TREE = {"x": {"C": "D", "A": "C", "B": "A"}}


def assert_same(sharing, other):
    for each in fields(other):
        assert np.array_equal(getattr(sharing, each.name), getattr(other, each.name)), each.name


def way(sharing, agent):
    """Return the links from the master to an agent, and the hosts of the agents between."""
    links, hosts = [], []
    while sharing.parent[agent] >= 0:
        links.append(sharing.links[sharing.link[agent]])
        agent = sharing.parent[agent]
        hosts.append(sharing.hosts[sharing.host[agent]])
    return links[::-1], hosts[::-1]


def agent_at(sharing, application, host):
    owner = sharing.application == sharing.applications.index(application)
    [agent] = np.flatnonzero(owner & (sharing.host == sharing.hosts.index(host)) & sharing.computes)
    return agent


@pytest.mark.parametrize("trees", [None, TREE])
def test_graphs_come_back_as_they_were_deployed(trees, tmp_path):
    write_platform(GRAPH.platform(), tmp_path / "graph.xml")
    for platform in (GRAPH.platform(), tmp_path / "graph.xml"):
        assert_same(sharing_of(platform, APPLICATIONS, trees), deploy(GRAPH, APPLICATIONS, trees))


def two_clusters():
    """Two clusters of two hosts, three links between hosts of one and four of both."""
    clusters = [
        Cluster(name, "0-1", speed, 1e8, 1e-4, prefix=f"{name}-", cores=cores,
                backbone_bandwidth=1e9, backbone_latency=0.0)
        for name, speed, cores in (("one", 1e9, 1), ("two", 2e9, 4))
    ]  # fmt: skip
    routers = [replace(each, router=f"{each.id}-gw") for each in clusters]
    route = ZoneRoute("one", "two", "one-gw", "two-gw", [LinkUse("wan")])
    return Platform(Zone("grid", "Full", (*routers, Link("wan", 5e7, 1e-3)), (route,)))


def test_routes_of_several_links_are_chains():
    sharing = sharing_of(two_clusters(), [Application("a", "one-0", 1e6, 1e3)])
    assert sharing.speed.tolist() == [1e9, 1e9, 8e9, 8e9]
    links, hosts = way(sharing, agent_at(sharing, "a", "two-1"))
    assert links == [
        "one_link_0_UP", "one_backbone", "wan", "two_backbone", "two_link_1_DOWN",
    ]  # fmt: skip
    # The relays stand on the host that the chain leads to.
    assert hosts == ["one-0", *["two-1"] * 4]
    assert way(sharing, agent_at(sharing, "a", "one-1"))[0] == [
        "one_link_0_UP", "one_backbone", "one_link_1_DOWN",
    ]  # fmt: skip
    assert np.count_nonzero(sharing.computes) == 4
    assert dict(zip(sharing.links, sharing.bandwidth, strict=True))["wan"] == 5e7


def test_loads_of_a_link_that_several_routes_share():
    sharing = sharing_of(two_clusters(), [Application("a", "one-0", 1e6, 1e3)])
    rate = np.zeros(sharing.n_agents)
    for host, value in (("one-0", 1.0), ("one-1", 2.0), ("two-0", 4.0), ("two-1", 8.0)):
        rate[agent_at(sharing, "a", host)] = value
    load = dict(zip(sharing.links, sharing.link_load(rate), strict=True))
    assert load["one_link_0_UP"] == 14e3
    assert load["one_backbone"] == 14e3
    assert load["wan"] == load["two_backbone"] == 12e3
    assert load["two_link_0_DOWN"] == 4e3
    assert sharing.host_load(rate).tolist() == [1e6, 2e6, 4e6, 8e6]


def test_given_tree_follows_routes():
    tree = {"a": {"two-0": "one-0", "two-1": "two-0", "one-1": "two-0"}}
    sharing = sharing_of(two_clusters(), [Application("a", "one-0", 1e6, 1e3)], tree)
    links, hosts = way(sharing, agent_at(sharing, "a", "one-1"))
    assert links[5:] == [
        "two_link_0_UP", "two_backbone", "wan", "one_backbone", "one_link_1_DOWN",
    ]  # fmt: skip
    assert hosts == ["one-0", *["two-0"] * 5, *["one-1"] * 4]


def line(*links):
    """Two hosts, and the links between them."""
    hosts = [Host("a", 1e9), Host("b", 3e9)]
    uses = [
        LinkUse(each.id, "UP" if each.sharing_policy == SPLITDUPLEX else "NONE") for each in links
    ]
    return Platform(Zone("z", "Full", [*hosts, *links], [Route("a", "b", uses)]))


def test_directions_share_a_link_unless_it_is_duplex():
    both = [Application("x", "a", 1e3, 1e3), Application("y", "b", 1e3, 1e3)]
    shared = sharing_of(line(Link("l", 1e6)), both)
    assert shared.links == ("l",)
    assert shared.link.tolist() == [-1, -1, 0, 0]
    duplex = sharing_of(line(Link("l", 1e6, sharing_policy=SPLITDUPLEX)), both)
    assert duplex.links == ("l_UP", "l_DOWN")
    assert duplex.link.tolist() == [-1, -1, 0, 1]


def test_links_that_are_not_shared_are_left_out():
    fat = Link("fat", 1e3, sharing_policy=FATPIPE)
    x = [Application("x", "a", 1e3, 1e4)]
    assert sharing_of(line(fat, Link("thin", 1e6)), x).links == ("thin",)
    # Nothing else on the route: the narrowest, as if it were shared.
    alone = sharing_of(line(Link("wide", 1e4, sharing_policy=FATPIPE), fat), x)
    assert (alone.links, alone.bandwidth.tolist()) == (("fat",), [1e3])


def test_hosts_without_a_route_are_in_no_tree():
    hosts = [Host("a", 1e9), Host("b", 1e9), Host("lost", 1e9), Link("l", 1e6)]
    platform = Platform(Zone("z", "Full", hosts, [Route("a", "b", ["l"])]))
    sharing = sharing_of(platform, [Application("x", "a", 1e3, 1e3)])
    assert [sharing.hosts[host] for host in sharing.host] == ["a", "b"]


def test_wifi_is_no_number(simgrid_prefix):
    wifi = simgrid_prefix / "share" / "examples" / "platforms" / "wifi.xml"
    with raises_naming(WorkloadError, "'Station 2'", "'AP1'"):
        sharing_of(wifi, [Application("x", "Station 1", 1e6, 1e3)])


def test_platform_that_is_refused(tmp_path):
    (tmp_path / "bad.xml").write_text("<platform/>")
    with raises_naming(PlatformError, "bad.xml"):
        sharing_of(tmp_path / "bad.xml", APPLICATIONS)
