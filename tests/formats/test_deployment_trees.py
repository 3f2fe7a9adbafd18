"""Trees from TOML and JSON files; what is wrong with them, and on which line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from simplugin.errors import DeploymentError
from simplugin.formats.deployment_trees import read_trees
from simplugin.platforms.application_trees import ApplicationTree

ONE = '# one tree\n"b.x" = "a"\nc = "a"\nd = "b.x"\n'
TWO = '[render]\nb = "a"\n\n[filter]\na = "b"\nc = "a"\n'


def written(text: str, directory: Path, name: str = "tree.toml") -> Path:
    """Write a file."""
    path = directory / name
    path.write_text(text, encoding="utf-8")
    return path


def test_one_tree_for_all(tmp_path: Path) -> None:
    parent = {"b.x": "a", "c": "a", "d": "b.x"}
    toml = read_trees(written(ONE, tmp_path), {"p": "a", "q": None})
    assert toml == (ApplicationTree("p", "a", parent), ApplicationTree("q", "a", parent))
    text = json.dumps(parent, indent=1)
    assert read_trees(written(text, tmp_path, "tree.json"), {"p": None, "q": "a"}) == toml
    crlf = tmp_path / "crlf.toml"
    crlf.write_bytes(ONE.replace("\n", "\r\n").encode())
    assert read_trees(crlf, {"p": "a", "q": None}) == toml


def test_a_tree_for_each(tmp_path: Path) -> None:
    render = ApplicationTree("render", "a", {"b": "a"})
    filters = ApplicationTree("filter", "b", {"a": "b", "c": "a"})
    path = written(TWO, tmp_path)
    assert read_trees(path) == (render, filters)
    assert read_trees(path, {"filter": "b"}) == (filters,)
    text = json.dumps({"render": render.parent, "filter": filters.parent})
    assert read_trees(written(text, tmp_path, "tree.JSON")) == (render, filters)


def test_one_root_for_all_trees(tmp_path: Path) -> None:
    path = written(TWO, tmp_path)
    with pytest.raises(DeploymentError, match=r"toml:5: its root 'a' has a parent, 'b'"):
        read_trees(path, root="a")
    path = written('[one]\nb = "a"\n[two]\nc = "a"\n[three]\n', tmp_path)
    assert [(tree.application, tree.root) for tree in read_trees(path, root="a")] == [
        ("one", "a"),
        ("two", "a"),
        ("three", "a"),
    ]


@pytest.mark.parametrize(
    ("text", "roots", "line", "message"),
    [
        (ONE, {"p": "c"}, 3, "its root 'c' has a parent, 'a'"),
        (ONE, {"p": "z"}, 2, "host 'b.x' is not below the root 'z': 'a' has no parent"),
        ('a = "r"\nb = "c"\nc = "b"\n', {"p": "r"}, 2, "the parents of 'b' lead back"),
        ('a = "r"\nb = "c"\n', {"p": None}, None, "'r' and 'c' have no parent"),
        ('a = "r"\nb = 3\n', {"p": None}, 2, "the parent of host 'b' is no name"),
        ('a = "r"\nb = "r\n', {"p": None}, 2, "Illegal character"),
        ('a = "r"\na = "s"\n', {"p": None}, 2, "Cannot overwrite a value"),
        (ONE, None, None, "this tree is for no application"),
        (TWO, {"fliter": None}, None, "no tree for application 'fliter'; there are render"),
        (TWO, {"filter": "a"}, 5, "its root 'a' has a parent, 'b'"),
        (TWO + '[x]\nb = "a"\nc = "d"\n', {"x": None}, 7, "'a' and 'd' have no parent"),
        ('p = { a = "r", b = 1 }\n', {"p": "r"}, 1, "the parent of host 'b' is no name"),
        ('[q]\nb = "a"\n[p]\nb = 1\n', {"p": "r"}, 4, "the parent of host 'b' is no name"),
        ('a = "r"\n"\\u0062" = 1\n', {"p": "r"}, 2, "the parent of host 'b' is no name"),
        # A bare name with a dot is a table to TOML.
        ('b.x = "a"\nc = "a"\n', {"c": None}, 2, "'c' is a host beside trees; .*in quotes"),
        (
            'gros-1.nancy.grid5000.fr = "gros-2.nancy.grid5000.fr"\n',
            {"p": None},
            1,
            "no tree for application 'p', and 'gros-1' holds tables, no hosts; .*dots in quotes",
        ),
        (
            '# sites\n\nb-1.lab.fr = "a"\n',
            {"p": "a"},
            3,
            "'b-1' holds tables, no hosts; .*dots in quotes",
        ),
        ('a.lab = "b.lab"\n', {"p": None}, None, "there are a; names of hosts with dots stand in"),
        ('b.x.y = "a"\n', None, 1, "the parent of host 'x' is a table; .*dots in quotes"),
        ("", {"p": None}, None, "does not say its root"),
        ('a = "-"\n', {"p": None}, 1, "a host is called '-'"),
        ('a = ""\n', {"p": None}, None, "has no name"),
    ],
)
def test_faults(
    text: str,
    roots: dict[str, str | None] | None,
    line: int | None,
    message: str,
    tmp_path: Path,
) -> None:
    path = written(text, tmp_path)
    with pytest.raises(DeploymentError, match=message) as caught:
        read_trees(path, roots)
    assert caught.value.file == path
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ('{\n "a": "r",\n "b": "c",\n "c": "b"\n}', 3, "the parents of 'b' lead back"),
        ('{\n "a": "r",\n "b": null\n}', 3, "the parent of host 'b' is no name"),
        ('{\n "a": "r",\n "a": "s"\n}', 3, "there are two of this name"),
        ('{\n "a": \n}', 3, "this is no JSON"),
        ("[1]", 1, "this holds no hosts"),
    ],
)
def test_faults_in_json(text: str, line: int, message: str, tmp_path: Path) -> None:
    path = written(text, tmp_path, "tree.json")
    with pytest.raises(DeploymentError, match=message) as caught:
        read_trees(path, {"p": "r"})
    assert (caught.value.file, caught.value.line) == (path, line)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(DeploymentError, match="No such file"):
        read_trees(tmp_path / "tree.toml", {"p": None})
    path = tmp_path / "tree.json"
    path.write_bytes(b"{\n\xff}")
    with pytest.raises(DeploymentError, match="no UTF-8") as caught:
        read_trees(path, {"p": None})
    assert caught.value.line == 2
