"""Generators as scenarios and the command call them."""

import math
from pathlib import Path

import numpy as np
import pytest

from simplugin.errors import PlatformError, ScenarioError
from simplugin.formats.platform_xml import platform_text
from simplugin.platforms import Cluster, Zone
from simplugin.platforms.consistency import find_problems
from simplugin.platforms.laws import Law
from simplugin.scenarios.generators import GENERATORS
from simplugin.scenarios.generators.calls import generator_called, read_drawn, read_quantity
from simplugin.scenarios.scenario import load_scenario, run_scenario
from simplugin.simulation.resolve import resolve

EVERY = 10**9
FILES = Path(__file__).parents[2] / "platforms_xml"
# What each lacks to be called; those with files of their own have tests of their own.
NEEDED = {
    "chain": {"n_hosts": 5},
    "complete_tree": {},
    "dragonfly": {},
    "fat_tree": {"children": [2, 4]},
    "five_hosts": {},
    "flat_cluster": {"n_hosts": 3},
    "grid": {"rows": 2, "columns": 3},
    "grid5000_subset": {"site": "nancy"},
    "multi_cluster": {"clusters": [{"name": "c", "processors": 3, "speed": "2Gf"}]},
    "peer_grid": {},
    "peer_site": {},
    "preferential_attachment": {"n_hosts": 8},
    "random_geometric": {"n_hosts": 8},
    "random_graph": {"shape": "grid", "n_hosts": 6},
    "random_tree": {"n_hosts": 6, "max_degree": 2},
    "ring": {"n_hosts": 5},
    "small_world": {"n_hosts": 8},
    "star": {},
    "torus": {"sizes": [3, 2]},
    "two_topologies": {},
}
NEIGHBOURS_ONLY = {"five_hosts", "random_graph", "random_tree"}
# Its sites reach the global scheduler only.
PARTLY_JOINED = NEIGHBOURS_ONLY | {"peer_grid"}
DRAWN = ["chain", "complete_tree", "grid", "preferential_attachment", "random_geometric"]
DRAWN += ["ring", "small_world", "star"]


def made(name, **parameters):
    return generator_called(name).platform(NEEDED.get(name, {}) | parameters)


def test_every_generator_is_tried_somewhere():
    assert set(NEEDED) == set(GENERATORS) - {"federation", "grid5000"}


@pytest.mark.parametrize("name", NEEDED)
def test_what_generators_make_loads_and_connects(name):
    platform = made(name)
    if name in PARTLY_JOINED:
        assert resolve(platform, 100).unreachable
        return
    assert not find_problems(platform)
    resolved = resolve(platform, 5000)
    assert not resolved.unreachable
    assert len(resolved.hosts) == platform.host_count


@pytest.mark.parametrize("name", sorted(NEIGHBOURS_ONLY))
def test_graphs_join_all_hosts_when_asked_to(name):
    platform = made(name, routing="Floyd")
    count = platform.host_count
    assert len(resolve(platform, EVERY).routes) == count * (count - 1)
    # Nothing but the routing changes.
    usual = platform_text(made(name)).replace('routing="Full"', 'routing="Floyd"')
    assert platform_text(platform) == usual


@pytest.mark.parametrize("name", [*DRAWN, "random_graph", "random_tree"])
def test_the_seed_alone_decides(name):
    law = {"speed": {"law": "uniform", "low": "1Gf", "high": "2Gf"}} if name in DRAWN else {}
    if name == "random_graph":
        law = {"decades": 1.0}
    one, two, other = (platform_text(made(name, seed=seed, **law)) for seed in (4, 4, 5))
    assert one == two
    assert one != other


@pytest.mark.parametrize("name", DRAWN)
def test_quantities_are_numbers_or_texts(name):
    words = made(name, speed="2.5Gf", bandwidth="10Gbps", latency="2ms")
    assert words == made(name, speed=2.5e9, bandwidth=1.25e9, latency=2e-3)
    resolved = resolve(words, [])
    assert {host.speed for host in resolved.hosts} == {2.5e9}
    assert {(link.bandwidth, link.latency) for link in resolved.links} == {(1.25e9, 2e-3)}


