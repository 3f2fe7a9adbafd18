"""Scenarios of the project itself; that each runs, tests/cli/test_regress.py knows."""

from itertools import pairwise
from pathlib import Path

import pytest

from simplugin.formats.check import check
from simplugin.scenarios import load_scenario, run_scenario

ROOT = Path(__file__).parents[2]
APPLICATIONS = ("render", "filter", "search")


@pytest.mark.parametrize("name", ["demo", "slow_backbone"])
def test_master_and_workers(name):
    outcome = run_scenario(load_scenario(ROOT / "scenarios" / f"{name}.toml"))
    tasks = sum(outcome.result.values("worker"))
    # 150 of either application, with 180 and 45 Gflop, 20 and 240 MB.
    assert tasks == 300
    assert outcome.row["computed"] == pytest.approx(150 * 225e9)
    assert outcome.result.links.row("grelon_link_1_UP")["bytes"] == pytest.approx(
        150 * 260e6 + 24 * 1e3
    )
    # No schedule beats all hosts at full speed, nor the master's link.
    speeds = 6 * 3.647e9 + 3 * 4.311e9 + 3 * 4.384e9 + 4 * 3.379e9 + 8 * 3.185e9
    assert outcome.result.clock >= 150 * 225e9 / speeds
    assert outcome.result.clock >= 150 * 260e6 / 125e6


def test_hosts_of_a_graph_reach_their_neighbours_only():
    [finding] = check([ROOT / "platforms_xml" / "five_hosts.xml"])
    assert finding.severity == "warning"
    assert "routing Full has no route" in finding.message


def test_negotiation_reaches_the_optimum():
    outcome = run_scenario(load_scenario(ROOT / "scenarios" / "pricing.toml"))
    # All processors are busy, shared equally: 2.5e9 / 3 / flop.
    best = (2.5e9 / 3 / 5000, 2.5e9 / 3 / 800, 2.5e9 / 3 / 1500)
    [applications] = [each for each in outcome.listings if each.title == "Applications"]
    assert applications.column("optimum") == pytest.approx(best, rel=1e-6)
    assert applications.column("throughput") == pytest.approx(best, rel=1e-2)
    assert outcome.row["rounds_to_1_percent"] <= 60


def test_tasks_on_a_tree_come_near_the_optimum():
    outcome = run_scenario(load_scenario(ROOT / "scenarios" / "bags.toml"))
    assert outcome.row["tasks"] == 600
    assert outcome.row.gap < 0.1
    [applications] = [each for each in outcome.listings if each.title == "Applications"]
    # No more flop/s than all hosts together have.
    nodes = outcome.listings[1]
    flop = sum(
        best * each
        for best, each in zip(applications.column("optimum"), (60e9, 15e9, 5e9), strict=True)
    )
    assert flop <= sum(nodes.column("speed"))


def test_lost_tasks_are_done_again():
    outcome = run_scenario(load_scenario(ROOT / "scenarios" / "bags_failures.toml"))
    applications, nodes = outcome.listings
    assert outcome.row["tasks_lost"] > 0
    assert applications.column("tasks") == (400, 200)
    assert sum(nodes.column("simulate")) + sum(nodes.column("compress")) == 600
    steady = run_scenario(load_scenario(ROOT / "scenarios" / "bags_cluster.toml"))
    assert outcome.row["makespan"] > steady.row["makespan"]


def test_bags_on_four_sites_of_grid5000():
    outcome = run_scenario(load_scenario(ROOT / "scenarios" / "grid5000.toml"))
    applications, nodes = outcome.listings
    assert outcome.row["tasks"] == sum(applications.column("tasks")) == 600
    assert outcome.row.gap < 0.1
    # In steady state no more flop/s than a core of each host has.
    pairs = zip(applications.column("optimum"), (2e12, 500e9, 200e9), strict=True)
    assert sum(best * flop for best, flop in pairs) <= sum(nodes.column("speed"))
    # Sites far away get nothing but what computes much on little data.
    sites = [name.split(".")[1] for name in nodes.column("node")]
    assert {*sites} == {"lille", "nancy", "rennes", "toulouse"}
    far = [line for line, site in zip(nodes.lines, sites, strict=True) if site != "nancy"]
    names = [name for name, _ in nodes.columns]
    computed = {name: sum(line[names.index(name)] for line in far) for name in APPLICATIONS}
    assert computed["render"] > 100
    assert computed["search"] == 0


