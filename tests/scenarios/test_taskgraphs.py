"""Scenarios whose task graphs share a site."""

from itertools import pairwise

import numpy as np
import pytest
from changed_scenarios import change, cut, run

from simplugin.core.errors import ScenarioError
from simplugin.platforms.sites import MultiCluster
from simplugin.scenarios import load_scenario
from simplugin.scenarios.kinds.taskgraphs import KIND
from simplugin.taskgraphs.platform_sites import site_of

MIXED = """
title = "Mixed"
[platform]
generator = "multi_cluster"
[platform.parameters]
clusters = [
    { name = "slow", processors = 5, speed = 2e9 }, { name = "fast", processors = 3, speed = 3e9 },
]
one_switch = false
switch_bandwidth = "500MBps"
[workload]
kind = "taskgraphs"
[[workload.graphs]]
generator = "daggen"
parameters = { n_tasks = 6, width = 0.6, scenario = "linear" }
count = 2
[[workload.graphs]]
generator = "fork_join"
parameters = { width = 3, max_alpha = 0.1 }
seed = 5
name = "fork"
release = "20s"
[scheduler]
name = "taskgraphs.wps_width"
"""


def written(directory):
    (directory / "scenario.toml").write_text(MIXED)
    return directory / "scenario.toml"


@pytest.fixture
def mixed(tmp_path):
    return written(tmp_path)


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    return run(written(tmp_path_factory.mktemp("mixed")))


def test_equal_shares_of_equal_tasks(two):
    outcome = run(two)
    row, [graphs, clusters] = outcome.row, outcome.listings
    # Alone each has four processors, with the other one two: 8 Gflop at 4 and at 2 Gflop/s.
    assert graphs.column("graph") == ("one-1", "one-2")
    columns = {"own": 2.0, "shared": 4.0, "slowdown": 0.5, "beta": 0.5, "bound": 2.0}
    for name, value in columns.items():
        assert graphs.column(name) == pytest.approx((value, value), rel=1e-6)
    metrics = {"makespan": 4.0, "estimate": 4.0, "unfairness": 0.0, "efficiency": 1.0, "area": 16.0}
    assert {name: row[name] for name in metrics} == pytest.approx(metrics, rel=1e-6, abs=1e-6)
    assert (row.best.value, row.gap) == (pytest.approx(4.0), pytest.approx(0.0, abs=1e-6))
    assert clusters.lines[0][:4] == ("c", 4, 1e9, 2)
    assert clusters.column("in use") == pytest.approx((1.0,), rel=1e-6)


def test_what_a_file_leaves_open_is_stated(two):
    uses = '<uses file="data" link="input" size="1e9"/>'
    (two.parent / "one.dax").write_text(f'<adag><job id="a" runtime="8">{uses}</job></adag>')
    outcome = run(change(two, "count = 2\n", "\n", "one.dot", "one.dax"))
    assert outcome.listings[2].title == "Left open by the files"
    found = {line[1]: line[2:] for line in outcome.listings[2].lines}
    assert found == {
        "runtimes on processors of unknown speed": (1, "of 1Gf", None),
        "tasks without cores": (1, "on 1 core", None),
        "inputs that no task writes": (1, "at hand, in no time", 1e9),
        "tasks without alpha": (1, "alpha 1: no faster on several processors", None),
    }
    assert outcome.row["makespan"] == pytest.approx(8.0, rel=1e-6)
    outcome = run(change(two, '"one.dax"', '"one.dax"\nalpha = 0.5'))
    assert "tasks without alpha" not in outcome.listings[2].column("left open")
    assert outcome.row["makespan"] == pytest.approx(5.0, rel=1e-6)


def test_selfish_tasks_follow_each_other(two):
    graphs = run(change(two, "taskgraphs.es", "taskgraphs.s")).listings[0]
    # Both want all four processors; packing lets none start earlier on fewer.
    assert graphs.column("shared") == pytest.approx((2.0, 4.0), rel=1e-6)
    assert graphs.column("slowdown") == pytest.approx((1.0, 0.5), rel=1e-6)


