"""A workflow manager on a pool of machines, as Pegasus with HTCondor.

The manager submits a workflow, prepares its directory, stages files in, matches ready tasks with
free cores, stages files out and registers them. Jobs of the manager itself each take a constant
time; registrations are done one by one, as Pegasus does them by default.

    python scenarios/workflow_manager.py RUN.json...

predicts runs in WfFormat 1.0 to 1.6 with the values of calibration.toml and the number of machines
of each file. It prints makespans beside the measured ones and, where a file states dates of tasks,
the errors of their starts and ends.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np

from simplugin.core.errors import SimpluginError, WorkloadFileError
from simplugin.formats import read_task_graph
from simplugin.inputs.files import read_text
from simplugin.platforms import Disk, Host, Link, LinkUse, Platform, Route, Zone
from simplugin.scenarios import run_scenario
from simplugin.scenarios.loading import read_toml, scenario_from

SPEED = 1e9
OWN = ("create_dir", "stage_in", "stage_out", "stage_inter", "register", "clean_up", "cleanup")
# Where a file does not state them.
ONE_EACH = ("create_dir", "stage_in", "stage_out", "register")


def pool(machines=4, cores=48, bandwidth=125e6, disk=200e6):
    """Return a manager and machines; links and disks in byte/s."""
    hosts, links, routes = [Host("manager", SPEED)], [], []
    for number in range(machines):
        name = f"machine-{number}"
        hosts.append(Host(name, SPEED, cores, disks=(Disk("scratch", disk, disk),)))
        links.append(Link(f"link-{number}", bandwidth, 1e-4))
        routes.append(Route("manager", name, (LinkUse(f"link-{number}"),)))
    return Platform((Zone("pool", "Full", (*hosts, *links), tuple(routes)),))


@dataclass(frozen=True)
class Run:
    """A run in a file.

    Attributes
    ----------
    tasks : dict
        Of each task by name its runtime, parents, bytes of input and output, and text of its start.
    own : dict of str to int
        Number of jobs of the manager of each kind.
    machines, makespan
        Their number and the time [s]; None if they are not stated.
    assumed : list of str
        Notes on what the file does not state.
    """

    tasks: dict
    own: dict
    machines: int | None
    makespan: float | None
    assumed: list


def read(file):
    """Return the run in a file."""
    path = Path(__file__).parent / file
    graph = read_task_graph(path, speed=SPEED)
    document = json.loads(read_text(path, WorkloadFileError))
    workflow = document["workflow"]
    execution = workflow.get("execution", workflow)
    specified = workflow.get("specification", {})
    ran = execution.get("tasks") or execution.get("jobs")
    sizes = {each["id"]: each["sizeInBytes"] for each in specified.get("files", ())}
    written = {each["id"]: each.get("outputFiles", ()) for each in specified.get("tasks", ())}
    executed = {each["id" if specified else "name"]: each for each in ran}
    parents = {name: set() for name in graph.tasks}
    for source, target in graph.edges:
        parents[graph.tasks[target]].add(graph.tasks[source])
    tasks, own = {}, Counter()
    for name, byte in zip(graph.tasks, graph.byte, strict=True):
        task = executed[name]
        kind = next((each for each in OWN if name.startswith(each)), None)
        if kind:
            own[kind] += 1
        if kind or task.get("type", "compute") != "compute":
            continue
        output = sum(sizes[each] for each in written.get(name, ()))
        for each in task.get("files", ()):
            if each["link"].lower() == "output":
                output += each.get("sizeInBytes", each.get("size"))
        tasks[name] = {
            "runtime": task.get("runtimeInSeconds", task.get("runtime")),
            "input": float(byte),
            "output": output,
            "start": task.get("executedAt", task.get("startedAt")),
            "parents": parents[name],
        }
    for task in tasks.values():
        task["parents"] &= tasks.keys()
    assumed = [] if own else ["one job of the manager of each kind"]
    machines = len(execution.get("machines", ())) or None
    if machines is None:
        assumed.append("the machines of calibration.toml")
    system = (document.get("wms") or document.get("runtimeSystem") or {}).get("name", "Pegasus")
    if system.lower() != "pegasus":
        assumed.append(f"{system} works like Pegasus")
    makespan = float(execution.get("makespan", execution.get("makespanInSeconds", 0))) or None
    return Run(tasks, own or Counter(ONE_EACH), machines, makespan, assumed)


def fork_and_join():
    """Return the tasks of a small workflow."""
    middle = {f"part-{number}": {"split"} for number in range(20)}
    parents = {"split": set(), **middle, "join": set(middle)}
    small = {"runtime": 1.0, "input": 0, "output": 0}
    return {name: {**small, "parents": each} for name, each in parents.items()}


async def manager(me, file="", submission=0.0, local=15.9, delay=19.0):
    """Run a workflow; return the start and the end of each task.

    Parameters
    ----------
    file : str
        The workflow, relative to this module; empty for a small one.
    submission : float
        Time from the start to the first job [s].
    local : float
        Time of a job of the manager itself [s].
    delay : float
        Time from a ready task and a free core to the start of the task [s].
    """
    run = read(file) if file else Run(fork_and_join(), Counter(), None, None, [])
    left, own = dict(run.tasks), run.own
    # The directory, then all transfers at once.
    before, after = own["create_dir"] + (own["stage_in"] > 0), own["stage_out"] > 0
    await me.sleep_for(submission + local * before)
    dates, free = {}, {host: host.cores for host in me.hosts if host.name != "manager"}
    running = 0
    while left or running:
        for name in [name for name in left if left[name]["parents"] <= dates.keys()]:
            host = max(free, key=lambda each: free[each])
            if free[host]:
                free[host] -= 1
                running += 1
                me.spawn(job, left.pop(name), delay, host=host, name=name)
        name, host, *dates[name] = await me.mailbox("done").get()
        free[host] += 1
        running -= 1
    await me.sleep_for(local * (after + own["register"]))
    return dates


async def job(me, task, delay):
    """Wait, receive and write the files, compute, send files back with the dates."""
    await me.sleep_for(delay)
    await me.sendto("manager", me.host, task["input"])
    await me.host.disks[0].write(task["input"])
    start = me.now
    await me.execute(task["runtime"] * SPEED)
    done = (me.name, me.host, start, me.now)
    await me.mailbox("done").put(done, task["output"])


def date_errors(tasks, dates):
    """Return text on the dates of tasks, predicted beside measured; both from their first start.

    Mean absolute errors are relative to the span of the measured ones.
    """
    stated = {name: seconds(task["start"]) for name, task in tasks.items() if task["start"]}
    if len(stated) < 2:
        return "dates of tasks not stated"
    starts = np.array(list(stated.values()))
    measured = np.array([starts, starts + [tasks[each]["runtime"] for each in stated]])
    predicted = np.array([dates[each] for each in stated]).T
    measured, predicted = measured - starts.min(), predicted - predicted[0].min()
    errors = np.abs(predicted - measured).mean(axis=1) / measured.max()
    # Late, as it starts threads, with which a simulation has no branches.
    from scipy.stats import spearmanr

    rank = spearmanr(measured[0], predicted[0]).statistic
    return (
        f"{len(stated)} tasks: mean error of starts {errors[0]:.1%}, of ends {errors[1]:.1%}, "
        f"rank correlation of starts {rank:.2f}"
    )


def seconds(date):
    """Return a date in ISO 8601, or in the form of Pegasus' logs (``05-10-23T16:23:32Z``) [s]."""
    try:
        return datetime.fromisoformat(date).timestamp()
    except ValueError:
        return datetime.strptime(date, "%m-%d-%yT%H:%M:%S%z").timestamp()


