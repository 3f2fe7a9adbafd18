"""LAG on states made by hand, and what its rules are worth."""

from __future__ import annotations

import copy
import math
from collections import deque
from typing import Any

import numpy as np
import pytest

from simplugin.bags.assessment import experimental, fair
from simplugin.bags.execution import execute
from simplugin.bags.policies.lag import Steering, lag, lagging, prices
from simplugin.bags.policy import Known, NodeState
from simplugin.errors import WorkloadError
from simplugin.optimum.steady_state import steady_state
from simplugin.platforms.graphs import Tree
from simplugin.workloads.applications import Bags

STEERING = Steering(eta=0.3, lead=8, crowding=0.75, window=1.5, spare=3)


def state(
    asked: list[int],
    given: list[list[int]] | None = None,
    *,
    stock: tuple[int, ...] = (100, 100),
    flop: tuple[float, ...] = (1e8, 1e8),
    byte: tuple[float, ...] = (1e6, 4e6),
    weight: tuple[float, ...] = (1.0, 1.0),
    speed: float = 1e8,
    bandwidth: tuple[float, ...] = (1e6, 2e6),
    tag: tuple[float, ...] | None = (1.0, 1.0),
    **fields: Any,
) -> NodeState:
    """Return the state of an inner node, or of the root if `tag` is None."""
    known = Known(list(flop), list(byte), list(weight), speed, list(bandwidth))
    return NodeState(
        known,
        is_root=tag is None,
        capacity=10,
        stock=list(stock),
        asked=asked,
        given=given or [],
        tag=tag or (),
        **fields,
    )


class TestPrices:
    def test_grow_with_lags(self) -> None:
        root = state([0, 0, 0], [[1, 2], [3, 0], [1, 1]], tag=None)
        assert prices(STEERING, root) == pytest.approx((1.0, math.exp(0.3 * (5 - 3))))

    def test_count_by_weight(self) -> None:
        # In units of the smallest weight, 6 and 3 tasks are as good as 6 and 1.
        root = state([0, 0, 0], [[6, 3], [0, 0], [0, 0]], weight=(2.0, 6.0), tag=None)
        assert prices(STEERING, root) == pytest.approx((1.0, math.exp(0.3 * (6 - 1))))

    def test_do_not_depend_on_the_unit_of_weights(self) -> None:
        given = [[6, 3], [0, 0], [0, 0]]
        small, large = (
            state([0, 0, 0], given, weight=(scale, 3 * scale), tag=None) for scale in (1e-3, 1e3)
        )
        assert prices(STEERING, small) == pytest.approx(prices(STEERING, large))

    def test_ended_types_set_no_level(self) -> None:
        root = state([0, 0, 0], [[9, 4, 2], [0] * 3, [0] * 3], stock=(0, 5, 5), tag=None)
        root.known.weight = [1.0] * 3
        expected = [math.exp(0.3 * lag) for lag in (-5, 0, 2)]
        assert prices(STEERING, root) == pytest.approx(expected)

    def test_stay_finite(self) -> None:
        root = state([0, 0, 0], [[100_000, 0], [0, 0], [0, 0]], tag=None)
        assert prices(STEERING, root)[1] == pytest.approx(math.exp(60))


class TestWorker:
    def test_comes_first(self) -> None:
        assert lagging(STEERING, state([1, 10, 10])) == (0, 1)

    def test_inner_takes_the_largest_ratio(self) -> None:
        assert lagging(STEERING, state([1, 0, 0], tag=(50.0, 1.0))) == (0, 1)
        assert lagging(STEERING, state([1, 0, 0], flop=(1e7, 1e8))) == (0, 0)
        assert lagging(STEERING, state([1, 0, 0], stock=(1, 0))) == (0, 0)

    def test_root_takes_what_lags_most_per_flop(self) -> None:
        given = [[0, 1], [0, 0], [0, 0]]
        assert lagging(STEERING, state([1, 0, 0], given, tag=None)) == (0, 0)
        # Three times the flop are worth it from a lag of log(3) / 0.3 = 3.66 tasks on.
        for ahead, kind in ((3, 1), (4, 0)):
            root = state([1, 0, 0], [[0, ahead], [0, 0], [0, 0]], flop=(3e8, 1e8), tag=None)
            assert lagging(STEERING, root) == (0, kind)

    def test_ties_go_to_what_is_hard_to_send(self) -> None:
        assert lagging(STEERING, state([1, 0, 0], tag=None)) == (0, 1)
        assert lagging(STEERING, state([1, 0, 0], byte=(0.0, 0.0), tag=None)) == (0, 0)


