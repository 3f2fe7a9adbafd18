"""An execution that gets its host when those before it are over: SimGrid's ``dag-simple``."""

from pathlib import Path

from simplugin import simulate
from simplugin.simulation import Callbacks


async def planner(me):
    def tell(text):
        print(f"[{me.now:.6f}] {text}")

    def tell_why_it_waits():
        tell(
            f"Execution '{child.label}' vetoed. Dependencies:"
            f" {'NOT solved' if child.dependencies else 'solved'}; Ressources:"
            f" {'assigned' if child.host else 'NOT assigned'}"
        )

    flops = me.host.speed
    parents = [me.exec_init(flops, label="parent 1"), me.exec_init(2 * flops, label="parent 2")]
    child = me.exec_init(flops, label="child")
    child.host = None
    for parent in parents:
        parent.add_successor(child)
        parent.start()
    child.start()
    tell_why_it_waits()

    while parents:
        parents.remove(await me.wait_any(parents))
        if child.dependencies:
            tell(f"Activity {child.label} not ready.")
    tell_why_it_waits()
    tell(f"Activity {child.label}'s dependencies are resolved. Let's assign it to Fafard.")
    child.host = me.host
    await child


def tell_completion(done):
    print(
        f"[{done.end:.6f}] Execution '{done.label}' is complete (start time: {done.start:f},"
        f" finish time: {done.end:f})"
    )


def main(examples: Path, platform: str):
    callbacks = Callbacks(on_activity_completion=tell_completion)
    result = simulate(platform, [("Fafard", planner)], callbacks=callbacks)
    print(f"[{result.clock:.6f}] Simulation time {result.clock:g}")
