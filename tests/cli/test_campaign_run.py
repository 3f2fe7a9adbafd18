"""``simplugin campaign run`` and ``retry``: what they do, tell and return."""

import io
import itertools
import json
import math
import os
import shutil
import signal
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest
from rich.console import Console

from simplugin.campaigns import Campaign, load_campaign, run_campaign
from simplugin.campaigns.running.recorded_campaigns import command_that_goes_on
from simplugin.campaigns.running.reporting import CampaignProgress
from simplugin.campaigns.store import StoreReader, schema
from simplugin.cli import displays
from simplugin.cli.displays import RunsDisplay, duration_text, left_text, progress_text, rate_text
from simplugin.core.errors import ScenarioError, StoreError

NOBODY = 65534
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

# Runs look into a file that is no part of their keys, and fail as it says.
MODULE = """
from pathlib import Path

from simplugin.platforms import Host, Platform, Zone

def platform(number, seed):
    broken = (Path(__file__).parent / "broken.txt").read_text().split()
    if str(number) in broken:
        raise ValueError(f"number {number} is broken\\x1b[31m")
    if "never" in broken:
        while True:
            pass
    return Platform((Zone("site", "Full", (Host("alone", 1e9 * number),)),))

async def work(me):
    await me.execute(6e9)
"""
DEPLOYMENT = """<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><actor host="alone" function="work"/></platform>
"""
CAMPAIGN = """
title = "Three speeds"
[platform]
generator = "mine:platform"
[workload]
kind = "actors"
deployment = "deployment.xml"
functions = { work = "mine:work" }
[sweep]
platform.parameters.number = [1, 2, 3]
platform.seed = { from = 1, to = 2 }
"""
VARIED = [
    {"platform.parameters.number": number, "platform.seed": seed}
    for number, seed in itertools.product((1, 2, 3), (1, 2))
]


@pytest.fixture
def campaign(tmp_path):
    files = {"mine.py": MODULE, "broken.txt": "2 3", "deployment.xml": DEPLOYMENT}
    for name, text in (files | {"speeds.toml": CAMPAIGN}).items():
        (tmp_path / name).write_text(text)
    return tmp_path / "speeds.toml"


