"""Scenarios whose applications are bags of tasks."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

from simplugin.formats.platform_xml import write_platform
from simplugin.platforms.graphs import Graph
from simplugin.scenarios import load_scenario, run_scenario
from simplugin.scenarios.importing import importable
from simplugin.scenarios.outputs import outcome_document

with importable(Path(__file__).parent):
    from changed_scenarios import change, refused

SCENARIO = """
title = "Two share a line"

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


@pytest.fixture
def line(tmp_path):
    """A scenario on three hosts in a line."""
    graph = Graph.duplex("abc", np.array([1e6, 4e6, 3e6]), np.array([(0, 1), (1, 2)]), [1e8, 1e8])
    write_platform(graph.platform(), tmp_path / "line.xml")
    path = tmp_path / "line.toml"
    path.write_text(SCENARIO)
    return path


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    """What the scenario gives."""
    path = tmp_path_factory.mktemp("line")
    graph = Graph.duplex("abc", np.array([1e6, 4e6, 3e6]), np.array([(0, 1), (1, 2)]), [1e8, 1e8])
    write_platform(graph.platform(), path / "line.xml")
    (path / "line.toml").write_text(SCENARIO)
    return run_scenario(load_scenario(path / "line.toml"))


def listing(outcome, title):
    [found] = [each for each in outcome.listings if each.title == title]
    return found


def test_market_reaches_the_closed_form(outcome):
    row = outcome.row
    assert row.best.value == pytest.approx(OPTIMUM, rel=1e-9)
    assert row["objective"] == pytest.approx(OPTIMUM, rel=1e-6)
    assert abs(row.gap) < 1e-6
    assert row["worst_error"] < 1e-3
    assert row["rounds"] == 40
    assert 0 < row["rounds_to_5_percent"] <= row["rounds_to_1_percent"] < 40
    assert (row["makespan"], row["actors_killed"]) == (outcome.result.clock, 0)
    assert row["negotiation_bytes"] > 0
    assert row.provenance["options"]["network/model"] == "CM02"


def test_applications_stand_beside_their_optimum(outcome):
    found = listing(outcome, "Applications")
    assert found.column("application") == ("x", "y")
    assert found.column("optimum") == pytest.approx((X, Y), rel=1e-7)
    assert found.column("throughput") == pytest.approx((X, Y), rel=1e-3)
    assert found.column("gap") == pytest.approx((0, 0), abs=1e-3)


def test_busiest_resources_have_their_prices(outcome):
    hosts = listing(outcome, "Busiest hosts")
    assert sorted(hosts.column("host")) == ["a", "b", "c"]
    # Proportional fairness: what all hosts cost is the sum of the weights.
    price = 4 / 8e6 * 1e9
    assert hosts.column("price [utility/Gflop]") == pytest.approx([price] * 3, rel=1e-3)
    assert hosts.column("optimal price") == pytest.approx([price] * 3, rel=1e-6)
    assert hosts.column("load") == pytest.approx([1, 1, 1], rel=1e-3)
    links = listing(outcome, "Busiest links")
    assert links.column("price [utility/GB]") == pytest.approx([0] * len(links.lines), abs=1e-9)


def test_convergence_has_rounds_and_dates(outcome):
    found = listing(outcome, "Convergence")
    assert set(found.column("within")) == {0.05, 0.01, 0.005}
    dates = found.column("date")
    assert all(0 < date <= outcome.result.clock for date in dates)
    assert found.column("from round")[1] == outcome.row["rounds_to_1_percent"]


def test_curves_end_at_the_optimum(outcome):
    objective, throughputs, prices = outcome.figures
    assert objective.lines["optimum"] == pytest.approx(OPTIMUM)
    assert list(throughputs.series) == ["x", "y"]
    for rounds, ratio in throughputs.series.values():
        assert (len(rounds), ratio[-1]) == (41, pytest.approx(1, rel=1e-3))
    # Price times capacity, largest first.
    worth = [series[-1] for _, series in prices.series.values()]
    assert worth[:3] == pytest.approx([2.0, 1.5, 0.5], rel=1e-3)


def test_document_is_json(outcome):
    document = json.loads(json.dumps(outcome_document(outcome), allow_nan=False))
    titles = [each["title"] for each in document["listings"]]
    assert titles == ["Applications", "Busiest hosts", "Busiest links", "Convergence"]


@pytest.mark.parametrize("name", ["scaled", "unscaled", "market", "market_accelerated"])
def test_every_shipped_method_runs(line, name):
    change(line, '"pricing.market"', f'"pricing.{name}"')
    change(line, "rounds = 40", "rounds = 3")
    assert run_scenario(load_scenario(line)).row["rounds"] == 3


def test_steps_are_parameters(line):
    change(line, '"pricing.market"', '"pricing.scaled"')
    path = change(line, "rounds = 40", "rounds = 2, start_rate = 7.0")
    _, throughputs, _ = run_scenario(load_scenario(path)).figures
    # Three agents of x at the start.
    assert throughputs.series["x"][1][0] == pytest.approx(3 * 7.0 / X)