class TestPort:
    def test_sends_what_is_worth_most_per_time(self) -> None:
        # Of empty children: 10 price / (1 s, 4 s) and (0.5 s, 2 s).
        assert lagging(STEERING, state([0, 10, 10])) == (2, 0)
        assert lagging(STEERING, state([0, 10, 10], tag=(1.0, 3.9))) == (2, 0)
        assert lagging(STEERING, state([0, 10, 10], tag=(1.0, 4.1))) == (2, 1)
        assert lagging(STEERING, state([0, 10, 0], tag=(1.0, 4.1))) == (1, 1)
        assert lagging(STEERING, state([0, 10, 10], stock=(0, 1))) == (2, 1)

    def test_rests_without_requests_tasks_or_port(self) -> None:
        assert lagging(STEERING, state([0, 0, 0])) is None
        assert lagging(STEERING, state([0, 10, 10], stock=(0, 0))) is None
        assert lagging(STEERING, state([0, 10, 10], port_free=False)) is None

    def test_crowded_children_are_dear(self) -> None:
        # Child 2 has two tasks: 8 price / (sending + 0.75 * 2 / 9 s) against 10 price / sending.
        for second, target in ((1.6e6, 2), (1.5e6, 1)):
            crowded = state([0, 10, 8], [[0, 0], [0, 0], [2, 0]], bandwidth=(1e6, second))
            cost = 1e6 / second + 0.75 * 2 / 9
            assert (8 / cost > 10) == (target == 2)
            assert lagging(STEERING, crowded) == (target, 0)

    def test_what_crowds_is_measured(self) -> None:
        # Of child 1, 21 tasks of 1e8 flop are gone in 10 s: 20 after the first, 2e8 flop/s. With
        # two in stock and eight slots free, cost is 1 s + (2 / 9 * crowding) / 2 for type 0, and
        # 4 s + 4 * the same for type 1, of four times the flop.
        for crowding, price, kind in ((0.0, 3.9, 0), (0.0, 4.1, 1), (9.0, 3.9, 0), (9.0, 4.1, 1)):
            one = state(
                [0, 8], [[0, 0], [23, 0]], flop=(1e8, 4e8), bandwidth=(1e6,), tag=(1.0, price)
            )
            one.now = 10.0
            assert lagging(Steering(crowding=crowding, window=9, refuses=False), one) == (1, kind)
        # Of the same flop, what is crowded is no dearer for type 1: 4 s + 1 s against 1 s + 1 s.
        for price, kind in ((2.4, 0), (2.6, 1)):
            one = state([0, 8], [[0, 0], [23, 0]], bandwidth=(1e6,), tag=(1.0, price), now=10.0)
            assert lagging(Steering(crowding=9, window=9, refuses=False), one) == (1, kind)

    def test_ties_go_to_the_first(self) -> None:
        assert lagging(STEERING, state([0, 10, 10], bandwidth=(1e6, 1e6), byte=(1e6, 1e6))) == (
            1,
            0,
        )

    def test_tasks_without_data_cost_nothing(self) -> None:
        assert lagging(STEERING, state([0, 10, 10], byte=(1e6, 0.0), tag=(9.0, 1.0))) == (1, 1)


class TestWindow:
    def test_children_get_what_they_live_on(self) -> None:
        # 0.5 tasks/s, and transfers of at most 4 s: 3 spare tasks, and 1.5 * 0.5 * 4 more.
        for stock, choice in ((5, (1, 0)), (6, None)):
            gone = 11
            row = [gone + stock - 1, 1]
            one = state([0, 10 - stock], [[0, 0], row], bandwidth=(1e6,), now=20.0)
            assert lagging(STEERING, one) == choice

    def test_begins_with_the_spare_tasks(self) -> None:
        for stock, choice in ((2, (1, 0)), (3, None)):
            one = state([0, 10 - stock], [[0, 0], [stock, 0]], bandwidth=(1e6,), now=9.0)
            assert lagging(STEERING, one) == choice


