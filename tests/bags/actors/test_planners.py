"""Nodes that negotiate their plans by messages, once or again and again."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pytest
from numpy.testing import assert_allclose

from simplugin.bags.execution import execute
from simplugin.bags.policies.load_balancing import balanced
from simplugin.bags.policy import Known, NodePlan, Place, Policy, time_between_looks
from simplugin.errors import WorkloadError
from simplugin.platforms import Platform, Profile, ProfileUse
from simplugin.platforms.graphs import Tree
from simplugin.workloads.applications import Bags

if TYPE_CHECKING:
    from simplugin.bags.execution import Execution
    from simplugin.simulation.api import Actor

# Two children of a root that only distributes; a transfer of a task takes 1 s.
FORK = Tree(("r", "c", "d"), [-1, 0, 0], [0, 1e8, 1e8], [np.inf, 1e6, 1e6], [0, 0, 0])


async def by_speed(me: Actor, place: Place, known: Known) -> NodePlan:
    """Plan that each subtree gets tasks in proportion to its speed: speeds up, the total down."""
    speeds = [known.speed] + [
        await me.mailbox(f"plan up {child}").get() for child in place.children
    ]
    if place.parent is None:
        total = sum(speeds)
    else:
        await me.mailbox(f"plan up {place.name}").put(sum(speeds), 48, label="plan")
        total = await me.mailbox(f"plan down {place.name}").get()
    for child in place.children:
        await me.mailbox(f"plan down {child}").put(total, 48, label="plan")
    return NodePlan(tuple((each / total,) for each in speeds))


async def in_turn(me: Actor, place: Place, _: Known, *, change: float) -> NodePlan:
    """Plan that c gets the first type and d the second, and after a date the other way round."""
    if place.parent is None:
        swapped = me.now >= change
        for child in place.children:
            await me.mailbox(f"plan down {child}").put(swapped, 48, label="plan")
        rows = ((1.0, 0.0), (0.0, 1.0))
        return NodePlan(((0.0, 0.0), *(rows[::-1] if swapped else rows)), (1, 1))
    swapped = await me.mailbox(f"plan down {place.name}").get()
    first = (place.name == "c") != swapped
    return NodePlan(((1.0, 0.0) if first else (0.0, 1.0),), (2, 0) if first else (0, 2))


class TestOnce:
    def test_tasks_wait_for_the_plan_and_follow_it(self) -> None:
        # A port-bound chain: r sends on what b, and e behind it, are to get.
        tree = Tree(
            ("r", "b", "e", "f"), [-1, 0, 1, 0], [1e8, 1e8, 2e8, 4e8], [np.inf] + [1e6] * 3, [0] * 4
        )
        policy = Policy("by speed", balanced, planner=by_speed)
        done = execute(tree, Bags(("a",), [1e8], [1e6], 1.0, [400]), policy, trace=True)
        # e to b, b to r, f to r, r to b, r to f: 48 bytes each, one after the other.
        assert_allclose(done.first, 5 * 48e-6, rtol=1e-6)
        plan = done.result.trace.label == "plan"
        assert plan.sum() == 6
        # The port of r gives b's subtree 3 tasks for each 4 of f.
        served = done.computed[:, 0]
        assert abs((served[1] + served[2]) / served[3] - 3 / 4) < 0.03

    @pytest.mark.parametrize("back_end", ["coroutines", "threads"])
    def test_known_is_what_was_measured(self, back_end: str) -> None:
        known = Tree(FORK.hosts, FORK.parent, [0, 1e8, 3e8], FORK.bandwidth, FORK.latency)
        policy = Policy("by speed", balanced, planner=by_speed)
        work = Bags(("a",), [1.0], [1e6], 1.0, [400])
        done = execute(FORK, work, policy, known=known, back_end=back_end)
        assert done.computed[:, 0].tolist() == [0, 100, 300]


class TestAgain:
    def test_requests_for_types_that_the_plan_dropped_do_not_block(self) -> None:
        # When plans change, both have requests waiting for types that they no longer get.
        planner = partial(in_turn, change=10.0)
        policy = Policy("in turn", balanced, planner=planner, period=10.5, tolerance=-1.0)
        work = Bags(("a", "b"), [1e6, 1e6], [1e6, 1e6], 1.0, [20, 20])
        done = execute(FORK, work, policy, buffer=2, until=1e5)
        assert done.computed.sum(axis=0).tolist() == [20, 20]
        first, second = done.computed[1]
        # Until 10.5 s the port takes turns: five or six tasks each.
        assert 5 <= first <= 6
        assert second == 20 - done.computed[2, 1]
        assert 14 <= second <= 15
        assert done.most.max() <= 2
        # Nor does one child wait until the type that the other gets has ended.
        last = [dates[-1] for dates in done.completion]
        assert abs(last[0] - last[1]) < 3.0

    def test_planners_see_what_was_measured_last(self) -> None:
        # d is thought to be nine times as fast as c, until both have computed.
        known = Tree(FORK.hosts, FORK.parent, [0, 1e8, 9e8], FORK.bandwidth, FORK.latency)
        work = Bags(("a",), [1e6], [1e6], 1.0, [220])
        once = Policy("by speed", balanced, planner=by_speed)
        again = Policy("by speed", balanced, planner=by_speed, period=20.0)
        assert execute(FORK, work, once, known=known).computed[:, 0].tolist() == [0, 22, 198]
        late = execute(FORK, work, again, known=known).computed[:, 0]
        # Two of the first twenty go to c, then half of the two hundred others.
        assert abs(late[1] - (2 + 100)) <= 2

    def test_never_again(self) -> None:
        policy = Policy("by speed", balanced, planner=by_speed, period=math.inf)
        done = execute(FORK, Bags(("a",), [1e9], [1e6], 1.0, [9]), policy, trace=True)
        assert (done.result.trace.label == "plan").sum() == 4


def changing(tree: Tree, kind: str, element: str, date: float, value: float) -> Platform:
    """Return a tree's platform with one change."""
    change = Profile.of_points("changes", [(date, value)])
    return Platform((*tree.platform().elements, change, ProfileUse("changes", element, kind)))


