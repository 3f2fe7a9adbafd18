"""Mapping against its rules, word by word, and forecasts of when graphs will be completed."""

from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naming import raises_naming
from small_graphs import allocated, followed, graph_of, random_scene, site_of

from simplugin.core.errors import WorkloadError
from simplugin.taskgraphs.assumptions import PAPER
from simplugin.taskgraphs.policies.mapping import Mapper, plan
from simplugin.taskgraphs.schedule import violations
from simplugin.workloads.task_graphs import GraphSet

SEEDS = st.integers(0, 2**32 - 1)
READINGS = st.builds(
    replace,
    st.just(PAPER),
    packing=st.sampled_from(["earliest", "largest", "off"]),
    order=st.sampled_from(["bottom", "fifo"]),
    fixing=st.sampled_from(["reserve", "start"]),
    redistribution=st.sampled_from(["alone", "together"]),
)


class Plain:
    """The rules of mapping, word by word."""

    def __init__(self, graphs, allocations, site, assumptions, transfers):
        self.graphs, self.site = graphs, site
        self.assumptions, self.transfers = assumptions, transfers
        self.mapped, self.begun, self.ended, self.waiting = {}, {}, {}, []
        self.together = assumptions.redistribution == "together"
        self.busy = [0.0] * site.n_clusters  # until when each switch passes data on
        self.allocations = list(allocations)

    def started(self, task, date):
        self.begun[task] = date

    def finished(self, task, date):
        self.ended[task] = date

    def bottom(self, task):
        if self.assumptions.order == "fifo":
            return 0.0
        number = self.graphs.graph_of[task]
        time = self.allocations[number].time[task - self.graphs.first[number]]
        after = [self.bottom(each) for each in self.graphs.successors.of(task)]
        return time + max(after, default=0.0)

    def time(self, task, count, cluster):
        alpha = self.graphs.alpha[task]
        return (alpha + (1 - alpha) / count) * self.graphs.flop[task] / self.site.speed[cluster]

    def inputs(self, task):
        pre = self.graphs.predecessors
        for before, edge in zip(pre.of(task), pre.edges_of(task), strict=True):
            if self.transfers and self.graphs.edge_byte[edge]:
                yield before, self.graphs.edge_byte[edge]

    def redistributions(self, task, count, cluster):
        yield 0.0
        received = sum(byte for _, byte in self.inputs(task))
        for before, byte in self.inputs(task):
            source, processors = self.mapped[before][:2]
            sent = byte
            if self.together:
                sent, byte = self.sent(before), received
            yield self.site.latency[source, cluster] + max(
                sent / (len(processors) * self.site.bandwidth[source]),
                byte / (count * self.site.bandwidth[cluster]),
                byte / self.site.shared[source, cluster],
            )

    def sent(self, task):
        after = self.graphs.successors
        # In the order of who receives, for the last digits.
        edges = sorted(zip(after.of(task), after.edges_of(task), strict=True))
        return sum(self.graphs.edge_byte[edge] for _, edge in edges)

    def passing(self, task, cluster):
        """Return the time for which the data of a task keep each switch busy."""
        time = [0.0] * self.site.n_clusters
        if self.together:
            for before, byte in self.inputs(task):
                source = self.mapped[before][0]
                # What stays at a switch passes it once.
                hubs = {self.site.switch[each]: each for each in (cluster, source)}
                for hub, each in hubs.items():
                    time[hub] += byte / self.site.shared[each, each]
        return time

    def queued(self, task, cluster, now):
        """When the switches on the way of its data will have passed them on."""
        busy = zip(self.busy, self.passing(task, cluster), strict=True)
        return [max(until, now) + time if time else until for until, time in busy]

    def dates(self, now):
        """Start and finish of all mapped tasks as they are estimated now."""
        free, dates = {}, {}
        for task, (cluster, processors, arrival) in self.mapped.items():
            start = self.begun.get(
                task, max([arrival, now, *(free.get(each, 0.0) for each in processors)])
            )
            finish = start + self.time(task, len(processors), cluster)
            if task in self.ended:
                finish = self.ended[task]
            elif finish < now:
                finish = np.nextafter(now, np.inf)
            dates[task] = start, finish
            free.update(dict.fromkeys(processors, finish))
        return dates, free

    def candidate(self, task, cluster, count, now):
        _, free = self.dates(now)
        everyone = range(self.site.first[cluster], self.site.first[cluster + 1])
        chosen = sorted(everyone, key=lambda each: (free.get(each, 0.0), each))[:count]
        arrival = now + max(self.redistributions(task, count, cluster))
        passing = self.passing(task, cluster)
        for date, time in zip(self.queued(task, cluster, now), passing, strict=True):
            arrival = max(arrival, date) if time else arrival
        is_free = free.get(chosen[-1], 0.0)
        start = max(is_free, arrival)
        finish = start + self.time(task, count, cluster)
        return start, finish, count, cluster, sorted(chosen), arrival, is_free

    def on(self, task, cluster, now):
        number = self.graphs.graph_of[task]
        place = task - self.graphs.first[number]
        count = int(self.allocations[number].processors[cluster, place])
        whole = self.candidate(task, cluster, count, now)
        smaller = [self.candidate(task, cluster, each, now) for each in range(1, count)]
        smaller = [each for each in smaller if each[0] < whole[0] and each[1] <= whole[1]]
        if not smaller or self.assumptions.packing == "off":
            return whole
        if self.assumptions.packing == "largest":
            return max(smaller, key=lambda each: each[2])
        return min(smaller, key=lambda each: (each[1], each[0], -each[2]))

    def map_ready(self, now, tasks):
        self.waiting = sorted([*self.waiting, *tasks], key=lambda task: (-self.bottom(task), task))
        mapped = []
        for task in self.waiting:
            places = [self.on(task, cluster, now) for cluster in range(self.site.n_clusters)]
            _, _, _, cluster, chosen, arrival, is_free = min(
                places, key=lambda each: (each[1], each[3])
            )
            if self.assumptions.fixing == "reserve" or is_free <= now:
                self.busy = self.queued(task, cluster, now)
                self.mapped[task] = cluster, chosen, arrival
                mapped.append(task)
        self.waiting = [task for task in self.waiting if task not in mapped]
        return mapped


