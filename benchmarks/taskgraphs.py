"""Task graphs: decisions and simulations per second, and where the time goes.

`decisions`: shares, allocation and mapping of ten graphs of 50 tasks on Rennes (229 processors) by
strategy, compiled and in plain Python (`taskgraphs_plain.py`) in turn; both must give the same
schedules. `larger`: a hundred graphs, and 2,000 processors. `simulations`: the same graphs executed
on SimGrid, and how much of it is SimGrid. `single`: graphs of 10,000 tasks by SCRAP-MAX and HEFT, a
narrow one executed on line, and a scenario of one graph of 1,000 tasks. `arrays`: to start a
redistribution whose sizes are an array, or lists. Medians over rounds, in seconds of processor time
unless it says otherwise.

    .venv/bin/python benchmarks/taskgraphs.py [--quick] [--json] [decisions] [larger]
        [simulations] [single] [arrays]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
import taskgraphs_plain as plain
from bags import Here, peak_memory

from simplugin.formats.platform_xml import write_platform
from simplugin.platforms.sites import SUBSETS, MultiCluster
from simplugin.simulation import SimGridOptions
from simplugin.simulation.placement import Placement
from simplugin.simulation.process.server_client import server_processes
from simplugin.taskgraphs import execution
from simplugin.taskgraphs.policies.allocation import scrap_max
from simplugin.taskgraphs.policies.mapping import plan
from simplugin.taskgraphs.policies.shipped import POLICIES
from simplugin.taskgraphs.policies.single_processors import heft
from simplugin.taskgraphs.timing import redistribution
from simplugin.workloads.daggen import daggen
from simplugin.workloads.task_costs import CostLaw
from simplugin.workloads.task_graphs import GraphSet

PARTS = ("decisions", "larger", "simulations", "single", "arrays")
SEED, TASKS = 6774, 50
RENNES = SUBSETS["rennes"]
LARGE = MultiCluster("large", tuple((f"c{k}", 500, (3.0 + 0.5 * k) * 1e9) for k in range(4)))
STRATEGIES = ("s", "es", "ps_width", "ps_work", "wps_width", "balanced")
# What is planned by hundreds of mappings is not done in plain Python too.
PLANNED = ("balanced",)
WIDTHS, SCENARIOS = (0.2, 0.5, 0.8), ("mixed", "linear", "log", "power")


def look() -> float:
    """Return what it takes to look at the clock [s]."""
    begin = time.process_time()
    for _ in range(1000):
        time.process_time()
    return (time.process_time() - begin) / 1000


LOOK = look()


def problem(count: int) -> GraphSet:
    """Return so many graphs of 50 tasks, shaped as those of the paper's campaign."""
    rng = np.random.default_rng(SEED)
    return GraphSet(
        tuple(
            daggen(
                TASKS,
                rng,
                width=float(rng.choice(WIDTHS)),
                regularity=float(rng.choice((0.2, 0.8))),
                density=float(rng.choice((0.2, 0.8))),
                jump=int(rng.choice((1, 2, 4))),
                costs=CostLaw(SCENARIOS[number % len(SCENARIOS)]),
                name=f"graph {number}",
            )
            for number in range(count)
        )
    )


def size(graphs: GraphSet) -> str:
    """Say how large it is."""
    return f"{graphs.n_graphs} graphs, {graphs.n_tasks} tasks, {len(graphs.edges)} edges"


def allocated(graphs: GraphSet, site, shares):
    """Return the allocations under some shares."""
    return [
        scrap_max(*each) for each in zip(graphs.graphs, [site] * len(shares), shares, strict=True)
    ]


def timed(function, repeats: int = 1):
    """Return the processor time of a call [s], and what it returned."""
    begin = time.process_time()
    for _ in range(repeats):
        found = function()
    return (time.process_time() - begin) / repeats, found