@pytest.mark.parametrize("name", ["flat_cluster", "fat_tree", "torus", "dragonfly"])
def test_clusters_are_of_equal_hosts(name):
    resolved = resolve(made(name, speed="3Gf", cores=4, bandwidth="1GBps", latency="1us"), [])
    assert {(host.speed, host.cores) for host in resolved.hosts} == {(3e9, 4)}
    assert {(link.bandwidth, link.latency) for link in resolved.links} == {(1e9, 1e-6)}


@pytest.mark.parametrize(
    ("file", "name", "parameters"),
    [
        ("star", "star", {"workers": 10, "seed": 1}),
        ("two_topologies", "two_topologies", {}),
        ("five_hosts", "five_hosts", {}),
        ("tree", "random_tree", {"n_hosts": 12, "max_degree": 3, "seed": 11}),
        *((site, "grid5000_subset", {"site": site}) for site in ("lille", "nancy")),
        *((site, "grid5000_subset", {"site": site}) for site in ("rennes", "sophia")),
    ],
)
def test_platforms_of_the_examples_can_be_generated(file, name, parameters):
    text = platform_text(generator_called(name).platform(parameters))
    # All but the comment, which has the command.
    assert text.splitlines()[2:] == (FILES / f"{file}.xml").read_text().splitlines()[3:]


# Table 1 of N'takpé and Suter (2008), line by line; totals and heterogeneity are in their text.
TABLE = """
lille chuque 53 3.647
lille chti 20 4.311
lille chicon 26 4.384
nancy grillon 47 3.379
nancy grelon 120 3.185
rennes parasol 64 3.573
rennes paravent 99 3.364
rennes paraquad 66 4.603
sophia azur 74 3.258
sophia helios 56 3.675
sophia sol 50 4.389
"""


@pytest.mark.parametrize(
    ("site", "total", "heterogeneity", "one_switch"),
    [
        ("lille", 99, 20.2, True),
        ("nancy", 167, 6.1, False),
        ("rennes", 229, 36.8, True),
        ("sophia", 180, 34.7, False),
    ],
)
def test_sites_are_as_printed(site, total, heterogeneity, one_switch):
    platform = made("grid5000_subset", site=site)
    resolved = resolve(platform, [])
    printed = [line.split()[1:] for line in TABLE.split("\n") if line.startswith(site)]
    found = {}
    for host in resolved.hosts:
        found.setdefault(host.name.partition("-")[0], []).append(host.speed)
    assert {name: (len(speeds), *set(speeds)) for name, speeds in found.items()} == {
        name: (int(count), pytest.approx(float(speed) * 1e9)) for name, count, speed in printed
    }
    assert len(resolved.hosts) == total
    speeds = [host.speed for host in resolved.hosts]
    assert 100 * (max(speeds) / min(speeds) - 1) == pytest.approx(heterogeneity, abs=0.06)
    ((zone,),) = (platform.elements,)
    assert isinstance(zone, Zone)
    assert (zone.routing == "Cluster") == one_switch
    switches = [part for part in zone.elements if isinstance(part, Cluster)]
    assert len(switches) == (0 if one_switch else len(printed))


