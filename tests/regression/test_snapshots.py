"""Snapshots, tolerances and reports, without running anything."""

import copy
import gzip
import json
import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simplugin.core.errors import ScenarioError, SimpluginError
from simplugin.regression.activities import Activities, TracedActivity, activities_of_chart
from simplugin.regression.comparison import causes, compare, explain, unchanged
from simplugin.regression.fixtures import safe_name
from simplugin.regression.snapshots import Snapshot, is_snapshot, read_snapshot, write_snapshot
from simplugin.regression.tolerances import Tolerance, ToleranceFile, load_tolerances
from simplugin.results.charts import Bar, ScheduleChart
from simplugin.results.row import Best, Metric

texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
values = st.none() | st.integers() | st.floats() | texts
finite = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def snapshots(draw):
    names = draw(st.lists(texts.filter(bool), unique=True, max_size=5))
    metrics = tuple(Metric(name, draw(values), draw(texts)) for name in names)
    activity = st.builds(TracedActivity, texts, texts, texts, texts, finite, finite, finite, texts)
    rows = tuple(draw(st.lists(activity, max_size=4)))
    best = Best(names[0], draw(st.floats())) if names and draw(st.booleans()) else None
    activities = Activities(rows, len(rows) + 2, {"worker": 2}) if rows else None
    digest, run = draw(st.none() | texts), {"seed": draw(st.integers())}
    some = st.dictionaries(texts, texts, max_size=3)
    return Snapshot(draw(texts), metrics, best, digest, run, draw(some), draw(some), activities)


@settings(max_examples=40)
@given(snapshots())
def test_what_is_written_is_read(tmp_path_factory, snapshot):
    file = tmp_path_factory.mktemp("snapshots") / "deep" / "one.json"
    write_snapshot(snapshot, file)
    read = read_snapshot(file)
    assert compare(snapshot, read).agrees
    # NaN is not equal to itself: texts are.
    assert repr(read) == repr(snapshot)
    document = json.loads(file.read_text(), parse_constant=pytest.fail)
    assert list(document["metrics"]) == [metric.name for metric in snapshot.metrics]
    before = {path: path.read_bytes() for path in file.parent.iterdir()}
    write_snapshot(read, file)
    assert before == {path: path.read_bytes() for path in file.parent.iterdir()}


ONE = TracedActivity("a", "h", "exec", "x", 0.1, 1 / 3, 1e9, "done")


def test_a_diff_shows_a_metric_a_line_and_no_date(tmp_path):
    file = tmp_path / "one.json"
    write_snapshot(Snapshot("s", (Metric("t", 0.1, "s"),), activities=Activities((ONE,), 1)), file)
    assert '\n  "t": {"value": 0.1, "unit": "s"}\n' in file.read_text()
    trace = tmp_path / "one.trace.csv.gz"
    data = trace.read_bytes()
    # RFC 1952: four bytes of modification time from the fifth on.
    assert data[4:8] == bytes(4)
    assert gzip.decompress(data).decode().splitlines()[1] == (
        "a,h,exec,x,0.1,0.3333333333333333,1000000000.0,done"
    )
    # Without activities the file beside goes too; with it lost only the cause is.
    trace.unlink()
    assert read_snapshot(file).activities is None
    assert read_snapshot(tmp_path / "none.json") is None


SHORT_ROW = f"{','.join(TracedActivity._fields)}\n1\n".encode()
DAMAGES = [("one.json", each) for each in (b"{", b"[]", b'{"format": 99}', b"\xff")]
DAMAGES += [("one.trace.csv.gz", b"no gzip")]
DAMAGES += [("one.trace.csv.gz", gzip.compress(each)) for each in (b"a,b\n", SHORT_ROW)]


@pytest.mark.parametrize(("name", "content"), DAMAGES, ids=range(len(DAMAGES)))
def test_a_damaged_file_is_told(tmp_path, name, content):
    write_snapshot(Snapshot("s", (), activities=Activities((ONE,), 1)), tmp_path / "one.json")
    (tmp_path / name).write_bytes(content)
    with pytest.raises(SimpluginError) as caught:
        read_snapshot(tmp_path / "one.json")
    assert str(caught.value).startswith(f"{tmp_path / name}:")


def leaves(value, path=()):
    """Return the paths of everything in a document, of containers too."""
    inside = value.items() if isinstance(value, dict) else ()
    return [path] + [each for key, one in inside for each in leaves(one, (*path, key))]


def test_wrong_types_inside_are_told(tmp_path):
    file = tmp_path / "one.json"
    metrics = (Metric("t", 0.1, "s"), Metric("n", math.nan))
    facts = ({"seed": 1}, {"o": "1"}, {"simplugin": "1"})
    activities = Activities((ONE,), 2, {"a": 2})
    good = Snapshot("s", metrics, Best("t", 0.1), "digest", *facts, activities, {"file x": "0"})
    write_snapshot(good, file)
    document = json.loads(file.read_text())
    refused = 0
    for path in leaves(document)[1:]:
        for wrong in (None, True, 3, -1, 1e400, 10**400, "x", [], [{}], {}, {"x": None}, {"x": []}):
            damaged = copy.deepcopy(document)
            place = damaged
            for step in path[:-1]:
                place = place[step]
            place[path[-1]] = wrong
            file.write_text(json.dumps(damaged))
            try:
                read = read_snapshot(file)
            except SimpluginError as error:
                refused += "restore it, or delete it" in str(error)
            else:
                # What can be read can be compared and told.
                explain(compare(read, good, ToleranceFile({"metrics": {"t": 1}}, "x").of("s")))
    assert refused > 150


