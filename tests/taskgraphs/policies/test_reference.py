"""The reference cluster of a site, and what its processors are on others."""

from __future__ import annotations

from math import floor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_graphs import graph_of

from simplugin.platforms.sites import SUBSETS, MultiCluster
from simplugin.taskgraphs.policies.allocation import Reference, caps, reference_of, translate
from simplugin.taskgraphs.readings import Readings

RENNES = SUBSETS["rennes"].site()
POWER = Readings(translation="power")
SPEEDS = st.sampled_from(["slowest", "mean", "fastest"])
ALPHAS = st.sampled_from([0.0, 1.0]) | st.floats(0, 0.5)


def on(speed, processors, flop, alpha):
    """Return how long a task takes."""
    return (alpha + (1 - alpha) / processors) * flop / speed


class TestReference:
    # From Table 1 of the paper: Lille has 53 * 3.647 + 20 * 4.311 + 26 * 4.384 GFlop/s, and so on.
    @pytest.mark.parametrize(
        ("name", "reading", "speed", "processors"),
        [
            ("lille", "slowest", 3.647e9, 107),
            ("rennes", "slowest", 3.364e9, 257),
            ("nancy", "fastest", 3.379e9, 160),
            ("lille", "mean", 393.495e9 / 99, 99),
        ],
    )
    def test_sites_of_the_paper(self, name, reading, speed, processors):
        reference = reference_of(SUBSETS[name].site(), Readings(reference_speed=reading))
        assert reference.speed == pytest.approx(speed, rel=1e-12)
        assert reference.processors == processors

    @settings(max_examples=40)
    @given(st.integers(1, 130), SPEEDS)
    def test_one_cluster_is_its_own_reference(self, processors, reading):
        # Whatever p * s / s comes to in floating point.
        site = MultiCluster("one", (("only", processors, 4.384e9),)).site()
        reference = reference_of(site, Readings(reference_speed=reading))
        assert reference == Reference(4.384e9, processors)
        graph = graph_of("graph", [1e9, 7e10, 3e11], alpha=[0.0, 0.1, 0.25])
        assert caps(graph, reference, site).tolist() == [processors] * 3


class TestTranslate:
    @settings(max_examples=60, derandomize=True)
    @given(st.floats(1e8, 1e12), ALPHAS, st.integers(1, 257), SPEEDS)
    def test_fewest_that_keep_up(self, flop, alpha, count, reading):
        reference = reference_of(RENNES, Readings(reference_speed=reading))
        graph = graph_of("graph", [flop], alpha=alpha)
        found = translate(graph, np.array([count]), reference, RENNES)[:, 0].tolist()
        limit = on(reference.speed, count, flop, alpha) * (1 + 1e-12)
        for cluster, hosts in enumerate(RENNES.hosts):
            speed = float(RENNES.speed[cluster])
            keep_up = [
                processors
                for processors in range(1, len(hosts) + 1)
                if on(speed, processors, flop, alpha) <= limit
            ]
            assert found[cluster] == (keep_up[0] if keep_up else len(hosts))

    def test_tasks_without_work(self):
        graph = graph_of("graph", [1e11, 0.0], alpha=[1.0, 0.5])
        found = translate(graph, np.array([40, 40]), reference_of(RENNES), RENNES)
        assert found.tolist() == [[1, 1]] * 3

    def test_by_power(self):
        counts = np.array([1, 10, 100, 250])
        graph = graph_of("graph", [1e11] * 4, alpha=0.1)
        found = translate(graph, counts, reference_of(RENNES), RENNES, POWER)
        for cluster, (hosts, own) in enumerate(zip(RENNES.hosts, RENNES.speed, strict=True)):
            alike = [floor(n * 3.364e9 / own + 1e-9) for n in counts.tolist()]
            assert found[cluster].tolist() == [min(max(n, 1), len(hosts)) for n in alike]

    def test_by_power_no_rounding_away(self):
        # Three processors of 1.1 GFlop/s are one of 3.3, though 3 * (1.1 / 3.3) may be less.
        site = MultiCluster("two", (("slow", 90, 1.1e9), ("fast", 30, 3.3e9))).site()
        counts = np.arange(3, 90, 3)
        graph = graph_of("graph", [1e11] * len(counts))
        found = translate(graph, counts, reference_of(site), site, POWER)
        assert found[1].tolist() == list(range(1, 30))


class TestCaps:
    @settings(max_examples=40)
    @given(SPEEDS, ALPHAS)
    def test_best_whole_cluster_just_keeps_up(self, reading, alpha):
        reference = reference_of(RENNES, Readings(reference_speed=reading))
        cap = int(caps(graph_of("graph", [1e11], alpha=alpha), reference, RENNES)[0])
        best = min(
            on(float(speed), len(hosts), 1e11, alpha)
            for hosts, speed in zip(RENNES.hosts, RENNES.speed, strict=True)
        )
        assert 1 <= cap <= reference.processors
        if cap > 1:
            assert on(reference.speed, cap, 1e11, alpha) * (1 + 1e-12) >= best
        if cap < reference.processors:
            assert on(reference.speed, cap + 1, 1e11, alpha) * (1 + 1e-12) < best

    def test_parallel_task_takes_the_strongest_cluster_and_an_empty_one_all(self):
        # The 99 processors of paravent have 333 GFlop/s, the 66 of paraquad 304.
        graph, reference = graph_of("graph", [1e11, 0.0]), reference_of(RENNES)
        assert caps(graph, reference, RENNES).tolist() == [99, reference.processors]
