"""Functions of the user's that models ask, and that hear what happens."""

from __future__ import annotations

from typing import Any

from conformance import ada, bob, returns, scenario
from worlds import AB, AB_LATENCY, ADA, BC, BC_LATENCY, NO_LATENCY

from simplugin.simulation import Callbacks, Completion

COUNT = 9
heard: list[Any] = []


# SimGrid's examples network-nonlinear and exec-cpu-nonlinear.
def a_tenth_less_for_each(capacity: float, count: int) -> float:
    return min(capacity, capacity * (1.0 - (count - 1) / 10))


def ends_of_shrinking_flows() -> list[float]:
    dates = [0.0]
    for count in range(COUNT, 0, -1):
        dates.append(dates[-1] + 1e6 * count / a_tenth_less_for_each(AB, count))
    return dates[1:]


@returns(
    [ends_of_shrinking_flows(), 2 * 10 * 1e9 / ADA],
    platform=NO_LATENCY,
    callbacks=Callbacks(
        link_sharing={"ab": a_tenth_less_for_each},
        host_sharing={"ada": lambda capacity, count: capacity / 2 if count > 1 else capacity},
    ),
)
async def nonlinear_sharing(me: Any) -> list[Any]:
    transfers = [me.sendto_async("ada", "bob", 1e6 * size) for size in range(1, COUNT + 1)]
    executions = [me.exec_async(1e9) for _ in range(10)]
    await me.wait_all([*transfers, *executions])
    return [[each.finish_time for each in transfers], executions[-1].finish_time]


def half_on_two_links(size: float, _: Any, to: Any, links: Any, zones: Any) -> float:
    assert (to.name == "cyd") == ([link.name for link in links] == ["bc1", "bc2"])
    assert len(zones) > 0
    return 0.5 if len(links) > 1 and size > 1e6 else 1.0


@returns(
    [2 * AB_LATENCY + 2e6 / AB, BC_LATENCY + 2e6 / (0.5 * BC), BC_LATENCY + 1e6 / BC],
    callbacks=Callbacks(
        bandwidth_factor=half_on_two_links,
        latency_factor=lambda *given: 2.0 if given[1].properties else 1.0,
    ),
)
async def factors_of_transfers(me: Any) -> list[float]:
    durations = []
    for source, destination, size in (
        ("ada", "bob", 2e6),
        ("bob", "cyd", 2e6),
        ("bob", "cyd", 1e6),
    ):
        start = me.now
        await me.sendto(source, destination, size)
        durations.append(me.now - start)
    return durations


# ---- monitors -----------------------------------------------------------------------------------


async def be_cut_off(me: Any) -> None:
    await me.execute(5e8, label="first")
    await me.mailbox("box").put("data", 1e6, label="data")
    await me.sleep_for(9.0)


async def watch(me: Any, seen: list[Any]) -> list[Any]:
    await me.mailbox("box").get()
    await me.sleep_for(0.25)
    me.host_by_name("ada").turn_off()
    await me.sleep_for(0.25)
    me.host_by_name("ada").turn_on()
    await me.sleep_for(0.25)
    return [tuple(each) for each in seen]


ARRIVED = 0.5 + 1.0
scenario(
    "monitors",
    ada(be_cut_off),
    bob(
        watch,
        heard,
        gives=[
            ("be_cut_off", "ada", "exec", "first", 0.0, 0.5, 5e8, "done"),
            ("be_cut_off", "ada->bob", "comm", "data", 0.5, ARRIVED, 1e6, "done"),
            ("watch", "bob", "sleep", None, ARRIVED, ARRIVED + 0.25, 0.25, "done"),
            (ARRIVED + 0.25, "ada", False),
            ("be_cut_off", "ada", "sleep", None, ARRIVED, ARRIVED + 0.25, 0.25, "canceled"),
            ("watch", "bob", "sleep", None, ARRIVED + 0.25, ARRIVED + 0.5, 0.25, "done"),
            (ARRIVED + 0.5, "ada", True),
            ("watch", "bob", "sleep", None, ARRIVED + 0.5, ARRIVED + 0.75, 0.25, "done"),
        ],
    ),
    platform=NO_LATENCY,
    callbacks=Callbacks(
        on_host_state_change=lambda *change: heard.append(change),
        on_activity_completion=heard.append,
    ),
)


heard_of_links: list[Any] = []


@returns(
    [(1e9 / ADA, "ab", False), (1.5e9 / ADA, "ab", True)],
    heard_of_links,
    callbacks=Callbacks(on_link_state_change=lambda *change: heard_of_links.append(change)),
)
async def monitor_of_links(me: Any, seen: list[Any]) -> list[Any]:
    link = me.link_by_name("ab")
    await me.execute(1e9)
    link.turn_off()
    await me.execute(5e8)
    link.turn_on()
    return seen


# ---- errors -------------------------------------------------------------------------------------


async def transfer(me: Any) -> None:
    await me.execute(1e9)
    me.host_by_name("bob").turn_off()
    me.host_by_name("bob").turn_on()
    me.link_by_name("ab").turn_off()
    me.link_by_name("ab").turn_on()
    await me.sendto("ada", "bob", 1e6)
    await me.sleep_for(100.0)


def fail(*_: Any) -> float:
    raise KeyError("mistake")


def fail_at_the_transfer(completion: Completion) -> None:
    if completion.kind == "comm":
        fail()


for argument, function, date, shown in (
    ("bandwidth_factor", fail, 1.0, 1),
    ("bandwidth_factor", lambda *_: 0.0, 1.0, 0),
    ("latency_factor", lambda *_: float("nan"), 1.0, 0),
    ("link_sharing", {"ab": fail}, 1.0, 1),
    ("link_sharing", {"ab": lambda *_: 0.0}, 1.0, 0),
    ("host_sharing", {"ada": lambda *_: "much"}, 0.0, 0),
    ("host_sharing", {"ada": lambda *_: 10**5000}, 0.0, 0),
    ("host_sharing", {"ada": lambda *_: True}, 0.0, 0),
    ("on_host_state_change", fail, 1.0, 1),
    ("on_link_state_change", fail, 1.0, 1),
    ("on_activity_completion", fail_at_the_transfer, 2.0, 2),
):
    scenario(
        f"{argument}-{shown}-{date}-fails",
        ada(transfer),
        platform=NO_LATENCY,
        callbacks=Callbacks(**{argument: function}),
        wrong={
            "error": "CallbackError",
            "clock": date,
            "cause": "KeyError('mistake')" if shown else "None",
            "callback": argument,
            "frames": ["scenarios_callbacks.py"] * shown,
        },
    )

scenario(
    "sharing-of-unknown-links",
    ada(transfer),
    platform=NO_LATENCY,
    callbacks=Callbacks(link_sharing={"ba": fail}),
    wrong={"error": "SimulationError", "clock": None},
)
