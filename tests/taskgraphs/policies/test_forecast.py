"""Forecasts of when graphs will be completed, while all happens as planned, or does not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_graphs import allocated, followed, graph_of, random_scene, site_of

from simplugin.taskgraphs.policies.mapping import Mapper, plan
from simplugin.taskgraphs.readings import PAPER
from simplugin.workloads.graph_sets import GraphSet

SEEDS = st.integers(0, 2**32 - 1)
READINGS = st.builds(
    replace,
    st.just(PAPER),
    packing=st.sampled_from(["earliest", "off"]),
    fixing=st.sampled_from(["reserve", "start"]),
    redistribution=st.sampled_from(["alone", "together"]),
)


@settings(max_examples=60, derandomize=True)
@given(seed=SEEDS, readings=READINGS)
def test_what_is_forecast_happens_if_nothing_deviates(seed, readings):
    graphs, allocations, site = random_scene(seed)
    graphs = GraphSet(graphs.graphs)  # all there from the start
    completion = plan(graphs, allocations, site, readings=readings).completion
    mapper = Mapper(graphs, allocations, site, readings)
    asked = []

    def revise(now, _):
        asked.append(now)
        assert mapper.forecast(now).tolist() == pytest.approx(completion.tolist(), rel=1e-9)

    followed(graphs, mapper, revise=revise)
    assert asked


@settings(max_examples=60, derandomize=True)
@given(seed=SEEDS, readings=READINGS)
def test_what_happened_otherwise_counts(seed, readings):
    # Tasks take less or more time than estimated until half are done. Once those have ended, all
    # goes as estimated, and must end as is forecast then. Only tasks that are mapped when they can
    # start have no more to wait for than their data, so that the world need not know of queues.
    readings = replace(readings, fixing="start")
    graphs, allocations, site = random_scene(seed)
    graphs = GraphSet(graphs.graphs)
    rng = np.random.default_rng(seed)
    mapper = Mapper(graphs, allocations, site, readings)
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
@given(seed=SEEDS, readings=READINGS)
def test_graphs_that_are_not_submitted_are_not_foreseen(seed, readings):
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
    everyone = Mapper(graphs, allocations, site, readings)
    only = Mapper(few, [allocations[each] for each in here], site, readings)
    for mapped in (False, True):
        if mapped:
            everyone.map_ready(now, ready[0])
            only.map_ready(now, ready[1])
        forecast = everyone.forecast(now)
        assert np.isnan(forecast).tolist() == (graphs.release > now).tolist()
        assert forecast[here].tolist() == only.forecast(now).tolist()


@settings(max_examples=40, derandomize=True)
@given(seed=SEEDS, readings=READINGS)
def test_what_if_is_what_would_be_and_changes_nothing(seed, readings):
    graphs, allocations, site = random_scene(seed)
    _, others, _ = random_scene(seed)
    rng = np.random.default_rng(seed)
    for each in others:
        each.processors = rng.integers(1, site.processors[:, np.newaxis] + 1, each.processors.shape)
    mapper = Mapper(graphs, allocations, site, readings)
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
