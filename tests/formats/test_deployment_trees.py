"""Deployments in XML, and trees from TOML and JSON; what is wrong with them, on which line."""

import json
from pathlib import Path

import pytest
from marked import assert_refused
from naming import raises_naming

from simplugin.core.errors import DeploymentError
from simplugin.formats.deployment_trees import read_trees
from simplugin.formats.platform_xml import read_deployment, write_deployment
from simplugin.platforms import DeployedActor, Deployment
from simplugin.platforms.deployments import ApplicationTree

ONE = '# one tree\n"b.x" = "a"\nc = "a"\nd = "b.x"\n'
TWO = '[render]\nb = "a"\n\n[filter]\na = "b"\nc = "a"\n'


def written(text: str, directory: Path, name: str = "tree.toml") -> Path:
    """Write a file."""
    path = directory / name
    path.write_text(text, encoding="utf-8")
    return path


def test_one_tree_for_all(tmp_path):
    parent = {"b.x": "a", "c": "a", "d": "b.x"}
    toml = read_trees(written(ONE, tmp_path), {"p": "a", "q": None})
    assert toml == (ApplicationTree("p", "a", parent), ApplicationTree("q", "a", parent))
    text = json.dumps(parent, indent=1)
    assert read_trees(written(text, tmp_path, "tree.json"), {"p": None, "q": "a"}) == toml
    crlf = tmp_path / "crlf.toml"
    crlf.write_bytes(ONE.replace("\n", "\r\n").encode())
    assert read_trees(crlf, {"p": "a", "q": None}) == toml


def test_a_tree_for_each(tmp_path):
    render = ApplicationTree("render", "a", {"b": "a"})
    filters = ApplicationTree("filter", "b", {"a": "b", "c": "a"})
    path = written(TWO, tmp_path)
    assert read_trees(path) == (render, filters)
    assert read_trees(path, {"filter": "b"}) == (filters,)
    text = json.dumps({"render": render.parent, "filter": filters.parent})
    assert read_trees(written(text, tmp_path, "tree.JSON")) == (render, filters)


def test_one_root_for_all_trees(tmp_path):
    path = written(TWO, tmp_path)
    with raises_naming(DeploymentError, "'a'", "'b'") as caught:
        read_trees(path, root="a")
    assert caught.value.line == 5
    path = written('[one]\nb = "a"\n[two]\nc = "a"\n[three]\n', tmp_path)
    found = [(tree.application, tree.root) for tree in read_trees(path, root="a")]
    assert found == [(name, "a") for name in ("one", "two", "three")]


FAULTS = [
    (ONE.replace("c =", "¶c ="), {"p": "c"}, "its root 'c' has a parent, 'a'"),
    (ONE.replace('"b.x"', '¶"b.x"', 1), {"p": "z"}, "not below the root 'z': 'a' has"),
    ('a = "r"\n¶b = "c"\nc = "b"\n', {"p": "r"}, "the parents of 'b' lead back"),
    ('a = "r"\nb = "c"\n', {"p": None}, "'r' and 'c' have no parent"),
    ('a = "r"\n¶b = 3\n', {"p": None}, "the parent of host 'b' is no name"),
    (ONE, None, "this tree is for no application"),
    (TWO, {"fliter": None}, "no tree for application 'fliter'; there are render"),
    (TWO.replace("a =", "¶a ="), {"filter": "a"}, "its root 'a' has a parent, 'b'"),
    (TWO + '¶[x]\nb = "a"\nc = "d"\n', {"x": None}, "'a' and 'd' have no parent"),
    ('¶p = { a = "r", b = 1 }\n', {"p": "r"}, "the parent of host 'b' is no name"),
    ('[q]\nb = "a"\n[p]\n¶b = 1\n', {"p": "r"}, "the parent of host 'b' is no name"),
    ("", {"p": None}, "does not say its root"),
    ('¶a = "-"\n', {"p": None}, "a host is called '-'"),
    ('a = ""\n', {"p": None}, "has no name"),
]


@pytest.mark.parametrize(("text", "roots", "message"), FAULTS)
def test_faults(text, roots, message, tmp_path):
    path = tmp_path / "tree.toml"
    assert_refused(lambda path: read_trees(path, roots), path, text, message)


NAMES_WITH_DOTS = [
    ('b.x = "a"\n¶c = "a"\n', {"c": None}, "'c' is a host beside trees; "),
    ('¶b-1.lab.fr = "a"\n', {"p": None}, "no tree for application 'p', and 'b-1' holds tables"),
    ('# sites\n\n¶b-1.lab.fr = "a"\n', {"p": "a"}, "'b-1' holds tables, no hosts; "),
    ('a.lab = "b.lab"\n', {"p": None}, "there are a; put names of hosts with dots in"),
    ('¶b.x.y = "a"\n', None, "the parent of host 'x' is a table; "),
]


@pytest.mark.parametrize(("text", "roots", "message"), NAMES_WITH_DOTS)
def test_names_with_dots_are_tables_to_toml(text, roots, message, tmp_path):
    path = tmp_path / "tree.toml"
    error = assert_refused(lambda path: read_trees(path, roots), path, text, message)
    assert "in quotes" in str(error)


FAULTS_IN_JSON = [
    ('{\n "a": "r",\n¶ "b": null\n}', "the parent of host 'b' is no name"),
    ("¶[1]", "this holds no hosts"),
]


@pytest.mark.parametrize(("text", "message"), FAULTS_IN_JSON)
def test_faults_in_json(text, message, tmp_path):
    path = tmp_path / "tree.json"
    error = assert_refused(lambda path: read_trees(path, {"p": "r"}), path, text, message)
    assert isinstance(error, DeploymentError)


def test_round_trip(tmp_path):
    path = tmp_path / "deployment.xml"
    master = DeployedActor("a", "master", ("10", "<&>\"'\n", "é"), properties={"rank": "0"})
    worker = DeployedActor("b", "worker", start_time=1.5, kill_time=1e3, on_failure="RESTART")
    deployment = Deployment((master, worker, DeployedActor("a", "f")))
    write_deployment(deployment, path, comment="made by hand")
    assert read_deployment(path) == deployment
    # Only what differs from the defaults is written.
    assert '  <actor host="a" function="f"/>\n' in path.read_text(encoding="utf-8")


def test_old_names_and_negative_times(tmp_path):
    path = tmp_path / "old.xml"
    path.write_text(
        "<?xml version='1.0'?>\n"
        '<!DOCTYPE platform SYSTEM "http://simgrid.gforge.inria.fr/simgrid/simgrid.dtd">\n'
        '<platform version="4">\n'
        '<process host="a" function="f" start_time="-1" kill_time="-1.0"/></platform>\n'
    )
    assert read_deployment(path) == Deployment((DeployedActor("a", "f"),))


def test_a_platform_is_no_deployment(tmp_path):
    path = tmp_path / "platform.xml"
    path.write_text(
        '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
        '<platform version="4.1">\n<zone id="w" routing="Full"/></platform>\n'
    )
    with pytest.raises(DeploymentError) as caught:
        read_deployment(path)
    assert caught.value.line == 3
