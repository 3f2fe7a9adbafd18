"""Scenarios whose applications negotiate prices, in rounds or while hosts and links change."""

import math

import numpy as np
import pytest
from changed_scenarios import change, cut, listing, refused, run

from simplugin.formats.platform_xml import read_platform, write_platform
from simplugin.platforms import Platform, Profile, ProfileUse
from simplugin.platforms.graphs import Graph

SCENARIO = """
title = "Two share a line"
[platform]
file = "line.xml"
[workload]
kind = "fair_sharing"
[[workload.applications]]
name = "x"
master = "a"
flop = "1kf"
byte = 10
[[workload.applications]]
name = "y"
master = "c"
flop = 2000.0
byte = "20B"
weight = 3.0
[scheduler]
name = "pricing.market"
parameters = { rounds = 40 }
[simulation.options]
network_model = "CM02"
crosstraffic = false
tcp_gamma = 0.0
"""
# Links are wide: x and y share 8 Mflop/s by their weights, 1 to 3.
X, Y = 8e6 * 1 / 4 / 1e3, 8e6 * 3 / 4 / 2e3
OPTIMUM = math.log(X) + 3 * math.log(Y)


def written(directory):
    """Write a scenario on three hosts in a line."""
    graph = Graph.duplex("abc", np.array([1e6, 4e6, 3e6]), np.array([(0, 1), (1, 2)]), [1e8, 1e8])
    write_platform(graph.platform(), directory / "line.xml")
    (directory / "line.toml").write_text(SCENARIO)
    return directory / "line.toml"


@pytest.fixture
def line(tmp_path):
    return written(tmp_path)


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    return run(written(tmp_path_factory.mktemp("line")))


def test_market_reaches_the_closed_form(outcome):
    row = outcome.row
    assert (row.best.value, row["objective"]) == pytest.approx((OPTIMUM, OPTIMUM), rel=1e-6)
    assert abs(row.gap) < 1e-6
    assert row["worst_error"] < 1e-3
    assert row["rounds"] == 40
    assert 0 < row["rounds_to_5_percent"] <= row["rounds_to_1_percent"] < 40
    assert (row["makespan"], row["actors_killed"]) == (outcome.result.clock, 0)
    assert row["negotiation_bytes"] > 0
    assert row.provenance["options"]["network/model"] == "CM02"
    names = ["objective", "throughputs", "overload", "prices"]
    assert [figure.name for figure in outcome.figures] == names
    titles = ["Applications", "Busiest hosts", "Busiest links", "Convergence"]
    assert [each.title for each in outcome.listings] == titles


def test_applications_stand_beside_their_optimum(outcome):
    found = listing(outcome, "Applications")
    assert found.column("application") == ("x", "y")
    assert found.column("optimum") == pytest.approx((X, Y), rel=1e-7)
    assert found.column("throughput") == pytest.approx((X, Y), rel=1e-3)
    assert found.column("gap") == pytest.approx((0, 0), abs=1e-3)


@pytest.mark.parametrize("name", ["scaled", "unscaled", "market", "market_accelerated"])
def test_every_shipped_method_runs(line, name):
    change(line, "pricing.market", f"pricing.{name}", "rounds = 40", "rounds = 3")
    assert run(line).row["rounds"] == 3


@pytest.mark.parametrize(
    ("steps", "first"),
    [
        ("start_rate = 7.0", (7.0, 7.0)),
        ("start_rate = [7.0, 3.0], host = [0.001, 0.002, 0.003]", (7.0, 3.0)),
    ],
)
def test_steps_are_parameters(line, steps, first):
    change(line, "pricing.market", "pricing.scaled", "rounds = 40", f"rounds = 2, {steps}")
    _, throughputs, *_ = run(line).figures
    # Three agents of each at the start.
    found = [throughputs.series[name][1][0] for name in "xy"]
    assert found == pytest.approx([3 * first[0] / X, 3 * first[1] / Y])


def test_restricted_hosts_and_trees(line):
    change(line, "byte = 10\n", 'byte = 10\nhosts = ["a"]\n')
    path = change(line, "[scheduler]", '[workload.trees]\ny = { b = "c" }\n\n[scheduler]')
    found = listing(run(path), "Applications")
    # x has host a alone, y the others.
    assert found.column("optimum") == pytest.approx((1e6 / 1e3, 7e6 / 2e3), rel=1e-7)


def test_method_of_ones_own(line):
    (line.parent / "mine.py").write_text(
        "from simplugin.pricing import Gradient, StepSizes\n\n\n"
        "def careful(speed):\n    return Gradient(steps=StepSizes(host=speed))\n"
    )
    change(line, "pricing.market", "mine:careful", "rounds = 40", "rounds = 2, speed = 1e-3")
    assert run(line).row["rounds"] == 2


