"""Bags of tasks on large trees: processor time and memory of each policy, beside C++ actors.

Every node of a random tree is the actors of `simplugin.bags.actors`; ten tasks a node start at the
root. Two further cases are a `star` of 1,000 children with 4,000 tasks, and 50 `applications` of
200 tasks each on a random tree of 100 nodes. Beside them a C++ program with as many actors and the
same rules does first come, first
served; both must end the same tasks on the same dates. Each cell is a process of its own, the
systems take turns, and medians are quoted. Planning (a linear program, a negotiation) is told
apart from execution.

    .venv/bin/python benchmarks/bags.py [--quick] [--json] [--sizes 1000 star] [--policies fcfs]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from compiled import compiled_program

from simplugin.bags.policies.shipped import POLICIES

CPP = "fcfs in C++"
SIZES, QUICK_SIZES = ("100", "1000", "10000"), ("100", "1000")
STAR, APPLICATIONS = "star", "applications"
MAX_DEGREE, SEED, TASKS_PER_NODE, BUFFER = 15, 1, 10, 10
FLOP = 2 * 3500.0**3
RATIOS = (0.001, 0.01)
# Of the star [flop/s, byte/s], and the paper's ratios, from which 50 applications are drawn.
SPEEDS, BANDWIDTHS, PAPER_RATIOS = (2e7, 1.5e9), (1.1e5, 7e6), (0.002, 4.6)
# A cell that takes longer than this has no figure [s].
LIMIT, QUICK_LIMIT = 1200.0, 20.0
# SimGrid's completions are exact to precision/timing, 1e-9 s, each; dates add up.
TOLERANCE = 1e-6


def problem(size: str):
    """Return the tree and the bags of a number of nodes, or of a case with a name."""
    from simplugin.platforms.topologies.random_graphs import random_tree
    from simplugin.workloads.applications import Bags

    rng = np.random.default_rng(SEED)
    if size == STAR:
        tree = random_tree(2, 1, rng)
        children = 1000
        tree = replace(
            tree,
            hosts=("root", *(f"child-{number}" for number in range(children))),
            parent=np.append(-1, np.zeros(children, dtype=int)),
            speed=rng.uniform(*SPEEDS, 1 + children),
            bandwidth=np.append(np.inf, rng.uniform(*BANDWIDTHS, children)),
            latency=np.zeros(1 + children),
        )
        return tree, Bags(("light", "heavy"), FLOP, np.array(RATIOS) * FLOP, 1.0, 2000)
    if size == APPLICATIONS:
        tree = random_tree(100, MAX_DEGREE, rng)
        names = tuple(f"application {number}" for number in range(50))
        byte = FLOP * np.exp(rng.uniform(*np.log(PAPER_RATIOS), len(names)))
        return tree, Bags(names, FLOP, byte, 1.0, 200)
    hosts = int(size)
    tree = random_tree(hosts, MAX_DEGREE, rng)
    byte = np.array(RATIOS) * FLOP
    tasks = TASKS_PER_NODE * hosts // len(RATIOS)
    return tree, Bags(("light", "heavy"), FLOP, byte, 1.0, tasks)


def write_problem(size: str, directory: Path) -> None:
    """Write the platform that all systems load, and what the C++ program reads beside it."""
    from simplugin.formats.platform_xml import write_platform

    tree, bags = problem(size)
    write_platform(tree.platform(), str(directory / "platform.xml"))
    lines = [f"{tree.n_hosts} {bags.n_applications} {BUFFER}"]
    columns = (bags.flop, bags.byte, bags.weight, bags.count)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    lines += [" ".join(map(repr, row)) for row in rows]
    nodes = zip(tree.hosts, tree.parent.tolist(), tree.speed.tolist(), strict=True)
    lines += [f"{name} {parent} {speed!r}" for name, parent, speed in nodes]
    (directory / "problem.txt").write_text("\n".join(lines) + "\n")


# ---- a cell of ours -----------------------------------------------------------------------------


class Here:
    """Simulates in this process, without the journey to a child, and keeps the time."""

    def __init__(self) -> None:
        self.loading = self.running = 0.0
        self.started = 0.0

    def __call__(self, platform, placements, *, options, trace):
        """Do what `simulate` does."""
        from simplugin.simulation.coroutines import CoroutinesBackEnd
        from simplugin.simulation.protocol import ActorJob
        from simplugin.simulation.result import Result, Returned

        arguments = ["--log=root.thres:warning", *options.arguments()]
        back_end = CoroutinesBackEnd(arguments, trace_limit=2**40 * trace, energy=False, seed=0)
        begin = time.process_time()
        back_end.load_platform(str(platform))
        self.started = time.process_time()
        self.loading = self.started - begin
        for each in placements:
            name = each.actor_name
            back_end.spawn(
                ActorJob(each.function, each.args, each.host, name, 0.0, None, False, False, {})
            )
        back_end.run(None, None)
        self.running = time.process_time() - self.started
        found = back_end.collect()
        return Result(
            found["clock"],
            tuple(Returned(*each) for each in found["returned"]),
            found["hosts"],
            found["links"],
            found["trace"],
            {},
        )


class Timed:
    """A planner that notes when the last of the nodes got its plan."""

    def __init__(self, planner) -> None:
        self.planner, self.last = planner, 0.0

    async def __call__(self, me, place, known):
        """Plan."""
        plan = await self.planner(me, place, known)
        self.last = time.process_time()
        return plan


def run_cell(policy: str, size: str, directory: Path) -> dict[str, float]:
    """Plan and execute; return what it took, and write when tasks ended."""
    from simplugin.bags import execution

    tree, bags = problem(size)
    maker = POLICIES[policy]
    # Loads what it loads late.
    maker(*problem("2"))
    begin = time.process_time()
    made = maker(tree, bags)
    planning = time.process_time() - begin
    planner = None if made.planner is None else Timed(made.planner)
    here = execution.simulate = Here()
    done = execution.execute(
        tree, bags, replace(made, planner=planner), execution.BagConditions(buffer=BUFFER),
        platform=directory / "platform.xml",
    )  # fmt: skip
    running = here.running
    if planner is not None:
        planning += planner.last - here.started
        running -= planner.last - here.started
    with (directory / "ours.txt").open("w") as out:
        for application, dates in enumerate(done.completion):
            out.writelines(f"{application} {date!r}\n" for date in dates.tolist())
    return {
        "planning": planning,
        "loading": here.loading,
        "seconds": running,
        "makespan": max(float(dates[-1]) for dates in done.completion if len(dates)),
        "tasks": sum(map(len, done.completion)),
        "peak": peak_memory(),
    }


def peak_memory() -> int:
    """Return what this process itself used at most [byte]; rusage would count its parent's too."""
    status = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))


