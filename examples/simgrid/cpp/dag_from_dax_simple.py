"""A graph in a DAX file, whose tasks get hosts by name: SimGrid's ``dag-from-dax-simple``."""

from pathlib import Path
from xml.etree import ElementTree

from simplugin import simulate
from simplugin.simulation import Callbacks

SPEED = 4.2e9  # of the machine of which the file has the times [flop/s]
HOSTS = {"root": "Fafard", "1": "Tremblay", "2": "Jupiter", "3": "Jupiter", "end": "Jupiter"}


async def planner(me, file):
    adag = ElementTree.parse(file).getroot()
    jobs = {"root": me.exec_init(0, host=HOSTS["root"], label="root")}
    written, read, sizes = {}, {}, {}
    for job in adag.iterfind("{*}job"):
        number = job.get("id")
        flops = float(job.get("runtime")) * SPEED
        label = f"{number}@{job.get('name')}"
        jobs[number] = me.exec_init(flops, host=HOSTS[number], label=label)
        for uses in job.iterfind("{*}uses"):
            name = uses.get("file")
            (read if uses.get("link") == "input" else written)[name] = number
            sizes.setdefault(name, float(uses.get("size")))
    jobs["end"] = me.exec_init(0, host=HOSTS["end"], label="end")
    comms = []
    for name, size in sizes.items():
        # What nobody writes comes from the root, and what nobody reads goes to the end.
        source, destination = written.get(name, "root"), read.get(name, "end")
        label = f"{jobs[source].label}_{name}_{jobs[destination].label}"
        comm = me.sendto_init(HOSTS[source], HOSTS[destination], size, label=label)
        jobs[source].add_successor(comm)
        comm.add_successor(jobs[destination])
        comms.append(comm)
    for child in adag.iterfind("{*}child"):
        for parent in child.iterfind("{*}parent"):
            jobs[parent.get("ref")].add_successor(jobs[child.get("ref")])
    for activity in (*jobs.values(), *comms):
        activity.start()
    await jobs["end"]


def tell(done):
    print(
        f"[{done.end:.6f}] {done.kind.capitalize()} '{done.label}' is complete (start time:"
        f" {done.start:f}, finish time: {done.end:f})"
    )


def main(examples: Path, platform: str, file: str):
    callbacks = Callbacks(on_activity_completion=tell)
    simulate(platform, [("Tremblay", planner, file)], callbacks=callbacks)