def forked(function):
    """Return what a function returns in a process of its own, as JSON gives it back."""
    reading, writing = os.pipe()
    if not os.fork():
        try:
            os.write(writing, json.dumps(function()).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        answer = pipe.read()
    os.wait()
    return json.loads(answer)


def medians(rows: list[dict[str, float]]) -> dict[str, float]:
    """Return the median of each column."""
    return {name: statistics.median(row[name] for row in rows) for name in rows[0]}


# ---- decisions ----------------------------------------------------------------------------------


def decide(strategy: str, graphs: GraphSet, site, beside: bool) -> dict[str, float]:
    """Share, allocate and map, compiled and in plain Python if asked; compare."""
    policy = POLICIES[strategy]
    repeats = 1 if strategy in PLANNED else 10
    sharing, shares = timed(lambda: policy(graphs.graphs, site), repeats)
    shares = shares.tolist()
    allocation, allocations = timed(lambda: allocated(graphs, site, shares), repeats)
    mapping, schedule = timed(lambda: plan(graphs, allocations, site), repeats)
    row = {"shares": sharing, "allocation": allocation, "mapping": mapping}
    row["per_second"] = 1 / (sharing + allocation + mapping)
    if not beside:
        return row
    pairs = list(zip(graphs.graphs, shares, strict=True))
    row["plain_allocation"], found = timed(
        lambda: [plain.scrap_max(graph, site, share) for graph, share in pairs]
    )
    row["plain_mapping"], places = timed(lambda: plain.Mapping(graphs, found, site).run())
    check_same(schedule, places)
    row["ratio"] = (row["plain_allocation"] + row["plain_mapping"]) / (allocation + mapping)
    return row


def check_same(schedule, places) -> None:
    """Refuse schedules that differ."""
    for task, (cluster, processors, start, finish) in places.items():
        ours = (
            schedule.cluster[task],
            schedule.processors_of(task).tolist(),
            schedule.start[task],
            schedule.finish[task],
        )
        if ours != (cluster, processors, start, finish):
            raise SystemExit(f"task {task}: compiled {ours}, plain {places[task]}")


def decisions(rounds: int):
    """Compare strategies on ten graphs."""
    graphs, site = problem(10), RENNES.site()
    found = {name: [] for name in STRATEGIES}
    for _ in range(rounds):
        for name, rows in found.items():
            rows.append(decide(name, graphs, site, name not in PLANNED))
    result = {name: medians(rows) for name, rows in found.items()}
    print(f"\nDecisions: {size(graphs)}, {site.n_processors} processors [ms]")
    columns = ("shares", "allocation", "mapping", "plain_allocation", "plain_mapping")
    print(f"{'':>10} " + " ".join(f"{each:>16}" for each in (*columns, "ratio", "per_second")))
    for name, row in result.items():
        cells = [f"{row[each] * 1e3:16.2f}" if each in row else f"{'-':>16}" for each in columns]
        cells += [f"{row['ratio']:16.0f}" if "ratio" in row else f"{'-':>16}"]
        print(f"{name:>10} " + " ".join([*cells, f"{row['per_second']:16.0f}"]))
    return result


# ---- simulations --------------------------------------------------------------------------------


class Parts:
    """Executes in this process, and tells the time of the conductor from that of SimGrid."""

    def __init__(self) -> None:
        self.here, self.found = Here(), Counter()

    def simulate(self, platform, placements, *, options, trace):
        """Do what `simulate` does."""
        ((host, function, orders),) = placements
        timing = Placement(host, self.timing, (function, orders))
        return self.here(platform, [timing], options=options, trace=trace)

    async def timing(self, me, function, orders):
        """Run the conductor step by step."""
        return await Steps(function(Starter(me, self.found), orders), self.found)


class Steps:
    """Counts the time between two waits."""

    def __init__(self, steps, found) -> None:
        self.steps, self.found = steps.__await__(), found

    def __await__(self):
        """Go on."""
        while True:
            begin = time.process_time()
            try:
                waits = self.steps.send(None)
            except StopIteration as end:
                return end.value
            finally:
                self.found["conductor"] += time.process_time() - begin - LOOK
                self.found["looks"] += 2
            yield waits


class Starter:
    """The actor, which counts the time that SimGrid takes to start something."""

    def __init__(self, me, found) -> None:
        self.me, self.found = me, found

    def __getattr__(self, name):
        """Leave all else to the actor."""
        return getattr(self.me, name)

    def parallel_async(self, *args, **keywords):
        """Start a parallel task."""
        begin = time.process_time()
        found = self.me.parallel_async(*args, **keywords)
        self.found["starting"] += time.process_time() - begin - LOOK
        self.found["conductor"] -= 2 * LOOK
        self.found["looks"] += 2
        return found


def inside(graphs, site, allocations, mode: str, file: str) -> dict[str, float]:
    """Execute in this process; return where the time went [s]."""
    parts = Parts()
    execution.simulate = parts.simulate
    decisions = allocations if mode == "online" else plan(graphs, allocations, site)
    done = execution.execute(graphs, site, decisions, platform=file)
    starting, deciding = parts.found["starting"], parts.found["conductor"] - parts.found["starting"]
    return {
        "loading": parts.here.loading,
        "running": parts.here.running - LOOK * parts.found["looks"],
        "starting": starting,
        "conductor": deciding,
        "makespan": done.makespan,
        "peak": peak_memory(),
    }


def server_time() -> float:
    """Return the processor time of all simulations that are over, and of what starts them [s]."""
    (process,) = server_processes()
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def outside(graphs, site, allocations, mode: str, platform, count: int) -> dict[str, float]:
    """Execute as anybody does, several times; return processor and real time of each [s]."""
    decisions = allocations if mode == "online" else plan(graphs, allocations, site)
    execution.execute(graphs, site, decisions, platform=platform)
    before, begin, clock = server_time(), time.process_time(), time.perf_counter()
    for _ in range(count):
        execution.execute(graphs, site, decisions, platform=platform)
    clock = (time.perf_counter() - clock) / count
    caller = (time.process_time() - begin) / count
    return {"caller": caller, "simulation": (server_time() - before) / count, "clock": clock}


def simulations(rounds: int):
    """Execute ten graphs, on line and as planned."""
    graphs, site = problem(10), RENNES.site()
    allocations = allocated(graphs, site, POLICIES["wps_width"](graphs.graphs, site).tolist())
    result = {}
    with tempfile.TemporaryDirectory() as directory:
        file = str(Path(directory) / "platform.xml")
        write_platform(RENNES.platform(), file)
        cases = [(graphs, site, allocations, mode, file) for mode in ("online", "planned")]
        rows = {mode: [] for *_, mode, _ in cases}
        for _ in range(rounds):
            for case in cases:
                rows[case[3]].append(forked(lambda case=case: inside(*case)))
        for case in cases:
            result[case[3]] = medians(rows[case[3]]) | outside(*case, count=10 * rounds)
    print(
        f"\nSimulations: {size(graphs)}, WPS-width [ms]; simgrid is running but for the conductor,"
    )
    print("and what starting activities takes, which the conductor asks for")
    for mode, row in result.items():
        row["simgrid"] = row["running"] - row["conductor"] + row["starting"]
        row["per_second"] = 1 / (row["caller"] + row["simulation"])
        print(f"{mode:>8}: {row['per_second']:.1f} a second of processor time")
        columns = ("caller", "simulation", "loading", "conductor", "starting", "running", "simgrid")
        print(" " * 10 + ", ".join(f"{each} {row[each] * 1e3:.1f}" for each in columns))
    return result


def larger(rounds: int):
    """Map and execute more graphs, and on more processors."""
    result = {}
    print("\nLarger, WPS-width [ms]")
    with tempfile.TemporaryDirectory() as directory:
        for count, place in ((10, RENNES), (100, RENNES), (10, LARGE)):
            graphs, site = problem(count), place.site()
            rows = [decide("wps_width", graphs, site, False) for _ in range(rounds)]
            allocations = allocated(
                graphs, site, POLICIES["wps_width"](graphs.graphs, site).tolist()
            )
            file = str(Path(directory) / f"{place.name}.xml")
            write_platform(place.platform(), file)
            runs = [
                forked(lambda case=(graphs, site, allocations, "online", file): inside(*case))
                for _ in range(rounds)
            ]
            row = medians(rows) | medians(runs)
            result[f"{count} graphs, {site.n_processors} processors"] = row
            print(
                f"{count:4d} graphs, {site.n_processors:5,} processors:"
                f" shares {row['shares'] * 1e3:.2f}, allocation {row['allocation'] * 1e3:.2f},"
                f" mapping {row['mapping'] * 1e3:.2f}; simulation {row['running'] * 1e3:.0f},"
                f" of which conductor {row['conductor'] * 1e3:.0f}, starting activities"
                f" {row['starting'] * 1e3:.0f}; {row['peak'] / 1e6:.0f} MB at most"
            )
    return result


# ---- single graphs ------------------------------------------------------------------------------

# By daggen's width, density: 101 levels and 247,000 edges, or 1,820 levels and 11,000 edges.
SHAPES = {"wide": (0.5, 0.5), "narrow": (0.2, 0.2), "chain": (0.01, 0.2)}
ALONE = """
[platform]
generator = "grid5000_subset"
parameters = { site = "rennes" }

[workload]
kind = "taskgraphs"

[[workload.graphs]]
generator = "daggen"
parameters = { n_tasks = 1000, width = 0.2, density = 0.2 }

[scheduler]
name = "taskgraphs.s"
"""


def one(shape: str, tasks: int) -> GraphSet:
    """Return one large graph."""
    width, density = SHAPES[shape]
    drawn = daggen(tasks, np.random.default_rng(SEED), width=width, density=density, name=shape)
    return GraphSet((drawn,))


def planned(shape: str, tasks: int) -> dict[str, float]:
    """Return the time to allocate and to schedule a graph [s], and the memory [byte]."""
    graphs, site = one(shape, tasks), RENNES.site()
    row = {"edges": len(graphs.edges)}
    for share in (0.5, 1.0):
        row[f"scrap_max {share}"], _ = timed(lambda share=share: allocated(graphs, site, [share]))
    row["heft"], _ = timed(lambda: heft(graphs, site))
    return row | {"peak": peak_memory()}


def executed(shape: str, tasks: int, file: str) -> dict[str, float]:
    """Return the time to execute a graph on line [s], and the memory [byte]."""
    graphs, site = one(shape, tasks), RENNES.site()
    allocations = allocated(graphs, site, [0.5])
    took, row = timed(lambda: inside(graphs, site, allocations, "online", file))
    return row | {"total": took}


def scenario(file: str) -> dict[str, float]:
    """Return the processor time of a scenario [s], start included, and the memory [byte]."""
    command = [str(Path(sys.executable).with_name("simplugin")), "run", file]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=Path(file).parent)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"total": used.ru_utime + used.ru_stime, "peak": 1024 * used.ru_maxrss}