def with_scheduler(two, name, parameters=""):
    return change(two, '"taskgraphs.es"', f'"{name}"\nparameters = {{ {parameters} }}')


def one_later(two, release):
    """Submit the second of the tasks later."""
    late = f'[[workload.graphs]]\nfile = "one.dot"\nname = "late"\nrelease = "{release}"\n\n'
    return change(two, "count = 2\n", "", "[scheduler]", f"{late}[scheduler]")


def test_who_comes_when_the_other_has_left_suffers_nothing(two):
    outcome = run(change(one_later(two, "1m"), "taskgraphs.es", "taskgraphs.s"))
    assert outcome.listings[0].column("from") == (0.0, 60.0)
    assert outcome.listings[0].column("slowdown") == pytest.approx((1.0, 1.0), rel=1e-6)
    assert outcome.row["makespan"] == pytest.approx(62.0, rel=1e-6)
    assert outcome.row.best.value == pytest.approx(62.0, rel=1e-6)


@pytest.mark.parametrize("revision", ["none", "event"])
def test_shares_of_ones_own_policy(two, revision):
    path = with_scheduler(two, "mine:thrifty", f'part = 0.25, revision = "{revision}"')
    graphs = run(path).listings[0]
    # A quarter is one processor each; it gives as little to the one that is left.
    assert graphs.column("shared") == pytest.approx((8.0, 8.0), rel=1e-6)
    if revision == "none":
        assert graphs.column("beta") == (0.25, 0.25)


DECISIONS = [
    ("whole", 'decides = "schedule"', 8.0),
    ("side_by_side", 'decides = "mapping", count = 2', 4.0),
    ("on_two", 'decides = "allocations", count = 2, baseline = "share"', 4.0),
    ("on_two", 'decides = "allocations", count = 2, revision = "mine:to_one"', 8.0),
    ("thrifty", 'revision = "mine:to_one"', 8.0),
]


@pytest.mark.parametrize(("function", "parameters", "seconds"), DECISIONS)
def test_a_user_may_decide_all(two, function, parameters, seconds):
    graphs = run(with_scheduler(two, f"mine:{function}", parameters)).listings[0]
    assert graphs.column("shared") == pytest.approx((seconds, seconds), rel=1e-6)
    assert graphs.column("slowdown") == pytest.approx((1.0, 1.0), rel=1e-6)


def test_own_makespans_may_be_under_the_same_share(two):
    outcome = run(with_scheduler(two, "taskgraphs.es", 'baseline = "share"'))
    assert outcome.listings[0].column("slowdown") == pytest.approx((1.0, 1.0), rel=1e-6)


@pytest.mark.parametrize(
    ("name", "revision", "shared"),
    [("es", "none", (4.0, 4.0)), ("es", "arrival", (2.0, 3.0)), ("es", "event", (2.0, 3.0)),
     ("balanced", "rebalanced", (2.0, 3.0))],
)  # fmt: skip
def test_shares_are_of_the_graphs_that_are_there(two, name, revision, shared):
    # The first one is alone when it comes, and takes everything for 2 s. The other comes 1 s later,
    # when the first competes no more: it takes everything too, after a wait of 1 s. Where both are
    # known before, each has two processors for 4 s.
    path = with_scheduler(one_later(two, "1s"), f"taskgraphs.{name}", f'revision = "{revision}"')
    graphs = run(path).listings[0]
    assert ("beta" in [name for name, _ in graphs.columns]) == (revision == "none")
    assert graphs.column("shared") == pytest.approx(shared, rel=1e-6)


def test_graphs_are_drawn_as_the_scenario_says(outcome):
    [graphs, _] = outcome.listings
    assert graphs.column("graph") == ("daggen-1", "daggen-2", "fork")
    assert graphs.column("tasks") == (6, 6, 5)
    assert graphs.column("from") == (0.0, 0.0, 20.0)
    assert sum(graphs.column("beta")) == pytest.approx(1.0)
    assert outcome.row["tasks"] == 17
    own, bound = np.array(graphs.column("own")), np.array(graphs.column("bound"))
    assert np.all(own >= bound * (1 - 1e-6))
    assert outcome.row["makespan"] >= outcome.row.best.value * (1 - 1e-6)
    assert outcome.row.provenance["options"]["host/model"] == "ptask_L07"


