"""Batch jobs: instances with known schedules, and times of execution.

.venv/bin/python benchmarks/jobs.py instances DIRECTORY --json OUT
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from simplugin.jobs import POLICIES, JobConditions, QueueScheduler, execute, measures, node_text
from simplugin.platforms import Cluster, Platform, Zone
from simplugin.workloads.batch_jobs import (
    AmdahlWork,
    Computation,
    Delay,
    Job,
    JobLog,
    Messages,
    ParallelWork,
    Phases,
)
from simplugin.workloads.job_logs import trace_jobs
from simplugin.workloads.lublin import lublin


def log_of(instance: dict[str, Any]) -> JobLog:
    """Return the jobs of an instance."""
    return JobLog(tuple(map(job_of, instance["jobs"])))


def job_of(entry: dict[str, Any]) -> Job:
    """Return a job of an instance of any kind."""
    if "work" in entry:
        least, most = entry["min"], entry["max"]
        return Job(
            id=str(entry["id"]),
            submit=entry["submit"],
            size=least,
            kind=entry["kind"],
            least=least,
            most=most,
            work=AmdahlWork(entry["work"], entry["serial"], entry["data"]),
            walltime=entry.get("walltime"),
        )
    if "phases" in entry:
        work: Any = Phases(tuple(map(phase_of, entry["phases"])))
    else:
        work = Delay(entry["runtime"])
    return Job(
        id=str(entry["id"]),
        submit=entry["submit"],
        size=entry["size"],
        work=work,
        walltime=entry.get("walltime"),
    )


def phase_of(phase: dict[str, Any]) -> Any:
    """Return a phase: computing, messages, or both as a parallel task."""
    if list(phase) == ["compute"]:
        return Computation(as_values(phase["compute"]))
    if list(phase) == ["messages"]:
        return Messages(tuple(map(tuple, phase["messages"])))
    # The amounts of a parallel task are in it, or in a table of its own.
    given = next((each for each in phase.values() if isinstance(each, dict)), phase)
    flop, byte = (
        next((as_values(given[name]) for name in names if name in given), 0.0)
        for names in (("flop", "flops", "compute"), ("byte", "bytes"))
    )
    return ParallelWork(flop, byte)


def as_values(given: Any) -> float | tuple[float, ...]:
    """Return a number, or the numbers of a list or matrix."""
    if not isinstance(given, list):
        return float(given)
    return tuple(float(each) for row in given for each in (row if isinstance(row, list) else [row]))


def platform_of(described: dict[str, Any]) -> Platform:
    """Return the platform of an instance with messages."""
    cluster = Cluster(
        "cluster",
        f"0-{described['nodes'] - 1}",
        described["speed"],
        described["link"],
        0.0,
        prefix="node-",
        backbone_bandwidth=described.get("backbone"),
    )
    return Platform((Zone("all", "Full", (cluster,)),))


def results_of(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the results of an instance under each of its policies."""
    instance = json.loads(path.read_text())
    log = log_of(instance)
    if "policies" in instance:
        runs = {
            name: (QueueScheduler(**options, name=name), {"n_nodes": instance["nodes"]})
            for name, options in instance["policies"].items()
        }
    elif "platform" in instance:
        runs = {"fcfs": (POLICIES["fcfs"](), {"platform": platform_of(instance["platform"])})}
    else:
        conditions = JobConditions(bandwidth=instance["bandwidth"])
        policy = instance["policy"]
        given = {"n_nodes": instance["nodes"], "conditions": conditions}
        runs = {policy: (POLICIES[policy](), given)}
    for name, (policy, given) in runs.items():
        done = execute(log, policy, **given)
        jobs = []
        for number, job in enumerate(instance["jobs"]):
            ran = done.state[number] != "rejected"
            row = {
                "id": job["id"],
                "start": float(done.start[number]) if ran else None,
                "end": float(done.end[number]) if ran else None,
                "state": done.state[number],
                "nodes": node_text(done.nodes[number]),
            }
            if instance["kind"] == "malleable":
                whole = [(row["start"], done.nodes[number].bit_count())] if ran else []
                row["steps"] = [list(step) for step in done.steps[number] or whole]
            jobs.append(row)
        yield {
            "instance": instance["name"],
            "policy": name,
            "jobs": jobs,
            "metrics": measures(done),
        }


def drawn_log(n_jobs: int, overestimate: float) -> JobLog:
    """Return jobs of Lublin's model on 256 nodes."""
    return trace_jobs(lublin(n_jobs, 256, seed=1, overestimate=overestimate))


def speed(counts: list[int], policies: list[str], overestimate: float) -> None:
    """Print times of executions in a process that has started, and how they grow."""
    execute(drawn_log(10, 0.0), POLICIES["fcfs"]())
    print(f"{'policy':14}" + "".join(f"{count:>12,}" for count in counts) + "  [s]")
    for name in policies:
        times = []
        for count in counts:
            log = drawn_log(count, overestimate)
            start = time.perf_counter()
            execute(log, POLICIES[name]())
            times.append(time.perf_counter() - start)
        print(f"{name:14}" + "".join(f"{each:12.2f}" for each in times), flush=True)


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True, dest="command")
    instances = commands.add_parser("instances", help="execute instances")
    instances.add_argument("directory", type=Path)
    instances.add_argument("--json", type=Path, required=True)
    timed = commands.add_parser("speed", help="measure times")
    timed.add_argument("--jobs", type=int, nargs="+", default=[801, 10_000, 20_000])
    timed.add_argument("--overestimate", type=float, default=0.0, help="see lublin()")
    timed.add_argument("--policies", nargs="+", default=["fcfs", "easy", "conservative"])
    arguments = parser.parse_args()
    if arguments.command == "speed":
        speed(arguments.jobs, arguments.policies, arguments.overestimate)
        return
    paths = sorted(arguments.directory.glob("*.json"))
    results = [
        result
        for path in paths
        if not path.name.endswith(".expected.json")
        for result in results_of(path)
    ]
    arguments.json.write_text(json.dumps({"system": "simplugin", "results": results}))


if __name__ == "__main__":
    main()
