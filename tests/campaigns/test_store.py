"""Stores return what was written to them; JSON that keeps every bit, and differences of it."""

import json
import math
import sqlite3
from contextlib import closing
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naming import raises_naming
from stored_runs import VERSIONS, Source, done, failed, job, key_of, records_of

import simplugin.campaigns
from simplugin.campaigns.jobs import Failure, RunJob, RunRecord
from simplugin.campaigns.store import Store, StoreReader
from simplugin.campaigns.store.documents import TextWriter, text_of, value_of
from simplugin.campaigns.store.schema import script
from simplugin.core.errors import StoreError
from simplugin.results.row import Best, Metric, Row, RunResult

SHORT = st.text(max_size=3)
NUMBERS = st.floats() | st.integers() | st.sampled_from([0, 0.0, -0.0, 1, 1.0, True, 1e308])
TEXTS = st.text(max_size=4) | st.sampled_from(["nan", "1e999", '"$float"', '{"$float":"inf"}'])
VALUES = st.recursive(
    NUMBERS | TEXTS | st.none() | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
# Few keys, so that documents have something in common.
DOCUMENT = st.dictionaries(st.sampled_from("abc"), VALUES, max_size=3)
# Error messages hold whatever a process printed, half characters too.
TEXT = st.text(st.characters(exclude_categories=()), max_size=20)


@st.composite
def records(draw, number):
    values = st.floats() | st.integers() | st.none() | SHORT
    senses = st.sampled_from([None, "min", "max"])
    names = draw(st.lists(st.sampled_from(["makespan", "seed", "gap"]), unique=True))
    metrics = tuple(Metric(name, draw(values), "s", draw(senses)) for name in names)
    proofs = st.sampled_from(["optimum", "bound"])
    bests = [st.builds(Best, st.just(name), st.floats(), proofs) for name in names[:1]]
    best = draw(st.one_of(st.none(), *bests))
    measured = failure = None
    if draw(st.booleans()):
        row = Row(metrics, draw(DOCUMENT), best)
        measured = RunResult(row, draw(st.none() | st.just("d")), draw(st.none() | DOCUMENT))
    else:
        kind = draw(st.sampled_from(["error", "crash", "wall_limit", "memory_limit"]))
        failure = Failure(kind, draw(TEXT))
    whole = RunJob(key_of(number), number, "numbers:run", draw(DOCUMENT), draw(DOCUMENT))
    return RunRecord(whole, measured, failure, "2026-11-22T05:00:00+00:00", 0.1, "here:1", VERSIONS)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.sqlite"


def stored(path, *records, source=None):
    """Append records to a campaign of a store, and return its number."""
    with Store.open(path) as store:
        campaign = store.begin(source or Source())
        for record in records:
            store.append(campaign, record)
    return campaign


@settings(max_examples=25)
@given(st.data())
def test_records_come_back_to_the_last_bit(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("stores") / "store.sqlite"
    given_ = [data.draw(records(number)) for number in range(data.draw(st.integers(1, 6)))]
    campaign = stored(path, *given_)
    with StoreReader(path) as reader:
        # Texts tell values apart to the last bit, and NaN is like NaN.
        for before, after in zip(given_, records_of(reader, campaign), strict=True):
            if before.failure is not None:  # what cannot be written is escaped
                text = before.failure.text.encode("utf-8", "backslashreplace").decode()
                before = replace(before, failure=replace(before.failure, text=text))
            assert repr(after) == repr(before)
            assert reader.state_of(before.job.key) == ("failed" if before.failure else "done")
        kept = [each.measured.contents for each in given_ if each.measured]
        kept = [contents for contents in kept if contents is not None]
        assert repr([contents for _, contents in reader.contents()]) == repr(kept)
        assert len(reader.frame(campaign)) == len(given_)


def test_a_key_is_done_once_any_attempt_is(path):
    with Store.open(path) as store:
        campaign = store.begin(Source())
        assert store.state_of(key_of(1)) is None
        for record, state in (
            (failed(1, "first", "crash"), "failed"),
            (failed(1, "second"), "failed"),
            (done(1), "done"),
            (failed(1, "too late"), "done"),
            (failed(2, "first"), "failed"),
            (failed(2, "second"), "failed"),
        ):
            store.append(campaign, record)
            assert store.state_of(record.job.key) == state
    with StoreReader(path) as reader:
        assert records_of(reader) == [done(1), failed(2, "second")]
        assert [(run.attempt, run.record) for run in reader.runs(status="done")] == [(3, done(1))]
        assert list(reader.failures(campaign)) == [failed(2, "second")]
        every = reader.frame(every=True)[["position", "attempts", "error"]].fillna("")
        assert every["position"].tolist() == [1, 1, 1, 1, 2, 2]
        assert every["attempts"].tolist() == [1, 2, 3, 4, 1, 2]
        assert every["error"].tolist() == ["first", "second", "", "too late", "first", "second"]
        assert list(reader.frame()["attempts"]) == [3, 2]


def test_campaigns_share_what_is_recorded(path):
    one, two = Source(3), Source(4, identity=key_of("other"), title="More")
    assert stored(path, *map(done, range(3)), source=one) == 1
    with Store.open(path) as store:
        assert store.begin(two) == 2
        assert store.begin(one) == 1
        # There it has another place and other words, and its file was moved.
        moved = job(1, position=0, varied={"case": "b"}, arguments={"directory": "/elsewhere"})
        store.note(2, moved)
        store.note(2, moved)
        # The same key twice in a campaign.
        store.append(2, done(7, position=1, varied={"case": "c"}))
        store.note(2, job(7, position=2, varied={"case": "d"}))
        # A job that nobody has tried is a member, but not recorded.
        store.note(2, job(8, position=3))
    with StoreReader(path) as reader:
        first, second = reader.campaigns()
        assert (first.number, first.title, first.total, first.done) == (1, "Numbers", 3, 3)
        assert (second.number, second.title, second.text) == (2, "More", two.text)
        assert (second.total, second.done, second.failed, second.missing) == (4, 3, 0, 1)
        assert reader.latest() == second
        others = [job(7, position=n, varied={"case": case}) for n, case in ((1, "c"), (2, "d"))]
        assert [record.job for record in records_of(reader, 2)] == [moved, *others]
        assert records_of(reader, 1) == [done(0), done(1), done(2)]
        assert len(records_of(reader)) == 6
        with raises_naming(StoreError, "campaign 3", "Numbers", "More"):
            list(reader.runs(3))
        with raises_naming(StoreError, "campaign 3"):
            list(reader.contents(3))
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("SELECT count(*) FROM runs").fetchone() == (4,)


def test_a_position_follows_the_code(path):
    """The same campaign with another key at a position: other code, or another file."""
    stored(path, done(0), done(5, position=0), source=Source(1))
    with StoreReader(path) as reader:
        assert records_of(reader) == [done(5, position=0)]
        assert reader.latest().done == 1
        # No member any more, but there for a campaign that has it again.
        assert reader.state_of(key_of(0)) == "done"
        assert reader.state_of(key_of(1)) is None
    with Store.open(path) as store:
        assert store.state_of(key_of(0)) == "done"


def test_the_table_has_a_column_for_everything(path):
    rows = [
        done(0, varied={"platform.seed": 1, "seed": 5, "hosts": [1, 2], "exact": True}),
        done(
            1,
            varied={"platform.seed": 2**40, "variation": "large"},
            metrics=(Metric("makespan", math.nan, "s"), Metric("status", "odd"), Metric("up", 2)),
            best=Best("makespan", 3.0, "bound"),
        ),
        failed(2, "no host", "wall_limit", varied={"platform.seed": 3}),
    ]
    campaign = stored(path, *rows)
    table = simplugin.campaigns.results(path)
    names = "campaign position key status platform.seed varied.seed hosts exact variation"
    names += " makespan tasks metric.status up optimum bound gap seed duration started place"
    names += " attempts failure error simplugin simgrid digest"
    assert " ".join(table.columns) == names
    assert table.attrs["units"] == {"makespan": "s", "tasks": "", "metric.status": "", "up": ""}
    assert list(table["platform.seed"]) == [1, 2**40, 3]
    assert table["platform.seed"].dtype == "int64"
    assert table["varied.seed"].dtype == "Int64"
    first, second, third = (line for _, line in table.iterrows())
    assert first["exact"] is True
    found = [first[name] for name in ("hosts", "makespan", "optimum", "gap", "seed")]
    assert found == ["[1,2]", 0.1, 0.1, 0.0, 0]
    found = [second[name] for name in ("bound", "seed", "digest")]
    assert found == [3.0, 1, key_of(1, "digest")]
    assert (third["failure"], third["error"]) == ("wall_limit", "no host")
    assert table["makespan"].isna().tolist() == [False, True, True]
    assert list(table["status"]) == ["done", "done", "failed"]
    assert set(table["simgrid"]) == {"4.1.0"}
    # Each metric is what the record has.
    with StoreReader(path) as reader:
        for record, (_, line) in zip(records_of(reader), table.iterrows(), strict=True):
            flat = record.measured.row.flat() if record.measured else {}
            for name, value in flat.items():
                cell = line.get(f"metric.{name}", line.get(name))
                assert cell == value or (pd.isna(cell) and (value is None or value != value))
    assert len(simplugin.campaigns.results(path, campaign)) == 3


def test_the_arguments_of_a_recipe_are_not_stored(path):
    source = Source(recipe={"document": {"sweep": [1, 2]}, "limit": math.inf})
    for number in range(2):
        stored(path, done(number), source=source)
    with StoreReader(path) as reader:
        bare = [replace(job(number), arguments={}) for number in range(2)]
        assert [record.job for record in records_of(reader)] == bare
        assert value_of(reader.latest().recipe) == source.recipe


@given(VALUES)
def test_json_comes_back_to_the_last_bit(value):
    text = text_of(value)
    # Texts tell values apart to the last bit, types and orders of keys included; NaN is like NaN.
    assert repr(value_of(text)) == repr(value)
    # Any reader of JSON understands it.
    json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))


