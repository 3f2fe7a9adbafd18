"""``simplugin deploy``: what it writes is checked, loaded and simulated."""

import shlex
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from simplugin.formats.check import check
from simplugin.formats.platform_xml import read_deployment, read_platform, write_platform
from simplugin.platforms import DeployedActor
from simplugin.platforms.deployments import application_trees
from simplugin.platforms.graphs import Graph
from simplugin.platforms.tree_shapes import star_tree, zone_tree

ROOT = Path(__file__).parents[2]

# A graph with a long way and a short one to d, and a host that nothing leads to.
HOSTS = ("a", "b", "c", "d", "e", "alone")
ENDS = np.array([[0, 1], [0, 2], [1, 3], [2, 3], [3, 4]])
BANDWIDTH = np.array([1e8, 2e8, 5e7, 1e8, 2.5e7])
LATENCY = np.array([1e-3, 2e-3, 5e-3, 3e-3, 1e-2])
GRAPH = Graph.duplex(HOSTS, np.full(6, 1e9), ENDS, BANDWIDTH, LATENCY)


@pytest.fixture
def call(simplugin, monkeypatch, tmp_path):
    """Return the command, called in a directory with two platforms."""
    monkeypatch.chdir(tmp_path)
    write_platform(GRAPH.platform(), "graph.xml")
    write_platform(read_platform(ROOT / "platforms_xml/lille_nancy.xml"), "sites.xml")
    return partial(simplugin, "deploy", merge=True)


def test_master_and_workers(call):
    words = ["sites.xml", "--master", "grelon-1", "--workers", "chti:2,grelon:1"]
    words += ["--function", "lead", "--worker-function", "follow", "--argument", "{workers}"]
    words += ["--argument", "a b", "--worker-argument", "{number}", "--kill-time", "2m"]
    done = call(*words, "-o", "out.xml")
    assert (done.returncode, done.stdout) == (0, "")
    workers = [("chti-1", "follow", ("1",)), ("chti-2", "follow", ("2",))]
    actors = [("grelon-1", "lead", ("3", "a b")), *workers, ("grelon-2", "follow", ("3",))]
    expected = tuple(DeployedActor(*each, kill_time=120) for each in actors)
    assert read_deployment("out.xml").actors == expected
    assert check(["sites.xml", "out.xml"]) == []
    # The command in the file makes it again, to the byte.
    text = Path("out.xml").read_text()
    comment = text.splitlines()[2]
    again = shlex.split(comment.removeprefix("<!-- ").removesuffix(" -->"))
    assert again == ["simplugin", "deploy", *words, "-o", "out.xml"]
    shown = call(*words)
    assert shown.stdout.splitlines()[3:] == text.splitlines()[3:]


def test_spread(call):
    words = ("-m", "chuque-1", "-w", "grelon:4", "--spread")
    call("sites.xml", *words, "-o", "o.xml", status=0)
    workers = [actor.host for actor in read_deployment("o.xml").actors[1:]]
    assert workers == ["grelon-1", "grelon-31", "grelon-61", "grelon-91"]


def test_zones_and_star(call):
    sites = read_platform("sites.xml")
    for shape, function in {"zones": zone_tree, "star": star_tree}.items():
        words = ["-t", shape, "-n", "one", "-n", "two=chti-1", "-m", "grelon-7"]
        assert call("sites.xml", *words, "-o", f"{shape}.xml", status=0).stdout == ""
        assert check(["sites.xml", f"{shape}.xml"]) == []
        expected = (function(sites, "one", "grelon-7"), function(sites, "two", "chti-1"))
        assert application_trees(read_deployment(f"{shape}.xml")) == expected
    call("sites.xml", "-t", "zones", "-n", "x=grelon-1", "-w", "chti:2", "-o", "o.xml")
    [few] = application_trees(read_deployment("o.xml"))
    assert few.parent == {"chti-1": "grelon-1", "chti-2": "chti-1"}


def test_tree_from_a_file(call):
    Path("tree.toml").write_text('[one]\nb = "a"\nd = "b"\n[two]\nd = "e"\n')
    done = call("graph.xml", "--tree", "tree.toml", "-o", "out.xml")
    assert (done.returncode, done.stdout) == (0, "")
    one, two = application_trees(read_deployment("out.xml"))
    assert (one.application, one.root, one.parent) == ("one", "a", {"b": "a", "d": "b"})
    assert (two.application, two.root, two.parent) == ("two", "e", {"d": "e"})
    # The master is the root of each, or nothing is deployed.
    Path("part.toml").write_text('b = "a"\ne = "b"\n')
    for words, message in (
        ("tree.toml -m e", "tree.toml:2: host 'b' is not below the root 'e'"),
        ("part.toml --application x", "there is no route from 'b' to its child 'e'"),
    ):
        assert message in call("graph.xml", "--tree", *words.split(), status=1).stdout
    Path("same.toml").write_text('[one]\nb = "a"\n[two]\nc = "a"\n')
    done = call("graph.xml", "--tree", "same.toml", "-m", "a", "-o", "out.xml")
    assert (done.returncode, done.stdout) == (0, "")
    assert [tree.root for tree in application_trees(read_deployment("out.xml"))] == ["a", "a"]


