"""Keys of runs: what changes them, and what does not."""

import os
import sqlite3
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import simplugin
from simplugin.campaigns import keys
from simplugin.campaigns.keys import Keys, canonical_json, code_digest, key_of, simgrid_version
from simplugin.errors import ScenarioError
from simplugin.platforms import Host, Platform, Zone
from simplugin.simulation import simulate

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def exactly(value):
    """A value with its types, as 1 == 1.0 == True; the order of keys apart."""
    if isinstance(value, dict):
        return dict, frozenset((key, exactly(each)) for key, each in value.items())
    if isinstance(value, list):
        return list, tuple(exactly(each) for each in value)
    return type(value), repr(value)


@given(PLAIN, PLAIN)
def test_canonical_json_is_equal_for_equal_data_only(one, other):
    assert (canonical_json(one) == canonical_json(other)) == (exactly(one) == exactly(other))


def test_what_is_shown_or_limited_is_no_part_of_it(tmp_path):
    bare = {"platform": {"generator": "star", "seed": 1}, "simulation": {"seed": 3}}
    dressed = {
        "output": {"directory": "x"},
        "title": "A title",
        "campaign": {"retries": 1},
        "slurm": {"cores": 2},
        "simulation": {"wall_limit": 5.0, "seed": 3, "memory_limit": 100},
        "platform": {"seed": 1, "generator": "star"},
    }
    assert key_of(bare, tmp_path) == key_of(dressed, tmp_path)
    for changed in (
        {"platform": {"generator": "star", "seed": 2}, "simulation": {"seed": 3}},
        {"platform": {"generator": "star", "seed": 1.0}, "simulation": {"seed": 3}},
        {"platform": {"generator": "star", "seed": True}, "simulation": {"seed": 3}},
        {"platform": {"generator": "star", "seed": 1}, "simulation": {"seed": 3, "until": 1.0}},
        {"platform": {"generator": "star", "seed": 1}},
    ):
        assert key_of(bare, tmp_path) != key_of(changed, tmp_path)


def test_contents_of_files_count_wherever_they_are(tmp_path):
    def place(name, platform, profile):
        directory = tmp_path / name
        directory.mkdir()
        text = '<trace id="t" file="t.profile"/><link bandwidth_file=\'t.profile\'/>'
        (directory / "p.xml").write_text(platform + text)
        (directory / "t.profile").write_text(profile)
        return directory

    document = {"platform": {"file": "p.xml"}}
    first = place("first", "<platform/>", "0 1\n")
    key = key_of(document, first)
    assert key == key_of(document, place("copy", "<platform/>", "0 1\n"))
    assert key != key_of(document, place("platform", "<platform />", "0 1\n"))
    assert key != key_of(document, place("profile", "<platform/>", "0 2\n"))
    assert key != key_of({"platform": {"file": "q.xml"}}, first)
    (first / "t.profile").unlink()
    assert key != key_of(document, first)
    # The name counts too: what a file says can depend on it.
    os.rename(first / "p.xml", first / "q.xml")
    assert key_of({"platform": {"file": "q.xml"}}, first) != key_of(document, tmp_path / "copy")


def test_a_file_that_changes_is_read_again_and_one_that_does_not_is_not(tmp_path, monkeypatch):
    path = tmp_path / "graph.dot"
    path.write_text("digraph {}")
    document = {"workload": {"graphs": [{"file": "graph.dot"}]}}
    several = Keys(tmp_path)
    first = several.key(document)
    reads = []
    monkeypatch.setattr(
        "builtins.open", lambda *given, was=open, **more: reads.append(given) or was(*given, **more)
    )
    assert several.key(document) == Keys(tmp_path).key(document) == first
    assert not reads
    path.write_text("digraph { }")
    assert several.key(document) != first
    assert [given[0] for given in reads if given[0] == str(path)] == [str(path)]


@pytest.mark.skipif(not os.path.exists("/proc/self/mem"), reason="needs Linux's /proc")
def test_a_file_that_cannot_be_read_is_told(tmp_path):
    # Even root cannot read the start of a process's memory.
    (tmp_path / "data").symlink_to("/proc/self/mem")
    with pytest.raises(ScenarioError, match="cannot be read") as caught:
        key_of({"workload": {"file": "data"}}, tmp_path)
    assert caught.value.file == str(tmp_path / "data")


