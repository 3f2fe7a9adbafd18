"""A graph of executions and transfers in a file: SimGrid's ``dag-from-json-simple``."""

import json
from pathlib import Path

from simplugin import simulate
from simplugin.simulation import Callbacks


async def planner(me, file):
    tasks = json.loads(Path(file).read_text(encoding="utf-8"))["workflow"]["tasks"]
    machines = {task["name"]: task["machine"] for task in tasks}
    graph = {}
    for task in tasks:
        name, machine, parents = task["name"], task["machine"], task["parents"]
        if task["type"] == "compute":
            graph[name] = me.exec_init(task["runtimeInSeconds"], host=machine, label=name)
        else:
            source = machines[parents[0]]
            graph[name] = me.sendto_init(source, machine, task["writtenBytes"], label=name)
    for task in tasks:
        for parent in task["parents"]:
            graph[parent].add_successor(graph[task["name"]])
    for activity in graph.values():
        activity.start()
    await me.wait_all(list(graph.values()))


def tell(done):
    print(
        f"[{done.end:.6f}] {done.kind.capitalize()} '{done.label}' is complete (start time:"
        f" {done.start:f}, finish time: {done.end:f})"
    )


def main(examples: Path, platform: str, file: str):
    callbacks = Callbacks(on_activity_completion=tell)
    simulate(platform, [("Tremblay", planner, file)], callbacks=callbacks)
