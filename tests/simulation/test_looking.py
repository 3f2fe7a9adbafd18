"""Who looks changes nothing: the same bytes with and without reading everything at some dates."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from simplugin.core.errors import ActivityError
from simplugin.platforms import Cluster, Platform, Zone
from simplugin.simulation import Result, SimGridOptions, simulate, simulation

COUNT = 16
NAMES = [f"h{number}" for number in range(COUNT)]
WATTS = {"wattage_per_state": "90:110:170", "wattage_range": "10:30"}
CLUSTER = Cluster(
    "c",
    f"0-{COUNT - 1}",
    1e9,
    bandwidth=44.5301e6,
    latency=1e-6,
    prefix="h",
    topology="DRAGONFLY",
    topology_parameters="2,1;2,1;2,1;2",
    sharing_policy="SHARED",
    properties=WATTS,
)
PLATFORM = Platform(Zone("all", "Full", [CLUSTER]))
numbers = st.integers(0, COUNT - 1)
amounts = st.floats(0.0, 2e8)
steps = st.lists(
    st.tuples(st.floats(0.0, 0.5), st.sampled_from(["send", "send", "run", "cancel"]), numbers,
              numbers, amounts),
    min_size=4, max_size=16,
)  # fmt: skip


async def follow(me: Any, program: list[Any], running: list[Any]) -> list[Any]:
    """Start each step after a pause, and return how all ended."""
    for pause, word, first, second, amount in program:
        await me.sleep_for(pause)
        if word == "send":
            running.append(me.sendto_async(NAMES[first], NAMES[second], amount))
        elif word == "run":
            running.append(me.exec_async(amount, host=NAMES[first]))
        elif running:
            running[first % len(running)].cancel()
    for activity in running:
        with contextlib.suppress(ActivityError):
            await activity
    return [(activity.state, activity.finish_time) for activity in running]


async def watch(me: Any, dates: list[float], running: list[Any], looks: bool) -> None:
    """Read all that can be read at these dates, or nothing."""
    for date in dates:
        await me.sleep_until(date)
        if looks:
            for activity in running:
                _ = activity.remaining
            for host in me.hosts:
                _ = host.load, host.speed, host.available_speed, host.energy
            for link in me.links:
                _ = link.load, link.bandwidth, link.figures, link.energy
            me.route(NAMES[-1], NAMES[0])


@settings(max_examples=25)
@given(
    program=steps,
    dates=st.lists(st.floats(0.01, 9.0), min_size=1, max_size=5).map(sorted),
    optim=st.sampled_from(["Lazy", "Full"]),
)
def test_looking_changes_nothing(program: Any, dates: list[float], optim: Any) -> None:
    options = SimGridOptions(cpu_optim=optim, network_optim=optim, extra={"plugin": "link_load"})
    choices: dict[str, Any] = {"options": options, "energy": True}

    def actors(looks: bool) -> Any:
        running: list[Any] = []
        return [("h0", follow, program, running), ("h1", watch, dates, running, looks)]

    def paused() -> Result:
        with simulation(PLATFORM, actors(looks=False), **choices) as sim:
            while sim.step():
                _ = sim.hosts, sim.links, sim.activities, sim.actors
            return sim.run()

    unseen = simulate(PLATFORM, actors(looks=False), **choices)
    for seen in (simulate(PLATFORM, actors(looks=True), **choices), paused()):
        # Whether it looks is an argument.
        assert replace(seen, provenance=unseen.provenance) == unseen
