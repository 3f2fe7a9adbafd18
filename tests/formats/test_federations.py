"""Descriptions of federations: what they come to, and what is told about those that are wrong."""

from pathlib import Path

import pytest

from simplugin.errors import PlatformError
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
    c = ClusterGroup(
        "c",
        Law("uniform", (5.0, 9.0)),
        Law("lognormal", (3e9, 0.3)),
        Law("constant", (125e6,)),
        Law("weibull", (2.0, 50 * 1e-6)),
        8,
        repeat=3,
    )
    s = SiteGroup(
        "s",
        (c,),
        Switch("", 1e9, 10 * 1e-6, Wire(125e6, 1e-5)),
        one_switch=False,
        uplink=Wire(Law("uniform", (125e6, 250e6))),
        repeat=2,
    )
    d = ClusterGroup("d", 4, 2e9, 125e6, 0.0, 1, Switch("", 1e9), Wire(1e9, 0.0, duplex=False), "y")
    switches = (Switch("x", 1e9, 10 * 1e-6), Switch("y", uplink=Wire(125e6), to="x"))
    links = (
        SiteLink("s1", "t", Wire(1.25e9, 5 * 1e-3)),
        SiteLink("s2", "t", Wire(1e9, 0.0, duplex=False)),
    )
    t = SiteGroup("t", (d,), switches=switches)
    expected = Federation("all", (s, t), SiteBackbone("links", links=links), 7)
    assert _read(tmp_path, ALL_KEYS) == expected


def test_a_seed_given_wins(tmp_path):
    assert _read(tmp_path, ALL_KEYS, 0).seed == 0
    assert _read(tmp_path, ALL_KEYS, 9).seed == 9


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.toml")), ids=lambda file: file.stem)
def test_the_examples_are_read(file):
    assert read_federation(file).platform().host_count > 0


BASE = """\
name = "f"
[backbone]
kind = "star"
bandwidth = "1Gbps"
latency = "1ms"
[[sites]]
name = "s"
[[sites.clusters]]
name = "c"
hosts = 4
speed = "1Gf"
bandwidth = "1Gbps"
latency = "50us"
[[sites]]
name = "t"
[[sites.clusters]]
name = "d"
hosts = 4
speed = "1Gf"
bandwidth = "1Gbps"
latency = "50us"
"""

