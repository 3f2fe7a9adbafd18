"""Periodic schedules: their arithmetic, and what comes of them on SimGrid."""

from collections import defaultdict
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naming import raises_naming
from small_trees import bags_of, tree_of

from simplugin.bags.execution import execute_periodic
from simplugin.bags.periodic import natural_period, periodic_schedule
from simplugin.core.errors import InfeasibleError, WorkloadError
from simplugin.optimum.exact_steady_state import exact_steady_state
from simplugin.platforms.topologies.random_graphs import random_tree

# Two types, on two levels below the root.
TREE = tree_of([-1, 0, 0, 1, 1], [2.0, 3.0, 4.0, 5.0, 6.0], [10.0, 7.0, 6.0, 4.0])
BAGS = bags_of([1.0, 2.0], [3.0, 1.0])


def random_instance(seed):
    """Return a random tree whose links feed several levels, and three applications."""
    rng = np.random.default_rng(seed)
    tree = random_tree(12, 2, rng, bandwidths=(1e8, 1e9), root_computes=bool(seed % 2))
    flop = np.array([8.575e10, 3e10, 6e10])
    return tree, bags_of(flop, flop * [1e-3, 0.02, 0.3])


def check_capacities(schedule):
    """Assert that a period's tasks fit into it, exactly, and that none is lost."""
    tree, period = schedule.tree, schedule.period
    flop = [Fraction(x) for x in schedule.bags.flop.tolist()]
    byte = [Fraction(x) for x in schedule.bags.byte.tolist()]
    for host, children in enumerate(tree.children):
        work = sum(n * x for n, x in zip(schedule.compute[host], flop, strict=True))
        assert work <= Fraction(tree.speed[host]) * period
        rows = [schedule.sent[child] for child in children]
        assert schedule.sent[host] == tuple(
            map(sum, zip(schedule.compute[host], *rows, strict=True))
        )
        times = [
            sum(n * x for n, x in zip(row, byte, strict=True)) / Fraction(tree.bandwidth[child])
            for row, child in zip(rows, children, strict=True)
        ]
        assert sum(times) <= period


def check_execution(run):
    """Assert what section 4.2 of the paper promises, date by date."""
    schedule = run.schedule
    period, per_period = float(schedule.period), np.array(schedule.sent[0])
    done = np.array([run.done(i * period) for i in range(run.n_periods + schedule.depth + 1)])
    for i in range(run.n_periods + 1):
        assert np.all(done[i] >= i * per_period - np.array(schedule.startup))
        assert np.all(done[i] <= i * per_period)
    # The rate is exact once all hosts have started.
    steady = np.diff(done[schedule.depth : run.n_periods + 1], axis=0)
    assert np.all(steady == per_period)
    assert np.array_equal(done[-1], run.n_periods * per_period)
    computed = np.zeros((schedule.tree.n_hosts, len(per_period)), dtype=np.int64)
    np.add.at(computed, (run.host, run.kind), 1)
    assert np.array_equal(computed, run.n_periods * np.array(schedule.compute))
    assert np.all(run.most <= schedule.buffer)
    check_ports(run)


def check_ports(run):
    """Assert that no host sends, or receives, or computes, two things at a time."""
    trace = run.result.trace
    used = defaultdict(list)
    columns = zip(trace.kind, trace.resource, trace.start, trace.end, strict=True)
    for kind, name, *dates in columns:
        if kind in ("comm", "exec"):
            for side, host in enumerate(name.split("->")):
                used[kind, side, host].append(dates)
    for times in map(sorted, used.values()):
        assert all(after[0] >= before[1] - 1e-9 for before, after in pairwise(times))


def test_the_period_of_a_star_is_the_shortest():
    # 3/2 and 1/4 tasks a second: in 4 seconds 6 and 1.
    tree = tree_of([-1, 0, 0], [0.0, 3.0, 7.0], [4.0, 0.4])
    schedule = periodic_schedule(tree, bags_of([2.0], [1.0]), max_denominator=10)
    assert schedule.period == 4
    assert schedule.compute == ((0,), (6,), (1,))
    assert schedule.sent == ((7,), (6,), (1,))
    assert schedule.throughput == schedule.optimum == (Fraction(7, 4),)
    assert schedule.buffer == (0, 12, 2)
    assert (schedule.depth, schedule.startup) == (1, (7,))


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), period=st.floats(1e4, 1e6))
def test_any_period_keeps_capacities_and_loses_little(seed, period):
    tree, bags = random_instance(seed)
    state = exact_steady_state(tree, bags)
    natural = periodic_schedule(tree, bags, state=state)
    check_capacities(natural)
    assert natural.throughput == natural.optimum == state.throughput
    assert np.gcd.reduce(np.array(natural.compute, dtype=object).ravel()) == 1
    rounded = periodic_schedule(tree, bags, state=state, period=period)
    check_capacities(rounded)
    assert rounded.period == period < natural.period
    for kind, lost in enumerate(rounded.lost):
        hosts = sum(1 for row in state.compute if row[kind])
        assert 0 <= lost < hosts / rounded.period


def test_long_periods_are_cut():
    tree, bags = random_instance(1)
    state = exact_steady_state(tree, bags)
    assert natural_period(state) > 1e20
    assert periodic_schedule(tree, bags, state=state, max_period=1e4).period == 10_000
    assert periodic_schedule(TREE, BAGS, max_period=1e4).period == 2


@pytest.mark.parametrize("n_periods", [1, 4, 64])
def test_simgrid_keeps_the_optimum(n_periods):
    schedule = periodic_schedule(TREE, BAGS)
    assert schedule.lost == (0, 0)
    assert schedule.depth == 2
    check_execution(execute_periodic(schedule, n_periods))


@pytest.mark.parametrize("seed", range(2))
def test_simgrid_keeps_rounded_rates(seed):
    tree, bags = random_instance(seed)
    schedule = periodic_schedule(tree, bags, max_period=5e4)
    assert schedule.depth >= 2
    assert max(x / y for x, y in zip(schedule.lost, schedule.optimum, strict=True)) < 0.1
    check_execution(execute_periodic(schedule, 5))


def test_what_makes_no_sense_is_refused():
    tree, bags = random_instance(1)
    for name in ("period", "max_period"):
        with raises_naming(InfeasibleError, name, "-1"):
            periodic_schedule(TREE, BAGS, **{name: -1})
    with raises_naming(InfeasibleError, "'a'", "0.1 s"):
        periodic_schedule(TREE, BAGS, period=0.1)
    with raises_naming(WorkloadError, "periodic_schedule"):
        execute_periodic(periodic_schedule(tree, bags), 1)
    with raises_naming(WorkloadError, "n_periods", "0"):
        execute_periodic(periodic_schedule(TREE, BAGS), 0)
