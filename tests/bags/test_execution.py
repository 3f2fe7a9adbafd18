"""Executions against closed forms, and against the model, as their traces tell."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from naming import raises_naming
from numpy.testing import assert_allclose
from small_trees import bags_of, execute, tree_of

from simplugin.bags.measurement import measure, with_errors
from simplugin.bags.policies.classics import (
    bandwidth_centric,
    bcs,
    fcfs,
    first_come_first_served,
    first_request_delays,
)
from simplugin.bags.policies.load_balancing import balanced
from simplugin.bags.policies.shipped import POLICIES
from simplugin.bags.policy import BagPolicy, NodePlan
from simplugin.core.errors import InfeasibleError, PlatformError, WorkloadError
from simplugin.papers.beaumont.instances import SEEDS, instance
from simplugin.papers.beaumont.new_policies import violations_of
from simplugin.papers.beaumont.trace_check import trace_violations
from simplugin.platforms.graphs import Tree
from simplugin.platforms.topologies.random_graphs import random_tree
from simplugin.simulation import SimGridOptions
from simplugin.workloads.applications import Bags

FCFS = BagPolicy("fcfs", first_come_first_served)
CGBC = BagPolicy("cgbc", bandwidth_centric, bundled=True)
BCS = BagPolicy("bcs", bandwidth_centric, parallel=True)
# A first request says one number: 8 bytes, and headers of 40.
REQUEST = 48.0


def random_plans(where, kinds, generator):
    """Return a plan for each node in which every target has a positive rate."""
    return tuple(
        NodePlan(tuple(map(tuple, generator.uniform(0.1, 1, (1 + len(children), kinds)).tolist())))
        for children in where.children
    )


def identities(execution):
    """Return the application and the number of each task that was computed."""
    stations = [each.value for each in execution.result.returned if each.value]
    return sorted(
        (application, number)
        for log in itertools.chain(*stations)
        for application, number, _ in log.done
    )


class TestClosedForms:
    def test_one_host_computes_in_turn(self):
        done = execute(tree_of([-1], [1e6], []), bags_of([2e6, 3e6], [1.0, 1.0], [3, 3]), FCFS)
        assert_allclose(done.completion[0], [2, 7, 12], rtol=1e-12)
        assert_allclose(done.completion[1], [5, 10, 15], rtol=1e-12)
        assert done.first == 0.0

    @pytest.mark.parametrize("flop", [0.5e6, 4e6], ids=["port-bound", "cpu-bound"])
    @pytest.mark.parametrize("late", [0.0, 0.25])
    def test_one_child(self, flop, late):
        where = tree_of([-1, 0], [0.0, 1e6], [1e5], late)
        done = execute(where, bags_of([flop], [1e5], [40]), FCFS)
        send, compute = 1.0 + late, flop / 1e6
        start = late + REQUEST / 1e5
        dates = start + send + compute + np.arange(40) * max(send, compute)
        assert_allclose(done.completion[0], dates, rtol=1e-9)
        assert done.most[1] == (10 if compute > send else 1)
        assert_allclose(done.port_busy[0], 40 * send, rtol=1e-9)
        assert_allclose(done.first, start, rtol=1e-9)

    def test_one_slot_hides_no_request(self):
        # With one slot, a request goes up when the worker takes the task: transfers and
        # computations overlap as far as there is something to overlap.
        where = tree_of([-1, 0], [0.0, 1e6], [1e5])
        done = execute(where, bags_of([0.5e6], [1e5], [20]), FCFS, buffer=1)
        cycle = REQUEST / 1e5 + 1.0
        assert_allclose(done.completion[0], np.arange(1, 21) * cycle + 0.5, rtol=1e-9)

    def test_chain_is_a_pipeline(self):
        where = tree_of([-1, 0, 1], [0.0, 0.0, 1e6], [1e5, 2e5])
        done = execute(where, bags_of([0.2e6], [1e5], [30]), FCFS)
        # The node between asks only once it has been asked.
        start = REQUEST / 2e5 + REQUEST / 1e5
        assert_allclose(done.completion[0], start + 1.0 + 0.5 + 0.2 + np.arange(30), rtol=1e-9)
        assert_allclose(done.port_busy, [30.0, 15.0, 0.0], rtol=1e-9)

    def test_free_requests_take_no_time(self):
        # With one slot nothing hides a request, and both links are slow for messages.
        where = tree_of([-1, 0, 1], [0.0, 0.0, 1e6], [1e3, 1e3], 0.5)
        work = bags_of([0.2e6], [1e3], [30])
        done = execute(where, work, FCFS, buffer=1, free_requests=True, trace=True)
        # A slot is free once its task has left: each link waits for the other.
        assert_allclose(done.completion[0], 3.0 + 0.2 + 3.0 * np.arange(30), rtol=1e-9)
        assert "request" not in done.result.trace.label

    @pytest.mark.parametrize("name", ["cgbc", "bcs"])
    def test_free_requests_of_one_instant_are_served_in_no_order_of_hosts(self, name):
        work, found = bags_of([1e9, 1e9], [1e6, 1e6], 40), []
        for order in ([0, 1, 2], [2, 1, 0], [1, 2, 0]):
            below = [(1e9, 1e4), (5e8, 1e6), (0.0, 1e8)]
            speed, width = zip(*(below[each] for each in order), strict=True)
            # The widest link leads to a host that hands on to a fast one.
            where = tree_of([-1, 0, 0, 0, 1 + order.index(2)], [0.0, *speed, 2e9], [*width, 1e7])
            done = execute(where, work, POLICIES[name](where, work), free_requests=True)
            ranked = [done.computed[1 + order.index(each)].tolist() for each in range(3)]
            found.append((ranked, done.computed[4].tolist(), done.result.clock))
        assert found[0] == found[1] == found[2]

    @pytest.mark.parametrize("free", [False, True])
    def test_first_requests_in_blocks_or_in_turn(self, free):
        # Two types in turn for two children alike: by blocks each gets both, in turn each its own.
        where, work = tree_of([-1, 0, 0], [0.0, 1e6, 1e6], 1e6), bags_of([1e6, 1e6], [1e5, 1e5], 20)
        how = {"buffer": 4, "free_requests": free}
        blocks = execute(where, work, FCFS, **how)
        assert np.all(blocks.computed[1:] > 0)
        single = execute(where, work, FCFS, single_requests=True, **how)
        assert sorted(single.computed[1:].tolist()) == [[0, 20], [20, 0]]

    def test_buffers_side_by_side(self):
        where, work = tree_of([-1, 0], [0.0, 1e4], 1e6), bags_of([1e6, 1e6], [1.0, 1.0], 20)
        for own, most in ((False, 4), (True, 8)):
            assert (
                execute(where, work, bcs(where, work, buffer_per_application=own), buffer=8).most[1]
                == most
            )

    def test_hosts_where_nobody_computes_get_nothing(self):
        where = tree_of([-1, 0, 0, 2], [0.0, 1e6, 0.0, 0.0], [1e5, 1e6, 1e6])
        done = execute(where, bags_of([1e6], [1e5], [30]), FCFS)
        assert done.computed[:, 0].tolist() == [0, 30, 0, 0]
        assert done.result.links.row("h0->h2")["bytes"] < 100

    def test_bandwidth_centric_star(self):
        # The fast child takes a task every 2 s and half of the port; the slow one gets the rest.
        where = tree_of([-1, 0, 0], [0.0, 1e6, 1e6], [1e6, 0.5e6])
        policy = BagPolicy("bc", bandwidth_centric)
        few, many = (
            execute(where, bags_of([2e6], [1e6], [count]), policy).computed[1:, 0]
            for count in (300, 600)
        )
        # Start and end are the same in both.
        assert np.abs(many - few - [200, 100]).max() <= 2

    def test_weights_of_bundles(self):
        where = tree_of([-1, 0], [0.0, 1e6], [1e6])
        done = execute(where, bags_of([1e6, 2e6], [1e5, 1e5], [20, 10], [2.0, 1.0]), CGBC)
        start = REQUEST / 1e6 + 0.3
        bundle = np.arange(10)
        first = start + 1 + 4 * bundle
        assert_allclose(done.completion[0], np.ravel([first, first + 1], "F"), rtol=1e-9)
        assert_allclose(done.completion[1], first + 3, rtol=1e-9)

    def test_applications_side_by_side_share_a_cpu_in_equal_time(self):
        done = execute(tree_of([-1], [1e6], []), bags_of([1e6, 3e6], [1.0, 1.0], [10, 10]), BCS)
        assert_allclose(done.completion[0], 2.0 * np.arange(1, 11), rtol=1e-9)
        # Three tasks of b by 18 s, and 1 of 2 s until 20 s: then alone.
        assert_allclose(done.completion[1][:3], [6, 12, 18], rtol=1e-9)
        assert_allclose(done.completion[1][3:], 20 + 2 + 3.0 * np.arange(7), rtol=1e-9)

    def test_applications_side_by_side_share_a_port_in_equal_time(self):
        where = tree_of([-1, 0], [0.0, 1e9], [1e6])
        done = execute(where, bags_of([1.0, 1.0], [1e6, 3e6], [60, 60]), BCS, buffer=20)
        first, second = done.completion
        # Each of a's tasks takes 1 s of the port, and 2 s as long as b sends too.
        assert abs(first[-1] - 120.0) < 2.0
        assert abs(np.searchsorted(second, first[-1]) - 20) <= 1
        # No time is lost between turns.
        assert_allclose(second[-1], 240.0, rtol=1e-3)
        assert_allclose(done.port_busy[0], 240.0, rtol=1e-3)


OWN_POLICIES = {
    "fcfs": FCFS,
    "cgbc": CGBC,
    "bcs": BCS,
    "bandwidth-centric": BagPolicy("bc", bandwidth_centric),
    "balanced": BagPolicy("lp", balanced),
}


class TestModel:
    @pytest.mark.parametrize("name", OWN_POLICIES)
    @pytest.mark.parametrize(("buffer", "late"), [(2, 0.05), (10, 0.0)])
    def test_trace_keeps_within_it(self, name, buffer, late):
        generator = np.random.default_rng([buffer, len(name)])
        policy = OWN_POLICIES[name]
        for hosts, degree in ((1, 1), (8, 1), (12, 3)):
            where = random_tree(hosts, degree, generator, latency=late)
            flop = generator.uniform(1e8, 1e9, 3)
            work = Bags(("a", "b", "c"), flop, flop * [0.001, 0.0, 0.02], 1.0, [17, 30, 20])
            if policy.decide is balanced:
                policy = replace(policy, plans=random_plans(where, 3, generator))
            done = execute(where, work, policy, buffer=buffer, trace=True)
            sides = {"parallel": policy.parallel, "bundled": policy.bundled}
            room = 3 * max(buffer // 3, 1) if policy.parallel else buffer
            assert trace_violations(done, room, **sides) == []
            assert identities(done) == [
                (kind, number) for kind, size in enumerate((17, 30, 20)) for number in range(size)
            ]
            assert done.computed.sum(axis=0).tolist() == [17, 30, 20]
            assert [len(dates) for dates in done.completion] == [17, 30, 20]
            assert all(np.all(np.diff(dates) >= 0) for dates in done.completion)
            assert np.all(done.most[1:] <= buffer)

    def test_full_buffers_and_overlaps_are_seen(self):
        where, work = tree_of([-1, 0], [0.0, 1e6], 1e6), bags_of([4e6] * 2, [1e6] * 2, 15)
        done = execute(where, work, FCFS, buffer=7, trace=True)
        assert trace_violations(done, 6) == ["the buffer of host 'h1' holds 7 tasks, not 6"]
        assert "flop" in trace_violations(replace(done, computed=done.computed + 1), 7)[0]
        found = trace_violations(execute(where, work, BCS, trace=True), 10)
        assert any("sends two" in each for each in found)
        assert any("computes two" in each for each in found)

    def test_threads_agree_with_coroutines(self):
        where = random_tree(6, 2, np.random.default_rng(5), latency=1e-3)
        work = bags_of([1e9, 1e9], [1e6, 1e7], [8, 8])
        for policy in (FCFS, CGBC, BCS):
            one, other = (
                execute(where, work, policy, back_end=end) for end in ("coroutines", "threads")
            )
            for mine, theirs in zip(one.completion, other.completion, strict=True):
                assert_allclose(mine, theirs, rtol=1e-9)
            assert np.array_equal(one.computed, other.computed)


OUT_OF_RANGE = [
    *((["buffer", size], {"buffer": size}) for size in (0, 2.5, math.nan, 10**12)),
    *(
        (["period", period], {"policy": replace(FCFS, period=period)})
        for period in (0.0, -1.0, math.nan, 1e-300, 1e-6)
    ),
    (["bias", "2 hosts"], {"bias": np.ones((3, 2))}),
    (["bias"], {"bias": np.array([[1.0, 1.0], [1.0, 0.0]])}),
    (["bias"], {"bias": np.ones(2)}),
    (["delays", "2 hosts"], {"delays": np.zeros(3)}),
    (["delays", "-1.0"], {"delays": np.array([0.0, -1.0])}),
    (["policy.plans", "1"], {"policy": replace(FCFS, plans=(NodePlan(((1.0,),)),))}),
    (["patience", "0"], {"patience": 0}),
    (["direction", "results"], {"direction": "results", "failures": True}),
    (["direction", "'up'"], {"direction": "up"}),
    (["known.hosts"], {"known": Tree(("x", "h1"), [-1, 0], [0, 1], [math.inf, 1], [0, 0])}),
    (["known.speed", "'h0'"], {"known": tree_of([-1, 0], 1.0)}),
]


class TestRefusals:
    @pytest.mark.parametrize(("names", "arguments"), OUT_OF_RANGE)
    def test_arguments_out_of_range(self, names, arguments):
        where, work = tree_of([-1, 0], [0.0, 1.0]), bags_of([1.0], [1.0], 1)
        with raises_naming(WorkloadError, *names):
            execute(where, work, **({"policy": FCFS} | arguments))

    def test_nobody_computes(self):
        with raises_naming(InfeasibleError, "'h0'"):
            execute(tree_of([-1, 0], 0.0), bags_of([1.0], [1.0]), FCFS)

    @pytest.mark.parametrize("choice", [(0, 1), (1, 0)], ids=["asked once", "never asked"])
    def test_policies_that_choose_what_cannot_be(self, choice):
        where = tree_of([-1, 0], [1.0, 1.0], [1.0])
        policy = BagPolicy("rash", lambda _: choice)
        work = bags_of([1.0, 1.0], [1.0, 1.0], [1, 1])
        with raises_naming(WorkloadError, "'rash'", choice):
            execute(where, work, policy)


def test_months_of_simulated_time():
    # From 2^23 s on dates are coarser than SimGrid's precision, which takes an end for the past.
    tree, bags = instance("A, kilobits", 2008, 39)
    delays = first_request_delays(tree, np.random.default_rng([2008, 39, 4, 1]))
    policy = fcfs(measure(tree, bags), bags)
    assert execute(tree, bags, policy, delays=delays).computed.sum() == bags.count.sum()


BUFFER = 10


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(("reading", "number"), [("B", 5), ("C", 6)])
def test_campaign_keeps_within_the_model(reading, number, policy):
    assert violations_of(reading, number, policy, count=40) == []


@pytest.fixture(scope="module")
def done():
    tree, bags = instance("B", SEEDS[0], 6, count=20)
    found = execute(tree, bags, POLICIES["cgbc"](tree, bags), trace=True)
    fine = execute(tree, bags, POLICIES["fcfs"](tree, bags), trace=True)
    assert trace_violations(found, BUFFER, bundled=True) == trace_violations(fine, BUFFER) == []
    return fine


def tampered(done, kind, row, **columns):
    """Return the violations after something was changed of a row of a kind, by order of start."""
    trace = done.result.trace
    chosen = np.flatnonzero((trace.kind == kind) & (trace.label != "request"))
    place = chosen[np.argsort(trace.start[chosen], kind="stable")[row]]
    changed = {name: np.array(getattr(trace, name)) for name in columns}
    for name, value in columns.items():
        changed[name][place] = value
    result = replace(done.result, trace=replace(trace, **changed))
    return trace_violations(replace(done, result=result), BUFFER)


def test_what_is_used_before_it_arrives_or_not_computed_is_seen(done):
    assert any("that has not arrived" in each for each in tampered(done, "exec", 0, start=0.0))
    failed = "\n".join(tampered(done, "exec", 5, state_code=1))
    assert "are computed, not 20" in failed
    assert "flop, not" in failed


def test_what_is_too_fast_is_seen(done):
    tree = done.tree
    slow = replace(done, tree=replace(tree, speed=tree.speed / 2))
    found = trace_violations(slow, BUFFER)
    assert any("computes a task too fast" in each for each in found)
    assert any("computes in" in each for each in found)
    narrow = replace(done, tree=replace(tree, bandwidth=tree.bandwidth / 2))
    found = trace_violations(narrow, BUFFER)
    assert any("too fast" in each for each in found)
    assert any("sends in" in each for each in found)


def test_side_by_side_is_not_more_than_a_port_has(done):
    # Two transfers at the same time, each at the full bandwidth: none of them is too fast.
    trace = done.result.trace
    sends = np.flatnonzero((trace.kind == "comm") & (trace.label == "task"))
    start, end = np.array(trace.start), np.array(trace.end)
    later = sends[trace.resource[sends] == trace.resource[sends[0]]][1]
    length = end[later] - start[later]
    start[later], end[later] = start[sends[0]], start[sends[0]] + length
    result = replace(done.result, trace=replace(trace, start=start, end=end))
    found = trace_violations(replace(done, result=result), BUFFER, parallel=True)
    assert any("sends in" in each for each in found)
    assert not any("too fast" in each for each in found)


def pair(bandwidth, latency, speed=1e8):
    """Return a root and its child."""
    return tree_of([-1, 0], speed, bandwidth, latency)


class TestMeasure:
    def test_linear_model_is_exact(self):
        tree = random_tree(40, 4, np.random.default_rng(1), latency=0.02, root_computes=False)
        found = measure(tree)
        assert_allclose(found.speed, tree.speed, rtol=1e-8)
        assert_allclose(found.bandwidth, tree.bandwidth, rtol=1e-7)
        assert_allclose(found.latency, tree.latency, rtol=1e-5)
        assert found.speed[0] == 0.0
        assert found.hosts == tree.hosts
        assert np.array_equal(found.parent, tree.parent)
        extreme = pair(1e12, 0.0, [1.0, 1e15])
        assert_allclose(measure(extreme).speed, extreme.speed, rtol=1e-6)
        assert_allclose(measure(extreme).bandwidth, extreme.bandwidth, rtol=1e-6)

    def test_bandwidths_of_tasks_contain_latencies(self):
        found = measure(pair(1e6, 0.5), bags_of([1.0] * 2, [1e6, 3e6]))
        assert_allclose(found.bandwidth[1], 4e6 / (0.5 + 1 + 0.5 + 3), rtol=1e-8)
        assert_allclose(found.latency[1], 0.5, rtol=1e-8)

    @pytest.mark.parametrize("latency", [1e-4, 0.1])
    def test_default_model_gives_what_a_task_gets(self, latency):
        # LV08: 0.97 of the bandwidth, 13.01 latencies, and no more than a window per round trip.
        tree = pair(1e8, latency)
        bags = bags_of([1.0], [2e9], 1)
        options = SimGridOptions()
        rate = 0.97 * min(1e8, 4194304 / (2 * latency))
        expected = 2e9 / (13.01 * latency + 2e9 / rate)
        found = measure(tree, bags, options=options)
        assert_allclose(found.bandwidth[1], expected, rtol=1e-6)
        task = execute(pair(1e8, latency, [0.0, 1e8]), bags, FCFS, options=options)
        assert_allclose(2e9 / task.port_busy[0], expected, rtol=1e-6)


class TestErrors:
    def test_measured_is_true_times_bias(self):
        tree = random_tree(200, 5, np.random.default_rng(2))
        measured, bias = with_errors(tree, 0.2, np.random.default_rng(3))
        assert bias.shape == (200, 2)
        assert_allclose(measured.speed, tree.speed * bias[:, 0])
        assert_allclose(measured.bandwidth[1:], (tree.bandwidth * bias[:, 1])[1:])
        assert 0.8 <= bias.min() < 0.81
        assert 1.19 < bias.max() <= 1.2
        assert measured.bandwidth[0] == np.inf
        again, _ = with_errors(tree, 0.2, np.random.default_rng(3))
        assert np.array_equal(again.speed, measured.speed)

    @pytest.mark.parametrize("spread", [-0.1, 1.0, float("nan")])
    def test_spread(self, spread):
        with raises_naming(PlatformError, "spread", spread):
            with_errors(pair(1.0, 0.0), spread, np.random.default_rng())
