"""Adversaries: searches of known functions, replays, kills, and the library SAGA."""

import json
import math
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import networkx
import numpy as np
import pytest
from processes import wait_until
from scipy.optimize import brentq

from simplugin.calibration.adversary import Outcome, RobustnessCheck, load_adversary, ratio_of
from simplugin.calibration.annealing import InstanceSpace, Variable, anneal
from simplugin.calibration.search import design
from simplugin.campaigns.store import StoreReader
from simplugin.core.errors import ScenarioError
from simplugin.scenarios import load_scenario, run_scenario
from simplugin.scenarios.ranges import ParameterTable

SHIPPED = Path(__file__).parents[2] / "scenarios" / "studies" / "adversary.toml"
SMALL = "evaluations = 24\nrestarts = 2\ndraws = 4\nseeds = 2\norders = 2"
UNIT = ParameterTable(low=0.0, high=1.0)
SPACE = InstanceSpace(
    {
        "x": Variable(UNIT),
        "y": Variable(UNIT, ((), ()), True),
        "edges": Variable(UNIT, ((0, 1), (1, 2)), True, 4),
    }
)


def study(directory, **changed):
    """Write the shipped study with a small budget, and changed texts."""
    text = SHIPPED.read_text().replace("evaluations = 400", SMALL)
    for old, new in changed.items():
        assert old in text
        text = text.replace(old, new)
    file = directory / "study.toml"
    file.write_text(text)
    return file


def changes(old, new):
    return {old: new}


def test_moves_reach_all_edges_and_close_no_cycle():
    random, instance, seen = np.random.default_rng(1), SPACE.at([0.5] * 5), set()
    for _ in range(3000):
        instance = SPACE.neighbour(instance, random)
        values = SPACE.values(instance)
        graph = networkx.DiGraph([(a, b) for a, b, _ in values["edges"]])
        assert networkx.is_directed_acyclic_graph(graph)
        assert graph.number_of_edges() == len(values["edges"])
        numbers = [values["x"], *values["y"], *(each[2] for each in values["edges"])]
        assert all(0 <= each <= 1 for each in numbers)
        seen |= set(graph.edges)
    assert seen == {(a, b) for a in range(4) for b in range(4) if a != b}


def known(instance):
    """Return a ratio of known maximum 1 + e, where x = 0.2, y = (0.9, 0.4), with 6 edges."""
    values = SPACE.values(instance)
    away = np.array([values["x"], *values["y"]]) - [0.2, 0.9, 0.4]
    return 1 + math.exp(len(values["edges"]) / 6 - 20 * float(away @ away))


def test_annealing_finds_a_known_maximum():
    """It beats draws of the same number, asks nothing twice at once, and can be repeated."""
    points = [SPACE.at(each) for each in design("sobol", 5, 600, 0)]
    drawn = max(map(known, points))

    def searched():
        starts = [(each, known(each)) for each in points[:3]]
        ratios = lambda every: [known(each) for each in every]  # noqa: E731
        return anneal(SPACE, starts, ratios, evaluations=600, seed=4)

    found = searched()
    assert found == searched()
    assert all(
        len(each.history) == 201 and known(each.instance) == max(each.history) for each in found
    )
    assert max(max(each.history) for each in found) > max(drawn, 1 + 0.95 * math.e)


def test_runs_that_fail_are_never_the_worst():
    found = anneal(
        SPACE,
        [(SPACE.at([0.5] * 5), 1.0)],
        lambda every: [-math.inf for _ in every],
        evaluations=50,
        seed=0,
    )
    assert (max(found[0].history), len(found[0].history)) == (1.0, 51)
    check = RobustnessCheck("draws", outcomes([-math.inf, 0.5, 0.6]), 1.0)
    assert (check.held, check.failed, check.worst.ratio) == (2, 1, 0.6)


def test_ratios_of_zeros():
    inf = math.inf
    pairs = {(0, 0): 1, (0, 2): 0, (2, 0): inf, (3, 2): 1.5, (-1, 2): -inf, (1, math.nan): -inf}
    assert [ratio_of(*pair) for pair in pairs] == list(pairs.values())


def test_intervals_are_wilson_s():
    """Their ends are the shares from which the measured one is 1.96 standard errors away."""
    ratios = [*np.linspace(0.5, 0.99, 17), 1.1, 1.2, 1.3]
    check = RobustnessCheck("seeds", outcomes(ratios), 1.0)
    assert (check.held, check.worst.ratio) == (17, 1.3)

    def distance(share):
        return abs(share - 0.85) - 1.959963985 * math.sqrt(share * (1 - share) / 20)

    ends = brentq(distance, 1e-6, 0.85), brentq(distance, 0.85, 1 - 1e-9)
    assert check.interval == pytest.approx(ends, rel=1e-6)
    # Equal but for rounding; of a sample, that does not tell that nothing has an effect.
    equal = outcomes([*[0.5] * 19, np.nextafter(0.5, 1)])
    assert RobustnessCheck("seeds", equal, 1.0).interval is None
    assert RobustnessCheck("draws", equal, 1.0).interval is not None
    # Cases without a ratio tell nothing; zeros do.
    lost = RobustnessCheck("draws", (*check.outcomes, *outcomes([-math.inf] * 9)), 1.0)
    assert (lost.cases, lost.interval) == (20, check.interval)
    zeros = RobustnessCheck("draws", outcomes([0, 1, math.inf]), 1.0)
    assert (zeros.held, zeros.cases, zeros.worst.ratio) == (2, 3, math.inf)
    assert RobustnessCheck("searches", check.outcomes, 1.0).interval is None


