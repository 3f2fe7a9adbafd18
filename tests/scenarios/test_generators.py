"""Generators as scenarios and the command call them."""

from collections import Counter

import numpy as np
import pytest
from changed_scenarios import cut, refused

from simplugin.core.errors import PlatformError
from simplugin.formats.platform_xml import platform_text
from simplugin.platforms import Cluster, Zone
from simplugin.platforms.consistency import find_problems
from simplugin.platforms.laws import Law
from simplugin.scenarios import load_scenario
from simplugin.scenarios.generators import GENERATORS
from simplugin.scenarios.generators.registry import generator_called
from simplugin.simulation.resolve import resolve

EVERY = 10**9
CLUSTER = {"name": "c", "processors": 3, "speed": "2Gf"}
# What each lacks to be called; those that read files have tests of their own.
NEEDED = {
    "chain": {"n_hosts": 5},
    "fat_tree": {"children": [2, 4]},
    "flat_cluster": {"n_hosts": 3},
    "grid": {"rows": 2, "columns": 3},
    "grid5000_subset": {"site": "nancy"},
    "multi_cluster": {"clusters": [CLUSTER]},
    "preferential_attachment": {"n_hosts": 8},
    "random_geometric": {"n_hosts": 8},
    "random_graph": {"shape": "grid", "n_hosts": 6},
    "random_tree": {"n_hosts": 6, "max_degree": 2},
    "ring": {"n_hosts": 5},
    "small_world": {"n_hosts": 8},
    "switched_hosts": {"speeds": [1e9, "2Gf"], "bandwidths": ["1Gbps", 1e8]},
    "torus": {"sizes": [3, 2]},
}
NEIGHBOURS_ONLY = {"five_hosts", "random_graph", "random_tree"}
# Its sites reach the global scheduler only.
PARTLY_JOINED = NEIGHBOURS_ONLY | {"peer_grid"}
DRAWN = ["chain", "complete_tree", "grid", "preferential_attachment", "random_geometric"]
DRAWN += ["ring", "small_world", "star"]


def made(name, **parameters):
    return generator_called(name).platform(NEEDED.get(name, {}) | parameters)


@pytest.mark.parametrize("name", sorted(set(GENERATORS) - {"federation", "grid5000"}))
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


# Table 1 of N'takpé and Suter (2008), line by line; totals and heterogeneity are in their text.
PRINTED = {
    "lille": {"chuque": (53, 3.647), "chti": (20, 4.311), "chicon": (26, 4.384)},
    "nancy": {"grillon": (47, 3.379), "grelon": (120, 3.185)},
    "rennes": {"parasol": (64, 3.573), "paravent": (99, 3.364), "paraquad": (66, 4.603)},
    "sophia": {"azur": (74, 3.258), "helios": (56, 3.675), "sol": (50, 4.389)},
}
SITES = [("lille", 99, 20.2, True), ("nancy", 167, 6.1, False)]
SITES += [("rennes", 229, 36.8, True), ("sophia", 180, 34.7, False)]


@pytest.mark.parametrize(("site", "total", "heterogeneity", "one_switch"), SITES)
def test_sites_are_as_printed(site, total, heterogeneity, one_switch):
    platform, printed = made("grid5000_subset", site=site), PRINTED[site]
    hosts = resolve(platform, []).hosts
    found = {host.name.partition("-")[0]: host.speed for host in hosts}
    assert found == pytest.approx({name: speed * 1e9 for name, (_, speed) in printed.items()})
    assert len({host.speed for host in hosts}) == len(printed)
    counts = Counter(host.name.partition("-")[0] for host in hosts)
    assert counts == {name: count for name, (count, _) in printed.items()}
    assert len(hosts) == total
    speeds = [host.speed for host in hosts]
    assert 100 * (max(speeds) / min(speeds) - 1) == pytest.approx(heterogeneity, abs=0.06)
    ((zone,),) = (platform.elements,)
    assert isinstance(zone, Zone)
    assert (zone.routing == "Cluster") == one_switch
    switches = [part for part in zone.elements if isinstance(part, Cluster)]
    assert len(switches) == (0 if one_switch else len(printed))


LAWS = [
    ({"law": "uniform", "low": "1Gf", "high": 2e9}, Law("uniform", (1e9, 2e9))),
    ({"law": "lognormal", "variation": 0.3, "mean": "3Gf"}, Law("lognormal", (3e9, 0.3))),
    ({"shape": 2, "scale": "1Gf", "law": "weibull"}, Law("weibull", (2.0, 1e9))),
    ("4Gf", 4e9),
    (7, 7.0),
]


@pytest.mark.parametrize(("value", "law"), LAWS)
def test_laws_are_read(value, law):
    values, problems = generator_called("ring").read({"n_hosts": 3, "speed": value})
    assert (values["speed"], problems) == (law, [])


