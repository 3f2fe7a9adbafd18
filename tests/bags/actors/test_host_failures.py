"""Hosts and links that go off, come back or do not: no task is lost, and each counts once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from numpy.testing import assert_allclose

from simplugin.bags.actors.mortal import Notice, Report
from simplugin.bags.execution import Execution, execute
from simplugin.bags.policies.classics import bandwidth_centric, first_come_first_served
from simplugin.bags.policies.load_balancing import balanced
from simplugin.bags.policies.shipped import POLICIES
from simplugin.bags.policy import Known, NodePlan, Place, Policy
from simplugin.errors import WorkloadError
from simplugin.platforms.graphs import Tree
from simplugin.platforms.profiles import Profile, ProfileUse
from simplugin.platforms.topologies.random_trees import random_tree
from simplugin.simulation.placement import Placement
from simplugin.workloads.applications import Bags

if TYPE_CHECKING:
    from simplugin.platforms import Platform
    from simplugin.simulation.api import Actor

FCFS = Policy("fcfs", first_come_first_served)
BCS = Policy("bcs", bandwidth_centric, parallel=True)
# The state of a host or link from dates on.
Outages = Iterable[tuple[float, float]]


def tree(parent: list[int], speed: list[float], bandwidth: float = 1e6) -> Tree:
    """Return a tree whose links are alike."""
    count = len(parent)
    names = tuple(f"h{number}" for number in range(count))
    return Tree(names, parent, speed, [np.inf] + [bandwidth] * (count - 1), np.zeros(count))


def tasks(count: int) -> Bags:
    """Return tasks that take 1 s on a link, and 2 s on a host of 1 Mflop/s."""
    return Bags(("a",), [2e6], [1e6], 1.0, [count])


def failing(where: Tree, outages: dict[str, Outages]) -> Platform:
    """Return the platform with hosts and links, by name, that are off from and to some dates."""
    platform = where.platform()
    extra: list[Profile | ProfileUse] = []
    for name, times in outages.items():
        points = [(date, float(state)) for pair in times for state, date in enumerate(pair)]
        kind = "LINK_AVAIL" if "->" in name else "HOST_AVAIL"
        known = [point for point in points if np.isfinite(point[0])]
        extra += [
            Profile.of_points(f"state of {name}", known),
            ProfileUse(f"state of {name}", name, kind),
        ]
    return replace(platform, elements=(*platform.elements, *extra))


def assert_all_done(done: Execution) -> None:
    """Each task counts once."""
    count = done.bags.count.tolist()
    assert [len(dates) for dates in done.completion] == count
    assert done.computed.sum(axis=0).tolist() == count
    _, notices = done.result.returned[0].value
    numbers = sorted(part[:2] for notice in notices for part in notice.parts)
    assert numbers == [(kind, i) for kind, size in enumerate(count) for i in range(size)]


class TestNothingFails:
    @pytest.mark.parametrize("policy", [FCFS, BCS], ids=["fcfs", "bcs"])
    def test_little_changes(self, policy: Policy) -> None:
        # Reports are longer than requests; that is all.
        where = random_tree(8, 3, np.random.default_rng(1))
        work = Bags(("a", "b"), [1e9, 2e9], [1e6, 2e7], 1.0, [30, 40])
        plain, careful = (execute(where, work, policy, failures=each) for each in (False, True))
        assert careful.lost == plain.lost == 0
        assert_all_done(careful)
        for mine, theirs in zip(careful.completion, plain.completion, strict=True):
            assert_allclose(mine[:10], theirs[:10], rtol=2e-3)
        assert_allclose(careful.port_busy.sum(), plain.port_busy.sum(), rtol=0.05)

    def test_who_does_not_ask_for_it_does_not_pay(self) -> None:
        done = execute(tree([-1, 0], [0.0, 1e6]), tasks(5), FCFS, trace=True)
        labels = set(done.result.trace.label[done.result.trace.kind == "comm"].tolist())
        assert labels == {"task", "request", ""}


class TestOneChild:
    WHERE = tree([-1, 0], [0.0, 1e6])

    def test_off_and_on(self) -> None:
        outages = {"h1": [(10.0, 20.0)]}
        done = execute(
            self.WHERE, tasks(20), FCFS, platform=failing(self.WHERE, outages), failures=True
        )
        assert_all_done(done)
        dates = done.completion[0]
        # The first is there after 1 s; the fifth would end at 11 s. From 20 s on, all again: at
        # once, since a host that comes back reports.
        assert_allclose(dates[:4], [3, 5, 7, 9], atol=1e-2)
        assert_allclose(dates[4:], 23 + 2.0 * np.arange(16), atol=1e-2)
        # Sent by 10 s: nine, of which four were done; the tenth was on its way.
        assert done.lost == 6

    def test_off_for_good(self) -> None:
        where = tree([-1, 0, 0], [0.0, 1e6, 1e6])
        outages = {"h1": [(10.0, np.inf)]}
        done = execute(where, tasks(20), FCFS, platform=failing(where, outages), failures=True)
        assert_all_done(done)
        assert done.computed[1, 0] <= 5
        assert done.lost >= 1

    def test_a_port_is_not_blocked_for_long_by_who_is_off(self) -> None:
        where = tree([-1, 0, 0], [0.0, 1e6, 1e6])
        outages = {"h1": [(10.0, 1000.0)]}
        platform = failing(where, outages)
        done = execute(where, tasks(20), FCFS, platform=platform, failures=True, patience=3.0)
        assert_all_done(done)
        assert done.completion[0][-1] < 60.0

    def test_no_patience(self) -> None:
        with pytest.raises(WorkloadError, match="patience is 0"):
            execute(self.WHERE, tasks(1), FCFS, failures=True, patience=0)

    def test_several_times(self) -> None:
        outages = {"h1": [(5.0 + 7 * n, 6.0 + 7 * n) for n in range(8)]}
        done = execute(
            self.WHERE, tasks(20), FCFS, platform=failing(self.WHERE, outages), failures=True
        )
        assert_all_done(done)

    def test_a_link(self) -> None:
        outages = {"h0->h1": [(4.5, 9.0)], "h1->h0": [(21.0, 22.5)]}
        done = execute(
            self.WHERE, tasks(20), FCFS, platform=failing(self.WHERE, outages), failures=True
        )
        assert_all_done(done)

    def test_turned_off_by_an_actor(self) -> None:
        async def switch(me: Actor) -> None:
            await me.sleep_until(10.0)
            me.host_by_name("h1").turn_off()
            await me.sleep_until(20.0)
            me.host_by_name("h1").turn_on()

        other = Placement("h0", switch, daemon=True)
        done = execute(self.WHERE, tasks(20), FCFS, others=[other], failures=True)
        assert_all_done(done)
        assert_allclose(done.completion[0][4], 23.0, atol=1e-2)


class TestSubtrees:
    def test_an_inner_node_that_comes_back_finds_its_children(self) -> None:
        where = tree([-1, 0, 1, 1], [0.0, 0.0, 0.5e6, 0.5e6])
        outages = {"h1": [(10.0, 22.0)]}
        done = execute(where, tasks(40), FCFS, platform=failing(where, outages), failures=True)
        assert_all_done(done)
        # Its children went on with what they had, and it was told so.
        alone = [date for date in done.completion[0] if 10.0 < date < 22.0]
        assert len(alone) == 3
        # Only what was on its way is handed out again.
        assert 1 <= done.lost <= 2

    @pytest.mark.parametrize("distributes", [False, True])
    @pytest.mark.parametrize("name", POLICIES)
    def test_who_is_left_gets_the_tasks(self, name: str, distributes: bool) -> None:
        # That h2 is not worth its slow link holds only while h1 is on, or h3 that computes for it.
        where = tree([-1, 0, 0, 1], [0.0, 0.0, 1e6, 1e6])
        if not distributes:
            where = tree([-1, 0, 0], [0.0, 1e6, 1e6])
        bandwidth = np.array([np.inf, 1e7, 1e4, 1e7])[: where.n_hosts]
        where = replace(where, bandwidth=bandwidth)
        late = np.array([0, 0, 50.0, 0])[: where.n_hosts]
        work = Bags(("x",), [1e6], [1e6], 1.0, [80])
        done = execute(
            where,
            work,
            POLICIES[name](where, work),
            platform=failing(where, {where.hosts[3 if distributes else 1]: [(60.0, np.inf)]}),
            failures=True,
            until=1e6,
            delays=late,
        )
        assert_all_done(done)
        assert done.computed[2, 0] >= 10

    def test_where_nobody_is_left_tasks_come_back(self) -> None:
        # h1 only passes on, and all who compute below it are off for good.
        where = tree([-1, 0, 1, 2], [0.5e6, 0.0, 0.0, 1e6])
        outages = {"h3": [(10.0, np.inf)]}
        for policy in (FCFS, POLICIES["lp"](where, tasks(1))):
            done = execute(
                where, tasks(20), policy, platform=failing(where, outages), failures=True
            )
            assert_all_done(done)

    def test_who_comes_back_finds_its_plan(self) -> None:
        async def even(me: Actor, place: Place, _: Known) -> NodePlan:
            for child in place.children:
                await me.mailbox(f"plan down {child}").put(None, 48, label="plan")
            if place.parent is not None:
                await me.mailbox(f"plan down {place.name}").get()
            return NodePlan(((1.0,),) * (1 + len(place.children)))

        where = tree([-1, 0], [0.0, 1e6])
        outages = {"h1": [(10.0, 12.0), (15.0, 16.0)]}
        done = execute(
            where,
            tasks(20),
            Policy("even", balanced, planner=even, period=3.0),
            platform=failing(where, outages),
            failures=True,
            trace=True,
        )
        assert_all_done(done)
        assert (done.result.trace.label == "plan").sum() == 1


@pytest.mark.parametrize("root", [1e8, 0.0], ids=["root computes", "root distributes"])
@pytest.mark.parametrize("name", POLICIES)
def test_flood(name: str, root: float) -> None:
    generator = np.random.default_rng([3, *map(ord, name)])
    for buffer in (1, 3, 10):
        for hosts, degree in ((6, 1), (6, 5), (12, 3)):
            where = random_tree(hosts, degree, generator)
            speed = where.speed * (generator.random(hosts) < 0.8)
            speed[0] = root
            # Somebody who computes has to be left.
            spared = 0 if root else 1
            speed[spared] = 1e8
            where = replace(where, speed=speed)
            flop = generator.uniform(1e8, 1e9, 2)
            work = Bags(("a", "b"), flop, flop * [0.001, 0.01], 1.0, [15, 20])
            outages: dict[str, Outages] = {}
            for number, host in enumerate(where.hosts[1:], 1):
                dates = 20 + np.cumsum(generator.exponential(20.0, 10))
                if generator.random() < 0.2 and number != spared:
                    dates[-1] = np.inf
                    dates = dates[-2:]
                outages[host] = list(zip(dates[::2].tolist(), dates[1::2].tolist(), strict=True))
            policy = POLICIES[name](where, work)
            platform = failing(where, outages)
            done = execute(
                where, work, policy, platform=platform, buffer=buffer, failures=True, until=1e6
            )
            assert_all_done(done)
            assert done.most[1:].max() <= buffer


def test_reports_have_an_honest_size() -> None:
    notice = Notice((0, 3), "h1", ((0, 3, 1.5), (1, 3, 2.5)))
    assert Report([2], (), (), None, False, 1.0).numbers == 3
    assert Report([2, 0], (notice,), ((0, 1),), frozenset({(0, 2)}), True, 1.0).numbers == 10
