"""Decentralised pricing at scale: a round of the pure iterations, the optimum, agents on SimGrid.

Ten applications with masters anywhere share a random recursive tree. Four parts, or those asked
for: time and memory of a round, beside what the bandwidth of the memory allows; the optimum beside
the market methods until every throughput is within 1e-6; how many rounds the pure market method
takes to 1 % as the platform grows; and agents on SimGrid, 20 rounds of the scaled rule, and of
markets as many as every throughput needs to be within 1 %. Each cell is a process of its own, and
medians are quoted.

    .venv/bin/python benchmarks/pricing.py [--quick] [--json] [--hosts N] [PART ...]
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

APPLICATIONS = 10
SEED = 1
PARTS = ("rounds", "optimum", "growth", "agents")
SIZES = {
    "rounds": (1_000, 10_000, 100_000, 1_000_000),
    "optimum": (100, 1_000, 10_000),
    "growth": (100, 1_000, 10_000, 100_000),
    "agents": (10, 100, 1_000, 10_000),
}
QUICK_SIZES = {
    "rounds": (1_000, 10_000, 100_000),
    "optimum": (100, 1_000),
    "growth": (100, 1_000, 10_000),
    "agents": (10, 100),
}
METHODS = ("scaled", "market")
# What a round must move per agent, if every array is read or written from memory once a sweep; a
# write counts twice, since the cache reads what it is to overwrite [byte]. An index has 4 bytes, a
# number 8.
#   scaled: up parent, flow; down four indices, count, computes, rate, memory, flow, eta.
#   market: markets 2 (bidder, application, request, metric, offer); up 2 requests, 2 offers, middle
#   twice, parent, share, slack, metric; down four indices, middle, slack, share, and of either
#   slot bound, metric, offer, offer before, request, paid.
#   change: of either slot three indices, bound, offer, nu, metric, request; then slack twice,
#   parent, 2 metrics, share.
LEAST_BYTES = {
    "scaled": (4 + 16) + (5 * 4 + 1 + 4 * 16),
    "market": 2 * 40 + (32 + 60) + (16 + 16 + 16 + 2 * (4 * 8 + 2 * 16)),
}
LEAST_BYTES["change"] = LEAST_BYTES["market"] + 2 * (12 + 24 + 32) + (24 + 4 + 8 + 16 + 16)
SCALED_ROUNDS = 20


def problem(hosts: int):
    """Return the graph, the applications, and what they share."""
    from simplugin.core.elementary import power
    from simplugin.platforms.topologies.random_graphs import random_graph
    from simplugin.pricing.deployment import deploy
    from simplugin.workloads import Application

    generator = np.random.default_rng(SEED)
    graph = random_graph("recursive", hosts, generator, decades=1.0)
    flop = power(10.0, generator.uniform(3, 4, APPLICATIONS))
    byte = flop * power(10.0, generator.uniform(-1, 0, APPLICATIONS))
    masters = generator.integers(hosts, size=APPLICATIONS)
    applications = [
        Application(f"a{k}", graph.hosts[masters[k]], flop=flop[k], byte=byte[k])
        for k in range(APPLICATIONS)
    ]
    return graph, applications, deploy(graph, applications)


def method_called(name: str):
    """Return an iteration."""
    from simplugin.pricing.methods import Gradient, Market

    return Gradient() if name == "scaled" else Market()


def peak_bytes() -> int:
    """Return the most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def bandwidth(threads: int, clock: Callable[[], float]) -> float:
    """Return what one core, or two, read and write in memory [byte/s], from numpy.add.

    A write counts twice here too: an addition moves 32 bytes a number.
    """
    n = 10_000_000 // threads
    arrays = [(np.ones(n), np.ones(n), np.zeros(n)) for _ in range(threads)]
    times = []
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(7):
            start = clock()
            list(pool.map(lambda each: np.add(each[0], each[1], out=each[2]), arrays))
            times.append(clock() - start)
    return 32 * n * threads / statistics.median(times)


# ---- rounds -------------------------------------------------------------------------------------