def single(rounds: int):
    """Schedule and execute one large graph."""
    tasks, result = 10_000, {}
    print(f"\nOne graph of {tasks:,} tasks [s]")
    for shape in SHAPES:
        row = medians([forked(lambda shape=shape: planned(shape, tasks)) for _ in range(rounds)])
        result[shape] = row
        cells = ", ".join(
            f"{name} {row[name]:.2f}" for name in row if name not in ("edges", "peak")
        )
        print(f"{shape:>8}, {row['edges']:,.0f} edges: {cells}; {row['peak'] / 1e6:.0f} MB")
    with tempfile.TemporaryDirectory() as directory:
        platform, written = (Path(directory) / name for name in ("platform.xml", "alone.toml"))
        write_platform(RENNES.platform(), str(platform))
        written.write_text(ALONE)
        cases = {
            "narrow, on line": lambda: executed("narrow", tasks, str(platform)),
            "scenario of 1,000 tasks": lambda: scenario(str(written)),
        }
        for name, case in cases.items():
            row = result[name] = medians([forked(case) for _ in range(rounds)])
            print(f"{name}: {row['total']:.2f}; {row['peak'] / 1e6:.0f} MB at most")
    return result


# ---- arrays -------------------------------------------------------------------------------------


async def starts(me, names, sides):
    """Start redistributions again and again; return how long each takes [s]."""
    hosts = [me.host_by_name(name) for name in names]
    found = {}
    for side in sides:
        numbers, sizes = redistribution(1e8, range(side), range(side, 2 * side))
        chosen = [hosts[number] for number in numbers.tolist()]
        took = {}
        for kind, given in (("array", sizes), ("lists", sizes.tolist())):
            best = []
            for _ in range(5):
                begin = time.perf_counter()
                activity = me.parallel_async(chosen, None, given)
                best.append(time.perf_counter() - begin)
                activity.cancel()
            took[kind] = min(best)
        found[str(side)] = took
    return found


