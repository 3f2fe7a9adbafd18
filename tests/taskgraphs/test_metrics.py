"""Metrics, times of tasks and of redistributions, by hand."""

from dataclasses import replace
from fractions import Fraction
from math import gcd

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naming import raises_naming
from small_graphs import graph_of, site_of

from simplugin.core.errors import WorkloadError
from simplugin.platforms.sites import LILLE, SOPHIA
from simplugin.taskgraphs import metrics
from simplugin.taskgraphs.schedule import Schedule
from simplugin.taskgraphs.timing import overlaps, redistribution, redistribution_time, task_times
from simplugin.workloads.task_graphs import GraphSet


def test_unfairness_of_the_papers_example():
    # Section 7: eight graphs of ten do not suffer, two take five times as long. The text has 0.1
    # for 0.2 in its formula, but 2.56 is what 0.2 gives.
    slowdowns = metrics.slowdown(np.full(10, 2.0), [2.0] * 8 + [10.0] * 2)
    assert slowdowns.tolist() == [1.0] * 8 + [0.2] * 2
    assert metrics.average_slowdown(slowdowns) == pytest.approx(0.84)
    assert metrics.unfairness(slowdowns) == pytest.approx(2.56)
    assert metrics.worst_slowdown(slowdowns) == 0.2


def test_who_suffers_alike_is_treated_fairly():
    assert metrics.unfairness([0.25] * 4) == 0.0


def test_efficiency():
    # On two hosts of 1 flop/s and one of 2 flop/s: 16 flop in 10 s of 4 flop/s.
    site = site_of([2, 1], [1.0, 2.0])
    graphs = GraphSet((graph_of("a", [8.0, 2.0]), graph_of("b", [6.0])))
    dates = np.array([0.0, 8.0, 0.0]), np.array([4.0, 10.0, 3.0])
    done = Schedule.of(site, graphs, [[0, 1], [0], [2]], *dates, [0, 2, 1])
    assert metrics.efficiency(done) == pytest.approx(0.4)


def test_nothing_to_do_is_done_efficiently():
    site, graphs = site_of([1], [1.0]), GraphSet((graph_of("a", [0.0]),))
    nothing = Schedule.of(site, graphs, [[0]], np.zeros(1), np.zeros(1), [0])
    assert metrics.efficiency(nothing) == 1.0


def test_what_is_no_makespan_is_refused():
    with raises_naming(WorkloadError, "(2,)", "(1,)"):
        metrics.slowdown([1.0, 2.0], [1.0])
    with raises_naming(WorkloadError, "[0.0]", "[1.0]"):
        metrics.slowdown([1.0], [0.0])
    with raises_naming(WorkloadError, "[-1.0]"):
        metrics.slowdown([-1.0], [1.0])
    for wrong in ([], [1.0, np.nan], [1.0, 0.0]):
        with raises_naming(WorkloadError, wrong):
            metrics.unfairness(wrong)


def test_graphs_without_work_do_not_suffer():
    slowdowns = metrics.slowdown([0.0, 0.0, 3.0], [0.0, 2.0, 6.0])
    assert slowdowns.tolist() == [1.0, 1.0, 0.5]


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

    def test_broadcasting(self):
        times = task_times([1e9, 2e9, 3e9], 0.0, np.array([[2], [4]]), np.array([[1e9], [3e9]]))
        assert times.shape == (2, 3)
        assert times[1].tolist() == pytest.approx([1 / 12, 2 / 12, 3 / 12])


SLOWEST = [
    # Two senders of 100 MB/s; five receivers of 200 MB/s; the switch.
    ((0, 2), (1, 5), 2e8),
    ((1, 10), (0, 4), 4e8),
    ((1, 9), (1, 3), 6e8),
]


class TestRedistributionTime:
    @pytest.mark.parametrize(("source", "count", "slowest"), SLOWEST)
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


PROCESSORS = st.lists(st.integers(0, 30), min_size=1, max_size=12, unique=True)


def plainly(byte: int, sources: list[int], targets: list[int]) -> dict[tuple[int, int], Fraction]:
    """Return what each sends to each: the common part of two intervals of all data."""
    m, n = len(sources), len(targets)
    sent = {}
    for i, source in enumerate(sources):
        for j, target in enumerate(targets):
            left = max(Fraction(i, m), Fraction(j, n))
            right = min(Fraction(i + 1, m), Fraction(j + 1, n))
            if right > left:
                sent[source, target] = byte * (right - left)
    return sent


@given(st.integers(1, 10**10), PROCESSORS, PROCESSORS)
def test_blocks_overlap_as_intervals_do(byte, sources, targets):
    hosts, sizes = redistribution(byte, sources, targets)
    assert sorted(hosts.tolist()) == sorted({*sources, *targets})
    assert hosts[: len(sources)].tolist() == sources
    sent = {
        (int(hosts[row]), int(hosts[column])): sizes[row, column]
        for row, column in np.argwhere(sizes).tolist()
    }
    # What a processor would send to itself is kept.
    _, kept = redistribution(byte, sources, targets, local="kept")
    np.fill_diagonal(sizes, 0.0)
    assert kept.tolist() == sizes.tolist()
    expected = plainly(byte, sources, targets)
    assert sent.keys() == expected.keys()
    for pair, amount in expected.items():
        assert sent[pair] == pytest.approx(float(amount), rel=1e-12)


@given(st.integers(1, 60), st.integers(1, 60))
def test_number_of_messages(m, n):
    row, column, part = overlaps(m, n)
    assert len(row) == len(column) == len(part) == m + n - gcd(m, n)


def test_uniform_sends_to_everyone():
    hosts, sizes = redistribution(12.0, [0, 1], [1, 2, 3], pattern="uniform")
    assert hosts.tolist() == [0, 1, 2, 3]
    assert sizes.tolist() == [[0.0, 2.0, 2.0, 2.0], [0.0, 2.0, 2.0, 2.0], [0.0] * 4, [0.0] * 4]


@pytest.mark.parametrize(
    ("targets", "how"), [([1], {"pattern": "cyclic"}), ([1], {"local": "lost"}), ([], {})]
)
def test_unknown_choices_and_no_targets(targets, how):
    with raises_naming(WorkloadError, *how, *how.values()):
        redistribution(1.0, [0], targets, **how)
