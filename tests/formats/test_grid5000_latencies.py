"""Tables of latencies as TOML: there and back, and what is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simplugin.errors import PlatformError
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
TIMES = st.just(0.0) | st.floats(1e-12, 1e3)
TABLES = st.builds(
    Latencies,
    adapters=st.dictionaries(
        NAMES, st.dictionaries(st.floats(1e-3, 1e15), TIMES, min_size=1, max_size=3), max_size=3
    ),
    switch=TIMES,
    router=TIMES,
    detour=st.floats(1, 1e6),
    links=st.dictionaries(
        st.tuples(NAMES, NAMES).filter(lambda pair: pair[0] < pair[1]), TIMES, max_size=3
    ),
    cities=st.dictionaries(NAMES, st.tuples(st.floats(-90, 90), st.floats(-180, 180)), max_size=3),
)


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
    text = 'switch = 3e-6\n[adapters.Ethernet]\n"1Gbps" = 50e-6\n"125MBps" = 0\n'
    with pytest.raises(PlatformError, match=r"table.toml:4: adapters.Ethernet has '125MBps' twice"):
        read(tmp_path, text)
    table = read(tmp_path, text.replace('"125MBps" = 0', '"1.25GBps" = "1ms"'))
    assert table.switch == 3e-6
    assert table.adapters["Ethernet"] == {1e9: 50e-6, 1e10: 1e-3}
    assert table.router == Latencies().router
    assert table.cities == Latencies().cities


def test_an_empty_file_changes_nothing(tmp_path):
    assert read(tmp_path, "") == Latencies()


def test_links_are_known_by_their_ends(tmp_path):
    table = read(tmp_path, '[links]\nrenater-lyon.renater-paris = "3ms"\nnancy.x = 1\n')
    assert table.links == {("renater-lyon", "renater-paris"): 0.003, ("nancy", "x"): 1.0}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("swich = 1\n", r"table.toml:1: unknown key 'swich'; did you mean 'switch'\?"),
        ("\n\nhops = 1\n", r"table.toml:3: unknown key 'hops'; the keys here are"),
        (
            "switch = '3 furlongs'\n",
            r"table.toml:1: switch is '3 furlongs'; time '3 furlongs' has the unknown",
        ),
        ("switch = -1\n", r"table.toml:1: switch is -1; give a number greater"),
        ("router = 'inf'\n", r"table.toml:1: router is 'inf'; give a finite"),
        ("router = nan\n", r"table.toml:1: router is nan; give a"),
        ("router = true\n", r"table.toml:1: router is True; give a number"),
        ("detour = 0.5\n", r"table.toml:1: detour is 0.5; give a number greater"),
        ("detour = '2'\n", r"table.toml:1: detour is '2'; give a number"),
        ("adapters = 3\n", r"table.toml:1: adapters is 3; give a"),
        ("[adapters]\nEthernet = 3\n", r"table.toml:2: adapters.Ethernet is 3; give a"),
        ("[adapters.Ethernet]\n", r"table.toml:1: adapters.Ethernet is empty"),
        ("[adapters.Ethernet]\n'1G' = 1\n", r"table.toml:2: adapters.Ethernet.1G: bandwidth '1G'"),
        ("[adapters.Ethernet]\n'0Gbps' = 1\n", r"table.toml:2: adapters.Ethernet has the rate"),
        ("[adapters.Ethernet]\n'1Gbps' = -1\n", r"table.toml:2: adapters.Ethernet.1Gbps is -1"),
        ("[links]\na.b = 1\nb.a = 2\n", r"table.toml:3: the link b - a is given twice"),
        ("[links]\na.a = 1\n", r"table.toml:2: the link a - a"),
        ("[cities]\na = [1.0]\n", r"table.toml:2: cities.a is \[1.0\]; give \[latitude"),
        ("[cities]\na = [100, 0]\n", r"table.toml:2: cities.a is \[100, 0\]"),
        ("[cities]\n\na = ['x', 0]\n", r"table.toml:3: cities.a.0 is 'x'; give a number"),
        ("switch = \n", r"table.toml:1: .*; write it as --print-latencies prints it"),
    ],
)
def test_refusals(tmp_path, text, message):
    with pytest.raises(PlatformError, match=message):
        read(tmp_path, text)


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
        ("[adapters.Ethernt]\n'1Gbps' = 1\n", "1: there is no interface 'Ethernt'; did you mean"),
        ("\n[links]\nbrest.renater-amor = 1\n", "3: there is no backbone link 'brest.renater-amor'"
         "; did you mean 'brest.renater-armor'"),
        ("[links]\nbrest.hub = 1\n", "2: there is no backbone link 'brest.hub'; "),
        ("[cities]\nnance = [0, 0]\n", "2: there is no site or point of presence 'nance'; "
         "did you mean 'nancy'"),
    ],
)  # fmt: skip
def test_names_that_nothing_has_are_refused(tmp_path, text, message):
    path = tmp_path / "table.toml"
    path.write_text(text)
    with pytest.raises(PlatformError, match=f"table.toml:{message}"):
        read_latencies(path, FACTS)
    assert read_latencies(path) != Latencies()


def test_names_that_something_has_are_taken(tmp_path):
    path = tmp_path / "table.toml"
    path.write_text(
        "[adapters.Slingshot]\n'200Gbps' = 1\n[adapters.InfiniBand]\n'1Gbps' = 1\n"
        "[links]\nrenater-armor.brest = 1\n"
        "[cities]\narmor = [0, 0]\nrenater-armor = [0, 0]\nbrest = [0, 0]\nlyon = [0, 0]\n"
        "ouessant = [0, 0]\n"
    )
    assert read_latencies(path, FACTS) == read_latencies(path)
    path.write_text(latencies_text(Latencies()))
    assert read_latencies(path, FACTS) == Latencies()
