"""Hosts and links that go off, come back or do not: no task is lost, and each counts once."""

import numpy as np
import pytest
from naming import raises_naming
from numpy.testing import assert_allclose
from small_trees import assert_all_done, bags_of, execute, failing, tree_of

from simplugin.bags.actors.fault_tolerant_node import NodeReport, Notice
from simplugin.bags.policies.classics import bandwidth_centric, first_come_first_served
from simplugin.bags.policies.load_balancing import balanced
from simplugin.bags.policies.shipped import POLICIES
from simplugin.bags.policy import BagPolicy, NodePlan
from simplugin.core.errors import WorkloadError
from simplugin.platforms.topologies.random_graphs import random_tree
from simplugin.simulation.placement import Placement
from simplugin.workloads.applications import Bags

FCFS = BagPolicy("fcfs", first_come_first_served)
BCS = BagPolicy("bcs", bandwidth_centric, parallel=True)


def tasks(count):
    """Return tasks that take 1 s on a link, and 2 s on a host of 1 Mflop/s."""
    return bags_of([2e6], [1e6], count)


def run(where, count, outages, policy=None, **how):
    """Execute tasks where hosts and links go off, and assert that each task counts once."""
    platform = failing(where, outages)
    done = execute(
        where, tasks(count), policy or FCFS, platform=platform, failures=True, until=1e6, **how
    )
    assert_all_done(done)
    return done


class TestNothingFails:
    @pytest.mark.parametrize("policy", [FCFS, BCS], ids=["fcfs", "bcs"])
    def test_little_changes(self, policy):
        # Reports are longer than requests; that is all.
        where = random_tree(8, 3, np.random.default_rng(1))
        work = Bags(("a", "b"), [1e9, 2e9], [1e6, 2e7], 1.0, [30, 40])
        plain, careful = (execute(where, work, policy, failures=each) for each in (False, True))
        assert careful.lost == plain.lost == 0
        assert_all_done(careful)
        for mine, theirs in zip(careful.completion, plain.completion, strict=True):
            assert_allclose(mine[:10], theirs[:10], rtol=2e-3)
        assert_allclose(careful.port_busy.sum(), plain.port_busy.sum(), rtol=0.05)

    def test_who_does_not_ask_for_it_does_not_pay(self):
        done = execute(tree_of([-1, 0], [0.0, 1e6], 1e6), tasks(5), FCFS, trace=True)
        labels = set(done.result.trace.label[done.result.trace.kind == "comm"].tolist())
        assert labels == {"task", "request", ""}


class TestOneChild:
    WHERE = tree_of([-1, 0], [0.0, 1e6], 1e6)
    TWO = tree_of([-1, 0, 0], [0.0, 1e6, 1e6], 1e6)

    def test_off_and_on(self):
        done = run(self.WHERE, 20, {"h1": [(10.0, 20.0)]})
        dates = done.completion[0]
        # The first is there after 1 s; the fifth would end at 11 s. From 20 s on, all again: at
        # once, since a host that comes back reports.
        assert_allclose(dates[:4], [3, 5, 7, 9], atol=1e-2)
        assert_allclose(dates[4:], 23 + 2.0 * np.arange(16), atol=1e-2)
        # Sent by 10 s: nine, of which four were done; the tenth was on its way.
        assert done.lost == 6

    def test_off_for_good(self):
        done = run(self.TWO, 20, {"h1": [(10.0, np.inf)]})
        assert done.computed[1, 0] <= 5
        assert done.lost >= 1

    def test_a_port_is_not_blocked_for_long_by_who_is_off(self):
        done = run(self.TWO, 20, {"h1": [(10.0, 1000.0)]}, patience=3.0)
        assert done.completion[0][-1] < 60.0

    def test_several_times_and_links(self):
        run(self.WHERE, 20, {"h1": [(5.0 + 7 * n, 6.0 + 7 * n) for n in range(8)]})
        run(self.WHERE, 20, {"h0->h1": [(4.5, 9.0)], "h1->h0": [(21.0, 22.5)]})

    def test_turned_off_by_an_actor(self):
        async def switch(me):
            await me.sleep_until(10.0)
            me.host_by_name("h1").turn_off()
            await me.sleep_until(20.0)
            me.host_by_name("h1").turn_on()

        done = run(self.WHERE, 20, {}, others=[Placement("h0", switch, daemon=True)])
        assert_allclose(done.completion[0][4], 23.0, atol=1e-2)


