"""Decisions on states made by hand, and debts when plans change."""

from collections import deque

from simplugin.bags.policies.classics import bandwidth_centric, first_come_first_served
from simplugin.bags.policies.load_balancing import balanced
from simplugin.bags.policies.prices import LEAD, priced
from simplugin.bags.policy import NodeKnowledge, NodePlan, NodeState, owed, servable


def state(
    stock, queue, *, bandwidth=(1e6, 3e6), rates=(), slots=(), weight=None, root=True, **fields
):
    """Return the state of a node with a stock and requests, the oldest first."""
    ones = [1.0] * len(stock)
    return NodeState(
        NodeKnowledge(ones, ones, weight or ones, 1e6, list(bandwidth)),
        is_root=root and "arrivals" not in fields,
        capacity=10,
        stock=stock,
        plan=NodePlan(rates, slots) if rates else None,
        asked=[queue.count(target) for target in range(1 + len(bandwidth))],
        queue=deque(queue),
        **fields,
    )


def planned(rates, stock, asked, given=(), *, root=False, **fields):
    """Return the state of a node with a plan, and as many requests of each target."""
    queue = [target for target, requests in enumerate(asked) for _ in range(requests)]
    rates = tuple(map(tuple, rates))
    links = [1.0] * (len(rates) - 1)
    return state(stock, queue, bandwidth=links, rates=rates, given=given, root=root, **fields)


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


def test_the_pair_most_behind_comes_first():
    # Due at 1/1, 3/2, 2/4 in planned time.
    rates = [[1.0, 0.0], [0.0, 2.0], [4.0, 0.0]]
    given = [[0, 0], [0, 2], [1, 0]]
    assert priced(planned(rates, [5, 5], [1, 1, 1], given)) == (2, 0)
    assert priced(planned(rates, [5, 5], [1, 1, 0], given)) == (0, 0)
    assert priced(planned(rates, [0, 5], [1, 1, 1], given)) == (1, 1)
    assert priced(planned(rates, [5, 5], [1, 1, 1], given, port_free=False)) == (0, 0)
    assert priced(planned(rates, [5, 5], [0, 1, 1], given, port_free=False)) is None


def test_below_the_root_a_type_waits_for_the_target_that_is_behind():
    # The worker has had its share; the child, which is being sent something else, has not.
    rates = [[1.0, 1.0], [1.0, 0.0]]
    given = [[1, 0], [0, 0]]
    assert priced(planned(rates, [3, 0], [1, 0], given)) is None
    assert priced(planned(rates, [3, 0], [1, 0], [[1, 0], [1, 0]])) == (0, 0)
    # Of another type it may have more.
    assert priced(planned(rates, [3, 1], [1, 0], given)) == (0, 1)


def test_the_root_lets_no_type_run_away():
    rates = [[1.0, 0.0], [0.0, 1.0]]
    lead = int(LEAD)
    # The next task of the other type is due at 1.
    assert priced(planned(rates, [300, 300], [1, 0], [[lead - 1, 0], [0, 0]], root=True)) == (0, 0)
    ahead = [[lead, 0], [0, 0]]
    assert priced(planned(rates, [300, 300], [1, 0], ahead, root=True)) is None
    # Once the other type has ended nobody waits for it.
    assert priced(planned(rates, [300, 0], [1, 0], ahead, root=True)) == (0, 0)


def test_a_rare_type_of_a_target_does_not_come_early():
    # One in fifty of what the child gets: due when it has had fifty of the others.
    rates = [[0.0, 0.0], [50.0, 1.0]]
    asked = [0, 1]
    typed = {"wanted": [[0, 0], [0, 1]]}
    assert priced(planned(rates, [300, 300], asked, [[0, 0], [10, 0]], root=True, **typed)) == (
        1,
        1,
    )
    early = [[0, 0], [10, 1]]
    assert priced(planned(rates, [300, 300], asked, early, root=True, **typed)) is None
    due = [[0, 0], [60, 1]]
    assert priced(planned(rates, [300, 300], asked, due, root=True, **typed)) == (1, 1)


def test_what_an_earlier_plan_left_goes_to_whoever_asks_last_of_all():
    rates = [[0.0, 1.0], [0.0, 0.0]]
    assert priced(planned(rates, [1, 0], [0, 1])) == (1, 0)
    assert priced(planned(rates, [1, 1], [1, 1])) == (0, 1)


def owed_by(rates, given):
    """Return the debts of a node with one child that gave out some tasks."""
    return owed(planned(rates, [0, 0], [0, 0], given))


def test_a_pair_is_owed_what_it_is_behind_by():
    # Eight tasks were given out: in proportion to rates, 4, 2, 1.5 and 0.5 of each.
    assert owed_by(((8.0, 4.0), (3.0, 1.0)), [[4, 2], [2, 0]]) == [[0.0, 0.0], [-0.5, 0.5]]
    # No more than a task is owed.
    ones = ((1.0, 1.0), (1.0, 1.0))
    assert owed_by(ones, [[8, 0], [0, 0]]) == [[-1.0, 1.0], [1.0, 1.0]]
    # Nothing is owed without a plan.
    assert owed_by(((0.0, 0.0), (0.0, 0.0)), [[3, 0], [0, 0]]) == [[0.0, 0.0], [0.0, 0.0]]
    unplanned = state([0, 0], [], bandwidth=[1.0], given=[[3, 0], [0, 0]])
    assert owed(unplanned) == [[0.0, 0.0], [0.0, 0.0]]