def test_what_fails_is_told_and_retried(campaign, simplugin, monkeypatch):
    handlers = [signal.getsignal(each) for each in SIGNALS]
    told = simplugin("campaign", "run", "speeds.toml", "--dry-run", cwd=campaign.parent)
    title, recorded, *runs, more = told.stdout.splitlines()
    assert (title, more) == ("Three speeds: 6 runs", "  ... and 3 more")
    assert recorded == "0 recorded in speeds.sqlite, which is not there yet"
    pairs = enumerate([(1, 1), (1, 2), (2, 1)])
    text = "  run {}: platform.parameters.number = {}, platform.seed = {}"
    assert runs == [text.format(at, *pair) for at, pair in pairs]
    assert not (campaign.parent / "speeds.sqlite").exists()

    told = simplugin("campaign", "run", "speeds.toml", "-j", 1, cwd=campaign.parent, status=1)
    failures, _, rest = told.stdout.partition("2 of 6 runs done, 4 failed, 0 of them recorded")
    assert failures.startswith("4 runs failed (error):\n")
    assert "number 2 is broken" in failures
    assert "  run 5: platform.parameters.number = 3, platform.seed = 2\n" in failures
    assert "store: speeds.sqlite; log: speeds.sqlite.log\n" in rest
    assert rest.endswith("by: simplugin campaign run speeds.toml --retry-failed\n")
    # What would steer a terminal is shown.
    assert r"is broken\x1b[31m" in failures
    status = simplugin("campaign", "status", campaign)
    assert r"is broken\x1b[31m" in status.stdout
    log = campaign.with_name("speeds.sqlite.log")
    assert "\x1b" not in told.stdout + status.stdout + log.read_text()
    assert told.stderr.startswith("2 of 6 done, 4 failed, ")
    assert told.stderr.endswith("; 1 process of this host\n")
    assert [signal.getsignal(each) for each in SIGNALS] == handlers

    # Of what failed, two can be had now; what is done is not touched.
    (campaign.parent / "broken.txt").write_text("3 1")
    told = simplugin(
        "campaign", "retry", campaign.with_suffix(".sqlite"), "-j", 1, "--json", status=1
    )
    document = json.loads(told.stdout)
    counts = [document[name] for name in ("total", "done", "failed", "missing", "before")]
    assert counts == [4, 2, 2, 0, 0]
    (group,) = document["failures"]
    assert (group["kind"], group["count"]) == ("error", 2)
    assert [each["varied"] for each in group["first"]] == VARIED[4:]

    (campaign.parent / "broken.txt").write_text("")
    told = simplugin("campaign", "retry", campaign, "-j", 1)
    assert (told.returncode, told.stdout.partition(",")[0]) == (0, "2 of 2 runs done")
    monkeypatch.setattr(schema, "network_file_system", lambda store: store.name)
    told = simplugin("campaign", "run", campaign, "--json", status=0)
    assert json.loads(told.stdout)["before"] == 6
    warning, *_, last = told.stderr.splitlines()
    assert "speeds.sqlite is on a network file system (speeds.sqlite)" in warning
    assert last.endswith("; nothing to run")

    # 6 Gflop take 6 s / speed.
    told = simplugin("campaign", "query", campaign, "SELECT makespan FROM results", "--json")
    assert sorted(json.loads(told.stdout)["rows"]) == [[2.0], [2.0], [3.0], [3.0], [6.0], [6.0]]

    events = " ".join(line.split()[1] for line in log.read_text().splitlines())
    assert events == " ".join("begun " + "run " * runs + "ended:" for runs in (6, 4, 2, 0))


def test_a_retry_has_the_limits_that_the_file_has_now(campaign, simplugin, tmp_path):
    (tmp_path / "broken.txt").write_text("never")
    limited = CAMPAIGN.replace("[sweep]", "[campaign]\nwall_limit = 0.1\n\n[sweep]")
    limited = limited.replace("[1, 2, 3]", "[1]").replace("to = 2", "to = 1")
    campaign.write_text(limited)
    store = ("--store", tmp_path / "other.sqlite")
    told = simplugin("campaign", "run", campaign, *store, "-j", 1, status=1)
    assert "stopped after 0.1 s" in told.stdout
    again = f"simplugin campaign run {campaign} --retry-failed --store {store[1]}\n"
    assert told.stdout.endswith(again)
    # The limit of before holds no more, whichever way it is retried.
    (tmp_path / "broken.txt").write_text("3")
    for places in ((store[1],), (campaign, *store)):
        campaign.write_text(limited.replace("0.1", "50"))
        told = simplugin("campaign", "retry", *places, "-j", 1, status=0)
    with StoreReader(store[1]) as reader:
        (run,) = reader.runs()
    assert (run.attempt, run.record.failure) == (2, None)
    told = simplugin("campaign", "status", campaign, *store, "--json")
    assert json.loads(told.stdout)["campaigns"][0]["done"] == 1


