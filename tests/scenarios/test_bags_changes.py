"""Scenarios in which hosts, links and applications come, go and change."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from simplugin.formats.platform_xml import read_platform, write_platform
from simplugin.optimum.fair_sharing import fair_sharing
from simplugin.platforms import Platform, Profile, ProfileUse
from simplugin.platforms.graphs import Graph
from simplugin.pricing.changes import intervals
from simplugin.pricing.deployment import deploy, sharing_of
from simplugin.scenarios import load_scenario, run_scenario
from simplugin.scenarios.importing import importable
from simplugin.scenarios.outputs import outcome_document
from simplugin.simulation.platform_changes import Change
from simplugin.workloads import Application

with importable(Path(__file__).parent):
    import changed_scenarios
    from changed_scenarios import change

ROOT = Path(__file__).parents[2]
SCENARIO = """
[platform]
file = "line.xml"

[workload]
kind = "bags"

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
start = "4s"

[[workload.changes]]
date = 8
resource = "b"
capacity = "2Mf"

[[workload.changes]]
date = "12s"
resource = "b"
capacity = 0

[scheduler]
name = "pricing.market"
parameters = { period = "20ms", until = 16 }

[simulation.options]
network_model = "CM02"
crosstraffic = false
tcp_gamma = 0.0
"""
# Links are wide. x has all hosts, 8 Mflop/s; then x and y share by their weights, 1 to 3; then b
# has 2 Mflop/s instead of 4; then x has a, y has c.
OPTIMA = ((8e3, None), (2e3, 3e3), (1.5e3, 2.25e3), (1e3, 1.5e3))


@pytest.fixture
def line(tmp_path):
    """A scenario on three hosts in a line."""
    return written(tmp_path)


def written(directory):
    graph = Graph.duplex("abc", np.array([1e6, 4e6, 3e6]), np.array([(0, 1), (1, 2)]), [1e8, 1e8])
    write_platform(graph.platform(), directory / "line.xml")
    (directory / "line.toml").write_text(SCENARIO)
    return directory / "line.toml"


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    """What the scenario gives."""
    return run_scenario(load_scenario(written(tmp_path_factory.mktemp("line"))))


def refused(path):
    return str(changed_scenarios.refused(path))


def listing(outcome, title):
    [found] = [each for each in outcome.listings if each.title == title]
    return found


def test_each_change_is_a_line(outcome):
    found = listing(outcome, "Changes")
    assert found.column("from") == (0.0, 4.0, 8.0, 12.0)
    assert found.column("what changed") == (
        "start",
        "y arrives",
        "b has 2 Mflop/s",
        "b fails",
    )
    near, nearer = found.column("to 5 %"), found.column("to 1 %")
    assert all(0 <= first <= second < 4 for first, second in zip(near, nearer, strict=True))
    periods = found.column("periods to 1 %")
    assert periods == tuple(math.ceil(time / 0.02 - 1e-6) for time in nearer)
    assert max(found.column("worst error at end")) <= 0.01
    assert max(found.column("overload at end")) <= 0.01


def test_curves_are_relative_to_the_optimum_between_changes(outcome):
    throughputs, errors = outcome.figures
    ends = [3.9, 7.9, 11.9, 15.9]
    for name, best in zip("xy", zip(*OPTIMA, strict=True), strict=True):
        date, ratio = throughputs.series[name]
        at_ends = np.array([ratio[np.searchsorted(date, end)] for end in ends])
        there = [each is not None for each in best]
        assert at_ends[there] == pytest.approx(1.0, rel=1e-2)
        assert np.all(np.isnan(at_ends[np.logical_not(there)]))
    # Just after b has half its speed, x still has more than it is to have: 2e3 instead of 1.5e3.
    date, ratio = throughputs.series["x"]
    assert 1.05 < ratio[np.searchsorted(date, 8.01)] < 1.34
    assert errors.log_y
    assert min(errors.series["error"][1]) >= 1e-6


def test_the_last_interval_stands_beside_its_optimum(outcome):
    x, y = OPTIMA[-1]
    found = listing(outcome, "Applications")
    assert found.column("optimum") == pytest.approx((x, y), rel=1e-6)
    assert found.column("throughput") == pytest.approx((x, y), rel=1e-2)
    row = outcome.row
    assert row.best.value == pytest.approx(math.log(x) + 3 * math.log(y), rel=1e-9)
    assert row["objective"] == pytest.approx(row.best.value, rel=1e-3)
    assert (row["intervals"], row["intervals_within_1_percent"]) == (4, 4)
    assert row["longest_return_to_1_percent"] == max(listing(outcome, "Changes").column("to 1 %"))
    hosts = listing(outcome, "Busiest hosts")
    prices = dict(zip(hosts.column("host"), hosts.column("price [utility/Gflop]"), strict=True))
    # What is left of the weights' worth: 1 on a, 3 on c.
    assert prices == {"a": pytest.approx(1e3, rel=1e-2), "c": pytest.approx(1e3, rel=1e-2)}
    json.dumps(outcome_document(outcome), allow_nan=False)


def test_profiles_of_the_platform_are_changes_too(line):
    # The same as the tables, as profiles in the file.
    platform = read_platform(line.parent / "line.xml")
    followed = {"SPEED": [(8.0, 0.5)], "HOST_AVAIL": [(12.0, 0.0)]}
    extra = []
    for kind, points in followed.items():
        extra += [Profile.of_points(kind, points), ProfileUse(kind, "b", kind)]
    write_platform(Platform((*platform.elements, *extra)), line.parent / "line.xml")
    text = line.read_text()
    start, end = text.index("[[workload.changes]]"), text.index("[scheduler]")
    line.write_text(text[:start] + text[end:])
    outcome = run_scenario(load_scenario(line))
    found = listing(outcome, "Changes")
    assert found.column("what changed")[2:] == ("b has 2 Mflop/s", "b fails")
    assert None not in found.column("to 1 %")
    line.write_text(text)
    assert "line.toml:24: there is a change of 'b', which has a profile" in refused(line)
    change(line, 'period = "20ms", until = 16', "rounds = 3")
    change(line, 'start = "4s"\n', "")
    line.write_text(line.read_text().replace(text[start:end], ""))
    error = refused(line)
    assert "'b' of the platform has a profile" in error
    assert "period" in error


def test_the_scaled_rule_follows_slowly(line):
    path = change(line, '"pricing.market"', '"pricing.scaled"')
    row = run_scenario(load_scenario(path)).row
    assert row["objective"] == pytest.approx(row.best.value, rel=0.05)


def test_never_is_a_dash(line):
    path = change(line, '"pricing.market"', '"pricing.scaled"')
    change(path, "until = 16", "until = 13, host = 1e-9, link = 1e-9")
    outcome = run_scenario(load_scenario(path))
    assert None in listing(outcome, "Changes").column("to 1 %")
    assert outcome.row["longest_return_to_1_percent"] is None


@pytest.mark.parametrize(
    ("old", "new", "line_number", "told"),
    [
        ('period = "20ms", until = 16', "rounds = 9", 14, "scheduler] a parameter period"),
        ('start = "4s"\n', "end = 20\n", 15, None),
        ('period = "20ms", until', "until", 34, "scheduler] a parameter period"),
        (", until = 16", "", 34, "'until' is missing; add it"),
        ("until = 16", "until = 16, rounds = 3", 34, "both rounds and a period"),
        ('"20ms"', '"20mb"', 34, "unknown unit 'mb'"),
        ('"20ms"', "0", 34, "period is 0"),
        ('"20ms"', "true", 34, "period is True"),
        ("until = 16", "until = 0.01", 34, "not after the first period"),
        ("until = 16", "until = inf", 34, "until is inf"),
        ("until = 16", "until = 16, patience = 0", 34, "patience is 0"),
        ("until = 16", "until = 16, steps = 3", 34, "'pricing.market' takes patience, period"),
        ("until = 16", "until = 12", 28, "a change of 'b' is at 12 s, at or after the end"),
        ("until = 16", "until = 3", 20, "'y' starts at 4 s, when the run is over"),
        ('"pricing.market"', '"pricing.market_accelerated"', 33, "pricing.market or pricing.sc"),
        ("date = 8", "date = -8", 23, "greater than or equal to 0"),
        ("date = 8", 'date = "8x"', 23, "unknown unit 'x'"),
        ("date = 8\n", "", 22, "'workload.changes.0.date' is missing"),
        ('"2Mf"', '"2MB"', 25, "give a speed such as"),
        ('"2Mf"', '"2MBps"', 25, "unknown unit 'MBps'"),
        ('"2Mf"', "-1", 25, "greater than or equal to 0"),
        ('"2Mf"', "inf", 25, "finite number"),
        ('resource = "b"\ncapacity = 0', 'resource = "d"\ncapacity = 0', 29, "'d', which is no"),
        ("capacity = 0", "capacity = 0\nfor = 3", 31, "unknown key 'workload.changes.1.for'"),
        ("[simulation.", "[simulation]\nuntil = 3\n\n[simulation.", 37, "remove it: scheduler.par"),
    ],
)  # fmt: skip
def test_mistakes_name_their_line(line, old, new, line_number, told):
    path = change(line, old, new)
    if told is None:
        # An end after the run's is no mistake.
        assert run_scenario(load_scenario(path)).row["intervals"] == 3
        return
    error = refused(path)
    assert told in error
    assert f"line.toml:{line_number}:" in error


def test_all_hosts_fail(line):
    text = line.read_text()
    both = "".join(
        f'[[workload.changes]]\ndate = 13\nresource = "{name}"\ncapacity = 0\n\n' for name in "ac"
    )
    line.write_text(text.replace("[scheduler]", both + "[scheduler]"))
    assert "line.toml:22: every host fails at some time" in refused(line)


def test_shipped_scenario_comes_back_to_each_optimum():
    scenario = load_scenario(ROOT / "scenarios/pricing_changes.toml")
    outcome = run_scenario(scenario)
    found = listing(outcome, "Changes")
    assert found.column("what changed") == (
        "start",
        "E fails",
        "E comes back",
        "A->B has 100 MB/s",
        "three arrives",
        "three leaves",
    )
    assert None not in found.column("to 1 %")
    # The optimum of each interval, from a graph of its own.
    one, two = Application("one", "D", 5000, 1000), Application("two", "A", 800, 2000)
    three = Application("three", "C", 1500, 1500)
    ends = np.array([(0, 3), (0, 1), (1, 2), (2, 4)])
    whole = Graph.duplex("ABCDE", np.full(5, 5e8), ends, np.full(4, 5e8))
    without = Graph.duplex("ABCD", np.full(4, 5e8), ends[:3], np.full(3, 5e8))
    both_ways = np.full((4, 2), 5e8)
    both_ways[1, 0] = 1e8
    narrow = Graph.duplex("ABCDE", np.full(5, 5e8), ends, both_ways)
    optima = [
        fair_sharing(deploy(graph, [one, two, *more])).throughput
        for graph, *more in ((whole,), (without,), (whole,), (narrow,), (narrow, three), (narrow,))
    ]
    workload, platform = scenario.workload, scenario.make_platform()
    applications = [each.application() for each in workload.applications]
    changes = [
        Change(each.date, each.resource, each.value(of_host=each.resource == "E"))
        for each in workload.changes
    ]
    sharing = sharing_of(platform, applications)
    parts = intervals(sharing, applications, changes, 30.0, platform)
    for part, best in zip(parts, optima, strict=True):
        assert fair_sharing(part.sharing).throughput == pytest.approx(best, rel=1e-6)
    last = listing(outcome, "Applications")
    assert last.column("throughput") == pytest.approx(optima[-1], rel=1e-2)
    # Ratios to these optima at the ends.
    throughputs, _ = outcome.figures
    for number, end in enumerate(range(5, 31, 5)):
        ratios = [
            ratio[np.searchsorted(date, end - 0.01) - 1]
            for date, ratio in throughputs.series.values()
        ]
        there = np.isfinite(ratios)
        assert there.tolist() == [True, True, number == 4]
        assert np.array(ratios)[there] == pytest.approx(1.0, rel=1e-2)