def round_cell(name: str, hosts: int, rounds: int) -> dict[str, float]:
    """Measure rounds, and the time and memory of the setup.

    Rounds with one thread are timed in processor time, so that others on the machine matter less;
    those with two by the clock. Rounds in which the metric of markets changes count by themselves.
    """
    from simplugin.pricing.policies.trees import trees_of
    from simplugin.workloads import AlphaFair

    start = time.perf_counter()
    _, _, sharing = problem(hosts)
    row = {
        "agents": sharing.n_agents,
        "setup_s": time.perf_counter() - start,
        "setup_peak_bytes": peak_bytes(),
    }
    utility, method = AlphaFair(), method_called(name)
    state, trees = method.start(sharing, utility), trees_of(sharing)
    for threads, clock in ((1, time.process_time), (2, time.perf_counter)):
        trees.threads = threads
        times: dict[str, list[float]] = {}
        for number in range(rounds):
            changes = state.number + 1 >= state.next_metric if name == "market" else False
            start = clock()
            state = method.round(sharing, utility, state)
            spent = clock() - start
            # Not the first, which gets its memory from the system.
            if number:
                times.setdefault("change" if changes else name, []).append(spent)
        speed = bandwidth(threads, clock)
        row[f"bandwidth_{threads}"] = speed
        for kind, spent in times.items():
            bound = LEAST_BYTES[kind] * sharing.n_agents / speed
            row[f"{kind}_{threads}_s"] = statistics.median(spent)
            row[f"{kind}_{threads}_over_bound"] = statistics.median(spent) / bound
    row["peak_bytes"] = peak_bytes()
    return row


# ---- the optimum --------------------------------------------------------------------------------


def settled_rounds(method, sharing, best, levels, rounds: int) -> list[int | None]:
    """Return after how many rounds every throughput is within each level for good."""
    from simplugin.pricing.iteration import iterate, settled, throughput_error
    from simplugin.workloads import AlphaFair

    trajectory = iterate(method, sharing, AlphaFair(), rounds, prices=False)
    error = throughput_error(trajectory, best)
    return [settled(error, level) for level in levels]


def optimum_cell(hosts: int, rounds: int) -> dict[str, float | None]:
    """Time the optimum, and the market methods until every throughput is within 1e-6 for good."""
    from simplugin.optimum.fair_sharing import fair_sharing
    from simplugin.pricing.methods import AcceleratedMarket, Market
    from simplugin.workloads import AlphaFair

    _, _, sharing = problem(hosts)
    start = time.perf_counter()
    best = fair_sharing(sharing)
    row: dict[str, float | None] = {
        "agents": sharing.n_agents,
        "optimum_s": time.perf_counter() - start,
        "optimum_gap": best.gap,
        "optimum_peak_bytes": peak_bytes(),
    }
    utility = AlphaFair()
    for name, method in (
        ("market_numpy", Market()),
        ("accelerated_numpy", AcceleratedMarket()),
    ):
        found = settled_rounds(method, sharing, best.throughput, (1e-2, 1e-6), rounds)
        row[f"{name}_rounds_1e-2"], row[f"{name}_rounds_1e-6"] = found
        if found[1] is None:
            row[f"{name}_s"] = None
            continue
        start = time.perf_counter()
        state = method.start(sharing, utility)
        for _ in range(found[1]):
            state = method.round(sharing, utility, state)
        row[f"{name}_s"] = time.perf_counter() - start
    return row


# ---- growth -------------------------------------------------------------------------------------


def certified_gap(sharing, throughput, host_price, link_price) -> float:
    """Return how much better an application could be in the mean, by weak duality [log]."""
    from simplugin.pricing.policies.gradient import task_price

    price = np.full(sharing.n_applications, np.inf)
    able = sharing.computes
    cost = task_price(sharing, host_price, link_price)
    np.minimum.at(price, sharing.application[able], cost[able])
    worth = sharing.speed @ host_price + sharing.bandwidth @ link_price
    bound = worth - sharing.n_applications - np.log(price).sum()
    return float(bound - np.log(throughput).sum()) / sharing.n_applications


def growth_cell(hosts: int, rounds: int) -> dict[str, float | None]:
    """Count the rounds of the pure market method to 1 % of where it ends, which is certified."""
    from simplugin.pricing.iteration import iterate, settled, throughput_error
    from simplugin.pricing.methods import Market
    from simplugin.workloads import AlphaFair

    _, _, sharing = problem(hosts)
    done = iterate(Market(), sharing, AlphaFair(), rounds, prices=False)
    best = done.throughput[-1]
    return {
        "agents": sharing.n_agents,
        "depth": int(sharing.depth.max()),
        "rounds_1e-2": settled(throughput_error(done, best), 1e-2),
        "last_gap": certified_gap(sharing, best, done.host_price[-1], done.link_price[-1]),
        "last_overload": float(done.overload[-1]),
    }


# ---- agents on SimGrid --------------------------------------------------------------------------