@pytest.mark.parametrize(
    ("value", "law"),
    [
        ({"law": "uniform", "low": "1Gf", "high": 2e9}, Law("uniform", (1e9, 2e9))),
        ({"law": "lognormal", "variation": 0.3, "mean": "3Gf"}, Law("lognormal", (3e9, 0.3))),
        ({"shape": 2, "scale": "1Gf", "law": "weibull"}, Law("weibull", (2.0, 1e9))),
        ("4Gf", 4e9),
        (7, 7.0),
    ],
)
def test_laws_are_read(value, law):
    assert read_drawn("speed", value) == law


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"law": "normal", "mean": 1.0}, "speed.law is 'normal'; give one of constant, uniform"),
        ({"mean": 1.0}, "key 'speed.law' is missing; add it: one of constant, uniform, "),
        ({"law": "uniform", "low": 1.0}, "key 'speed.high' is missing; add it: e.g. high = "),
        ({"law": "uniform", "low": 1.0, "hgh": 2.0}, "'speed.hgh'; did you mean 'high'?"),
        ({"law": "constant"}, "key 'speed.value' is missing"),
        ({"law": "gamma", "mean": 1.0, "variation": "x"}, "speed.variation is 'x'; give a number"),
        ({"law": "gamma", "mean": 1.0, "variation": "1Gf"}, "speed.variation is '1Gf'"),
        ({"law": "uniform", "low": 2.0, "high": 1.0}, "give low first"),
        ({"law": "uniform", "low": "1s", "high": "2s"}, "unknown unit"),
        ({"law": "uniform", "low": "1Gf", "high": "2"}, "speed.high is '2', which has no unit"),
        (True, "speed is True; give a number"),
        ([1.0], "speed is [1.0]"),
        ("3GBps", "unknown unit"),
        ("4.3", "speed is '4.3', which has no unit; write e.g. \"2.5Gf\", or a number [flop/s]"),
        ("1e9", "'1e9', which has no unit"),
        ("0xA", "'0xA', which has no unit"),
        ("inf", "'inf', which has no unit"),
        (0, "speed is 0; give a number, more than 0"),
        (10**400, "give a number, more than 0"),
    ],
)
def test_what_is_no_law_is_refused(value, message):
    with pytest.raises(PlatformError) as caught:
        read_drawn("speed", value)
    assert message in str(caught.value)


def test_quantities_are_read_by_the_end_of_their_names():
    assert read_quantity("switch_bandwidth", "1Gbps") == 1.25e8
    assert read_quantity("side_latency", "3ms") == 3e-3
    assert read_quantity("clusters[0].speed", "2Gf") == 2e9
    # Half a minute, in which float() would see no unit but the parser does.
    assert read_quantity("latency", "0.5m") == 30.0
    assert read_quantity("latency", 0) == 0.0


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("rign", {}, "there is no generator 'rign'; did you mean 'ring'"),
        ("moon", {}, "there is no generator 'moon'; write 'module:function', or one of chain, "),
        (
            "ring",
            {"n_host": 3},
            r"no parameter 'n_host'; did you mean 'n_hosts'\? It takes n_hosts",
        ),
        ("ring", {"zzz": 3}, "no parameter 'zzz'; it takes n_hosts speed=1Gf bandwidth=125MBps"),
        ("ring", {}, "lacks its parameter 'n_hosts'; it takes n_hosts speed=1Gf"),
        ("two_topologies", {"a": 1}, r"no parameter 'a'; it takes \(nothing\)"),
        ("ring", {"n_hosts": "x"}, "hosts of a ring is 'x'; give a whole number"),
        ("ring", {"n_hosts": 3, "speed": "3GBps"}, "unknown unit 'GBps'"),
        ("ring", {"n_hosts": 3, "routing": "Vivaldi"}, "routing of a graph is 'Vivaldi'"),
        ("random_geometric", {"n_hosts": 3, "radius": "1km"}, "radius is '1km'"),
        ("random_tree", {"n_hosts": 3, "max_degree": 2, "speeds": "1Gf"}, "smallest and the larg"),
        ("random_graph", {"n_hosts": 3, "shape": "ring"}, "no shape 'ring'"),
        ("torus", {"sizes": 4}, "sizes is 4; give a list"),
        ("grid5000_subset", {"site": "lyon"}, "no subset is called 'lyon'"),
        ("multi_cluster", {"clusters": [{"name": "c"}]}, "give name, processors and speed"),
        ("peer_site", {"sped": 1}, "refuses its parameters"),
        ("math:nothing", {}, "module 'math' has no 'nothing'"),
        ("no_such:thing", {}, "no module 'no_such', neither in the current directory nor"),
        ("math:hypot", {}, "returned float, not a Platform"),
    ],
)
def test_what_cannot_be_made_is_told(name, parameters, message):
    with pytest.raises(PlatformError, match=message):
        generator_called(name).platform(parameters)


