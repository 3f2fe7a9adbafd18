"""Ends of simulations: deadlocks, exceptions, limits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from conformance import ada, attempt, bob, cyd, returns, scenario, sleep

# ---- deadlocks ----------------------------------------------------------------------------------


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


for until in (None, 10.0):
    scenario(
        f"deadlock_{until}",
        ada(get_for_ever, 1.5),
        bob(lock_for_ever),
        bob(wait_at_a_barrier, name="one"),
        cyd(wait_at_a_barrier, name="two"),
        cyd(suspend_oneself, 1.5),
        cyd(sleep, 2.5),
        wrong={
            "error": "DeadlockError",
            "clock": 2.5,
            "blocked": [
                (*actor, Path(__file__).name)
                for actor in (
                    ("get_for_ever", "ada", 1.5, "get 'nobody writes'"),
                    ("lock_for_ever", "bob", 0.0, "lock"),
                    ("one", "bob", 0.0, "barrier 'start'"),
                    ("two", "cyd", 0.0, "barrier 'start'"),
                    ("suspend_oneself", "cyd", 1.5, "to be resumed"),
                )
            ],
        },
        until=until,
    )


async def clean_up_at_the_end(me: Any) -> None:
    try:
        await me.sleep_for(100)
    finally:
        me.properties["end"] = str(me.now)


scenario(
    "several_daemons",
    ada(clean_up_at_the_end, name="first", daemon=True),
    bob(clean_up_at_the_end, name="second", daemon=True),
    bob(attempt, lambda me: me.mailbox("requests").get(), daemon=True),
    cyd(sleep, 2, gives=2.0),
    clock=2.0,
)

# ---- exceptions ---------------------------------------------------------------------------------


async def fail(me: Any, delay: float) -> None:
    await me.sleep_for(delay)
    raise KeyError("missing")


async def fail_in_a_child(me: Any) -> None:
    await me.spawn(fail, 1.5, name="child", host="bob").join()


async def fail_at_exit(me: Any) -> None:
    me.on_exit(lambda failed: {}[failed])
    await me.sleep_for(1.5)


for role, culprit, cause in (
    (ada(fail, 1.5), ("fail", "ada"), "KeyError('missing')"),
    (ada(fail_in_a_child), ("child", "bob"), "KeyError('missing')"),
    (ada(fail_at_exit), ("fail_at_exit", "ada"), "KeyError(False)"),
):
    scenario(
        f"exception_of_{culprit[0]}",
        role,
        bob(sleep, 100),
        wrong={"error": "ActorError", "clock": 1.5, "actor": culprit, "cause": cause},
    )


@returns([2.0])
async def handled(me: Any) -> list[Any]:
    try:
        await fail(me, 1)
    except KeyError:
        await me.sleep_for(1)
    return [me.now]


# ---- limits -------------------------------------------------------------------------------------

for name, late in (
    ("sleep", ada(sleep, 100)),
    ("start", ada(sleep, 1, start_time=20.0)),
    ("deadlock", ada(get_for_ever, 1.5)),
):
    scenario(
        f"limit_before_{name}",
        late,
        bob(sleep, 30.0, name="other"),
        wrong={"error": "SimulatedTimeLimitError", "clock": 4.5, "limit": 4.5},
        until=4.5,
    )
for limit in (4.5, 100.0):
    scenario(f"end_before_{limit}", ada(sleep, 4.5, gives=4.5), clock=4.5, until=limit)