STAR = 'kind = "star"\nbandwidth = "1Gbps"\nlatency = "1ms"'
LINKS = 'kind = "links"\n[[backbone.links]]\nbetween = ["{}", "{}"]\nbandwidth = 1e9'
COPY = (
    'name = "{}"\nhosts = 1\nspeed = 1\nbandwidth = 1\nlatency = 0\n[[sites.clusters]]\nname = "c"'
)
EACH = """\
name = "s"
one_switch = false
switch = { bandwidth = 1e9 }
[[sites.clusters]]
name = "b"
hosts = 1
speed = 1
bandwidth = 1
latency = 0
uplink = { bandwidth = 1 }
"""
SWITCHES = 'name = "s"\n[[sites.switches]]\nname = "x"\n'


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        # Not TOML, unknown keys, tables that are none.
        ('name = "f"', "name = f", 1, "not TOML: Invalid value"),
        ('name = "f"', 'owner = "f"', 1, "unknown key 'owner'; the keys here are backbone"),
        ('kind = "star"', 'kind = "star"\nbandwith = 1', 4,
         "unknown key 'backbone.bandwith'; did you mean 'bandwidth'?"),
        ('name = "d"', 'name = "d"\nspeeed = 1', 18,
         "unknown key 'sites.1.clusters.0.speeed'; did you mean 'speed'?"),
        ('name = "s"', 'name = "s"\nuplink = { bandwidth = 1, colour = 2 }', 8,
         "unknown key 'sites.0.uplink.colour'; the keys here are bandwidth, duplex"),
        ('name = "s"', 'name = "s"\nswitch = "big"', 8, "sites.0.switch is 'big'; write a table"),
        ('name = "s"', 'name = "s"\nswitches = "big"', 8,
         "sites.0.switches is 'big'; give a list"),
        ('[[sites]]\nname = "s"', "[[sites]]\nname = 3", 7, "sites.0.name is 3; give a text"),
        # Keys that are missing.
        ("hosts = 4\n", "", 8, "key 'sites.0.clusters.0.hosts' is missing; add it: a whole"),
        ('speed = "1Gf"\n', "", 8,
         "key 'sites.0.clusters.0.speed' is missing; add it: e.g. \"2.5Gf\", a number [flop/s]"),
        ('[[sites]]\nname = "s"', "[[sites]]", 6, "key 'sites.0.name' is missing; add it: a text"),
        # Types and units.
        ('speed = "1Gf"', 'speed = "1GHz"', 11,
         "sites.0.clusters.0.speed: speed '1GHz' has the unknown unit 'GHz'; write e.g. '1.5Gf'"),
        ('latency = "50us"', 'latency = "50ms "', 13,
         "sites.0.clusters.0.latency: time '50ms ' has the unknown unit 'ms '"),
        ('latency = "50us"', "latency = -1", 13,
         "sites.0.clusters.0.latency is -1; give a number, 0 or more, e.g. \"50us\""),
        ('bandwidth = "1Gbps"\nlatency = "50us"', "bandwidth = true\nlatency = 0", 12,
         "sites.0.clusters.0.bandwidth is True; give a number, more than 0"),
        ('bandwidth = "1Gbps"\nlatency = "1ms"', "bandwidth = inf", 4, "backbone.bandwidth is inf"),
        ("hosts = 4", "hosts = 4.5", 10,
         "sites.0.clusters.0.hosts is 4.5; give a whole number of at least 1, or a law"),
        ("hosts = 4", 'hosts = "4"', 10, "sites.0.clusters.0.hosts is '4'; give a whole number"),
        ("hosts = 4", "hosts = 4\ncores = 0", 11, "sites.0.clusters.0.cores is 0; give a whole"),
        ("hosts = 4", "hosts = 4\nrepeat = 0", 11,
         "sites.0.clusters.0.repeat is 0; give a whole number of at least 1"),
        ("hosts = 4", "hosts = inf", 10, "sites.0.clusters.0.hosts is inf; give a whole number"),
        ("hosts = 4", "hosts = nan", 10, "sites.0.clusters.0.hosts is nan; give a whole number"),
        ('name = "f"', 'name = "f"\nseed = -1', 2, "seed is -1; give a whole number of at least 0"),
        ('name = "s"', 'name = "s"\none_switch = 1', 8, "sites.0.one_switch is 1; give true or"),
        ('name = "s"', 'name = "s"\none_switch = false', 8,
         "sites.0.one_switch is False; remove it, or describe the switch: switch = { ... }"),
        # Laws.
        ("hosts = 4", 'hosts = { law = "normal", mean = 4 }', 10,
         "sites.0.clusters.0.hosts.law is 'normal'; give one of constant, uniform"),
        ("hosts = 4", 'hosts = { law = "uniform", low = 4 }', 10,
         "key 'sites.0.clusters.0.hosts.high' is missing; add it: e.g. high = 5"),
        ("hosts = 4", 'hosts = { law = "uniform", low = 4, high = 5, mean = 3 }', 10,
         "unknown key 'sites.0.clusters.0.hosts.mean'; the keys here are law, low, high"),
        ("hosts = 4", 'hosts = { law = "uniform", low = 6, high = 5 }', 10,
         "a uniform law goes from 6.0 to 5.0; give low first, then high"),
        ("hosts = 4", "hosts = { mean = 3 }", 10, "key 'sites.0.clusters.0.hosts.law' is"),
        ('speed = "1Gf"', 'speed = { law = "exponential", mean = "1Gbps" }', 11,
         "sites.0.clusters.0.speed.mean: speed '1Gbps' has the unknown unit 'Gbps'"),
        ('speed = "1Gf"', 'speed = { law = "gamma", mean = "1Gf", variation = "1Gf" }', 11,
         "sites.0.clusters.0.speed.variation is '1Gf'; give a number, more than 0, e.g. 0.3"),
        # What does not fit together: the line of the table that says so.
        ("latency = \"50us\"\n[[sites]]", 'latency = "50us"\nswitch = "z"\n[[sites]]', 14,
         "cluster 'c' of site 's' hangs from 'z', which is no switch of the site"),
        ('name = "s"\n', SWITCHES, 9, "nothing hangs from switch 'x' of site 's'"),
        ('name = "s"\n', SWITCHES + "latency = 1\n", 8,
         "switch 'x' has a latency without a bandwidth; give both or none"),
        ('kind = "star"', 'kind = "tree"', 3, "a backbone is of kind 'tree'; give one of star"),
        ('kind = "star"', 'kind = "links"', 3, "a backbone of kind 'links' has 0 links"),
        ('kind = "star"\nbandwidth = "1Gbps"\nlatency = "1ms"', 'kind = "star"', 4,
         "site 's' has no cable to the hub; give it an uplink, or the backbone a bandwidth"),
        ('kind = "star"', 'kind = "star"\nlinks = [{ between = ["s"], bandwidth = 1 }]', 4,
         "backbone.links.0.between is ['s']; give 2 texts in brackets"),
        ('name = "t"', 'name = "s"', 15, "two sites are called 's'; name them apart"),
        ('name = "c"', COPY.format("c"), 15, "two clusters of site 's' are called 'c'"),
        ('name = "s"\n', SWITCHES + 'to = "y"\n[[sites.switches]]\nname = "y"\nto = "x"\n', 10,
         "the switches of site 's' form a ring through 'x'; let one of them go"),
        ('name = "s"\n', SWITCHES + 'to = "q"\n', 10, "goes to 'q', which is no switch"),
        ('name = "s"\n', SWITCHES + '[[sites.switches]]\nname = "x"\n', 11,
         "two switches of site 's' are called 'x'"),
        ('name = "s"\n', EACH, 16, "cluster 'b' of site 's' has a backbone or an uplink beside"),
        (STAR, LINKS.format("s", "paris"), 5,
         "a link of the backbone ends at 'paris', which is no site; name two of s, t"),
        (STAR, LINKS.format("s", "s"), 5, "a link of the backbone joins site 's' to itself"),
        (STAR, LINKS.format("s", "t") + LINKS.format("t", "s")[14:], 8,
         "two links of the backbone join 't' and 's'"),
        (f"[backbone]\n{STAR}\n", "", 10, "nothing joins the 2 sites of federation 'f'; give it a"),
        (f"[backbone]\n{STAR}\n", "[backbone]\nkind = 'mesh'\n", 3,
         "a backbone of kind 'mesh' has no bandwidth"),
        # More than can be.
        ("hosts = 4", "hosts = 99999999999", 10,
         "the hosts of cluster 'c' cannot be 99,999,999,999, more than the 2,000,000"),
        ("hosts = 4", "hosts = 4\ncores = 3e9", 11,
         "the cores of cluster 'c' cannot be 3,000,000,000, more than the 2,147,483,647"),
        ("hosts = 4", "hosts = 4\nrepeat = 10000000000000", 11,
         "the repeat of cluster 'c' cannot be 10,000,000,000,000, more than the 100,000"),
        ('name = "s"\n', 'name = "s"\nrepeat = 10000000000000\n', 8,
         "the repeat of site 's' cannot be 10,000,000,000,000"),
        ('name = "s"\n', 'name = "s"\nrepeat = 100000\n', 8,
         "there are 100,001 clusters, more than the 100,000 that are made; repeat sites or"),
        # Names that come to the same in the platform.
        ('name = "c"', 'name = "router"', 9,
         "cluster 'router' of site 's' and the router of site 's' would both be called "
         "'router.s'; rename one of them"),
        ('name = "c"', COPY.format("c-2"), 9,
         "cluster 'c-2' of site 's' would be called 'c-2.s', as a host of cluster 'c' of site 's'"),
        ('name = "f"', 'name = "hub"', 1, "the federation and the hub would both be called 'hub'"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_line(tmp_path, old, new, line, message):
    assert old in BASE
    with pytest.raises(PlatformError) as caught:
        _read(tmp_path, BASE.replace(old, new, 1))
    assert message in str(caught.value)
    assert caught.value.line == line
    assert str(caught.value).startswith(f"{tmp_path / 'federation.toml'}:{line}: ")


@pytest.mark.parametrize("text", ["", "seed = 1\n", "[backbone]\nkind = 'star'\n"])
def test_no_site_is_told_at_the_first_line(tmp_path, text):
    with pytest.raises(PlatformError, match=r"toml:1: federation 'federation' has no site"):
        _read(tmp_path, text)


DRAWN = """\
name = "f"
[[sites]]
name = "s"
[[sites.clusters]]
name = "a"
hosts = 3
speed = 1e9
bandwidth = 1e9
latency = 0
[[sites.clusters]]
name = "b"
speed = 1e9
bandwidth = 1e9
latency = 0
hosts = { law = "constant", value = 1 }
"""


@pytest.mark.parametrize("mean", ["2.4e11", "1e300", "1.7e308"])
def test_draws_of_too_many_hosts_are_told_with_their_line(tmp_path, mean):
    file = tmp_path / "federation.toml"
    file.write_text(DRAWN.replace("value = 1 ", f"value = {mean} "))
    with pytest.raises(PlatformError) as caught:
        read_federation_platform(file)
    assert "of them cluster 'b' of site 's': more than the 2,000,000 that are" in str(caught.value)
    assert "240,000,000,003 hosts" in str(caught.value) or mean != "2.4e11"
    assert caught.value.line == 15
    file.write_text(DRAWN)
    assert read_federation_platform(file).host_count == 4


def test_what_the_platform_alone_objects_to_is_told_with_the_file(tmp_path):
    file = tmp_path / "federation.toml"
    # Host 1 of a-1.b at c is host 1 of a at b-1.c; the rest of the two names differs.
    file.write_text(
        BASE.replace('name = "s"', 'name = "c"')
        .replace('name = "c"\nhosts', 'name = "a-1.b"\nhosts')
        .replace('name = "t"', 'name = "b-1.c"')
        .replace('name = "d"', 'name = "a"')
    )
    with pytest.raises(PlatformError, match=r"a-1\.b-1\.c") as caught:
        read_federation_platform(file)
    assert caught.value.file == file


def test_the_base_of_these_is_right(tmp_path):
    assert _read(tmp_path, BASE).platform().host_count == 8


def test_no_sites_and_no_backbone_are_told():
    with pytest.raises(PlatformError, match="federation 'federation' has no site; give it one"):
        federation_platform_from({})
    sites = [
        {"name": name, "clusters": [{"name": "c", "hosts": 1, "speed": 1, "bandwidth": 1,
                                     "latency": 0}]}
        for name in "ab"
    ]  # fmt: skip
    with pytest.raises(PlatformError, match="nothing joins the 2 sites"):
        federation_platform_from({"sites": sites})
    assert federation_platform_from({"sites": sites[:1]}).host_count == 1


LAWS = """\
name = "f"

[backbone]
kind = "star"
bandwidth = "1Gbps"

[[sites]]
name = "s"

[[sites.clusters]]
name = "c"
hosts = 4
speed = "1Gf"
bandwidth = "1Gbps"
latency = "50us"
"""


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ('speed = "1Gf"', 'speed = "4.3"', 13,
         "sites.0.clusters.0.speed is '4.3', which has no unit; write e.g. \"2.5Gf\", or a "
         "number [flop/s] without quotes"),
        ('bandwidth = "1Gbps"\nlatency', 'bandwidth = "1e9"\nlatency', 14,
         "sites.0.clusters.0.bandwidth is '1e9', which has no unit; write e.g. \"10Gbps\""),
        ('latency = "50us"', 'latency = "0"', 15,
         "sites.0.clusters.0.latency is '0', which has no unit; write e.g. \"50us\", or a number "
         "[s] without quotes"),
        ('kind = "star"\nbandwidth = "1Gbps"', 'kind = "star"\nbandwidth = "7"', 5,
         "backbone.bandwidth is '7', which has no unit"),
        ('speed = "1Gf"', 'speed = { law = "uniform", low = "1", high = "2Gf" }', 13,
         "sites.0.clusters.0.speed.low is '1', which has no unit"),
        ('speed = "1Gf"', 'speed = { low = "1Gf", high = "2Gf" }', 13,
         "key 'sites.0.clusters.0.speed.law' is missing; add it: one of constant, uniform, "),
        ('speed = "1Gf"', 'speed = { law = "uniform", low = "1Gf" }', 13,
         "key 'sites.0.clusters.0.speed.high' is missing; add it: e.g. high = \"2.5Gf\""),
        ('speed = "1Gf"', 'speed = { law = "gamma", mean = "1Gf" }', 13,
         "key 'sites.0.clusters.0.speed.variation' is missing; add it: e.g. variation = 0.3"),
        ('speed = "1Gf"', 'speed = { law = "gamma", mean = "1Gf", varation = 1 }', 13,
         "unknown key 'sites.0.clusters.0.speed.varation'; did you mean 'variation'?"),
        ('speed = "1Gf"', 'speed = { law = ["uniform"] }', 13,
         "sites.0.clusters.0.speed.law is ['uniform']; give one of constant"),
        ('latency = "50us"', 'latency = { law = "uniform", low = 0, high = "1s" }', 15,
         "sites.0.clusters.0.latency.low is 0; give a number, more than 0"),
        ("hosts = 4", 'hosts = { law = "uniform", low = 4, high = "6" }', 12,
         "sites.0.clusters.0.hosts.high is '6'; give a number, more than 0, e.g. 5"),
        ('speed = "1Gf"', f"speed = 1{'0' * 400}", 13, "give a number, more than 0"),
        ('kind = "star"\n', "", 3,
         "key 'backbone.kind' is missing; add it: one of star, mesh, ring, chain, links"),
    ],
)  # fmt: skip
def test_quantities_and_laws_have_their_own_lines(tmp_path, old, new, line, message):
    assert LAWS.count(old) == 1
    with pytest.raises(PlatformError) as caught:
        _read(tmp_path, LAWS.replace(old, new))
    assert message in str(caught.value)
    assert caught.value.line == line


def test_parameters_of_a_law_have_their_own_lines(tmp_path):
    law = 'speed.law = "uniform"\nspeed.low = "1Gf"\nspeed.high = "9"\n'
    with pytest.raises(PlatformError, match="which has no unit") as caught:
        _read(tmp_path, LAWS.replace('speed = "1Gf"\n', law))
    assert caught.value.line == 15