WRONG = [
    (["-w", "chti"], "there is no master; add --master HOST"),
    (["-m", "chti-1", "-n", "x"], "--application has no effect"),
    (["-m", "chti-1", "--metric", "hops"], "--metric has no effect"),
    (["-t", "zones", "-n", "x=chti-1", "--per-host", "2"], "--per-host has no effect"),
    (["-t", "zones", "-n", "x=chti-1", "--metric", "hops"], "--metric has no effect"),
    (["-t", "zone", "-n", "x=chti-1"], "there is no tree 'zone'; choose shortest, star, zones"),
    (["-t", "no.toml", "-n", "x=chti-1"], "no.toml: No such file"),
    (["-t", "no.toml", "-w", "3"], "--workers has no effect"),
    (["-t", "zones"], "there is no application; add --application NAME"),
    (["-t", "zones", "-n", "x"], "application 'x' has no root; write --application x=HOST"),
    (["-t", "zones", "-n", "x=chti-1", "-n", "x=chti-2"], "application 'x' is given twice"),
    (["-t", "zones", "-n", "x=chti-1", "-m", "chti-2"], "--master has no effect"),
    (["-t", "zones", "-n", "x=nancy"], "the root of application 'x', 'nancy' is no host"),
    (["-t", "shortest", "-n", "x=chti-1"], "choose the tree 'zones' or 'star'"),
    (["-m", "chti-1", "--start-time", "5parsecs"], "unknown unit"),
    (["-m", "chti-1", "-o", "no/such/place.xml"], "No such file or directory"),
]


@pytest.mark.parametrize(("words", "message"), WRONG)
def test_refusals(words, message, call):
    done = call("sites.xml", *words, status=1)
    assert done.stdout.startswith("simplugin: ")
    assert message in done.stdout


# A broadcast by SimGrid's own bindings, which load both files themselves, without TCP's effects.
ENGINE = """
import sys
import locale
from simgrid import Engine, Mailbox, this_actor

locale.setlocale(locale.LC_ALL, "C")  # SimGrid compares names by its rules

def node(size, application, parent, *children):
    host = this_actor.get_host().name
    if parent != "-":
        Mailbox.by_name(f"{application}:{host}").get()
    print(host, Engine.clock)
    for child in children:
        Mailbox.by_name(f"{application}:{child}").put("film", int(float(size)))

options = ["--cfg=network/model:CM02", "--cfg=network/crosstraffic:0", "--cfg=network/TCP-gamma:0"]
engine = Engine([sys.argv[0], "--log=root.thresh:critical", *options])
engine.load_platform("graph.xml")
engine.register_actor("node", node)
engine.load_deployment("out.xml")
engine.run()
"""


PARENTS = [
    ("latency", {"b": "a", "c": "a", "d": "c", "e": "d"}),
    ("hops", {"b": "a", "c": "a", "d": "b", "e": "d"}),
    ("transfer", {"c": "a", "b": "a", "d": "c", "e": "d"}),
]


@pytest.mark.parametrize(("metric", "parent"), PARENTS)
def test_broadcast(metric, parent, call):
    words = ["--tree", "shortest", "--metric", metric, "-n", "film=a", "-a", "1e7"]
    done = call("graph.xml", *words, "-o", "out.xml")
    assert done.stdout == "application 'film': no path leads from 'a' to 1 host, left out\n"
    [tree] = application_trees(read_deployment("out.xml"), before=1)
    assert list(tree.parent.items()) == list(parent.items())
    # That c and d are not neighbours of all is meant.
    assert {finding.severity for finding in check(["graph.xml", "out.xml"])} == {"warning"}
    # A host has received when the host above it has, and has sent to the children before.
    link = {pair: number for number, pair in enumerate(map(tuple, ENDS.tolist()))}
    dates = {"a": 0.0}
    for host in tree.hosts:
        ways = [link[HOSTS.index(host), HOSTS.index(child)] for child in tree.children[host]]
        times = np.cumsum(LATENCY[ways] + 1e7 / BANDWIDTH[ways])
        dates |= dict(zip(tree.children[host], dates[host] + times, strict=True))
    words = [sys.executable, "-c", ENGINE]
    told = subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()
    found = {host: float(date) for host, date in map(str.split, told)}
    assert found == pytest.approx(dates, abs=1e-6)
