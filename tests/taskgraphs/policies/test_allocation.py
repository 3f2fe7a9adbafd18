"""Allocations and the reference cluster: an obvious version, closed forms, what is refused."""

from dataclasses import replace
from itertools import combinations
from math import floor, inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naming import raises_naming
from small_graphs import graph_of, in_levels

from simplugin.core.errors import WorkloadError
from simplugin.platforms.sites import SUBSETS, MultiCluster
from simplugin.taskgraphs.assumptions import PAPER, ModelAssumptions
from simplugin.taskgraphs.policies.allocation import (
    Allocator,
    Reference,
    cpa,
    reference_of,
    scrap_max,
    translate,
)

RENNES = SUBSETS["rennes"].site()
ONE_CLUSTER = MultiCluster("one", (("only", 40, 3.3e9),)).site()


class TestClosedForms:
    def test_share_that_a_division_leaves_short(self):
        # 0.3 / 3 is a little less than 0.1; 40 times it is still four processors.
        graph = graph_of("graph", [1e10])
        assert 0.3 / 3 * 40 < 4
        assert scrap_max(graph, ONE_CLUSTER, 0.3 / 3).reference.tolist() == [4]
        assert Allocator(graph, ONE_CLUSTER).scrap(0.3 / 3).reference.tolist() == [4]


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
        with raises_naming(WorkloadError, "'graph'", "(3,)"):
            scrap_max(graph, RENNES, 0.5, done=np.array(done))


class TestAllocator:
    def test_shares_one_after_another(self):
        # Nothing of one share is left when the next comes.
        graph = in_levels(3, 40, 6)
        allocator = Allocator(graph, RENNES)
        for beta in (1.0, 0.1, 0.5, 0.1):
            for rule in ("scrap", "scrap_max"):
                again, fresh = (
                    getattr(each, rule)(beta).reference
                    for each in (allocator, Allocator(graph, RENNES))
                )
                assert np.array_equal(again, fresh)
        assert np.array_equal(allocator.hcpa().reference, Allocator(graph, RENNES).hcpa().reference)

    @pytest.mark.parametrize("rule", [Allocator.scrap, Allocator.scrap_max])
    @pytest.mark.parametrize("beta", [0.0, 1.5, float("nan")])
    def test_refused_shares(self, rule, beta):
        with raises_naming(WorkloadError, "'graph'", beta):
            rule(Allocator(graph_of("graph", [1e9]), RENNES), beta)

    @pytest.mark.parametrize(("processors", "speed"), [(0, 1e9), (5, 0.0), (5, inf)])
    def test_refused_clusters(self, processors, speed):
        with raises_naming(WorkloadError, "'graph'", f"{processors} processors"):
            cpa(graph_of("graph", [1e9]), processors, speed)


SITES = {name: site.site() for name, site in SUBSETS.items()}
TINY = MultiCluster("tiny", (("a", 1, 1e9), ("b", 3, 2.5e9))).site()


@st.composite
def graphs(draw):
    """Return a graph of up to twelve tasks, often with ties, some without work."""
    count = draw(st.integers(1, 12))
    flop = st.sampled_from([0.0, 1e9, 1e9, 7e9, 3e11]) | st.floats(1e8, 1e12)
    alpha = st.sampled_from([0.0, 0.0, 0.1, 1.0]) | st.floats(0, 0.25)
    number = draw(st.permutations(range(count)))
    pairs = list(combinations(number, 2))
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    some = {"min_size": count, "max_size": count}
    flop, alpha = (draw(st.lists(each, **some)) for each in (flop, alpha))
    return graph_of("graph", flop, edges, alpha=alpha)


SHARES = st.sampled_from([1.0, 0.5, 0.1, 0.02]) | st.floats(0.001, 1.0)
PLACES = st.sampled_from([*SITES.values(), ONE_CLUSTER, TINY])
READINGS = st.builds(
    ModelAssumptions,
    reference_speed=st.sampled_from(["slowest", "mean", "fastest"]),
    translation=st.sampled_from(["time", "power"]),
    full_level=st.sampled_from(["pass", "stop"]),
)