class TestLead:
    def test_the_root_does_not_send_what_is_far_ahead(self) -> None:
        for ahead, kind in ((8, 0), (9, 1)):
            root = state([0, 10, 10], [[ahead, 0], [0, 0], [0, 0]], tag=None)
            # Prices alone would still have type 0: it is a hundred times as cheap to send.
            root.known.byte = [1e4, 1e6]
            assert lagging(Steering(eta=0.01), root) == (2, kind)

    def test_counts_by_weight_and_without_ended_types(self) -> None:
        given = [[18, 0], [0, 0], [0, 0]]
        root = state([0, 10, 10], given, tag=None, byte=(1e4, 1e6), weight=(3.0, 1.0))
        assert lagging(Steering(eta=0.01), root) == (2, 0)
        alone = state([0, 10, 10], given, tag=None, stock=(9, 0))
        assert lagging(STEERING, alone) == (2, 0)


def test_a_task_is_passed_by_no_more_than_the_lead() -> None:
    for passed, due in (([9, 8, 7], 0), ([7, 8, 9], 1), ([7, 7, 7], None)):
        three: dict[str, Any] = {
            "bandwidth": (1e6,),
            "stock": (1, 1, 1),
            "flop": (1e8,) * 3,
            "byte": (4e6, 2e6, 1e6),
            "weight": (1.0,) * 3,
            "tag": (1.0,) * 3,
            "arrivals": deque([0, 1, 2]),
            "passed": deque(passed),
        }
        # Without, the worker takes what has most bytes, and the port what has least.
        assert lagging(STEERING, state([1, 0], **three)) == (0, 0 if due is None else due)
        assert lagging(STEERING, state([0, 9], **three)) == (1, 2 if due is None else due)


class TestRefusal:
    def starving(self, **fields: Any) -> NodeState:
        """Return a node whose child 1 works off a task a second, and child 2 is 10 s away."""
        row = [28, 0]
        return state([0, 0, 10], [[0, 0], row, [0, 0]], bandwidth=(1e6, 1e5), now=17.0, **fields)

    def test_of_what_starves_others(self) -> None:
        # Child 1 has 10 in stock; of type 0, 10 s starve it of nothing, of type 1, 40 s of 30.
        assert lagging(STEERING, self.starving(stock=(1, 1))) == (2, 0)
        assert lagging(STEERING, self.starving(stock=(0, 1))) is None
        assert lagging(Steering(refuses=False), self.starving(stock=(0, 1))) == (2, 1)

    def test_unless_it_is_worth_as_much(self) -> None:
        for price, choice in ((29.0, None), (31.0, (2, 1))):
            assert lagging(STEERING, self.starving(stock=(0, 1), tag=(1.0, price))) == choice
        # What counts is the price next to that of what children usually get.
        assert lagging(STEERING, self.starving(stock=(0, 1), tag=(2.0, 31.0))) is None

    def test_of_what_outlasts_buffers_before_anything_is_known(self) -> None:
        # One task gone so far: the child may be as fast as its parent, a task a second, and full.
        for seconds, choice in ((10.9, (1, 1)), (11.1, None)):
            one = state([0, 10], [[0, 0], [1, 0]], stock=(0, 1), bandwidth=(1e6,), now=4.0)
            one.known.byte = [1e6, seconds * 1e6]
            assert lagging(STEERING, one) == choice

    @pytest.mark.parametrize("speed", [0.0, 1e6])
    def test_whatever_the_speed_of_the_parent(self, speed: float) -> None:
        # Two tasks in 4 s are the most that the child can have taken.
        for seconds, choice in ((21.9, (2, 1)), (22.1, None)):
            two = state([0, 7, 10], [[0, 0], [3, 0], [0, 0]], stock=(0, 1), speed=speed, now=4.0)
            two.known.bandwidth, two.known.byte = [1e6, 1e6], [1e6, seconds * 1e6]
            assert lagging(STEERING, two) == choice

    def test_of_what_goes_on_starving(self) -> None:
        # Ten tasks are gone of child 1 after the first, in 93 s. Others had the port for 90 s: it
        # may work off as many in ten times the 3 s that were left, and 13 of them in 40 s.
        for others, choice in ((9, None), (8, (2, 1))):
            given = [[0, 0], [21, 0], [others, 0]]
            two = state([0, 0, 5], given, stock=(0, 1), bandwidth=(1e7, 1e5), now=93.0)
            assert lagging(Steering(window=99), two) == choice

    def test_for_the_sake_of_who_is_off(self) -> None:
        for speed in (0.0, 1e8):
            dead = self.starving(stock=(0, 1), speed=speed)
            assert lagging(STEERING, dead) is None
            dead.away[1] = True
            assert lagging(STEERING, dead) == (2, 1)
        dead.away[2] = True
        assert lagging(STEERING, dead) is None

    def test_never_freezes(self) -> None:
        # Nobody has anything to compute: what remains is sent.
        row = [28, 0]
        empty = state([0, 10, 10], [[0, 0], row, [0, 0]], stock=(0, 1), now=27.0, speed=0.0)
        empty.known.bandwidth = [1e4, 1e4]
        assert lagging(STEERING, empty) == (1, 1)
        empty.known.speed = 1e8
        assert lagging(STEERING, empty) is None


