"""Ends of simulations: deadlocks, exceptions, limits."""

from __future__ import annotations

from typing import Any

from conformance import Scenario
from worlds import AB, AB_LATENCY, PLAIN, ab

from simplugin.simulation import Placement


async def get_for_ever(me: Any, delay: float) -> None:
    await me.sleep_for(delay)
    await me.mailbox("nobody writes").get()


async def lock_for_ever(me: Any) -> None:
    mutex = me.mutex()
    await mutex.lock()
    await mutex.lock()


async def wait_at_a_barrier(me: Any) -> None:
    await me.barrier(5, "start").wait()


async def suspend_oneself(me: Any, delay: float) -> None:
    await me.sleep_for(delay)
    await me.suspend()


async def send(me: Any) -> None:
    await me.mailbox("box").put("data", 1e6)


async def receive(me: Any) -> float:
    await me.mailbox("box").get()
    return me.now


async def tick(me: Any) -> None:
    while True:
        await me.sleep_for(1)


async def wait_as_daemon(me: Any) -> None:
    await me.mailbox("requests").get()


async def fail(me: Any, delay: float) -> None:
    await me.sleep_for(delay)
    raise KeyError("missing")


async def fail_in_a_child(me: Any) -> None:
    child = me.spawn(fail, 1.5, name="child", host="bob")
    await child.join()


async def fail_at_exit(me: Any) -> None:
    me.on_exit(lambda failed: 1 / failed)
    await me.sleep_for(0.25)


async def handled(me: Any) -> list[Any]:
    try:
        await me.sleep_for(1)
        raise KeyError("missing")
    except KeyError:
        await me.sleep_for(1)
    return [me.now]


async def last_to_sleep(me: Any, duration: float) -> float:
    await me.sleep_for(duration)
    return me.now


async def clean_up_at_the_end(me: Any) -> None:
    try:
        await me.sleep_for(100)
    finally:
        me.properties["end"] = str(me.now)


async def check_time(me: Any) -> float:
    await me.sleep_for(2)
    return me.now


def stuck(*blocked: tuple[str, str, float], clock: float) -> dict[str, Any]:
    """Return what is wrong in a deadlock of actors of this file."""
    places = [(*actor, "scenarios_ends.py") for actor in blocked]
    return {"error": "DeadlockError", "clock": clock, "blocked": places}


SCENARIOS = [
    Scenario(
        "deadlock",
        PLAIN,
        (
            Placement("ada", get_for_ever, (1.5,), name="one"),
            Placement("bob", lock_for_ever, name="two"),
            Placement("cyd", last_to_sleep, (2.5,), name="ends"),
        ),
        stuck(("one", "ada", 1.5), ("two", "bob", 0.0), clock=2.5),
    ),
    Scenario(
        "deadlock_before_the_limit",
        PLAIN,
        (Placement("ada", get_for_ever, (1.5,), name="one"),),
        stuck(("one", "ada", 1.5), clock=1.5),
        until=10.0,
    ),
    *(
        Scenario(
            f"deadlock_at_a_barrier_{until}",
            PLAIN,
            (
                Placement("ada", wait_at_a_barrier, name="one"),
                Placement("bob", wait_at_a_barrier, name="two"),
                Placement("cyd", last_to_sleep, (2.5,), name="ends"),
            ),
            stuck(("one", "ada", 0.0), ("two", "bob", 0.0), clock=2.5),
            until=until,
        )
        for until in (None, 10.0)
    ),
    *(
        Scenario(
            f"deadlock_by_suspension_{until}",
            PLAIN,
            (Placement("ada", suspend_oneself, (1.5,), name="one"),),
            stuck(("one", "ada", 1.5), clock=1.5),
            until=until,
        )
        for until in (None, 10.0)
    ),
    Scenario(
        "deadlock_after_the_limit",
        PLAIN,
        (
            Placement("ada", get_for_ever, (1.5,), name="one"),
            Placement("bob", last_to_sleep, (20.0,), name="ends"),
        ),
        {"error": "SimulatedTimeLimitError", "clock": 10.0},
        until=10.0,
    ),
    Scenario(
        "start_after_the_limit",
        PLAIN,
        (Placement("ada", last_to_sleep, (1.0,), start_time=20.0),),
        {"error": "SimulatedTimeLimitError", "clock": 10.0},
        until=10.0,
    ),
    Scenario(
        "waiting_daemon_is_no_deadlock",
        PLAIN,
        (Placement("ada", wait_as_daemon, daemon=True), Placement("bob", check_time)),
        {"wait_as_daemon": None, "check_time": 2.0},
        2.0,
    ),
    Scenario(
        "exception",
        PLAIN,
        (Placement("ada", fail, (1.5,)), Placement("bob", tick)),
        {
            "error": "ActorError",
            "clock": 1.5,
            "actor": ("fail", "ada"),
            "cause": "KeyError('missing')",
        },
    ),
    Scenario(
        "exception_of_a_child",
        PLAIN,
        (Placement("ada", fail_in_a_child),),
        {
            "error": "ActorError",
            "clock": 1.5,
            "actor": ("child", "bob"),
            "cause": "KeyError('missing')",
        },
    ),
    Scenario(
        "exception_at_exit",
        PLAIN,
        (Placement("ada", fail_at_exit),),
        {
            "error": "ActorError",
            "clock": 0.25,
            "actor": ("fail_at_exit", "ada"),
            "cause": "ZeroDivisionError('division by zero')",
        },
    ),
    Scenario("handled_exception", PLAIN, (Placement("ada", handled),), {"handled": [2.0]}),
    Scenario(
        "limit_of_simulated_time",
        PLAIN,
        (Placement("ada", tick),),
        {"error": "SimulatedTimeLimitError", "clock": 4.5},
        until=4.5,
    ),
    Scenario(
        "end_at_the_limit",
        PLAIN,
        (Placement("ada", last_to_sleep, (4.5,)),),
        {"last_to_sleep": 4.5},
        4.5,
        until=4.5,
    ),
    Scenario(
        "end_before_the_limit",
        PLAIN,
        (Placement("ada", send), Placement("bob", receive)),
        {"send": None, "receive": ab(1e6)},
        AB_LATENCY + 1e6 / AB,
        until=100.0,
    ),
    Scenario(
        "several_daemons",
        PLAIN,
        (
            Placement("ada", clean_up_at_the_end, name="first", daemon=True),
            Placement("bob", clean_up_at_the_end, name="second", daemon=True),
            Placement("cyd", check_time),
        ),
        {"first": None, "second": None, "check_time": 2.0},
        2.0,
    ),
]
