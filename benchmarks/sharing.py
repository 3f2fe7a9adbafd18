"""Time that many concurrent transfers take: incremental sharing, and SimGrid's own solver.

Each cell is a process of its own in which one actor starts random transfers; what is timed begins
with the first of them and ends with the last. The dates of their ends are compared with those of
SimGrid's full updates where these are feasible.

    .venv/bin/python benchmarks/sharing.py [--quick] [--repeat N] [CASE ...]
"""

from __future__ import annotations

import argparse
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from simplugin import SimGridOptions, simulate

OPTIONS = {
    "incremental": SimGridOptions(),
    "Lazy": SimGridOptions(incremental=False),
    "Full": SimGridOptions(network_optim="Full"),
}
HEAD = "<?xml version='1.0'?><!DOCTYPE platform SYSTEM 'https://simgrid.org/simgrid.dtd'>"


def star(hosts):
    """Describe a cluster in which each host has two links."""
    return (
        f'<cluster id="cluster" prefix="h" suffix="" radical="0-{hosts - 1}" speed="1Gf"'
        ' bw="125MBps" lat="50us"/>'
    )


def backbone(hosts):
    """Describe a cluster with one more link that all routes cross."""
    return star(hosts).replace("/>", ' bb_bw="10GBps" bb_lat="50us"/>')


def tree(leaves, uplinks, hosts):
    """Describe a fat tree of two levels, with hosts / leaves hosts under each leaf switch."""
    each = hosts // leaves
    return star(hosts).replace(
        "/>", f' topology="FAT_TREE" topo_parameters="2;{each},{leaves};1,{uplinks};1,1"/>'
    )


def torus(hosts):
    """Describe a cube."""
    side = round(hosts ** (1 / 3))
    return star(hosts).replace("/>", f' topology="TORUS" topo_parameters="{side},{side},{side}"/>')


def dragonfly(hosts):
    """Describe eight groups of one chassis with eight routers."""
    each = hosts // 64
    return star(hosts).replace(
        "/>", f' topology="DRAGONFLY" topo_parameters="8,1;1,1;8,1;{each}"/>'
    )


# Cluster, its hosts, transfers, seconds within which they start, the most at a time (0: all).
CASES = {
    "star-1024": (star, 1024, 1024, 0.0, 0),
    "star-2048": (star, 2048, 2048, 0.0, 0),
    "star-4096": (star, 4096, 4096, 0.0, 0),
    "star-16384": (star, 16384, 16384, 0.0, 0),
    "backbone-2048": (backbone, 2048, 2048, 0.0, 0),
    "backbone-8192": (backbone, 8192, 8192, 0.0, 0),
    "torus-512": (torus, 512, 512, 1.0, 0),
    "dragonfly-512": (dragonfly, 512, 512, 1.0, 0),
    "tree-2500": (lambda n: tree(50, 13, n), 2500, 2500, 1.0, 0),
    "tree-10000": (lambda n: tree(100, 25, n), 10000, 10000, 1.0, 0),
    "tree-20000": (lambda n: tree(100, 100, n), 10000, 20000, 10.0, 0),
    "tree-50000": (lambda n: tree(100, 100, n), 10000, 50000, 25.0, 0),
    "few-2": (star, 64, 20000, 0.0, 2),
    "few-10": (star, 64, 20000, 0.0, 10),
    "few-50": (star, 64, 20000, 0.0, 50),
}
# SimGrid's own solver takes minutes and more for these.
LONG = {"star-16384", "backbone-8192", "tree-10000", "tree-20000", "tree-50000"}


async def transfers(me, plan, at_a_time):
    """Return the dates at which the transfers end, the seconds that it took, the memory [kB]."""
    began = time.perf_counter()
    dates = []
    if at_a_time:

        async def loop(me, mine):
            for _, source, destination, size in mine:
                await me.sendto(source, destination, size)
                dates.append(me.now)

        actors = [me.spawn(loop, plan[i::at_a_time]) for i in range(at_a_time)]
        for actor in actors:
            await actor.join()
    else:
        running = []
        for date, source, destination, size in plan:
            if date > me.now:
                await me.sleep_until(date)
            running.append(me.sendto_async(source, destination, size))
        await me.wait_all(running)
        dates = [each.finish_time for each in running]
    seconds = time.perf_counter() - began
    return dates, seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def measure(case, system, seed):
    """Return the seconds, the dates and the most memory [MB] of one cell."""
    make, hosts, count, within, at_a_time = CASES[case]
    random = np.random.default_rng(seed)
    ends = random.integers(hosts, size=(count, 2))
    ends[:, 1] = (ends[:, 0] + 1 + ends[:, 1] % (hosts - 1)) % hosts
    sizes = random.uniform(1e6, 1e8, count)
    starts = np.sort(random.uniform(0.0, within, count))
    plan = [
        (float(date), f"h{source}", f"h{destination}", float(size))
        for date, (source, destination), size in zip(starts, ends, sizes, strict=True)
    ]
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "platform.xml"
        path.write_text(
            f"{HEAD}<platform version='4.1'><zone id='all' routing='Full'>{make(hosts)}"
            "</zone></platform>"
        )
        actor = ("h0", transfers, plan, at_a_time)
        result = simulate(path, [actor], options=OPTIONS[system], trace=False)
    dates, seconds, memory = result.returned[0].value
    return seconds, np.array(dates), memory / 1e3


def main():
    """Print a row for each case."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(CASES))
    parser.add_argument("--quick", action="store_true", help="one round, no long cases")
    parser.add_argument("--repeat", type=int, default=3, help="rounds (3)")
    options = parser.parse_args()
    if unknown := [case for case in options.cases if case not in CASES]:
        sys.exit(f"no such case: {', '.join(unknown)}; choose from {', '.join(CASES)}")
    print("| case | ours [s] | Lazy [s] | Full [s] | Lazy / ours | differ by | ours [MB] | Lazy |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for case in options.cases or CASES:
        if options.quick and case in LONG:
            continue
        systems = [name for name in OPTIONS if case not in LONG or name == "incremental"]
        times = {name: [] for name in systems}
        memory = {name: [] for name in systems}
        differences = []
        for seed in range(1 if options.quick else options.repeat):
            dates = {}
            for name in systems:
                seconds, dates[name], most = measure(case, name, seed)
                times[name].append(seconds)
                memory[name].append(most)
            # Where an end starts the next transfer, all dates depend on the last bit of each:
            # SimGrid's own two ways to update differ as much.
            if "Full" in dates and not CASES[case][-1]:
                error = np.abs(dates["incremental"] / dates["Full"] - 1).max()
                differences.append(float(error))
        medians = {name: statistics.median(each) for name, each in times.items()}
        cells = [f"{medians[name]:.3f}" if name in medians else "" for name in OPTIONS]
        ratio = medians["Lazy"] / medians["incremental"] if "Lazy" in medians else None
        cells.append("" if ratio is None else f"{ratio:.3g}")
        cells.append(f"{max(differences):.0e}" if differences else "")
        cells += [
            f"{max(memory[name]):.0f}" if name in memory else "" for name in ("incremental", "Lazy")
        ]
        print(f"| {case} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
