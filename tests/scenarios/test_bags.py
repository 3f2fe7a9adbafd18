"""Scenarios whose tasks are handed out over a tree."""

import numpy as np
import pytest
from changed_scenarios import change, listing, refused, run

from simplugin.bags.policies.shipped import POLICIES
from simplugin.core.errors import SimulatedTimeLimitError
from simplugin.formats.platform_xml import write_platform
from simplugin.platforms.graphs import Graph

SCENARIO = """
title = "Two bags on a line"
[platform]
file = "line.xml"
[workload]
kind = "bags"
[[workload.applications]]
name = "x"
master = "a"
flop = "1Mf"
byte = 10
count = 60
[[workload.applications]]
name = "y"
master = "a"
flop = 2e6
byte = "20B"
count = 180
weight = 3.0
[scheduler]
name = "bags.lp"
parameters = { buffer = 6 }
[simulation.options]
network_model = "CM02"
crosstraffic = false
tcp_gamma = 0.0
[output]
gantt = "gantt.png"
"""
SPEED = np.array([1e6, 4e6, 3e6])
# Links are wide: the CPUs bound x and y, whose throughputs are 1 to 3.
FAIR = SPEED.sum() / (1e6 + 3 * 2e6)
POLICY = """
from simplugin.bags import BagPolicy, servable

def smallest(state):
    return min(servable(state), key=lambda pair: state.known.flop[pair[1]], default=None)

def smallest_first(tree, bags, name="smallest"):
    if not name:
        raise ValueError("name is empty")
    return BagPolicy(name, smallest)

def nothing(tree, bags):
    return 3
"""


def make_line(directory):
    """Write a scenario on three hosts in a line, and functions beside it."""
    graph = Graph.duplex("abc", SPEED, np.array([(0, 1), (1, 2)]), [1e6, 1e6], 1e-4)
    write_platform(graph.platform(), directory / "line.xml")
    (directory / "line.toml").write_text(SCENARIO)
    (directory / "mine.py").write_text(POLICY)
    return directory / "line.toml"


@pytest.fixture
def line(tmp_path):
    return make_line(tmp_path)


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    return run(make_line(tmp_path_factory.mktemp("line")))


def test_throughput_is_near_the_closed_form(outcome):
    row = outcome.row
    assert row.best.value == pytest.approx(FAIR, rel=1e-9)
    assert row["theory"] == pytest.approx(FAIR, rel=1e-2)
    assert row["fair_throughput"] == pytest.approx(FAIR, rel=0.1)
    assert row["fair_slope"] == pytest.approx(FAIR, rel=0.1)
    assert row.gap == pytest.approx(1 - row["fair_throughput"] / FAIR)
    assert (row["tasks"], row["hosts_used"]) == (240, 3)
    # No schedule computes faster than all hosts together.
    assert (60 * 1e6 + 180 * 2e6) / SPEED.sum() <= row["makespan"] <= outcome.result.clock
    assert row.provenance["options"]["network/model"] == "CM02"
    assert {"x", "y"} <= set(outcome.result.trace.label.tolist())


def test_applications_stand_beside_their_optimum(outcome):
    found = listing(outcome, "Applications")
    assert (found.column("name"), found.column("tasks")) == (("x", "y"), (60, 180))
    assert found.column("optimum") == pytest.approx((FAIR, 3 * FAIR), rel=1e-9)
    assert found.column("throughput") == pytest.approx((FAIR, 3 * FAIR), rel=0.1)


def test_there_is_no_trace_that_nobody_asked_for(line):
    assert len(run(change(line, 'gantt = "gantt.png"', "")).result.trace) == 0


@pytest.mark.parametrize("name", list(POLICIES))
def test_every_shipped_policy_runs(line, name):
    row = run(change(line, '"bags.lp"', f'"bags.{name}"')).row
    assert row["tasks"] == 240
    assert 0 < row["fair_throughput"] <= 1.1 * FAIR


def test_tasks_are_200_where_nothing_is_said(line):
    assert run(change(line, "count = 60\n", "", "count = 180\n", "")).row["tasks"] == 400


def test_parents_choose_the_tree(line):
    outcome = run(change(line, '"bags"', '"bags"\nparents = { b = "a" }'))
    assert listing(outcome, "Nodes").column("node") == ("a", "b")
    assert outcome.row.best.value == pytest.approx(5e6 / 7e6, rel=1e-9)


def test_root_can_only_distribute(line):
    outcome = run(change(line, '"bags"', '"bags"\ndistributors = ["a"]'))
    assert listing(outcome, "Nodes").column("CPU")[0] is None
    assert outcome.row.best.value == pytest.approx(7e6 / 7e6, rel=1e-9)


def test_measurements_can_be_wrong(line):
    row = run(change(line, "buffer = 6", "buffer = 6, errors = 0.2")).row
    # The plan follows what was measured, the optimum what there is.
    assert row.best.value == pytest.approx(FAIR, rel=1e-6)
    assert 1e-3 < abs(row["theory"] / FAIR - 1) < 0.25


def test_measuring_can_be_left_out(line):
    plain = run(line).row
    told = run(change(line, "buffer = 6", "buffer = 6, measure = false")).row
    # On a linear platform what is measured is what there is.
    assert told["fair_throughput"] == pytest.approx(plain["fair_throughput"], rel=1e-6)


def test_first_requests_can_be_shuffled(line):
    change(line, '"bags.lp"', '"bags.fcfs"')
    dates = {run(line).row["makespan"]}
    dates.add(run(change(line, "buffer = 6", "buffer = 6, shuffle = true")).row["makespan"])
    seeded = "[simulation]\nseed = 2\n\n[simulation.options]"
    dates.add(run(change(line, "[simulation.options]", seeded)).row["makespan"])
    assert len(dates) == 3