def test_method_without_agents(line):
    (line.parent / "mine.py").write_text("def nothing():\n    return 3\n")
    change(line, "parameters = { rounds = 40 }", "", '"pricing.market"', '"mine:nothing"')
    refused(line, key="scheduler.name")


MARKET, ROUNDS, PARAMETERS = "pricing.market", "rounds = 40", "scheduler.parameters"
# Texts that are replaced by others, the key that is named, and words of the message.
WRONG = [
    ('flop = "1kf"', 'flop = "1kB"', "workload.applications.0.flop", "unknown unit 'kB'"),
    ('name = "y"', 'name = "x"', "workload.applications", "two applications are called 'x'"),
    ('master = "c"', 'master = "d"', "workload.applications.1", "its master 'd' is no host"),
    ("weight = 3.0", "hosts = []", "workload.applications", "application 'y' reaches no host"),
    ("weight = 3.0", 'start = "1m"', "workload.applications.1", "'y' is not there all the time"),
    ('"fair_sharing"', '"fair_sharing"\nalpha = inf', "workload.alpha", "max-min"),
    (ROUNDS, "rounds = 0", f"{PARAMETERS}.rounds", "rounds is 0"),
    (ROUNDS, "roundz = 40", f"{PARAMETERS}.roundz", "did you mean 'rounds'"),
]


@pytest.mark.parametrize(("old", "new", "key", "told"), WRONG)
def test_wrong_applications_and_parameters_are_refused(line, old, new, key, told):
    refused(change(line, old, new), told, key)


@pytest.mark.parametrize("step", ['"big"', "-1.0", "nan", "[1.0, 2.0]", "[1.0, -1.0, 2.0]"])
def test_wrong_steps_are_refused(line, step):
    change(line, MARKET, "pricing.scaled", ROUNDS, f"rounds = 2, host = {step}")
    assert refused(line, "host ").key.startswith(PARAMETERS)


@pytest.mark.parametrize("name", ["b", "a-&gt;b"])
def test_platforms_that_change_are_refused(line, name):
    (line.parent / "off.profile").write_text("1 0\n")
    element = f'id="{name}" '
    change(line.parent / "line.xml", element, f'{element}state_file="off.profile" ')
    refused(line, "must not change; remove it")


def test_scheduler_is_needed(line):
    error = refused(cut(line, "[scheduler]", "[simulation"), "[scheduler] is missing", "workload")
    assert "'pricing.market'" in str(error)


CHANGES = """[[workload.changes]]
date = 8
resource = "b"
capacity = "2Mf"
[[workload.changes]]
date = "12s"
resource = "b"
capacity = 0
"""
PERIODS = 'period = "20ms", until = 16'
# x has all hosts, 8 Mflop/s; then x and y share by their weights, 1 to 3; then b has 2 Mflop/s
# instead of 4; then x has a, y has c.
LAST_X, LAST_Y = 1e6 / 1e3, 3e6 / 2e3


def changing(line):
    """Let an application arrive and a host change."""
    change(line, "weight = 3.0", 'weight = 3.0\nstart = "4s"', "rounds = 40", PERIODS)
    return change(line, "[scheduler]", f"{CHANGES}[scheduler]")


@pytest.fixture
def changes(line):
    return changing(line)


@pytest.fixture(scope="module")
def changed(tmp_path_factory):
    return run(changing(written(tmp_path_factory.mktemp("line"))))


def test_each_change_is_a_line(changed):
    found = listing(changed, "Changes")
    events = ("start", "y arrives", "b has 2 Mflop/s", "b fails")
    assert (found.column("from"), found.column("what changed")) == ((0.0, 4.0, 8.0, 12.0), events)
    near, nearer = found.column("to 5 %"), found.column("to 1 %")
    assert all(0 <= first <= second < 4 for first, second in zip(near, nearer, strict=True))
    periods = found.column("periods to 1 %")
    assert periods == tuple(math.ceil(time / 0.02 - 1e-6) for time in nearer)
    assert max(found.column("worst error at end")) <= 0.01
    assert max(found.column("overload at end")) <= 0.01


