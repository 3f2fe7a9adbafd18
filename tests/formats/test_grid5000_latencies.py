"""Tables of latencies as TOML: there and back, and what is refused."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from marked import assert_refused

from simplugin.formats.grid5000.latencies import latencies_text, read_latencies
from simplugin.platforms.grid5000.facts import (
    Adapter,
    BackboneLink,
    ClusterFacts,
    Grid5000,
    NodeGroup,
    Place,
    SiteFacts,
)
from simplugin.platforms.grid5000.latencies import Latencies

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


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\n\n¶swich = 1\n", "unknown key 'swich'; did you mean 'switch'?"),
        ("¶switch = '3 furlongs'\n", "switch: time '3 furlongs' has the unknown"),
        ("¶switch = -1\n", "switch is -1; give a number greater"),
        ("¶router = nan\n", "router is nan; give a"),
        ("¶detour = 0.5\n", "detour is 0.5; give a number greater"),
        ("[adapters]\n¶Ethernet = 3\n", "adapters.Ethernet is 3; give a"),
        ("¶[adapters.Ethernet]\n", "adapters.Ethernet is empty"),
        ("[adapters.Ethernet]\n¶'1G' = 1\n", "adapters.Ethernet.1G: bandwidth '1G'"),
        ("[adapters.Ethernet]\n¶'0Gbps' = 1\n", "adapters.Ethernet.0Gbps is out of range; give"),
        (
            "[adapters.Ethernet]\n'1Gbps' = 1\n¶'125MBps' = 0\n",
            "125MBps is given twice; remove",
        ),
        ("[links]\na.b = 1\n¶b.a = 2\n", "the link b - a is given twice"),
        ("[links]\n¶a.a = 1\n", "the link a - a"),
        ("[cities]\n¶a = [1.0]\n", "cities.a is [1.0]; give [latitude"),
        ("[cities]\n¶a = [100, 0]\n", "cities.a is [100, 0]"),
        ("[cities]\n¶a = [0, 190]\n", "cities.a is [0, 190]"),
        ("¶switch = \n", "; write it as --print-latencies prints it"),
    ],
)
def test_refusals(tmp_path, text, message):
    assert_refused(read_latencies, tmp_path / "table.toml", text, message)


NODES = NodeGroup("1", 1, 1e9, Adapter("Ethernet", 1e9), Adapter("Slingshot", 2e11))
FACTS = Grid5000(
    "",
    (SiteFacts("brest", "gw", (ClusterFacts("c", (NODES,)),)),),
    (BackboneLink(("brest", "renater-armor"), 1e9), BackboneLink(("renater-armor", "hub"), 1e9)),
    (Place("ouessant", 48.5, -5.1),),
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("¶[adapters.Ethernt]\n'1Gbps' = 1\n", "no interface 'Ethernt'; did you mean"),
        ("\n[links]\n¶brest.renater-amor = 1\n", "no backbone link 'brest.renater-amor'; did you"),
        ("[links]\n¶brest.hub = 1\n", "no backbone link 'brest.hub'; "),
        ("[cities]\n¶nance = [0, 0]\n", "no site or point of presence 'nance'; did you mean 'nan"),
    ],
)
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