NO_LAWS = [
    ({"law": "normal", "mean": 1.0}, "speed.law is 'normal'; give one of 'constant', 'uniform'"),
    ({"mean": 1.0}, "key 'speed.law' is missing; add it: one of 'constant', 'uniform', "),
    ({"law": "uniform", "low": 1.0}, "key 'speed.high' is missing; add it"),
    ({"law": "uniform", "low": 1.0, "hgh": 2.0}, "'speed.hgh'; did you mean 'high'?"),
    ({"law": "gamma", "mean": 1.0, "variation": "1Gf"}, "speed.variation is '1Gf'; give a num"),
    ({"law": "uniform", "low": 2.0, "high": 1.0}, "give low first"),
    ({"law": "uniform", "low": "1s", "high": "2s"}, "unknown unit"),
    (True, "speed is True; give a number"),
    ([1.0], "speed is [1.0]"),
    ("4.3", "speed is '4.3', which has no unit; write e.g. '2.5Gf', or a number [flop/s]"),
    ("inf", "'inf', which has no unit"),
    (-1, "speed is -1; give a number greater than or equal to 0"),
    (10**400, "; give a "),
]


NO_GENERATORS = [
    ("rign", "there is no generator 'rign'; did you mean 'ring'"),
    ("moon", "there is no generator 'moon'; write 'module:function', or one of "),
    ("math:nothing", "module 'math' has no 'nothing'"),
    ("no_such:thing", "there is no module 'no_such'"),
    ("math:hypot", "returned float, not a Platform"),
    ("ring", "key 'n_hosts' is missing; add it"),
]


@pytest.mark.parametrize(("name", "message"), NO_GENERATORS)
def test_generators_that_cannot_be_called(name, message):
    with pytest.raises(PlatformError) as caught:
        generator_called(name).platform({})
    assert message in str(caught.value)


WRONG_VALUES = [
    ("ring", {"n_host": 3}, "no parameter 'n_host'; did you mean 'n_hosts'? It takes n_hosts"),
    ("two_topologies", {"a": 1}, "no parameter 'a'; it takes (nothing)"),
    ("ring", {"n_hosts": True}, "n_hosts is True; give a whole number"),
    ("random_geometric", {"radius": "1km"}, "radius is '1km'"),
    ("grid5000_subset", {"site": "lyon"}, "site is 'lyon'; give 'lille'"),
    ("random_tree", {"bandwidth_law": ["uniform"]}, "bandwidth_law is ['uniform']; give"),
    ("random_tree", {"speeds": ["1", "2"]}, "speeds.0 is '1', which has no unit"),
    ("random_tree", {"latency": ["6ms"]}, "key 'latency.1' is missing"),
    ("random_tree", {"latency": [0, 1]}, "(0.0, 1.0); give the smallest"),
    ("random_graph", {"decades": -3}, "decades is -3.0; give a number from 0 to 100"),
    ("multi_cluster", {"clusters": [CLUSTER | {"processors": 2.5}]}, "0.processors is 2.5"),
    ("multi_cluster", {"clusters": [{"name": "c"}]}, "key 'clusters.0.processors' is missing"),
    ("peer_site", {"sped": 1}, "no parameter 'sped'; did you mean 'speed'"),
    *((name, {"seed": -1}, "seed is -1; give a number greater than") for name in DRAWN),
    *(("ring", {"speed": value}, message) for value, message in NO_LAWS),
]


@pytest.mark.parametrize(("name", "parameters", "message"), WRONG_VALUES)
def test_values_that_make_no_sense_are_told_with_culprit_and_remedy(name, parameters, message):
    with pytest.raises(PlatformError) as caught:
        made(name, **parameters)
    assert message in str(caught.value)


def test_usage_has_defaults_as_the_command_takes_them():
    tree = generator_called("random_tree").usage()
    assert 'speeds=["22.151Mf","171.667Mf"]' in tree
    assert "root_computes=true" in tree
    assert generator_called("federation").usage().endswith(" ...")


MY_GRAPHS = """
import numpy as np
from simplugin.platforms.topologies.random_graphs import random_graph

def path(n_hosts, seed=0):
    return random_graph("path", n_hosts, np.random.default_rng(seed))
"""


def test_generators_may_return_graphs(tmp_path, monkeypatch):
    (tmp_path / "my_graphs.py").write_text(MY_GRAPHS)
    monkeypatch.syspath_prepend(tmp_path)
    platform = generator_called("my_graphs:path").platform({"n_hosts": 4})
    assert platform == made("random_graph", shape="path", n_hosts=4)


GRID = """generator = "grid"
seed = 3
[platform.parameters]
rows = 3
columns = 4
speed = { law = "uniform", low = "1Gf", high = "2Gf" }
"""


def test_scenarios_take_them(three):
    cut(three, "generator =", "[workload]", GRID)
    ((zone,),) = (load_scenario(three).make_platform().elements,)
    # The draws of the seed, made again: the shape draws nothing.
    speeds = np.random.default_rng(3).uniform(1e9, 2e9, 12)
    assert [host.speed for host in zone.hosts] == speeds.tolist()


WRONG_SCENARIOS = [
    ("rows = 3", "rows = 0", "the number of rows is 0; give a whole", "platform.parameters"),
    ("rows = 3", "rows = 3\nseed = 4", "the seed is given twice", "platform.seed"),
    ("rows = 3", 'rows = 3\ndirectory = "x"', "no parameter 'dir", "platform.parameters.directory"),
    ('"grid"', '"none:here"', "neither beside the scenario nor", "platform.generator"),
]


@pytest.mark.parametrize(("old", "new", "told", "key"), WRONG_SCENARIOS)
def test_scenarios_tell_where_they_are_wrong(three, old, new, told, key):
    refused(cut(three, "generator =", "[workload]", GRID.replace(old, new)), told, key)
