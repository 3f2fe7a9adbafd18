"""Drawings of platforms and of platform files: what can be checked without looking."""

import contextlib
import itertools
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from naming import raises_naming

from simplugin import Cluster, Host, Link, Platform, Zone
from simplugin.core.errors import PlatformError, SimpluginError
from simplugin.formats.platform_xml import read_platform
from simplugin.platforms import BypassZoneRoute, LinkUse, Route, Router, ZoneRoute
from simplugin.platforms.peers import PeerGrid, PeerSite
from simplugin.reports.platforms.drawing import draw_platform
from simplugin.reports.platforms.items import Detail, PlatformItems
from simplugin.reports.platforms.sheet import cut, distinguished, measured

ROOT = Path(__file__).parents[3]


def federation(n_sites, n_clusters, hosts=100):
    """Sites around one point, each with a switch for its clusters."""
    sites, links, routes = [], [], []
    for s in range(n_sites):
        clusters = [
            Cluster(f"c{s}.{i}", f"1-{hosts}", 1e9 * (1 + i), 1.25e8, 1e-5, prefix=f"c{s}.{i}-")
            for i in range(n_clusters)
        ]
        cables = [Link(f"l{s}.{i}", 1.25e9, 1e-4, "SPLITDUPLEX") for i in range(n_clusters)]
        gate = Zone(f"switch{s}", "Full", (Router(f"router{s}"),))
        inner = [
            ZoneRoute(c.id, gate.id, c.router_name, f"router{s}", [LinkUse(link.id, "UP")])
            for c, link in zip(clusters, cables, strict=True)
        ]
        sites.append(Zone(f"site{s}", "Floyd", (gate, *clusters, *cables), inner))
        links.append(Link(f"wan{s}", 1.25e9, 1e-2, "SPLITDUPLEX"))
    for a, b in itertools.permutations(range(n_sites), 2):
        uses = [LinkUse(f"wan{a}", "UP"), LinkUse(f"wan{b}", "DOWN")]
        ends = (f"site{a}", f"site{b}", f"router{a}", f"router{b}")
        routes.append(BypassZoneRoute(*ends, uses))
    return Platform(Zone("federation", "Full", (*sites, *links), tuple(routes)))


def peers():
    """A grid of three sites of six peers."""
    speed, bandwidth = np.linspace(1e9, 3e9, 6), np.full(6, 1e7)
    sites = [
        PeerSite.numbered(speed, bandwidth * (i + 1), f"{name}peer", scheduler=name * 3)
        for i, name in enumerate("abc")
    ]
    return PeerGrid(tuple("abc"), tuple(sites)).platform()


@pytest.mark.parametrize("detail", ["auto", "hosts", "clusters", "sites"])
@pytest.mark.parametrize(
    "platform", [peers(), *(federation(*sites) for sites in [(1, 1), (3, 4), (14, 3)])]
)
def test_platforms_in_any_detail_have_no_words_on_words(platform, detail, covered):
    assert covered(draw_platform(platform, detail=detail).figure) == []


@pytest.fixture
def words_of(texts_of):
    """A function from a platform to the texts of its drawing."""
    return lambda platform, **options: [
        text.get_text()
        for figure in [draw_platform(platform, **options).figure]
        for text in (*texts_of(figure), *figure.legends[0].get_texts())
    ]


def test_hundreds_of_clusters_are_counted(words_of):
    words = words_of(federation(40, 10))
    assert any(text.startswith("400 clusters, 40,000 hosts, ") for text in words)
    assert {f"site{i}" for i in range(40)} <= set(words)
    assert sum(text.startswith("10 clusters, 1,000 hosts") for text in words) == 40
    assert "40 \u00d7 10Gbps" in words


def test_sites_name_their_largest_clusters_and_count_the_others(words_of):
    sizes = [7, 30, 12, 25, 3, 18, 9, 21, 16, 5, 2]
    clusters = tuple(Cluster(f"c{n}", f"1-{n}", 1e9, 1e8, 1e-4, prefix=f"c{n}-") for n in sizes)
    other = Cluster("other", "1-4", 2e9, 1e8, 1e-4, cores=3, prefix="o-")
    top = Zone("top", "None", (Zone("big", "None", clusters), Zone("small", "None", (other,))))
    words = words_of(Platform(top), detail="sites")
    named = [text for text in words if text.startswith("c") and text[1:].isdigit()]
    assert named == [f"c{n}" for n in sorted(sizes, reverse=True)[:8]]
    rest = sorted(sizes)[:3]
    assert f"and {len(rest)} more with {sum(rest)} hosts" in words
    assert "11 clusters, 148 hosts, 148Gf" in words
    assert "4 hosts \u00d7 3 cores \u00d7 2Gf" in words


