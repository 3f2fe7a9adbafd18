"""Keys of runs: what changes them, and what does not."""

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

import simplugin
from simplugin.campaigns import keys
from simplugin.campaigns.keys import code_digest, digest_of, result_relevant, simgrid_version
from simplugin.core.errors import ScenarioError
from simplugin.inputs.named_files import modules_beside
from simplugin.platforms import Host, Platform, Zone
from simplugin.scenarios.substitutions import canonical_json
from simplugin.simulation import simulate

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def key_of(document, directory, inputs=()):
    """Return the key of a scenario."""
    return digest_of(result_relevant(document), directory, inputs)


def planted(directory, files):
    """Write files, and return their directory."""
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return directory


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
    star, seed = {"generator": "star", "seed": 1}, {"seed": 3}
    bare = {"platform": star, "simulation": seed}
    dressed = {"output": {"directory": "x"}, "title": "A title", "campaign": {"retries": 1}}
    dressed["slurm"] = {"cores": 2}
    dressed["simulation"] = {"wall_limit": 5.0, **seed, "memory_limit": 100}
    dressed["platform"] = dict(reversed(star.items()))
    assert key_of(bare, tmp_path) == key_of(dressed, tmp_path)
    changed = [{"platform": star | {"seed": other}, "simulation": seed} for other in (2, 1.0, True)]
    changed += [{"platform": star, "simulation": seed | {"until": 1.0}}, {"platform": star}]
    assert key_of(bare, tmp_path) not in [key_of(each, tmp_path) for each in changed]


def test_contents_of_files_count_wherever_they_are(tmp_path):
    def place(name, platform, profile):
        text = '<trace id="t" file="t.profile"/><link bandwidth_file=\'t.profile\'/>'
        return planted(tmp_path / name, {"p.xml": platform + text, "t.profile": profile})

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
    first = key_of(document, tmp_path)
    # As if it had been written long ago.
    monkeypatch.setattr("simplugin.inputs.named_files.SETTLED", -60.0)
    assert key_of(document, tmp_path) == first
    opened = Mock(wraps=open)
    monkeypatch.setattr("builtins.open", opened)
    assert key_of(document, tmp_path) == first
    assert not opened.called
    path.write_text("digraph { }")
    assert key_of(document, tmp_path) != first
    assert [call.args[0] for call in opened.call_args_list].count(str(path)) == 1


def test_a_change_that_hides_is_seen(tmp_path):
    path = tmp_path / "graph.dot"
    found = set()
    for number in range(200):
        # Of one size, and of one date: clocks of file systems tick slowly.
        path.write_text(f"digraph {number:03}")
        os.utime(path, (1e9, 1e9))
        found.add(key_of({"file": "graph.dot"}, tmp_path))
    assert len(found) == 200


@pytest.mark.skipif(not os.path.exists("/proc/self/mem"), reason="needs Linux's /proc")
def test_a_file_that_cannot_be_read_is_told(tmp_path):
    # Even root cannot read the start of a process's memory.
    (tmp_path / "data").symlink_to("/proc/self/mem")
    with pytest.raises(ScenarioError) as caught:
        key_of({"workload": {"file": "data"}}, tmp_path)
    assert caught.value.file == str(tmp_path / "data")


def test_directories_and_patterns_count_by_all_their_files(tmp_path):
    names = ("a.dot", "b.dot", "note.txt")
    graphs = planted(tmp_path / "graphs", {name: name for name in names})

    def both():
        return [key_of({"of": text}, tmp_path) for text in ("graphs", "graphs/*.dot", "nothing")]

    first = both()
    hidden = (".hidden", "store.sqlite-wal", "store.sqlite.lock", "store.log")
    planted(graphs, dict.fromkeys(hidden, "1"))
    with closing(sqlite3.connect(graphs / "store.sqlite")) as store:
        store.execute("create table runs (key)")
    assert both() == first
    (graphs / "note.txt").write_text("other")
    second = both()
    assert [a == b for a, b in zip(first, second, strict=True)] == [False, True, True]
    (graphs / "c.dot").write_text("c")
    third = both()
    assert [a == b for a, b in zip(second, third, strict=True)] == [False, False, True]


@pytest.mark.parametrize("name", [".", "/", "", "link"])
def test_what_is_around_a_scenario_is_not_gone_through(tmp_path, name):
    (tmp_path / "link").symlink_to(tmp_path.parent)
    before = key_of({"of": name}, tmp_path)
    (tmp_path / "result.json").write_text("{}")
    assert key_of({"of": name}, tmp_path) == before


