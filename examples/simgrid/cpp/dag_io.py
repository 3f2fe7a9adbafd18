"""Executions on two hosts, with a write and a read in between: SimGrid's ``dag-io``."""

from itertools import pairwise
from pathlib import Path

from simplugin import simulate
from simplugin.simulation import Callbacks


async def planner(me):
    bob, carl = me.host, me.host_by_name("carl")
    graph = {
        me.exec_init(bob.speed, host=bob, label="parent"): "Exec",
        bob.disks[0].write_init(1e9, label="write"): "Io",
        carl.disks[0].read_init(1e9, label="read"): "Io",
        me.exec_init(carl.speed, host=carl, label="child"): "Exec",
    }
    for activity, successor in pairwise(graph):
        activity.add_successor(successor)
    for activity, kind in graph.items():
        activity.start()
        if activity.state == "STARTING":
            place = activity.host if kind == "Exec" else activity.disk
            print(
                f"[{me.now:.6f}] {kind} '{activity.label}' vetoed. Dependencies:"
                f" {'NOT solved' if activity.dependencies else 'solved'}; Ressources:"
                f" {'assigned' if place else 'NOT assigned'}"
            )
    await me.wait_all(list(graph))


def tell(done):
    if done.kind == "exec":
        print(
            f"[{done.end:.6f}] Exec '{done.label}' is complete (start time: {done.start:f},"
            f" finish time: {done.end:f})"
        )


def main(examples: Path, platform: str):
    callbacks = Callbacks(on_activity_completion=tell)
    result = simulate(platform, [("bob", planner)], callbacks=callbacks)
    print(f"[{result.clock:.6f}] Simulation time {result.clock:g}")
