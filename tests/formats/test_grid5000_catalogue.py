"""Catalogues of Grid'5000 and tables of latencies: there and back, and what is refused."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from marked import assert_refused
from naming import raises_naming

from simplugin.core.errors import PlatformError
from simplugin.formats.grid5000.catalogue import (
    SHIPPED,
    read_catalogue,
    read_facts,
    shipped_catalogue,
    write_catalogue,
)
from simplugin.formats.grid5000.latencies import latencies_text, read_latencies
from simplugin.platforms.grid5000.facts import (
    Adapter,
    BackboneLink,
    ClusterFacts,
    Grid5000,
    NodeGroup,
    SiteFacts,
    SitePosition,
)
from simplugin.platforms.grid5000.latencies import Latencies

CHECKOUT = Path(__file__).resolve().parents[2]
SHIPPED_TEXT = (CHECKOUT / "simplugin/formats/grid5000" / SHIPPED).read_text(encoding="utf-8")


def test_the_shipped_one_is_small_with_a_line_a_group():
    facts, _ = shipped_catalogue()
    groups = sum(len(cluster.groups) for site in facts.sites for cluster in site.clusters)
    lines = SHIPPED_TEXT.splitlines()
    assert sum('"numbers"' in line for line in lines) == groups
    assert len(SHIPPED_TEXT) < 100_000
    assert facts.date == "2026-03"
    assert sum(site.node_count for site in facts.sites) == 939
    assert '"source": "Grid\'5000 reference repository, https://gitlab.inria.fr' in lines[0]


WRONG_CATALOGUES = [
    ('"cores": 18,', '"cores": ¶18.5,', "cores is 18.5; give a whole number"),
    ('"cores": 18,', '¶"cores": 0,', "cores of nodes"),
    ('"cores": 18,', "¶", "cores' is missing"),
    ('"cores": 18,', '"cores": 18, "disks": 2,¶', "disks"),
    ('"1-124"', '¶"1-x"', "malformed"),
    ('["Ethernet", 25000000000', '["Ethernet", ¶"25 Gbps"', "adapter.1 is '25 Gbps'; give"),
    ('["Ethernet", 25000000000', '["Ethernet", ¶0', "rate"),
    ('["Ethernet", 25000000000', '¶["Ethernet"', "give a list of interface, rate, switch"),
    ('"assumed": true', '"assumed": ¶1', "assumed is 1; give true or false"),
    ('"ends": ["louvain", ', '"ends": ¶[', "give at least 2"),
    ('["lille", 50.65, ', '["lille", ¶150.65, ', "the place of 'lille' is 150.65"),
    (', ["site", "bordeaux"]]', "¶]", "give a list of kind, place, message, about"),
]


@pytest.mark.parametrize(("old", "new", "message"), WRONG_CATALOGUES)
def test_wrong_catalogues_are_refused_with_the_line(old, new, message, tmp_path):
    assert old in SHIPPED_TEXT
    text = SHIPPED_TEXT.replace(old, new, 1)
    assert_refused(read_catalogue, tmp_path / "catalogue.json", text, message)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", SHIPPED_TEXT.replace(" 1", " 2", 1), '{"format": ["simplugin"]}']
)
def test_what_is_no_catalogue_is_refused(text, tmp_path):
    path = tmp_path / "other.json"
    path.write_text(text)
    for read in (read_catalogue, read_facts):
        with pytest.raises(PlatformError) as caught:
            read(path)
        assert caught.value.file == path
        assert caught.value.remedy
        assert "--reference PATH" not in caught.value.remedy


def test_lost_directories_are_named(tmp_path):
    with raises_naming(PlatformError, tmp_path / "lost"):
        write_catalogue(Grid5000("", ()), (), tmp_path / "lost" / "catalogue.json")
    with raises_naming(PlatformError, tmp_path / "lost"):
        read_facts(tmp_path / "lost")


NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=8)
PAIRS = st.tuples(NAMES, NAMES).filter(lambda pair: pair[0] < pair[1])
PLACES = st.tuples(st.floats(-90, 90), st.floats(-180, 180))
TIMES = st.just(0.0) | st.floats(1e-12, 1e3)
BY_RATE = st.dictionaries(st.floats(1e-3, 1e15), TIMES, min_size=1, max_size=3)
TABLES = st.builds(
    Latencies,
    st.dictionaries(NAMES, BY_RATE, max_size=3),
    switch=TIMES,
    router=TIMES,
    detour=st.floats(1, 1e6),
    links=st.dictionaries(PAIRS, TIMES, max_size=3),
    cities=st.dictionaries(NAMES, PLACES, max_size=3),
)


@settings(max_examples=50)
@given(TABLES)
def test_round_trip(tmp_path_factory, table):
    path = tmp_path_factory.mktemp("latencies") / "table.toml"
    text = latencies_text(table)
    path.write_text(text, encoding="utf-8", newline="")
    again = read_latencies(path)
    assert again == table
    assert latencies_text(again) == text


def test_what_is_built_in():
    text = latencies_text(Latencies())
    assert '"1Gbps" = "24us"' in text
    assert '"10Gbps" = ' in text
    assert "detour = 1.5" in text


def read(tmp_path, text):
    path = tmp_path / "table.toml"
    path.write_text(text, encoding="utf-8")
    return read_latencies(path)


def test_seconds_and_texts_say_the_same(tmp_path):
    text = 'switch = 3e-6\n[adapters.Ethernet]\n"1Gbps" = 50e-6\n"1.25GBps" = "1ms"\n'
    rates = {"Ethernet": {1e9: 50e-6, 1e10: 1e-3}}
    expected = replace(Latencies(), switch=3e-6, adapters={**Latencies().adapters, **rates})
    assert read(tmp_path, text) == expected
    assert read(tmp_path, "") == Latencies()


def test_links_are_known_by_their_ends(tmp_path):
    table = read(tmp_path, '[links]\nrenater-lyon.renater-paris = "3ms"\nnancy.x = 1\n')
    assert table.links == {("renater-lyon", "renater-paris"): 0.003, ("nancy", "x"): 1.0}


WRONG_TABLES = [
    ("\n\n¶swich = 1\n", "unknown key 'swich'; did you mean 'switch'?"),
    ("¶switch = '3 furlongs'\n", "switch: time '3 furlongs' has the unknown"),
    ("¶switch = -1\n", "switch is -1; give a number greater"),
    ("¶router = nan\n", "router is nan; give a"),
    ("¶detour = 0.5\n", "detour is 0.5; give a number greater"),
    ("[adapters]\n¶Ethernet = 3\n", "adapters.Ethernet is 3; give a"),
    ("¶[adapters.Ethernet]\n", "adapters.Ethernet is empty"),
    ("[adapters.Ethernet]\n¶'1G' = 1\n", "adapters.Ethernet.1G: bandwidth '1G'"),
    ("[adapters.Ethernet]\n¶'0Gbps' = 1\n", "adapters.Ethernet.0Gbps is out of range; give"),
    ("[adapters.Ethernet]\n'1Gbps' = 1\n¶'125MBps' = 0\n", "125MBps is given twice; remove"),
    ("[links]\na.b = 1\n¶b.a = 2\n", "the link b - a is given twice"),
    ("[links]\n¶a.a = 1\n", "the link a - a"),
    ("[cities]\n¶a = [1.0]\n", "cities.a is [1.0]; give [latitude"),
    ("[cities]\n¶a = [100, 0]\n", "cities.a is [100, 0]"),
    ("[cities]\n¶a = [0, 190]\n", "cities.a is [0, 190]"),
    ("¶switch = \n", "; write it as --print-latencies prints it"),
]


@pytest.mark.parametrize(("text", "message"), WRONG_TABLES)
def test_refusals(tmp_path, text, message):
    assert_refused(read_latencies, tmp_path / "table.toml", text, message)


NODES = NodeGroup("1", 1, 1e9, Adapter("Ethernet", 1e9), Adapter("Slingshot", 2e11))
FACTS = Grid5000(
    "",
    (SiteFacts("brest", "gw", (ClusterFacts("c", (NODES,)),)),),
    (BackboneLink(("brest", "renater-armor"), 1e9), BackboneLink(("renater-armor", "hub"), 1e9)),
    (SitePosition("ouessant", 48.5, -5.1),),
)


UNKNOWN_NAMES = [
    ("¶[adapters.Ethernt]\n'1Gbps' = 1\n", "no interface 'Ethernt'; did you mean"),
    ("\n[links]\n¶brest.renater-amor = 1\n", "no backbone link 'brest.renater-amor'; did you"),
    ("[links]\n¶brest.hub = 1\n", "no backbone link 'brest.hub'; "),
    ("[cities]\n¶nance = [0, 0]\n", "no site or point of presence 'nance'; did you mean 'nan"),
]


@pytest.mark.parametrize(("text", "message"), UNKNOWN_NAMES)
def test_names_that_nothing_has_are_refused(tmp_path, text, message):
    path = tmp_path / "table.toml"
    assert_refused(lambda path: read_latencies(path, FACTS), path, text, message)
    assert read_latencies(path) != Latencies()


def test_names_that_something_has_are_taken(tmp_path):
    path = tmp_path / "table.toml"
    places = ("armor", "renater-armor", "brest", "lyon", "ouessant")
    cities = "".join(f"{name} = [0, 0]\n" for name in places)
    adapters = "[adapters.Slingshot]\n'200Gbps' = 1\n[adapters.InfiniBand]\n'1Gbps' = 1\n"
    path.write_text(f"{adapters}[links]\nrenater-armor.brest = 1\n[cities]\n{cities}")
    assert read_latencies(path, FACTS) == read_latencies(path)
    path.write_text(latencies_text(Latencies()))
    assert read_latencies(path, FACTS) == Latencies()