def test_restricted_hosts_and_trees(line):
    change(line, "byte = 10\n", 'byte = 10\nhosts = ["a"]\n')
    path = change(line, "[scheduler]", '[workload.trees]\ny = { b = "c" }\n\n[scheduler]')
    found = listing(run_scenario(load_scenario(path)), "Applications")
    # x has host a alone, y the others.
    assert found.column("optimum") == pytest.approx((1e6 / 1e3, 7e6 / 2e3), rel=1e-7)


def test_random_platform(line):
    change(line, 'master = "a"', 'master = "h0"')
    change(line, 'master = "c"', 'master = "h1"')
    keys = 'generator = "random_graph"\nparameters = {{ shape = "star", n_hosts = 4 }}\nseed = {}'
    path = change(line, 'file = "line.xml"', keys.format(3))
    row = run_scenario(load_scenario(path)).row
    # Equal hosts of 5e8 flop/s, links as wide.
    x, y = 4 * 5e8 / 4 / 1e3, 4 * 5e8 * 3 / 4 / 2e3
    assert row.best.value == pytest.approx(math.log(x) + 3 * math.log(y), rel=1e-6)
    change(path, "n_hosts = 4", "n_hosts = 4, decades = 2.0")
    drawn = [run_scenario(load_scenario(path)).row.best.value]
    drawn.append(run_scenario(load_scenario(change(path, "seed = 3", "seed = 4"))).row.best.value)
    assert len({row.best.value, *drawn}) == 3


def test_method_of_ones_own(line):
    (line.parent / "mine.py").write_text(
        "from simplugin.pricing.policies.gradient import Gradient, Steps\n\n\n"
        "def careful(speed):\n    return Gradient(steps=Steps(host=speed))\n"
    )
    change(line, '"pricing.market"', '"mine:careful"')
    path = change(line, "rounds = 40", "rounds = 2, speed = 1e-3")
    assert run_scenario(load_scenario(path)).row["rounds"] == 2


def test_method_without_agents(line):
    (line.parent / "mine.py").write_text("def nothing():\n    return 3\n")
    change(line, "parameters = { rounds = 40 }", "")
    error = refused(change(line, '"pricing.market"', '"mine:nothing"'))
    assert "line.toml:24: there are no agents for int" in str(error)


@pytest.mark.parametrize(
    ("old", "new", "line_number", "told"),
    [
        ('flop = "1kf"', 'flop = "1kB"', 13, "unknown unit 'kB'"),
        ('flop = "1kf"', "flop = -1.0", 10, "flop of application 'x' is -1.0"),
        ('byte = "20B"', "bytes = 20", 20, "did you mean 'byte'"),
        ('name = "y"', 'name = "x"', 10, "two applications are called 'x'"),
        ('master = "c"', 'master = "d"', 16, "its master 'd' is no host"),
        ('"pricing.market"', '"pricing.markt"', 24, "did you mean 'pricing.market'"),
        ('"pricing.market"', '"nowhere:method"', 24, "no module 'nowhere'"),
        ("rounds = 40", "rounds = 0", 25, "rounds is 0"),
        ("rounds = 40", "roundz = 40", 25, "did you mean 'rounds'"),
        ("rounds = 40", "rounds = true", 25, "rounds is True"),
        ("weight = 3.0", "hosts = []", 10, "application 'y' reaches no host"),
        ("weight = 3.0", 'start = "1m"', 16, "application 'y' is not there all the time"),
        ('kind = "bags"', 'kind = "bags"\nalpha = -1.0', 9, "greater than or equal to 0"),
        ('kind = "bags"', 'kind = "bags"\nalpha = inf', 9, "max-min"),
    ],
)
def test_mistakes_name_their_line(line, old, new, line_number, told):
    error = refused(change(line, old, new))
    assert told in str(error)
    assert f"line.toml:{line_number}:" in str(error)


@pytest.mark.parametrize("step", ['"big"', "-1.0", "nan"])
def test_steps_are_numbers(line, step):
    change(line, '"pricing.market"', '"pricing.scaled"')
    error = refused(change(line, "rounds = 40", f"rounds = 2, host = {step}"))
    assert re.search(r"line.toml:25: .*host is", str(error))


@pytest.mark.parametrize("name", ["b", "a-&gt;b"])
def test_platforms_that_change_are_refused(line, name):
    platform = line.parent / "line.xml"
    attribute = "id=" + f'"{name}"'
    profile = attribute + ' state_file="off.profile"'
    (line.parent / "off.profile").write_text("1 0\n")
    change(platform, attribute + " ", profile + " ")
    assert "must not change; remove it" in str(refused(line))


def test_scheduler_is_needed(line):
    text = line.read_text()
    start, end = text.index("[scheduler]"), text.index("[simulation")
    line.write_text(text[:start] + text[end:])
    assert "'pricing.market'" in str(refused(line))
