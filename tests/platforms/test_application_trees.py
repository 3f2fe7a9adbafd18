"""Trees of applications, as networkx knows trees, and their deployments."""

from contextlib import nullcontext
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naming import raises_naming

from simplugin.core.errors import DeploymentError
from simplugin.formats.platform_xml import read_deployment, write_deployment
from simplugin.platforms import DeployedActor, Deployment
from simplugin.platforms.deployments import (
    ActorLifetime,
    ApplicationTree,
    application_trees,
    require_tree,
    sole_root,
)

FAMILY = ApplicationTree("a", "r", {"x": "r", "u": "x", "y": "r", "v": "x", "w": "y"})


def test_order():
    assert FAMILY.hosts == ("r", "x", "y", "u", "v", "w")
    assert list(FAMILY.parent) == ["x", "y", "u", "v", "w"]
    leaves = dict.fromkeys("uvw", ())
    assert FAMILY.children == {"r": ("x", "y"), "x": ("u", "v"), "y": ("w",), **leaves}
    assert FAMILY.depth == {"r": 0, "x": 1, "y": 1, "u": 2, "v": 2, "w": 2}
    assert ApplicationTree("a", sole_root(FAMILY.parent), FAMILY.parent) == FAMILY


def test_pruning():
    assert FAMILY.pruned(["v"]).parent == {"x": "r", "v": "x"}
    assert FAMILY.pruned([]).hosts == ("r",)
    assert FAMILY.pruned(FAMILY.hosts) == FAMILY
    with raises_naming(DeploymentError, "'z'", "'a'"):
        FAMILY.pruned(["z"])


NO_TREES = [
    ("a", {"a": "b"}, "'a' 'b'"),
    ("a", {"b": "a", "c": "d"}, "'c' 'a' 'd'"),
    ("a", {"b": "c", "c": "d", "d": "c"}, "'c' 'd'"),
    ("a", {"-": "a"}, "'-'"),
    ("-", {}, "'-'"),
    ("", {}, "''"),
]


@pytest.mark.parametrize(("root", "parent", "named"), NO_TREES)
def test_what_is_no_tree(root, parent, named):
    with raises_naming(DeploymentError, "'render'", *named.split()):
        ApplicationTree("render", root, parent)


def test_no_sole_root():
    for parent, named in (
        ({}, ""),
        ({"a": "b", "b": "a"}, "'a'"),
        ({"a": "b", "c": "d"}, "'b' 'd'"),
    ):
        with raises_naming(DeploymentError, *named.split()):
            sole_root(parent)


@given(st.dictionaries(st.sampled_from("abcdef"), st.sampled_from("abcdef"), max_size=6))
def test_faults_are_those_of_trees(parent):
    graph = nx.DiGraph((above, host) for host, above in parent.items())
    graph.add_node("a")
    is_tree = nx.is_arborescence(graph) and graph.in_degree("a") == 0
    with nullcontext() if is_tree else pytest.raises(DeploymentError):
        require_tree("a", parent)


@st.composite
def trees(draw: st.DrawFn, application: str = "app") -> ApplicationTree:
    """Draw a tree whose hosts have any names."""
    text = st.text(st.characters(exclude_categories=["Cc", "Cn", "Cs"]), min_size=1, max_size=3)
    names = draw(st.lists(text.filter("-".__ne__), min_size=1, max_size=6, unique=True))
    parent = {name: names[draw(st.integers(0, number))] for number, name in enumerate(names[1:])}
    return ApplicationTree(application, names[0], parent)


@settings(max_examples=30)
@given(trees("a"), trees("b"), st.lists(st.sampled_from(["1e6", "{host}", "-", "b"]), max_size=4))
def test_trees_come_back_from_xml(tmp_path_factory, one, other, arguments):
    actors = (tree.deployment("run", "pass", arguments).actors for tree in (one, other))
    path = tmp_path_factory.mktemp("trees") / "deployment.xml"
    write_deployment(Deployment(sum(actors, ())), path)
    found = application_trees(read_deployment(path), {"run", "pass"}, len(arguments))
    assert found == (one, other)
    # In the same order, too.
    assert [list(tree.parent) for tree in found] == [list(one.parent), list(other.parent)]


def test_what_actors_are_told():
    told = ("{number} {depth} {workers} {master}", "{hosts}")
    times: Any = {"start_time": 1, "kill_time": 2, "on_failure": "RESTART"}
    actors = FAMILY.deployment("lead", "follow", told, lifetime=ActorLifetime(**times)).actors
    assert [actor.host for actor in actors] == list(FAMILY.hosts)
    assert [actor.function for actor in actors] == ["lead"] + ["follow"] * 5
    assert actors[0].arguments == ("0 0 5 r", "x", "y", "u", "v", "w", "a", "-", "x", "y")
    assert actors[5].arguments == ("5 2 5 r", "x", "y", "u", "v", "w", "a", "y")
    assert all({name: getattr(each, name) for name in times} == times for each in actors)


NO_TREES_OF_ACTORS = [
    ([("r", "a")], "'node' 'r'"),
    ([("r", "a", "x")], "'a' '-'"),
    ([("r", "a", "-"), ("s", "a", "-")], "'a' 'r' 's'"),
    ([("r", "a", "-"), ("r", "a", "-")], "'a' 'r'"),
    ([("r", "a", "-", "x", "x"), ("x", "a", "r")], "'a' 'r' 'x'"),
    ([("r", "a", "-"), ("x", "a", "r")], "'a' 'r' 'x'"),
    ([("r", "a", "-"), ("x", "a", "y", "y"), ("y", "a", "x", "x")], "'a' 'y' 'x'"),
]


@pytest.mark.parametrize(("places", "named"), NO_TREES_OF_ACTORS)
def test_actors_that_tell_of_no_tree(places, named):
    actors = (DeployedActor(host, "node", tuple(arguments)) for host, *arguments in places)
    with raises_naming(DeploymentError, *named.split()):
        application_trees(Deployment(tuple(actors)))