def late_or_early(rng):
    """A world where data and tasks take up to twice as long as estimated, or no time at all."""

    def world(each, now, dates, mapped):
        queued = [
            dates[other.task][1] for other in mapped
            if set(other.processors.tolist()) & set(each.processors.tolist())
        ]  # fmt: skip
        start = max([now + rng.choice([0.0, 0.0, 1.0, rng.uniform(0.0, 3.0)]), *queued])
        return start, start + (each.finish - each.start) * rng.choice([0.0, 1.0, rng.uniform(0, 2)])

    return world


@settings(max_examples=60, derandomize=True)
@given(seed=SEEDS, assumptions=READINGS, transfers=st.booleans())
def test_what_happens_as_estimated_is_mapped_as_planned(seed, assumptions, transfers):
    graphs, allocations, site = random_scene(seed)
    assumptions = replace(assumptions, transfers=transfers)
    schedule = plan(graphs, allocations, site, assumptions=assumptions)
    assert violations(schedule, transfers=transfers) == []
    mapper = Mapper(graphs, allocations, site, assumptions)
    mapped, _ = followed(graphs, mapper)
    assert [each.task for each in mapped] == schedule.order.tolist()
    for each in mapped:
        assert each.cluster == schedule.cluster[each.task]
        assert np.array_equal(each.processors, schedule.processors_of(each.task))
        assert each.start == schedule.start[each.task]
        assert each.finish == schedule.finish[each.task]


@settings(max_examples=120, derandomize=True)
@given(seed=SEEDS, assumptions=READINGS, transfers=st.booleans())
def test_what_happens_otherwise_is_mapped_as_the_plain_version_does(seed, assumptions, transfers):
    graphs, allocations, site = random_scene(seed)
    rng = np.random.default_rng(seed)
    mapper = Mapper(graphs, allocations, site, replace(assumptions, transfers=transfers))
    plain = Plain(graphs, allocations, site, assumptions, transfers)

    def revise(_, n_done):
        number = int(rng.integers(graphs.n_graphs))
        if n_done % 3 == 1:
            old = plain.allocations[number]
            new = replace_allocation(rng, old, site)
            mapper.set_allocation(number, new)
            plain.allocations[number] = new

    mapped, dates = followed(graphs, mapper, late_or_early(rng), plain, revise)
    assert sorted(each.task for each in mapped) == list(range(graphs.n_tasks))
    _, start, finish, *_, order = mapper._kernel.schedule()
    assert order.tolist() == [each.task for each in mapped]
    assert list(zip(start, finish, strict=True)) == [dates[task] for task in sorted(dates)]


def replace_allocation(rng, old, site):
    processors = rng.integers(1, site.processors[:, np.newaxis] + 1, old.processors.shape)
    return SimpleNamespace(processors=processors, time=rng.permutation(old.time))


