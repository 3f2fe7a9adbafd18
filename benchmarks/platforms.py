"""Generated platforms: size, times to generate, write, read, check and load, are hosts joined.

Each line of the table is a command of simplugin: those that made the files in `platforms_xml/`, all
of Grid'5000 and each of its sites, topologies of about 1,000 hosts, and two of 100,000 hosts.
Beside it, what the facts about Grid'5000 say of each site, and what SimGrid has after loading.
Medians over runs, in seconds of real time; the command's own start is not counted.

    .venv/bin/python benchmarks/platforms.py [--quick] [--json | --markdown] [--runs N]
        [--reference PATH] [files] [grid5000] [topologies] [large] [expanded] [totals]
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import io
import json
import math
import os
import re
import shlex
import statistics
import sys
import tarfile
import tempfile
import time
from pathlib import Path
from unittest import mock

from simplugin.cli import app, terminal
from simplugin.core.errors import SimpluginError
from simplugin.formats.check import check, exit_status
from simplugin.formats.grid5000.catalogue import read_facts, shipped_catalogue
from simplugin.formats.platform_xml import read_platform, write_platform
from simplugin.platforms.census import census_of, telling_pairs
from simplugin.platforms.grid5000.platform import grid5000_platform
from simplugin.simulation.resolve import load, resolve

ROOT = Path(__file__).parents[1]
PARTS = ("files", "grid5000", "topologies", "large", "expanded", "totals")
TOPOLOGIES = (
    "star workers=999",
    "chain n_hosts=1000",
    "ring n_hosts=1000",
    "grid rows=32 columns=32",
    "complete_tree arity=2 depth=9",
    "flat_cluster n_hosts=1000",
    "fat_tree children=[10,10,10] parents=[1,2,2]",
    "torus sizes=[10,10,10]",
    "dragonfly groups=10 routers=20 hosts_per_router=5",
    "random_geometric n_hosts=1000",
    "preferential_attachment n_hosts=1000",
    "small_world n_hosts=1000",
    "random_tree n_hosts=1000 max_degree=15 routing=DijkstraCache",
    "random_graph shape=clusters n_hosts=1000 routing=DijkstraCache",
)
LARGE = {
    "federation": "simplugin platform multicluster benchmarks/federation.toml",
    "tree": "simplugin platform generate random_tree n_hosts=100000 max_degree=15"
    " routing=DijkstraCache",
}
# Bars: seconds to generate and write, and bytes.
BARS = {"federation": (5.0, 1e6), "tree": (10.0, math.inf)}
PAGE = """# Sizes and times of platforms

    {command}