def arrays(rounds: int):
    """Compare sizes in arrays and in lists."""
    from simplugin.simulation import simulate

    site, sides = RENNES.site(), (4, 16, 64, 114)
    options = SimGridOptions(host_model="ptask_L07")
    rows = []
    for _ in range(rounds):
        placed = [(site.names[0], starts, site.names, sides)]
        rows.append(simulate(RENNES.platform(), placed, options=options).returned[0].value)
    result = {side: medians([row[side] for row in rows]) for side in rows[0]}
    print("\nStart of a redistribution between as many processors on either side [us]")
    for side, row in result.items():
        print(f"{side:>8}: array {row['array'] * 1e6:.0f}, lists {row['lists'] * 1e6:.0f}")
    return result


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="part", help=f"some of {', '.join(PARTS)}")
    parser.add_argument("--quick", action="store_true", help="one round, under 50 s")
    parser.add_argument("--json", action="store_true", help="print one JSON line last")
    arguments = parser.parse_args()
    if unknown := set(arguments.parts) - set(PARTS):
        parser.error(f"there is no part {unknown.pop()!r}; choose from {', '.join(PARTS)}")
    functions = {
        "decisions": decisions,
        "larger": larger,
        "simulations": simulations,
        "single": single,
        "arrays": arrays,
    }
    rounds = 1 if arguments.quick else 5
    results = {name: functions[name](rounds) for name in arguments.parts or PARTS}
    if arguments.json:
        print(json.dumps(results))


if __name__ == "__main__":
    main()