def agents_cell(name: str, hosts: int, rounds: int) -> dict[str, float | None]:
    """Let agents negotiate on SimGrid: the scaled rule for some rounds, markets up to 1 %.

    The pure iteration tells how many these are; the simulation must give its throughputs. It runs
    in this process, for the time and memory.
    """
    from simplugin.pricing import negotiate
    from simplugin.pricing.iteration import iterate, settled, throughput_error
    from simplugin.workloads import AlphaFair

    graph, _, sharing = problem(hosts)
    utility, method, needed = AlphaFair(), method_called(name), SCALED_ROUNDS
    pure = iterate(method, sharing, utility, rounds if name == "market" else needed, prices=False)
    if name == "market":
        found = settled(throughput_error(pure, pure.throughput[-1]), 1e-2)
        if found is None:
            return {"agents": sharing.n_agents, "rounds": None}
        needed = found
    start, used = time.perf_counter(), time.process_time()
    trajectory = negotiate(graph, sharing, method, needed, utility, debug=True).trajectory
    wall, used = time.perf_counter() - start, time.process_time() - used
    if not np.allclose(trajectory.throughput, pure.throughput[: needed + 1], rtol=1e-9, atol=0):
        raise SystemExit(f"{hosts} hosts, {name}: the simulation differs from the pure iteration")
    each = sharing.n_agents * needed / 1e6
    return {
        "agents": sharing.n_agents,
        "depth": int(sharing.depth.max()),
        "rounds": needed,
        "simulated_s": float(trajectory.date[needed]),
        "bytes_per_host": trajectory.bytes_sent / hosts,
        "wall_s": wall,
        "us_a_round_and_agent": wall / each,
        "processor_us": used / each,
        "peak_bytes": peak_bytes(),
    }


# ---- all cells ----------------------------------------------------------------------------------


def cell(part: str, hosts: int, rounds: int, name: str = "-") -> dict[str, float | None]:
    """Run a cell in a process of its own."""
    command = [sys.executable, __file__, "--cell", part, str(hosts), str(rounds), name]
    outcome = subprocess.run(command, capture_output=True, text=True)
    if outcome.returncode:
        raise SystemExit(f"{part}, {hosts} hosts, {name}:\n{outcome.stderr}")
    return json.loads(outcome.stdout.splitlines()[-1])


def measure(part: str, hosts: int, quick: bool) -> dict[str, dict[str, float | None]]:
    """Measure one size; return a row a method."""
    if part == "rounds":
        rounds = 6 if quick else 20
        return {name: cell(part, hosts, rounds, name) for name in METHODS}
    if part == "agents":
        return {name: cell(part, hosts, 1000, name) for name in METHODS}
    # Where it grows, enough for a certificate.
    return {"market": cell(part, hosts, 300 if part == "growth" else 1000)}


def show(results: dict[str, dict[str, dict[str, dict[str, float | None]]]]) -> None:
    """Print a table a part."""
    for part, sizes in results.items():
        print(f"\n{part}")
        for hosts, rows in sizes.items():
            for name, row in rows.items():
                cells = (
                    f"{key}={value if value is None else format(value, '.4g')}"
                    for key, value in row.items()
                )
                print(f"{hosts:>8} {name:>7}  " + "  ".join(cells), flush=True)


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; all without")
    parser.add_argument("--quick", action="store_true", help="small sizes, under 50 s")
    parser.add_argument("--json", action="store_true", help="print one JSON line last")
    parser.add_argument("--hosts", type=int, help="one size in place of several")
    parser.add_argument("--cell", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.cell:
        part, hosts, rounds, name = arguments.cell
        size = int(hosts), int(rounds)
        of_methods = {"rounds": round_cell, "agents": agents_cell}
        of_markets = {"optimum": optimum_cell, "growth": growth_cell}
        named = part in of_methods
        print(json.dumps(of_methods[part](name, *size) if named else of_markets[part](*size)))
        return
    results = {}
    for part in arguments.parts or PARTS:
        if part not in PARTS:
            parser.error(f"there is no part {part!r}; give {', '.join(PARTS)}")
        sizes = (QUICK_SIZES if arguments.quick else SIZES)[part]
        sizes = (arguments.hosts,) if arguments.hosts else sizes
        results[part] = {str(hosts): measure(part, hosts, arguments.quick) for hosts in sizes}
        show({part: results[part]})
    if arguments.json:
        print(json.dumps(results))


if __name__ == "__main__":
    main()