# ---- all cells ----------------------------------------------------------------------------------


def cell(system: str, size: str, directory: Path, program: Path, limit: float):
    """Run one cell in a process of its own; return its figures, or why there are none."""
    if system == CPP:
        # Small stacks, since to clear them takes most of its time otherwise (they have room for
        # this program), and without guard pages, since the kernel has too few memory maps.
        options = ["contexts/factory:raw", "contexts/stack-size:16", "contexts/guard-size:0"]
        options += ["network/model:CM02", "network/crosstraffic:no", "network/TCP-gamma:0"]
        files = [directory / name for name in ("platform.xml", "problem.txt", "cpp.txt")]
        command = [program, *(f"--cfg={each}" for each in options), "--log=root.thres:warning"]
        command += files
    else:
        command = [sys.executable, __file__, "--cell", system, size, directory]
    try:
        outcome = subprocess.run(command, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return f"not over after {limit:g} s"
    if outcome.returncode != 0:
        lines = [line for line in outcome.stderr.splitlines() if "WARNING" not in line]
        return ([f"exit {outcome.returncode}", *filter(None, lines)])[-1][:200]
    if system != CPP:
        return json.loads(outcome.stdout.splitlines()[-1])
    loading, seconds, clock, tasks, peak = map(float, outcome.stdout.split())
    return {
        "planning": 0.0, "loading": loading, "seconds": seconds, "makespan": clock,
        "tasks": int(tasks), "peak": peak * 1024,
    }  # fmt: skip


def farthest(directory: Path) -> float:
    """Return by how much, relatively, dates differ between fcfs in Python and in C++."""
    ours, theirs = (np.loadtxt(directory / f"{name}.txt") for name in ("ours", "cpp"))
    if ours.shape != theirs.shape:
        raise SystemExit(f"fcfs: {len(ours)} tasks ended in Python, {len(theirs)} in C++")
    ours, theirs = (each[np.lexsort(each.T[::-1])] for each in (ours, theirs))
    if np.any(ours[:, 0] != theirs[:, 0]):
        raise SystemExit("fcfs: the applications did not end as many tasks in Python as in C++")
    return float(np.max(np.abs(ours[:, 1] / theirs[:, 1] - 1)))


def measure(size: str, policies, repeats: int, limit: float, program: Path):
    """Measure all systems in turn on one tree; return the medians."""
    found: dict[str, list] = {system: [] for system in (CPP, *policies)}
    reasons: dict[str, str] = {}
    apart = None
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        write_problem(size, directory)
        for _ in range(repeats):
            for system in found:
                outcome = reasons.get(system) or cell(system, size, directory, program, limit)
                if isinstance(outcome, str):
                    reasons[system] = outcome
                    continue
                found[system].append(outcome)
                if system == "fcfs" and found[CPP]:
                    apart = max(apart or 0.0, farthest(directory))
                    if apart > TOLERANCE:
                        raise SystemExit(f"fcfs, {size}: dates differ by {apart:.1e}")
    rows = {system: summary(cells, found[CPP]) for system, cells in found.items()}
    return {"systems": rows, "reasons": reasons, "dates_apart": apart}


def summary(cells: list[dict[str, float]], beside: list[dict[str, float]]):
    """Return medians over the rounds, and of the ratios to C++ in the same round."""
    if not cells:
        return None
    middle = {name: statistics.median(each[name] for each in cells) for name in cells[0]}
    ratios = [a["seconds"] / b["seconds"] for a, b in zip(cells, beside, strict=False)]
    return {
        "microseconds_per_task": middle["seconds"] / middle["tasks"] * 1e6,
        "to_cpp": statistics.median(ratios) if ratios else None,
        "peak_bytes": middle["peak"],
        "planning_seconds": middle["planning"],
        "loading_seconds": middle["loading"],
        "makespan": middle["makespan"],
        "tasks": middle["tasks"],
    }


def show(size: str, result) -> None:
    """Print a table."""
    tasks = max((row["tasks"] for row in result["systems"].values() if row), default=0)
    print(f"\n{size}{' nodes' * size.isdigit()}, {tasks:,.0f} tasks")
    head = ("us/task", "/ C++", "peak GB", "plan s", "load s", "simulated Ms")
    print(f"{'':>14} " + " ".join(f"{each:>12}" for each in head))
    for system, row in result["systems"].items():
        if row is None:
            print(f"{system:>14} {result['reasons'][system]}")
            continue
        ratio = f"{row['to_cpp']:12.2f}" if row["to_cpp"] else f"{'-':>12}"
        print(
            f"{system:>14} {row['microseconds_per_task']:12.0f} {ratio}"
            f" {row['peak_bytes'] / 1e9:12.2f} {row['planning_seconds']:12.3f}"
            f" {row['loading_seconds']:12.2f} {row['makespan'] / 1e6:12.4f}"
        )
    if result["dates_apart"] is not None:
        print(f"{'':>14} dates of fcfs in Python and in C++ differ by {result['dates_apart']:.1e}")


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one short round, under 50 s")
    parser.add_argument("--json", action="store_true", help="print one JSON line last")
    parser.add_argument(
        "--sizes", nargs="+", help=f"numbers of nodes, {STAR!r} or {APPLICATIONS!r}"
    )
    parser.add_argument("--policies", nargs="+", choices=POLICIES, default=list(POLICIES))
    parser.add_argument("--repeats", type=int, help="rounds; 3 without, 1 if quick")
    parser.add_argument("--cell", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.cell:
        policy, size, directory = arguments.cell
        print(json.dumps(run_cell(policy, size, Path(directory))), flush=True)
        os._exit(0)
    program = compiled_program("bags_fcfs")
    results = {}
    for size in arguments.sizes or (QUICK_SIZES if arguments.quick else SIZES):
        repeats = arguments.repeats or (1 if arguments.quick else 3)
        limit = QUICK_LIMIT if arguments.quick else LIMIT
        results[size] = measure(size, arguments.policies, repeats, limit, program)
        show(size, results[size])
    if arguments.json:
        print(json.dumps(results))


if __name__ == "__main__":
    main()