def outcomes(ratios):
    """Return outcomes with such ratios."""
    return tuple(Outcome((), float(each)) for each in ratios)


def runs_in(store):
    """Return how many runs a store has."""
    if not store.exists():
        return 0
    with StoreReader(store) as reader:
        return sum(1 for _ in reader.runs())


def test_a_killed_search_goes_on_and_its_worst_case_replays(tmp_path, simplugin):
    """Killed three times, it ends as one that was not; either scheduler's file has its value."""
    (tmp_path / "whole").mkdir()
    file, whole = study(tmp_path), study(tmp_path / "whole")
    store = file.with_suffix(".sqlite")
    command = [sys.executable, "-m", "simplugin", "adversary", str(file), "-j", "1", "--json"]
    for _ in range(3):
        before = runs_in(store)
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
        wait_until(lambda seen=before: runs_in(store) >= seen + 12)
        os.kill(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    resumed = json.loads(simplugin("adversary", file, "--json", "-j", "1").stdout)
    page = tmp_path / "page"
    found = json.loads(simplugin("adversary", whole, "--json", "-o", page, "-j", "1").stdout)
    for each in (resumed, found):
        assert each.pop("seconds") > 0
        each["files"] = len(each["files"])
    assert resumed.pop("files") + 1 == found.pop("files") == 3
    assert resumed == found
    with StoreReader(store) as reader:
        keys = Counter(run.record.job.key for run in reader.runs())
    assert set(keys.values()) == {1}
    worst = found["counterexample"]
    assert worst["ratio"] == max(each for one in found["histories"] for each in one)
    parts = ((f"study.worst{end}.toml", key) for end, key in (("", "value"), (".against", "other")))
    for name, key in parts:
        row = json.loads(simplugin("run", tmp_path / name, "--json").stdout)
        assert row["metrics"]["makespan"]["value"] == worst[key]
    assert worst["value"] / worst["other"] == worst["ratio"]
    text = (page / "index.html").read_text()
    assert "searches" in text
    assert "simplugin run" in text


def test_against_the_bound(tmp_path, simplugin):
    """The ratio is one more than the gap of the file that replays it."""
    file = study(tmp_path, **changes('against = "taskgraphs.cpop"', 'against = "bound"'))
    found = json.loads(simplugin("adversary", file, "--json").stdout)
    assert [each["name"] for each in found["checks"]][2:] == ["draws", "searches"]
    assert len(found["files"]) == 1
    row = run_scenario(load_scenario(found["files"][0])).row
    assert found["counterexample"]["ratio"] == pytest.approx(1 + row.gap, rel=1e-12)
    assert found["counterexample"]["ratio"] >= found["nominal"]["ratio"] >= 1


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ('"taskgraphs.cpop"', '"taskgraphs.cpp"', "adversary.against"),
        ('against = "taskgraphs.cpop"', "", "adversary.against"),
        ('low = 50, high = 500, unit = "MBps"', "low = -1, high = 5", "bandwidths"),
        ("workload.graphs.diamond.flop", "workload.graphs.ruby.flop", "ruby"),
        ("workload.graphs.diamond.flop", "scheduler.parameters.transfers", "parameters.transfers"),
        ("workload.graphs.diamond.flop", "workload.graphs", "workload.graphs"),
        ("workload.graphs.diamond.flop", '"workload.graphs.diamond.edges.0.2"', "edges is set"),
        (SMALL, "draws = 0", "adversary.draws"),
        (SMALL, f"{SMALL}\n".replace("restarts = 2", "restarts = 5"), "adversary.restarts"),
        ('"taskgraphs.cpop"', '"taskgraphs.heft"', "adversary.against"),
    ],
)  # fmt: skip
def test_mistakes_have_their_lines(tmp_path, old, new, key):
    text = study(tmp_path, **changes(old, new))
    if new == "workload.graphs":
        kept = (line for line in text.read_text().splitlines() if "diamond.edges" not in line)
        text.write_text("\n".join(kept))
    with pytest.raises(ScenarioError) as caught:
        load_adversary(text)
    assert (caught.value.file, caught.value.line is None) == (text, False)
    assert key in str(caught.value)


def test_a_metric_that_is_missing(tmp_path, simplugin):
    file = study(tmp_path, **changes(SMALL, f'{SMALL}\nmetric = "makespans"'))
    done = simplugin("adversary", file, merge=True)
    assert done.returncode == 1
    line = 1 + file.read_text().splitlines().index('metric = "makespans"')
    assert f"study.toml:{line}: adversary.metric" in done.stdout


def test_makespans_are_those_of_saga():
    """Without contention they are equal but for ties and for readings that are understood."""
    pytest.importorskip("saga.schedulers", reason="the library SAGA is not installed")
    import adversaries

    found = adversaries.makespans(14)
    assert set(found["sufferage"]) <= {"equal", "ties"}
    assert not any(each["not understood"] for each in found.values())
    assert all(each["equal"] > 3 for each in found.values())
