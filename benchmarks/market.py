"""Bundles: how long the exact assignment of tasks takes, and beside it other ways to one.

`exact`: a hundred to a million peers, with a thousand times as many tasks; of each assignment it is
checked that some price clears the market. Beside it, in turn, numpy's sort of as many values as are
looked at one by one at most: four a peer. `discounts`: 10,000 peers and 10^7 tasks at several
discount rates, without and with caps. `beside`: a heap in plain Python that hands out tasks one by
one, and ISGBMAT as repaired, in turn, on sizes that they can bear; all must come to the same
benefit. `relaxation`: cvxpy's program beside the closed form. `front`: all points of completion
time against benefit. Medians over rounds, in seconds of processor time.

    .venv/bin/python benchmarks/market.py [--quick] [--json] [exact] [discounts] [beside]
        [relaxation] [front]
"""

from __future__ import annotations

import argparse
import heapq
import json
import statistics
import time

import numpy as np

from simplugin.market.model import HOUR
from simplugin.market.policies.isgbmat import run_isgbmat
from simplugin.optimum.bundle_benefit import largest_benefit
from simplugin.optimum.models import bundle_benefit, divided_benefit
from simplugin.papers.zheng.balance import is_supported
from simplugin.papers.zheng.divided_bundles import continuous_optimum
from simplugin.papers.zheng.trade_offs import front as whole_front
from simplugin.workloads.bundle_markets import BundleMarket, largest_share

PARTS = ("exact", "discounts", "beside", "relaxation", "front")
SEED, ALPHA, EACH = 2011, 0.01, 1000
# Median time of a task [s] and the standard deviation of times' logarithms.
TIME, SPREAD = 40.0, 0.5
EXACT = (100, 1_000, 10_000, 100_000, 1_000_000)
HEADLINE = 10_000
RATES = (1e-6, 1e-4, 1e-2, 0.5, 0.9)
BESIDE = ((12, 1_000), (100, 10_000), (1_000, 100_000), (1_000, 1_000_000))
# Passes of ISGBMAT grow with the tasks.
ISGBMAT_MOST = 100_000
RELAXED = (12, 100, 1_000)
# Columns of the program over tasks at most.
PROGRAM_MOST = 2_000_000


def times(n_peers: int):
    """Return how long a task takes on each peer [s]."""
    return TIME * np.exp(SPREAD * np.random.default_rng(SEED).standard_normal(n_peers))


def problem(n_peers: int, m: int, alpha: float = ALPHA, factor: float | None = None):
    """Return the arguments of a market, with N_max a multiple of the mean share if asked for."""
    caps = m if factor is None else largest_share(m, n_peers, factor)
    return HOUR / times(n_peers), m, caps, 1 - alpha


def timed(function, *arguments):
    """Return the processor time of a call [s], and what it returned."""
    begin = time.process_time()
    found = function(*arguments)
    return time.process_time() - begin, found


def median(function, rounds: int, *arguments):
    """Return the median time of several calls [s], and what the last one returned."""
    took = []
    for _ in range(rounds):
        seconds, found = timed(function, *arguments)
        took.append(seconds)
    return statistics.median(took), found


def solved(rounds: int, arguments) -> dict[str, float]:
    """Time the exact assignment, and check it."""
    several = np.random.default_rng(SEED).random(4 * len(arguments[0]))
    took, sorts = [], []
    for _ in range(rounds):
        seconds, best = timed(largest_benefit, *arguments)
        took.append(seconds)
        sorts.append(timed(np.sort, several)[0])
    seconds, sort = statistics.median(took), statistics.median(sorts)
    if not is_supported(BundleMarket(*arguments), best.amounts):
        raise SystemExit(f"no price clears the assignment of {arguments[1]} tasks")
    return {
        "seconds": seconds,
        "sort": sort,
        "ratio": seconds / sort,
        "tasks_per_second": arguments[1] / seconds,
        "active": int(np.count_nonzero(best.amounts)),
        "largest": int(best.amounts.max()),
    }


def exact(rounds: int):
    """Assign tasks exactly, to ever more peers."""
    result = {}
    print(f"\nExact: {EACH} tasks a peer, alpha {ALPHA}, no caps")
    print(
        f"{'peers':>10} {'tasks':>14} {'ms':>10} {'sort [ms]':>10} {'ratio':>7} {'tasks/s':>10}"
        f" {'active':>9} {'largest':>8}"
    )
    for n_peers in EXACT:
        m = EACH * n_peers
        row = solved(rounds if n_peers < EXACT[-1] else min(rounds, 3), problem(n_peers, m))
        result[str(n_peers)] = row
        print(
            f"{n_peers:10,} {m:14,} {row['seconds'] * 1e3:10.2f} {row['sort'] * 1e3:10.2f}"
            f" {row['ratio']:7.2f} {row['tasks_per_second']:10.2g}"
            f" {row['active']:9,} {row['largest']:8,}"
        )
    return result


