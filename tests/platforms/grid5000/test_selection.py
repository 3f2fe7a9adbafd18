"""Some sites and clusters of Grid'5000."""

from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simplugin.errors import PlatformError
from simplugin.formats.grid5000.catalogue import shipped_catalogue
from simplugin.platforms.grid5000.facts import (
    Adapter,
    BackboneLink,
    ClusterFacts,
    DataWarning,
    Grid5000,
    NodeGroup,
    SiteFacts,
    Uplink,
)
from simplugin.platforms.grid5000.selection import selected


@pytest.fixture(scope="module")
def facts() -> Grid5000:
    return shipped_catalogue()[0]


def _site(uid: str) -> SiteFacts:
    """A site of two clusters: one at switch a, one at switch c behind b."""
    groups = {
        switch: (NodeGroup("1-2", 1, 1e9, Adapter("Ethernet", 1e9, switch)),) for switch in "ac"
    }
    clusters = tuple(ClusterFacts(f"{uid}-{switch}", group) for switch, group in groups.items())
    ways = (("a", "gw"), ("b", "gw"), ("c", "b"))
    return SiteFacts(uid, "gw", clusters, tuple(Uplink(*way, 1e9) for way in ways))


@st.composite
def grids(draw: st.DrawFn) -> Grid5000:
    """Sites on a connected backbone, with rings or without."""
    pops = [f"pop{at}" for at in range(draw(st.integers(1, 7)))]
    ends = {(pops[draw(st.integers(0, at - 1))], pops[at]) for at in range(1, len(pops))}
    pairs = [(a, b) for a in pops for b in pops if a < b]
    ends |= set(draw(st.lists(st.sampled_from(pairs), max_size=2))) if pairs else set()
    sites = [f"site{at}" for at in range(draw(st.integers(1, 5)))]
    ends |= {(site, draw(st.sampled_from(pops))) for site in sites}
    links = tuple(BackboneLink(each, 1e9) for each in sorted(ends))
    return Grid5000("", tuple(map(_site, sites)), links)


@settings(max_examples=50)
@given(grids(), st.data())
def test_ways_between_chosen_sites_stay_as_they_are(grid: Grid5000, data: st.DataObject) -> None:
    names = [site.uid for site in grid.sites]
    chosen = data.draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
    some = selected(grid, chosen)
    assert [site.uid for site in some.sites] == sorted(chosen)
    assert selected(some, chosen) == some
    before = nx.Graph([link.ends for link in grid.backbone])
    after = nx.Graph([link.ends for link in some.backbone])
    # Other sites pass nothing on: routes through them do not exist before, either.
    before.remove_nodes_from(set(names) - set(chosen))
    if len(chosen) == 1:
        assert some.backbone == ()
        return
    for source in chosen:
        for target in chosen:
            ways = {tuple(way) for way in nx.all_simple_paths(before, source, target)}
            assert {tuple(way) for way in nx.all_simple_paths(after, source, target)} == ways
    leaves = {vertex for vertex, degree in after.degree() if degree == 1}
    assert leaves <= set(chosen)


def test_switches_on_the_way_of_what_is_left_stay() -> None:
    grid = Grid5000("2026-03", (_site("x"), _site("y")))
    (site,) = selected(grid, clusters=["x-c"]).sites
    assert [cluster.uid for cluster in site.clusters] == ["x-c"]
    assert [uplink.switch for uplink in site.uplinks] == ["b", "c"]
    (site,) = selected(grid, ["y"], ["y-a"]).sites
    assert [uplink.switch for uplink in site.uplinks] == ["a"]
    assert selected(grid, ["y"]).date == "2026-03"


def test_nothing_chosen_is_everything(facts: Grid5000) -> None:
    assert selected(facts) == facts
    assert selected(facts, [site.uid for site in reversed(facts.sites)]) == facts
    every = [cluster.uid for site in facts.sites for cluster in site.clusters]
    assert selected(facts, clusters=every) == facts


def test_choices_keep_the_order_of_the_facts(facts: Grid5000) -> None:
    some = selected(facts, ["rennes", "nancy", "rennes"], ["paradoxe", "gruss", "gros"])
    found = {site.uid: [cluster.uid for cluster in site.clusters] for site in some.sites}
    assert list(found.items()) == [("nancy", ["gros", "gruss"]), ("rennes", ["paradoxe"])]


@pytest.mark.parametrize(
    ("sites", "clusters", "message"),
    [
        (["rene"], [], r"there is no site 'rene'; did you mean 'rennes'"),
        ([], ["parravance"], r"there is no cluster 'parravance'; clusters are at grenoble, "
         "lille, .*toulouse: name a site to see its own"),
        (["toulouse"], ["parravance"], "'parravance'; choose among estats, montcalm$"),
        (["x"], [], "there is no site 'x'; choose among grenoble, lille, louvain"),
        (["nancy"], ["dahu"], "cluster 'dahu' is at grenoble, not at nancy; choose site grenoble"),
        (["nancy", "lille"], ["gros"], "site 'lille' has none of the clusters gros; .*chiclet"),
    ],
)  # fmt: skip
def test_wrong_choices_are_refused(
    sites: list[str], clusters: list[str], message: str, facts: Grid5000
) -> None:
    with pytest.raises(PlatformError, match=message):
        selected(facts, sites, clusters)


def test_why_something_was_left_out_is_quoted(facts: Grid5000) -> None:
    warnings = (
        *shipped_catalogue()[1],
        DataWarning("left-out", "", "old is retired", ("cluster", "nancy", "old")),
        DataWarning("assumed", "", "something else", ("cluster", "nancy", "older")),
    )
    with pytest.raises(PlatformError, match="no site 'bordeaux': bordeaux has no nodes; "):
        selected(facts, ["bordeaux"], warnings=warnings)
    with pytest.raises(PlatformError, match="no cluster 'old': old is retired; "):
        selected(facts, clusters=["old"], warnings=warnings)
    with pytest.raises(PlatformError, match="no cluster 'older'; "):
        selected(facts, clusters=["older"], warnings=warnings)
