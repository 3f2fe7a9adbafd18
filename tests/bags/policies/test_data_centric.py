"""DATA-CENTRIC, executed on SimGrid."""

import math
from dataclasses import replace

import numpy as np
import pytest
from small_trees import bags_of, changing, tree_of

from simplugin.bags.assessment import experimental, fair, slope
from simplugin.bags.execution import execute
from simplugin.bags.policies.data_centric import data_centric, trade
from simplugin.papers.beaumont.instances import instance


@pytest.mark.parametrize(("reading", "number"), [("A", 11), ("C", 3), ("D", 8)])
def test_it_has_the_throughput_that_it_expects(reading, number):
    tree, work = instance(reading, 2008, number)
    policy = data_centric(tree, work)
    execution = execute(tree, work, policy)
    assert [len(dates) for dates in execution.completion] == work.count.tolist()
    assert fair(experimental(execution), work.weight) == pytest.approx(policy.theory, rel=0.15)


def test_told_rates_and_negotiated_ones_are_executed_alike():
    tree, work = instance("A", 2008, 7)
    told, negotiated = (
        execute(tree, work, data_centric(tree, work, decentralised=each)) for each in (False, True)
    )
    # Nothing differs but that the negotiation takes some milliseconds per message.
    assert 0 < negotiated.first - told.first < 1.0
    assert np.abs(negotiated.computed - told.computed).max() <= 3


def test_it_follows_a_bandwidth():
    tree, work = (
        tree_of([-1, 0, 0], [1e6, 1e8, 1e8], [4e6, 2e6]),
        bags_of([1e9] * 2, [2e6, 2e7], 400),
    )
    slower = replace(tree, bandwidth=[math.inf, 2e5, 2e6])
    # After 1500 s, the link to h1 has a twentieth of its bandwidth.
    platform = changing(tree, [("h0->h1", "BANDWIDTH", [(1500.0, 2e5)])])
    kept, followed = (
        slope(execute(tree, work, data_centric(tree, work, period=period), platform=platform))
        for period in (math.inf, None)
    )
    expected = trade(slower, work).fair
    assert kept.min() < 0.5 * expected
    assert expected < followed.min() < trade(tree, work).fair