def test_decisions_are_pure() -> None:
    root = state([0, 3, 7], [[1, 2], [9, 3], [4, 4]], tag=None, now=7.0)
    before = copy.deepcopy(root)
    choice = lagging(STEERING, root)
    assert choice is not None
    assert root == before
    assert lagging(STEERING, copy.deepcopy(root)) == choice
    prices(STEERING, root)
    assert root == before


def test_decisions_do_not_depend_on_the_order_of_children() -> None:
    generator = np.random.default_rng(0)
    for _ in range(50):
        count = 4
        asked = [0, *generator.integers(0, 11, count).tolist()]
        gone = generator.integers(0, 30, count)
        given = [[0, 0]] + [
            [int(each), 10 - slots + 3] for each, slots in zip(gone, asked[1:], strict=True)
        ]
        bandwidth = np.exp(generator.uniform(11, 16, count)).tolist()
        order = generator.permutation(count).tolist()
        tag = (1.0, float(generator.uniform(0.5, 5)))
        one = state(asked, given, bandwidth=tuple(bandwidth), tag=tag, now=40.0)
        other = state(
            [0, *(asked[1 + each] for each in order)],
            [[0, 0], *(given[1 + each] for each in order)],
            bandwidth=tuple(bandwidth[each] for each in order),
            tag=tag,
            now=40.0,
        )
        first, second = lagging(STEERING, one), lagging(STEERING, other)
        if first is None:
            assert second is None
        else:
            assert second is not None
            assert (1 + order[second[0] - 1], second[1]) == first


@pytest.mark.parametrize(
    "wrong", [{"eta": -1.0}, {"lead": math.nan}, {"spare": 0}, {"window": -0.1}]
)
def test_refused_parameters(wrong: dict[str, Any]) -> None:
    name = next(iter(wrong))
    with pytest.raises(WorkloadError, match=name):
        lag(tree_of([-1], [1e8], [math.inf]), bags_of([1e6]), **wrong)


def tree_of(parent: list[int], speed: list[float], bandwidth: list[float]) -> Tree:
    """Return a tree without latencies."""
    names = tuple(f"n{number}" for number in range(len(parent)))
    late = np.zeros(len(parent))
    return Tree(names, np.array(parent), np.array(speed), np.array(bandwidth), late)


def bags_of(byte: list[float], count: int = 200) -> Bags:
    """Return bags of tasks of a second on a host of 1e8 flop/s."""
    many = np.ones(len(byte))
    names = tuple("abc"[: len(byte)])
    return Bags(names, 1e8 * many, np.array(byte), many, np.full(len(byte), count))