def plan_messages(done: Execution) -> int:
    """Return how many messages there were about plans; negotiating takes two a link."""
    return int((done.result.trace.label == "plan").sum())


class TestLooking:
    # Tasks that take 1 s of the port; ten looks, the last of them 10 s before the end.
    WORK = Bags(("a",), [1e6], [1e6], 1.0, [210])
    POLICY = Policy("by speed", balanced, planner=by_speed, period=20.0)
    # Two links: word down and answers up in each look, and two each in the negotiation.
    QUIET = 10 * 4 + 4

    def test_nobody_negotiates_where_nothing_changes(self) -> None:
        once = replace(self.POLICY, period=math.inf)
        kept, looked = (execute(FORK, self.WORK, each, trace=True) for each in (once, self.POLICY))
        assert (plan_messages(kept), plan_messages(looked)) == (4, self.QUIET)
        assert np.array_equal(kept.computed, looked.computed)
        # Each word takes 48 bytes from the port's link, or from what the other child gets next.
        late = looked.completion[0] - kept.completion[0]
        assert -1e-9 < late.min() <= late.max() < 20 * 48e-6 * (1 + 1e-9)

    def test_one_change_below_is_one_negotiation(self) -> None:
        # d is to be half as fast as c from now on: a look later, c gets two thirds.
        platform = changing(FORK, "SPEED", "d", 50.0, 0.5)
        done = execute(FORK, self.WORK, self.POLICY, platform=platform, trace=True)
        assert plan_messages(done) == self.QUIET + 2 + 4
        assert abs(done.computed[1, 0] - (60 / 2 + 150 * 2 / 3)) <= 1

    def test_a_change_that_the_root_sees_needs_no_answers(self) -> None:
        # Tasks for c take 1.25 s each, for the rates are those of the speeds: fewer are sent.
        platform = changing(FORK, "BANDWIDTH", FORK.graph().links[0], 50.0, 0.8e6)
        done = execute(FORK, self.WORK, self.POLICY, platform=platform, trace=True)
        looks = int((done.result.clock - 1e-3) // 20)
        assert plan_messages(done) == looks * 4 - 4 + 4 + 2 + 4
        assert done.computed[1, 0] == 105

    @pytest.mark.parametrize("tolerance", [0.1, 0.3])
    def test_the_tolerance_says_what_counts(self, tolerance: float) -> None:
        policy = replace(self.POLICY, tolerance=tolerance)
        for loss in (0.2, 0.05):
            platform = changing(FORK, "SPEED", "d", 50.0, 1 - loss)
            done = execute(FORK, self.WORK, policy, platform=platform, trace=True)
            assert plan_messages(done) - self.QUIET == (6 if loss > tolerance else 0)

    def test_wrong_measurements_that_stay_as_wrong_are_no_change(self) -> None:
        bias = np.array([[1.0, 1.0], [0.8, 1.2], [1.2, 0.8]])
        known = Tree(
            FORK.hosts, FORK.parent, FORK.speed * bias[:, 0], FORK.bandwidth * bias[:, 1], [0] * 3
        )
        for told, more in ((known, 0), (FORK, -4 + 2 + 4)):
            done = execute(FORK, self.WORK, self.POLICY, known=told, bias=bias, trace=True)
            # Twenty per cent off what was told is a change, which the root sees, but only once.
            assert plan_messages(done) - self.QUIET == more
            assert abs(done.computed[1, 0] - 210 * 0.4) <= 2 + (more > 0) * 20 * 0.1

    def test_the_whole_tree_negotiates_if_a_leaf_has_changed(self) -> None:
        tree = Tree(
            ("r", "b", "e", "f"), [-1, 0, 1, 0], [0, 0, 3e8, 1e8], [np.inf] + [1e6] * 3, [0] * 4
        )
        platform = changing(tree, "SPEED", "e", 50.0, 1 / 3)
        done = execute(tree, self.WORK, self.POLICY, platform=platform, trace=True)
        assert plan_messages(done) == 10 * 6 + 6 + 3 + 6
        assert abs(done.computed[2, 0] - (60 * 3 / 4 + 150 / 2)) <= 3


class TestTimeBetweenLooks:
    def test_twenty_looks_by_default(self) -> None:
        bags = Bags(("a", "b"), [1, 1], [1, 1], [1, 4], [100, 200])
        assert time_between_looks(None, bags, 0.5) == 100 / 1 / 0.5 / 20
        assert time_between_looks(7.0, bags, 0.5) == 7.0
        assert time_between_looks(math.inf, bags, 0.5) == math.inf

    @pytest.mark.parametrize("fair", [0.0, math.nan, math.inf])
    def test_never_where_nothing_is_expected(self, fair: float) -> None:
        assert time_between_looks(None, self.bags(), fair) == math.inf

    @pytest.mark.parametrize("period", [0.0, -1.0, math.nan])
    def test_refused(self, period: float) -> None:
        with pytest.raises(WorkloadError, match="period is"):
            time_between_looks(period, self.bags(), 1.0)

    @staticmethod
    def bags() -> Bags:
        """Return any."""
        return Bags(("a",), [1], [1], [1], [100])