on {date}, on {cpus} cores. `generate` is the time from the command's
arguments to the platform as data, `write` that to check it and to write it as XML, `read` that
from the file to data again, `check` that of `simplugin check`, `SimGrid loads` that from the file
to complete routing tables in SimGrid 4.1, all in real time, and `memory` what SimGrid's process
grew by meanwhile. `file` is its size with a first comment that lacks `-o FILE`. `hosts` and
`cores` are those of the platform as data; SimGrid has as many, or the benchmark fails.
`links` are SimGrid's: a split-duplex link is two. All pairs connect if
SimGrid has a route, there and back, for each pair of explicit hosts and of one host a cluster, for
two hosts within each flat cluster, and for all within a torus, fat tree or dragonfly. Where there
would be more than 100,000 such pairs they are a sample, in which each of these hosts is as often
source and destination as any other (of some thousand within a topology), or as much of it as
SimGrid finds routes for in 30 s. Commands are those after `simplugin platform`; the federation has
25 sites of 40 clusters of 100 hosts. Beyond the samples, `simplugin check` judges all pairs by
the rules of SimGrid's routing.
"""


class Made(Exception):
    """A command has made its platform."""

    def __init__(self, platform) -> None:
        self.platform = platform


def generated(command: str):
    """Run a command of simplugin up to where it would write; return its platform and seconds."""

    def stop(platform, _output) -> None:
        raise Made(platform)

    words = shlex.split(command)[1:]
    with (
        mock.patch.object(terminal, "write_or_print_platform", stop),
        mock.patch.object(sys, "argv", ["simplugin", *words]),
        contextlib.redirect_stderr(io.StringIO()) as said,
    ):
        begin = time.perf_counter()
        try:
            app(words, standalone_mode=False)
        except Made as made:
            return made.platform, time.perf_counter() - begin
        except BaseException as error:
            raise SystemExit(f"{command}: {error!r} {said.getvalue()}") from error
    raise SystemExit(f"{command}: it made no platform: {said.getvalue()}")


def checked(file: Path) -> None:
    """Check a file, which is to be right."""
    findings = [finding for finding in check([file]) if finding.severity != "warning"]
    if exit_status(findings):
        raise SystemExit(f"{file}: {findings[0]}")


def measured(command: str, runs: int) -> dict:
    """Generate, write and load a platform several times; ask for routes once."""
    times = {"generate": [], "write": [], "read": [], "check": [], "load": []}
    row: dict = {"command": command}
    # Once for the imports.
    generated(command)
    with tempfile.TemporaryDirectory(prefix="simplugin-") as directory:
        file = Path(directory) / "platform.xml"
        for run in range(runs):
            platform, seconds = generated(command)
            times["generate"].append(seconds)
            begin = time.perf_counter()
            write_platform(platform, file, comment=command)
            times["write"].append(time.perf_counter() - begin)
            for name, reader in (("read", read_platform), ("check", checked)):
                begin = time.perf_counter()
                reader(file)
                times[name].append(time.perf_counter() - begin)
            if not run:
                computing = census_of(platform).computing
                chosen = telling_pairs(platform)
                row |= {"hosts": computing.hosts, "cores": computing.cores}
                row |= {"flops": computing.speed, "bytes": file.stat().st_size}
            try:
                loading = load(file, chosen.pairs if not run else ())
            except SimpluginError as error:
                row["load error"] = str(error).splitlines()[0]
                times["load"].append(math.nan)
                break
            times["load"].append(loading.seconds)
            if (loading.hosts, loading.cores) != (computing.hosts, computing.cores):
                raise SystemExit(f"{command}: SimGrid has {loading.hosts} hosts")
            if not run:
                row |= {
                    "simgrid hosts": loading.hosts,
                    "simgrid cores": loading.cores,
                    "simgrid flops": loading.speed,
                    "links": sum(loading.links.values()),
                    "memory": loading.memory,
                    "pairs": loading.asked,
                    "sample": not chosen.complete or loading.asked < len(chosen.pairs),
                    "unreachable": len(loading.unreachable),
                }
    return row | {name: statistics.median(each) for name, each in times.items()}


def files(runs: int) -> dict[str, dict]:
    """Make the files of the project."""
    found = {}
    for file in sorted((ROOT / "platforms_xml").glob("*.xml")):
        match = re.search("<!-- (.*?) -->", file.read_text(encoding="utf-8"))
        words = shlex.split(match[1])
        found[file.stem] = measured(shlex.join(words[: words.index("-o")]), runs)
    return found


def grid5000(runs: int) -> dict[str, dict]:
    """Make all of Grid'5000, and each site."""
    command = "simplugin platform grid5000"
    found = {"all of Grid'5000": measured(command, runs)}
    for site in shipped_catalogue()[0].sites:
        found[site.uid] = measured(f"{command} --site {site.uid}", runs)
    return found


def topologies(runs: int) -> dict[str, dict]:
    """Make topologies of about 1,000 hosts."""
    return {
        command.split()[0]: measured(f"simplugin platform generate {command}", runs)
        for command in TOPOLOGIES
    }


def large(runs: int) -> dict[str, dict]:
    """Make a federation and a tree of 100,000 hosts."""
    found = {}
    for name, command in LARGE.items():
        row = measured(command, runs)
        seconds, size = BARS[name]
        took = row["generate"] + row["write"]
        row["within bars"] = took < seconds and row["bytes"] < size
        found[f"{name} of 100,000 hosts"] = row
    return found


