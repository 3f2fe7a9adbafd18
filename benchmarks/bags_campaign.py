"""The campaign of bags of tasks on trees: every reading, seed, tree and policy, kept in a file.

Each line of the file is a measurement (`simplugin.bags.campaign.Measurement`) as JSON. What is
there is not measured again, so that a run can be stopped and goes on where it was. At the end,
tables are printed: the paper's numbers by reading, and policies by reading and seed.

    .venv/bin/python benchmarks/bags_campaign.py [--readings A B C D] [--seeds 2008] [--trees 150]
        [--groups paper own larger longer errors lasting changes slows parts] [--jobs 2]
        [--file out/bags.jsonl]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from dataclasses import asdict, replace
from pathlib import Path

from joblib import Parallel, delayed

from simplugin.bags.campaign import ORDERS, Measurement, Setting, rows
from simplugin.bags.campaign_summary import (
    POLICIES,
    policies_listing,
    quantities,
    readings_listing,
)
from simplugin.bags.deviation_claims import LARGER, LONGER
from simplugin.bags.instances import READINGS, SEEDS, TASKS, TREES
from simplugin.bags.past_claims import CHANGES, ERRORS, PARTS_OF_LAG, PARTS_OF_PRICES
from simplugin.bags.realism import SLOWS

OURS = ("prices", "lag")
PAPER = tuple(Setting(name, orders=ORDERS if name == "fcfs" else 1) for name in POLICIES)
GROUPS = {
    "paper": PAPER,
    "own": tuple(map(Setting, ("lp", *OURS))),
    "larger": tuple(
        Setting(name, buffer=10 * LARGER, count=TASKS * LARGER) for name in POLICIES[:3]
    ),
    "longer": tuple(Setting(name, count=TASKS * LARGER) for name in LONGER),
    "errors": tuple(Setting(name, errors=ERRORS) for name in (*POLICIES[:3], *OURS)),
    "lasting": tuple(Setting(name, errors=ERRORS, lasting=True) for name in (*POLICIES[:3], *OURS)),
    "changes": tuple(Setting(name, conditions=CHANGES) for name in (*POLICIES[:3], *OURS)),
    "slows": tuple(Setting(name, conditions=SLOWS) for name in (*POLICIES[:3], *OURS)),
    "parts": tuple(
        Setting(policy, without)
        for policy, parts in (("prices", PARTS_OF_PRICES), ("lag", PARTS_OF_LAG))
        for without in parts.values()
    ),
}


def main() -> None:
    """Measure what is missing, and print tables of all."""
    asked = arguments()
    asked.file.parent.mkdir(parents=True, exist_ok=True)
    found = read(asked.file)
    settings = {each.key: each for name in asked.groups for each in GROUPS[name]}
    known = {place(each) for each in found}
    jobs = []
    for reading in asked.readings:
        for seed in asked.seeds:
            for number in range(asked.trees):
                left = [
                    each
                    for key, each in settings.items()
                    if (reading, seed, number, key) not in known
                ]
                if left:
                    jobs.append(delayed(rows)(reading, seed, number, left))
    start = time.perf_counter()
    workers = Parallel(asked.jobs, return_as="generator_unordered", batch_size=1)
    with asked.file.open("a", encoding="utf-8") as out:
        for count, measured in enumerate(workers(jobs), 1):
            found += measured
            out.writelines(json.dumps(asdict(each)) + "\n" for each in measured)
            out.flush()
            if count % 50 == 0 or count == len(jobs):
                passed = time.perf_counter() - start
                sys.stderr.write(f"{count} of {len(jobs)} after {passed:.0f} s\n")
    print_tables(found, asked)


def arguments() -> argparse.Namespace:
    """Return what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--readings", nargs="+", default=["A", "B", "C", "D"], choices=READINGS)
    parser.add_argument("--seeds", nargs="+", type=int, default=[SEEDS[0]])
    parser.add_argument("--trees", type=int, default=TREES)
    parser.add_argument("--groups", nargs="+", default=["paper", "own"], choices=GROUPS)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--file", type=Path, default=Path("out/bags.jsonl"))
    return parser.parse_args()


def place(measurement: Measurement) -> tuple[str, int, int, str]:
    """Return what a measurement is of."""
    return measurement.reading, measurement.seed, measurement.number, measurement.setting


def read(path: Path) -> list[Measurement]:
    """Return the measurements of a file; none if there is none."""
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    return [Measurement(**json.loads(line)) for line in lines]


def print_tables(found: list[Measurement], asked: argparse.Namespace) -> None:
    """Print the tables of what was asked for, as Markdown."""
    table: dict[tuple[str, int], dict[str, list[Measurement]]] = defaultdict(dict)
    for each in sorted(found, key=place):
        if each.number < asked.trees:
            table[each.reading, each.seed].setdefault(each.setting, []).append(each)
    for seed in asked.seeds:
        by_reading = {}
        for reading in asked.readings:
            here = {each.policy: table[reading, seed].get(each.key) for each in PAPER}
            if all(here.values()):
                by_reading[reading] = quantities(here)
        if by_reading:
            print_markdown(replace(readings_listing(by_reading), title=f"Readings, seed {seed}"))
        for reading in asked.readings:
            if "lp" in table[reading, seed]:
                title = f"Policies, reading {reading}, seed {seed}"
                print_markdown(policies_listing(table[reading, seed], title))


def print_markdown(listing) -> None:
    """Print a listing."""
    print(f"\n### {listing.title}\n")
    print("| " + " | ".join(name for name, _ in listing.columns) + " |")
    print("|" + "---|" * len(listing.columns))
    for line in listing.lines:
        print("| " + " | ".join(map(written, line)) + " |")
    print(f"\n{listing.note}")


def written(cell) -> str:
    """Write a value of a listing."""
    if cell is None:
        return "-"
    return f"{cell:.3f}" if isinstance(cell, float) else str(cell)


if __name__ == "__main__":
    main()