def test_the_last_interval_stands_beside_its_optimum(changed):
    found = listing(changed, "Applications")
    assert found.column("optimum") == pytest.approx((LAST_X, LAST_Y), rel=1e-6)
    assert found.column("throughput") == pytest.approx((LAST_X, LAST_Y), rel=1e-2)
    row = changed.row
    assert row.best.value == pytest.approx(math.log(LAST_X) + 3 * math.log(LAST_Y), rel=1e-9)
    assert row["objective"] == pytest.approx(row.best.value, rel=1e-3)
    assert (row["intervals"], row["intervals_within_1_percent"]) == (4, 4)
    assert row["longest_return_to_1_percent"] == max(listing(changed, "Changes").column("to 1 %"))
    hosts = listing(changed, "Busiest hosts")
    prices = dict(zip(hosts.column("host"), hosts.column("price [utility/Gflop]"), strict=True))
    # What is left of the weights' worth: 1 on a, 3 on c.
    assert prices == {"a": pytest.approx(1e3, rel=1e-2), "c": pytest.approx(1e3, rel=1e-2)}
    throughputs, _ = changed.figures
    dates, ratio = throughputs.series["x"]
    # Just after b has half its speed, x still has more than it is to have: 2e3 instead of 1.5e3.
    assert 1.05 < ratio[np.searchsorted(dates, 8.01)] < 1.34


def test_profiles_of_the_platform_are_changes_too(changes):
    # The same as the tables, as profiles in the file.
    file = changes.parent / "line.xml"
    followed = {"SPEED": [(8.0, 0.5)], "HOST_AVAIL": [(12.0, 0.0)]}
    profiles = [Profile.of_points(kind, points) for kind, points in followed.items()]
    uses = [ProfileUse(kind, "b", kind) for kind in followed]
    write_platform(Platform((*read_platform(file).elements, *profiles, *uses)), file)
    refused(changes, "there is a change of 'b', which has a profile", "workload.changes.0.resource")
    found = listing(run(change(changes, CHANGES, "")), "Changes")
    assert found.column("what changed")[2:] == ("b has 2 Mflop/s", "b fails")
    assert None not in found.column("to 1 %")
    change(changes, PERIODS, "rounds = 3", 'start = "4s"\n', "")
    assert "period" in str(refused(changes, "'b' of the platform has a profile"))


def test_the_scaled_rule_follows_slowly(changes):
    row = run(change(changes, "pricing.market", "pricing.scaled")).row
    assert row["objective"] == pytest.approx(row.best.value, rel=0.05)


def test_never_is_a_dash(changes):
    change(changes, MARKET, "pricing.scaled", "until = 16", "until = 13, host = 1e-9, link = 1e-9")
    outcome = run(changes)
    assert None in listing(outcome, "Changes").column("to 1 %")
    assert outcome.row["longest_return_to_1_percent"] is None


def test_an_application_may_end_after_the_run(changes):
    assert run(change(changes, 'start = "4s"', "end = 20")).row["intervals"] == 3


LATER = "scheduler] a parameter period"
WRONG_CHANGES = [
    (PERIODS, "rounds = 9", "workload.applications.1", LATER),
    (PERIODS, "until = 16", f"{PARAMETERS}.until", LATER),
    (PERIODS, "period = 0.02", f"{PARAMETERS}.until", "until' is missing; add it"),
    (PERIODS, f"{PERIODS}, rounds = 3", f"{PARAMETERS}.rounds", "beside a period"),
    (PERIODS, "period = 16, until = 16", f"{PARAMETERS}.until", "not after the first period"),
    (PERIODS, f"{PERIODS}, patience = 0", f"{PARAMETERS}.patience", "patience is 0"),
    (PERIODS, f"{PERIODS}, steps = 3", f"{PARAMETERS}.steps", "takes feasible, patience, period"),
    (PERIODS, "period = 0.02, until = 12", "workload.changes.1.date", "at or after the end"),
    (PERIODS, "period = 1, until = 4", "workload.applications.1.start", "when the run is over"),
    ('"2Mf"', '"2MBps"', "workload.changes.0.capacity", "unknown unit 'MBps'"),
    ('"2Mf"', "inf", "workload.changes.0.capacity", "finite number"),
    ('"b"\ncapacity = 0', '"d"\ncapacity = 0', "workload.changes.1.resource", "'d', which"),
    (MARKET, "pricing.market_accelerated", "scheduler.name", "pricing.market or"),
    ("[simulation.", "[simulation]\nuntil = 3\n[simulation.", "simulation.until", "remove it"),
]


@pytest.mark.parametrize(("old", "new", "key", "told"), WRONG_CHANGES)
def test_wrong_periods_and_changes_are_refused(changes, old, new, key, told):
    refused(change(changes, old, new), told, key)


def test_all_hosts_fail(changes):
    more = [CHANGES.replace('"b"', f'"{name}"').replace('"2Mf"', "1") for name in "abc"]
    refused(change(changes, CHANGES, "".join(more)), "every host fails at some time")