def discounts(rounds: int):
    """Assign as many tasks at several discount rates, without and with caps."""
    result = {}
    m = EACH * HEADLINE
    print(f"\nDiscounts: {HEADLINE:,} peers, {m:,} tasks [ms]")
    print(f"{'alpha':>10} {'no caps':>10} {'lambda 2':>10}")
    for alpha in RATES:
        row = {
            name: solved(rounds, problem(HEADLINE, m, alpha, factor))["seconds"]
            for name, factor in (("no caps", None), ("lambda 2", 2.0))
        }
        result[f"{alpha:g}"] = row
        print(f"{alpha:10g} " + " ".join(f"{each * 1e3:10.2f}" for each in row.values()))
    return result


def heap_greedy(values, m, caps, q):
    """Return the benefit of tasks handed out one by one to whom the next is worth most."""
    values = values.tolist()
    heap = [(-value, peer) for peer, value in enumerate(values)]
    heapq.heapify(heap)
    amounts, benefit = [0] * len(values), 0.0
    for _ in range(m):
        worth, peer = heap[0]
        benefit -= worth
        amounts[peer] += 1
        if amounts[peer] < caps:
            heapq.heapreplace(heap, (worth * q, peer))
        else:
            heapq.heappop(heap)
    return benefit


def beside(rounds: int):
    """Compare with a heap and with ISGBMAT, in turn."""
    result = {}
    print(f"\nBeside: alpha {ALPHA}, no caps [ms]")
    columns = ("exact", "heap", "isgbmat", "program")
    ratios = [f"{name} / exact" for name in columns[1:]]
    print(f"{'peers':>8} {'tasks':>10} " + " ".join(f"{each:>16}" for each in (*columns, *ratios)))
    for n_peers, m in BESIDE:
        arguments = problem(n_peers, m)
        functions = {"exact": lambda *each: largest_benefit(*each).benefit, "heap": heap_greedy}
        if m <= ISGBMAT_MOST:
            functions["isgbmat"] = lambda *each: BundleMarket(*each).benefit(isgbmat_amounts(*each))
        if n_peers * m <= PROGRAM_MOST:
            functions["program"] = lambda *each: bundle_benefit(*each).solve()
        rows: dict[str, list[float]] = {name: [] for name in functions}
        for _ in range(rounds):
            benefits = {}
            for name, function in functions.items():
                seconds, benefits[name] = timed(function, *arguments)
                rows[name].append(seconds)
            if max(benefits.values()) > min(benefits.values()) * (1 + 1e-8):
                raise SystemExit(f"benefits differ: {benefits}")
        row = {name: statistics.median(each) for name, each in rows.items()}
        cells = [f"{row[name] * 1e3:16.2f}" if name in row else f"{'-':>16}" for name in columns]
        for name in columns[1:]:
            if name in row:
                row[f"{name}_ratio"] = row[name] / row["exact"]
            ratio = row.get(f"{name}_ratio")
            cells.append(f"{ratio:16.1f}" if ratio is not None else f"{'-':>16}")
        result[f"{n_peers} peers, {m} tasks"] = row
        print(f"{n_peers:8,} {m:10,} " + " ".join(cells))
    return result


def isgbmat_amounts(values, m, caps, q):
    """Return the amounts of ISGBMAT as repaired."""
    return run_isgbmat(values, m, caps, q).amounts


def relaxations(rounds: int):
    """Compare cvxpy's program with the closed form of tasks that can be divided."""
    result = {}
    print(f"\nRelaxation: {EACH} tasks a peer, alpha {ALPHA} [ms]")
    print(f"{'peers':>8} {'cvxpy':>10} {'closed form':>12} {'ratio':>8} {'benefits differ by':>20}")
    for n_peers in RELAXED:
        arguments = problem(n_peers, EACH * n_peers)
        # The first call imports cvxpy.
        divided_benefit(*problem(2, 2)).solve()
        program, interior = median(lambda *each: divided_benefit(*each).solve(), rounds, *arguments)
        form, closed = median(continuous_optimum, rounds, *arguments)
        off = abs(interior / closed.benefit - 1)
        result[str(n_peers)] = {"cvxpy": program, "closed": form, "difference": off}
        print(
            f"{n_peers:8,} {program * 1e3:10.2f} {form * 1e3:12.3f} {program / form:8.0f}"
            f" {off:20.1e}"
        )
    return result


def fronts(rounds: int):
    """Find whole fronts."""
    result = {}
    print(f"\nFront of completion time and benefit, alpha {ALPHA}: all points [ms]")
    for n_peers, m in ((12, 1_000), (12, 10_000), (100, 10_000)):
        values, m, caps, q = problem(n_peers, m)
        seconds, found = median(whole_front, rounds, values, times(n_peers), m, caps, q)
        result[f"{n_peers} peers, {m} tasks"] = {"seconds": seconds, "points": len(found)}
        print(f"{n_peers:8,} {m:10,}: {seconds * 1e3:.1f} for {len(found)} points")
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
        "exact": exact,
        "discounts": discounts,
        "beside": beside,
        "relaxation": relaxations,
        "front": fronts,
    }
    rounds = 1 if arguments.quick else 5
    results = {name: functions[name](rounds) for name in arguments.parts or PARTS}
    if arguments.json:
        print(json.dumps(results))


if __name__ == "__main__":
    main()
