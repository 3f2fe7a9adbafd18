"""The pytest plug-in, in sessions of its own."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

# Sessions of pytester forget what they import, and numpy cannot be imported twice.
import simplugin.regression.checking
import simplugin.scenarios.kinds.actors
import simplugin.scenarios.kinds.bags
import simplugin.simulation.simulate  # noqa: F401

pytest_plugins = ("pytester",)

LAB = Path(__file__).parents[1] / "lab"
UPDATE = "--simplugin-update"
# Without Hypothesis, which each session would import anew.
CACHED = ("-p", "no:randomly", "-p", "no:hypothesispytest")
PLAIN = (*CACHED, "-p", "no:cacheprovider")


@pytest.fixture
def session(pytester, monkeypatch):
    """A function that runs the tests of a directory, and compares their outcomes and output."""
    # The explanations are to be cut as on a terminal, wherever this runs.
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    # Byte code would stand for what is changed within a second, at the same size.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def run(*words, told=(), plain=PLAIN, **outcomes):
        result = pytester.runpytest_inprocess(*plain, *words)
        result.assert_outcomes(**outcomes)
        result.stdout.fnmatch_lines(told)
        return result.stdout.str()

    return run


def recorded(directory):
    root = directory / "__simplugin__"
    return sorted(str(path.relative_to(root)) for path in root.rglob("*.*"))


NUMBERS = """
    import numpy as np
    import pytest

    VALUE = 1.0

    def alike(one, other):
        assert one == other

    def test_several(snapshot):
        assert VALUE == snapshot
        assert snapshot == {"rounds": 3, "error": np.float64(VALUE), "text": "x", "none": None}
        alike(np.float64(VALUE), snapshot(name="named"))
        alike(VALUE, snapshot(name="named"))

    @pytest.mark.parametrize("size", [1.5, "a/../b"])
    def test_sizes(snapshot, size):
        assert {"size": size, "error": VALUE} == snapshot(metrics={"error": 1e-3})

    class TestClass:
        def test_several(self, snapshot):
            assert 7 == snapshot
"""


def test_values_are_recorded_compared_and_moved(pytester, session):
    file = pytester.makepyfile(test_numbers=NUMBERS)
    session(told=["E*nothing is recorded in *; record it with --simplugin-update"], failed=4)
    assert not (pytester.path / "__simplugin__").exists()

    session(UPDATE, passed=4)
    names = recorded(pytester.path)
    several = [f"test_several{end}.json" for end in (".2", "", ".named")]
    assert [name for name in names if "several" in name and "Class" not in name] == [
        f"test_numbers/{name}" for name in several
    ]
    assert len(names) == 6
    assert "= simplugin =" not in session(passed=4)

    # Within the tolerance of the one, not of the others.
    file.write_text(file.read_text().replace("VALUE = 1.0", "VALUE = 1.0001"))
    change = "1.0 -> 1.0001 (+0.0001, +0.01 %)"
    told = ["E*assert the float is not what is recorded", f"E*value: {change}"]
    session(told=told, passed=3, failed=1)
    before = {path: path.read_bytes() for path in pytester.path.rglob("*.json")}
    told = [
        "*= simplugin =*",
        "test_numbers/test_several.2.json: 1 of 4 metrics not as recorded",
        f"*error: {change}",
        "test_numbers/test_several.json: *",
        "test_numbers/test_several.named.json: *",
    ]
    session(UPDATE, told=told, passed=4)
    changed = {path.name for path, data in before.items() if path.read_bytes() != data}
    assert changed == set(several)
    session(passed=4)


def test_what_cannot_be_compared_is_told(pytester, session):
    pytester.makepyfile(
        """
        def test_list(snapshot):
            assert [1] == snapshot
        def test_misspelt(snapshot):
            assert {"makespan": 1.0} == snapshot(metrics={"makspan": 1e-3})
        def test_negative(snapshot):
            assert 1.0 == snapshot(rel=-1)
        def test_twice(snapshot):
            assert 1.0 == snapshot(name="x")
            assert 2.0 == snapshot(name="x")
        def test_damaged(snapshot):
            assert 1.0 == snapshot
        """
    )
    told = [
        "E*an object of type list cannot be compared with a snapshot; give a Result, *",
        "E*no metric 'makspan'; did you mean 'makespan'?",
        "E*relative is -1; give a number greater than or equal to 0",
        "E*value: 1.0 -> 2.0 (+1, +100 %)",
    ]
    session(UPDATE, told=told, failed=4, passed=1)
    (damaged,) = pytester.path.rglob("test_damaged.json")
    damaged.write_text("<<<<<<< ours")
    one = ("-k", "damaged")
    session(*one, told=["E*test_damaged.json: is no recorded result*"], failed=1, deselected=4)
    session(*one, UPDATE, passed=1, deselected=4)
    session(*one, passed=1, deselected=4)


SCENARIO = """
    import helpers

    FLOPS = 1e9

    def test_scenario(simulation, snapshot):
        outcome = simulation("lab/scenario.toml")
        # 200 MB over 100 MB/s, then 6 Gflop at 2 Gflop/s.
        assert abs(outcome.result.clock - 5.0) < 1e-6
        assert outcome == snapshot
        assert outcome.result == snapshot
        assert outcome.row == snapshot(rel=1e-6)

    def test_changed(simulation):
        changes = {"simulation.options.network_model": "LV08", "simulation.seed": 5}
        outcome = simulation("lab/scenario.toml", changes)
        assert outcome.row.provenance["options"]["network/model"] == "LV08"
        assert outcome.row.provenance["seed"] == 5

    async def work(me):
        await me.execute(FLOPS, label="crunch")

    def test_actors(simulation, platform, snapshot):
        star = platform("star", workers=2, speed="1Gf")
        result = simulation(star, [(host, work) for host in ("worker-1", "worker-2")])
        helpers.alike(result, snapshot)

    def test_file(simulation, platform):
        path = platform("lab/platform.xml")
        result = simulation(path, [("bob", work)])
        assert simulation("lab/platform.xml", [("bob", work)], seed=3).clock == result.clock

    def test_trusted(simulation):
        changes = {"workload.functions.work": "helpers:work"}
        assert simulation("lab/scenario.toml", changes).result.value_of("work") == "trusted"

    def test_lost(simulation):
        simulation("lab/scenari.toml")

    def test_nowhere(simulation):
        simulation("lab/scenario.toml", {"title.x": 1})
