"""A small graph of executions and a transfer: SimGrid's ``dag-tuto``."""

from pathlib import Path

from simplugin import simulate
from simplugin.simulation import Callbacks


async def planner(me):
    c1 = me.exec_init(1e9, host="Tremblay", label="c1")
    c2 = me.exec_init(5e9, host="Jupiter", label="c2")
    c3 = me.exec_init(2e9, host="Jupiter", label="c3")
    t1 = me.sendto_init("Tremblay", "Jupiter", 5e8, label="t1")
    c1.add_successor(t1)
    t1.add_successor(c3)
    c2.add_successor(c3)
    for activity in (c1, t1, c2, c3):
        activity.start()
    await c3


def tell(done):
    print(
        f"[{done.end:.6f}] {done.kind.capitalize()} '{done.label}' is complete (start time:"
        f" {done.start:f}, finish time: {done.end:f})"
    )


def main(examples: Path, platform: str):
    callbacks = Callbacks(on_activity_completion=tell)
    simulate(platform, [("Tremblay", planner)], callbacks=callbacks)