def share(tree: Tree, bags: Bags, **steering: Any) -> float:
    """Return what part of the optimum LAG reaches."""
    done = execute(tree, bags, lag(tree, bags, **steering))
    return fair(experimental(done), bags.weight) / steady_state(tree, bags).fair


def test_reaches_the_optimum_of_a_star() -> None:
    # Type 1 belongs on the root and the wide link, type 0 on the narrow ones (Proposition 1).
    tree = tree_of([-1, 0, 0, 0], [1e8, 1e8, 1e8, 1e8], [math.inf, 8e6, 1e6, 5e5])
    bags = bags_of([2e5, 4e6], 500)
    assert share(tree, bags) > 0.97
    # If port time alone counts, the wide link gets what is quick to send.
    assert share(tree, bags, crowding=0.0) < share(tree, bags)


def test_refuses_what_buffers_cannot_hide() -> None:
    # A task of type 1 takes 100 s to send, in which the child would do 300 of type 0.
    tree = tree_of([-1, 0], [1e8, 3e8], [math.inf, 1e6])
    bags = bags_of([1e4, 1e8], 300)
    assert share(tree, bags) > 0.97
    assert share(tree, bags, refuses=False) < 0.8


@pytest.mark.parametrize("root", [0.0, 1e4, 1e6])
@pytest.mark.parametrize("late", [0.0, 300.0])
def test_a_child_that_starved_does_not_starve_for_ever(root: float, late: float) -> None:
    # Child a does a task a second. One for b takes 100 s to send: a task that is worth it only
    # until a is there.
    hosts, speed = ("root", "a", "b"), [root, 1e6, 1e6]
    tree = Tree(hosts, np.array([-1, 0, 0]), speed, [math.inf, 1e7, 1e4], np.zeros(3))
    bags = Bags(("x",), 1e6, 1e6, 1.0, 600)
    done = execute(tree, bags, lag(tree, bags), delays=np.array([0, late, 0]))
    assert done.completion[0][-1] < 1.2 * (600 + late)


@pytest.mark.parametrize("inner", [0.0, 0.02])
@pytest.mark.parametrize("length", [3, 20, 60])
def test_long_chains_serve_all_applications_alike(length: int, inner: float) -> None:
    # Between them, the nodes of a long chain hold more tasks than an application has.
    speed = [0.0] + [inner * 1e8] * (length - 2) + [1e8]
    tree = tree_of(list(range(-1, length - 1)), speed, [math.inf] + [1e8] * (length - 1))
    bags = bags_of([1e6, 2e6, 4e6], 100)
    done = execute(tree, bags, lag(tree, bags))
    rate = experimental(done) / np.mean(experimental(done))
    assert rate.min() > 0.85
    if not inner:
        assert fair(experimental(done), bags.weight) > 0.9 * steady_state(tree, bags).fair


def test_keeps_slow_children_from_hoarding() -> None:
    # Ten children of a fortieth of the root's speed would take eleven tasks each, for 440 s.
    slow = 10
    tree = tree_of([-1] + [0] * slow, [1e8] + [2.5e6] * slow, [math.inf] + [1e7] * slow)
    bags = bags_of([1e4, 1e4], 200)
    done = {
        window: execute(tree, bags, lag(tree, bags, window=window)) for window in (0.0, math.inf)
    }
    assert done[math.inf].most[1:].tolist() == [10] * slow
    assert done[0.0].most[1:].tolist() == [3] * slow
    rate = {window: fair(experimental(each), bags.weight) for window, each in done.items()}
    assert rate[0.0] > 1.4 * rate[math.inf]


def test_a_host_that_never_asks_freezes_nobody() -> None:
    hosts = ("root", "idle", "slow", "fast")
    speed, bandwidth = [0.0, 0.0, 3.1e8, 3.03e9], [math.inf, 1e6, 4.3e5, 3.78e6]
    tree = Tree(hosts, np.array([-1, 0, 0, 0]), speed, bandwidth, np.zeros(4))
    bags = Bags(("x", "y"), 1e9, np.array([40.71e6, 1.49e6]), 1.0, 12)
    assert execute(tree, bags, lag(tree, bags)).computed.sum() == 24