def test_directories_and_patterns_count_by_all_their_files(tmp_path):
    graphs = tmp_path / "graphs"
    graphs.mkdir()
    for name in ("a.dot", "b.dot", "note.txt"):
        (graphs / name).write_text(name)

    def both():
        return [key_of({"of": text}, tmp_path) for text in ("graphs", "graphs/*.dot", "nothing")]

    first = both()
    (graphs / ".hidden").write_text("1")
    (graphs / "store.sqlite-wal").write_text("1")
    with sqlite3.connect(graphs / "store.sqlite") as store:
        store.execute("create table runs (key)")
    store.close()
    for name in ("store.sqlite.lock", "store.log"):
        (graphs / name).write_text("1")
    assert both() == first
    (graphs / "note.txt").write_text("other")
    second = both()
    assert [a == b for a, b in zip(first, second, strict=True)] == [False, True, True]
    (graphs / "c.dot").write_text("c")
    third = both()
    assert [a == b for a, b in zip(second, third, strict=True)] == [False, False, True]


@pytest.mark.parametrize("name", [".", "..", "/", "", "./", "link"])
def test_what_is_around_a_scenario_is_not_gone_through(tmp_path, name):
    (tmp_path / "link").symlink_to(tmp_path.parent)
    before = key_of({"of": name}, tmp_path)
    (tmp_path / "result.json").write_text("{}")
    assert key_of({"of": name}, tmp_path) == before


def test_modules_count_where_functions_are_named(tmp_path):
    (tmp_path / "mine.py").write_text("import theirs\ndef policy(): pass\n")
    (tmp_path / "theirs.py").write_text("X = 1\n")
    package = tmp_path / "pack" / "inner"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").write_text("")
    (package / "deep.py").write_text("Y = 1\n")
    named = {"scheduler": {"name": "mine:policy"}}
    plain = {"scheduler": {"name": "bags.lag"}}
    before = key_of(named, tmp_path), key_of(plain, tmp_path)
    (tmp_path / "theirs.py").write_text("X = 2\n")
    after = key_of(named, tmp_path), key_of(plain, tmp_path)
    assert (before[0] == after[0], before[1] == after[1]) == (False, True)
    (package / "deep.py").write_text("Y = 2\n")
    assert key_of(named, tmp_path) != after[0]


def test_an_installed_package_counts_too(tmp_path, monkeypatch):
    scenario = tmp_path / "scenario"
    scenario.mkdir()
    found = []
    for version in (1, 2):
        site = tmp_path / f"site{version}"
        (site / "my_lab_package").mkdir(parents=True)
        (site / "my_lab_package" / "__init__.py").write_text(f"VERSION = {version}\n")
        with monkeypatch.context() as patch:
            patch.syspath_prepend(str(site))
            patch.setattr("simplugin.campaigns.named_files._packages", {})
            found.append(key_of({"name": "my_lab_package:policy"}, scenario))
            assert "my_lab_package" not in sys.modules
    found.append(key_of({"name": "no_such_package_at_all:policy"}, scenario))
    assert len(set(found)) == 3


def test_the_code_counts_but_not_what_shows_results(tmp_path, monkeypatch):
    assert code_digest() == code_digest()
    for name in ("core.py", "cli/app.py", "reports/page.js", "cli/deep/x.py", "bags/cli.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("1")
    (tmp_path / "fast.so").write_bytes(b"\x7fELF")
    monkeypatch.setattr(simplugin, "__path__", [str(tmp_path)])
    digest = code_digest.__wrapped__
    seen = [digest()]
    for name in ("cli/app.py", "reports/page.js", "cli/deep/x.py"):
        (tmp_path / name).write_text("2")
        assert digest() == seen[0]
    (tmp_path / "core.cpython-311.pyc").write_text("2")
    assert digest() == seen[0]
    for name in ("core.py", "bags/cli.py", "fast.so"):
        (tmp_path / name).write_text("2")
        seen.append(digest())
    os.rename(tmp_path / "core.py", tmp_path / "kernel.py")
    seen.append(digest())
    assert len(set(seen)) == len(seen)


def test_the_key_is_of_this_code_this_simgrid_and_these_solvers(tmp_path, monkeypatch):
    key = key_of({}, tmp_path)
    installed = keys.versions()
    with monkeypatch.context() as patch:
        patch.setattr(keys, "code_digest", lambda: "other code")
        assert key_of({}, tmp_path) != key
    with monkeypatch.context() as patch:
        patch.setattr(keys, "simgrid_version", lambda: "4.2")
        assert key_of({}, tmp_path) != key
    with monkeypatch.context() as patch:
        patch.setattr(keys, "versions", lambda: installed | {"highspy": "0.1"})
        assert key_of({}, tmp_path) != key
        patch.setattr(keys, "versions", lambda: installed | {"python": "2.7"})
        assert key_of({}, tmp_path) == key
    assert len(key) == 64
    assert set(key) <= set("0123456789abcdef")


def test_simgrid_itself_says_the_same_version(monkeypatch):
    somewhere = Platform((Zone("somewhere", "Full", (Host("anywhere", 1.0),)),))
    version = simulate(somewhere, [], trace=False).provenance["simgrid"]
    assert simgrid_version() == version
    # Where its library's name does not tell, it is asked.
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert simgrid_version.__wrapped__() == version
