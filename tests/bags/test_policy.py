"""States of nodes, and their debts when plans change."""

import pytest

from simplugin.bags.policy import NodeKnowledge, NodePlan, NodeState, owed


def state(rates, given):
    """Return a node with one child that gave out some tasks."""
    known = NodeKnowledge([1.0, 1.0], [1.0, 1.0], [1.0, 1.0], 1.0, [1.0])
    plan = None if rates is None else NodePlan(rates)
    return NodeState(known, False, 10, [0, 0], plan, given=given)


def test_a_pair_is_owed_what_it_is_behind_by():
    # Eight tasks were given out: in proportion to rates, 4, 2, 1.5 and 0.5 of each.
    rates = ((8.0, 4.0), (3.0, 1.0))
    assert owed(state(rates, [[4, 2], [2, 0]])) == [[0.0, 0.0], [-0.5, 0.5]]


def test_no_more_than_a_task_is_owed():
    rates = ((1.0, 1.0), (1.0, 1.0))
    assert owed(state(rates, [[8, 0], [0, 0]])) == [[-1.0, 1.0], [1.0, 1.0]]


@pytest.mark.parametrize("rates", [None, ((0.0, 0.0), (0.0, 0.0))])
def test_nothing_is_owed_without_a_plan(rates):
    assert owed(state(rates, [[3, 0], [0, 0]])) == [[0.0, 0.0], [0.0, 0.0]]