# What stands beside a scenario whose function is in `mine`, and what else does.
REACHED = {
    "mine.py": "import json, theirs\nfrom spaces.deep import part\nfrom pack import *\n",
    "theirs.py": "def late():\n    from pack.inner import thing\nlate()\n",
    "spaces/deep/part.py": "from . import beside\nfrom .. import above\n",
    "spaces/deep/beside.py": "",
    "spaces/above.py": "try:\n    import nowhere\nexcept ImportError:\n    pass\n",
    "pack/__init__.py": "__all__ = ['shown']\n",
    "pack/shown.py": "",
    "pack/inner/__init__.py": "from .thing import *\n",
    "pack/inner/thing.py": "import pack.shown as shown\n",
}
UNRELATED = {"analysis.py": "import mine\n", "spaces/other.py": "", "later/x.py": "", "json/a": ""}
CHILD = """
import sys
sys.path.insert(0, sys.argv[1])
import mine
print(*(m.__file__ for m in list(sys.modules.values()) if getattr(m, "__file__", None)), sep="\\n")
"""


def output_of(*words):
    """Return what a new Python prints."""
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_modules_of_a_function_are_those_that_python_imports(tmp_path):
    planted(tmp_path, REACHED | UNRELATED)
    told = output_of("-I", "-c", CHILD, str(tmp_path))
    by_python = {line for line in told.splitlines() if line.startswith(str(tmp_path))}
    assert by_python == {str(tmp_path / name) for name in REACHED}
    assert set(modules_beside(str(tmp_path), "mine")) == by_python
    named, plain = {"scheduler": {"name": "mine:policy"}}, {"scheduler": {"name": "bags.lag"}}
    first, other = key_of(named, tmp_path), key_of(plain, tmp_path)
    for name in REACHED:
        (tmp_path / name).write_text(REACHED[name] + "# changed\n")
        assert key_of(named, tmp_path) != first, name
        (tmp_path / name).write_text(REACHED[name])
        assert key_of(named, tmp_path) == first
    planted(tmp_path, {name: "X = 1\n" for name in [*UNRELATED, "new.py", "pack2/new.py"]})
    assert (key_of(named, tmp_path), key_of(plain, tmp_path)) == (first, other)
    # Sub-modules are named too, and what is beside may win over what was imported.
    deep = key_of({"name": "spaces.deep.part:f"}, tmp_path)
    planted(tmp_path, {"spaces/deep/beside.py": "Y = 1\n", "nowhere.py": ""})
    assert key_of({"name": "spaces.deep.part:f"}, tmp_path) != deep
    assert key_of(named, tmp_path) != first


def test_inputs_count(tmp_path):
    planted(tmp_path, {"data/a.csv": "1", "data/c.txt": "1", "one.json": "1"})
    inputs, bare = ["data/*.csv", "one.json"], key_of({}, tmp_path)
    for name, counts in (("a.csv", 1), ("c.txt", 0), ("../one.json", 1), ("d.csv", 1)):
        before = key_of({}, tmp_path, inputs)
        with (tmp_path / "data" / name).open("a") as file:
            file.write("2")
        assert (key_of({}, tmp_path, inputs) != before) == counts, name
    assert key_of({}, tmp_path) == bare != key_of({}, tmp_path, inputs)


UNTOLD_IMPORTS = [
    "from importlib import import_module",
    "def f(x):\n    exec(x)",
    "__import__('analysis')",
    "import sys\nsys.path.append('lib')",
    "import compiled",
    "this is no Python",
]


@pytest.mark.parametrize("text", UNTOLD_IMPORTS)
def test_all_modules_count_where_imports_cannot_be_told(tmp_path, text):
    planted(tmp_path, {"mine.py": text, "analysis.py": "", "lib/deep.py": "", "notes.txt": ""})
    planted(tmp_path, {"compiled.so": "1", "venv/pyvenv.cfg": "", "venv/lib/site.py": ""})
    named = {"scheduler": {"name": "mine:policy"}}
    seen = {key_of(named, tmp_path)}
    for name in ("analysis.py", "lib/deep.py", "compiled.so"):
        (tmp_path / name).write_text("2")
        seen.add(key_of(named, tmp_path))
    assert len(seen) == 4
    (tmp_path / "notes.txt").write_text("2")
    (tmp_path / "venv" / "lib" / "site.py").write_text("2")
    assert key_of(named, tmp_path) in seen