def seconds(graph, task, count, speed):
    """Return how long a task takes."""
    alpha, flop = float(graph.alpha[task]), float(graph.flop[task])
    return (alpha + (1 - alpha) / count) * flop / speed


def longest_path(graph, time):
    """Return the first critical path and its length."""
    below = [0.0] * graph.n_tasks
    for task in graph.order.tolist()[::-1]:
        after = graph.successors.of(task).tolist()
        below[task] = time[task] + max((below[each] for each in after), default=0.0)
    path = [max(graph.entries.tolist(), key=below.__getitem__)]
    while len(after := graph.successors.of(path[-1])):
        path.append(max(after.tolist(), key=below.__getitem__))
    return path, below[path[0]]


def area(count, time):
    """Return processors times time, added up from the first task on."""
    total = 0.0
    for number, each in zip(count, time, strict=True):
        total += each * number
    return total


def speed_of(site, assumptions):
    """Return the speed of the reference cluster."""
    speeds = [float(speed) for speed in site.speed]
    if assumptions.reference_speed == "mean":
        return site.power / sum(map(len, site.hosts))
    return min(speeds) if assumptions.reference_speed == "slowest" else max(speeds)


def ceilings(graph, site, speed):
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
    graph,
    speed,
    ceiling,
    goes_on=lambda *_: True,
    may_grow=lambda *_: True,
    *,
    stops=False,
):
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


def plain_cpa(graph, processors, speed, ceiling):
    def goes_on(count, time, length):
        return length > area(count, time) / processors

    return grown(graph, speed, ceiling, goes_on)[-1]


def plain_scrap(graph, site, beta, assumptions):
    speed = speed_of(site, assumptions)

    def fits(count, time, length):
        return area(count, time) <= beta * (site.power / speed) * (1 + 1e-9) * length

    steps = grown(graph, speed, ceilings(graph, site, speed), fits)
    count = steps[-1]
    time = [seconds(graph, task, count[task], speed) for task in range(graph.n_tasks)]
    broken = not fits(count, time, longest_path(graph, time)[1])
    return steps[-2] if broken and len(steps) > 1 else count


def plain_scrap_max(graph, site, beta, assumptions, done=None):
    speed = speed_of(site, assumptions)
    limit = beta * (site.power / speed) * (1 + 1e-9)
    level = graph.level.tolist()
    over = [False] * graph.n_tasks if done is None else list(done)
    ceiling = ceilings(graph, site, speed)

    def may_grow(task, count):
        alike = [
            number
            for each, number in enumerate(count)
            if level[each] == level[task] and not over[each]
        ]
        return sum(alike) + 1 <= limit

    left = replace(graph, flop=np.where(over, 0.0, graph.flop))
    stops = assumptions.full_level == "stop"
    return grown(left, speed, ceiling, may_grow=may_grow, stops=stops)[-1]


