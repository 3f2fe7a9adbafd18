import json
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pytest

from simplugin.errors import SimpluginError
from simplugin.inputs.kinds import Outcome
from simplugin.rows import Row
from simplugin.scenarios import load_scenario, run_scenario
from simplugin.scenarios.outputs import outcome_document, output_path, write_outputs


def with_output(lab, keys):
    path = lab / "scenario.toml"
    path.write_text(path.read_text() + f"\n[output]\n{keys}\n")
    return load_scenario(path)


def test_nothing_is_written_unless_asked(lab):
    scenario = load_scenario(lab / "scenario.toml")
    before = set(lab.iterdir())
    assert write_outputs(scenario, run_scenario(scenario)) == []
    # Python may keep the byte code of the scenario's actors there.
    assert set(lab.iterdir()) - {lab / "__pycache__"} == before


def read_chrome(path):
    events = json.loads(path.read_text())["traceEvents"]
    shown = {each["args"]["actor"] + each["name"]: each for each in events if each["ph"] == "X"}
    ends = [(each["ts"] + each["dur"]) / 1e6 for each in shown.values()]
    return {"label": [each["name"] for each in shown.values()], "end": ends}


@pytest.mark.parametrize(
    ("name", "read"),
    [("t.csv", pd.read_csv), ("t.parquet", pd.read_parquet), ("t.JSON", read_chrome)],
)
def test_files_go_where_the_scenario_says(lab, name, read):
    keys = f"directory = 'made/here'\nresult = 'r.json'\ntrace = '{name}'\ngantt = 'g.png'"
    scenario = with_output(lab, keys)
    outcome = run_scenario(scenario)
    here = lab / "made" / "here"
    assert write_outputs(scenario, outcome) == [here / "r.json", here / name]
    trace = read(here / name)
    assert list(trace["label"]) == ["data", "crunch"]
    assert list(trace["end"]) == pytest.approx([2.0, 5.0])
    document = json.loads((here / "r.json").read_text())
    assert document["metrics"]["makespan"] == {"value": outcome.result.clock, "unit": "s"}
    assert document["hosts"] == {"name": ["bob"], "flops": [6e9], "busy": [3.0], "energy": [None]}
    assert document["links"]["bytes"] == [200e6]
    assert document["digest"] == outcome.result.digest()
    assert output_path(scenario, "gantt") == here / "g.png"


def test_relocated(lab, tmp_path):
    output = with_output(lab, "trace = 'mine.parquet'").output
    moved = output.relocated(tmp_path, trace=True)
    assert (moved.directory, moved.trace) == (tmp_path, "mine.parquet")
    assert (moved.result, moved.gantt) == ("result.json", "gantt.png")
    bare = output.model_copy(update={"trace": None}).relocated(tmp_path, trace=False)
    assert (bare.result, bare.gantt) == ("result.json", None)


@dataclass
class Note:
    tasks: frozenset[str]
    by: object


def test_returned_values_are_written_as_plain_data(lab):
    outcome = run_scenario(load_scenario(lab / "scenario.toml"))

    def document(value):
        returned = (replace(outcome.result.returned[0], value=value),)
        return outcome_document(Outcome(Row(()), replace(outcome.result, returned=returned)))

    note = Note(frozenset("dcba"), {(1, 2): np.arange(2)})
    written = document({"x": {2, 1}, "nan": float("nan"), "n": (1,), "note": note})
    plain = {"tasks": ["a", "b", "c", "d"], "by": {"[1, 2]": [0, 1]}}
    expected = {"x": [1, 2], "nan": None, "n": [1], "note": plain}
    assert written["returned"][0]["value"] == expected
    json.dumps(written, allow_nan=False)
    for value in (object(), Note(frozenset(), note.__repr__), {object(): 1}, b"", np.array([open])):
        with pytest.raises(SimpluginError, match=r"actor '\w+' on '\w+' returned a .*; give numb"):
            document(value)


@pytest.mark.parametrize("directory", ["taken", "."])
def test_files_that_cannot_be_written(lab, directory):
    (lab / "taken").write_text("")
    (lab / "r.json").mkdir()
    scenario = with_output(lab, f"directory = '{directory}'\nresult = 'r.json'")
    told = "taken" if directory == "taken" else r"r\.json: cannot be written"
    with pytest.raises(SimpluginError, match=told):
        write_outputs(scenario, run_scenario(scenario))