def test_an_installed_package_counts_too(tmp_path, monkeypatch):
    scenario = planted(tmp_path / "scenario", {"scenario.toml": ""})
    found = []
    for version in (1, 2):
        package = {"my_lab_package/__init__.py": f"VERSION = {version}\n"}
        site = planted(tmp_path / f"site{version}", package)
        with monkeypatch.context() as patch:
            patch.syspath_prepend(str(site))
            patch.setattr("simplugin.inputs.named_files._places", {})
            found.append(key_of({"name": "my_lab_package:policy"}, scenario))
            assert "my_lab_package" not in sys.modules
    found.append(key_of({"name": "no_such_package_at_all:policy"}, scenario))
    assert len(set(found)) == 3


HANDLED = ("campaigns/store/writing.py", "regression/pytest_plugin.py")


def test_the_code_counts_but_not_what_shows_or_handles_results(tmp_path, monkeypatch):
    assert code_digest() == code_digest()
    shown = ("cli/app.py", "reports/page.js", "cli/deep/x.py")
    counted = ("core.py", "bags/cli.py", "fast.so")
    planted(tmp_path, dict.fromkeys((*counted, *shown, *HANDLED), "1"))
    monkeypatch.setattr(simplugin, "__path__", [str(tmp_path)])
    digest = code_digest.__wrapped__
    seen = [digest()]
    whole = {digest(whole=True)}
    for name in (*shown, *HANDLED):
        (tmp_path / name).write_text("2")
        assert digest() == seen[0]
        whole.add(digest(whole=True))
    assert len(whole) == 4 + len(HANDLED)
    (tmp_path / "core.cpython-311.pyc").write_text("2")
    assert digest() == seen[0]
    for name in counted:
        (tmp_path / name).write_text("2")
        seen.append(digest())
    os.rename(tmp_path / "core.py", tmp_path / "kernel.py")
    seen.append(digest())
    assert len(set(seen)) == len(seen)


RUNS = """
import json, sys, tomllib
from pathlib import Path
from simplugin.scenarios.scenario_runs import run

for name, less in json.loads(sys.argv[2]).items():
    document = tomllib.loads(Path(sys.argv[1], name).read_text())
    document.pop("output", None)
    document.get("scheduler", {}).get("parameters", {}).update(less)
    run({"document": document, "directory": sys.argv[1], "name": name, "keep": name == "demo.toml"})
for name, module in sorted(sys.modules.items()):
    top, _, inside = name.partition(".")
    if top == "simplugin" and inside:
        end = "/__init__.py" if hasattr(module, "__path__") else ".py"
        print(inside.replace(".", "/") + end)
"""
# Of each kind, and of each family of schedulers; what makes them shorter.
SHORT = {
    "demo.toml": {},
    "bags.toml": {"measure": False},
    "pricing.toml": {"rounds": 2},
    "pricing_changes.toml": {"period": 1.0, "until": 30},
    "market.toml": {},
    "taskgraphs.toml": {},
}


def test_all_that_a_run_imports_is_in_the_digest():
    scenarios = Path(simplugin.__file__).parents[1] / "scenarios"
    imported = set(output_of("-c", RUNS, str(scenarios), json.dumps(SHORT)).split())
    assert {"scenarios/scenario_runs.py", "scenarios/outputs.py", "bags/execution.py"} <= imported
    assert all(map(keys.affects_results, imported))


def test_the_key_is_of_this_code_this_simgrid_and_these_solvers(tmp_path, monkeypatch):
    key = key_of({}, tmp_path)
    installed = keys.versions()
    for name, other, counts in (
        ("code_digest", "other code", True),
        ("simgrid_version", "4.2", True),
        ("versions", installed | {"highspy": "0.1"}, True),
        ("versions", installed | {"python": "2.7"}, False),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(keys, name, lambda other=other: other)
            assert (key_of({}, tmp_path) != key) == counts
    assert len(key) == 64
    assert set(key) <= set("0123456789abcdef")


def test_simgrid_itself_says_the_same_version(monkeypatch):
    somewhere = Platform((Zone("somewhere", "Full", (Host("anywhere", 1.0),)),))
    version = simulate(somewhere, [], trace=False).provenance["simgrid"]
    assert simgrid_version() == version
    # Where its library's name does not tell, it is asked.
    monkeypatch.setattr("simplugin.__path__", [])
    assert simgrid_version.__wrapped__() == version