def test_what_stands_for_nan_and_what_is_refused():
    assert text_of([math.nan, math.inf, -math.inf]) == '[{"$float":"nan"},1e999,-1e999]'
    arrays = {"a": np.float64(0.1), "b": (np.int64(2), np.array([1.5]))}
    assert text_of(arrays) == '{"a":0.1,"b":[2,[1.5]]}'
    with raises_naming(StoreError, "{1, 2}"):
        text_of({"a": {1, 2}})
    with raises_naming(StoreError, "'$float'"):
        text_of({"$float": "nan"})


def test_similar_documents_cost_only_the_difference():
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(script())
        texts = TextWriter(connection)
        whole = {"options": {str(n): f"value {n}" for n in range(100)}, "seed": 0, "until": None}
        for seed in range(50):
            difference = f'{{"seed":{seed}}}' if seed else "{}"
            assert texts.packed(whole | {"seed": seed}) == (1, difference)
        # Another order of keys is another document; 1 and 1.0 differ.
        assert texts.packed({"seed": 0, "until": None, "options": {}})[0] == 2
        assert texts.packed({"seed": 0.0, "until": None, "options": {}}) == (2, '{"seed":0.0}')
        # What the store has is found again.
        texts.forget()
        assert texts.packed(whole) == (1, "{}")
