"""The campaign of bags of tasks on trees: every reading, seed, tree and policy, kept in a file.

Each line of the file is a `simplugin.papers.beaumont.campaign.ThroughputMeasurement` as JSON. An
interrupted run goes on where it was. At the end, tables are printed: the paper's numbers and
policies, by reading and seed.

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
from dataclasses import asdict
from pathlib import Path

from joblib import Parallel, delayed

from simplugin.papers.beaumont.campaign import (
    ORDERS,
    PolicySetting,
    ThroughputMeasurement,
    measured,
)
from simplugin.papers.beaumont.comparisons import ratios
from simplugin.papers.beaumont.conditions import SLOWS
from simplugin.papers.beaumont.heuristics import LARGER, LONGER, POLICIES, section_6_2
from simplugin.papers.beaumont.instances import READINGS, SEEDS, TASKS, TREES
from simplugin.papers.beaumont.new_policies import CHANGES, ERRORS, OURS, PARTS

PAPER = tuple(
    PolicySetting(name, orders=ORDERS[False] if name == "fcfs" else 1) for name in POLICIES
)
GROUPS = {
    "paper": PAPER,
    "own": tuple(map(PolicySetting, ("lp", *OURS))),
    "larger": tuple(
        PolicySetting(name, buffer=10 * LARGER, count=TASKS * LARGER) for name in POLICIES[:3]
    ),
    "longer": tuple(PolicySetting(name, count=TASKS * LARGER) for name in LONGER),
    "errors": tuple(PolicySetting(name, errors=ERRORS) for name in (*POLICIES[:3], *OURS)),
    "lasting": tuple(
        PolicySetting(name, errors=ERRORS, lasting=True) for name in (*POLICIES[:3], *OURS)
    ),
    "changes": tuple(PolicySetting(name, conditions=CHANGES) for name in (*POLICIES[:3], *OURS)),
    "slows": tuple(PolicySetting(name, conditions=SLOWS) for name in (*POLICIES[:3], *OURS)),
    "parts": tuple(
        PolicySetting(policy, without)
        for policy, parts in PARTS.items()
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
        for count, done in enumerate(workers(jobs), 1):
            found += done
            out.writelines(json.dumps(asdict(each)) + "\n" for each in done)
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


def rows(
    reading: str, seed: int, number: int, chosen: list[PolicySetting]
) -> list[ThroughputMeasurement]:
    """Return the measurements of each setting on one instance."""
    return [measured(reading, seed, number, each) for each in chosen]


def place(measurement: ThroughputMeasurement) -> tuple[str, int, int, str]:
    """Return what a measurement is of."""
    return measurement.reading, measurement.seed, measurement.number, measurement.setting


def read(path: Path) -> list[ThroughputMeasurement]:
    """Return the measurements of a file; none if there is none."""
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    return [ThroughputMeasurement(**json.loads(line)) for line in lines]


def print_tables(found: list[ThroughputMeasurement], asked: argparse.Namespace) -> None:
    """Print the paper's numbers by reading, and LP over each setting, as Markdown."""
    table: dict[tuple[str, int], dict[str, list[ThroughputMeasurement]]] = defaultdict(dict)
    for each in sorted(found, key=place):
        if each.number < asked.trees:
            table[each.reading, each.seed].setdefault(each.setting, []).append(each)
    for (reading, seed), settings in table.items():
        print(f"\n### Reading {reading}, seed {seed}\n")
        paper = {each.policy: settings.get(each.key) for each in PAPER}
        if all(paper.values()):
            for name, value in section_6_2(paper).items():
                print(f"- {name}: {value.value:.3f}, from {value.interval} ({value.note})")
        lp = {one.number: one for one in settings.get("lp", ())}
        print("\n| setting | trees | LP / it | large trees | by the slope | undone |")
        print("|---|---|---|---|---|---|")
        for key, each in settings.items():
            pairs = [one for one in each if one.number in lp]
            if not pairs:
                continue
            high = [lp[one.number] for one in pairs]
            ratio, slope = ratios(high, pairs), ratios(high, pairs, by="slope")
            undone = sum(not one.all_done for one in pairs)
            numbers = f"{ratio.written()} | {ratio.large:.3f} | {slope.written()} | {undone}"
            print(f"| {key} | {len(pairs)} | {numbers} |")


if __name__ == "__main__":
    main()