def predict(path):
    """Return a run, its predicted makespan, and the predicted dates of its tasks."""
    place = Path(__file__).with_name("calibration.toml")
    document, _ = read_toml(place)
    run = read(path)
    if run.machines:
        document["platform"]["parameters"]["machines"] = run.machines
    document["workload"]["actors"][0]["args"]["file"] = str(path.resolve())
    outcome = run_scenario(scenario_from(document, place))
    return run, outcome.row["makespan"], outcome.result.value_of("manager")


def main(files):
    """Print predicted and measured makespans, and the errors of dates."""
    errors = []
    for file in files:
        try:
            run, makespan, dates = predict(Path(file))
            parts = [date_errors(run.tasks, dates), *(f"assumed: {each}" for each in run.assumed)]
        except SimpluginError as error:
            sys.exit(str(error))
        except ValueError as error:
            sys.exit(f"{file}: {error}")
        text = "not measured"
        if run.makespan:
            errors.append(makespan / run.makespan - 1)
            text = f"{errors[-1]:+.1%} of {run.makespan:g} s"
        print(f"{Path(file).name}: {makespan:.1f} s, {text}; {'; '.join(parts)}")
    if errors:
        sizes = np.abs(errors)
        print(f"error of makespans: mean {sizes.mean():.1%}, largest {sizes.max():.1%}")


if __name__ == "__main__":
    main(sys.argv[1:])