def test_the_command_that_goes_on_names_a_store_that_its_file_does_not(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file, others = Path("my trees.toml"), Path("others.sqlite")
    file.write_text('campaign.store = "others.sqlite"\n[nothing.known]\n')
    plain = "simplugin campaign run 'my trees.toml'"
    assert command_that_goes_on(file, others) == plain
    assert command_that_goes_on(file, others.resolve(), "--json") == f"{plain} --json"
    default = file.with_suffix(".sqlite")
    assert command_that_goes_on(file, default) == f"{plain} --store 'my trees.sqlite'"
    file.write_text("")
    assert command_that_goes_on(file, default) == plain
    file.unlink()  # nobody knows what will be there
    assert command_that_goes_on(file, default) == f"{plain} --store 'my trees.sqlite'"


def test_a_file_that_changes_during_a_run_makes_another_run_of_it(campaign, tmp_path):
    """The run reads one state of the file, its key was made of another one."""
    changing = """    file = Path(__file__).parent / "deployment.xml"
    if seed == 1 and number == 1 and "changed" not in file.read_text():
        file.write_text(file.read_text() + "<!-- changed -->")
"""
    (tmp_path / "mine.py").write_text(MODULE.replace("    broken =", f"{changing}    broken ="))
    (tmp_path / "broken.txt").write_text("")
    campaign.write_text(CAMPAIGN.replace("[1, 2, 3]", "[1]"))
    summary = run_campaign(campaign, jobs=1)
    assert (summary.done, summary.failed) == (2, 0)
    # At least the run that changed the file itself, but also what waited then.
    assert summary.changed in (1, 2)
    after = load_campaign(campaign)
    with StoreReader(campaign.with_suffix(".sqlite")) as reader:
        assert {run.record.job.key for run in reader.runs()} == {job.key for job in after.jobs()}
    assert run_campaign(after).before == 2


def test_what_a_program_may_say(campaign, tmp_path):
    made = Campaign.from_scenario(campaign, wall_limit=None, retries=2)
    assert (made.settings.wall_limit, made.settings.retries) == (math.inf, 2)
    summary = run_campaign(made, jobs=1, stop=lambda: True, retries=0, keep_going=True)
    assert (summary.interrupted, summary.done + summary.failed) == (True, 0)
    with pytest.raises(ScenarioError):
        run_campaign(made, slurm=True)
    user_s = tmp_path / "speeds.sqlite.log"
    user_s.write_text("day,value\n1,2\n")
    with pytest.raises(StoreError) as caught:
        run_campaign(campaign, jobs=1)
    assert caught.value.file == user_s
    assert user_s.read_text() == "day,value\n1,2\n"


@contextmanager
def unwritable(directory):
    """Let nothing be written to a directory and its stores; as root, become nobody for a while."""
    us = os.geteuid()
    for path in directory.glob("*.sqlite*"):
        path.chmod(0o444)
    directory.chmod(0o555)
    os.seteuid(NOBODY if us == 0 else us)
    try:
        yield
    finally:
        os.seteuid(us)
        directory.chmod(0o755)


def test_what_can_be_had_where_nothing_can_be_written(campaign, simplugin):
    (campaign.parent / "broken.txt").write_text("")
    # To where others may look.
    with tempfile.TemporaryDirectory() as place:
        moved = Path(shutil.copytree(campaign.parent, place, dirs_exist_ok=True), campaign.name)
        moved.write_text(CAMPAIGN.replace("[1, 2, 3]", "[3]"))
        assert run_campaign(moved, jobs=1).done == 2
        with unwritable(moved.parent):
            told = simplugin("campaign", "run", moved)
            file = moved.with_suffix(".csv")
            export = simplugin("campaign", "export", moved, "-o", file)
        assert told.returncode == 0, told.stderr
        assert "2 of 2 runs done, 2 of them recorded before" in told.stdout
        assert export.stderr.startswith(f"simplugin: {file}: cannot be written: ")
        assert export.stderr.count("\n") == 1
        moved.write_text(CAMPAIGN)
        with unwritable(moved.parent):
            told = simplugin("campaign", "run", moved)
    assert (told.returncode, told.stdout) == (1, "")
    assert "speeds.sqlite: the store cannot be written" in told.stderr
    assert "choose another file with --store" in told.stderr


def test_what_would_be_another_run_is_not_retried(campaign, simplugin, tmp_path):
    progress = []
    store = tmp_path / "elsewhere" / "x.sqlite"
    summary = run_campaign(campaign, store=store, jobs=1, progress=progress.append)
    assert (summary.done, summary.failed, summary.interrupted) == (2, 4, False)
    assert (progress[-1].done, progress[-1].failed, progress[-1].running) == (2, 4, 0)

    told = simplugin("campaign", "retry", campaign)
    assert "speeds.sqlite: the store does not exist" in told.stderr
    run = ("campaign", "run", campaign, "--store", store)
    told = simplugin(*run, "--dry-run")
    assert (told.stderr, "\n6 recorded in " in told.stdout) == ("", True)
    (tmp_path / "mine.py").write_text(MODULE + "\n# another\n")
    told = simplugin("campaign", "retry", store, status=1)
    assert "run 2 of campaign 1 has another key now" in told.stderr
    # Its file does not name the store.
    assert f"run `simplugin campaign run {campaign} --store {store}`, which" in told.stderr
    for words, remedy in (
        (("campaign", "retry", store, "--slurm"), "name the campaign's file"),
        (("campaign", "retry", store, "--campaign", 3), "there is no campaign 3"),
        ((*run, "--slurm"), "add a table [slurm]"),
    ):
        assert remedy in simplugin(*words).stderr
    told = simplugin(*run, "--dry-run", "--json")
    # What was run is an earlier version now.
    since = "6 runs of an earlier version of this campaign are in the store, the last of campaign 1"
    assert f"{since}; changed since: a file that it depends on, or the code of" in told.stderr
    campaign.write_text(CAMPAIGN.replace("to = 2", "to = 3"))
    other = simplugin(*run, "--dry-run")
    assert f"{since}; changed since: speeds.toml; unchanged" in other.stderr
    document = json.loads(told.stdout)
    assert (document["total"], document["recorded"]) == (6, 0)
    assert document["first"] == VARIED[:3]


def test_rates_and_durations_are_told_in_a_unit_that_suits():
    rates = {12.345: "12.3 runs/s", 1: "1 runs/s", 0.5: "30 runs/min", 0.01: "36 runs/h"}
    assert {rate: rate_text(rate) for rate in rates} == rates
    texts = {0.5: "0.5 s", 89: "89 s", 90: "1.5 min", 5400: "1.5 h", 2e5: "2.31 days"}
    assert {seconds: duration_text(seconds) for seconds in texts} == texts


def test_time_left_is_as_exact_as_it_is_known():
    texts = {(10, 20): "10 to 20 s", (60.2, 60.4): "60 s", (200, 400): "3.3 to 6.7 min"}
    texts[86400, 3 * 86400] = "1 to 3 days"
    assert {times: left_text(*times) for times in texts} == {
        times: f"{text} left" for times, text in texts.items()
    }


def progress_at(done, rate=2.0, left=(4.0, 6.0)):
    return CampaignProgress(10, done, 1, 0, 2, 5.0, rate, left, "2 processes")


def test_progress_is_a_line_now_and_then_where_there_is_no_terminal(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(displays, "monotonic", lambda: now[0])
    stream = io.StringIO()
    with RunsDisplay(Console(file=stream, width=30)) as display:
        for done in range(10):
            display.report(progress_at(done))
            now[0] += 16.0
    texts = [(n, "4 to 6 s left") for n in (2, 4, 6, 8)]
    assert stream.getvalue().splitlines() == [
        f"{done} of 10 done, 1 failed, 2 under way, 2 runs/s, {rest}; 2 processes"
        for done, rest in [*texts, (9, "in 5 s")]
    ]
    assert "time left unknown" in progress_text(progress_at(3, rate=0.0, left=None))


def test_progress_is_a_bar_on_a_terminal():
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=120, color_system=None)
    with RunsDisplay(console) as display:
        display.report(progress_at(4))
    assert "━" in stream.getvalue()
    assert "4 of 10 done, 1 failed, 2 under way, 2 runs/s, 4 to 6 s left" in stream.getvalue()
