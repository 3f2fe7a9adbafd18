"""Settings: what they do to a platform, in closed form where there is one."""

import numpy as np
import pytest
from small_trees import execute

from simplugin.bags.policies.classics import fcfs
from simplugin.papers.beaumont import conditions
from simplugin.papers.beaumont.conditions import LATENCY, LEFT, ONSET, SPREAD, arguments
from simplugin.papers.beaumont.instances import instance
from simplugin.platforms import Profile, ProfileUse
from simplugin.platforms.graphs import Tree
from simplugin.platforms.topologies.random_graphs import random_tree
from simplugin.workloads.applications import Bags

SPEED, BANDWIDTH, TASKS, FLOP, BYTE = 1e8, 1e6, 40, 2e9, 3e7
BAGS = Bags(("only",), FLOP, BYTE, 1.0, TASKS)
ALONE = Tree(("root",), [-1], [SPEED], [np.inf], [0.0])
# The root only distributes, so that all tasks go over the link.
PAIR = Tree(("root", "child"), [-1, 0], [0.0, SPEED], [np.inf, BANDWIDTH], [0.0, 0.0])
SLOW = Bags(("only",), FLOP / 100, BYTE, 1.0, TASKS)


def draw(name, tree, horizon=1e4, seed=1, bags=BAGS):
    """Return the arguments of an execution under some conditions."""
    return arguments(name, tree, np.random.default_rng(seed), horizon, bags)


def run(tree, bags, name, horizon, seed=1):
    return execute(tree, bags, fcfs(tree, bags), **draw(name, tree, horizon, seed, bags))


def profiles(platform):
    """Return the points of what each host and link follows."""
    texts = {each.id: each for each in platform.elements if isinstance(each, Profile)}
    uses = [each for each in platform.elements if isinstance(each, ProfileUse)]
    assert len({use.profile for use in uses}) == len(uses) == len(texts)
    points = {name: np.loadtxt(each.text.splitlines()) for name, each in texts.items()}
    return {(use.element, use.kind): points[use.profile] for use in uses}


SECONDS = [
    ("plain", BYTE / BANDWIDTH),
    # Of what goes up there are requests only, hence nothing for acknowledgements to slow down.
    ("default model", BYTE / (0.97 * BANDWIDTH)),
    ("default model, no cross-traffic", BYTE / (0.97 * BANDWIDTH)),
    ("latency 6 ms", BYTE / BANDWIDTH + LATENCY),
]


@pytest.mark.parametrize(("name", "seconds"), SECONDS)
def test_time_of_a_transfer(name, seconds):
    done = run(PAIR, SLOW, name, 1.0)
    assert done.port_busy[0] == pytest.approx(TASKS * seconds, rel=1e-6)
    # None leaves cross-traffic as SimGrid has it.
    traffic = {"default model": None}.get(name, False)
    assert draw(name, PAIR)["options"].crosstraffic is traffic


def test_latencies_are_in_their_range_and_the_default_model_bounds_bandwidths():
    late = run(PAIR, SLOW, "latency 6 ms to 10 s", 1.0)
    latency = late.port_busy[0] / TASKS - BYTE / BANDWIDTH
    assert 6e-3 <= latency <= 10.0
    bound = run(PAIR, SLOW, "default model, latency 6 ms to 10 s", 1.0)
    # SimGrid multiplies latencies by 13.01, though not for its window of 4 MiB, there and back.
    window = 4194304 / (2 * latency)
    expected = TASKS * (BYTE / (0.97 * window) + 13.01 * latency)
    assert bound.port_busy[0] == pytest.approx(expected, rel=1e-5)


