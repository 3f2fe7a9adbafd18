"""Ways over the backbone, against networkx."""

from itertools import combinations, pairwise

import networkx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simplugin.errors import PlatformError
from simplugin.platforms.grid5000.facts import BackboneLink
from simplugin.platforms.grid5000.latencies import Latencies
from simplugin.platforms.grid5000.platform import Backbone

NAMES = "abcdef"


@st.composite
def networks(draw):
    """Latencies between places, all of which can be reached."""
    tree = {(NAMES[draw(st.integers(0, at - 1))], NAMES[at]) for at in range(1, len(NAMES))}
    further = draw(st.sets(st.sampled_from(list(combinations(NAMES, 2)))))
    ends = sorted(tree | further)
    turned = [draw(st.permutations(pair)) for pair in ends]
    # Whole numbers: ties are frequent, and sums exact.
    return {tuple(pair): float(draw(st.integers(1, 4))) for pair in turned}


def made(latencies):
    return Backbone([BackboneLink(ends, 1e9) for ends in latencies], Latencies(links=latencies))


@settings(max_examples=50)
@given(networks(), st.sets(st.sampled_from(NAMES), min_size=2))
def test_ways_are_shortest(latencies, chosen):
    sites = sorted(chosen)
    ways, links = made(latencies).ways(sites)
    graph = networkx.Graph()
    graph.add_weighted_edges_from((*ends, value) for ends, value in latencies.items())
    assert set(ways) == {(one, other) for one in sites for other in sites if one != other}
    for (one, other), way in ways.items():
        at, places, total = one, [one], 0.0
        for use in way:
            ends = tuple(use.link.split("_"))
            start, at = ends if use.direction == "UP" else ends[::-1]
            assert start == places[-1]
            places.append(at)
            total += latencies[ends]
        assert places[-1] == other
        assert total == networkx.dijkstra_path_length(graph, one, other)
        back = [(use.link, use.direction != "UP") for use in reversed(ways[other, one])]
        assert back == [(use.link, use.direction == "UP") for use in way]
        if one < other:
            assert places == min(networkx.all_shortest_paths(graph, one, other, "weight"))
    assert {link.id for link in links} == {use.link for way in ways.values() for use in way}


def test_links_are_data():
    backbone = made({("a", "p"): 0.5, ("p", "b"): 0.25, ("p", "idle"): 1.0})
    ways, links = backbone.ways(["a", "b"])
    assert [use.link + use.direction for use in ways["b", "a"]] == ["p_bDOWN", "a_pDOWN"]
    found = [(link.id, link.bandwidth, link.latency) for link in links]
    assert found == [("a_p", 1.25e8, 0.5), ("p_b", 1.25e8, 0.25)]


def test_refusals():
    with pytest.raises(PlatformError, match="no way from 'a' to 'c'"):
        made({("a", "b"): 1.0}).ways(["a", "b", "c"])
    links = [BackboneLink(ends, 1e9) for ends in pairwise("aba")]
    with pytest.raises(PlatformError, match="joins 'b' and 'a' twice"):
        Backbone(links, Latencies(links={("a", "b"): 1.0}))
    with pytest.raises(PlatformError, match="unknown where 'atlantis' is"):
        Backbone([BackboneLink(("atlantis", "lyon"), 1e9)], Latencies())
