"""What goes into a store comes out of it."""

import math
import sqlite3
from contextlib import closing
from dataclasses import replace

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stored_runs import VERSIONS, Source, done, failed, job, key_of, records_of

import simplugin.campaigns
from simplugin.campaigns.jobs import Failure, Job, Measured, Record
from simplugin.campaigns.store import Store, StoreReader
from simplugin.campaigns.store.documents import value_of
from simplugin.errors import StoreError
from simplugin.rows import Best, Metric, Row

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=4,
)
DOCUMENT = st.dictionaries(st.text(max_size=3), JSON, max_size=2)
# Error messages hold whatever a process printed, half characters too.
TEXT = st.text(st.characters(exclude_categories=()), max_size=20)


@st.composite
def records(draw, number):
    metrics = tuple(
        Metric(name, draw(st.floats() | st.integers() | st.none() | st.text(max_size=3)), "s")
        for name in draw(st.lists(st.sampled_from(["makespan", "seed", "gap"]), unique=True))
    )
    best = None
    if metrics:
        proof = draw(st.sampled_from(["optimum", "bound"]))
        best = draw(st.none() | st.builds(Best, st.just(metrics[0].name), st.floats()))
        best = best and replace(best, proof=proof)
    measured = failure = None
    if draw(st.booleans()):
        row = Row(metrics, draw(DOCUMENT), best)
        measured = Measured(row, draw(st.none() | st.just("d")), draw(st.none() | DOCUMENT))
    else:
        kind = draw(st.sampled_from(["error", "crash", "wall_limit", "memory_limit"]))
        failure = Failure(kind, draw(TEXT))
    whole = Job(key_of(number), number, "numbers:run", draw(DOCUMENT), draw(DOCUMENT))
    return Record(whole, measured, failure, "2026-11-22T05:00:00+00:00", 0.1, "here:1", VERSIONS)


def told(value):
    """Return what tells values apart to the last bit, NaN like NaN."""
    return repr(value)