class TestSubtrees:
    def test_an_inner_node_that_comes_back_finds_its_children(self):
        where = tree_of([-1, 0, 1, 1], [0.0, 0.0, 0.5e6, 0.5e6], 1e6)
        done = run(where, 40, {"h1": [(10.0, 22.0)]})
        # Its children went on with what they had, and it was told so.
        alone = [date for date in done.completion[0] if 10.0 < date < 22.0]
        assert len(alone) == 3
        # Only what was on its way is handed out again.
        assert 1 <= done.lost <= 2

    @pytest.mark.parametrize("distributes", [False, True])
    @pytest.mark.parametrize("name", POLICIES)
    def test_who_is_left_gets_the_tasks(self, name, distributes):
        # That h2 is not worth its slow link holds only while h1 is on, or h3 that computes for it.
        if distributes:
            where = tree_of([-1, 0, 0, 1], [0.0, 0.0, 1e6, 1e6], [1e7, 1e4, 1e7])
        else:
            where = tree_of([-1, 0, 0], [0.0, 1e6, 1e6], [1e7, 1e4])
        late = np.zeros(where.n_hosts)
        late[2] = 50.0
        policy = POLICIES[name](where, tasks(80))
        outages = {"h3" if distributes else "h1": [(60.0, np.inf)]}
        assert run(where, 80, outages, policy, delays=late).computed[2, 0] >= 10

    def test_where_nobody_is_left_tasks_come_back(self):
        # h1 only passes on, and all who compute below it are off for good.
        where = tree_of([-1, 0, 1, 2], [0.5e6, 0.0, 0.0, 1e6], 1e6)
        for policy in (FCFS, POLICIES["lp"](where, tasks(1))):
            run(where, 20, {"h3": [(10.0, np.inf)]}, policy)

    @pytest.mark.parametrize("times", [(0.0, np.inf), (1e-3, np.inf), (2e-3, 3e-3)])
    def test_failures_that_interrupt_a_negotiation(self, times):
        where = tree_of([-1, 0, 0], [0.0, 1e6, 1e6], [1e7, 1e4], 1e-3)
        policy = POLICIES["prices"](where, tasks(80))
        with raises_naming(WorkloadError, "'prices'"):
            run(where, 80, {"h1": [times]}, policy)

    def test_who_comes_back_finds_its_plan(self):
        async def even(me, place, _):
            for child in place.children:
                await me.mailbox(f"plan down {child}").put(None, 48, label="plan")
            if place.parent is not None:
                await me.mailbox(f"plan down {place.name}").get()
            return NodePlan(((1.0,),) * (1 + len(place.children)))

        policy = BagPolicy("even", balanced, planner=even, period=3.0)
        outages = {"h1": [(10.0, 12.0), (15.0, 16.0)]}
        done = run(tree_of([-1, 0], [0.0, 1e6], 1e6), 20, outages, policy, trace=True)
        assert (done.result.trace.label == "plan").sum() == 1


def test_reports_have_an_honest_size():
    notice = Notice((0, 3), "h1", ((0, 3, 1.5), (1, 3, 2.5)))
    assert NodeReport([2], (), (), None, (False,), 1.0).numbers == 3
    assert (
        NodeReport([2, 0], (notice,), ((0, 1),), frozenset({(0, 2)}), (True, True), 1.0).numbers
        == 10
    )
