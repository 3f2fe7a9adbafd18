"""Descriptions of federations: what they come to, and what is told about those that are wrong."""

import tomllib
from pathlib import Path

import pytest
from marked import assert_refused
from naming import raises_naming

from simplugin.core.errors import PlatformError
from simplugin.formats.federations import (
    federation_platform_from,
    read_federation,
    read_federation_platform,
)
from simplugin.platforms.federations.federation import Federation
from simplugin.platforms.federations.parts import (
    ClusterGroup,
    SiteBackbone,
    SiteGroup,
    SiteLink,
    Switch,
    Wire,
)
from simplugin.platforms.laws import Law

EXAMPLES = Path(__file__).parents[2] / "scenarios" / "federations"

ALL_KEYS = """\
name = "all"
seed = 7

[backbone]
kind = "links"

[[backbone.links]]
between = ["s1", "t"]
bandwidth = "10Gbps"
latency = "5ms"

[[backbone.links]]
between = ["s2", "t"]
bandwidth = 1e9
duplex = false

[[sites]]
name = "s"
repeat = 2
one_switch = false
switch = { bandwidth = "1GBps", latency = "10us", uplink = { bandwidth = "1Gbps", latency = 1e-5 } }
uplink = { bandwidth = { law = "uniform", low = "1Gbps", high = "2Gbps" } }

[[sites.clusters]]
name = "c"
repeat = 3
hosts = { law = "uniform", low = 5, high = 9 }
speed = { law = "lognormal", mean = "3Gf", variation = 0.3 }
cores = 8
bandwidth = { law = "constant", value = 125e6 }
latency = { law = "weibull", shape = 2, scale = "50us" }

[[sites]]
name = "t"

[[sites.switches]]
name = "x"
bandwidth = "1GBps"
latency = "10us"

[[sites.switches]]
name = "y"
to = "x"
uplink = { bandwidth = "1Gbps" }

[[sites.clusters]]
name = "d"
hosts = 4
speed = 2e9
bandwidth = "125MBps"
latency = 0
backbone = { bandwidth = "1GBps" }
uplink = { bandwidth = "1GBps", duplex = false }
switch = "y"
"""


def _read(tmp_path, text, seed=None):
    file = tmp_path / "federation.toml"
    file.write_text(text)
    return read_federation(file, seed)


def test_every_key_is_read(tmp_path):
    hosts, speed = Law("uniform", (5.0, 9.0)), Law("lognormal", (3e9, 0.3))
    bandwidth, latency = Law("constant", (125e6,)), Law("weibull", (2.0, 50 * 1e-6))
    c = ClusterGroup("c", hosts, speed, bandwidth, latency, 8, repeat=3)
    switch = Switch("", 1e9, 10 * 1e-6, Wire(125e6, 1e-5))
    uplink = Wire(Law("uniform", (125e6, 250e6)))
    s = SiteGroup("s", (c,), switch, one_switch=False, uplink=uplink, repeat=2)
    half = Wire(1e9, 0.0, duplex=False)
    d = ClusterGroup("d", 4, 2e9, 125e6, 0.0, 1, Switch("", 1e9), half, "y")
    switches = (Switch("x", 1e9, 10 * 1e-6), Switch("y", uplink=Wire(125e6), to="x"))
    links = (SiteLink("s1", "t", Wire(1.25e9, 5 * 1e-3)), SiteLink("s2", "t", half))
    t = SiteGroup("t", (d,), switches=switches)
    expected = Federation("all", (s, t), SiteBackbone("links", links=links), 7)
    assert _read(tmp_path, ALL_KEYS) == expected
    # A given seed wins.
    assert _read(tmp_path, ALL_KEYS, 0).seed == 0


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.toml")), ids=lambda file: file.stem)
def test_the_examples_are_read(file):
    assert read_federation(file).platform().host_count > 0


