"""Decisions on states made by hand."""

from collections import deque

from simplugin.bags.policies.classics import bandwidth_centric, first_come_first_served
from simplugin.bags.policies.load_balancing import balanced
from simplugin.bags.policy import NodeKnowledge, NodePlan, NodeState, servable


def state(stock, queue, *, bandwidth=(1e6, 3e6), rates=(), slots=(), weight=None, **fields):
    """Return the state of a node with a stock and requests, the oldest first."""
    ones = [1.0] * len(stock)
    return NodeState(
        NodeKnowledge(ones, ones, weight or ones, 1e6, list(bandwidth)),
        is_root="arrivals" not in fields,
        capacity=10,
        stock=stock,
        plan=NodePlan(rates, slots) if rates else None,
        asked=[queue.count(target) for target in range(1 + len(bandwidth))],
        queue=deque(queue),
        **fields,
    )


ALL = ((1.0, 1.0), (1.0, 1.0), (1.0, 1.0))


class TestServable:
    def test_who_asks_and_what_is_there(self):
        assert list(servable(state([0, 2], [2, 0, 2]))) == [(0, 1), (2, 1)]
        assert list(servable(state([0, 0], [2, 0]))) == []
        assert list(servable(state([1, 1], []))) == []

    def test_a_busy_port_leaves_the_worker(self):
        assert list(servable(state([1, 1], [2, 0, 1], port_free=False))) == [(0, 0), (0, 1)]

    def test_requests_that_name_types(self):
        typed = state([1, 1], [1, 1, 0], rates=ALL, slots=(5, 5))
        typed.wanted[1] = [0, 2]
        assert list(servable(typed)) == [(0, 0), (0, 1), (1, 1)]
        # One of three does not name its type.
        typed.asked[1] = 3
        assert list(servable(typed)) == [(0, 0), (0, 1), (1, 0), (1, 1)]

    def test_nobody_has_to_ask_for_what_no_plan_has(self):
        typed = state([1, 1], [1], rates=((0.0, 1.0), (0.0, 1.0), (0.0, 1.0)), slots=(0, 9))
        typed.wanted[1] = [0, 1]
        assert list(servable(typed)) == [(1, 0), (1, 1)]


class TestBalanced:
    def test_smallest_given_plus_one_over_rate(self):
        made = state([9, 9], [0, 1, 2], rates=((1.0, 2.0), (4.0, 0.5), (0.0, 3.0)))
        assert balanced(made) == (1, 0)  # 1/4 before 1/3, 1/2, 1, 2
        made.given[1][0] = 1
        assert balanced(made) == (2, 1)  # 1/3
        made.given[2][1] = 1
        assert balanced(made) == (0, 1)  # 1/2, as (1, 0), but first

    def test_only_what_can_be_served(self):
        made = state([9, 0], [2], rates=((1.0, 2.0), (4.0, 0.5), (0.0, 3.0)))
        # The child that asks gets no task of type 0; it never waits for the best pair either.
        assert balanced(made) is None
        made.asked[1], made.queue = 1, deque([2, 1])
        assert balanced(made) == (1, 0)

    def test_what_no_rate_is_left_for_goes_to_whoever_asks(self):
        made = state([1, 0], [2], rates=((0.0, 2.0), (0.0, 0.5), (0.0, 3.0)))
        assert balanced(made) == (2, 0)
        made.stock[1] = 1
        assert balanced(made) == (2, 1)


class TestFirstComeFirstServed:
    def test_oldest_request_and_oldest_task(self):
        made = state([1, 2], [2, 0, 1], arrivals=deque([1, 0, 1]))
        assert first_come_first_served(made) == (2, 1)

    def test_a_busy_port_does_not_hold_up_the_worker(self):
        made = state([1, 1], [2, 1, 0], arrivals=deque([0, 1]), port_free=False)
        assert first_come_first_served(made) == (0, 0)
        assert first_come_first_served(state([1, 1], [2, 1], port_free=False)) is None

    def test_the_root_takes_types_in_turn_by_weight(self):
        for weight, taken in (([1.0, 1.0], [20, 20]), ([3.0, 1.0], [30, 10])):
            made = state([50, 50], [1], weight=weight)
            for step in range(40):
                target, kind = first_come_first_served(made)
                assert target == 1
                assert kind == step % 2 or weight[0] > 1
                made.give(1, kind)
            assert made.given[1] == taken

    def test_types_that_have_ended_are_passed_over(self):
        assert first_come_first_served(state([0, 5], [1])) == (1, 1)
        assert first_come_first_served(state([0, 0], [1])) is None


class TestBandwidthCentric:
    def test_worker_then_by_bandwidth(self):
        assert bandwidth_centric(state([5], [1, 2, 0])) == (0, 0)
        assert bandwidth_centric(state([5], [1, 2])) == (2, 0)
        assert bandwidth_centric(state([5], [1])) == (1, 0)
        assert bandwidth_centric(state([5], [1, 2], bandwidth=(2.0, 2.0))) == (1, 0)

    def test_port_and_stock(self):
        assert bandwidth_centric(state([5], [1, 2], port_free=False)) is None
        assert bandwidth_centric(state([5], [1, 0], port_free=False)) == (0, 0)
        assert bandwidth_centric(state([0], [1, 0])) is None
