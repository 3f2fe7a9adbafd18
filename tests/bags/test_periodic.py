"""Periodic schedules: their arithmetic, and what comes of them on SimGrid."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simplugin.bags.execution import PeriodicExecution, execute_periodic
from simplugin.bags.periodic import PeriodicSchedule, natural_period, periodic_schedule
from simplugin.errors import InfeasibleError, WorkloadError
from simplugin.optimum.exact_steady_state import exact_steady_state
from simplugin.platforms.graphs import Tree
from simplugin.platforms.topologies.random_trees import random_tree
from simplugin.workloads.applications import Bags


def tree_of(parent: list[int], speed: list[float], bandwidth: list[float]) -> Tree:
    """Return a tree from its parents, speeds and the bandwidths below the root."""
    names = tuple(f"h{i}" for i in range(len(parent)))
    return Tree(
        names,
        np.array(parent),
        np.array(speed),
        np.array([np.inf, *bandwidth]),
        np.zeros(len(parent)),
    )


# Two types, on two levels below the root.
TREE = tree_of([-1, 0, 0, 1, 1], [2.0, 3.0, 4.0, 5.0, 6.0], [10.0, 7.0, 6.0, 4.0])
BAGS = Bags(("x", "y"), np.array([1.0, 2.0]), np.array([3.0, 1.0]), np.ones(2), np.ones(2))


def random_instance(seed: int) -> tuple[Tree, Bags]:
    """Return a random tree whose links feed several levels, and three applications."""
    rng = np.random.default_rng(seed)
    tree = random_tree(12, 2, rng, bandwidths=(1e8, 1e9), root_computes=bool(seed % 2))
    flop = np.array([8.575e10, 3e10, 6e10])
    return tree, Bags(("a", "b", "c"), flop, flop * [1e-3, 0.02, 0.3], np.ones(3), np.ones(3))


def check_capacities(schedule: PeriodicSchedule) -> None:
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


def check_execution(run: PeriodicExecution) -> None:
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


def check_ports(run: PeriodicExecution) -> None:
    """Assert that no host sends, or receives, or computes, two things at a time."""
    trace = run.result.trace
    ends = {"out": 0, "in": 1}
    kinds, names = np.array(trace.kind), np.array(trace.resource)
    for side in ends:
        port = np.array([name.split("->")[ends[side]] if "->" in name else "" for name in names])
        for host in run.schedule.tree.hosts:
            own = np.flatnonzero((kinds == "comm") & (port == host))
            own = own[np.argsort(trace.start[own])]
            assert np.all(trace.start[own[1:]] >= trace.end[own[:-1]] - 1e-9)
    for host in run.schedule.tree.hosts:
        own = np.flatnonzero((kinds == "exec") & (names == host))
        own = own[np.argsort(trace.start[own])]
        assert np.all(trace.start[own[1:]] >= trace.end[own[:-1]] - 1e-9)


def test_the_period_of_a_star_is_the_shortest() -> None:
    # 3/2 and 1/4 tasks a second: in 4 seconds 6 and 1.
    tree = tree_of([-1, 0, 0], [0.0, 3.0, 7.0], [4.0, 0.4])
    bags = Bags(("a",), np.array([2.0]), np.array([1.0]), np.ones(1), np.ones(1))
    schedule = periodic_schedule(tree, bags, max_denominator=10)
    assert schedule.period == 4
    assert schedule.compute == ((0,), (6,), (1,))
    assert schedule.sent == ((7,), (6,), (1,))
    assert schedule.throughput == schedule.optimum == (Fraction(7, 4),)
    assert schedule.buffer == (0, 12, 2)
    assert (schedule.depth, schedule.startup) == (1, (7,))


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), period=st.floats(1e4, 1e6))
def test_any_period_keeps_capacities_and_loses_little(seed: int, period: float) -> None:
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


def test_long_periods_are_cut() -> None:
    tree, bags = random_instance(1)
    state = exact_steady_state(tree, bags)
    assert natural_period(state) > 1e20
    assert periodic_schedule(tree, bags, state=state, max_period=1e4).period == 10_000
    assert periodic_schedule(TREE, BAGS, max_period=1e4).period == 2


@pytest.mark.parametrize("n_periods", [1, 3, 30])
def test_simgrid_keeps_the_optimum(n_periods: int) -> None:
    schedule = periodic_schedule(TREE, BAGS)
    assert schedule.lost == (0, 0)
    assert schedule.depth == 2
    check_execution(execute_periodic(schedule, n_periods))


@pytest.mark.parametrize("seed", range(4))
def test_simgrid_keeps_rounded_rates(seed: int) -> None:
    tree, bags = random_instance(seed)
    schedule = periodic_schedule(tree, bags, max_period=5e4)
    assert schedule.depth >= 2
    assert max(x / y for x, y in zip(schedule.lost, schedule.optimum, strict=True)) < 0.1
    check_execution(execute_periodic(schedule, 5))


def test_the_distance_from_the_optimum_does_not_grow() -> None:
    schedule = periodic_schedule(TREE, BAGS)
    missing = []
    for n_periods in (4, 16, 64):
        run = execute_periodic(schedule, n_periods, trace=False)
        until = n_periods * float(schedule.period)
        optimum = np.array(schedule.optimum, float) * until
        missing.append(optimum - run.done(until))
    assert np.all(missing[0] == missing[1])
    assert np.all(missing[0] == missing[2])
    assert np.all(missing[0] <= schedule.startup)
    assert np.all(missing[0] > 0)


def test_too_short_a_period_is_noticed() -> None:
    # Had capacities not been kept, the dates would tell.
    schedule = periodic_schedule(TREE, BAGS)
    hasty = replace(schedule, period=schedule.period / 2)
    run = execute_periodic(hasty, 10)
    with pytest.raises(AssertionError):
        check_execution(run)


def test_what_makes_no_sense_is_refused() -> None:
    tree, bags = random_instance(1)
    for name in ("period", "max_period"):
        with pytest.raises(InfeasibleError, match=rf"^{name} is -1; give a number of seconds"):
            periodic_schedule(TREE, BAGS, **{name: -1})
    with pytest.raises(InfeasibleError, match=r"task of 'x' in a period of 0\.1 s; give a longer"):
        periodic_schedule(TREE, BAGS, period=0.1)
    with pytest.raises(WorkloadError, match=r"tasks, more than 1e\+07; give periodic_schedule"):
        execute_periodic(periodic_schedule(tree, bags), 1)
    with pytest.raises(WorkloadError, match="n_periods is 0; give a number from 1 on"):
        execute_periodic(periodic_schedule(TREE, BAGS), 0)