def test_policy_of_ones_own(line):
    row = run(change(line, "bags.lp", "mine:smallest_first")).row
    assert (row["tasks"], row["theory"]) == (240, None)
    assert run(change(line, "buffer = 6", 'buffer = 6, name = "tiny"')).row["tasks"] == 240


def changed(line, *changes):
    """Let resources change at dates."""
    table = '[[workload.changes]]\nresource = "{}"\ndate = {}\ncapacity = {}\n\n'
    text = "".join(table.format(*each) for each in changes)
    return change(line, "[scheduler]", text + "[scheduler]")


def test_changes_slow_it_down(line):
    plain = run(line).row["makespan"]
    outcome = run(changed(line, ("b", 5.0, '"1Mf"')))
    assert (outcome.row.best, outcome.row["tasks"]) == (None, 240)
    # Host b loses three quarters from 5 s on.
    done = 5.0 * SPEED.sum()
    least = 5.0 + (60 * 1e6 + 180 * 2e6 - done) / (SPEED.sum() - 3e6)
    assert outcome.row["makespan"] >= least > 1.3 * plain
    assert "before it changed" in listing(outcome, "Applications").note


def test_hosts_fail_and_come_back(line):
    plain = run(line).row["makespan"]
    row = run(changed(line, ("b", 5.0, 0.0), ("b", 25.0, '"4Mf"'))).row
    assert row["tasks"] == 240
    assert row["tasks_lost"] > 0
    # Of 20 s, b computes nothing.
    assert row["makespan"] > plain + 20 * SPEED[1] / SPEED.sum() - 5


def test_root_never_fails(line):
    platform = line.parent / "line.xml"
    (line.parent / "off.profile").write_text("1 0\n")
    change(platform, 'id="a" ', 'id="a" state_file="off.profile" ')
    refused(line, "the root 'a' has a profile of its state")


def test_time_can_be_limited(line):
    path = change(line, "[simulation.options]", "[simulation]\nuntil = 5.0\n\n[simulation.options]")
    with pytest.raises(SimulatedTimeLimitError):
        run(path)


def test_hosts_that_may_compute(line):
    found = listing(run(change(line, "weight = 3.0", 'hosts = ["c"]')), "Nodes")
    assert found.column("y") == (0, 0, 180)


BUFFER, PARAMETERS = "buffer = 6", "scheduler.parameters"
APPLICATIONS = "workload.applications"
WRONG = [
    ("count = 60", "count = 0", f"{APPLICATIONS}.0.count", "count is 0; give"),
    ('name = "y"\nmaster = "a"', 'name = "y"\nmaster = "b"', f"{APPLICATIONS}.1", "at the root"),
    ('name = "y"', 'name = "x"', f"{APPLICATIONS}.0", "two applications are called 'x'"),
    ("weight = 3.0", 'hosts = ["z"]', f"{APPLICATIONS}.1.hosts", "'y' names 'z', which is no host"),
    ("weight = 3.0", "hosts = []", APPLICATIONS, "may compute application 'y'"),
    ("weight = 3.0", "end = 5.0", f"{APPLICATIONS}.1.end", "kind = 'fair_sharing'"),
    ('"bags"', '"bags"\nalpha = 1.0', "workload.alpha", "kind = 'fair_sharing'"),
    ('"bags"', '"bags"\ntrees = {}', "workload.trees", "kind = 'fair_sharing'"),
    ('"bags"', '"bags"\nparents = { b = "z" }', "workload.parents", "parents names 'z'"),
    ('"bags"', '"bags"\nparents = { c = "a" }', "workload.parents", "there is no route"),
    ('"bags"', '"bags"\ndistributors = ["z"]', "workload.distributors", "distributors names 'z'"),
    ('"bags"', '"bags"\ndistributors = ["a","b","c"]', APPLICATIONS, "no host of the tree"),
    ('"bags.lp"', '"pricing.market"', "scheduler.name", "write workload.kind = 'fair_sharing'"),
    (BUFFER, "buffer = 0", f"{PARAMETERS}.buffer", "buffer is 0; give"),
    (BUFFER, "measure = 1", f"{PARAMETERS}.measure", "measure is 1; give true or false"),
    (BUFFER, "errors = 1.0", f"{PARAMETERS}.errors", "errors is 1.0; give"),
    (BUFFER, "bufer = 6", f"{PARAMETERS}.bufer", "did you mean 'buffer'"),
    (BUFFER, "cut = 0.9", PARAMETERS, "'bags.lp' refused its parameters"),
    ("bags.lp", "mine:nothing", "scheduler.name", "returned int"),
]


@pytest.mark.parametrize(("old", "new", "key", "told"), WRONG)
def test_wrong_workloads_and_schedulers_are_refused(line, old, new, key, told):
    refused(change(line, old, new), told, key)


WRONG_CHANGES = [
    ("z", 1.0, "resource", "which is no host or link"),
    ("b", '"1MBps"', "capacity", "capacity"),
    ("a", 0.0, "capacity", "makes the root 'a' fail"),
]


@pytest.mark.parametrize(("resource", "capacity", "key", "told"), WRONG_CHANGES)
def test_changes_that_cannot_be(line, resource, capacity, key, told):
    refused(changed(line, (resource, 5.0, capacity)), told, f"workload.changes.0.{key}")


def test_change_of_who_does_not_compute(line):
    change(changed(line, ("a", 5.0, 1.0)), '"bags"', '"bags"\ndistributors = ["a"]')
    refused(line, "which computes no tasks; remove it")