SITE = site_of([4], [1.0])
CHAIN = GraphSet((graph_of("a", [1.0, 1.0], [(0, 1)]), graph_of("b", [1.0])))
ONES = allocated(CHAIN, SITE, 1)


def mapper_of():
    return Mapper(CHAIN, ONES, SITE)


MISFITS = [
    (ONES[:1], ["1", "2"]),
    (allocated(CHAIN, SITE, 0), ["'a'", "[[0, 0]]", "[4]"]),
    (allocated(CHAIN, SITE, 5), ["'a'", "'site'", "[4]"]),
    (allocated(CHAIN, SITE, 1, np.zeros(1)), ["'a'", "[0.0]"]),
    (allocated(CHAIN, SITE, 1, np.array([0.5, np.nan])), ["'a'", "[0.5, nan]"]),
    (allocated(CHAIN, SITE, 1, np.array([0.5, -1.0])), ["'a'", "[0.5, -1.0]"]),
]


@pytest.mark.parametrize(("allocations", "names"), MISFITS)
def test_allocations_that_do_not_fit_are_refused(allocations, names):
    for refused in (plan, Mapper):
        with raises_naming(WorkloadError, *names):
            refused(CHAIN, allocations, SITE)
    if len(allocations) > 1:
        mapper = mapper_of()
        for refused in (
            partial(mapper.set_allocation, 0, allocations[0]),
            partial(mapper.forecast, 0.0, {0: allocations[0]}),
        ):
            with raises_naming(WorkloadError, *names):
                refused()


def test_halves_of_processors_are_refused():
    halves = allocated(CHAIN, SITE, 1)
    halves[0].processors = halves[0].processors * 1.5
    with raises_naming(WorkloadError, "'a'", "[[1.5, 1.5]]"):
        plan(CHAIN, halves, SITE)


@pytest.mark.parametrize("graph", [-1, 2])
def test_unknown_graphs_are_refused(graph):
    mapper = mapper_of()
    for refused in (
        partial(mapper.set_allocation, graph, ONES[0]),
        partial(mapper.forecast, 0.0, {graph: ONES[0]}),
    ):
        with raises_naming(WorkloadError, f"graph {graph}"):
            refused()


def test_the_kernel_refuses_unknown_numbers():
    kernel, ones = mapper_of()._kernel, np.ones((1, 2), dtype=np.int64)
    for task in (-1, 3):
        for refused in (
            partial(kernel.map_ready, 0.0, [task]),
            partial(kernel.started, task, 0.0),
            partial(kernel.finished, task, 0.0),
            partial(kernel.mapping, task),
        ):
            with pytest.raises(IndexError):
                refused()
    for arguments, error in (
        ((-1, ones, np.ones(2)), IndexError),
        ((2, ones, np.ones(2)), IndexError),
        ((0, ones[:, :1], np.ones(2)), IndexError),
        ((0, ones * 0, np.ones(2)), ValueError),
        ((0, ones * 5, np.ones(2)), ValueError),
        ((0, ones, np.array([1.0, np.nan])), ValueError),
        ((1, ones, np.ones(2)), ValueError),
    ):
        with pytest.raises(error):
            kernel.set_allocation(*arguments)
    with pytest.raises(ValueError, match="before those that it follows"):
        kernel.map_ready(0.0, [1])


def test_invalid_dates_are_refused():
    for date in (np.nan, np.inf):
        with raises_naming(WorkloadError, f"{date} s"):
            mapper_of().forecast(date)


FORESEEN_READINGS = st.builds(
    replace,
    st.just(PAPER),
    packing=st.sampled_from(["earliest", "off"]),
    fixing=st.sampled_from(["reserve", "start"]),
    redistribution=st.sampled_from(["alone", "together"]),
)


@settings(max_examples=60, derandomize=True)
@given(seed=SEEDS, assumptions=FORESEEN_READINGS)
def test_what_is_forecast_happens_if_nothing_deviates(seed, assumptions):
    graphs, allocations, site = random_scene(seed)
    graphs = GraphSet(graphs.graphs)  # all there from the start
    completion = plan(graphs, allocations, site, assumptions=assumptions).completion
    mapper = Mapper(graphs, allocations, site, assumptions)
    asked = []

    def revise(now, _):
        asked.append(now)
        assert mapper.forecast(now).tolist() == pytest.approx(completion.tolist(), rel=1e-9)

    followed(graphs, mapper, revise=revise)
    assert asked


