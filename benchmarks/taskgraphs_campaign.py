"""The campaign of task graphs on multi-clusters: every run and setting, kept in a file.

Each line of the file is a measurement (`simplugin.taskgraphs.campaign.Measurement`) as JSON. What
is there is not measured again, so that a campaign can be stopped and goes on where it was. At the
end, tables are printed: strategies by number of graphs for each family, and how the means over
numbers of graphs move with each reading that was asked for.

    .venv/bin/python benchmarks/taskgraphs_campaign.py [--families random fft strassen]
        [--counts 2 4 6 8 10] [--combinations 25] [--groups paper own] [--jobs 2]
        [--file out/taskgraphs.jsonl]

All groups but `paper` and `own` are alternatives; ten combinations of 2, 6 and 10 graphs tell how
the tables move with them.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path

from joblib import Parallel, delayed

from simplugin.taskgraphs.campaign import (
    COMBINATIONS,
    COUNTS,
    STRATEGIES,
    VARIANTS,
    Case,
    Measurement,
    Setting,
    measured,
)
from simplugin.taskgraphs.readings import Readings
from simplugin.taskgraphs.section7 import Averages, averages, cases

FAMILIES = ("random", "fft", "strassen")
EIGHT = tuple(map(Setting, STRATEGIES))
TOGETHER = Readings(redistribution="together")
OWN = (
    Setting("balanced"),
    Setting("balanced", revision="rebalanced", readings=TOGETHER),
    Setting("wps_width", revision="event"),
)
READINGS = {
    "mean": Readings(reference_speed="mean"),
    "fastest": Readings(reference_speed="fastest"),
    "power": Readings(translation="power"),
    "stop": Readings(full_level="stop"),
    "largest": Readings(packing="largest"),
    "off": Readings(packing="off"),
    "fifo": Readings(order="fifo"),
    "start": Readings(fixing="start"),
    "together": TOGETHER,
    "share": Readings(own="share"),
}
# The settings of each group, and the variant of its graphs.
GROUPS: dict[str, tuple[tuple[Setting, ...], str]] = {
    "paper": (EIGHT, ""),
    "own": (OWN, ""),
    "planned": (tuple(replace(each, mode="planned") for each in EIGHT), ""),
    **{
        name: (tuple(replace(each, readings=readings) for each in EIGHT), "")
        for name, readings in READINGS.items()
    },
    **{name: (EIGHT, name) for name in VARIANTS if name},
}


def main() -> None:
    """Measure what is missing, and print tables of all."""
    asked = arguments()
    asked.file.parent.mkdir(parents=True, exist_ok=True)
    found = read(asked.file)
    jobs = []
    for case, settings in wanted(asked).items():
        left = [each for each in settings if (case, each.key) not in found]
        if left:
            jobs.append(delayed(measurements)(case, left))
    start, spent = time.perf_counter(), 0.0
    workers = Parallel(asked.jobs, return_as="generator_unordered", batch_size=1)
    with asked.file.open("a", encoding="utf-8") as out:
        for count, rows in enumerate(workers(jobs), 1):
            found |= {(each.case, each.setting): each for each in rows}
            out.writelines(json.dumps(asdict(each)) + "\n" for each in rows)
            out.flush()
            if count % 50 == 0 or count == len(jobs):
                spent = time.perf_counter() - start
                sys.stderr.write(f"{count} of {len(jobs)} runs after {spent:.0f} s\n")
    print_tables(found, asked)
    if jobs:
        print(f"\n{len(jobs)} runs in {spent:.0f} s in {asked.jobs} processes at a time")


def arguments() -> argparse.Namespace:
    """Return what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--families", nargs="+", default=FAMILIES, choices=FAMILIES)
    parser.add_argument("--counts", nargs="+", type=int, default=COUNTS)
    parser.add_argument("--combinations", type=int, default=COMBINATIONS)
    parser.add_argument("--groups", nargs="+", default=["paper"], choices=GROUPS)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--file", type=Path, default=Path("out/taskgraphs.jsonl"))
    return parser.parse_args()


def runs(asked: argparse.Namespace, family: str, variant: str) -> list[Case]:
    """Return the runs of a family."""
    return cases(family, counts=asked.counts, combinations=asked.combinations, variant=variant)


def wanted(asked: argparse.Namespace) -> dict[Case, list[Setting]]:
    """Return what is to be measured: runs with many graphs first, so that all end together."""
    settings: dict[Case, list[Setting]] = {}
    for name in asked.groups:
        chosen, variant = GROUPS[name]
        for family in asked.families:
            for case in runs(asked, family, variant):
                settings.setdefault(case, []).extend(chosen)
    return dict(sorted(settings.items(), key=lambda item: -item[0].count))


def measurements(case: Case, settings: list[Setting]) -> list[Measurement]:
    """Measure all settings of a run."""
    return [measured(case, each) for each in settings]


def read(path: Path) -> dict[tuple[Case, str], Measurement]:
    """Return the measurements of a file; none if there is none."""
    found = {}
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            fields = json.loads(line)
            case = Case(**fields.pop("case"))
            own, shared = tuple(fields.pop("own")), tuple(fields.pop("shared"))
            each = Measurement(case, own=own, shared=shared, **fields)
            found[case, each.setting] = each
    return found


def table(found, asked: argparse.Namespace, family: str, group: str) -> Averages:
    """Return the averages of a group; its own strategies are relative to the paper's best."""
    settings, variant = GROUPS[group]
    chosen = runs(asked, family, variant)
    rows = [[found[case, each.key] for each in settings] for case in chosen]
    if group != "own":
        return averages(rows)
    return averages(rows, [[found[case, each.key] for each in EIGHT] for case in chosen])


def print_tables(found: dict[tuple[Case, str], Measurement], asked: argparse.Namespace) -> None:
    """Print the tables of what was asked for, as Markdown."""
    for family in asked.families:
        groups = [name for name in asked.groups if name != "own" or "paper" in asked.groups]
        tables = {name: table(found, asked, family, name) for name in groups}
        for name in ("paper", "own"):
            if name in tables:
                print_averages(f"{family}, {name}", tables[name])
        if len(tables) > 1:
            others = {name: each for name, each in tables.items() if name != "own"}
            print_alternatives(family, others)


def print_averages(title: str, found: Averages) -> None:
    """Print unfairness and relative makespan by number of graphs."""
    counts = " | ".join(map(str, found.counts))
    print(f"\n### {title}: unfairness, then relative makespan, by number of graphs\n")
    print(f"| strategy | {counts} | {counts} |")
    print("| --- |" + " ---: |" * (2 * len(found.counts)))
    for number, name in enumerate(found.strategies):
        cells = [f"{value:.2f}" for value in found.unfairness[number].tolist()]
        cells += [f"{value:.3f}" for value in found.relative[number].tolist()]
        print(f"| {name} | " + " | ".join(cells) + " |")


def print_alternatives(family: str, tables: dict[str, Averages]) -> None:
    """Print means over numbers of graphs by reading."""
    print(f"\n### {family}, readings: mean unfairness over that of S / mean relative makespan\n")
    print("| reading | " + " | ".join(STRATEGIES) + " |")
    print("| --- |" + " ---: |" * len(STRATEGIES))
    for name, found in tables.items():
        unfair, length = found.unfairness.mean(axis=1), found.relative.mean(axis=1)
        pairs = zip((unfair / unfair[0]).tolist(), length.tolist(), strict=True)
        print(f"| {name} | " + " | ".join(f"{a:.2f} / {b:.2f}" for a, b in pairs) + " |")


if __name__ == "__main__":
    main()