def test_charts_show_what_happened(outcome):
    chart = outcome.schedule
    assert chart.clusters == (("slow", 5), ("fast", 3))
    assert max(bar.finish for bar in chart.bars) == outcome.row["makespan"]
    assert [graph.title for graph in outcome.graphs] == ["daggen-1", "daggen-2", "fork"]
    # No processor does two things at a time.
    busy = {}
    for bar in chart.bars:
        for processor in bar.processors:
            busy.setdefault(processor, []).append((bar.start, bar.finish))
    assert sum(len(node.text) > 0 for graph in outcome.graphs for node in graph.nodes) == 17
    for spans in busy.values():
        assert all(one[1] <= other[0] + 1e-9 for one, other in pairwise(sorted(spans)))


def test_seeds_decide_but_for_tables_with_their_own(mixed, outcome):
    other = run(change(mixed, "[scheduler]", "[simulation]\nseed = 1\n\n[scheduler]"))
    work = [[graph.facts for graph in each.graphs] for each in (outcome, other)]
    assert [one == two for one, two in zip(*work, strict=True)] == [False, False, True]


@pytest.mark.parametrize(("asked", "labels"), [("", set()), ('trace = "t.csv"', {"one-1:only"})])
def test_there_is_a_trace_if_one_is_asked_for(two, asked, labels):
    trace = run(change(two, "[output]", f"[output]\n{asked}")).result.trace
    assert set(trace.label.tolist()) >= labels
    assert (len(trace) > 0) == bool(asked)


@pytest.mark.parametrize("name", KIND.scheduler_names)
def test_every_shipped_scheduler_runs(mixed, name):
    outcome = run(change(mixed, "count = 2\n", "", "taskgraphs.wps_width", name))
    assert outcome.row["makespan"] >= outcome.row.best.value * (1 - 1e-6)
    assert 0 < outcome.row["worst_slowdown"] <= outcome.row["mean_slowdown"]


PARAMETERS = [
    'mode = "planned", packing = "off", fixing = "start", order = "fifo"',
    'ordering = "global", reference_speed = "fastest", full_level = "stop"',
    'procedure = "scrap", transfers = false, translation = "power"',
    'pattern = "uniform", local = "kept", revision = "arrival"',
    'revision = "event", mu = 0.2, fixing = "start"',
]


@pytest.mark.parametrize("parameters", PARAMETERS)
def test_parameters_are_taken(mixed, parameters):
    path = change(mixed, 'wps_width"', f'wps_width"\nparameters = {{ {parameters} }}')
    assert run(path).row["makespan"] > 0


def test_quantities_of_a_multi_cluster_have_units(mixed):
    site = site_of(load_scenario(mixed).make_platform())
    clusters = (("slow", 5, 2e9), ("fast", 3, 3e9))
    own = MultiCluster("site", clusters, one_switch=False, switch_bandwidth=5e8).site()
    assert site.names == own.names
    assert np.array_equal(site.shared, own.shared)


HEAVY = """digraph heavy { a [size="4e9", alpha="0"] b [size="4e9", alpha="0"]
a -> b [size="10e9"] }
"""


@pytest.mark.parametrize(
    ("given", "seconds"), [("", 1 + 8 + 1), ('parameters = { local = "kept" }', 1 + 1)]
)
def test_bounds_count_data_where_all_of_them_are_sent(two, given, seconds):
    (two.parent / "one.dot").write_text(HEAVY)
    # Ten gigabytes through a switch of 1.25 GB/s, all four processors before and after.
    change(change(two, "count = 2\n", ""), '"taskgraphs.es"', f'"taskgraphs.s"\n{given}')
    outcome = run(change(two, 'name = "here" }', 'name = "here", bandwidth = "100GBps" }'))
    # Latencies are at most 0.15 ms.
    assert outcome.row.best.value == pytest.approx(seconds, abs=1e-3)
    assert outcome.listings[0].column("bound") == pytest.approx((seconds,), abs=1e-3)
    assert outcome.row["makespan"] >= outcome.row.best.value * (1 - 1e-6)


