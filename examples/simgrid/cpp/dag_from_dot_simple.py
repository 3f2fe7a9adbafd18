"""A graph in a DOT file, whose tasks get hosts by name: SimGrid's ``dag-from-dot-simple``."""

import re
from pathlib import Path

from simplugin import simulate
from simplugin.simulation import Callbacks

STATEMENT = re.compile(r'(\w+)(?:->(\w+))? *(?:\[size="([^"]*)"\])? *;')
HOSTS = {"root": "Fafard", "c1": "Tremblay", "c2": "Jupiter", "c3": "Jupiter", "end": "Jupiter"}


async def planner(me, file):
    def task(name):
        if name not in graph:
            graph[name] = me.exec_init(0, host=HOSTS[name], label=name)
        return graph[name]

    graph = {}
    for source, destination, size in STATEMENT.findall(Path(file).read_text(encoding="utf-8")):
        if not destination:
            graph[source] = me.exec_init(float(size), host=HOSTS[source], label=source)
        elif float(size) <= 0:
            task(source).add_successor(task(destination))
        else:
            name = f"{source}->{destination}"
            ends = HOSTS[source], HOSTS[destination]
            graph[name] = me.sendto_init(*ends, float(size), label=name)
            task(source).add_successor(graph[name])
            graph[name].add_successor(task(destination))
    for activity in graph.values():
        activity.start()
    await graph["end"]


def tell(done):
    kind, where = "Exec", f"on {done.resource}"
    if done.kind == "comm":
        source, destination = done.resource.split("->")
        kind, where = "Comm", f"from {source} to {destination}"
    print(
        f"[{done.end:.6f}] {kind} '{done.label}' {where} is complete (start time:"
        f" {done.start:f}, finish time: {done.end:f})"
    )


def main(examples: Path, platform: str, file: str):
    callbacks = Callbacks(on_activity_completion=tell)
    simulate(platform, [("Tremblay", planner, file)], callbacks=callbacks)
