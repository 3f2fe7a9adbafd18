"""A workflow manager on a pool of machines, as Pegasus with HTCondor.

The manager submits a workflow, prepares its directory, stages files in, hands ready tasks to free
cores once a negotiation period, stages files out and registers them. Jobs of the manager itself
each take a constant time; registrations are done one by one, as Pegasus does them by default.

    python scenarios/workflow_manager.py RUN.json...

predicts makespans with the values of calibration.toml, beside the measured ones.
"""

from __future__ import annotations

import json
import lzma
import sys
from collections import Counter
from pathlib import Path

from simplugin.platforms import Disk, Host, Link, LinkUse, Platform, Route, Zone

SPEED = 1e9


def pool(machines=4, cores=48, bandwidth=125e6, disk=200e6):
    """Return a manager and machines; links and disks in byte/s."""
    hosts, links, routes = [Host("manager", SPEED)], [], []
    for number in range(machines):
        name = f"machine-{number}"
        hosts.append(Host(name, SPEED, cores, disks=(Disk("scratch", disk, disk),)))
        links.append(Link(f"link-{number}", bandwidth, 1e-4))
        routes.append(Route("manager", name, (LinkUse(f"link-{number}"),)))
    return Platform((Zone("pool", "Full", (*hosts, *links), tuple(routes)),))


def read(file):
    """Return the workflow in a file in WfFormat 1.0 to 1.4, which may be compressed (.xz)."""
    data = Path(__file__).parent.joinpath(file).read_bytes()
    return json.loads(lzma.decompress(data) if file.endswith(".xz") else data)["workflow"]


def tasks_of(file):
    """Return the tasks of a file by name; without a file those of a fork and join."""
    if file:
        return {task["name"]: task for task in read(file)["tasks"]}
    middle = [f"part-{number}" for number in range(20)]
    parents = {"split": [], **{name: ["split"] for name in middle}, "join": middle}
    compute = {"type": "compute", "runtime": 1.0, "files": []}
    return {name: {**compute, "parents": each} for name, each in parents.items()}


async def manager(me, file="", submission=0.0, local=15.9, period=20.6, overhead=0.5):
    """Run a workflow.

    Parameters
    ----------
    file : str
        The workflow, relative to this module; empty for a small one.
    submission : float
        Time from the start to the first job [s].
    local : float
        Time of a job of the manager itself [s].
    period : float
        Time between two negotiations [s].
    overhead : float
        Start of a task on its machine [s].
    """
    tasks = tasks_of(file)
    own = Counter(name.split("_")[0] for name, task in tasks.items() if task["type"] != "compute")
    await me.sleep_for(submission)
    # The directory, then all transfers at once.
    await me.sleep_for(local * (("create" in own) + ("stage" in own)))
    left = {name: task for name, task in tasks.items() if task["type"] == "compute"}
    parents = {name: set(task["parents"]) & left.keys() for name, task in left.items()}
    done, running = set(), {}
    machines = [host for host in me.hosts if host.name != "manager"]
    free = {host.name: host.cores for host in machines}
    while left or running:
        for name in [name for name in left if parents[name] <= done]:
            host = max(machines, key=lambda each: free[each.name])
            if free[host.name]:
                free[host.name] -= 1
                running[me.spawn(job, left.pop(name), overhead, host=host, name=name)] = host.name
        await me.sleep_for(period)
        for actor in [actor for actor in running if not actor.is_alive]:
            done.add(actor.name)
            free[running.pop(actor)] += 1
    if any(name.startswith("stage_out") for name in tasks):
        await me.sleep_for(local)
    await me.sleep_for(local * own["register"])


async def job(me, task, overhead):
    """Start, receive and write the files, compute, send files back."""
    size = Counter()
    for each in task["files"]:
        size[each["link"]] += each["size"]
    await me.sleep_for(overhead)
    await me.sendto("manager", me.host, size["input"])
    await me.host.disks[0].write(size["input"])
    await me.execute(task["runtime"] * SPEED)
    await me.sendto(me.host, "manager", size["output"])


def main(files):
    """Print predicted and measured makespans."""
    from simplugin.scenarios import run_scenario
    from simplugin.scenarios.loading import read_toml, scenario_from

    place = Path(__file__).with_name("calibration.toml")
    document, _ = read_toml(place)
    for file in files:
        path = str(Path(file).resolve())
        document["workload"]["actors"][0]["args"]["file"] = path
        predicted = run_scenario(scenario_from(document, place)).row["makespan"]
        measured = read(path).get("makespan")
        error = f"{predicted / measured - 1:+.1%} of {measured:g} s" if measured else "not measured"
        print(f"{Path(file).name}: {predicted:.1f} s, {error}")


if __name__ == "__main__":
    main(sys.argv[1:])
