"""Trees of applications: as networkx knows trees, and for those who take them."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simplugin.bags.trees import tree_of
from simplugin.errors import DeploymentError
from simplugin.formats.deployment_xml import read_deployment, write_deployment
from simplugin.formats.platform_xml import read_platform
from simplugin.platforms import Deployment
from simplugin.platforms.application_trees import ApplicationTree, application_trees, find_fault
from simplugin.platforms.tree_shapes import shortest_path_tree
from simplugin.pricing.deployment import sharing_of
from simplugin.workloads.applications import Application

ROOT = Path(__file__).parents[2]
FAMILY = ApplicationTree("a", "r", {"x": "r", "u": "x", "y": "r", "v": "x", "w": "y"})


def test_order() -> None:
    assert FAMILY.hosts == ("r", "x", "y", "u", "v", "w")
    assert list(FAMILY.parent) == ["x", "y", "u", "v", "w"]
    assert FAMILY.children == {
        "r": ("x", "y"),
        "x": ("u", "v"),
        "y": ("w",),
        "u": (),
        "v": (),
        "w": (),
    }
    assert FAMILY.depth == {"r": 0, "x": 1, "y": 1, "u": 2, "v": 2, "w": 2}
    assert ApplicationTree.of_parents("a", FAMILY.parent) == FAMILY


def test_pruning() -> None:
    assert FAMILY.pruned(["v"]).parent == {"x": "r", "v": "x"}
    assert FAMILY.pruned([]).hosts == ("r",)
    assert FAMILY.pruned(FAMILY.hosts) == FAMILY
    with pytest.raises(DeploymentError, match="host 'z' is not in the tree of application 'a'"):
        FAMILY.pruned(["z"])


@pytest.mark.parametrize(
    ("root", "parent", "message"),
    [
        ("a", {"a": "b"}, "its root 'a' has a parent, 'b'"),
        ("a", {"b": "a", "c": "d"}, "host 'c' is not below the root 'a': 'd' has no parent"),
        ("a", {"b": "c", "c": "d", "d": "c"}, "the parents of 'c' lead back to it: 'c' <- 'd'"),
        ("a", {"b": "b"}, "the parents of 'b' lead back to it"),
        ("a", {"-": "a"}, "a host is called '-'"),
        ("-", {}, "a host is called '-'"),
        ("", {}, "has no name"),
        ("a", {"b\0": "a"}, "XML cannot hold"),
    ],
)
def test_what_is_no_tree(root: str, parent: dict[str, str], message: str) -> None:
    with pytest.raises(DeploymentError, match=message) as caught:
        ApplicationTree("render", root, parent)
    assert "'render'" in str(caught.value)


@pytest.mark.parametrize(
    ("parent", "message"),
    [
        ({}, "does not say its root"),
        ({"a": "b", "b": "a"}, "every host has a parent, 'a' too"),
        ({"a": "b", "c": "d"}, "'b' and 'd' have no parent"),
    ],
)
def test_no_sole_root(parent: dict[str, str], message: str) -> None:
    with pytest.raises(DeploymentError, match=message):
        ApplicationTree.of_parents("render", parent)


@given(st.dictionaries(st.sampled_from("abcdef"), st.sampled_from("abcdef"), max_size=6))
def test_faults_are_those_of_trees(parent: dict[str, str]) -> None:
    graph = nx.DiGraph((above, host) for host, above in parent.items())
    graph.add_node("a")
    is_tree = nx.is_arborescence(graph) and graph.in_degree("a") == 0
    assert (find_fault("a", parent) is None) == is_tree


@st.composite
def trees(draw: st.DrawFn, application: str = "app") -> ApplicationTree:
    """Draw a tree whose hosts have any names."""
    text = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1)
    names = draw(st.lists(text.filter(lambda name: name != "-"), min_size=1, unique=True))
    names = [name for name in names if "￾" not in name and "￿" not in name] or ["a"]
    parent = {name: names[draw(st.integers(0, number))] for number, name in enumerate(names[1:])}
    return ApplicationTree(application, names[0], parent)


def through_xml(deployment: Deployment) -> Deployment:
    """Write a deployment and read it."""
    with TemporaryDirectory() as directory:
        path = Path(directory) / "deployment.xml"
        write_deployment(deployment, path)
        return read_deployment(path)


@settings(max_examples=60)
@given(trees("a"), trees("b"), st.lists(st.sampled_from(["1e6", "{host}", "-", "b"])))
def test_trees_come_back_from_xml(
    one: ApplicationTree, other: ApplicationTree, arguments: list[str]
) -> None:
    first, second = (tree.deployment("run", "pass", arguments) for tree in (one, other))
    deployment = through_xml(Deployment(first.actors + second.actors))
    found = application_trees(deployment, {"run", "pass"}, len(arguments))
    assert found == (one, other)
    assert [list(tree.parent.items()) for tree in found] == [
        list(tree.parent.items()) for tree in (one, other)
    ]


def test_what_actors_are_told() -> None:
    actors = FAMILY.deployment(
        "lead",
        "follow",
        ("{number} {depth} {workers} {master}", "{hosts}"),
        start_time=1,
        kill_time=2,
        on_failure="RESTART",
    ).actors
    assert [actor.host for actor in actors] == list(FAMILY.hosts)
    assert [actor.function for actor in actors] == ["lead"] + ["follow"] * 5
    assert actors[0].arguments == ("0 0 5 r", "x", "y", "u", "v", "w", "a", "-", "x", "y")
    assert actors[5].arguments == ("5 2 5 r", "x", "y", "u", "v", "w", "a", "y")
    assert {(each.start_time, each.kill_time, each.on_failure) for each in actors} == {
        (1, 2, "RESTART")
    }


@pytest.mark.parametrize(
    ("places", "message"),
    [
        ([("r", "a")], "actor 'node' on host 'r' does not say its application"),
        ([("r", "a", "x")], "application 'a' has no root"),
        ([("r", "a", "-"), ("s", "a", "-")], "application 'a' has several roots, 'r' and 's'"),
        ([("r", "a", "-"), ("r", "a", "-")], "application 'a' has two actors on host 'r'"),
        ([("r", "a", "-", "x")], "host 'r' and of its child 'x' disagree"),
        ([("r", "a", "-", "x", "x"), ("x", "a", "r")], "host 'r' and of its child 'x' disagree"),
        ([("r", "a", "-"), ("x", "a", "r")], "host 'r' and of its child 'x' disagree"),
        ([("r", "a", "-"), ("x", "a", "y", "y"), ("y", "a", "x", "x")], "lead back"),
    ],
)
def test_actors_that_tell_of_no_tree(places: list[tuple[str, ...]], message: str) -> None:
    actors = [
        actor
        for host, *arguments in places
        for actor in ApplicationTree("a", host).deployment("node").actors
        for actor in [type(actor)(host, "node", tuple(arguments))]
    ]
    with pytest.raises(DeploymentError, match=message):
        application_trees(Deployment(tuple(actors)))


# Who takes trees.


FIVE = read_platform(ROOT / "platforms_xml/five_hosts.xml")


def test_pricing_takes_trees() -> None:
    masters = {"one": "A", "two": "C"}
    made = {name: shortest_path_tree(FIVE, name, master) for name, master in masters.items()}
    applications = [Application(name, master, 1e9, 1e6) for name, master in masters.items()]
    sharing = sharing_of(FIVE, applications, {name: tree.parent for name, tree in made.items()})
    for number, (name, tree) in enumerate(made.items()):
        found: dict[str, str] = {}
        for agent in np.flatnonzero(sharing.application == number).tolist():
            above = int(sharing.father[agent])
            if above >= 0:
                found[sharing.hosts[sharing.host[agent]]] = sharing.hosts[sharing.host[above]]
        assert ApplicationTree.of_parents(name, found) == tree
    assert made["one"].parent != made["two"].parent


def test_bags_take_trees() -> None:
    tree = shortest_path_tree(FIVE, "one", "A", "hops")
    taken = tree_of(FIVE, "A", tree.parent)
    assert set(taken.hosts) == set(FIVE.host_names())
    found = {
        host: taken.hosts[parent]
        for host, parent in zip(taken.hosts, taken.parent.tolist(), strict=True)
        if parent >= 0
    }
    assert ApplicationTree("one", "A", found) == tree