def test_what_is_missing_is_told(tmp_path):
    file = tmp_path / "one.json"
    write_snapshot(Snapshot("s", (), activities=Activities((ONE,), 1)), file)
    whole = json.loads(file.read_text())
    # These tell people what follows from the others.
    top, inner = set(whole) - {"gap"}, set(whole["activities"]) - {"recorded"}
    assert {"sources", "namesakes"} <= top | inner
    for key in top | inner:
        damaged = copy.deepcopy(whole)
        del (damaged if key in top else damaged["activities"])[key]
        file.write_text(json.dumps(damaged))
        with pytest.raises(SimpluginError) as caught:
            read_snapshot(file)
        assert f"{key}'" in str(caught.value)


def test_somebody_elses_file_is_no_recorded_result(tmp_path):
    file = tmp_path / "one.json"
    write_snapshot(Snapshot("s", ()), file)
    assert is_snapshot(file)
    for text in ("{", "[]", "{}", '{"format": 1, "metrics": {}}', "[" * 100_000):
        file.write_text(text)
        assert not is_snapshot(file)
    assert not is_snapshot(tmp_path)


def test_tolerances_are_what_they_say():
    within = Tolerance(1e-3)
    pairs = [(1000.0, 1000.9), (-1000.0, -1000.9), (math.nan, math.nan), (math.inf, math.inf)]
    assert [pair for pair in pairs if not within.accepts(*pair)] == []
    # Counts and texts are exact, unless it is given for them.
    others = [(1000.0, 1001.1), (math.nan, 1.0), (math.inf, 1e300), (None, 0.0), (10**5, 10**5 + 1)]
    assert [pair for pair in others if within.accepts(*pair)] == []
    assert Tolerance(1e-3, named=True).accepts(100_000, 100_001)
    assert not Tolerance(1.0, named=True).accepts("a", "b")
    assert Tolerance(0.0, 0.1).accepts(0.0, 0.1)
    assert not Tolerance(0.0, 0.1).accepts(0.0, 0.11)


FILE = """
relative = 1e-6
activities = 10
[metrics]
gap = { absolute = 1e-3 }
[scenarios.slow]
absolute = 0.5
[scenarios.slow.metrics]
rounds = 0.1
"""


def test_a_file_of_tolerances_holds_for_all_and_for_one(tmp_path):
    file = tmp_path / "tolerances.toml"
    file.write_text(FILE)
    loaded = load_tolerances(file)
    usual, slow = loaded.of("other"), loaded.of("slow")
    assert usual.of("makespan") == Tolerance(1e-6, 0.0)
    assert slow.of("makespan") == Tolerance(1e-6, 0.5)
    # What is not said of a metric is as it is without a file.
    assert usual.of("gap") == slow.of("gap") == Tolerance(1e-9, 1e-3, named=True)
    assert slow.of("rounds") == Tolerance(0.1, named=True)
    assert usual.activities == slow.activities == 10
    assert loaded.of("slow", 0.1, 0.2).of("makespan") == Tolerance(0.1, 0.2)
    assert loaded.of("slow", 0.1).of("rounds").relative == 0.1
    assert loaded.of("x").with_metrics({"gap": 0.5}).of("gap").relative == 0.5


WRONG_TOLERANCES = [
    ("relativ = 1", 1, "relativ"),
    ("\nrelative = -1", 2, "relative"),
    ("relative = true", 1, "relative"),
    ("[metrics]\nm = { relative = 1, abs = 2 }", 2, "metrics.m.abs"),
    ("[scenarios.s]\n\nmetrics = 3", 3, "scenarios.s.metrics"),
    ("scenarios = 3", 1, "scenarios"),
    ("[", 1, None),
]


@pytest.mark.parametrize(("text", "line", "key"), WRONG_TOLERANCES)
def test_a_wrong_tolerance_is_told_with_its_line(tmp_path, text, line, key):
    file = tmp_path / "tolerances.toml"
    file.write_text(text)
    with pytest.raises(ScenarioError) as caught:
        load_tolerances(file)
    assert (caught.value.line, caught.value.key) == (line, key)


def row(**metrics):
    return tuple(Metric(name, value, "s") for name, value in metrics.items())


