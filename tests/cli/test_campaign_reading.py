"""`simplugin campaign status`, `export` and `query`."""

import csv
import io
import json
import math
import shutil
import signal
import sqlite3
import sys
from contextlib import closing

import pandas as pd
import pytest
from stored_runs import Source

from simplugin.campaigns import load_campaign, results
from simplugin.campaigns.jobs import Failure, RunJob, RunRecord
from simplugin.campaigns.store import Store, StoreReader
from simplugin.campaigns.store.reading import export
from simplugin.campaigns.store.tables import Query
from simplugin.core.errors import SetupError
from simplugin.results.row import Best, Metric, Row, RunResult

CAMPAIGN = """
title = "Three tasks"
campaign.store = "results.sqlite"
platform = { generator = "peer_site", parameters = { speed = ["1Gf"], bandwidth = ["100MBps"] } }
workload = { kind = "bundles", bundles = [{ flop = "1Gf", count = 3 }] }
scheduler.name = "market.optimum"
"""
# Of which the shortest decimal has 17 digits.
AWKWARD = 0.1 + 0.2


def two_schedulers(**changes):
    return Source(**{"total": 9, "identity": "1" * 64, "title": "Two schedulers"} | changes)


def record(number, makespan=None, failure=None, seconds=0):
    scheduler = ("bags.fcfs", "bags.prices")[number % 2]
    varied = {"platform.seed": number // 2, "scheduler.name": scheduler}
    job = RunJob(f"{number:064}", number, "lab:run", {"n": number}, varied)
    metrics = (Metric("makespan", makespan, "s"), Metric("fits", number % 2 == 0))
    row = Row(metrics, {"seed": number}, Best("makespan", 1.0, "bound"))
    measured = None if failure else RunResult(row, f"{number:064}")
    started = f"2026-11-22T05:00:{seconds:02}+00:00"
    versions = {"simplugin": "0.1.0", "simgrid": "4.1.0"}
    return RunRecord(job, measured, failure, started, 0.5, "here:1", versions)


RECORDS = (
    record(0, 1.5),
    record(1, AWKWARD, seconds=1),
    record(2, math.nan, seconds=2),
    record(3, math.inf, seconds=3),
    record(4, failure=Failure("error", "no host of 3 is up"), seconds=4),
    record(5, failure=Failure("error", "no host of 4 is up"), seconds=5),
    record(6, failure=Failure("wall_limit", "took longer than 2 s"), seconds=6),
    record(7, failure=Failure("crash", "killed by signal 9"), seconds=7),
    record(7, 5e-324, seconds=8),
)


def fill(path, records):
    with Store.open(path) as opened:
        campaign = opened.begin(two_schedulers())
        for each in records:
            opened.append(campaign, each)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("campaign") / "results.sqlite"
    fill(path, RECORDS)
    return path


def test_status_tells_how_far_it_is_and_what_failed(simplugin, store):
    told = simplugin("campaign", "status", store, status=0)
    lines = [line.split() for line in told.stdout.splitlines()]
    assert ["1", "Two", "schedulers", "9", "5", "3", "1", "0.5", "2026-11-22", "05:00"] in lines
    assert "campaign 1: 2 runs failed (error):\n  no host of 3 is up\n" in told.stdout
    assert "run 4: platform.seed = 2, scheduler.name = 'bags.fcfs'" in told.stdout
    assert "campaign 1: 1 run failed (wall limit):\n  took longer than 2 s" in told.stdout
    assert "killed by signal 9" not in told.stdout  # it was tried again
    # Its file stands for the store.
    file = store.with_name("campaign.toml")
    file.write_text(CAMPAIGN)
    assert simplugin("campaign", "status", file).stdout == told.stdout
    document = json.loads(simplugin("campaign", "status", store, "--json").stdout)
    (campaign,) = document["campaigns"]
    assert campaign.items() >= {
        "total": 9, "done": 5, "failed": 3, "missing": 1, "mean_duration": 0.5,
        "first": "2026-11-22T05:00:00+00:00", "last": "2026-11-22T05:00:08+00:00",
    }.items()  # fmt: skip
    assert [group["count"] for group in campaign["failures"]] == [2, 1]


def test_which_campaign_is_shown(simplugin, store, tmp_path):
    """One that grew: the store has it as it was, and as its file has it now, and another one."""
    file, path = tmp_path / "trees.toml", tmp_path / "results.sqlite"
    shutil.copy(store, path)
    file.write_text(CAMPAIGN.replace("Two schedulers", "Three tasks"))
    asked = ("query", file, "SELECT campaign, count(*) FROM results GROUP BY 1", "--csv")
    told = simplugin("campaign", *asked, status=1)
    now = f"the store has no runs of the present version of {file}"
    assert f"{now}; it has campaign 1 (Two schedulers" in told.stderr
    assert f"`simplugin campaign run {file}` does them" in told.stderr
    told = simplugin("campaign", *asked, "--store", store)
    assert f"`simplugin campaign run {file} --store {store}` does them" in told.stderr
    with Store.open(path) as opened:
        now = two_schedulers(identity=load_campaign(file).identity, title="Now")
        number = opened.begin(now)
        for each in (record(0), record(1)):
            opened.note(number, each.job)
        last = two_schedulers(identity="3" * 64, title="Last")
        opened.note(opened.begin(last), record(2).job)
    heading = "campaign,count(*)\n"
    # The file needs not be right for what it names to be looked at, only for what it describes.
    for words, rows, said in (
        ((file,), "2,2\n", "campaign 2 of 3 (Now)"),
        ((path,), "3,1\n", "campaign 3 of 3 (Last)"),
        ((path, "--campaign", "1"), "1,8\n", "campaign 1 of 3 (Two schedulers)"),
        ((path, "--campaign", "all"), "1,8\n2,2\n3,1\n", "all 3 campaigns"),
        ((file, "--store", store, "--campaign", "1"), "1,8\n", ""),
    ):
        told = simplugin("campaign", "query", words[0], *asked[2:], *words[1:])
        assert told.stdout == heading + rows
        assert told.stderr.startswith(f"simplugin: {said}" if said else "")
        assert bool(told.stderr) == bool(said)
        told = simplugin("campaign", "export", words[0], "-o", tmp_path / "x.csv", *words[1:])
        count = sum(int(line.partition(",")[2]) for line in rows.split())
        assert len((tmp_path / "x.csv").read_text().splitlines()) == 1 + count
        assert bool(told.stderr) == bool(said)
    assert (len(results(path)), len(results(path, 1)), len(results(path, "all"))) == (1, 8, 11)
    file.write_text(file.read_text() + "[sweep]\nnowhere.at.all = 1\n")
    told = simplugin("campaign", "query", file, *asked[2:], "--campaign", "1")
    assert told.stdout == heading + "1,8\n"
    told = simplugin("campaign", "query", path, *asked[2:], "--campaign", "two")
    assert "--campaign is 'two'; give the number of a campaign, or all" in told.stderr
    assert "two stores" in simplugin("campaign", "query", path, "x", "--store", path).stderr


def test_ctrl_c_ends_a_query(simplugin, store, monkeypatch):
    """It counts for many seconds in SQLite, which does not look for signals."""
    sql = (
        "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1e8) SELECT count(i) FROM n"
    )
    previous = signal.signal(signal.SIGALRM, signal.default_int_handler)
    run = Query.run

    def interrupted(query, sql):
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        return run(query, sql)

    monkeypatch.setattr(Query, "run", interrupted)
    try:
        told = simplugin("campaign", "query", store, sql)
        assert (told.returncode, told.stderr) == (130, "simplugin: interrupted\n")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


def test_a_query_ends_when_its_time_is_over(simplugin, store):
    endless = "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT {} FROM n"
    for sql in (endless.format("count(i)"), endless.format("i") + " WHERE i < 0"):
        told = simplugin("campaign", "query", store, sql, "--wall-limit", 0.1)
        assert told.returncode == 1
        assert "no answer within 0.1 s; ask for fewer rows" in told.stderr
    told = simplugin("campaign", "query", store, "SELECT 1", "--wall-limit", 0)
    assert "no answer within 0 s" in told.stderr


def test_units_can_be_asked_for(simplugin, store, tmp_path):
    told = simplugin("campaign", "query", store, "SELECT * FROM units", "--csv")
    assert told.stdout == "metric,unit\nmakespan,s\nfits,\n"
    simplugin("campaign", "export", store, "-o", tmp_path / "runs.parquet")
    units = pd.read_parquet(tmp_path / "runs.parquet").attrs["units"]
    assert units == {"makespan": "s", "fits": ""}
    with Store.open(tmp_path / "empty.sqlite"):
        pass
    told = simplugin("campaign", "query", tmp_path / "empty.sqlite", "SELECT * FROM units", "--csv")
    assert told.stdout == "metric,unit\n"


def test_csv_loses_nothing(simplugin, store, tmp_path):
    file = tmp_path / "new" / "runs.csv"
    told = simplugin("campaign", "export", store, "-o", file, "--campaign", 1, status=0)
    assert told.stdout == f"wrote {file}: 8 rows of 21 columns\n"
    lines = list(csv.DictReader(io.StringIO(file.read_text())))
    makespans = ["1.5", "0.30000000000000004", "nan", "inf", "", "", "", "5e-324"]
    assert [line["makespan"] for line in lines] == makespans
    assert [line["scheduler.name"] for line in lines] == ["bags.fcfs", "bags.prices"] * 4
    assert [line["status"] for line in lines] == ["done"] * 4 + ["failed"] * 3 + ["done"]
    assert lines[7]["attempts"] == "2"
    assert lines[1]["gap"] == repr(AWKWARD - 1)
    # The file is replaced as a whole, and every attempt can be had.
    told = simplugin("campaign", "export", store, "-o", file, "--all-attempts", "--json")
    assert json.loads(told.stdout) == {"file": str(file), "rows": 9, "columns": 21}
    lines = list(csv.DictReader(io.StringIO(file.read_text())))
    assert [line["error"] for line in lines[7:]] == ["killed by signal 9", ""]
    assert list(file.parent.iterdir()) == [file]


def test_parquet_is_the_table(simplugin, store, tmp_path):
    file = tmp_path / "runs.parquet"
    simplugin("campaign", "export", store, "-o", file, status=0)
    with StoreReader(store) as reader:
        table = reader.frame()
    pd.testing.assert_frame_equal(pd.read_parquet(file), table, check_dtype=False)
    assert pd.read_parquet(file)["makespan"].iloc[1] == AWKWARD


def test_parquet_has_integers_beyond_64_bits_as_texts(tmp_path):
    store, file = tmp_path / "results.sqlite", tmp_path / "runs.parquet"
    fill(store, (record(0, 2**70), record(2, 3), RECORDS[4]))
    assert export(store, file)[0] == 3
    found = pd.read_parquet(file)
    assert list(found["makespan"])[:2] == [str(2**70), "3"]
    assert found["makespan"].isna().tolist() == [False, False, True]
    assert list(found["position"]) == [0, 2, 4]


def test_parquet_without_pyarrow(simplugin, store, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    told = simplugin("campaign", "export", store, "-o", tmp_path / "runs.parquet", status=1)
    assert "pip install 'simplugin[parquet]', or export to .csv" in told.stderr
    assert SetupError.__name__ not in told.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_query_sees_the_columns_of_the_table(simplugin, store):
    sql = 'SELECT "scheduler.name", count(*) AS runs, min(makespan) FROM results'
    sql += " WHERE status = 'done' GROUP BY 1 ORDER BY 1"
    columns, rows = json.loads(simplugin("campaign", "query", store, sql, "--json").stdout).values()
    assert columns == ["scheduler.name", "runs", "min(makespan)"]
    assert rows == [["bags.fcfs", 2, 1.5], ["bags.prices", 3, 5e-324]]
    shown = simplugin("campaign", "query", store, sql).stdout.splitlines()
    assert shown[0].split() == columns
    assert shown[1].split() == ["bags.fcfs", "2", "1.5"]
    # All of it, to the last bit.
    answer = simplugin("campaign", "query", store, "SELECT * FROM results", "--json")
    document = json.loads(answer.stdout)
    with StoreReader(store) as reader:
        table = reader.frame()
    assert document["columns"] == list(table.columns)
    for line, (_, expected) in zip(document["rows"], table.iterrows(), strict=True):
        for cell, wanted in zip(line, expected, strict=True):
            assert cell == wanted or (cell is None and pd.isna(wanted))


def test_a_query_as_csv_and_of_the_tables_themselves(simplugin, store):
    sql = "SELECT hex(key), count(*), max(failure) FROM runs GROUP BY key HAVING count(*) > 1"
    answer = simplugin("campaign", "query", store, sql, "--csv")
    assert answer.stdout == f"hex(key),count(*),max(failure)\n{7:064},2,crash\n"
    # Any SQLite can read the arguments.
    with closing(sqlite3.connect(store)) as connection:
        whole = connection.execute("SELECT arguments FROM members ORDER BY position").fetchall()
    assert [json.loads(text)["n"] for (text,) in whole] == list(range(8))


WRONG_QUERIES = [
    ("SELECT makspan FROM results", "makspan (did you mean 'makespan'?); columns of"),
    ("SELECT * FROM result", "no such table: result (did you mean 'results'"),
    ("SELECT FROM", "syntax error; columns of results are campaign, position, key, status"),
    ("DELETE FROM runs", "a query can only read"),
    ("VACUUM INTO 'copy.sqlite'", "a query can only read"),
    ("ATTACH 'other.sqlite' AS other", "a query can only read"),
    ("PRAGMA user_version = 7", "a query can only read"),
    ("SELECT 1; SELECT 2", "a query is one statement"),
    ("", "the query returns no columns"),
]


@pytest.mark.parametrize(("sql", "message"), WRONG_QUERIES)
def test_queries_that_are_refused(simplugin, store, tmp_path, sql, message):
    before = store.read_bytes()
    assert message in simplugin("campaign", "query", store, sql, cwd=tmp_path, status=1).stderr
    assert store.read_bytes() == before
    assert list(tmp_path.iterdir()) == []


WRONG = [
    (["status", "no.sqlite"], "no.sqlite: the store does not exist; 'simplugin campaign run"),
    (["export", "{store}", "-o", "runs.xls"], "runs.xls: tables are written as .csv or .parq"),
    (["export", "{store}", "-o", "runs.csv", "--campaign", "2"], "there is no campaign 2"),
    (["query", "{store}", "SELECT 1", "--csv", "--json"], "--csv and --json exclude"),
]


@pytest.mark.parametrize(("words", "message"), WRONG)
def test_what_cannot_be_done_is_told(simplugin, store, tmp_path, words, message):
    told = simplugin(
        "campaign", *(word.format(store=store) for word in words), cwd=tmp_path, status=1
    )
    assert message in told.stderr
    assert list(tmp_path.iterdir()) == []
