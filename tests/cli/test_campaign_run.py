"""``simplugin campaign run`` and ``retry``: what they do, tell and return."""

import io
import json
import signal

import pytest
from rich.console import Console

from simplugin.campaigns import run_campaign
from simplugin.campaigns.running.progress_of_runs import Progress
from simplugin.cli.campaign import running_display
from simplugin.cli.campaign.running_display import (
    RunsDisplay,
    duration_text,
    left_text,
    progress_text,
    rate_text,
)

# Runs look into a file that is no part of their keys, and fail as it says.
MODULE = """
from pathlib import Path

from simplugin.platforms import Host, Platform, Zone


def platform(number, seed):
    broken = (Path(__file__).parent / "broken.txt").read_text().split()
    if str(number) in broken:
        raise ValueError(f"number {number} is broken")
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
    for number in (1, 2, 3)
    for seed in (1, 2)
]


@pytest.fixture
def campaign(tmp_path):
    (tmp_path / "mine.py").write_text(MODULE)
    (tmp_path / "broken.txt").write_text("2 3")
    (tmp_path / "deployment.xml").write_text(DEPLOYMENT)
    (tmp_path / "speeds.toml").write_text(CAMPAIGN)
    return tmp_path / "speeds.toml"


def test_what_fails_is_told_and_retried(campaign, simplugin):
    handlers = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    told = simplugin("campaign", "run", "speeds.toml", "--dry-run", cwd=campaign.parent)
    assert told.stdout.splitlines() == [
        "Three speeds: 6 runs",
        "0 recorded in speeds.sqlite, which is not there yet",
        "  run 0: platform.parameters.number = 1, platform.seed = 1",
        "  run 1: platform.parameters.number = 1, platform.seed = 2",
        "  run 2: platform.parameters.number = 2, platform.seed = 1",
        "  ... and 3 more",
    ]
    assert not (campaign.parent / "speeds.sqlite").exists()

    told = simplugin("campaign", "run", "speeds.toml", "-j", 1, cwd=campaign.parent)
    assert told.returncode == 1
    failures, _, rest = told.stdout.partition("2 of 6 runs done, 4 failed, 0 of them recorded")
    assert failures.startswith("4 runs failed (error):\n")
    assert "number 2 is broken" in failures
    assert "  run 5: platform.parameters.number = 3, platform.seed = 2\n" in failures
    assert "store: speeds.sqlite; log: speeds.log\n" in rest
    assert "simplugin campaign retry speeds.sqlite" in rest
    assert told.stderr.startswith("2 of 6 done, 4 failed, ")
    assert told.stderr.endswith("; 1 process of this host\n")
    assert [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)] == (
        handlers
    )

    # Of what failed, two can be had now; what is done is not touched.
    (campaign.parent / "broken.txt").write_text("3 1")
    told = simplugin("campaign", "retry", campaign.with_suffix(".sqlite"), "-j", 1, "--json")
    assert told.returncode == 1
    document = json.loads(told.stdout)
    counts = [document[name] for name in ("total", "done", "failed", "missing", "before")]
    assert counts == [4, 2, 2, 0, 0]
    (group,) = document["failures"]
    assert (group["kind"], group["count"]) == ("error", 2)
    assert [each["varied"] for each in group["first"]] == VARIED[4:]

    (campaign.parent / "broken.txt").write_text("")
    told = simplugin("campaign", "retry", campaign, "-j", 1)
    assert (told.returncode, told.stdout.partition(",")[0]) == (0, "2 of 2 runs done")
    told = simplugin("campaign", "run", campaign, "--json")
    assert told.returncode == 0
    assert json.loads(told.stdout)["before"] == 6
    assert told.stderr.endswith("; nothing to run\n")

    # 6 Gflop take 6 s / speed.
    told = simplugin("campaign", "query", campaign, "SELECT makespan FROM results", "--json")
    assert sorted(json.loads(told.stdout)["rows"]) == [[2.0], [2.0], [3.0], [3.0], [6.0], [6.0]]

    events = [line.split()[1] for line in campaign.with_suffix(".log").read_text().splitlines()]
    runs = ["run"]
    assert events == [
        *("begun", *runs * 6, "ended:", "begun", *runs * 4, "ended:"),
        *("begun", *runs * 2, "ended:", "begun", "ended:"),
    ]


def test_what_would_be_another_run_is_not_retried(campaign, simplugin, tmp_path):
    progress = []
    store = tmp_path / "elsewhere" / "x.sqlite"
    summary = run_campaign(campaign, store=store, jobs=1, progress=progress.append)
    assert (summary.done, summary.failed, summary.interrupted) == (2, 4, False)
    assert (progress[-1].done, progress[-1].failed, progress[-1].running) == (2, 4, 0)

    told = simplugin("campaign", "retry", campaign)
    assert "speeds.sqlite: there is no such store" in told.stderr
    (tmp_path / "mine.py").write_text(MODULE + "\n# another\n")
    told = simplugin("campaign", "retry", store)
    assert told.returncode == 1
    assert "run 2 of campaign 1 would be another one now" in told.stderr
    assert f"run simplugin campaign run {campaign}" in told.stderr
    told = simplugin("campaign", "retry", store, "--slurm")
    assert "name the campaign's file" in told.stderr
    told = simplugin("campaign", "run", campaign, "--store", store, "--slurm")
    assert "add a table [slurm]" in told.stderr
    told = simplugin("campaign", "run", campaign, "--store", store, "--dry-run", "--json")
    document = json.loads(told.stdout)
    assert (document["total"], document["recorded"]) == (6, 0)
    assert document["first"] == VARIED[:3]
    told = simplugin("campaign", "retry", store, "--campaign", 3)
    assert "there is no campaign 3" in told.stderr


@pytest.mark.parametrize(
    ("rate", "text"),
    [(12.345, "12.3 runs/s"), (1, "1 runs/s"), (0.5, "30 runs/min"), (0.01, "36 runs/h")],
)
def test_rates_are_numbers_above_one(rate, text):
    assert rate_text(rate) == text


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (10, 20, "10 to 20 s left"),
        (60.2, 60.4, "60 s left"),
        (200, 400, "3.3 to 6.7 min left"),
        (7200, 7210, "2 h left"),
        (86400, 3 * 86400, "1 to 3 days left"),
    ],
)
def test_time_left_is_as_exact_as_it_is_known(low, high, text):
    assert left_text(low, high) == text


def test_durations_are_told_in_a_unit_that_suits():
    assert [duration_text(each) for each in (0.5, 89, 90, 5400, 2e5)] == [
        *("0.5 s", "89 s", "1.5 min", "1.5 h", "2.31 days")
    ]


def progress_at(done, rate=2.0, left=(4.0, 6.0)):
    return Progress(
        total=10,
        done=done,
        failed=1,
        before=0,
        running=2,
        seconds=5.0,
        rate=rate,
        left=left,
        runners="2 processes",
    )


def test_progress_is_a_line_now_and_then_where_there_is_no_terminal(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(running_display, "monotonic", lambda: now[0])
    stream = io.StringIO()
    with RunsDisplay(Console(file=stream, width=30)) as display:
        for done in range(10):
            display.report(progress_at(done))
            now[0] += 16.0
    assert stream.getvalue().splitlines() == [
        f"{done} of 10 done, 1 failed, 2 under way, 2 runs/s, {rest}; 2 processes"
        for done, rest in [
            *((n, "4 to 6 s left") for n in (2, 4, 6, 8)),
            (9, "in 5 s"),
        ]
    ]
    assert "time left unknown" in progress_text(progress_at(3, rate=0.0, left=None))


def test_progress_is_a_bar_on_a_terminal():
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=120, color_system=None)
    with RunsDisplay(console) as display:
        display.report(progress_at(4))
    assert "━" in stream.getvalue()
    assert "4 of 10 done, 1 failed, 2 under way, 2 runs/s, 4 to 6 s left" in stream.getvalue()
