"""``simplugin regress``: on scenarios that break, and on the project's own."""

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from changed_scenarios import change
from rich.console import Console

from simplugin.cli.regress import _print_table
from simplugin.regression.checking import CheckResult
from simplugin.regression.comparison import MetricChange
from simplugin.regression.snapshots import Snapshot, read_snapshot, write_snapshot

ROOT = Path(__file__).parents[2]
OWN = sorted((ROOT / "scenarios").glob("*.toml"))
HOSTILES = ("kill", "spin", "fail")
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
    simplugin("regress", lab, "--update", "--jobs", 1, status=0)
    return lab


def told(done):
    """Return the command's JSON object, its scenarios by name."""
    document = json.loads(done.stdout)
    assert document["status"] == done.returncode, done.stderr
    return {each["scenario"]: each for each in document["scenarios"]}


def test_what_moved_is_told_explained_and_recorded(recorded_lab, simplugin):
    lab = recorded_lab
    recorded = lab / "recorded"
    file = recorded / "scenario.json"
    before = file.read_bytes()
    (lab / "pyproject.toml").write_text("[project]\n")  # no scenario
    # Half of the bandwidth: the transfer of 200 MB takes 4 s instead of 2 s.
    change(lab / "platform.xml", "100MBps", "50MBps")
    done = simplugin("regress", lab, "--jobs", 1, status=1)
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
        "    file platform.xml changed",
        "1 moved; --update records what is new or moved",
    ):
        assert line.split() in [each.split() for each in done.stdout.splitlines()], line

    # 7 instead of 5 is 2/7 of the larger one; the utilisation is 3/7 instead of 3/5.
    words = ("--json", "--rel-tol", 0.29, "--tolerance", "utilisation=0.28")
    one = told(simplugin("regress", lab, *words))["scenario.toml"]
    moved = [each for each in one["metrics"] if each["state"] == "moved"]
    assert [each["metric"] for each in moved] == ["utilisation"]
    assert moved[0]["relative"] == pytest.approx((3 / 7 - 3 / 5) / (3 / 5))
    (lab / "recorded" / "tolerances.toml").write_text(
        "relative = 1e-3\n[scenarios.scenario.metrics]\nutilisation = 1\nmakespan = 1\n"
        "makspan = 1\n[scenarios.senario]\n[metrics]\nutilization = 1\n"
    )
    shutil.copy(file, recorded / "gone.json")
    (recorded / "mine.json").write_text('{"format": 1}')
    done = simplugin("regress", lab, "--json", "--tolerance", "makspan=1")
    assert "no run has a metric 'makspan'; did you mean 'makespan'?" in done.stderr
    for line in (
        "5: scenario has no metric 'makspan'; did you mean 'makespan'?",
        "6: there is no scenario 'senario'; did you mean 'scenario'?",
        "8: no scenario has a metric 'utilization'; did you mean 'utilisation'?",
    ):
        assert f"tolerances.toml:{line}" in done.stderr
    states = {name: each["state"] for name, each in told(done).items()}
    assert states == {"scenario.toml": "ok", "gone.json": "missing"}

    updated = simplugin("regress", lab, "--update", status=0)
    assert "metrics as recorded, activities recorded now" in updated.stdout
    assert [(recorded / f"{each}.json").exists() for each in ("gone", "mine")] == [False, True]
    now = read_snapshot(file)
    assert ("makespan", 7.0) in [(metric.name, metric.value) for metric in now.metrics]
    assert [row.end for row in now.activities.rows] == [4.0, 7.0]

    # What agrees is not written again, unless its activities are not those that are wanted.
    module = lab / "my_actors.py"
    module.write_text(f"{module.read_text()}\nUNUSED = 3\n")
    (lab / "recorded" / "tolerances.toml").write_text("activities = 1\n")
    (lab / "recorded" / "scenario.trace.csv.gz").unlink()
    simplugin("regress", lab, "--update", status=0)
    assert len(read_snapshot(file).activities.rows) == 1
    before = file.read_bytes()
    module.write_text(module.read_text().replace("UNUSED", "UNSEEN"))
    simplugin("regress", lab, "--update", status=0)
    assert file.read_bytes() == before
    # A module that the actors could call is a possible cause.
    change(lab / "scenario.toml", "tcp_gamma = 0.0", "tcp_gamma = 0.0\nbandwidth_factor = 0.9")
    done = simplugin("regress", lab)
    option = "option network/bandwidth-factor: 1.0 -> 0.9"
    for line in ("module my_actors.py changed", "scenario [simulation] changed", option):
        assert f"    {line}\n" in done.stdout