@pytest.mark.parametrize("name", ["taskgraphs", "taskgraphs_files"])
def test_task_graphs_share_a_site(name):
    outcome = run_scenario(load_scenario(ROOT / "scenarios" / f"{name}.toml"))
    graphs = outcome.listings[0]
    assert sum(graphs.column("beta")) == pytest.approx(1.0)
    # No graph gains by the others, or by more than its bound.
    assert all(0 < slowdown < 1 for slowdown in graphs.column("slowdown"))
    pairs = zip(graphs.column("own"), graphs.column("bound"), strict=True)
    assert all(own >= bound for own, bound in pairs)
    assert outcome.row["makespan"] >= outcome.row.best.value
    # The whole site at full speed would take so long.
    assert outcome.row["makespan"] * outcome.row["efficiency"] == pytest.approx(
        outcome.row["work"]
        / sum(count * speed for _, count, speed, *_ in outcome.listings[1].lines)
    )


def test_task_graphs_on_a_federation_of_three_sites():
    outcome = run_scenario(load_scenario(ROOT / "scenarios" / "taskgraphs_federation.toml"))
    graphs, clusters = outcome.listings
    # The hosts and speeds that scenarios/federations/three_sites.toml gives; those of c are drawn.
    described = {"old": (20, 2.5e9), "new": (26, 4.5e9), "fast": (12, 6e9), "slow": (48, 2e9)}
    found = {name: (count, speed) for name, count, speed, *_ in clusters.lines}
    assert {**found, **described} == found
    assert {*found} == {*described, "c1", "c2", "c3"}
    assert all(16 <= found[name][0] <= 64 for name in ("c1", "c2", "c3"))
    # Each task ran on one of them, and no graph ended before its bound.
    assert sum(clusters.column("tasks")) == outcome.row["tasks"] == sum(graphs.column("tasks"))
    pairs = zip(graphs.column("own"), graphs.column("bound"), strict=True)
    assert all(own >= bound for own, bound in pairs)


def test_the_file_of_a_site_and_its_generator_are_one_platform_to_a_scenario(tmp_path):
    text = (ROOT / "scenarios" / "taskgraphs.toml").read_text()
    by_generator = 'generator = "grid5000_subset"\nparameters = { site = "lille" }'
    assert by_generator in text
    rows = []
    for way in (by_generator.replace("lille", "rennes"),
                f'file = "{ROOT / "platforms_xml" / "rennes.xml"}"'):  # fmt: skip
        (tmp_path / "scenario.toml").write_text(text.replace(by_generator, way))
        outcome = run_scenario(load_scenario(tmp_path / "scenario.toml"))
        rows.append((outcome.row["makespan"], outcome.listings[1].lines))
    assert rows[0] == rows[1]
    # N'takpé and Suter's table: 64, 99 and 66 processors of 3.573, 3.364 and 4.603 Gflop/s.
    assert [(name, count, speed) for name, count, speed, *_ in rows[1][1]] == [
        ("parasol", 64, 3.573e9),
        ("paravent", 99, 3.364e9),
        ("paraquad", 66, 4.603e9),
    ]


def test_a_bundle_is_sold_at_the_largest_benefit():
    outcome = run_scenario(load_scenario(ROOT / "scenarios" / "market.toml"))
    assert outcome.row.gap == pytest.approx(0.0, abs=1e-9)
    assert abs(outcome.row["ect_error"]) < 1e-6
    [peers] = outcome.listings
    assert sum(peers.column("tasks")) == 1000
    # Who is idle asks for less than the price for its first task, and nobody else does.
    pairs = zip(peers.column("base price"), peers.column("tasks"), strict=True)
    assert all(
        (tasks > 0) == (price >= outcome.row["price"] * (1 - 1e-9)) for price, tasks in pairs
    )


def test_bundles_of_a_log_arrive_at_three_sites():
    outcome = run_scenario(load_scenario(ROOT / "scenarios" / "market_arrivals.toml"))
    [bundles, _] = outcome.listings
    assert outcome.row["tasks"] == sum(bundles.column("tasks")) == 2773
    assert set(bundles.column("site")) == {"site-1", "site-2", "site-3"}
    assert all(gap == pytest.approx(0.0, abs=1e-9) for gap in bundles.column("gap"))
    # A site serves one bundle after the other.
    for site in set(bundles.column("site")):
        dates = [line[4:7] for line in bundles.lines if line[2] == site]
        assert all(later[0] >= earlier[2] for earlier, later in pairwise(sorted(dates)))
