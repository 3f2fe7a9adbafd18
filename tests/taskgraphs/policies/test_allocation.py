"""Allocations: closed forms, graphs that are partly executed, and what is refused."""

from __future__ import annotations

import re
from math import floor, inf

import numpy as np
import pytest
from small_graphs import graph_of, in_levels

from simplugin.errors import WorkloadError
from simplugin.platforms.sites import SUBSETS, MultiCluster
from simplugin.taskgraphs.policies.allocation import Allocator, cpa, hcpa, scrap, scrap_max
from simplugin.taskgraphs.readings import Readings

RENNES = SUBSETS["rennes"].site()
ONE_CLUSTER = MultiCluster("one", (("only", 40, 3.3e9),)).site()


class TestClosedForms:
    @pytest.mark.parametrize("beta", [0.1, 1 / 3])
    def test_chain_of_parallel_tasks(self, beta):
        # Each level has one task, which takes the whole share: no cluster is smaller.
        graph = graph_of("graph", [1e10] * 4, [(0, 1), (1, 2), (2, 3)])
        share = floor(beta * 40 * (1 + 1e-9))
        allocation = scrap_max(graph, ONE_CLUSTER, beta)
        assert allocation.reference.tolist() == [share] * 4
        assert allocation.processors.tolist() == [[share] * 4]
        assert allocation.time.tolist() == pytest.approx([1e10 / 3.3e9 / share] * 4)
        # SCRAP compares the sum of the areas, 4 T(1), with the sum of the times.
        counts = scrap(graph, ONE_CLUSTER, beta).reference
        assert 4 / np.sum(1 / counts) <= beta * 40 * (1 + 1e-9)
        counts[np.argmin(counts)] += 1
        assert 4 / np.sum(1 / counts) > beta * 40

    @pytest.mark.parametrize(("beta", "each"), [(1.0, 10), (0.5, 5), (0.1, 1), (0.025, 1)])
    def test_fork_join_of_equal_tasks(self, beta, each):
        # Four equal branches share what the fork and the join have for themselves. The last share
        # is one processor, less than the branches need: they keep one each.
        edges = [(0, task) for task in range(1, 5)] + [(task, 5) for task in range(1, 5)]
        graph = graph_of("graph", [1e10] * 6, edges, alpha=0.05)
        whole = floor(beta * 40 * (1 + 1e-9))
        expected = [whole, each, each, each, each, whole]
        assert scrap_max(graph, ONE_CLUSTER, beta).reference.tolist() == expected

    def test_share_that_a_division_leaves_short(self):
        # 0.3 / 3 is a little less than 0.1; 40 times it is still four processors.
        graph = graph_of("graph", [1e10])
        assert 0.3 / 3 * 40 < 4
        assert scrap_max(graph, ONE_CLUSTER, 0.3 / 3).reference.tolist() == [4]
        assert scrap(graph, ONE_CLUSTER, 0.3 / 3).reference.tolist() == [4]

    def test_full_level_passes_or_stops(self):
        # 0 -> 1 is critical, with 2 beside 1; 1 is short, so 0 grows first. Its level is full at
        # four processors; then only passing it over lets 1 have its three.
        graph = graph_of("graph", [8e10, 1e9, 1e8], [(0, 1), (0, 2)])
        passed = scrap_max(graph, ONE_CLUSTER, 0.1)
        stopped = scrap_max(graph, ONE_CLUSTER, 0.1, Readings(full_level="stop"))
        assert passed.reference.tolist() == [4, 3, 1]
        assert stopped.reference.tolist() == [4, 1, 1]

    def test_published_area(self, shared_data):
        # biCPA's own run of CPA on 20 hosts of 1 Gflop/s: 3241.080 processors x s.
        text = (shared_data / "workflows/dot/daggen_ptg.dot").read_text()
        tasks = re.findall(r'(\d+)\s+\[size="(\d+)", alpha="([\d.]+)"\]', text)
        edges = re.findall(r"(\d+) -> (\d+)", text)
        graph = graph_of(
            "daggen",
            [float(flop) for _, flop, _ in tasks],
            [(int(one) - 1, int(other) - 1) for one, other in edges],
            alpha=[float(alpha) for *_, alpha in tasks],
        )
        count = cpa(graph, 20, 1e9)
        time = (graph.alpha + (1 - graph.alpha) / count) * graph.flop / 1e9
        assert float(count @ time) == pytest.approx(3241.080, abs=5e-4)


class TestPartlyExecuted:
    def test_what_is_done_leaves_its_level(self):
        # Two branches share eight processors; when one is over, the other has them all.
        graph = graph_of("graph", [1e9, 1e11, 1e11], [(0, 1), (0, 2)])
        assert scrap_max(graph, ONE_CLUSTER, 0.2).reference.tolist() == [8, 4, 4]
        done = np.array([True, True, False])
        allocation = scrap_max(graph, ONE_CLUSTER, 0.2, done=done)
        assert allocation.reference.tolist() == [1, 1, 8]
        assert allocation.processors.tolist() == [[1, 1, 8]]
        assert allocation.time.tolist() == [0.0, 0.0, pytest.approx(1e11 / 8 / 3.3e9)]

    @pytest.mark.parametrize("done", [[True], [1, 0, 1]])
    def test_refused(self, done):
        graph = graph_of("graph", [1e9] * 3)
        with pytest.raises(WorkloadError, match=r"'graph'.*give bool of shape \(3,\)"):
            scrap_max(graph, RENNES, 0.5, done=np.array(done))


class TestAllocator:
    def test_shares_one_after_another(self):
        # Nothing of one share is left when the next comes.
        graph = in_levels(3, 40, 6)
        allocator = Allocator(graph, RENNES)
        for beta in (1.0, 0.1, 0.5, 0.1):
            for rule in ("scrap", "scrap_max"):
                again = getattr(allocator, rule)(beta).reference
                fresh = {"scrap": scrap, "scrap_max": scrap_max}[rule](graph, RENNES, beta)
                assert np.array_equal(again, fresh.reference)
        assert np.array_equal(allocator.hcpa().reference, hcpa(graph, RENNES).reference)

    @pytest.mark.parametrize("rule", [scrap, scrap_max])
    @pytest.mark.parametrize("beta", [0.0, 1.5, float("nan")])
    def test_refused_shares(self, rule, beta):
        with pytest.raises(WorkloadError, match=r"graph 'graph' has the share .* up to 1"):
            rule(graph_of("graph", [1e9]), RENNES, beta)

    @pytest.mark.parametrize(("processors", "speed"), [(0, 1e9), (5, 0.0), (5, inf)])
    def test_refused_clusters(self, processors, speed):
        with pytest.raises(WorkloadError, match=rf"'graph' is to run on {processors} processors"):
            cpa(graph_of("graph", [1e9]), processors, speed)
