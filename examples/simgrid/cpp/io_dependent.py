"""Executions, a write and a read, one after the other: SimGrid's ``io-dependent``."""

from itertools import pairwise
from pathlib import Path

from simplugin import simulate


async def bob(me):
    remote = me.host_by_name("carl").disks
    pending = [
        me.exec_init(1e9, label="bob compute"),
        me.host.disks[0].write_init(4e6, label="bob write"),
        remote[0].read_init(4e6, label="carl read"),
        me.exec_init(1e9, host="carl", label="carl compute"),
    ]
    for activity, successor in pairwise(pending):
        activity.add_successor(successor)
    for activity in pending:
        activity.start()
    while pending:
        completed = await me.wait_any(pending)
        pending.remove(completed)
        me.log(f"Activity '{completed.label}' is complete")


def main(examples: Path, platform: str):
    result = simulate(platform, [("bob", bob)])
    print(f"[{result.clock:.6f}] Simulation time {result.clock:g}")
