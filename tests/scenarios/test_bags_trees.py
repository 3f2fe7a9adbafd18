"""Scenarios whose tasks are handed out over a tree."""

import json
from pathlib import Path

import numpy as np
import pytest

from simplugin.bags.policies.shipped import POLICIES
from simplugin.errors import SimulatedTimeLimitError
from simplugin.formats.platform_xml import write_platform
from simplugin.platforms.graphs import Graph
from simplugin.reports.gantt import gantt
from simplugin.scenarios import load_scenario, run_scenario
from simplugin.scenarios.importing import importable
from simplugin.scenarios.outputs import outcome_document

with importable(Path(__file__).parent):
    from changed_scenarios import change, refused, run

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
from simplugin.bags import Policy, servable


def smallest(state):
    return min(servable(state), key=lambda pair: state.known.flop[pair[1]], default=None)


def smallest_first(tree, bags, name="smallest"):
    if not name:
        raise ValueError("name is empty")
    return Policy(name, smallest)


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
    return run_scenario(load_scenario(make_line(tmp_path_factory.mktemp("line"))))


def listing(outcome, title):
    [found] = [each for each in outcome.listings if each.title == title]
    return found


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


def test_applications_stand_beside_their_optimum(outcome):
    found = listing(outcome, "Applications")
    assert found.column("name") == ("x", "y")
    assert found.column("tasks") == (60, 180)
    assert found.column("optimum") == pytest.approx((FAIR, 3 * FAIR), rel=1e-9)
    assert found.column("throughput") == pytest.approx((FAIR, 3 * FAIR), rel=0.1)


def test_nodes_are_used(outcome):
    found = listing(outcome, "Nodes")
    assert found.column("node") == ("a", "b", "c")
    assert found.column("parent") == ("", "a", "b")
    assert found.column("speed") == pytest.approx(SPEED.tolist())
    assert sum(found.column("x")) == 60
    assert sum(found.column("y")) == 180
    # What a host computed is what it was busy with.
    flop = np.array(found.column("x")) * 1e6 + np.array(found.column("y")) * 2e6
    busy = flop / SPEED / outcome.row["makespan"]
    assert found.column("CPU") == pytest.approx(busy.tolist(), rel=1e-6)
    # What a port sent are the tasks computed below it.
    x, y = (np.array(found.column(name)) for name in "xy")
    below = np.array([[x[1:].sum(), y[1:].sum()], [x[2], y[2]]])
    time = below @ (np.array([10, 20]) / 1e6 + 1e-4)
    port = found.column("port")
    assert port[:2] == pytest.approx((time / outcome.row["makespan"]).tolist(), rel=1e-6)
    assert port[2] is None


def test_document_is_json(outcome):
    document = json.loads(json.dumps(outcome_document(outcome), allow_nan=False))
    assert [each["title"] for each in document["listings"]] == ["Applications", "Nodes"]


def test_warnings_stand_beside_the_figures(line):
    change(change(line, "count = 60", "count = 1"), 'flop = "1Mf"', "flop = 1")
    outcome = run(change(line, "flop = 2e6", "flop = 1"))
    assert outcome.row["fair_throughput"] is outcome.row.gap is None
    document = json.loads(json.dumps(outcome_document(outcome), allow_nan=False))
    assert "Too few tasks" in document["listings"][0]["note"]
    assert "requests dominate" in document["listings"][0]["note"]


def test_gantt_names_the_applications(outcome, tmp_path):
    labels = set(outcome.result.trace.label.tolist())
    assert {"x", "y"} <= labels
    gantt(outcome.result, tmp_path / "gantt.svg")
    text = (tmp_path / "gantt.svg").read_text()
    assert ">x</text>" in text
    assert ">y</text>" in text


def test_there_is_no_trace_that_nobody_asked_for(line):
    assert len(run(change(line, 'gantt = "gantt.png"', "")).result.trace) == 0


@pytest.mark.parametrize("name", list(POLICIES))
def test_every_shipped_policy_runs(line, name):
    row = run(change(line, '"bags.lp"', f'"bags.{name}"')).row
    assert row["tasks"] == 240
    assert 0 < row["fair_throughput"] <= 1.1 * FAIR


def test_tasks_are_200_where_nothing_is_said(line):
    path = change(change(line, "count = 60\n", ""), "count = 180\n", "")
    assert run(path).row["tasks"] == 400


