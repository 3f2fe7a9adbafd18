"""``simplugin regress``: on scenarios that break, and on the project's own."""

import json
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import yaml

from simplugin.campaigns.regression.snapshots import read_snapshot

ROOT = Path(__file__).parents[2]
OWN = sorted((ROOT / "scenarios").glob("*.toml"))
HOSTILE = """
import os
import signal


async def kill(me, *size):
    os.kill(os.getppid(), signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)


async def spin(me, *size):
    while True:
        pass


async def fail(me, *size):
    raise ValueError("what a pity")
"""


@pytest.fixture
def recorded_lab(lab, simplugin):
    """A laboratory whose scenario is recorded."""
    done = simplugin("regress", lab, "--update", "--jobs", 1)
    assert done.returncode == 0, done.stderr
    return lab


def changed(file, old, new):
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def told(done):
    """Return the command's JSON object, its scenarios by name."""
    document = json.loads(done.stdout)
    assert document["status"] == done.returncode, done.stderr
    return {each["scenario"]: each for each in document["scenarios"]}


def test_what_moved_is_told_explained_and_recorded(recorded_lab, simplugin, tmp_path):
    lab, junit = recorded_lab, tmp_path / "out" / "junit.xml"
    file = lab / "recorded" / "scenario.json"
    before = file.read_bytes()
    (lab / "pyproject.toml").write_text("[project]\n")  # no scenario
    # Half of the bandwidth: the transfer of 200 MB takes 4 s instead of 2 s.
    changed(lab / "platform.xml", "100MBps", "50MBps")
    done = simplugin("regress", lab, "--jobs", 1, "--junit", junit)
    assert done.returncode == 1, done.stderr
    assert file.read_bytes() == before
    for line in (
        "scenario.toml  moved  makespan [s]             5         7          +2     +40 %",
        "  makespan: 5.0 s -> 7.0 s (+2, +40 %)",
        "  first difference at 2 s: send, its activity number 1 (none before it)",
        "    recorded: comm data on alice->bob, 200000000 byte, 0.0 .. 2.0 s",
        "    now:      comm data on alice->bob, 200000000 byte, 0.0 .. 4.0 s",
        "    differs in end",
        "    work at 2 s, number 1: exec crunch on bob (start, end)",
        "    the platform changed",
        "1 moved; --update records what is new or moved",
    ):
        assert line.split() in [each.split() for each in done.stdout.splitlines()], line
    [case] = ET.parse(junit).getroot().iter("testcase")
    assert case.get("name") == "scenario.toml"
    assert float(case.get("time")) > 0
    assert "first difference at 2 s: send" in case.find("failure").text

    # 7 instead of 5 is 2/7 of the larger one; the utilisation is 3/7 instead of 3/5.
    words = ("--json", "--rel-tol", 0.29, "--tolerance", "utilisation=0.28")
    one = told(simplugin("regress", lab, *words))["scenario.toml"]
    moved = [each for each in one["metrics"] if each["state"] == "moved"]
    assert [each["metric"] for each in moved] == ["utilisation"]
    assert moved[0]["relative"] == pytest.approx((3 / 7 - 3 / 5) / (3 / 5))
    (lab / "recorded" / "tolerances.toml").write_text(
        "relative = 1e-3\n[scenarios.scenario.metrics]\nutilisation = 1\nmakespan = 1\n"
        "[scenarios.senario]\n"
    )
    (lab / "recorded" / "gone.json").write_text("{}")
    done = simplugin("regress", lab, "--json", "--tolerance", "makspan=1")
    assert "no run has a metric 'makspan'; perhaps 'makespan'?" in done.stderr
    assert "there is no scenario 'senario'; perhaps 'scenario'?" in done.stderr
    states = {name: each["state"] for name, each in told(done).items()}
    assert states == {"scenario.toml": "ok", "gone.json": "missing"}

    updated = simplugin("regress", lab, "--update")
    assert updated.returncode == 0
    assert "metrics as recorded, activities not" in updated.stdout
    assert not (lab / "recorded" / "gone.json").exists()
    now = read_snapshot(file)
    assert {metric.name: metric.value for metric in now.metrics}["makespan"] == 7.0
    assert [row.end for row in now.activities.rows] == [4.0, 7.0]


