"""Cost of a campaign beside its runs.

Campaigns of trivial runs, whose work is nothing, show what the coordinator takes: processor time
a run, memory, room in the store, and how long it takes to see that everything is recorded. A
campaign of trivial simulations, whose one actor sleeps, shows what a run costs in all; the command
`simplugin campaign run` does the same beside two processes that only simulate, in a loop. With
``--dask`` trivial runs are done by a Dask cluster of this host besides, two workers of a thread::

    python benchmarks/campaigns.py [--runs 10000 100000] [--simulations 2000] [--jobs N]
        [--alone 10000] [--dask 10000] [--json]

Each campaign is run by a process of its own, so that its memory can be told. ``--json`` prints one
JSON object on the last line. The bars are 5 ms of the coordinator's processor time a run, and 1.3
times the processor time of the simulations alone.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing
from hashlib import sha256
from pathlib import Path
from typing import Any

from simplugin.campaigns.jobs import RunJob, Runners
from simplugin.campaigns.running.campaign_runs import LocalRunners
from simplugin.campaigns.running.coordinator import run_jobs
from simplugin.results.row import Metric, Row, RunResult

BAR = 5.0
CAMPAIGN = """
title = "Sleep"

[platform]
generator = "sleepers:platform"

[workload]
kind = "actors"
deployment = "deployment.xml"
functions = {{ sleep = "sleepers:sleep" }}

[simulation]
trace = false

[campaign]
keep = 0

[sweep]
platform.parameters.speed = {{ from = 1, to = {runs} }}
"""
SLEEPERS = """
from simplugin.platforms import Host, Platform, Zone


def platform(speed):
    return Platform((Zone("site", "Full", (Host("bed", float(speed)),)),))


async def sleep(me):
    await me.sleep_for(1.0)
"""
DEPLOYMENT = """<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><actor host="bed" function="sleep"/></platform>
"""


def nothing(arguments: Mapping[str, Any]) -> RunResult:
    """Do the work of a trivial run."""
    return RunResult(Row((Metric("number", arguments["number"]),)))


class Trivial:
    """A source of trivial jobs."""

    title, file, text = "Trivial", "", ""
    target, recipe = "campaigns:nothing", None

    def __init__(self, total: int) -> None:
        self.total = total
        self.identity = sha256(f"trivial {total}".encode()).hexdigest()

    def jobs(self) -> Iterator[RunJob]:
        """Make the jobs."""
        for number in range(self.total):
            key = sha256(f"trivial run {number}".encode()).hexdigest()
            yield RunJob(key, number, "campaigns:nothing", {"number": number}, {"number": number})

    def again(self, job: RunJob) -> RunJob:
        """Return the same job: no file has a part in it."""
        return job


def coordinate(store: Path, runs: int, runners: Runners) -> dict[str, Any]:
    """Run trivial jobs, then see that all is done; return what that took."""
    source = Trivial(runs)
    with closing(runners):
        first = _timed(lambda: run_jobs(source, store, runners))
        again = _timed(lambda: run_jobs(source, store, runners))
    assert first["done"] == again["done"] == again["before"] == runs
    return {
        "runs": runs,
        "processor_ms_a_run": first["processor"] * 1e3 / runs,
        "seconds": first["seconds"],
        "runs_a_second": runs / first["seconds"],
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6,
        "store_bytes_a_run": store.stat().st_size / runs,
        "seconds_to_see_that_all_is_done": again["seconds"],
    }


def coordinate_on_dask(directory: Path, runs: int) -> dict[str, Any]:
    """Do so on a Dask cluster; return what it took, and what scheduler and workers grew to."""
    from simplugin.campaigns.running.dask_runners import DaskRunners

    file = directory / "scheduler.json"
    # Workers import this file.
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent), "OMP_NUM_THREADS": "1"}
    with ExitStack() as stack:

        def start(program: str, *words: str) -> int:
            command = [sys.executable, "-m", f"distributed.cli.{program}", "--host", "127.0.0.1"]
            process = stack.enter_context(
                subprocess.Popen(
                    [*command, *words, "--scheduler-file", str(file)],
                    cwd=directory,
                    env=environment,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
            )
            stack.callback(process.kill)
            return process.pid

        scheduler = start("dask_scheduler", "--port", "0", "--no-dashboard")
        alone = ("--nthreads", "1", "--no-nanny", "--no-dashboard")
        workers = [start("dask_worker", *alone) for _ in range(2)]
        while not file.exists():
            time.sleep(0.1)
        runners = DaskRunners(json.loads(file.read_text())["address"])
        found = coordinate(directory / "trivial.sqlite", runs, runners)
        grown = {"scheduler_mb": _peak_mb(scheduler), "worker_mb": max(map(_peak_mb, workers))}
    return found | grown


def _peak_mb(pid: int) -> float:
    """Return the most memory that a process has occupied [MB]."""
    status = Path(f"/proc/{pid}/status").read_text()
    return float(status.partition("VmHWM:")[2].split()[0]) * 1024 / 1e6


def simulate_trivially(directory: Path, runs: int, jobs: int | None) -> dict[str, Any]:
    """Run a campaign file of trivial simulations, as anyone would; return what that took."""
    from simplugin.campaigns import run_campaign
    from simplugin.campaigns.campaign import load_campaign

    write_sleepers(directory, runs)
    campaign = load_campaign(directory / "sleep.toml")
    first = _timed(lambda: run_campaign(campaign, jobs=jobs))
    again = _timed(lambda: run_campaign(campaign, jobs=jobs))
    assert first["done"] == again["before"] == runs
    return {
        "simulations": runs,
        "processor_ms_a_run": first["processor"] * 1e3 / runs,
        "seconds": first["seconds"],
        "simulations_a_second": runs / first["seconds"],
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6,
        "store_bytes_a_run": campaign.results().stat().st_size / runs,
        "seconds_to_see_that_all_is_done": again["seconds"],
    }


def beside_simulations(directory: Path, runs: int) -> dict[str, Any]:
    """Run a campaign file by its command, then the same simulations in two bare processes."""
    write_sleepers(directory, runs)
    campaign = ["-m", "simplugin", "campaign", "run", "sleep.toml", "--jobs", "2"]
    loops = [[__file__, "--part", "loop", f"{start} {runs}"] for start in (1, 2)]
    command, alone = _processor(directory, campaign), _processor(directory, *loops)
    return {
        "runs": runs,
        "campaign_processor_ms_a_run": command["processor"] * 1e3 / runs,
        "alone_processor_ms_a_run": alone["processor"] * 1e3 / runs,
        "processor_ratio": command["processor"] / alone["processor"],
        "campaign_seconds": command["seconds"],
        "alone_seconds": alone["seconds"],
        "seconds_ratio": command["seconds"] / alone["seconds"],
    }


def simulate_every_second(start: int, runs: int) -> None:
    """Simulate every second run of the campaign of sleepers in the current directory."""
    sys.path.insert(0, os.getcwd())
    import sleepers  # type: ignore[import-not-found]

    from simplugin.simulation import simulate

    for speed in range(start, runs + 1, 2):
        functions = {"sleep": sleepers.sleep}
        simulate(sleepers.platform(speed), "deployment.xml", functions=functions, trace=False)


def _processor(directory: Path, *commands: list[str]) -> dict[str, float]:
    """Run commands of this Python at a time; return seconds and their processor time [s]."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    processes = [
        subprocess.Popen([sys.executable, *words], cwd=directory, stdout=subprocess.DEVNULL)
        for words in commands
    ]
    assert [process.wait() for process in processes] == [0] * len(processes)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "seconds": time.perf_counter() - started,
        "processor": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
    }