def test_one_that_crashes_or_never_ends_stops_no_other(recorded_lab, simplugin):
    lab = recorded_lab
    (lab / "hostile.py").write_text(HOSTILE)
    usual = (lab / "scenario.toml").read_text()
    texts = {each: usual.replace("my_actors:send", f"hostile:{each}") for each in HOSTILES}
    texts |= {"wrong": usual + "\n[simulatoin]\n", "broken": "["}
    texts["wide"] = usual + "\n[sweep]\nsimulation.seed = { from = 1, to = 101 }\n"
    texts["narrow"] = usual + "\n[sweep]\nsimulation.seed = [7, 8]\n"
    for name, text in texts.items():
        (lab / f"{name}.toml").write_text(text)
    found = told(simplugin("regress", lab, "--jobs", 2, "--wall-limit", 5, "--json"))
    told_of = {
        "broken.toml": ("failed", "broken.toml:1: not TOML"),
        "fail.toml": ("failed", "what a pity"),
        "kill.toml": ("failed", "crash: "),
        "narrow.toml[simulation.seed=7]": ("new", "record it with --update"),
        "narrow.toml[simulation.seed=8]": ("new", "record it with --update"),
        "scenario.toml": ("ok", ""),
        "spin.toml": ("failed", "raise --wall-limit"),
        "wide.toml": ("failed", "has 101 runs; at most 100"),
        "wrong.toml": ("failed", "did you mean 'simulation'"),
    }
    assert {name: each["state"] for name, each in found.items()} == {
        name: state for name, (state, _) in told_of.items()
    }
    for name, (_, words) in told_of.items():
        assert words in "\n".join(found[name]["explanation"])
    assert found["spin.toml"]["explanation"][0].startswith("wall limit: ")

    # What failed is not recorded, nor what cannot be; the runs of the campaign are, each by itself.
    recorded = lab / "recorded"
    names = ("blocked.toml", "narrow.toml", "fail.toml", "scenario.toml")
    (lab / "blocked.toml").write_text(usual)
    before = {path: path.read_bytes() for path in recorded.iterdir()}
    (recorded / "blocked.json").mkdir()
    words = [lab / name for name in names]
    found = told(simplugin("regress", *words, "--jobs", 1, "--update", "--json"))
    assert [each["state"] for each in found.values()] == ["failed", "new", "new", "failed", "ok"]
    assert "blocked.json: cannot be written: Is a directory" in str(found["blocked.toml"])
    seeds = {read_snapshot(path).settings["seed"] for path in recorded.glob("narrow/*.json")}
    assert seeds == {7, 8}
    assert not (recorded / "fail.json").exists()
    assert {path: path.read_bytes() for path in before} == before
    assert not list(recorded.glob("*.part"))

    # They are compared by what varies, not by their positions.
    change(lab / "narrow.toml", "[7, 8]", "[9, 8]")
    found = told(simplugin("regress", lab / "narrow.toml", "--jobs", 1, "--json"))
    assert {name[-3:]: each["state"] for name, each in found.items()} == {"=9]": "new", "=8]": "ok"}


def test_it_ends_properly_when_it_is_told_to(lab, tmp_path):
    (lab / "hostile.py").write_text(HOSTILE)
    change(lab / "scenario.toml", "my_actors:send", "hostile:spin")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    words = [Path(sys.executable).with_name("simplugin"), "regress", lab, "--jobs", "1"]
    environment = {**os.environ, "TMPDIR": str(scratch)}
    with subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, text=True) as command:
        try:
            while not list(scratch.glob("simplugin-*")):
                assert command.poll() is None
                time.sleep(0.02)
            command.send_signal(signal.SIGTERM)
            output, _ = command.communicate(timeout=600)
        finally:
            command.kill()
    assert command.returncode == 128 + signal.SIGTERM
    assert "stopped: 0 of" in output
    assert not list(scratch.iterdir())


