"""SimGridOptions: what is refused, and that SimGrid understands the rest."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from naming import raises_naming
from simgrid_texts import meaning

from simplugin.core.errors import SimpluginError, SimulationError
from simplugin.platforms import Host, Link, Platform, Route, Zone
from simplugin.simulation import SimGridOptions, SimulationOptions, simulate
from simplugin.simulation.options import SimulationKeywords

LINEAR = SimGridOptions.linear()


async def send(me: Any, size: float) -> None:
    await me.mailbox("box").put("letter", size)


async def receive(me: Any) -> float:
    await me.mailbox("box").get()
    return float(me.now)


@pytest.mark.parametrize(
    ("field", "value", "named"),
    [
        ("network_model", "LV09", "LV08"),
        ("network_model", "IB", "SMPI"),
        ("host_solver", "maxmin", "bmf"),
        ("tcp_gamma", -1.0, "tcp_gamma"),
        ("precision_timing", 0.0, "0.0"),
        ("precision_timing", float("nan"), "nan"),
        ("bandwidth_factor", "half", "half"),
        ("crosstraffic", "yes", "yes"),
        ("extra", {"network/model": "CM02"}, "network_model"),
        ("extra", {"no item": "1"}, "no item"),
        ("extra", {"maxmin/concurrency-limit": 3}, "maxmin/concurrency-limit"),
    ],
)
def test_what_is_refused(field: str, value: Any, named: str) -> None:
    with raises_naming(SimpluginError, field, named):
        SimGridOptions(**{field: value})


def test_parallel_tasks_have_their_own_network() -> None:
    with raises_naming(SimpluginError, "ptask_L07"):
        SimGridOptions(host_model="ptask_L07", network_model="CM02")


def test_arguments() -> None:
    options = replace(LINEAR, precision_timing=1e-12, extra={"cpu/solver": "maxmin"})
    assert options.arguments() == [
        "--cfg=network/model:CM02",
        "--cfg=network/TCP-gamma:0.0",
        "--cfg=network/crosstraffic:no",
        "--cfg=precision/timing:1e-12",
        "--cfg=cpu/solver:maxmin",
    ]
    assert SimGridOptions().arguments() == []


@pytest.mark.parametrize(
    ("options", "seconds"),
    [
        # The link carries 1 MB/s without latency; cross-traffic adds 5 % of the way back.
        (SimGridOptions(), 1 / (0.97 / 1.05)),
        (SimGridOptions(crosstraffic=False), 1 / 0.97),
        (SimGridOptions(network_model="CM02"), 1.05),
        (LINEAR, 1.0),
        (SimGridOptions(network_model="raw", crosstraffic=False), 1.0),
        (replace(LINEAR, bandwidth_factor=0.5), 2.0),
        (replace(LINEAR, bandwidth_factor="0:0.25;2000000:0.5"), 4.0),
        (replace(LINEAR, loopback_bandwidth=1e9, cpu_optim="Full"), 1.0),
        (replace(LINEAR, network_optim="Full", weight_s=20537.0), 1.0),
        (replace(LINEAR, extra={"maxmin/concurrency-limit": "1"}), 1.0),
    ],
)
def test_what_simgrid_makes_of_them(
    two_hosts: Path, options: SimGridOptions, seconds: float
) -> None:
    result = simulate(two_hosts, [("ada", send, 1e6), ("bob", receive)], options=options)
    assert result.value_of("receive") == pytest.approx(seconds, rel=1e-6)
    for name, value in options.items().items():
        if name in result.provenance["options"]:
            assert meaning(result.provenance["options"][name]) == meaning(value)


def test_option_that_simgrid_does_not_know(two_hosts: Path) -> None:
    options = SimGridOptions(extra={"network/nonsense": "1"})
    with raises_naming(SimulationError, "nonsense"):
        simulate(two_hosts, [("ada", send, 1.0)], options=options)


@pytest.mark.parametrize(
    ("options", "shares"),
    [
        (LINEAR, (2 / 3, 1 / 3)),
        (SimGridOptions(network_model="raw"), (2 / 3, 1 / 3)),
        (SimGridOptions(host_model="ptask_L07"), (1 / 2, 1 / 2)),
    ],
)
def test_latencies_weigh_where_links_are_shared(
    options: SimGridOptions, shares: tuple[float, float]
) -> None:
    names, latencies, size = ("a", "b"), (1e-4, 2e-4), 1e8
    hosts = [Host(f"{name}-{end}", 1e9) for name in names for end in ("from", "to")]
    shared = Link("shared", 1e8, 0.0)
    own = [Link(name, 1e9, latency) for name, latency in zip(names, latencies, strict=True)]
    routes = [Route(f"{name}-from", f"{name}-to", [name, "shared"]) for name in names]
    platform = Platform(Zone("zone", "Full", (*hosts, shared, *own), tuple(routes)))

    async def put(me: Any, name: str) -> float:
        await me.sendto(f"{name}-from", f"{name}-to", size)
        return float(me.now)

    actors = [(f"{name}-from", put, name) for name in names]
    done = simulate(platform, actors, options=options).values("put")
    first = size / (1e8 * shares[0])
    rest = (size - first * 1e8 * shares[1]) / 1e8
    assert done == pytest.approx([first, first + rest], abs=1e-3)


@pytest.mark.parametrize(
    ("options", "bandwidth_factor", "latency_factor"),
    [
        ({}, 0.97, 13.01),
        ({"network_model": "CM02"}, 1.0, 1.0),
        ({"bandwidth_factor": 0.5, "latency_factor": 3.0}, 0.5, 3.0),
        ({"network_model": "CM02", "bandwidth_factor": "0:0.5", "latency_factor": 7.0}, 0.5, 7.0),
        ({"tcp_gamma": 1e6}, 0.97, 13.01),
        ({"host_model": "ptask_L07"}, 1.0, 1.0),
    ],
)
def test_the_window_counts_the_bandwidth_factor_and_not_that_of_latencies(
    options: dict[str, Any], bandwidth_factor: float, latency_factor: float
) -> None:
    hosts = [Host("ada", 1e9), Host("bob", 1e9), Link("l", 1e9, 0.01)]
    platform = Platform(Zone("z", "Full", hosts, [Route("ada", "bob", ["l"])]))
    actors = [("ada", send, 1e9), ("bob", receive)]
    clock = simulate(platform, actors, options=SimGridOptions(**options)).clock
    rate = bandwidth_factor * options.get("tcp_gamma", 4194304) / (2 * 0.01)
    assert clock == pytest.approx(latency_factor * 0.01 + 1e9 / rate, rel=1e-12)


def test_keywords_are_the_options_of_a_simulation():
    assert get_type_hints(SimulationKeywords) == get_type_hints(SimulationOptions)