def expanded(runs: int) -> dict[str, float]:
    """Check the federation and the tree of 100,000 hosts, each host an element of its own."""
    found = {}
    for name, command in LARGE.items():
        platform, _ = generated(command)
        with tempfile.TemporaryDirectory(prefix="simplugin-") as directory:
            file = Path(directory) / "platform.xml"
            write_platform(platform, file, expand=True)
            took = []
            for _ in range(runs):
                begin = time.process_time()
                checked(file)
                took.append(time.process_time() - begin)
        found[name] = statistics.median(took)
    return found


def reference_totals(path: Path) -> dict[str, dict]:
    """Add up nodes, cores and flop/s of each site, from the JSON of the reference alone."""
    if path.is_dir():
        texts = {str(file): file.read_bytes() for file in path.rglob("*.json")}
    else:
        with tarfile.open(path) as archive:
            members = [member for member in archive if member.name.endswith(".json")]
            texts = {member.name: archive.extractfile(member).read() for member in members}
    found: dict[str, dict] = {}
    for name, text in sorted(texts.items()):
        match = re.search(r"sites/([^/]+)/clusters/[^/]+/nodes/[^/]+[.]json$", name)
        if match is not None:
            node = json.loads(text)
            row = found.setdefault(match[1], {"nodes": 0, "cores": 0, "flops": 0.0})
            row["nodes"] += 1
            row["cores"] += node["architecture"]["nb_cores"]
            row["flops"] += node["performance"]["node_flops"]
    return found


def totals(reference: Path | None) -> dict[str, dict]:
    """Compare what the reference or the catalogue says of each site with what SimGrid has."""
    facts, _ = shipped_catalogue() if reference is None else read_facts(reference)
    if reference is None:
        wanted = {
            site.uid: {"nodes": site.node_count, "cores": site.core_count, "flops": site.speed}
            for site in facts.sites
        }
    else:
        wanted = reference_totals(reference)
    hosts = resolve(grid5000_platform(facts)).hosts
    found = {}
    for site, row in wanted.items():
        own = [host for host in hosts if host.name.endswith(f".{site}.grid5000.fr")]
        speed = math.fsum(host.cores * host.speed for host in own)
        cores = sum(host.cores for host in own)
        # The order of a sum of some hundred numbers may change its last digits.
        equal = (row["nodes"], row["cores"]) == (len(own), cores) and math.isclose(
            row["flops"], speed, rel_tol=1e-12
        )
        simgrid = {"hosts": len(own), "simgrid cores": cores, "simgrid flops": speed}
        found[site] = row | simgrid | {"equal": equal}
    return found


def seconds_text(value: float) -> str:
    """Write a time in ms or s."""
    if math.isnan(value):
        return "-"
    return f"{value:.3g} s" if value >= 1 else f"{value * 1e3:.3g} ms"


def bytes_text(value: float) -> str:
    """Write a size in B, kB or MB."""
    for factor, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if value >= factor:
            return f"{value / factor:.3g} {unit}"
    return f"{value:.0f} B"


def joined_text(row: dict) -> str:
    """Say whether all pairs connect."""
    if "load error" in row:
        return row["load error"]
    if row["unreachable"]:
        return f"no: {row['pairs'] - row['unreachable']:,} of {row['pairs']:,} pairs"
    return f"yes, {row['pairs']:,} pairs" + (" (sample)" if row["sample"] else "")


