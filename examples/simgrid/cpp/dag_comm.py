"""Two executions and the transfer between them, assigned one by one: SimGrid's ``dag-comm``."""

from pathlib import Path

from simplugin import simulate
from simplugin.simulation import Callbacks


def tell_why_it_waits(me, kind, activity):
    places = [activity.host] if kind == "Execution" else [activity.source, activity.destination]
    dependencies = "NOT solved" if activity.dependencies else "solved"
    resources = "assigned" if all(places) else "NOT assigned"
    print(
        f"[{me.now:.6f}] {kind} '{activity.label}' vetoed. Dependencies: {dependencies};"
        f" Ressources: {resources}"
    )


async def planner(me):
    def tell(activity):
        if activity.state == "STARTING":
            tell_why_it_waits(
                me, "Communication" if activity is transfer else "Execution", activity
            )

    tremblay, jupiter = me.host_by_name("Tremblay"), me.host_by_name("Jupiter")
    parent = me.exec_init(tremblay.speed, label="parent")
    transfer = me.sendto_init(None, None, 125e6, label="transfer")
    child = me.exec_init(jupiter.speed, label="child")
    parent.host = child.host = None
    parent.add_successor(transfer)
    transfer.add_successor(child)
    for activity in (parent, transfer, child):
        activity.start()
        tell(activity)

    parent.host = tremblay
    transfer.source = tremblay
    tell(transfer)
    child.host = jupiter
    tell(child)
    transfer.destination = jupiter
    tell(transfer)
    await child


def tell_completion(completion):
    text = f"{completion.kind.capitalize()} '{completion.label}' is complete"
    if completion.kind == "exec":
        text += f" (start time: {completion.start:f}, finish time: {completion.end:f})"
    print(f"[{completion.end:.6f}] {text}")


def main(examples: Path, platform: str):
    result = simulate(
        platform,
        [("Tremblay", planner)],
        callbacks=Callbacks(on_activity_completion=tell_completion),
    )
    print(f"[{result.clock:.6f}] Simulation time {result.clock:g}")