def test_usage_has_defaults_as_the_command_takes_them():
    assert generator_called("two_topologies").usage() == "(nothing)"
    assert generator_called("five_hosts").usage() == "latency=1ms routing=Full"
    tree = generator_called("random_tree").usage()
    assert 'speeds=["22.151Mf","171.667Mf"]' in tree
    assert "root_computes=true" in tree
    assert generator_called("peer_site").usage().endswith(" ...")


def test_generators_may_return_graphs(tmp_path, monkeypatch):
    (tmp_path / "my_graphs.py").write_text(
        "import numpy as np\n"
        "from simplugin.platforms.topologies.random_graphs import random_graph\n"
        "def path(n_hosts, seed=0):\n"
        "    return random_graph('path', n_hosts, np.random.default_rng(seed))\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    platform = generator_called("my_graphs:path").platform({"n_hosts": 4})
    assert platform == made("random_graph", shape="path", n_hosts=4)


SCENARIO = """
title = "There and back"

[platform]
generator = "grid"
seed = 3

[platform.parameters]
rows = 3
columns = 4
speed = { law = "uniform", low = "1Gf", high = "2Gf" }
bandwidth = "100MBps"
latency = 0.0

[workload]
kind = "actors"
deployment = "deployment.xml"
functions = { send = "my_actors:send", take = "my_actors:take" }

[simulation.options]
network_model = "CM02"
crosstraffic = false
tcp_gamma = 0.0
"""
ACTORS = """
async def send(me, size):
    await me.mailbox("box").put("", float(size))


async def take(me):
    await me.mailbox("box").get()
"""
DEPLOYMENT = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <actor host="h0-0" function="send"><argument value="2e8"/></actor>
  <actor host="h2-3" function="take"/>
</platform>
"""


@pytest.fixture
def crossing(tmp_path):
    def write(old="", new=""):
        assert old in SCENARIO
        (tmp_path / "my_actors.py").write_text(ACTORS)
        (tmp_path / "deployment.xml").write_text(DEPLOYMENT)
        (tmp_path / "scenario.toml").write_text(SCENARIO.replace(old, new))
        return load_scenario(tmp_path / "scenario.toml")

    return write


def test_scenarios_take_them(crossing):
    # 200 MB at 100 MB/s, over five links at once.
    assert run_scenario(crossing()).result.clock == pytest.approx(2.0)
    platform = crossing().make_platform()
    ((zone,),) = (platform.elements,)
    # The draws of the seed, made again: the shape draws nothing.
    speeds = np.random.default_rng(3).uniform(1e9, 2e9, 12)
    assert [host.speed for host in zone.hosts] == speeds.tolist()


@pytest.mark.parametrize(
    ("old", "new", "told", "line"),
    [
        ("rows = 3", "rows = 0", "the number of rows is 0; give a whole number from 1", 8),
        ("rows = 3", "row = 3", "no parameter 'row'; did you mean 'rows'? It takes rows col", 8),
        ("rows = 3\n", "", "generator 'grid' lacks its parameter 'rows'; it takes rows columns", 8),
        ("rows = 3", "rows = 3\nseed = 4", "the seed is given twice", 6),
        ("rows = 3", 'rows = 3\ndirectory = "x"', "no parameter 'directory'; it takes rows", 8),
        ('"grid"', '"math:nothing"', "module 'math' has no 'nothing'", 5),
        ('"grid"', '"none:here"', "no module 'none', neither beside the scenario nor", 5),
        ('"100MBps"', '"100Mf"', "unknown unit 'Mf'", 8),
        ('"uniform"', '"even"', "speed.law is 'even'; give one of constant", 8),
        ('"grid"', '"gird"', "there is no generator 'gird'; did you mean 'grid'", 5),
    ],
)
def test_scenarios_tell_where_they_are_wrong(crossing, old, new, told, line):
    with pytest.raises(ScenarioError, match=rf"scenario\.toml:{line}: ") as caught:
        run_scenario(crossing(old, new))
    assert told in str(caught.value)


def test_fat_trees_and_tori_have_as_many_hosts_as_told():
    for sizes in ([7], [2, 3, 5], [4, 4, 4]):
        assert made("torus", sizes=sizes).host_count == math.prod(sizes)
        assert made("fat_tree", children=sizes).host_count == math.prod(sizes)