def table(rows: dict[str, dict], title: str) -> str:
    """Write measured platforms as a markdown table."""
    times = ("generate", "write", "read", "check", "SimGrid loads")
    names = ("hosts", "cores", "links", "file", *times, "memory")
    lines = [
        f"**{title}**",
        "",
        f"| platform | {' | '.join(names)} | all pairs connect | command |",
        f"| --- | {' | '.join(['---:'] * len(names))} | --- | --- |",
    ]
    for name, row in rows.items():
        cells = [
            f"{row['hosts']:,}",
            f"{row['cores']:,}",
            f"{row['links']:,}" if "links" in row else "-",
            bytes_text(row["bytes"]),
            *(seconds_text(row[each]) for each in ("generate", "write", "read", "check", "load")),
            bytes_text(row["memory"]) if "memory" in row else "-",
            joined_text(row),
            f"`{row['command'].removeprefix('simplugin platform ')}`",
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def totals_table(rows: dict[str, dict], source: str) -> str:
    """Write the comparison of sites as a markdown table."""
    lines = [
        f"**Sites of Grid'5000: {source}, and SimGrid after loading**",
        "",
        "| site | nodes | hosts | cores | in SimGrid | Pflop/s | in SimGrid | equal |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |",
    ]
    keys = ("nodes", "hosts", "cores", "simgrid cores", "flops", "simgrid flops")
    total = {key: math.fsum(row[key] for row in rows.values()) for key in keys}
    total["equal"] = all(row["equal"] for row in rows.values())
    for name, row in (rows | {"all": total}).items():
        counts = " | ".join(f"{row[key]:,.0f}" for key in keys[:4])
        speeds = " | ".join(f"{row[key] / 1e15:.6f}" for key in keys[4:])
        lines.append(f"| {name} | {counts} | {speeds} | {'yes' if row['equal'] else 'no'} |")
    return "\n".join([*lines, ""])


def page(texts: list[str], command: str) -> str:
    """Write the page of the documentation."""
    date = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    return "\n".join([PAGE.format(command=command, date=date, cpus=os.cpu_count()), *texts])


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="part", help=f"some of {', '.join(PARTS)}")
    parser.add_argument("--quick", action="store_true", help="one run each")
    parser.add_argument("--runs", type=int, default=5, help="how many runs (5)")
    parser.add_argument("--json", action="store_true", help="print one JSON line only")
    parser.add_argument("--markdown", action="store_true", help="print the page of the docs")
    parser.add_argument(
        "--reference", type=lambda name: Path(name).absolute(), help="of Grid'5000, for totals"
    )
    arguments = parser.parse_args()
    if unknown := set(arguments.parts) - set(PARTS):
        parser.error(f"there is no part {unknown.pop()!r}; choose from {', '.join(PARTS)}")
    # Commands name files as from the project's root.
    os.chdir(ROOT)
    runs = 1 if arguments.quick else arguments.runs
    parts = {
        "files": (files, "Files in `platforms_xml/`"),
        "grid5000": (grid5000, "Grid'5000 as of the shipped catalogue"),
        "topologies": (topologies, "Topologies of about 1,000 hosts"),
        "large": (large, "100,000 hosts"),
    }
    results: dict[str, dict] = {}
    texts = []
    for name in arguments.parts or PARTS:
        if name == "totals":
            results[name] = totals(arguments.reference)
            source = "the shipped catalogue" if arguments.reference is None else "the reference"
            text = totals_table(results[name], source)
        elif name == "expanded":
            results[name] = expanded(runs)
            times = (f"{each}: {took:.2f} s" for each, took in results[name].items())
            text = f"Check of 100,000 hosts written out, processor time: {', '.join(times)}\n"
        else:
            function, title = parts[name]
            results[name] = function(runs)
            text = table(results[name], title)
        texts.append(text)
        if not (arguments.json or arguments.markdown):
            print(text, flush=True)
    if arguments.json:
        print(json.dumps(results))
    if arguments.markdown:
        print(
            page(texts, shlex.join([".venv/bin/python", "benchmarks/platforms.py", *sys.argv[1:]]))
        )
    missed = [name for name, row in results.get("large", {}).items() if not row["within bars"]]
    unequal = [name for name, row in results.get("totals", {}).items() if not row["equal"]]
    if missed or unequal:
        raise SystemExit(f"not as wanted: {', '.join(missed + unequal)}")


if __name__ == "__main__":
    main()