"""


def test_simulations_are_recorded_and_explain_themselves(pytester, session, monkeypatch):
    shutil.copytree(LAB, pytester.path / "lab", ignore=shutil.ignore_patterns("__pycache__"))
    work = "async def work(me, flops):\n    await me.mailbox('box').get()\n    return 'trusted'\n"
    pytester.makepyfile(helpers=f"def alike(one, other):\n    assert one == other\n{work}")
    pytester.makeini("[pytest]\nsimplugin_trust = helpers")
    monkeypatch.syspath_prepend(pytester.path)
    pytester.makepyfile(test_lab=SCENARIO)
    told = ["E*there is no file 'lab/scenari.toml'; looked in *", "E*title is *it has no 'x'; *"]
    session(UPDATE, told=told, passed=5, failed=2)
    traces = [name for name in recorded(pytester.path) if name.endswith(".trace.csv.gz")]
    parts = [name.split("/")[1].removesuffix(".trace.csv.gz") for name in traces]
    assert parts == ["test_actors", "test_scenario.2", "test_scenario"]
    stored = pytester.path / "__simplugin__/test_lab/test_scenario.json"
    assert json.loads(stored.read_text())["versions"]["simgrid"].startswith("4.")
    some = ("-k", "scenario or actors")
    session(*some, passed=2, deselected=5)

    # The helper's module is not rewritten by pytest: the explanation comes with the report.
    file, deployment = pytester.path / "test_lab.py", pytester.path / "lab" / "deployment.xml"
    for path, old, new in (
        (file, "= 1e9", "= 3e9"),
        (file, "- 5", "- 6"),
        (deployment, "6e9", "8e9"),
    ):
        path.write_text(path.read_text().replace(old, new))
    told = [
        "E*assert the ScenarioResult is not what is recorded",
        "E*makespan: 5.0 s -> 6.0 s (+1, +20 %)",
        "E*computed: 6000000000.0 flop -> 8000000000.0 flop (+2e+09, +33.3 %), and 1 more",
        "E*first difference at 2 s: work, its activity number 1 (none before it)",
        "E*recorded: exec crunch on bob, 6e+09 flop, *",
        "E*now:      exec crunch on bob, 8e+09 flop, *",
        "E*differs in *amount*",
        "*test_actors*",
        "*- simplugin -*",
        "*first difference at 0 s: work*, its activity number 1 (none before it)",
    ]
    session(*some, told=told, failed=2, deselected=5)


def test_what_no_test_uses_is_told_and_deleted_by_whole_files_only(pytester, session, monkeypatch):
    monkeypatch.syspath_prepend(pytester.path)
    root = pytester.mkdir("checks")
    file = root / "test_old.py"
    kept = "def test_kept(snapshot):\n    assert 1 == snapshot\n"
    file.write_text(
        kept + "    assert 2 == snapshot\ndef test_gone(snapshot):\n    assert 1 == snapshot\n"
    )
    other = root / "test_other.py"
    other.write_text("def test_other(snapshot):\n    assert 1 == snapshot\n")
    session(UPDATE, passed=3)
    other.unlink()
    everything = recorded(root)
    names = ("old/test_gone", "old/test_kept.2", "old/test_kept", "other/test_other")
    assert everything == [f"test_{name}.json" for name in names]
    # Of a part of the file it is not known what it does not use, however it was chosen.
    file.write_text(kept + "def test_x(): pass\n")
    (pytester.path / "link").symlink_to(root, target_is_directory=True)
    (root / "__init__.py").touch()
    drops = "import pytest\n@pytest.hookimpl(trylast=True)\n"
    drops += "def pytest_collection_modifyitems(items):\n    items[:] = items[:1]\n"
    (pytester.path / "drops.py").write_text(drops)
    for words in (
        ("checks/test_old.py::test_kept",),
        ("--pyargs", "checks.test_old::test_kept"),
        ("-k", "kept", "link/test_old.py"),
        ("--deselect", "checks/test_old.py::test_x", "checks/test_old.py"),
        ("checks/test_old.py", "-p", "drops"),
    ):
        deselected = int(words[0] in ("-k", "--deselect"))
        session(*words, UPDATE, passed=1, deselected=deselected)
        assert recorded(root) == everything
    # That there is no such file is seen by who looks at the whole directory.
    told = ["*test_other: deleted, as *"]
    session("checks", "-k", "kept", UPDATE, told=told, passed=1, deselected=1)
    assert recorded(root) == everything[:3]
    told = [
        "*test_gone.json: no test uses it",
        "*test_kept.2.json: *",
        "2 unused; *update deletes*",
    ]
    session("link/test_old.py", told=told, passed=2)
    assert recorded(root) == everything[:3]
    session("checks", UPDATE, told=["*test_kept.2.json: deleted, as no test*"], passed=2)
    assert recorded(root) == ["test_old/test_kept.json"]
    # A test that fails before it compares loses nothing.
    file.write_text("def test_kept(snapshot):\n    assert 0\n    assert 1 == snapshot\n")
    session("checks", UPDATE, failed=1)
    assert recorded(root) == ["test_old/test_kept.json"]


def test_tests_that_were_not_found_lose_nothing(pytester, session):
    file = pytester.makepyfile(
        test_parts="""
        class TestOne:
            def test_one(self, snapshot):
                assert 1 == snapshot
        def test_two(snapshot):
            assert VALUE == snapshot
        VALUE = 2
        """
    )
    session(UPDATE, passed=2)
    everything = recorded(pytester.path)
    file.write_text(file.read_text().replace("VALUE = 2", "VALUE = 3"))
    session(plain=CACHED, passed=1, failed=1)
    session("--lf", UPDATE, plain=CACHED, passed=1)
    assert recorded(pytester.path) == everything
    # The class is not looked into.
    pytester.makeconftest(
        """
        import pytest
        @pytest.hookimpl(tryfirst=True)
        def pytest_make_collect_report(collector):
            if collector.name == "TestOne":
                return pytest.CollectReport(collector.nodeid, "failed", "broken", [])
        """
    )
    session(UPDATE, "--continue-on-collection-errors", passed=1, errors=1)
    assert recorded(pytester.path) == everything


def test_workers_of_xdist_share_the_work(pytester, session):
    text = """
        import pytest
        @pytest.mark.parametrize("n", range(4))
        def test_one(snapshot, n):
            assert n == snapshot
        def test_two(snapshot):
            assert 1 == snapshot(name="same")
            assert 2 == snapshot(name="same")
    """
    pytester.makepyfile(test_many=text)
    session(UPDATE, "-k", "one", passed=4, deselected=1)
    stale = pytester.path / "__simplugin__/test_many/test_gone.json"
    stale.write_text("{}")
    pytester.makepyfile(test_many=text.replace("n == snapshot", "n * n == snapshot"))
    told = ["E*value: 1 -> 2 (+1, +100 %)", "*two.same.json: recorded", "*deleted, as no test*"]
    output = session("-n", "2", "-p", "no:cov", UPDATE, told=told, passed=4, failed=1)
    # 0 and 1 are their own squares.
    assert len(re.findall(r"test_many/test_one_\S+: 1 of 1 metrics", output)) == 2
    assert len(recorded(pytester.path)) == 5
    assert not stale.exists()


def test_it_is_light_until_it_is_used():
    program = """
import sys
import simplugin.regression.pytest_plugin
heavy = {"numpy", "pydantic", "pandas", "scipy", "rich", "lxml", "simgrid"} & set(sys.modules)
assert not heavy, heavy
"""
    subprocess.run([sys.executable, "-c", program], check=True)