def test_one_that_crashes_or_never_ends_stops_no_other(recorded_lab, simplugin):
    lab = recorded_lab
    (lab / "hostile.py").write_text(HOSTILE)
    usual = (lab / "scenario.toml").read_text()
    for name in ("kill", "spin", "fail"):
        text = usual.replace("my_actors:send", f"hostile:{name}")
        (lab / f"{name}.toml").write_text(text)
    (lab / "wrong.toml").write_text(usual + "\n[simulatoin]\n")
    (lab / "broken.toml").write_text("[")
    (lab / "wide.toml").write_text(usual + "\n[sweep]\nsimulation.seed = { from = 1, to = 101 }\n")
    (lab / "narrow.toml").write_text(usual + "\n[sweep]\nsimulation.seed = [7, 8]\n")
    done = simplugin("regress", lab, "--jobs", 2, "--wall-limit", 5, "--json")
    assert done.returncode == 1
    found = told(done)
    text = {name: "\n".join(each["explanation"]) for name, each in found.items()}
    assert {name: each["state"] for name, each in found.items()} == {
        "broken.toml": "failed",
        "fail.toml": "failed",
        "kill.toml": "failed",
        "narrow.toml[simulation.seed=7]": "new",
        "narrow.toml[simulation.seed=8]": "new",
        "scenario.toml": "ok",
        "spin.toml": "failed",
        "wide.toml": "failed",
        "wrong.toml": "failed",
    }
    assert "broken.toml:1: not TOML" in text["broken.toml"]
    assert "what a pity" in text["fail.toml"]
    assert text["kill.toml"].startswith("crash: ")
    assert text["spin.toml"].startswith("wall limit: ")
    assert "has 101 runs; at most 100" in text["wide.toml"]
    assert "did you mean 'simulation'" in text["wrong.toml"]
    assert "record it with --update" in text["narrow.toml[simulation.seed=7]"]

    # What failed is not recorded; the runs of the campaign are, each by itself.
    names = ("narrow.toml", "fail.toml", "scenario.toml")
    before = {path: path.read_bytes() for path in (lab / "recorded").iterdir()}
    done = simplugin("regress", *(lab / name for name in names), "--jobs", 1, "--update")
    assert done.returncode == 1
    recorded = lab / "recorded"
    seeds = [read_snapshot(recorded / "narrow" / f"0{n}.json").settings["seed"] for n in (0, 1)]
    assert seeds == [7, 8]
    assert not (recorded / "fail.json").exists()
    assert {path: path.read_bytes() for path in before} == before


def test_wrong_arguments_have_a_status_of_their_own(lab, simplugin, tmp_path):
    (tmp_path / "empty").mkdir()
    (lab / "recorded").mkdir()
    (lab / "recorded" / "tolerances.toml").write_text("relativ = 1\n")
    for words, message in (
        ((tmp_path / "none",), "there is no such file or directory"),
        ((tmp_path / "empty",), "there is no scenario"),
        ((lab, "--tolerance", "makespan"), "write METRIC=REL"),
        ((lab, "--tolerance", "makespan=-1"), "write METRIC=REL"),
        ((lab, "--rel-tol", "-1"), "give a number, 0 or more"),
        ((lab,), "tolerances.toml:1: unknown key 'relativ'; perhaps 'relative'?"),
    ):
        done = simplugin("regress", *words)
        assert done.returncode == 2
        assert message in " ".join(done.stderr.replace("│", "").split())


@pytest.fixture(scope="module")
def own(simplugin, tmp_path_factory):
    """What came out of the project's scenarios, where none of them can write into the checkout."""
    place = tmp_path_factory.mktemp("own")
    for name in ("scenarios", "platforms_xml", "deployments"):
        shutil.copytree(ROOT / name, place / name, ignore=shutil.ignore_patterns("__pycache__"))
    return told(simplugin("regress", place / "scenarios", "--json", "--jobs", 2))


def test_there_are_scenarios():
    assert len(OWN) >= 16


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.stem)
def test_scenario_is_as_recorded(own, path):
    found = own[path.name]
    assert found["state"] == "ok", "\n".join(found["explanation"])
    values = {each["metric"]: each["now"] for each in found["metrics"]}
    assert values["makespan"] > 0
    if not path.stem.startswith(("bags", "grid5000", "market", "taskgraphs")):
        # Those who wait for nobody never end by themselves.
        assert (values["actors_killed"] == 0) == (path.stem != "pricing_changes")


def test_no_recorded_result_is_left_over(own):
    assert set(own) == {path.name for path in OWN}
    size = sum(path.stat().st_size for path in (ROOT / "scenarios" / "recorded").rglob("*"))
    assert size < 1_000_000


def test_examples_for_continuous_integration_are_what_their_systems_read():
    page = (ROOT / "docs" / "regression.md").read_text()
    blocks = [part.partition("```")[0] for part in page.split("```yaml\n")[1:]]
    github, gitlab = (yaml.safe_load(block) for block in blocks)
    # In YAML 1.1 the key `on` is a truth value.
    assert set(github) == {"name", True, "jobs"}
    [job] = github["jobs"].values()
    assert {"runs-on", "steps"} <= set(job)
    assert all(("uses" in step) != ("run" in step) for step in job["steps"])
    [simulations] = gitlab.values()
    assert simulations["artifacts"]["reports"]["junit"] == "reports/*.xml"
    # Both call the command with options that it has.
    for commands in ([step.get("run", "") for step in job["steps"]], simulations["script"]):
        [call] = [each for each in commands if each.startswith("simplugin")]
        assert call == "simplugin regress scenarios --junit reports/scenarios.xml"
        assert any(each.startswith("python -m pytest tests --junit-xml=") for each in commands)