def test_bounds_of_the_switch_count_all_graphs(two):
    (two.parent / "one.dot").write_text(HEAVY)
    outcome = run(change(two, 'name = "here" }', 'name = "here", bandwidth = "100GBps" }'))
    # Of both graphs all 20 GB pass the switch between 1 s and 1 s before the end.
    assert outcome.row.best.value == pytest.approx(1 + 16 + 1)
    assert outcome.row["makespan"] >= outcome.row.best.value * (1 - 1e-6)


PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="c-" suffix="" radical="1-4" speed="1Gf" bw="100GBps" lat="50us"
           core="{cores}" bb_bw="1.25GBps" bb_lat="50us"/>
</platform>
"""


def test_many_tasks_have_bounds_without_programs(mixed):
    def bounds(n_tasks, choice):
        change(mixed, "n_tasks = 6", f"n_tasks = {n_tasks}", "count = 2", "count = 1")
        outcome = run(change(mixed, 'wps_width"', f'wps_width"\nparameters.bounds = "{choice}"'))
        written(mixed.parent)
        return outcome.row.best.value, "bounds = 'program'" in outcome.listings[0].note

    program, auto, simple = (bounds(40, choice) for choice in ("program", "auto", "simple"))
    assert auto == program
    assert simple[0] < program[0]
    assert (program[1], simple[1]) == (False, True)
    assert bounds(300, "auto") == bounds(300, "simple")


@pytest.mark.parametrize("cores", [1, 3])
def test_other_platforms_are_estimates_and_hosts_one_processor(two, cores):
    (two.parent / "one.dot").write_text(HEAVY)
    (two.parent / "c.xml").write_text(PLATFORM.format(cores=cores))
    cut(change(two, "count = 2\n", ""), "generator =", "[workload]", 'file = "c.xml"')
    outcome = run(change(two, "taskgraphs.es", "taskgraphs.s"))
    assert outcome.row.best.value == pytest.approx(1 + 1)
    # One core of each host computes.
    assert outcome.row["makespan"] == pytest.approx(1 + 8 + 1, abs=1e-3)
    assert ("cores: c (3)" in outcome.listings[1].note) == (cores > 1)


WRITTEN = """
[platform]
generator = "switched_hosts"
parameters = { speeds = ["1Gf", 1e9], bandwidths = ["100MBps", "200MBps"], latency = "0s" }
[workload]
kind = "taskgraphs"
[[workload.graphs]]
flop = ["1Gf", "10Gf", 10e9]
edges = [[0, 1, "100MB"], [0, 2, 100e6]]
[scheduler]
name = "taskgraphs.heft"
"""


def test_a_graph_that_is_written_out(tmp_path):
    """One branch stays, the other takes 1 s to go over the narrower of the two links."""
    file = tmp_path / "scenario.toml"
    file.write_text(WRITTEN)
    assert run(file).row["makespan"] == pytest.approx(1 + 1 + 10)
    site = site_of(load_scenario(file).make_platform())
    assert site.bandwidth.tolist() == [1e8, 2e8]
    for old, new, line in (
        ('edges = [[0, 1, "100MB"]', 'edges = [[2, 0, "1MB"]', 7),
        ('edges = [[0, 1, "100MB"]', 'edges = [[0, "1", "1MB"]', 9),
        ("edges = ", 'generator = "fft"\nedges = ', 7),
        ("edges = ", "seed = 3\nedges = ", 9),
        ("flop = ", "alpha = 0.5\nspeed = 2e9\nflop = ", 9),
    ):
        file.write_text(WRITTEN.replace(old, new))
        with pytest.raises(ScenarioError) as caught:
            run(file)
        assert (caught.value.file, caught.value.line) == (file, line)
