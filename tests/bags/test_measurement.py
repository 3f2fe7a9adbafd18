"""Measured speeds and bandwidths against the real ones."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from small_trees import bags_of, tree_of

from simplugin.bags.execution import execute
from simplugin.bags.measurement import measure, with_errors
from simplugin.bags.policies.classics import first_come_first_served
from simplugin.bags.policy import Policy
from simplugin.errors import PlatformError
from simplugin.platforms.topologies.random_trees import random_tree
from simplugin.simulation import SimGridOptions

FCFS = Policy("fcfs", first_come_first_served)


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
        with pytest.raises(PlatformError, match="spread"):
            with_errors(pair(1.0, 0.0), spread, np.random.default_rng())
