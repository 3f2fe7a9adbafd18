"""Rollouts beside their schedulers: gap to the lower bound, branches and seconds.

::

    python benchmarks/lookahead.py --workflows DIRECTORY [--part P] [--most N] [--together]
                                   [--sites ...] [--schedulers ...] [--json] [FILE ...]

HEFT, PEFT, min-min and wps_width execute real workflows, DAX or WfFormat files of the directory, on
a part of the processors of each cluster of sites of Grid'5000; lag distributes bags over trees.
Each does so alone and with a rollout of at most `most` options a choice.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

from simplugin.formats.task_graph_files import read_task_graph
from simplugin.platforms.sites import SUBSETS
from simplugin.scenarios import run_scenario
from simplugin.scenarios.loading import read_toml, scenario_from

HERE = Path(__file__).resolve().parent
FILES = (
    "wfcommons/nextflow-bacass.json",
    "wfcommons/srasearch-10a.json",
    "dax/Montage_100.xml",
    "chameleon/soykb-chameleon-10fastq-20ch-001.json.xz",
    "chameleon/1000genome-chameleon-8ch-250k-001.json.xz",
    "chameleon/epigenomics-chameleon-ilmn-4seq-50k-001.json.xz",
)
SITES = ("lille", "nancy", "rennes")
SCHEDULERS = ("heft", "peft", "min_min", "wps_width")
BAGS = ("../scenarios/bags_cluster.toml", "../scenarios/bags.toml")
# Tasks of each bag.
COUNT = 40


def platform(site: str, part: float) -> dict[str, Any]:
    """Return ``[platform]``: a part of the processors of each cluster of a site, at least one."""
    whole = SUBSETS[site]
    clusters = [
        {"name": name, "processors": max(round(part * count), 1), "speed": speed}
        for name, count, speed in whole.clusters
    ]
    parameters = {"name": site, "clusters": clusters, "one_switch": whole.one_switch}
    return {"generator": "multi_cluster", "parameters": parameters}


def scenarios(
    directory: Path, files: list[list[str]], sites: list[str], schedulers: list[str], part: float
) -> Iterator[tuple[str, Any]]:
    """Yield title and document of each scenario."""
    for names, site, scheduler in product(files, sites, schedulers):
        tasks = sum(read_task_graph(directory / name).n_tasks for name in names)
        graphs = [{"file": str((directory / name).resolve()), "lenient": True} for name in names]
        short = " + ".join(Path(name).name.split(".")[0] for name in names)
        title = f"{short} ({tasks}), {site}, {scheduler}"
        yield (
            title,
            {
                "platform": platform(site, part),
                "workload": {"kind": "taskgraphs", "graphs": graphs},
                "scheduler": {"name": f"taskgraphs.{scheduler}"},
            },
        )
    for name in BAGS:
        document, _ = read_toml(HERE / name)
        document.pop("output", None)
        for table in document["workload"]["applications"]:
            table["count"] = COUNT
        yield f"{Path(name).stem} ({COUNT} of each), lag", document


def measured(document: Any, file: Path) -> tuple[float, float, int, float]:
    """Return makespan, gap to the bound (of bags: of throughput), branches and seconds."""
    begun = time.perf_counter()
    found = run_scenario(scenario_from(document, file)).row
    seconds = time.perf_counter() - begun
    branches = found["branches"] if "lookahead" in document["scheduler"] else 0
    return found["makespan"], found.gap, branches, seconds


def main() -> None:
    """Run all; print a line each, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="*", default=list(FILES), metavar="FILE")
    parser.add_argument("--workflows", type=Path, required=True, metavar="DIRECTORY")
    parser.add_argument("--part", type=float, default=0.1)
    parser.add_argument("--most", type=int, default=3)
    parser.add_argument("--sites", nargs="+", choices=SITES, default=list(SITES))
    parser.add_argument("--schedulers", nargs="+", choices=SCHEDULERS, default=list(SCHEDULERS))
    parser.add_argument("--together", action="store_true", help="all files at the same time")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    rows = []
    files = [chosen.files] if chosen.together else [[name] for name in chosen.files]
    of = chosen.workflows, files, chosen.sites, chosen.schedulers, chosen.part
    for title, document in scenarios(*of):
        scheduler = document["scheduler"]
        alone = measured(document, HERE / "lookahead.toml")
        ahead = {**document, "scheduler": {**scheduler, "lookahead": {"most": chosen.most}}}
        looked = measured(ahead, HERE / "lookahead.toml")
        names = ("makespan", "gap", "branches", "seconds")
        rows.append(
            {
                "case": title,
                "most": chosen.most,
                "alone": dict(zip(names, alone, strict=True)),
                "rollout": dict(zip(names, looked, strict=True)),
            }
        )
        if not chosen.json:
            print(
                f"{title}: {alone[0]:.6g} s (gap {alone[1]:.1%}) alone, {looked[0]:.6g} s"
                f" (gap {looked[1]:.1%}) looking ahead; {looked[2]} branches,"
                f" {alone[3]:.1f} s and {looked[3]:.1f} s",
                flush=True,
            )
    if chosen.json:
        print(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
