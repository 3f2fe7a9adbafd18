"""The shipped workflow manager: a closed form, real runs, and files of several kinds."""

import json
import re
import runpy
from pathlib import Path

import pytest

from simplugin.scenarios import load_scenario, run_scenario
from simplugin.scenarios.loading import read_toml

SCENARIOS = Path(__file__).parents[2] / "scenarios"
VALUES = read_toml(SCENARIOS / "calibration.toml")[0]["workload"]["actors"][0]["args"]
LOCAL, DELAY = VALUES["local"], VALUES["delay"]


@pytest.fixture(scope="module")
def predict():
    """Return the command of the module."""
    return runpy.run_path(str(SCENARIOS / "workflow_manager.py"))["main"]


def errors_of(text):
    """Return the printed errors of makespans in per cent."""
    return [float(each) for each in re.findall(r"([+-][\d.]+)% of", text)]


def flat(names, **members):
    """Return a run of a chain of tasks of 10 s in WfFormat 1.3, without machines and children."""
    tasks = [
        {"name": name, "type": "compute", "runtime": 10, "parents": parents, "files": []}
        for name, parents in zip(names, [[], *([each] for each in names)], strict=False)
    ]
    return {"name": "x", "schemaVersion": "1.3", "workflow": {"tasks": tasks, **members}}


def specified(starts, **members):
    """Return a run of a chain of tasks of 10 s in WfFormat 1.5, with the dates of starts."""
    described = [
        {"id": f"t{at}", "name": f"t{at}", "parents": [f"t{at - 1}"] if at else [], "children": []}
        for at in range(len(starts))
    ]
    ran = [
        {"id": f"t{at}", "runtimeInSeconds": 10, "executedAt": f"2026-01-01T00:{each}Z"}
        for at, each in enumerate(starts)
    ]
    execution = {"tasks": ran, "machines": [{"nodeName": "a"}], **members}
    workflow = {"specification": {"tasks": described}, "execution": execution}
    return {"name": "x", "schemaVersion": "1.5", "workflow": workflow}


def test_levels_take_a_delay_each():
    """A fork and join of three levels takes three delays and runtimes."""
    scenario = load_scenario(SCENARIOS / "calibration.toml")
    assert run_scenario(scenario).row["makespan"] == pytest.approx(3 * (DELAY + 1), rel=1e-3)


def test_real_makespans_are_predicted(shared_data, capsys, predict):
    """The mean error of six real runs is at most 10 %."""
    files = sorted((shared_data / "calibration").glob("*.json.xz"))
    assert len(files) == 6
    predict(files)
    errors = errors_of(capsys.readouterr().out)
    assert len(errors) == 6
    assert sum(map(abs, errors)) / 6 <= 10


def test_runs_of_another_size_are_predicted(shared_data, capsys, predict):
    """Nor were these fitted: other workflows, on one machine, with tasks of 100 s."""
    files = (shared_data / "workflows" / "wfcommons").glob("helloworld-*.json")
    predict(sorted(files))
    errors = errors_of(capsys.readouterr().out)
    assert len(errors) == 2
    assert max(map(abs, errors)) <= 10


def test_errors_of_dates(tmp_path, capsys, predict):
    """A chain that starts tasks ten seconds after each other is that much too early."""
    file = tmp_path / "run.json"
    makespan = 4 * LOCAL + 3 * (DELAY + 10)
    document = specified(["00:00", "00:20", "00:40"], makespanInSeconds=makespan)
    file.write_text(json.dumps(document))
    predict([file])
    text = capsys.readouterr().out
    assert errors_of(text) == pytest.approx([0], abs=0.2)
    starts, ends, rank = map(float, re.findall(r"(?:starts|ends) ([\d.]+)", text))
    assert starts == ends == pytest.approx(100 * (DELAY - 10) / 50, abs=0.2)
    assert rank == 1


@pytest.mark.parametrize(
    ("names", "jobs"),
    [
        (["a", "b"], 4),  # the jobs of the manager are not stated: one of each
        (["create_dir_x", "a", "b", "stage_out_x", "register_x", "register_y"], 4),
    ],
)
def test_fields_may_be_missing(tmp_path, capsys, predict, names, jobs):
    """Without a makespan, dates, machines and types, a prediction is made."""
    file = tmp_path / "run.json"
    file.write_text(json.dumps(flat(names)))
    predict([file])
    text = capsys.readouterr().out
    assert float(text.split()[1]) == pytest.approx(jobs * LOCAL + 2 * (DELAY + 10), abs=0.1)
    assert "not measured" in text


@pytest.mark.parametrize("document", [{"schemaVersion": "1.3", "workflow": {"tasks": []}}, {}])
def test_files_without_tasks_are_refused(tmp_path, predict, document):
    """An error names the file."""
    file = tmp_path / "run.json"
    file.write_text(json.dumps(document))
    with pytest.raises(SystemExit, match=r"run\.json"):
        predict([file])
