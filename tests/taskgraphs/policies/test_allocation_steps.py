"""Allocations step by step: what an obvious version gives, and what constraints promise."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import floor
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simplugin.platforms.sites import SUBSETS, MultiCluster
from simplugin.taskgraphs.policies.allocation import cpa, hcpa, scrap, scrap_max
from simplugin.taskgraphs.readings import PAPER, Readings
from simplugin.workloads.task_graphs import TaskGraph

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from simplugin.platforms.sites import Site

SITES = {name: site.site() for name, site in SUBSETS.items()}
RENNES = SITES["rennes"]
ONE_CLUSTER = MultiCluster("one", (("only", 40, 3.3e9),)).site()
TINY = MultiCluster("tiny", (("a", 1, 1e9), ("b", 3, 2.5e9))).site()


@st.composite
def graphs(draw: st.DrawFn) -> TaskGraph:
    """Return a graph of up to twelve tasks, often with ties, some without work."""
    count = draw(st.integers(1, 12))
    flop = st.sampled_from([0.0, 1e9, 1e9, 7e9, 3e11]) | st.floats(1e8, 1e12)
    alpha = st.sampled_from([0.0, 0.0, 0.1, 1.0]) | st.floats(0, 0.25)
    number = draw(st.permutations(range(count)))
    pairs = list(combinations(number, 2))
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    some = {"min_size": count, "max_size": count}
    return TaskGraph(
        "graph",
        tuple(map(str, range(count))),
        np.array(draw(st.lists(flop, **some))),
        np.array(draw(st.lists(alpha, **some))),
        np.zeros(count),
        np.array(edges, dtype=np.int64).reshape(-1, 2),
        np.zeros(len(edges)),
    )


SHARES = st.sampled_from([1.0, 0.5, 0.1, 0.02]) | st.floats(0.001, 1.0)
PLACES = st.sampled_from([*SITES.values(), ONE_CLUSTER, TINY])
READINGS = st.builds(
    Readings,
    reference_speed=st.sampled_from(["slowest", "mean", "fastest"]),
    translation=st.sampled_from(["time", "power"]),
    full_level=st.sampled_from(["pass", "stop"]),
)


def seconds(graph: TaskGraph, task: int, count: int, speed: float) -> float:
    """Return how long a task takes."""
    alpha, flop = float(graph.alpha[task]), float(graph.flop[task])
    return (alpha + (1 - alpha) / count) * flop / speed


def longest_path(graph: TaskGraph, time: list[float]) -> tuple[list[int], float]:
    """Return the first critical path and its length."""
    below = [0.0] * graph.n_tasks
    for task in graph.order.tolist()[::-1]:
        after = graph.successors.of(task).tolist()
        below[task] = time[task] + max((below[each] for each in after), default=0.0)
    path = [max(graph.entries.tolist(), key=below.__getitem__)]
    while len(after := graph.successors.of(path[-1])):
        path.append(max(after.tolist(), key=below.__getitem__))
    return path, below[path[0]]


def area(count: list[int], time: list[float]) -> float:
    """Return processors times time, added up from the first task on."""
    total = 0.0
    for number, each in zip(count, time, strict=True):
        total += each * number
    return total


def speed_of(site: Site, readings: Readings) -> float:
    """Return the speed of the reference cluster."""
    speeds = [float(speed) for speed in site.speed]
    if readings.reference_speed == "mean":
        return site.power / sum(map(len, site.hosts))
    return min(speeds) if readings.reference_speed == "slowest" else max(speeds)


def ceilings(graph: TaskGraph, site: Site, speed: float) -> list[int]:
    """Return how far each task may grow on the reference cluster, by trial."""
    everyone = floor(site.power / speed * (1 + 1e-12))
    best = [
        min(
            seconds(graph, task, len(hosts), float(fast))
            for hosts, fast in zip(site.hosts, site.speed, strict=True)
        )
        for task in range(graph.n_tasks)
    ]
    return [
        max(
            (
                count
                for count in range(1, everyone + 1)
                if seconds(graph, task, count, speed) * (1 + 1e-12) >= best[task]
            ),
            default=1,
        )
        for task in range(graph.n_tasks)
    ]


def grown(
    graph: TaskGraph,
    speed: float,
    ceiling: list[int],
    goes_on: Callable[[list[int], list[float], float], bool] = lambda *_: True,
    may_grow: Callable[[int, list[int]], bool] = lambda *_: True,
    *,
    stops: bool = False,
) -> list[list[int]]:
    """Return the counts after each step, computing everything anew at each."""
    steps = [[1] * graph.n_tasks]
    while True:
        count = steps[-1]
        time = [seconds(graph, task, count[task], speed) for task in range(graph.n_tasks)]
        path, length = longest_path(graph, time)
        if not goes_on(count, time, length):
            return steps
        gain = {
            task: time[task] / count[task]
            - seconds(graph, task, count[task] + 1, speed) / (count[task] + 1)
            for task in path
            if count[task] < ceiling[task]
            and seconds(graph, task, count[task] + 1, speed) < time[task]
        }
        gain = {task: worth for task, worth in gain.items() if worth > 0}
        if not stops:
            gain = {task: worth for task, worth in gain.items() if may_grow(task, count)}
        task = max(gain, key=gain.__getitem__, default=-1)
        if task < 0 or not may_grow(task, count):
            return steps
        steps.append([number + (each == task) for each, number in enumerate(count)])


def plain_cpa(graph: TaskGraph, processors: int, speed: float, ceiling: list[int]) -> list[int]:
    def goes_on(count: list[int], time: list[float], length: float) -> bool:
        return length > area(count, time) / processors

    return grown(graph, speed, ceiling, goes_on)[-1]


def plain_scrap(graph: TaskGraph, site: Site, beta: float, readings: Readings) -> list[int]:
    speed = speed_of(site, readings)

    def fits(count: list[int], time: list[float], length: float) -> bool:
        return area(count, time) <= beta * (site.power / speed) * (1 + 1e-9) * length

    steps = grown(graph, speed, ceilings(graph, site, speed), fits)
    count = steps[-1]
    time = [seconds(graph, task, count[task], speed) for task in range(graph.n_tasks)]
    broken = not fits(count, time, longest_path(graph, time)[1])
    return steps[-2] if broken and len(steps) > 1 else count


def plain_scrap_max(
    graph: TaskGraph,
    site: Site,
    beta: float,
    readings: Readings,
    done: Sequence[bool] | None = None,
) -> list[int]:
    speed = speed_of(site, readings)
    limit = beta * (site.power / speed) * (1 + 1e-9)
    level = graph.level.tolist()
    over = [False] * graph.n_tasks if done is None else list(done)
    ceiling = ceilings(graph, site, speed)

    def may_grow(task: int, count: list[int]) -> bool:
        alike = [
            number
            for each, number in enumerate(count)
            if level[each] == level[task] and not over[each]
        ]
        return sum(alike) + 1 <= limit

    left = replace(graph, flop=np.where(over, 0.0, graph.flop))
    stops = readings.full_level == "stop"
    return grown(left, speed, ceiling, may_grow=may_grow, stops=stops)[-1]


class TestObviousVersion:
    """The compiled procedures take the same steps as plain Python that keeps nothing."""

    @settings(max_examples=60, derandomize=True)
    @given(graphs(), st.integers(1, 60), st.sampled_from([1e9, 3.3e9]))
    def test_cpa(self, graph: TaskGraph, processors: int, speed: float) -> None:
        plain = plain_cpa(graph, processors, speed, [processors] * graph.n_tasks)
        assert cpa(graph, processors, speed).tolist() == plain

    @settings(max_examples=40, derandomize=True)
    @given(graphs(), PLACES, READINGS)
    def test_hcpa(self, graph: TaskGraph, site: Site, readings: Readings) -> None:
        speed = speed_of(site, readings)
        everyone = floor(site.power / speed * (1 + 1e-12))
        plain = plain_cpa(graph, everyone, speed, ceilings(graph, site, speed))
        assert hcpa(graph, site, readings).reference.tolist() == plain

    @settings(max_examples=60, derandomize=True)
    @given(graphs(), PLACES, SHARES, READINGS)
    def test_scrap(self, graph: TaskGraph, site: Site, beta: float, readings: Readings) -> None:
        plain = plain_scrap(graph, site, beta, readings)
        assert scrap(graph, site, beta, readings).reference.tolist() == plain

    @settings(max_examples=80, derandomize=True)
    @given(graphs(), PLACES, SHARES, READINGS, st.data())
    def test_scrap_max(
        self, graph: TaskGraph, site: Site, beta: float, readings: Readings, data: st.DataObject
    ) -> None:
        some = st.lists(st.booleans(), min_size=graph.n_tasks, max_size=graph.n_tasks)
        done = data.draw(st.none() | some)
        mask = None if done is None else np.array(done)
        allocation = scrap_max(graph, site, beta, readings, done=mask)
        assert allocation.reference.tolist() == plain_scrap_max(graph, site, beta, readings, done)

    @pytest.mark.parametrize("seed", range(4))
    def test_larger_graphs(self, seed: int, layered: Callable[..., TaskGraph]) -> None:
        # More than 64 tasks, and more than 128: sets of tasks take several words.
        graph = layered(seed, (50, 70, 100, 140)[seed], (6, 30, 8, 12)[seed])
        for beta in (0.1, 0.3):
            plain = plain_scrap_max(graph, RENNES, beta, PAPER)
            assert scrap_max(graph, RENNES, beta).reference.tolist() == plain
        assert scrap(graph, RENNES, 0.2).reference.tolist() == plain_scrap(
            graph, RENNES, 0.2, PAPER
        )


class TestConstraints:
    @settings(max_examples=60, derandomize=True)
    @given(graphs(), PLACES, SHARES)
    def test_scrap_keeps_its_share(self, graph: TaskGraph, site: Site, beta: float) -> None:
        allocation = scrap(graph, site, beta)
        count, time = allocation.reference.tolist(), allocation.time.tolist()
        used = area(count, time)
        allowed = beta * site.power / min(site.speed) * longest_path(graph, time)[1]
        assert used <= allowed * (1 + 1e-8) or count == [1] * graph.n_tasks

    @settings(max_examples=60, derandomize=True)
    @given(graphs(), PLACES, SHARES)
    def test_scrap_max_keeps_its_share(self, graph: TaskGraph, site: Site, beta: float) -> None:
        count = scrap_max(graph, site, beta).reference
        held = np.bincount(graph.level, weights=count)
        crowd = np.bincount(graph.level)
        allowed = beta * site.power / np.min(site.speed) * (1 + 1e-8)
        assert np.all((held <= allowed) | (held == crowd))

    @pytest.mark.parametrize("seed", range(8))
    def test_scrap_is_cpa_without_its_last_step(
        self, seed: int, layered: Callable[..., TaskGraph]
    ) -> None:
        # On one cluster under the share 1, where CPA ends because areas and path are balanced.
        graph = layered(seed, 40, 6)
        balanced = cpa(graph, 40, 3.3e9).tolist()
        assert hcpa(graph, ONE_CLUSTER).reference.tolist() == balanced
        time = [seconds(graph, task, balanced[task], 3.3e9) for task in range(40)]
        assert longest_path(graph, time)[1] < area(balanced, time) / 40
        steps = grown(graph, 3.3e9, [40] * 40)
        before = steps[steps.index(balanced) - 1]
        assert scrap(graph, ONE_CLUSTER, 1.0).reference.tolist() == before

    def test_scrap_is_cpa_where_no_task_can_grow(self, dataless: Callable[..., TaskGraph]) -> None:
        # A parallel task fills the cluster without ever being too large.
        graph = dataless([1e12, 1e6], [0.0] * 2, [(0, 1)])
        assert cpa(graph, 40, 3.3e9).tolist() == [40, 40]
        assert scrap(graph, ONE_CLUSTER, 1.0).reference.tolist() == [40, 40]

    @pytest.mark.parametrize("name", SITES)
    def test_an_allocation_fits_its_clusters(
        self, name: str, layered: Callable[..., TaskGraph]
    ) -> None:
        site = SITES[name]
        graph = layered(5, 40, 5)
        for beta in (0.05, 0.4, 1.0):
            allocation = scrap_max(graph, site, beta)
            assert allocation.processors.shape == (site.n_clusters, 40)
            assert np.all(allocation.processors >= 1)
            assert np.all(allocation.processors <= site.processors[:, np.newaxis])
            for task, count in enumerate(allocation.reference.tolist()):
                assert allocation.time[task] == seconds(graph, task, count, min(site.speed))

    @settings(max_examples=40, derandomize=True)
    @given(graphs(), PLACES, SHARES)
    def test_more_for_all_shortens_the_path(
        self, graph: TaskGraph, site: Site, beta: float
    ) -> None:
        # Growth is the same up to the first full level, and only ever shortens.
        loose = scrap(graph, site, 1.0).time.tolist()
        tight = scrap(graph, site, beta).time.tolist()
        assert longest_path(graph, loose)[1] <= longest_path(graph, tight)[1]
