"""An execution that starts after two others, once it has a host: SimGrid's ``exec-dependent``."""

from pathlib import Path

from simplugin import simulate


def tell_why_it_waits(me, execution):
    dependencies = "NOT solved" if execution.dependencies else "solved"
    resources = "assigned" if execution.host else "NOT assigned"
    me.log(
        f"Activity '{execution.label}' vetoed. Dependencies: {dependencies};"
        f" Ressources: {resources}"
    )


async def worker(me):
    flops = me.host.speed
    parents = [
        me.exec_init(flops, label="parent 1"),
        me.exec_init(2 * flops, label="parent 2"),
    ]
    child = me.exec_init(flops, label="child")
    child.host = None
    for parent in parents:
        parent.add_successor(child)
        parent.start()
    child.start()
    tell_why_it_waits(me, child)

    pending = [*parents, child]
    while pending:
        completed = await me.wait_any(pending)
        pending.remove(completed)
        if child.host is None and not child.dependencies:
            tell_why_it_waits(me, child)
            me.log("Activity child's dependencies are resolved. Let's assign it to Fafard.")
            child.host = "Fafard"
        me.log(f"Exec '{completed.label}' is complete")


def main(examples: Path, platform: str):
    result = simulate(platform, [("Fafard", worker)])
    print(f"[{result.clock:.6f}] Simulation time {result.clock:g}")