@settings(max_examples=60, derandomize=True)
@given(seed=SEEDS, assumptions=FORESEEN_READINGS)
def test_what_happened_otherwise_counts(seed, assumptions):
    # Tasks take less or more time than estimated until half are done. Once those have ended, all
    # goes as estimated, and must end as is forecast then. Only tasks that are mapped when they can
    # start have no more to wait for than their data, so that the world need not know of queues.
    assumptions = replace(assumptions, fixing="start")
    graphs, allocations, site = random_scene(seed)
    graphs = GraphSet(graphs.graphs)
    rng = np.random.default_rng(seed)
    mapper = Mapper(graphs, allocations, site, assumptions)
    done, until, told = [0], [0.0], []

    def revise(now, n_done):
        done[0] = n_done
        if 2 * n_done >= graphs.n_tasks and now >= until[0]:
            told.append(mapper.forecast(now))

    def world(each, *_):
        finish = each.finish
        if 2 * done[0] < graphs.n_tasks:
            finish = each.start + (each.finish - each.start) * rng.choice([0.5, 1.0, 2.0])
            until[0] = max(until[0], finish)
        return each.start, finish

    _, dates = followed(graphs, mapper, world, revise=revise)
    finish = np.array([dates[task][1] for task in range(graphs.n_tasks)])
    completion = np.maximum.reduceat(finish, graphs.first[:-1])
    for forecast in told:
        assert forecast.tolist() == pytest.approx(completion.tolist(), rel=1e-9)


@settings(max_examples=40, derandomize=True)
@given(seed=SEEDS, assumptions=FORESEEN_READINGS)
def test_graphs_that_are_not_submitted_are_not_foreseen(seed, assumptions):
    graphs, allocations, site = random_scene(seed)
    now = float(np.median(graphs.release))
    here = np.flatnonzero(graphs.release <= now)
    few = GraphSet(tuple(graphs.graphs[each] for each in here), graphs.release[here])
    ready = [
        [
            int(known.first[number] + task)
            for number in range(known.n_graphs)
            for task in known.graphs[number].entries
            if known.release[number] <= now
        ]
        for known in (graphs, few)
    ]
    everyone = Mapper(graphs, allocations, site, assumptions)
    only = Mapper(few, [allocations[each] for each in here], site, assumptions)
    for mapped in (False, True):
        if mapped:
            everyone.map_ready(now, ready[0])
            only.map_ready(now, ready[1])
        forecast = everyone.forecast(now)
        assert np.isnan(forecast).tolist() == (graphs.release > now).tolist()
        assert forecast[here].tolist() == only.forecast(now).tolist()


@settings(max_examples=40, derandomize=True)
@given(seed=SEEDS, assumptions=FORESEEN_READINGS)
def test_what_if_is_what_would_be_and_changes_nothing(seed, assumptions):
    graphs, allocations, site = random_scene(seed)
    _, others, _ = random_scene(seed)
    rng = np.random.default_rng(seed)
    for each in others:
        each.processors = rng.integers(1, site.processors[:, np.newaxis] + 1, each.processors.shape)
    mapper = Mapper(graphs, allocations, site, assumptions)
    count = int(rng.integers(1, graphs.n_graphs + 1))

    def revise(now, n_done):
        before = mapper.forecast(now)
        changed = dict(enumerate(others[:count]))
        what_if = mapper.forecast(now, changed)
        assert mapper.forecast(now).tobytes() == before.tobytes()
        if n_done == graphs.n_tasks // 2:
            for graph, allocation in changed.items():
                mapper.set_allocation(graph, allocation)
            assert mapper.forecast(now).tobytes() == what_if.tobytes()

    followed(graphs, mapper, revise=revise)


def test_by_hand():
    # One processor: the first task took 3 s instead of 2, the second takes 4 s after it.
    site = site_of([1], [1.0])
    graphs = GraphSet((graph_of("a", [2.0, 4.0], [(0, 1)]), graph_of("b", [5.0])), [0.0, 10.0])
    mapper = Mapper(graphs, allocated(graphs, site, 1), site)
    assert mapper.forecast(0.0).tolist() == pytest.approx([6.0, np.nan], nan_ok=True)
    mapper.map_ready(0.0, [0])
    mapper.started(0, 0.0)
    # It should have ended: it may any time.
    assert mapper.forecast(2.5).tolist() == pytest.approx([6.5, np.nan], nan_ok=True)
    mapper.finished(0, 3.0)
    assert mapper.forecast(3.0).tolist() == pytest.approx([7.0, np.nan], nan_ok=True)
    mapper.map_ready(3.0, [1])
    # From 10 s on the other is there; the first, which is late, keeps the processor.
    mapper.started(1, 8.0)
    assert mapper.forecast(10.0).tolist() == pytest.approx([12.0, 17.0])