def test_parents_choose_the_tree(line):
    path = change(line, "[scheduler]", '[workload.parents]\nb = "a"\n\n[scheduler]')
    outcome = run(path)
    assert listing(outcome, "Nodes").column("node") == ("a", "b")
    assert outcome.row.best.value == pytest.approx(5e6 / 7e6, rel=1e-9)


def test_root_can_only_distribute(line):
    path = change(line, 'kind = "bags"', 'kind = "bags"\ndistributors = ["a"]')
    outcome = run(path)
    assert listing(outcome, "Nodes").column("CPU")[0] is None
    assert outcome.row.best.value == pytest.approx(7e6 / 7e6, rel=1e-9)


def test_random_tree(line):
    keys = 'generator = "random_tree"\nparameters = { n_hosts = 4, max_degree = 2 }\nseed = {}'
    change(line, 'file = "line.xml"', keys.replace("{}", "3"))
    change(line, 'name = "x"\nmaster = "a"', 'name = "x"\nmaster = "n0"')
    path = change(line, 'name = "y"\nmaster = "a"', 'name = "y"\nmaster = "n0"')
    first = run(path).row.best.value
    assert run(path).row.best.value == first
    assert run(change(path, "seed = 3", "seed = 4")).row.best.value != first


def test_measurements_can_be_wrong(line):
    path = change(line, "buffer = 6", "buffer = 6, errors = 0.2")
    row = run(path).row
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
    change(line, "buffer = 6", "buffer = 6, shuffle = true")
    for seed in (1, 2):
        text = line.read_text().replace("[simulation.options]", f"[simulation]\nseed = {seed}\n\n"
                                        "[simulation.options]")  # fmt: skip
        (line.parent / "other.toml").write_text(text)
        dates.add(run(line.parent / "other.toml").row["makespan"])
    assert len(dates) == 3


def test_policy_of_ones_own(line):
    path = change(line, '"bags.lp"', '"mine:smallest_first"')
    row = run(path).row
    assert (row["tasks"], row["theory"]) == (240, None)
    change(path, "buffer = 6", 'buffer = 6, name = "tiny"')
    assert run(path).row["tasks"] == 240


def test_changes_slow_it_down(line):
    plain = run(line).row["makespan"]
    text = '[[workload.changes]]\ndate = 5.0\nresource = "b"\ncapacity = "1Mf"\n\n[scheduler]'
    outcome = run(change(line, "[scheduler]", text))
    assert (outcome.row.best, outcome.row["tasks"]) == (None, 240)
    # Host b loses three quarters from 5 s on.
    done = 5.0 * SPEED.sum()
    least = 5.0 + (60 * 1e6 + 180 * 2e6 - done) / (SPEED.sum() - 3e6)
    assert outcome.row["makespan"] >= least > 1.3 * plain
    assert "before it changed" in listing(outcome, "Applications").note


def test_links_change_too(line):
    text = '[[workload.changes]]\ndate = 5.0\nresource = "a->b"\ncapacity = "10Bps"\n\n[scheduler]'
    slow = run(change(line, "[scheduler]", text))
    nodes = listing(slow, "Nodes")
    # A task of y takes 2 s through that link from then on.
    assert nodes.column("port")[0] > 0.5
    assert nodes.column("y")[0] > 60