def test_names_tell_scenarios_apart_and_do_no_harm(simplugin, tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "same.toml").write_text("[")
        write_snapshot(Snapshot("x", ()), tmp_path / name / "recorded" / "gone.json")
    # A name that is not UTF-8, and would colour the terminal.
    wild = tmp_path / "two" / os.fsdecode(b"\xff\x1b[31m.toml")
    wild.write_text("[")
    done = simplugin("regress", tmp_path / "one", tmp_path / "two", status=1)
    names = ["one/same.toml", "two/same.toml", "two/\\udcff\\x1b[31m.toml"]
    names += ["one/gone.json", "two/gone.json"]
    for name in names:
        assert f"\n{name}: " in done.stdout
    assert "\x1b" not in done.stdout

    # The last scenario of a directory has gone: what is recorded is left.
    for file in (tmp_path / "two").glob("*.toml"):
        file.unlink()
    assert list(told(simplugin("regress", tmp_path / "two", "--json"))) == ["gone.json"]
    simplugin("regress", tmp_path / "two", "--update", status=0)
    simplugin("regress", tmp_path / "two", "--update", status=2)


@pytest.mark.parametrize("columns", [1000, 100, 50])
def test_a_table_keeps_numbers_and_names(columns):
    names = [f"a_long_directory/a_campaign_with_a_name.toml[platform.seed={n}]" for n in (17, 18)]
    changes = (MetricChange("a_metric_of_some_kind", "ms", 0.123456, 1234.567, "moved", "s"),)
    checked = [CheckResult(name, "moved", changes) for name in names]
    file = io.StringIO()
    _print_table(checked, Console(file=file, width=columns))
    text = file.getvalue()
    assert text.count("a_metric_of_some_kind [s -> ms]") == 2
    assert text.count(" 0.123456") == text.count(" 1234.567") == 2
    # Names that are folded are all in the first column.
    width = text.index("moved") - text.rindex("\n", 0, text.index("moved")) - 3
    folded = "".join(line[:width].strip() for line in text.splitlines())
    assert folded == "scenario" + "".join(names)
    assert (names[0] in text) == (columns == 1000)


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
        ((lab,), "tolerances.toml:1: unknown key 'relativ'; did you mean 'relative'?"),
    ):
        done = simplugin("regress", *words, status=2)
        assert message in " ".join(done.stderr.replace("│", "").split())


@pytest.fixture(scope="module")
def own(simplugin, tmp_path_factory):
    """Results of the project's scenarios, run in a copy outside the checkout."""
    place = tmp_path_factory.mktemp("own")
    for name in ("scenarios", "platforms_xml", "deployments"):
        shutil.copytree(ROOT / name, place / name, ignore=shutil.ignore_patterns("__pycache__"))
    return told(simplugin("regress", place / "scenarios", "--json", "--jobs", 2))


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.stem)
def test_scenario_is_as_recorded(own, path):
    found = own[path.name]
    assert found["state"] == "ok", "\n".join(found["explanation"])
    values = {each["metric"]: each["now"] for each in found["metrics"]}
    assert values["makespan"] > 0
    if not path.stem.startswith(("bags", "grid5000", "jobs", "market", "taskgraphs")):
        # Those who wait for nobody never end by themselves.
        assert (values["actors_killed"] == 0) == (path.stem != "pricing_changes")


def test_no_recorded_result_is_left_over(own):
    assert set(own) == {path.name for path in OWN}


def test_examples_for_continuous_integration_call_the_command():
    page = (ROOT / "docs" / "regression.md").read_text()
    blocks = [part.partition("```")[0] for part in page.split("```yaml\n")[1:]]
    assert len(blocks) == 2
    for block in blocks:
        assert "simplugin regress scenarios" in block
        assert "python -m pytest tests --junit-xml=" in block
