"""No link carries more than its capacity, and partial updates give the dates of full ones.

Those of parallel tasks are SimGrid's to the last bit.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from simplugin import Cluster, Platform, SimGridOptions, Zone, simulate
from simplugin.simulation import Callbacks

HOSTS = [f"h{number}" for number in range(8)]
END = 20.0  # s
Step = tuple[float, str, int, int, float]
PLATFORMS = {
    "star": {},
    "shared": {"sharing_policy": "SHARED"},
    "backbone": {"backbone_bandwidth": 2e9, "backbone_latency": 1e-3},
    "fatpipe": {"backbone_bandwidth": 5e8, "backbone_sharing_policy": "FATPIPE"},
    "limiter": {"limiter_bandwidth": 1.2e9},
    # Routes of several lengths, hence of several weights.
    "torus": {"topology": "TORUS", "topology_parameters": "2,2,2", "loopback_bandwidth": 1e10},
    "tree": {"topology": "FAT_TREE", "topology_parameters": "2;4,2;1,2;1,1"},
    "nonlinear": {"backbone_bandwidth": 2e9, "backbone_latency": 1e-3},
    "staged": {"backbone_bandwidth": 2e9, "backbone_latency": 1e-3},
}
UPDATES = {
    "Full": {"network_optim": "Full"},
    "Lazy": {"incremental": False},
    "incremental": {"incremental": True},
}

# Few dates, so that much happens at the same one.
dates = st.sampled_from([0.0, 0.02, 0.1])
hosts = st.integers(0, len(HOSTS) - 1)
words = st.sampled_from(["start", "start", "bounded"])
starts = st.tuples(dates, words, hosts, hosts, st.sampled_from([1e6, 2.5e7, 1e8]))
tasks = st.tuples(dates, st.sampled_from(["start", "task", "task"]), hosts, hosts, st.just(1e7))


def programs(starts: st.SearchStrategy[Step], *more: str) -> st.SearchStrategy[list[Step]]:
    """Return programs of starts and changes, of some more kinds."""
    changes = st.tuples(
        st.sampled_from([0.02, 0.1, 0.15]),
        st.sampled_from(["suspend", "resume", "cancel", "bandwidth", "off", "on", *more]),
        st.integers(0, 99),
        st.just(0),
        st.sampled_from([2e8, 2e9]),
    )
    steps = st.tuples(st.lists(starts, min_size=3, max_size=14), st.lists(changes, max_size=6))
    return steps.map(lambda parts: sorted(parts[0] + parts[1], key=lambda step: step[0]))


THREE_FLOWS = [
    (0.0, "start", 7, 5, 1e8),
    (0.02, "start", 0, 5, 1e8),
    (0.02, "start", 0, 3, 1e8),
]
CHANGE_DURING_LATENCY = [(0.0, "start", 0, 1, 1e8), (0.02, "bandwidth", 0, 0, 2e8)]
RESUMED_IN_LATENCY = [
    (0.0, "start", 0, 1, 1e8),
    (0.02, "start", 0, 1, 1e6),
    (0.02, "suspend", 1, 0, 2e8),
    (0.02, "resume", 1, 0, 2e8),
]


def parallel_task(first: int, second: int, amount: float) -> tuple[Any, Any, Any]:
    """Return hosts, amounts of computation [flop] and of data [byte], some of which are 0."""
    numbers = range(1 + second % 5)
    flops = [amount * (second * i % 3) for i in numbers]
    # The reference sends nothing from the only host to itself.
    some = len(numbers) > 1
    sizes = [[some * amount * ((i + 2 * j + second) % 4 % 3) for j in numbers] for i in numbers]
    return [HOSTS[(first + i) % len(HOSTS)] for i in numbers], flops, sizes


async def conduct(me: Any, program: Sequence[Step], limit: float | None) -> list[tuple[str, float]]:
    """Take the steps at their dates; return how each transfer ended and when [s], 0 if never.

    What is bounded gets no rate [byte/s] above the limit.
    """
    flows: list[Any] = []
    before = 0.0
    for date, word, first, second, amount in program:
        # A sleep of one ulp takes 1 ns in SimGrid, and the clocks may differ by one ulp.
        if date > before:
            await me.sleep_until(date)
            before = date
        if word in ("start", "bounded"):
            rate = limit if word == "bounded" else None
            flows.append(me.sendto_async(HOSTS[first], HOSTS[second], amount, rate=rate))
        elif word == "task":
            flows.append(me.parallel_async(*parallel_task(first, second, amount)))
        elif word in ("suspend", "resume", "cancel"):
            flow = flows[first % len(flows)] if flows else None
            if flow is not None and flow.state == "STARTED":
                getattr(flow, word)()
        else:
            link = me.links[first % len(me.links)]
            host = me.host_by_name(HOSTS[1:][first % (len(HOSTS) - 1)])  # not this one
            if word == "bandwidth":
                link.bandwidth = amount
            elif word == "speed":
                host.available_speed = amount / 2e9
            else:
                getattr(link if word in ("off", "on") else host, f"turn_{word.split()[-1]}")()
    await me.sleep_until(END)
    return [(flow.state, flow.finish_time or 0.0) for flow in flows]


async def watch(me: Any, middles: list[float]) -> float:
    """Return the largest ratio of load and bandwidth of a link at these dates."""
    worst = 0.0
    for date in middles:
        await me.sleep_until(date)
        worst = max([worst, *(link.load / link.bandwidth for link in me.links)])
    return worst


def play(
    back_end: Any,
    platform: str,
    program: Sequence[Step],
    model: str,
    update: str,
    middles: list[float],
) -> Any:
    """Return how the transfers ended, and the largest ratio of load and bandwidth of a link."""
    place = Cluster("c", "0-7", 1e9, bandwidth=1e9, latency=1e-3, prefix="h", **PLATFORMS[platform])
    # Parallel tasks ask no functions, and SimGrid aborts where they meet a limit.
    special = platform if model != "ptask" else "plain"
    more = {"extra": {"maxmin/concurrency-limit": "3"}} if special == "staged" else {}
    kind = {"host_model": "ptask_L07"} if model == "ptask" else {"network_model": model}
    options = SimGridOptions(**kind, **UPDATES[update], **more)
    functions = {"c_backbone": lambda capacity, count: capacity / (1 + count / 40)}
    callbacks = Callbacks(link_sharing=functions) if special == "nonlinear" else None
    limit = 3e8 if back_end == "coroutines" else None  # the bindings have no rates of transfers
    actors = [("h0", conduct, program, limit), ("h0", watch, middles)]
    result = simulate(
        Platform(Zone("all", "Full", (place,))),
        actors,
        back_end=back_end,
        options=options,
        callbacks=callbacks,
    )
    return result.value_of("conduct"), result.value_of("watch")


@pytest.mark.parametrize("model", ["LV08", "CM02"])
@pytest.mark.parametrize("update", ["Lazy", "incremental"])
@given(platform=st.sampled_from(list(PLATFORMS)), program=programs(starts))
@example(platform="star", program=THREE_FLOWS)
@example(platform="star", program=CHANGE_DURING_LATENCY)
@example(platform="star", program=RESUMED_IN_LATENCY)
@settings(max_examples=12)
def test_rates_are_those_of_a_full_update(
    back_end: Any, model: str, update: str, platform: str, program: list[Step]
) -> None:
    # The reference takes no functions.
    assume(platform != "nonlinear" or back_end == "coroutines")
    # What is suspended while it waits for a place starts all the same in SimGrid, and Full and Lazy
    # differ on when.
    assume(platform != "staged" or all(word != "suspend" for _, word, *_ in program))
    full, _ = play(back_end, platform, program, model, "Full", [])
    # Something changes at these dates, and where the latencies of what starts there are over.
    latency = (13.01 if model == "LV08" else 1.0) * 1e-3
    routes = {
        start + count * latency
        for start, word, *_ in program
        if word in ("start", "bounded")
        for count in range(1, 5)
    }
    events = sorted(
        {0.0, END, *routes} | {step[0] for step in program} | {date for _, date in full}
    )
    middles = [(a + b) / 2 for a, b in itertools.pairwise(events) if b - a > 1e-7]
    # The reference does not read loads.
    dates = middles if back_end == "coroutines" else []
    found, worst = play(back_end, platform, program, model, update, dates)
    assert [state for state, _ in found] == [state for state, _ in full]
    assert [date for _, date in found] == pytest.approx(
        [date for _, date in full], rel=1e-9, abs=1e-9
    )
    assert worst <= 1 + 1e-9


@given(
    platform=st.sampled_from(list(PLATFORMS)),
    program=programs(tasks, "speed", "host off", "host on"),
)
@settings(max_examples=20)
def test_parallel_tasks_are_those_of_simgrid(
    back_end: Any, platform: str, program: list[Step]
) -> None:
    middles = [0.01, 0.03, 0.12, 0.16, 0.2] if back_end == "coroutines" else []
    found = play(back_end, platform, program, "ptask", "incremental", middles)
    assert found == play(back_end, platform, program, "ptask", "Lazy", middles)


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("model", ["LV08", "ptask"])
def test_many_transfers(platform: str, model: str) -> None:
    word, reference = ("bounded", "Full") if model == "LV08" else ("task", "Lazy")
    draw = np.random.default_rng(7)
    program = [
        (0.05 * number, str(draw.choice(["start", word])), *map(int, ends), float(size))
        for number, (*ends, size) in enumerate(
            zip(*draw.integers(0, 8, (2, 200)), draw.uniform(1e6, 4e7, 200), strict=True)
        )
    ]
    full, _ = play("coroutines", platform, program, model, reference, [])
    found, _ = play("coroutines", platform, program, model, "incremental", [])
    assert sum(date > 0 for _, date in full) > 100
    assert [state for state, _ in found] == [state for state, _ in full]
    assert np.array(found)[:, 1].astype(float) == pytest.approx(
        np.array(full)[:, 1].astype(float), rel=1e-9
    )
