"""Hosts, links and disks without capacity stand still: 0 is the limit of less and less."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naming import raises_naming

from simplugin import Host, Link, Platform, Route, SimGridOptions, Zone, simulate
from simplugin.core.errors import DeadlockError, PlatformError, SimpluginError, SimulationError
from simplugin.platforms import Disk, Profile, ProfileUse
from simplugin.simulation import Callbacks

SPEED, BANDWIDTH, LATENCY = 1e9, 1e8, 1e-3
MODELS: dict[str, dict[str, Any]] = {
    "LV08": {},
    "full": {"cpu_optim": "Full", "network_optim": "Full"},
    "simgrid": {"incremental": False},
    "CM02": {"network_model": "CM02", "crosstraffic": False, "tcp_gamma": 0.0},
    "raw": {"network_model": "raw"},
    "SMPI": {"network_model": "SMPI"},
    "ptask": {"host_model": "ptask_L07"},
    "ptask of simgrid": {"host_model": "ptask_L07", "incremental": False},
}
# What transfers have of a bandwidth, of which acknowledgements take a part, and pay of latencies.
FACTORS = {"CM02": (1.0, 1.0), "raw": (1.0, 1.0), "ptask": (1.0, 1.0)} | {
    "ptask of simgrid": (1.0, 1.0),
    "SMPI": (0.940694 / 1.05, 11.6436),
}


def two(profile: str = "", period: float = -1.0) -> Platform:
    """Return two hosts and a link; a profile in parts of their capacities."""
    lines = [line.split() for line in profile.splitlines()]
    points = [(float(date), float(part)) for date, part in lines]
    followed = [
        Profile.of_points("speeds", points, period),
        ProfileUse("speeds", "ada", "SPEED"),
        Profile.of_points(
            "bandwidths", [(date, BANDWIDTH * part) for date, part in points], period
        ),
        ProfileUse("bandwidths", "wire", "BANDWIDTH"),
    ]
    ada = Host("ada", SPEED, further_speeds=(0.0,), disks=(Disk("disk", 2e8, 1e8),))
    return wired(ada, Host("bob", SPEED), *(followed if profile else ()))


def wired(*parts: Any, **link: Any) -> Platform:
    """Return a platform of ada, bob and a link between them."""
    wire = Link("wire", BANDWIDTH, LATENCY, **link)
    return Platform(Zone("zone", "Full", [*parts, wire], [Route("ada", "bob", ["wire"])]))


async def work(me: Any, flops: float, delay: float = 0.0, host: str | None = None) -> float:
    await me.sleep_for(delay)
    await me.execute(flops, host=host)
    return float(me.now)


async def send(me: Any, size: float, delay: float = 0.0) -> None:
    await me.sleep_for(delay)
    await me.mailbox("box").put(None, size)


async def receive(me: Any) -> float:
    await me.mailbox("box").get()
    return float(me.now)


async def together(me: Any) -> float:
    await me.parallel_execute(["ada", "bob"], [1e9, 2e9], None)
    return float(me.now)


@pytest.mark.parametrize("model", MODELS)
def test_a_profile_stops_what_runs_and_what_starts(model: str, back_end: Any) -> None:
    def run(platform: Platform, *actors: Any) -> Any:
        options = SimGridOptions(**MODELS[model])
        return simulate(platform, actors, options=options, back_end=back_end, wall_limit=60)

    bandwidth, latency = FACTORS.get(model, (0.97 / 1.05, 13.01))
    busy, paid = 2e8 / (bandwidth * BANDWIDTH), latency * LATENCY
    stopped = two("1 0\n6 1")
    assert run(stopped, ("ada", work, 2e9)).value_of("work") == pytest.approx(7.0, rel=1e-12)
    # It starts while nothing goes on; a latency passes all the same.
    assert run(stopped, ("ada", work, 1e9, 2.0)).value_of("work") == pytest.approx(7.0, rel=1e-12)
    sent = run(stopped, ("ada", send, 2e8), ("bob", receive)).value_of("receive")
    assert sent == pytest.approx(5.0 + busy + paid, rel=1e-9)
    late = run(stopped, ("ada", send, 2e8, 2.0), ("bob", receive)).value_of("receive")
    assert late == pytest.approx(6.0 + busy, rel=1e-9)
    none_at_first = two("0 0\n6 1")
    assert run(none_at_first, ("ada", work, 1e9)).value_of("work") == pytest.approx(7.0, rel=1e-12)
    if "ptask" in model:
        # The part on bob waits for that on ada.
        assert run(stopped, ("bob", together)).value_of("together") == pytest.approx(7.0, rel=1e-9)


@pytest.mark.parametrize("model", ["LV08", "full", "simgrid", "ptask", "ptask of simgrid"])
def test_a_deadlock_if_it_never_returns(model: str, back_end: Any) -> None:
    options = SimGridOptions(**MODELS[model])
    more: dict[str, Any] = {"options": options, "back_end": back_end, "wall_limit": 60}
    returns, never = two("0 1\n1 0", 10.0), two("1 0\n3 0\n4 0")
    found = simulate(returns, [("ada", work, 1.5e9)], **more).value_of("work")
    assert found == pytest.approx(10.5, rel=1e-12)
    with pytest.raises(DeadlockError) as stopped:
        simulate(never, [("ada", work, 2e9)], **more)
    # The reference follows the profile to its end.
    assert stopped.value.clock == (1.0 if back_end == "coroutines" else 4.0)
    with pytest.raises(DeadlockError):
        simulate(never, [("ada", send, 2e8), ("bob", receive)], **more)


async def leave_it_stopped(me: Any) -> float:
    me.host.pstate = 1
    try:
        await me.execute(1e9)
    finally:
        me.log("not reached")
    return 0.0


def test_changes_elsewhere_do_not_hide_a_deadlock() -> None:
    # The profile of the link goes on for ever.
    platform = two("0 1\n1 0", 10.0)
    kept = [part for part in platform.elements[0].elements if getattr(part, "element", "") != "ada"]
    still = Platform(Zone("zone", "Full", kept, platform.elements[0].routes))
    with pytest.raises(DeadlockError) as stopped:
        simulate(still, [("ada", leave_it_stopped)], wall_limit=60)
    assert stopped.value.clock == 0.0
    # What nobody waits for ends with the simulation.
    result = simulate(two(), [("ada", start_and_leave)], wall_limit=60)
    assert result.clock == 1.0


async def start_and_leave(me: Any) -> None:
    me.link_by_name("wire").bandwidth = 0
    me.mailbox("box").put_detached(None, 1e8)
    me.sendto_async("ada", "bob", 1e8)
    await me.sleep_for(1)


# ---- any program: 0 is what less and less tends to -----------------------------------------------

Step = tuple[float, str, float, float]
dates = st.sampled_from([0.0, 0.5, 1.0, 1.5, 2.0, 3.0])
parts = st.sampled_from([0.0, 0.0, 0.5, 1.0])
amounts = st.sampled_from([0.25, 0.5, 1.0, 2.0])
starts = st.tuples(
    dates,
    st.sampled_from(["exec", "urgent", "bounded", "threads", "read", "write"]),
    amounts,
    parts,
)
flows = st.tuples(st.just(0.0), st.sampled_from(["send", "back", "far"]), amounts, parts)
tasks = st.tuples(dates, st.sampled_from(["exec", "task", "task"]), amounts, parts)
changes = st.tuples(
    dates, st.sampled_from(["speed", "wire", "pipe", "disk", "pause", "resume"]), amounts, parts
)


async def conduct(me: Any, steps: list[Step], nothing: float) -> list[float]:
    """Take the steps; `nothing` is the part of a capacity that is left where it is 0."""
    started: list[Any] = []
    ada, disk = me.host_by_name("ada"), me.host_by_name("ada").disks[0]
    before = 0.0
    for date, word, amount, part in [*steps, *((4.0, each, 0, 1) for each in ("speed", *WIRES))]:
        if date > before:
            await me.sleep_until(date)
            before = date
        left = part or nothing
        if word in EXECUTIONS:
            started.append(me.exec_async(amount * SPEED, host="ada", **EXECUTIONS[word]))
        elif word in ("read", "write"):
            started.append(getattr(disk, f"{word}_async")(amount * 1e8))
        elif word in PAIRS:
            started.append(me.sendto_async(*PAIRS[word], amount * BANDWIDTH))
        elif word == "task":
            amounts = [amount * SPEED, 0.0], [[0.0, amount * BANDWIDTH], [0.0, 0.0]]
            started.append(me.parallel_async(["ada", "bob"], *amounts))
        elif word == "speed":
            ada.available_speed = left
        elif word == "disk":
            disk.read_bandwidth, disk.write_bandwidth = 2e8 * left, 1e8 * left
        elif word in WIRES:
            me.link_by_name(word).bandwidth = BANDWIDTH * left
        elif started and started[-1].state == "STARTED":
            started[-1].suspend() if word == "pause" else started[-1].resume()
    for each in started:
        each.resume()
    await me.wait_all(started)
    return [each.finish_time for each in started]


EXECUTIONS: dict[str, dict[str, Any]] = {
    "exec": {},
    "urgent": {"priority": 3.0},
    "bounded": {"bound": SPEED / 3},
    "threads": {"threads": 2},
}
WIRES = ("wire", "pipe", "disk")
PAIRS = {"send": ("ada", "bob"), "back": ("bob", "ada"), "far": ("ada", "cyd")}
THREE = Platform(
    Zone(
        "zone",
        "Full",
        [
            Host("ada", SPEED, cores=2, disks=(Disk("disk", 2e8, 1e8),)),
            *(Host(name, SPEED) for name in ("bob", "cyd", "eve")),
            Link("wire", BANDWIDTH, LATENCY),
            Link("pipe", BANDWIDTH, LATENCY, "FATPIPE"),
            Link("other", 2 * BANDWIDTH, LATENCY),
        ],
        [
            Route("ada", "bob", ["wire"]),
            Route("ada", "cyd", ["wire", "pipe"]),
            Route("bob", "cyd", ["other"]),
        ],
    )
)


def programs(model: str) -> st.SearchStrategy[list[Step]]:
    """Return programs of starts and changes that a model knows."""
    begun, changed = st.one_of(starts, flows), changes
    if "ptask" in model:
        begun, changed = tasks, changes.filter(lambda step: step[1] in ("speed", "wire"))
    some = st.lists(begun, min_size=1, max_size=6), st.lists(changed, max_size=6)
    return st.tuples(*some).map(lambda both: sorted(both[0] + both[1], key=lambda step: step[0]))


@pytest.mark.parametrize("model", ["CM02", "raw", "full", "simgrid", "ptask", "ptask of simgrid"])
@given(data=st.data())
@settings(max_examples=8)
def test_as_little_as_nothing(model: str, data: st.DataObject) -> None:
    steps = data.draw(programs(model))
    linear = MODELS["CM02"] if model in ("full", "simgrid") else {}
    options = SimGridOptions(**linear, **MODELS[model])
    found, reference = (
        simulate(THREE, [("eve", conduct, steps, nothing)], options=options).value_of("conduct")
        for nothing in (0.0, 1e-11)
    )
    # Disks count whole bytes.
    assert found == pytest.approx(reference, rel=1e-7, abs=1e-7)


# ---- what is counted -----------------------------------------------------------------------------


async def stop_for_a_while(me: Any) -> Any:
    job = me.exec_async(2e9)
    await me.sleep_for(1)
    me.host.available_speed = 0
    await me.sleep_for(2)
    seen = [me.host.load, job.remaining, me.host.available_speed]
    me.host.available_speed = 1
    await job
    return seen


async def pause_for_a_while(me: Any) -> Any:
    job = me.exec_async(2e9)
    await me.sleep_for(1)
    job.suspend()
    await me.sleep_for(2)
    seen = [me.host.load, job.remaining]
    job.host = "bob"
    await me.sleep_for(1)
    job.resume()
    await job
    return seen


async def sleep_in_pstate(me: Any) -> Any:
    await me.sleep_for(1)
    me.host.pstate = 1
    await me.sleep_for(2)
    me.host.pstate = 0
    return me.host.energy


WATTS = {"wattage_per_state": "100:120:200,50:60:80"}


def watts() -> Platform:
    """Return two hosts of 100 W, 120 W from the first core on, 200 W; half of it in pstate 1."""
    ada = Host("ada", SPEED, further_speeds=(0.0,), properties=WATTS)
    bob = Host("bob", SPEED, properties={"wattage_per_state": "100:120:200"})
    return Platform(Zone("zone", "Full", [ada, bob]))


@pytest.mark.parametrize("optim", ["Lazy", "Full"])
def test_energy_load_and_use(optim: Any) -> None:
    def run(function: Any) -> tuple[Any, dict[str, Any]]:
        options = SimGridOptions(cpu_optim=optim)
        result = simulate(watts(), [("ada", function)], options=options, energy=True)
        return result.value_of(function.__name__), result.hosts.row("ada")

    seen, row = run(stop_for_a_while)
    assert seen == [0.0, pytest.approx(1e9), 0.0]
    # All cores are at 0 %, but not idle.
    assert row == {"flops": 2e9, "busy": 2.0, "energy": 2 * 200 + 2 * 120, "utilisation": 0.5}
    seen, row = run(pause_for_a_while)
    assert seen == [0.0, pytest.approx(1e9)]
    assert row == {"flops": 1e9, "busy": 1.0, "energy": 200 + 4 * 100, "utilisation": 0.2}
    # SimGrid takes a host in a pstate of 0 flop/s for fully loaded.
    assert run(sleep_in_pstate)[0] == 100 + 2 * 80


async def idle(me: Any) -> None:
    await me.sleep_for(10)


def test_energy_of_the_first_pstate(back_end: Any) -> None:
    host = Host("ada", SPEED, further_speeds=(5e8,), pstate=1, properties=WATTS)
    platform = Platform(Zone("zone", "Full", [host]))
    result = simulate(platform, [("ada", idle)], energy=True, back_end=back_end)
    assert result.hosts.row("ada")["energy"] == 10 * 50


async def switch(me: Any) -> list[float]:
    wire, seen = me.link_by_name("wire"), []
    for turn in (wire.turn_off, wire.turn_off, wire.turn_on, wire.turn_off):
        await me.sleep_for(1)
        turn()
        seen.append(wire.energy)
    await me.sleep_for(1)
    return [*seen, wire.energy]


def test_energy_of_links_that_are_off() -> None:
    def measured(**watts: str) -> Any:
        none = {"wattage_per_state": "0:0"}
        hosts = [Host(name, SPEED, properties=none) for name in ("ada", "bob")]
        platform = wired(*hosts, properties={"wattage_range": "100:200", **watts})
        result = simulate(platform, [("ada", switch)], energy=True)
        return result.value_of("switch"), result.links.row("wire")["energy"]

    assert measured(wattage_off="10") == ([100, 110, 120, 220, 230], 230)
    assert measured(wattage_off="0") == ([100, 100, 100, 200, 200], 200)
    # As SimGrid: without the property it idles.
    assert measured() == ([100, 200, 300, 400, 500], 500)
    for wrong in ("ten", "-1", ""):
        with raises_naming(PlatformError, "wire"):
            measured(wattage_off=wrong)


# ---- cpu/optim:TI, functions of the user's, and what is refused ----------------------------------


async def lower(me: Any) -> None:
    me.host.pstate = 1


@pytest.mark.parametrize(("profile", "period"), [("0 1\n1 0.5", -1.0), ("0 1\n1 0", 10.0)])
def test_profiles_that_are_not_integrated(profile: str, period: float, back_end: Any) -> None:
    options = SimGridOptions(cpu_optim="TI")
    with raises_naming(PlatformError, "ada"):
        simulate(two(profile, period), [("bob", idle)], options=options, back_end=back_end)


def test_pstates_are_not_integrated() -> None:
    options = SimGridOptions(cpu_optim="TI")
    with raises_naming(SimulationError, "cpu/optim:TI") as refused:
        simulate(two(), [("ada", lower)], options=options)
    assert isinstance(refused.value.__cause__, SimpluginError)
    governed = SimGridOptions(cpu_optim="TI", extra={"plugin": "host_dvfs"})
    with raises_naming(SimulationError, "host_dvfs"):
        simulate(two(), [("ada", idle)], options=governed)


def test_functions_are_not_asked_about_what_stands_still() -> None:
    def share(capacity: float, _count: int) -> float:
        assert capacity == SPEED
        return SPEED

    callbacks = Callbacks(host_sharing={"ada": share})
    result = simulate(two("1 0\n6 1"), [("ada", work, 2e9)], callbacks=callbacks)
    assert result.value_of("work") == pytest.approx(7.0)


@pytest.mark.parametrize("optim", ["Lazy", "Full"])
def test_what_a_killed_execution_has_computed(optim: Any) -> None:
    async def off(me: Any) -> None:
        await me.sleep_for(1)
        me.host_by_name("ada").turn_off()
        await me.sleep_for(1)

    for by_profile in (False, True):
        parts = two().elements[0].elements
        if by_profile:
            profile = Profile("state", "1 0")
            parts = (*parts, profile, ProfileUse("state", "ada", "HOST_AVAIL"))
        platform = Platform(Zone("zone", "Full", parts, two().elements[0].routes))
        actors = [("ada", work, 5e9), ("bob", off) if not by_profile else ("bob", work, 3e9)]
        options = SimGridOptions(cpu_optim=optim)
        assert simulate(platform, actors, options=options).hosts.row("ada")["flops"] == 1e9


@pytest.mark.parametrize("size", [0, 1])
@pytest.mark.parametrize("incremental", [True, False])
def test_an_empty_message_pays_the_latency(size: int, incremental: bool) -> None:
    options = SimGridOptions(host_model="ptask_L07", incremental=incremental)
    found = simulate(two(), [("ada", send, size), ("bob", receive)], options=options)
    assert found.value_of("receive") == pytest.approx(LATENCY, rel=1e-4)


# ---- dates --------------------------------------------------------------------------------------


def test_late_and_early_dates(back_end: Any) -> None:
    # Late ones are further apart than 1e-9 s, SimGrid's precision; early ones closer.
    async def repeat(me: Any, second: float) -> float:
        for number in range(50):
            await me.execute(SPEED * second * (1 + number / 7))
            await me.sleep_for(second * (1 + number / 11))
        return float(me.now)

    for second in (1e-12, 1.0, 1e7, 1e11):
        found = simulate(
            two(), [("ada", repeat, second), ("ada", repeat, second / 3)], back_end=back_end
        )
        share = simulate(two(), [("ada", repeat, 1.0), ("ada", repeat, 1.0 / 3)], back_end=back_end)
        expected = [second * each.value for each in share.returned]
        assert [each.value for each in found.returned] == pytest.approx(expected, rel=1e-7)


def test_no_capacity_from_the_start() -> None:
    platform = wired(Host("ada", 0.0, cores=2), Host("bob", SPEED))
    for source, destination in itertools.permutations(("ada", "bob")):
        actors = [(source, send, 1e8), (destination, receive)]
        found = simulate(platform, actors, options=SimGridOptions.linear()).value_of("receive")
        assert found == pytest.approx(1 + LATENCY)
    with pytest.raises(DeadlockError):
        simulate(platform, [("ada", work, 1.0)])
    assert simulate(platform, [("ada", work, 0.0)]).value_of("work") == 0.0
    assert simulate(platform, [("bob", work, 1e9)]).value_of("work") == 1.0