@settings(max_examples=25)
@given(st.data())
def test_records_come_back_to_the_last_bit(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("stores") / "store.sqlite"
    given_ = [data.draw(records(number)) for number in range(data.draw(st.integers(1, 4)))]
    with Store.open(path) as store:
        campaign = store.begin(Source())
        for record in given_:
            store.append(campaign, record)
    with StoreReader(path) as reader:
        found = records_of(reader, campaign)
        for before, after in zip(given_, found, strict=True):
            if before.failure is not None:  # what cannot be written is escaped
                text = before.failure.text.encode("utf-8", "backslashreplace").decode()
                before = replace(before, failure=replace(before.failure, text=text))
            assert told(after) == told(before)
            assert reader.state_of(before.job.key) == ("failed" if before.failure else "done")
        kept = [
            r.measured.contents for r in given_ if r.measured and r.measured.contents is not None
        ]
        assert told([contents for _, contents in reader.contents()]) == told(kept)
        table = reader.frame(campaign)
        assert len(table) == len(given_)


def test_a_key_is_done_once_any_attempt_is(tmp_path):
    path = tmp_path / "store.sqlite"
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
        assert list(every.itertuples(index=False, name=None)) == [
            (1, 1, "first"),
            (1, 2, "second"),
            (1, 3, ""),
            (1, 4, "too late"),
            (2, 1, "first"),
            (2, 2, "second"),
        ]
        assert list(reader.frame()["attempts"]) == [3, 2]


def test_campaigns_share_what_is_recorded(tmp_path):
    path = tmp_path / "store.sqlite"
    one, two = Source(3), Source(4, identity=key_of("other"), title="More")
    with Store.open(path) as store:
        assert store.begin(one) == 1
        for number in range(3):
            store.append(1, done(number))
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
        assert (second.number, second.title, second.total) == (2, "More", 4)
        assert (second.done, second.failed, second.missing) == (3, 0, 1)
        assert second.text == two.text
        assert reader.latest() == second
        assert [record.job for record in records_of(reader, 2)] == [
            moved,
            job(7, position=1, varied={"case": "c"}),
            job(7, position=2, varied={"case": "d"}),
        ]
        assert records_of(reader, 1) == [done(0), done(1), done(2)]
        assert len(records_of(reader)) == 6
        with pytest.raises(StoreError, match=r"no campaign 3 .*are 1 \(Numbers\), 2 \(More\)"):
            list(reader.runs(3))
        with pytest.raises(StoreError, match="no campaign 3"):
            list(reader.contents(3))
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("SELECT count(*) FROM runs").fetchone() == (4,)


def test_a_position_follows_the_code(tmp_path):
    """The same campaign with another key at a position: other code, or another file."""
    path = tmp_path / "store.sqlite"
    with Store.open(path) as store:
        campaign = store.begin(Source(1))
        store.append(campaign, done(0))
        store.append(campaign, done(5, position=0))
    with StoreReader(path) as reader:
        assert records_of(reader) == [done(5, position=0)]
        assert reader.latest().done == 1
        # No member any more, but there for a campaign that has it again.
        assert reader.state_of(key_of(0)) == "done"
        assert reader.state_of(key_of(1)) is None
    with Store.open(path) as store:
        assert store.state_of(key_of(0)) == "done"


def test_the_table_has_a_column_for_everything(tmp_path):
    path = tmp_path / "store.sqlite"
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
    with Store.open(path) as store:
        campaign = store.begin(Source())
        for record in rows:
            store.append(campaign, record)
    table = simplugin.campaigns.results(path)
    names = "campaign position key status platform.seed varied.seed hosts exact variation"
    names += " makespan tasks metric.status up optimum bound gap seed duration started place"
    names += " attempts failure error simplugin simgrid digest"
    assert " ".join(table.columns) == names
    assert table.attrs["units"] == {"makespan": "s", "tasks": "", "metric.status": "", "up": ""}
    assert list(table["platform.seed"]) == [1, 2**40, 3]
    assert table["platform.seed"].dtype == "int64"
    assert table["varied.seed"].dtype == "Int64"
    assert table["hosts"].iloc[0] == "[1,2]"
    assert table["exact"].iloc[0] is True
    assert table["makespan"][0] == 0.1
    assert table["makespan"].isna().tolist() == [False, True, True]
    assert table["optimum"].iloc[0] == 0.1
    assert table["bound"].iloc[1] == 3.0
    assert table["gap"].iloc[0] == 0.0
    assert list(table["seed"])[:2] == [0, 1]
    assert list(table["status"]) == ["done", "done", "failed"]
    assert table["failure"].iloc[2] == "wall_limit"
    assert table["error"].iloc[2] == "no host"
    assert set(table["simgrid"]) == {"4.1.0"}
    assert table["digest"][1] == key_of(1, "digest")
    # Each metric is what the record has.
    with StoreReader(path) as reader:
        for record, (_, line) in zip(records_of(reader), table.iterrows(), strict=True):
            flat = record.measured.row.flat() if record.measured else {}
            for name, value in flat.items():
                cell = line.get(f"metric.{name}", line.get(name))
                assert cell == value or (pd.isna(cell) and (value is None or value != value))
    assert len(simplugin.campaigns.results(path, campaign)) == 3


def test_the_arguments_of_a_recipe_are_not_stored(tmp_path):
    path = tmp_path / "store.sqlite"
    source = Source(recipe={"document": {"sweep": [1, 2]}, "limit": math.inf})
    with Store.open(path) as store:
        store.append(store.begin(source), done(0))
    with Store.open(path) as store:
        store.append(store.begin(source), done(1))
    with StoreReader(path) as reader:
        assert [record.job for record in records_of(reader)] == [
            replace(job(number), arguments={}) for number in range(2)
        ]
        assert value_of(reader.latest().recipe) == source.recipe
