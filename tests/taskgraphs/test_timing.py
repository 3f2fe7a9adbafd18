"""Times of tasks and of redistributions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from small_graphs import site_of

from simplugin.platforms.sites import LILLE, SOPHIA
from simplugin.taskgraphs.timing import redistribution_time, task_times

# Two clusters with links of 100 and 200 MB/s; between them no more than 1 GB/s.
SITE = site_of(
    [4, 20],
    [1e9, 2e9],
    [1e8, 2e8],
    [[1e-4, 3e-4], [4e-4, 2e-4]],
    [[np.inf, 1e9], [1e9, np.inf]],
)


class TestTaskTimes:
    def test_amdahl(self):
        # A quarter of 8 s is sequential; the other 6 s are divided by three.
        assert task_times(8e9, 0.25, 3, 1e9) == pytest.approx(4.0)

    def test_limits(self):
        assert task_times(1e9, 1.0, 1000, 1e9) == pytest.approx(1.0)
        assert task_times(1e9, 0.0, 1000, 1e9) == pytest.approx(1e-3)
        assert task_times(0.0, 0.5, 7, 1e9) == 0.0

    def test_broadcasting(self):
        times = task_times([1e9, 2e9, 3e9], 0.0, np.array([[2], [4]]), np.array([[1e9], [3e9]]))
        assert times.shape == (2, 3)
        assert times[1].tolist() == pytest.approx([1 / 12, 2 / 12, 3 / 12])


class TestRedistributionTime:
    @pytest.mark.parametrize(
        ("source", "count", "slowest"),
        [
            # Two senders of 100 MB/s; five receivers of 200 MB/s; the switch.
            ((0, 2), (1, 5), 2e8),
            ((1, 10), (0, 4), 4e8),
            ((1, 9), (1, 3), 6e8),
        ],
    )
    def test_slowest_link(self, source, count, slowest):
        expected = float(SITE.latency[source[0], count[0]]) + 6e8 / slowest
        assert redistribution_time(SITE, 6e8, *source, *count) == pytest.approx(expected)

    def test_shared_link(self):
        # Twenty hosts could send 4 GB/s, and all of them receive as much.
        wide = replace(SITE, shared=np.full((2, 2), 1.5e9))
        assert redistribution_time(wide, 6e8, 1, 20, 1, 20) == pytest.approx(2e-4 + 0.4)

    def test_no_data_take_no_time(self):
        assert redistribution_time(SITE, 0.0, 0, 1, 1, 1) == 0.0

    def test_switches_of_the_paper(self):
        # Adapters of 50 us at both ends; one switch of 50 us in Lille, two between clusters of
        # Sophia. 10 Gbit/s carry what ten adapters send.
        one, two = LILLE.site(), SOPHIA.site()
        assert redistribution_time(one, 1.25e8, 0, 20, 1, 20) == pytest.approx(150e-6 + 0.1)
        assert redistribution_time(two, 1.25e8, 0, 20, 1, 20) == pytest.approx(200e-6 + 0.1)
        assert redistribution_time(two, 1.25e8, 0, 20, 0, 4) == pytest.approx(150e-6 + 0.25)
