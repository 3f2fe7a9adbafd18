"""A graph in a DOT file, whose tasks get hosts in turn: SimGrid's ``dag-from-dot``."""

import re
from graphlib import CycleError, TopologicalSorter
from itertools import cycle
from pathlib import Path

from simplugin import simulate
from simplugin.formats import read_platform

STATEMENT = re.compile(r'(\w+)(?:->(\w+))? *(?:\[size="([^"]*)"[^]]*\])? *;')


def read_graph(file):
    """Return the tasks with their flops, and the edges with their sizes."""
    tasks, edges = {"root": 0.0}, {}
    for source, destination, size in STATEMENT.findall(file.read_text(encoding="utf-8")):
        if destination:
            edges[source, destination] = float(size or 0)
        else:
            tasks[source] = float(size)
    tasks["end"] = tasks.pop("end", 0.0)
    sources, destinations = ({edge[end] for edge in edges} for end in (0, 1))
    for task in tasks:
        if task not in destinations and task != "root":
            edges["root", task] = 0.0
        if task not in sources and task != "end":
            edges[task, "end"] = 0.0
    return tasks, edges


async def planner(me, tasks, edges):
    def tell(text):
        print(f"[{me.now:.6f}] {text}")

    execs = {name: me.exec_init(flops, label=name) for name, flops in tasks.items()}
    comms = {}
    for (source, destination), size in edges.items():
        if size > 0:
            comm = me.sendto_init(None, None, size, label=f"{source}->{destination}")
            execs[source].add_successor(comm)
            comm.add_successor(execs[destination])
            comms[source, destination] = comm
        else:
            execs[source].add_successor(execs[destination])
    for execution in execs.values():
        execution.host = None

    tell("--------- Display all activities of the loaded DAG -----------")
    for activity in (*list(execs.values())[:-1], *comms.values(), execs["end"]):
        is_comm = activity in comms.values()
        tell(
            f"'{activity.label}' is {'a Comm' if is_comm else 'an Exec'}:"
            f" {activity.remaining:.0f} {'bytes to transfer' if is_comm else 'flops to execute'}."
            f" Dependencies: {'NOT solved' if activity.dependencies else 'solved'};"
            f" Ressources: {'assigned' if activity.host or activity.source else 'NOT assigned'}"
        )

    tell("------------------- Schedule tasks ---------------------------")
    for execution, host in zip(execs.values(), cycle(me.hosts)):
        execution.host = host
    execs["end"].host = me.hosts[0]
    for (source, destination), comm in comms.items():
        comm.source, comm.destination = execs[source].host, execs[destination].host
    tell("------------------- Run the schedule -------------------------")
    await me.wait_all([*execs.values(), *comms.values()])

    tell("-------------- Summary of executed schedule ------------------")
    for activity in (*list(execs.values())[:-1], *comms.values(), execs["end"]):
        if activity in comms.values():
            what = f"transferred from {activity.source.name} to {activity.destination.name}"
        else:
            what = f"executed on {activity.host.name}"
        tell(f"[{activity.start_time:f}->{activity.finish_time:f}] '{activity.label}' {what}")


def main(examples: Path, platform: str, file: str):
    tasks, edges = read_graph(Path(file))
    sorter = TopologicalSorter()
    for source, destination in edges:
        sorter.add(destination, source)
    try:
        sorter.prepare()
    except CycleError:
        print(
            f"[0.000000] The DOT described in {Path(file).name} is not a DAG. It contains a cycle."
        )
        print("[0.000000] No dot loaded. Do you have a cycle in your graph?")
        return
    first = next(iter(read_platform(platform).host_names()))
    simulate(platform, [(first, planner, tasks, edges)])
