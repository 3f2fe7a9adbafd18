"""A graph in a DAX file, whose tasks get hosts in turn: SimGrid's ``dag-from-dax``."""

from collections import defaultdict
from graphlib import CycleError, TopologicalSorter
from itertools import cycle
from pathlib import Path
from xml.etree import ElementTree

from simplugin import simulate
from simplugin.formats import read_platform

SPEED = 4.2e9  # of the machine of which the file has the times [flop/s]


def read_graph(file):
    """Return jobs with labels and flops, files with sizes and both ends, and dependencies."""
    adag = ElementTree.parse(file).getroot()
    jobs, sizes, ends = {"root": ("root", 0.0)}, {}, defaultdict(list)
    for job in adag.iterfind("{*}job"):
        number = job.get("id")
        jobs[number] = f"{number}@{job.get('name')}", float(job.get("runtime")) * SPEED
        for uses in job.iterfind("{*}uses"):
            name = uses.get("file")
            ends[name, uses.get("link")].append(number)
            sizes.setdefault(name, float(uses.get("size")))
    jobs["end"] = "end", 0.0
    # What nobody writes comes from the root, and what nobody reads goes to the end.
    files = [
        (name, size, source, destination)
        for name, size in sorted(sizes.items())
        for source in ends.get((name, "output"), ["root"])
        for destination in ends.get((name, "input"), ["end"])
    ]
    dependencies = [
        (parent.get("ref"), child.get("ref"))
        for child in adag.iterfind("{*}child")
        for parent in child.iterfind("{*}parent")
    ]
    return jobs, files, dependencies


async def planner(me, jobs, files, dependencies):
    def tell(text):
        print(f"[{me.now:.6f}] {text}")

    execs = {name: me.exec_init(flops, label=label) for name, (label, flops) in jobs.items()}
    comms = {}
    for name, size, source, destination in files:
        label = f"{jobs[source][0]}_{name}_{jobs[destination][0]}"
        comm = me.sendto_init(None, None, size, label=label)
        execs[source].add_successor(comm)
        comm.add_successor(execs[destination])
        comms[comm] = source, destination
    for parent, child in dependencies:
        execs[parent].add_successor(execs[child])
    for execution in execs.values():
        execution.host = None
    *first, end = execs.values()
    activities = [*first, *comms, end]

    tell("--------- Display all activities of the loaded DAG -----------")
    for activity in activities:
        kind, unit = "an Exec", "flops to execute"
        if activity in comms:
            kind, unit = "a Comm", "bytes to transfer"
        tell(
            f"'{activity.label}' is {kind}: {activity.remaining:.0f} {unit}. Dependencies:"
            f" {'NOT solved' if activity.dependencies else 'solved'}; Ressources:"
            f" {'assigned' if activity.host or activity.source else 'NOT assigned'}"
        )
    tell("------------------- Schedule tasks ---------------------------")
    for execution, host in zip(first, cycle(me.hosts), strict=False):
        execution.host = host
    end.host = me.hosts[0]
    for comm, (source, destination) in comms.items():
        comm.source, comm.destination = execs[source].host, execs[destination].host
    tell("------------------- Run the schedule -------------------------")
    await me.wait_all(activities)

    tell("-------------- Summary of executed schedule ------------------")
    for activity in activities:
        if activity in comms:
            what = f"transferred from {activity.source.name} to {activity.destination.name}"
        else:
            what = f"executed on {activity.host.name}"
        tell(f"[{activity.start_time:f}->{activity.finish_time:f}] '{activity.label}' {what}")


def main(examples: Path, platform: str, file: str):
    jobs, files, dependencies = read_graph(file)
    sorter = TopologicalSorter()
    for source, destination in [*(ends for _, _, *ends in files), *dependencies]:
        sorter.add(destination, source)
    try:
        sorter.prepare()
    except CycleError:
        name = Path(file).name
        print(f"[0.000000] The DAX described in {name} is not a DAG. It contains a cycle.")
        print(
            "[0.000000] A problem occurred during DAX parsing (cycle or syntax). Do not continue"
            " this test"
        )
        return
    first = next(iter(read_platform(platform).host_names()))
    simulate(platform, [(first, planner, jobs, files, dependencies)])