def test_factors_are_spread_around_one():
    tree = random_tree(30, 5, np.random.default_rng(1))
    found = profiles(draw("availability", tree)["platform"])
    assert len(found) == 30 + 29
    speeds = [found[name, "SPEED"][:, 1] * (1 + SPREAD) for name in tree.hosts]
    links = [
        found[f"{tree.hosts[tree.parent[host]]}->{tree.hosts[host]}", "BANDWIDTH"][:, 1]
        / tree.bandwidth[host]
        for host in range(1, 30)
    ]
    for factors in map(np.concatenate, (speeds, links)):
        assert np.all(np.abs(factors - 1) <= SPREAD + 1e-9)
        assert factors.mean() == pytest.approx(1.0, abs=0.03)
    for name, kind in (("speeds vary", "SPEED"), ("bandwidths vary", "BANDWIDTH")):
        assert {each for _, each in profiles(draw(name, tree)["platform"])} == {kind}


def test_load_comes_for_good():
    horizon = TASKS * FLOP / SPEED
    loaded = {}
    for seed in range(20):
        points = profiles(draw("load comes", ALONE, horizon, seed)["platform"])
        loaded.setdefault(points["root", "SPEED"][-1, 1], seed)
    assert set(loaded) == {LEFT, 1.0}
    done = run(ALONE, BAGS, "load comes", horizon, loaded[LEFT])
    assert done.completion[0][-1] == pytest.approx(horizon * (ONSET + (1 - ONSET) / LEFT))


def test_transfers_of_others_share_the_link():
    horizon = TASKS * BYTE / BANDWIDTH
    drawn = [draw("others transfer", PAIR, horizon, seed) for seed in range(20)]
    assert {len(each["others"]) for each in drawn} == {0, 2}
    further = next(each for each in drawn if each["others"])
    done = execute(PAIR, SLOW, fcfs(PAIR, SLOW), trace=True, **further)
    trace = done.result.trace
    rows = trace.label_code == trace.label_names.index("of others")
    end = np.minimum(trace.end[rows], done.completion[0][-1])
    # Each gets half of the bandwidth while both transfer.
    busy = float(np.sum(end - trace.start[rows]))
    assert done.port_busy[0] == pytest.approx(horizon + busy / 2, rel=0.05)
    assert done.port_busy[0] > 1.05 * horizon


def test_some_hosts_fail_once_but_never_the_root():
    tree = random_tree(400, 5, np.random.default_rng(1))
    further = draw("hosts fail", tree)
    assert further["failures"] is True
    states = profiles(further["platform"])
    assert len(states) == pytest.approx(conditions.FAILING * 400, abs=40)
    assert (tree.hosts[0], "HOST_AVAIL") not in states
    for points in states.values():
        assert points[:, 1].tolist() == [0.0, 1.0]
        assert 0 < points[1, 0] - points[0, 0] < 1e4


@pytest.mark.parametrize("name", conditions.CONDITIONS)
def test_draws_decide_and_all_tasks_are_done(name):
    tree, bags = instance("A", 2008, 1, count=20)
    one, same, other = (draw(name, tree, 500.0, seed, bags) for seed in (1, 1, 2))
    assert one["platform"] == same["platform"]
    if profiles(one["platform"]) and name != "one host slows":
        assert one["platform"] != other["platform"]
    done = execute(tree, bags, fcfs(tree, bags), **one)
    assert [len(dates) for dates in done.completion] == [20] * bags.n_applications
    again = execute(tree, bags, fcfs(tree, bags), **same)
    for dates, repeated in zip(done.completion, again.completion, strict=True):
        assert np.array_equal(dates, repeated)


@pytest.mark.parametrize(("byte", "slowed"), [(1.0, "far"), (1e6, "near")])
def test_the_host_with_most_work_slows(byte, slowed):
    # A fast host behind a slow link, and a slow one behind a fast link.
    tree = Tree(("root", "far", "near"), [-1, 0, 0], [0.0, 4e8, 2e8], [np.inf, 1e6, 1e9], [0.0] * 3)
    bags = Bags(("a",), 1e8, byte, 1.0, 400)
    found = profiles(draw("one host slows", tree, 100.0, 0, bags)["platform"])
    changed = {key: points for key, points in found.items() if not np.all(points[:, 1] == 1)}
    assert list(changed) == [(slowed, "SPEED")]
    assert changed[slowed, "SPEED"].tolist() == [[0.0, 1.0], [ONSET * 100.0, LEFT]]