@pytest.mark.parametrize(
    ("old", "new", "line_number", "told"),
    [
        ("count = 60", "count = 0", 10, "count of application 'x' is 0"),
        ("count = 60", "count = 1.5", 15, "count is 1.5"),
        ('name = "y"\nmaster = "a"', 'name = "y"\nmaster = "b"', 17, "all tasks start at the root"),
        ('"x"\nmaster = "a"', '"x"\nmaster = "z"', 17, "'y' starts at 'a'"),
        ('name = "y"', 'name = "x"', 10, "two applications are called 'x'"),
        ("weight = 3.0", 'hosts = ["a"]', 23, "has the key 'hosts'; remove it: it is for endless"),
        ("weight = 3.0", "end = 5.0", 23, "has the key 'end'"),
        ('kind = "bags"', 'kind = "bags"\nalpha = 1.0', 9, "workload.alpha is given"),
        ('kind = "bags"', 'kind = "bags"\ntrees = {}', 9, "workload.trees is given"),
        ('kind = "bags"', 'kind = "bags"\nparents = { b = "z" }', 9, "parents names 'z'"),
        ('kind = "bags"', 'kind = "bags"\nparents = { c = "a" }', 9, "there is no route"),
        ('kind = "bags"', 'kind = "bags"\ndistributors = ["z"]', 9, "distributors names 'z'"),
        ('kind = "bags"', 'kind = "bags"\ndistributors = ["a","b","c"]', 11, "no host of the tree"),
        ("buffer = 6", "buffer = 0", 27, "buffer is 0; give"),
        ("buffer = 6", "buffer = true", 27, "buffer is True"),
        ("buffer = 6", "measure = 1", 27, "measure is 1; give true or false"),
        ("buffer = 6", "errors = 1.0", 27, "errors is 1.0; give"),
        ("buffer = 6", "shuffle = 'no'", 27, "shuffle is 'no'"),
        ("buffer = 6", "bufer = 6", 27, "unknown key 'scheduler.parameters.bufer'; did you mean"),
        ("buffer = 6", "cut = true", 27, "cut is True; give a number"),
        ("buffer = 6", "least_communication = 'no'", 27, "is 'no'; give true or false"),
        ("buffer = 6", "cut = 0.9", 27, "'bags.lp' refused its parameters"),
        ('"bags.lp"', '"bags.lpp"', 26, "did you mean 'bags.lp'"),
        ('"bags.lp"', '"nowhere:policy"', 26, "no module 'nowhere'"),
        ('"bags.lp"', '"mine:nothing"', 26, "returned int, not a Policy"),
        ('"bags.lp"', '"pricing.market"', 15, "'x' has the key 'count'; remove it"),
    ],
)
def test_mistakes_are_told_with_their_line(line, old, new, line_number, told):
    error = refused(change(line, old, new))
    assert told in str(error)
    assert f"line.toml:{line_number}:" in str(error)


@pytest.mark.parametrize(
    ("keys", "line_number", "told"),
    [
        ('resource = "z"\ncapacity = 1.0', 27, "which is no host or link"),
        ('resource = "b"\ncapacity = "1MBps"', 28, "capacity"),
        ('resource = "a"\ncapacity = 0.0', 28, "makes the root 'a' fail"),
    ],
)
def test_changes_that_cannot_be(line, keys, line_number, told):
    text = f"[[workload.changes]]\ndate = 5.0\n{keys}\n\n[scheduler]"
    error = refused(change(line, "[scheduler]", text))
    assert told in str(error)
    assert f"line.toml:{line_number}:" in str(error)


def test_change_of_who_does_not_compute(line):
    text = '[[workload.changes]]\ndate = 5.0\nresource = "a"\ncapacity = 1.0\n\n[scheduler]'
    change(line, "[scheduler]", text)
    path = change(line, 'kind = "bags"', 'kind = "bags"\ndistributors = ["a"]')
    assert "which computes no tasks; remove it" in str(refused(path))


def test_hosts_fail_and_come_back(line):
    text = (
        '[[workload.changes]]\ndate = 5.0\nresource = "b"\ncapacity = 0.0\n\n'
        '[[workload.changes]]\ndate = 25.0\nresource = "b"\ncapacity = "4Mf"\n\n[scheduler]'
    )
    plain = run(line).row["makespan"]
    row = run(change(line, "[scheduler]", text)).row
    assert row["tasks"] == 240
    assert row["tasks_lost"] > 0
    # Of 20 s, b computes nothing.
    assert row["makespan"] > plain + 20 * SPEED[1] / SPEED.sum() - 5


def test_root_never_fails(line):
    platform = line.parent / "line.xml"
    (line.parent / "off.profile").write_text("1 0\n")
    change(platform, 'id="a" ', 'id="a" state_file="off.profile" ')
    assert "the root 'a' has a profile of its state" in str(refused(line))


def test_time_can_be_limited(line):
    path = change(line, "[simulation.options]", "[simulation]\nuntil = 5.0\n\n[simulation.options]")
    with pytest.raises(SimulatedTimeLimitError):
        run(path)


def test_endless_applications_have_no_tree(line):
    change(change(line, "count = 60\n", ""), "count = 180\n", "")
    change(line, '"bags.lp"', '"pricing.market"')
    change(line, "{ buffer = 6 }", "{ rounds = 2 }")
    path = change(line, 'kind = "bags"', 'kind = "bags"\ndistributors = ["a"]')
    assert "workload.distributors is given; remove it" in str(refused(path))


def test_scheduler_is_needed(line):
    text = line.read_text()
    start, end = text.index("[scheduler]"), text.index("[simulation")
    line.write_text(text[:start] + text[end:])
    assert "'bags.prices'" in str(refused(line))
