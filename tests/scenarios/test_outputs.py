"""Files of a run, and its kept contents, which survive JSON."""

import json
import math
from dataclasses import asdict, dataclass, replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simplugin import Host, Platform, Zone, simulate
from simplugin.campaigns.store.documents import text_of, value_of
from simplugin.core.errors import SimpluginError
from simplugin.results.charts import Bar, ScheduleChart
from simplugin.results.claims import Claim
from simplugin.results.curves import CurvePlot
from simplugin.results.row import Row
from simplugin.results.tables import ResultTable
from simplugin.scenarios import load_scenario, outputs, run_scenario
from simplugin.scenarios.outputs import outcome_document, output_path, write_outputs
from simplugin.scenarios.scenario import ScenarioResult


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
    scenario = with_output(lab, "trace = 'mine.parquet'")
    moved = scenario.relocated(tmp_path).output
    assert (moved.directory, moved.trace) == (tmp_path, "mine.parquet")
    assert (moved.result, moved.gantt) == ("result.json", "gantt.png")
    output = scenario.output.model_copy(update={"trace": None})
    simulation = replace(scenario.simulation, trace=False)
    untraced = replace(scenario, output=output, simulation=simulation)
    bare = untraced.relocated(tmp_path).output
    assert (bare.result, bare.gantt) == ("result.json", None)


@dataclass
class Note:
    tasks: frozenset[str]
    by: object


def test_returned_values_are_written_as_plain_data(lab):
    outcome = run_scenario(load_scenario(lab / "scenario.toml"))

    def document(value):
        returned = (replace(outcome.result.returned[0], value=value),)
        return outcome_document(ScenarioResult(Row(()), replace(outcome.result, returned=returned)))

    note = Note(frozenset("dcba"), {(1, 2): np.arange(2)})
    written = document({"x": {2, 1}, "nan": float("nan"), "n": (1,), "note": note})
    plain = {"tasks": ["a", "b", "c", "d"], "by": {"[1, 2]": [0, 1]}}
    expected = {"x": [1, 2], "nan": None, "n": [1], "note": plain}
    assert written["returned"][0]["value"] == expected
    json.dumps(written, allow_nan=False)
    for value in (object(), Note(frozenset(), note.__repr__), {object(): 1}, b"", np.array([open])):
        with pytest.raises(SimpluginError) as caught:
            document(value)
        assert repr(outcome.result.returned[0].name) in str(caught.value)


@pytest.mark.parametrize("directory", ["taken", "."])
def test_files_that_cannot_be_written(lab, directory):
    (lab / "taken").write_text("")
    (lab / "r.json").mkdir()
    scenario = with_output(lab, f"directory = '{directory}'\nresult = 'r.json'")
    with pytest.raises(SimpluginError) as caught:
        write_outputs(scenario, run_scenario(scenario))
    assert ("taken" if directory == "taken" else "r.json") in str(caught.value)


TEXTS = st.text(max_size=8)
FLOATS = st.floats(allow_nan=False)
NUMBERS = st.floats() | st.integers(-(2**70), 2**70)
CELLS = NUMBERS | TEXTS | st.none()
POINTS = st.lists(st.floats(), max_size=5) | st.lists(st.integers(-(2**53), 2**53), max_size=5)
ARRAYS = POINTS.map(np.asarray)


def several(inner, most=3):
    return st.lists(inner, max_size=most).map(tuple)


FIGURES = st.builds(
    CurvePlot,
    *[TEXTS] * 4,
    st.dictionaries(TEXTS, st.tuples(ARRAYS, ARRAYS), max_size=3),
    st.dictionaries(TEXTS, st.floats(), max_size=3),
    log_y=st.booleans(),
    cycle=st.none() | st.integers(1, 9),
    bars=st.booleans(),
    names=st.dictionaries(TEXTS, several(TEXTS), max_size=2),
    whole=st.booleans(),
)
BARS = st.builds(Bar, st.integers(0, 1), several(st.integers(0, 4)), FLOATS, FLOATS, TEXTS)
SCHEDULES = st.builds(
    lambda *drawn: ScheduleChart("n", "t", (("a", 2), ("b", 3)), ("g", "h"), *drawn),
    several(BARS, 4),
    TEXTS,
    st.dictionaries(TEXTS, FLOATS, max_size=2),
    several(FLOATS, 2),
)
COLUMNS = st.just((("one", "s"), ("two", "")))
LISTINGS = st.builds(ResultTable, TEXTS, COLUMNS, several(st.tuples(CELLS, CELLS), 4), TEXTS)
CLAIMS = st.builds(
    Claim,
    TEXTS,
    NUMBERS | TEXTS,
    NUMBERS | TEXTS,
    st.booleans(),
    TEXTS,
    TEXTS,
    st.none() | st.floats(),
    st.dictionaries(TEXTS, CELLS | st.lists(CELLS, max_size=2), max_size=3),
)


def back(document):
    """What comes back from a store, where it is strict JSON but for numbers that JSON lacks."""
    return value_of(text_of(document))


def exactly(value):
    """A value with its types, bits and orders; NaN equals itself."""
    if isinstance(value, dict):
        return [(key, exactly(each)) for key, each in value.items()]
    if isinstance(value, list | tuple):
        return type(value), [exactly(each) for each in value]
    if isinstance(value, np.ndarray):
        return exactly(value.tolist())
    return type(value), repr(value)


@given(FIGURES | SCHEDULES | LISTINGS | CLAIMS)
def test_what_is_kept_comes_back_to_the_last_bit(thing):
    has_document = isinstance(thing, ResultTable | Claim)
    document = outputs.plain(thing.document() if has_document else thing)
    found = outputs.from_document(type(thing), back(document))
    assert exactly(asdict(found)) == exactly(asdict(thing))


def test_numbers_of_numpy_are_numbers():
    given = {"a": np.float64(0.1), "b": np.arange(3), "c": (np.int8(4), math.inf), 5: None}
    claim = Claim("c", "few", 1.0, True, "why", "source", provenance=given)
    found = outputs.from_document(Claim, back(outputs.plain(claim.document()))).provenance
    assert found == {"a": 0.1, "b": [0, 1, 2], "c": [4, math.inf], "5": None}


async def worker(me, number):
    await me.execute(1e9 * number, label="crunch" if number % 2 else None)
    await me.sleep_for(1.0)


@pytest.fixture(scope="module")
def traced():
    platform = Platform((Zone("all", "Full", tuple(Host(name, 1e9) for name in "ABC")),))
    # All actors have the function's name.
    return simulate(platform, [("ABC"[at], worker, at) for at in range(3)])


def test_activities_are_those_of_the_trace(traced):
    found = back(outputs.activities_document(traced))
    names = ("actor", "resource", "kind", "label", "start", "end", "state")
    assert set(found["columns"]) == set(names)
    rows = list(zip(*(found["columns"][name] for name in names), strict=True))
    assert rows == [row[:6] + row[7:] for row in traced.trace.rows()]
    assert found["total"] == len(rows)


def test_long_runs_are_cut_and_say_so(traced, monkeypatch):
    monkeypatch.setattr(outputs, "MOST_ACTIVITIES", 3)
    document = outputs.activities_document(traced)
    assert document["total"] == len(traced.trace) > 3
    assert {len(column) for column in document["columns"].values()} == {3}
    ends = document["columns"]["end"]
    assert ends == traced.trace.end[:3].tolist()
    assert max(ends) <= traced.trace.end[3:].min()