def write_sleepers(directory: Path, runs: int) -> None:
    """Write the files of a campaign of trivial simulations."""
    (directory / "sleepers.py").write_text(SLEEPERS)
    (directory / "deployment.xml").write_text(DEPLOYMENT)
    (directory / "sleep.toml").write_text(CAMPAIGN.format(runs=runs))


def _timed(run: Any) -> dict[str, Any]:
    """Run a campaign; return its counts with seconds and this process's processor time [s]."""
    started, processor = time.perf_counter(), time.process_time()
    summary = run()
    return {
        "done": summary.done,
        "before": summary.before,
        "seconds": time.perf_counter() - started,
        "processor": time.process_time() - processor,
    }


def in_a_process_of_its_own(part: str, runs: int, jobs: int | None) -> dict[str, Any]:
    """Measure one campaign; return what it took."""
    words = [sys.executable, __file__, "--part", part, str(runs)]
    if jobs is not None:
        words += ["--jobs", str(jobs)]
    answer = subprocess.run(words, stdout=subprocess.PIPE, check=True)
    found: dict[str, Any] = json.loads(answer.stdout)
    return found


def print_table(rows: list[dict[str, Any]]) -> None:
    """Print measurements, a column each."""
    for name in rows[0]:
        cells = (
            f"{row[name]:,.3f}" if isinstance(row[name], float) else f"{row[name]:,}"
            for row in rows
        )
        print(f"{name.replace('_', ' '):<34}" + "".join(f"{cell:>14}" for cell in cells))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--simulations", type=int, default=2_000)
    parser.add_argument("--jobs", type=int, help="runs at a time; one a core by default")
    parser.add_argument("--alone", type=int, default=2_000, help="runs beside bare simulations")
    parser.add_argument("--dask", type=int, nargs="+", default=[], help="trivial runs on Dask")
    parser.add_argument("--json", action="store_true", help="one JSON object on the last line")
    parser.add_argument("--part", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.part:
        part, runs = arguments.part[0], int(arguments.part[1].split()[-1])
        if part == "loop":
            simulate_every_second(int(arguments.part[1].split()[0]), runs)
            return
        with tempfile.TemporaryDirectory() as directory:
            place = Path(directory)
            if part == "trivial":
                found = coordinate(place / "trivial.sqlite", runs, LocalRunners(arguments.jobs))
            elif part == "dask":
                found = coordinate_on_dask(place, runs)
            elif part == "alone":
                found = beside_simulations(place, runs)
            else:
                found = simulate_trivially(place, runs, arguments.jobs)
        print(json.dumps(found))
        return
    trivial = [in_a_process_of_its_own("trivial", n, arguments.jobs) for n in arguments.runs]
    print_table(trivial)
    print()
    simulations = in_a_process_of_its_own("simulations", arguments.simulations, arguments.jobs)
    print_table([simulations])
    alone = in_a_process_of_its_own("alone", arguments.alone, None)
    print("\nBeside the simulations alone")
    print_table([alone])
    dask = [in_a_process_of_its_own("dask", runs, None) for runs in arguments.dask]
    if dask:
        print("\nDask")
        print_table(dask)
    if arguments.json:
        report = {
            "bar_ms": BAR,
            "cores": len(os.sched_getaffinity(0)),
            "trivial": trivial,
            "simulations": simulations,
            "alone": alone,
            "dask": dask,
        }
        print(json.dumps(report))


if __name__ == "__main__":
    main()