STAR = 'kind = "star"\nbandwidth = "1Gbps"\nlatency = "1ms"'
SITE = '[[sites]]\nname = "s"\n'
SPEED, LATENCY = 'speed = "1Gf"', 'latency = "50us"'
FIRST = f'[[sites.clusters]]\nname = "c"\nhosts = 4\n{SPEED}\nbandwidth = "1Gbps"\n{LATENCY}\n'
CLUSTER = '[[sites.clusters]]\nname = "{}"\nhosts = 1\nspeed = 1\nbandwidth = 1\nlatency = 0\n'
BACKBONE = f"[backbone]\n{STAR}\n"
SITES = "".join(
    SITE.replace('"s"', f'"{s}"') + FIRST.replace('"c"', f'"{c}"') for s, c in ("sc", "td")
)
BASE = f'name = "f"\n{BACKBONE}{SITES}'
LINKS = 'kind = "links"\n[[backbone.links]]\nbandwidth = 1\nbetween = ["{}", "{}"]{}\n'
OWN_SWITCH = "one_switch = false\nswitch.bandwidth = 1\n"


def _refuse(tmp_path, old, new, message):
    assert old in BASE
    text = BASE.replace(old, new, 1)
    assert_refused(read_federation, tmp_path / "federation.toml", text, message)


WRONG = [
    ('name = "f"', '¶owner = "f"', "unknown key 'owner'; the keys here are backbone"),
    ('name = "f"', 'name = "f"\n¶seed = -1', "seed is -1; give a number greater than"),
    ("[backbone]", "[backbone]\n¶bandwith = 1", "backbone.bandwith'; did you mean 'bandwidth'"),
    (BACKBONE, "¶[backbone]\nhub.bandwidth = 1\n", "key 'backbone.kind' is missing; add it"),
    (BACKBONE, "¶[backbone]\nkind = 'star'\nlatency = 1\n", "backbone.bandwidth' is missing"),
    (SITE, f"{SITE}¶one_switch = 1\n", "sites.0.one_switch is 1; give true or"),
    (SITE, f"{SITE}¶one_switch = false\n", "is False; remove it, or describe the switch"),
    ('name = "s"', "¶name = 3", "sites.0.name is 3; give a text"),
    (SITE, "¶[[sites]]\n", "key 'sites.0.name' is missing; add it: a text"),
    (SPEED, 'speed = ¶"1GHz"', "speed: speed '1GHz' has the unknown unit 'GHz'; write"),
    (SPEED, "speed = ¶-1", "sites.0.clusters.0.speed is -1; give a number greater than or"),
    (LATENCY, "latency = ¶-1", "latency is -1; give a number greater than or"),
    ("hosts = 4", "hosts = ¶4.5", "hosts is 4.5; give a whole number"),
    ("hosts = 4", 'hosts = ¶"4"', "hosts is '4'; give a whole number"),
    ("hosts = 4", "hosts = ¶inf", "hosts is inf; give a whole number"),
    (SPEED, 'speed = ¶{ low = "1Gf" }', "key 'sites.0.clusters.0.speed.law' is missing"),
    ("hosts = 4", "hosts = 4\n¶repeat = 0", "repeat is 0; give a number greater than"),
]


@pytest.mark.parametrize(("old", "new", "message"), WRONG)
def test_what_is_wrong_is_told_with_its_line(tmp_path, old, new, message):
    _refuse(tmp_path, old, new, message)


def test_parameters_of_laws_have_bounds_and_lines_of_their_own(tmp_path):
    lines = 'speed.law = "uniform"\nspeed.low = "1Gf"\n¶speed.high = "9"'
    _refuse(tmp_path, SPEED, lines, "which has no unit")
    # Laws are of positive numbers, whatever is drawn.
    _refuse(
        tmp_path, LATENCY, 'latency = ¶{ law = "uniform", low = 0, high = 1 }', "greater than 0"
    )
    hosts = 'hosts = ¶{ law = "uniform", low = 4, high = "6" }'
    _refuse(tmp_path, "hosts = 4", hosts, "hosts.high is '6'; give a number")