def test_hosts_links_and_speeds_are_named(words_of):
    hosts = (Host("a", 1e9), Host("b", 2e9, cores=4), Host("c", 3e9))
    links = (Link("ab", 1.25e8), Link("bc", 1.25e9), Link("ca", 12.5e9))
    routes = tuple(Route(link.id[0], link.id[1], [link.id]) for link in links)
    words = words_of(Platform(Zone("z", "Full", (*hosts, *links), routes)), title="Three")
    assert {"Three", "a", "b", "c", "1Gf", "4 \u00d7 2Gf", "3Gf"} <= set(words)
    for rate in ("1Gbps", "10Gbps", "100Gbps"):
        # On the line, and in the legend.
        assert words.count(rate) == 2
    assert "3 hosts, 6 cores, 12Gf, 3 links" in words


def test_long_names_keep_what_distinguishes_them():
    names = [f"core_{c}_of_{kind}_in_rack_{r}_of_the_large_room_0"
             for c in range(2) for kind in ("cpu", "gpu") for r in range(2)]  # fmt: skip
    shown = distinguished(names, 7.5, 1.5)
    assert shown[0] == "core_0…cpu…rack_0…"
    assert len(set(shown)) == len(names)
    assert distinguished(["a", "b" * 5000], 7.5, 1.5) == ["a", cut("b" * 5000, 7.5, 1.5)]
    shortest = cut("b" * 5000, 7.5, 1.5)
    assert measured(shortest, 7.5)[0] <= 1.5 < measured(f"b{shortest}", 7.5)[0]
    assert cut("bb", 7.5, 0.01) == "…"


def test_equal_hosts_around_a_switch_become_one_box(words_of):
    words = words_of(read_platform(ROOT / "platforms_xml/lille.xml"))
    boxes = [(53, 3.65), (20, 4.31), (26, 4.38)]
    expected = [f"{count} hosts \u00d7 {speed}Gf" for count, speed in boxes]
    assert sorted(text for text in words if " hosts \u00d7 " in text) == sorted(expected)


def test_lines_are_wider_for_more_bandwidth():
    hosts = [Host(name, 1e9) for name in "abcd"]
    links = [Link(f"l{i}", rate) for i, rate in enumerate((1e7, 1e8, 1e9))]
    routes = [Route(*ends, [f"l{i}"]) for i, ends in enumerate(itertools.pairwise("abcd"))]
    figure = draw_platform(Platform(Zone("z", "Floyd", (*hosts, *links), routes))).figure
    first, second = np.diff(figure.axes[0].collections[0].get_linewidths()[:3])
    # Equal steps for equal factors.
    assert first == pytest.approx(second)
    assert first > 0


def test_very_many_hosts_are_dots():
    n = 2600
    hosts = [Host(f"h{i}", 1e9 + i) for i in range(n)]
    links = [Link(f"l{i}", 1e8) for i in range(1, n)]
    routes = [Route(f"h{(i - 1) // 3}", f"h{i}", [f"l{i}"]) for i in range(1, n)]
    figure = draw_platform(Platform(Zone("tree", "Floyd", (*hosts, *links), tuple(routes)))).figure
    assert sum(len(each.get_offsets()) for each in figure.axes[0].collections[1:]) >= n


def test_what_cannot_be_drawn():
    with raises_naming(SimpluginError, "'all'", "'hosts'"):
        draw_platform(peers(), detail="all")
    with pytest.raises(SimpluginError):
        draw_platform(Platform(Zone("empty", "Full")))


FILES = sorted((Path(__file__).parents[3] / "platforms_xml").glob("*.xml"))


@cache
def shipped(path):
    """A platform, read once for all tests; none changes it."""
    return read_platform(path)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_shipped_platform_is_drawn_legibly(path, texts_of, illegible):
    figure = draw_platform(shipped(path)).figure
    width, height = figure.get_size_inches()
    assert width <= 1650 / 150
    assert height <= 13.5
    assert min(text.get_fontsize() for text in texts_of(figure)) >= 6.0
    assert illegible(texts_of(figure)) == []


COARSE = Detail(hosts=False, sites=True, rows=0, boxes=3, frame=100)
DETAILS = [Detail(), Detail(fold=2), Detail(hosts=False), Detail(boxes=2), COARSE]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_all_hosts_are_in_some_item(path):
    platform = shipped(path)
    for detail in DETAILS:
        item = PlatformItems(platform).item(detail)
        leaves = [each.contents.host_count for each in item.walk() if each.kind != "zone"]
        assert sum(leaves) == item.contents.host_count == platform.host_count


def test_every_platform_of_simgrid_is_drawn(simgrid_prefix, covered):
    examples = simgrid_prefix / "share/examples/platforms"
    if not examples.is_dir():
        pytest.skip(f"no platforms in {examples}; tools/build_simgrid.py puts them there")
    # Files that the reader refuses are left out.
    drawn = 0
    for path in sorted(examples.glob("*.xml"))[::2]:
        with contextlib.suppress(PlatformError):
            platform = read_platform(path)
            if 0 < platform.host_count <= 100:
                drawn += 1
                assert covered(draw_platform(platform).figure) == [], path.name
    assert drawn > 15
