"""Cost of a simulation beside the simulation itself, and of commands that do little.

Runs short commands, each a process; then trivial simulations in a row, then two at a time from two
threads, in one process, and compares memory, descriptors and processes before and after::

    python benchmarks/simulate.py [--quick] [--json] [--back-end threads]

``--json`` prints one JSON object on the last line. The bar is 25 ms a simulation.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from simplugin.simulation import simulate
from simplugin.simulation.process import server_client

PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="world" routing="Full">
    <host id="ada" speed="1Gf"/>
    <host id="bob" speed="1Gf"/>
    <link id="wire" bandwidth="1MBps" latency="1ms"/>
    <route src="ada" dst="bob"><link_ctn id="wire"/></route>
  </zone>
</platform>
"""
BAR = 25.0
FILES = ("platforms_xml/lille.xml", "scenarios/demo.toml")
COMMANDS = ("--help", *(f"check {file}" for file in FILES), "run scenarios/demo.toml")
ROOT = Path(__file__).parents[1]


async def send(me: Any) -> None:
    """Send 1 MB."""
    await me.mailbox("box").put("letter", 1e6)


async def receive(me: Any) -> str:
    """Receive it."""
    return str(await me.mailbox("box").get())


@dataclass(frozen=True)
class State:
    """Resources that may leak."""

    rss_kib: int
    server_rss_kib: int
    descriptors: int
    processes: int

    @classmethod
    def now(cls) -> State:
        """Look at this process and its servers."""
        (server,) = server_client.server_processes()
        return cls(
            rss_kib=_rss(os.getpid()),
            server_rss_kib=_rss(server),
            descriptors=len(os.listdir("/proc/self/fd")),
            processes=_children(os.getpid()) + _children(server),
        )


def _rss(pid: int) -> int:
    """Return resident memory [KiB]."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0


def _children(pid: int) -> int:
    """Count the children of a process."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return sum(len((task / "children").read_text().split()) for task in tasks)


def measure(one: Callable[[], None], count: int, threads: int) -> float:
    """Return the mean time from call to result [ms] with so many callers at a time."""
    total = 0.0
    lock = threading.Lock()

    def several(share: int) -> None:
        nonlocal total
        for done in range(share):
            started = time.perf_counter()
            one()
            with lock:
                total += time.perf_counter() - started
                if threads == 1 and done % 1000 == 999:
                    print(f"  {done + 1} of {share}", file=sys.stderr)

    with ThreadPoolExecutor(threads) as pool:
        for future in [pool.submit(several, count // threads) for _ in range(threads)]:
            future.result()
    return total / (count // threads * threads) * 1e3


def start_up(command: str, count: int) -> tuple[float, float]:
    """Return the medians of real and processor time of a command [s], its children's included."""
    real, processor = [], []
    for _ in range(count):
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        words = [sys.executable, "-m", "simplugin", *command.split()]
        subprocess.run(words, cwd=ROOT, check=True, capture_output=True)
        real.append(time.perf_counter() - started)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        processor.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return median(real), median(processor)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="500 simulations, not 10,000")
    parser.add_argument("--json", action="store_true", help="one JSON object on the last line")
    parser.add_argument("--back-end", default="coroutines", choices=("coroutines", "threads"))
    arguments = parser.parse_args()
    count = 500 if arguments.quick else 10_000
    commands = {command: start_up(command, 3 if arguments.quick else 15) for command in COMMANDS}
    with tempfile.TemporaryDirectory() as directory:
        platform = Path(directory) / "platform.xml"
        platform.write_text(PLATFORM)

        def one() -> None:
            actors = [("ada", send), ("bob", receive)]
            result = simulate(platform, actors, back_end=arguments.back_end)
            assert result.value_of("receive") == "letter"

        started = time.perf_counter()
        one()
        first = (time.perf_counter() - started) * 1e3
        # Python's and numpy's caches fill up.
        measure(one, 100, 2)
        before = State.now()
        in_a_row = measure(one, count, 1)
        two_at_a_time = measure(one, count, 2)
        after = State.now()
    report = {
        "back_end": arguments.back_end,
        "simulations": count,
        "first_ms": round(first, 1),
        "in_a_row_ms": round(in_a_row, 2),
        "two_at_a_time_ms": round(two_at_a_time, 2),
        "bar_ms": BAR,
        "commands_s": commands,
        "before": asdict(before),
        "after": asdict(after),
    }
    for command, (real, processor) in commands.items():
        print(f"simplugin {command}: {real:.2f} s, {processor:.2f} s of processor time")
    print(f"{count} simulations in a row: {in_a_row:.2f} ms each")
    print(f"{count} simulations, two at a time: {two_at_a_time:.2f} ms each")
    print(f"first simulation, with the start of the server: {first:.0f} ms")
    for name, value in asdict(before).items():
        print(f"{name}: {value} before, {asdict(after)[name]} after")
    if arguments.json:
        print(json.dumps(report))


if __name__ == "__main__":
    main()