MISFITS = [
    ("hosts = 4", 'hosts = 4\n¶switch = "z"', "hangs from 'z', which is no switch of the site"),
    (SITE, f"{SITE}switches = [\n¶{{ name = 'x' }}]\n", "nothing hangs from switch 'x'"),
    (SITE, f"{SITE}switches = [{{ name = 'x' }},\n¶{{ name = 'x' }}]\n", "are called 'x'"),
    (SITE, f"{SITE}switches = [¶{{ name = 'x', latency = 1 }}]\n", "without a bandwidth"),
    (SITE, f"{SITE}switches = [¶{{ name = 'x', to = 'q' }}]\n", "to 'q', which is no switch"),
    (SITE, f"{SITE}{OWN_SWITCH}{CLUSTER.format('b')}¶uplink.bandwidth = 1\n", "beside the sw"),
    ('"star"', '¶"tree"', "a backbone of kind 'tree' is unknown; give one of star"),
    (STAR, 'kind = ¶"links"', "a backbone of kind 'links' has 0 links"),
    (STAR, f"{STAR}\n¶links = [{{ between = ['s'], bandwidth = 1 }}]", "give at least 2"),
    (STAR, LINKS.format("s", "paris", "¶"), "ends at 'paris', which is no site"),
    (STAR, LINKS.format("s", "t", "") + LINKS.format("t", "s", "¶")[14:], "two links"),
    ('name = "t"', '¶name = "s"', "two sites are called 's'"),
    (SITE, SITE + CLUSTER.format("a") + CLUSTER.format("¶a"), "two clusters of site 's' are"),
    ("hosts = 4", "¶hosts = 99999999999", "the hosts of cluster 'c' cannot be 99,999,999,999"),
    (SITE, f"{SITE}¶repeat = 100000\n", "there are 100,001 clusters, more than the 100,000"),
    ('name = "c"', '¶name = "router"', "would both be called 'router.s'; rename one of them"),
    (f"{STAR}\n{SITE}", f"kind = 'star'\n¶{SITE}", "site 's' has no cable to the hub; give"),
]


@pytest.mark.parametrize(("old", "new", "message"), MISFITS)
def test_parts_that_do_not_fit_have_the_line_of_the_culprit(tmp_path, old, new, message):
    _refuse(tmp_path, old, new, message)


@pytest.mark.parametrize("text", ["¶", "¶[backbone]\nkind = 'star'\n"])
def test_no_site_is_told_at_the_first_line(tmp_path, text):
    message = "federation 'federation' has no site; give it one"
    assert_refused(read_federation, tmp_path / "federation.toml", text, message)


def test_sites_that_nothing_joins(tmp_path):
    second = '[[sites]]\nname = "t"'
    text = BASE.replace(BACKBONE, "").replace(second, f"¶{second}")
    message = "nothing joins the 2 sites of federation 'f'; give it a"
    assert_refused(read_federation, tmp_path / "federation.toml", text, message)
    tables = tomllib.loads(BASE)
    del tables["backbone"]
    with pytest.raises(PlatformError, match=message):
        federation_platform_from(tables)
    del tables["sites"][1]
    assert federation_platform_from(tables).host_count == 4


@pytest.mark.parametrize("mean", ["2.4e11", "1e300", "1.7e308"])
def test_draws_of_too_many_hosts_are_told_with_their_line(tmp_path, mean):
    text = BASE.replace('"d"\nhosts = 4', f'"d"\nhosts = ¶{{ law = "constant", value = {mean} }}')
    message = "of them cluster 'd' of site 't': more than the 2,000,000 that are"
    error = assert_refused(read_federation_platform, tmp_path / "f.toml", text, message)
    assert "240,000,000,004 hosts" in str(error) or mean != "2.4e11"


def test_what_the_platform_alone_objects_to_is_told_with_the_file(tmp_path):
    file = tmp_path / "federation.toml"
    text = BASE
    # Host 1 of a-1.b at c is host 1 of a at b-1.c; the rest of the two names differs.
    for old, new in (("c", "a-1.b"), ("s", "c"), ("t", "b-1.c"), ("d", "a")):
        text = text.replace(f'name = "{old}"', f'name = "{new}"')
    file.write_text(text)
    with raises_naming(PlatformError, "a-1.b-1.c") as caught:
        read_federation_platform(file)
    assert caught.value.file == file
    assert _read(tmp_path, BASE).platform().host_count == 8