def test_what_moved_and_by_how_much():
    recorded = Snapshot("s", row(a=2.0, b=1, gone=3.0, zero=0.0), Best("a", 1.0))
    now = Snapshot("s", row(a=2.5, b=1, fresh=4, zero=1e-30), Best("a", 1.25))
    changes = {each.name: each for each in compare(recorded, now).changes}
    assert list(changes) == ["a", "b", "gone", "zero", "optimum of a", "fresh"]
    states = [each.state for each in changes.values()]
    assert states == ["moved", "ok", "missing", "moved", "moved", "new"]
    assert (changes["a"].difference, changes["a"].relative) == (0.5, 0.25)
    assert changes["zero"].relative is None
    lines = explain(compare(recorded, now))
    assert "  a: 2.0 s -> 2.5 s (+0.5, +25 %)" in lines
    assert "  fresh: not recorded -> 4 s" in lines
    tolerances = {"metrics": {"a": 0.3, "zero": {"absolute": 1e-9}}}
    within = ToleranceFile(tolerances, "tolerances.toml").of("s")
    moved = {each.name for each in compare(recorded, now, within).moved}
    # The tolerance of a metric is that of its optimum too.
    assert moved == {"gone", "fresh"}


def test_another_unit_is_another_metric_and_is_told():
    recorded, now = (Snapshot("s", (Metric("a", 1.0, unit),)) for unit in ("s", "ms"))
    comparison = compare(recorded, now)
    assert not comparison.agrees
    assert comparison.changes[0].difference is None
    assert "  a: 1.0 s -> 1.0 ms (unit s -> ms)" in explain(comparison)
    # Where there is no value, too.
    recorded, now = (Snapshot("s", (Metric("a", None, unit),)) for unit in ("s", ""))
    assert "  a: none -> none (unit s -> none)" in explain(compare(recorded, now))


RUN = Snapshot(
    "s",
    row(a=1.0),
    settings={"seed": 1, "platform_sha256": "p", "content_sha256": "c", "code_sha256": "0"},
    options={"network/model": "LV08"},
    versions={"simplugin": "1", "python": "3.11.7", "numpy": "2"},
    sources={"scenario [scheduler]": "1", "module actors.py": "2", "file x.xml": "3"},
)
ACTORS = "the actors changed: their functions, arguments or hosts"


def changed(content="d", options=None, versions=None, **settings):
    """Return another run, of other contents."""
    settings = {**RUN.settings, "content_sha256": content, **settings}
    options = RUN.options if options is None else options
    versions = {**RUN.versions, **(versions or {})}
    return replace(RUN, settings=settings, options=options, versions=versions)


def test_changed_actors_are_told_unless_something_else_explains_the_hash():
    assert causes(RUN, changed()) == [ACTORS]
    # No version is in the hash.
    other = changed(versions={"numpy": "3", "simplugin": "2"}, code_sha256="1")
    assert causes(RUN, other) == [ACTORS, "simplugin: 1 -> 2", "numpy: 2 -> 3"]
    assert causes(RUN, changed(versions={"python": "3.11.8"}))[0] == ACTORS
    # But byte code is.
    assert causes(RUN, changed(versions={"python": "3.12.1"}))[0].startswith("perhaps the actors")
    assert causes(RUN, changed(platform_sha256="q")) == ["the platform changed"]
    assert causes(RUN, changed(seed=2)) == ["seed: 1 -> 2"]
    assert causes(RUN, changed(options={})) == ["option network/model: LV08 -> none"]
    assert causes(RUN, changed(content=None)) == []


def test_changed_files_and_code_are_told():
    code = changed(content="c", code_sha256="1")
    assert causes(RUN, code) == ["simplugin's own code, which still calls itself 1"]
    sources = {"scenario [scheduler]": "2", "module actors.py": "2", "file y.xml": "3"}
    other = replace(RUN, sources=sources)
    told = ["scenario [scheduler] changed", "file x.xml is gone", "file y.xml is new"]
    assert causes(RUN, other) == told
    # It says of nothing that it is the same where that is not known.
    now = replace(RUN, metrics=row(a=2.0))
    known = ["versions", "options", "seed", "platform", "simplugin's code"]
    everything = [*known[:4], "actors", known[4], "the scenario", "its files and modules"]
    line = f"recorded and unchanged: {', '.join(everything)}"
    assert explain(compare(RUN, now))[-1] == line
    bare = replace(changed(content=None), sources={})
    assert causes(RUN, bare) == []
    assert unchanged(RUN, bare) == known


def test_bars_of_a_schedule_are_activities():
    bars = (Bar(1, (0, 1, 2), 1.0, 4.0, "late"), Bar(0, (2, 3, 5), 0.0, 1.0, "early"))
    found = activities_of_chart(ScheduleChart("s", "s", (("x", 3), ("y", 3)), ("g", "h"), bars), 10)
    assert found.rows == (
        TracedActivity("g", "x 2, y 0+2", "bar", "early", 0.0, 1.0, 3.0, "done"),
        TracedActivity("h", "x 0-2", "bar", "late", 1.0, 4.0, 3.0, "done"),
    )


def test_names_of_files_are_safe_and_differ():
    names = ["test_a", "test_a[1.5]", "test_a[1,5]", "test_a[../x]", "x" * 300, "x" * 301, "test_ä"]
    safe = [safe_name(name) for name in names]
    assert safe[0] == "test_a"
    assert len(set(safe)) == len(names)
    assert all(len(name) < 100 and not set(name) & set("./\\: []") for name in safe)
