"""Dates of small executions on SimGrid, against closed forms."""

import pytest
from small_graphs import graph_of, run_on, star

from simplugin.simulation import SimGridOptions


@pytest.mark.parametrize("planned", [False, True])
def test_two_tasks_and_an_edge(planned):
    # 8 Gflop, a quarter sequential, on 3 processors: 2 s + 6 s / 3. The data leave over three
    # links of 0.2 GB/s and arrive over as many, through a switch of 0.5 GB/s: 3 GB take 6 s, after
    # a latency of two links and a switch.
    site = star(3, bandwidth=2e8, latency=1e-3, switch_bandwidth=5e8, switch_latency=3e-3)
    one = graph_of("g", [8e9, 4e9], [(0, 1, 3e9)], alpha=0.25)
    done = run_on(site, (one,), counts=3, planned=planned)
    assert done.schedule.start.tolist() == pytest.approx([0.0, 10.005])
    assert done.schedule.finish.tolist() == pytest.approx([4.0, 12.005])
    assert done.sent.tolist() == pytest.approx([4.0])
    assert done.arrived.tolist() == pytest.approx([10.005])
    assert done.makespan == pytest.approx(done.estimate) == pytest.approx(12.005)
    assert done.schedule.processors_of(1).tolist() == [0, 1, 2]


def test_messages_are_limited_by_the_window_of_the_model():
    # 4 MiB at most on the way there and back, 0.5 s each; without a window the link counts.
    site = star(2, latency=0.2, switch_latency=0.1)
    one = graph_of("g", [0.0, 0.0], [(0, 1, 1e9)])
    places = [(0, (0,)), (1, (1,))]
    done = run_on(site, (one,), places=places)
    assert done.makespan == pytest.approx(0.5 + 1e9 / (4194304 / 1.0))
    free = SimGridOptions(host_model="ptask_L07", tcp_gamma=0)
    assert run_on(site, (one,), places=places, options=free).makespan == pytest.approx(1.5)


def test_uniform_is_as_long_as_blocks():
    one = graph_of("g", [2e9, 3e9], [(0, 1, 6e9)])
    places = [(0, (0, 1)), (1, (2, 3, 4))]
    for pattern in ("block", "uniform"):
        done = run_on(star(5), (one,), places=places, pattern=pattern)
        assert done.arrived.tolist() == pytest.approx([1.0 + 6.0])


def test_redistributions_share_the_switch():
    # Alone they take 2 s and 6 s. Each has half of the switch until the first has ended.
    two = tuple(graph_of(f"g{n}", [0.0, 1e9], [(0, 1, byte)]) for n, byte in enumerate((2e9, 6e9)))
    done = run_on(star(4), two, places=[(0, (0,)), (1, (1,)), (2, (2,)), (3, (3,))])
    assert done.sent.tolist() == [0.0, 0.0]
    assert done.arrived.tolist() == pytest.approx([4.0, 8.0])
    assert done.schedule.completion.tolist() == pytest.approx([5.0, 9.0])


def test_switches_of_their_own_do_not_disturb_each_other():
    site = star(2, 2, one_switch=False)
    two = tuple(graph_of(f"g{n}", [0.0, 0.0], [(0, 1, 2e9)]) for n in range(2))
    done = run_on(site, two, places=[(0, (0,)), (1, (1,)), (2, (2,)), (3, (3,))])
    assert done.arrived.tolist() == pytest.approx([2.0, 2.0])
    # From each cluster to the other both pass both switches.
    done = run_on(site, two, places=[(0, (0,)), (1, (2,)), (2, (3,)), (3, (1,))])
    assert done.arrived.tolist() == pytest.approx([4.0, 4.0])


def test_several_inputs_share_the_links_of_their_target():
    # The switch could carry both at once; the link of the host that both go to cannot.
    site = star(3, switch_bandwidth=1e12)
    one = graph_of("g", [1e9, 1e9, 1e9], [(0, 2, 1e9), (1, 2, 3e9)])
    done = run_on(site, (one,), places=[(0, (0,)), (1, (1,)), (2, (2,))])
    assert done.arrived.tolist() == pytest.approx([3.0, 5.0])
    assert done.schedule.start[2] == pytest.approx(5.0)


def test_data_move_while_processors_compute():
    # The target waits for its processor until 6 s; its data are there from 4 s on.
    one = graph_of("g", [1e9, 1e9], [(0, 1, 3e9)])
    other = graph_of("h", [6e9])
    done = run_on(star(2), (one, other), places=[(0, (0,)), (2, (1,)), (1, (1,))])
    assert (done.sent[0], done.arrived[0]) == pytest.approx((1.0, 4.0))
    assert done.schedule.start.tolist() == pytest.approx([0.0, 6.0, 0.0])


def test_processors_take_tasks_in_their_order():
    # The one that is ready from the beginning still waits for its turn.
    one = graph_of("g", [1e9, 1e9], [(0, 1, 3e9)])
    other = graph_of("h", [6e9])
    done = run_on(star(2), (one, other), places=[(0, (0,)), (1, (1,)), (2, (1,))])
    assert done.schedule.start.tolist() == pytest.approx([0.0, 4.0, 5.0])


def test_edges_and_tasks_of_nothing_take_no_time():
    one = graph_of("g", [0.0, 1e9, 1e9, 0.0], [(0, 1, 0), (0, 2, 0), (1, 3, 0), (2, 3, 0)])
    done = run_on(star(2), (one,), places=[(0, (0,)), (1, (0,)), (2, (1,)), (3, (1,))])
    assert done.schedule.start.tolist() == pytest.approx([0.0, 0.0, 0.0, 1.0])
    assert done.makespan == pytest.approx(1.0)
    assert done.sent.tolist() == done.arrived.tolist() == pytest.approx([0.0, 0.0, 1.0, 1.0])


@pytest.mark.parametrize("planned", [False, True])
def test_release_dates(planned):
    graphs = tuple(graph_of(name, [2e9, 2e9], [(0, 1, 0)]) for name in "abc")
    done = run_on(star(1), graphs, release=[0.0, 3.0, 20.0], counts=1, planned=planned)
    # The second comes while the processor is taken, the third when everything is over.
    assert done.schedule.completion.tolist() == pytest.approx([4.0, 8.0, 24.0])
    assert done.schedule.start[4] == 20.0
    assert done.schedule.makespans.tolist() == pytest.approx([4.0, 5.0, 4.0])


def test_the_threads_agree():
    site = star(4, 3, bandwidth=3e8, latency=1e-4, switch_latency=1e-3, one_switch=False)
    edges = [(0, 1, 2e9), (0, 2, 1e9), (1, 3, 5e8), (2, 3, 5e8), (0, 3, 0)]
    graphs = (graph_of("g", [3e9, 5e9, 4e9, 1e9], edges, alpha=0.1), graph_of("h", [2e9, 0.0]))
    runs = [
        run_on(site, graphs, release=[0.0, 0.5], counts=2, back_end=back_end)
        for back_end in ("coroutines", "threads")
    ]
    for field in ("start", "finish"):
        fast, slow = (getattr(each.schedule, field) for each in runs)
        assert fast.tolist() == pytest.approx(slow.tolist(), rel=1e-9)
    assert runs[0].arrived.tolist() == pytest.approx(runs[1].arrived.tolist(), rel=1e-9)
    assert runs[0].schedule.processor.tolist() == runs[1].schedule.processor.tolist()