class TestObviousVersion:
    """The compiled procedures take the same steps as plain Python that keeps nothing."""

    @settings(max_examples=40, derandomize=True)
    @given(graphs(), st.integers(1, 60), st.sampled_from([1e9, 3.3e9]))
    def test_cpa(self, graph, processors, speed):
        plain = plain_cpa(graph, processors, speed, [processors] * graph.n_tasks)
        assert cpa(graph, processors, speed).tolist() == plain

    @settings(max_examples=40, derandomize=True)
    @given(graphs(), PLACES, READINGS)
    def test_hcpa(self, graph, site, assumptions):
        speed = speed_of(site, assumptions)
        everyone = floor(site.power / speed * (1 + 1e-12))
        plain = plain_cpa(graph, everyone, speed, ceilings(graph, site, speed))
        assert Allocator(graph, site, assumptions).hcpa().reference.tolist() == plain

    @settings(max_examples=40, derandomize=True)
    @given(graphs(), PLACES, SHARES, READINGS)
    def test_scrap(self, graph, site, beta, assumptions):
        plain = plain_scrap(graph, site, beta, assumptions)
        assert Allocator(graph, site, assumptions).scrap(beta).reference.tolist() == plain

    @settings(max_examples=40, derandomize=True)
    @given(graphs(), PLACES, SHARES, READINGS, st.data())
    def test_scrap_max(self, graph, site, beta, assumptions, data):
        some = st.lists(st.booleans(), min_size=graph.n_tasks, max_size=graph.n_tasks)
        done = data.draw(st.none() | some)
        mask = None if done is None else np.array(done)
        allocation = scrap_max(graph, site, beta, assumptions, done=mask)
        plain = plain_scrap_max(graph, site, beta, assumptions, done)
        assert allocation.reference.tolist() == plain
        over = done or [False] * graph.n_tasks
        speed = speed_of(site, assumptions)
        for task, count in enumerate(plain):
            took = 0.0 if over[task] else seconds(graph, task, count, speed)
            assert allocation.time[task] == took
        assert allocation.processors.shape == (site.n_clusters, graph.n_tasks)
        assert np.all(allocation.processors >= 1)
        assert np.all(allocation.processors <= site.processors[:, np.newaxis])

    @pytest.mark.parametrize(("n_tasks", "n_levels"), [(70, 8), (140, 12)])
    def test_larger_graphs(self, n_tasks, n_levels):
        # More than 64 tasks, and more than 128: sets of tasks take several words.
        graph = in_levels(n_levels, n_tasks, n_levels)
        for rule, plain in (("scrap_max", plain_scrap_max), ("scrap", plain_scrap)):
            expected = plain(graph, RENNES, 0.2, PAPER)
            assert getattr(Allocator(graph, RENNES), rule)(0.2).reference.tolist() == expected


POWER = ModelAssumptions(translation="power")
SPEEDS = st.sampled_from(["slowest", "mean", "fastest"])
ALPHAS = st.sampled_from([0.0, 1.0]) | st.floats(0, 0.5)


def on(speed, processors, flop, alpha):
    """Return how long a task takes."""
    return (alpha + (1 - alpha) / processors) * flop / speed


PAPER_SITES = [
    ("lille", "slowest", 3.647e9, 107),
    ("rennes", "slowest", 3.364e9, 257),
    ("nancy", "fastest", 3.379e9, 160),
    ("lille", "mean", 393.495e9 / 99, 99),
]


class TestReference:
    # From Table 1 of the paper: Lille has 53 * 3.647 + 20 * 4.311 + 26 * 4.384 GFlop/s, and so on.
    @pytest.mark.parametrize(("name", "reading", "speed", "processors"), PAPER_SITES)
    def test_sites_of_the_paper(self, name, reading, speed, processors):
        reference = reference_of(SUBSETS[name].site(), ModelAssumptions(reference_speed=reading))
        assert reference.speed == pytest.approx(speed, rel=1e-12)
        assert reference.processors == processors

    @settings(max_examples=40)
    @given(st.integers(1, 130), SPEEDS)
    def test_one_cluster_is_its_own_reference(self, processors, reading):
        # Whatever p * s / s comes to in floating point.
        site = MultiCluster("one", (("only", processors, 4.384e9),)).site()
        reference = reference_of(site, ModelAssumptions(reference_speed=reading))
        assert reference == Reference(4.384e9, processors)


class TestTranslate:
    @settings(max_examples=60, derandomize=True)
    @given(st.floats(1e8, 1e12), ALPHAS, st.integers(1, 257), SPEEDS)
    def test_fewest_that_keep_up(self, flop, alpha, count, reading):
        reference = reference_of(RENNES, ModelAssumptions(reference_speed=reading))
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
