"""Cost of branches of a running simulation, beside replays from the beginning; and what is left.

Cases, all without arguments::

    python benchmarks/branches.py [--quick] [--json] [CASE ...]

``size``: time of a branch, its end included, and memory that it does not share, by the memory of
the process. ``replay``: alternatives from a pause that the simulation reaches late, by branches and
by replays in turns. ``row``: many branches in a row and nested ones; descriptors and processes
before and after. ``kill``: the simulation, a branch or the caller is killed at random moments.
``choice``: time of a choice in process. ``rollout``: a rollout beside its base.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from simulate import PLATFORM

from simplugin.core.errors import SimpluginError
from simplugin.simulation import Rollout, Simulation, simulate, simulation
from simplugin.simulation.process import server_client
from simplugin.simulation.process.operating_system import descendants


async def hold(me: Any, megabytes: int) -> int:
    """Occupy memory by many objects, and let time pass."""
    kept = [(number, float(number)) for number in range(megabytes * 1_000_000 // 128)]
    for _ in range(100):
        await me.sleep_for(1.0)
    return len(kept)


async def send(me: Any, rounds: int) -> float:
    """Compute and send."""
    for number in range(rounds):
        await me.execute(1e6 * (1 + me.random.random()))
        await me.mailbox("box").put(number, 1e3)
    return float(me.now)


async def receive(me: Any, rounds: int) -> int:
    """Receive."""
    return sum([await me.mailbox("box").get() for _ in range(rounds)])


async def choose(me: Any, rounds: int) -> None:
    """Offer choices."""
    for _ in range(rounds):
        await me.choose((0, 1))


async def serve(me: Any, tasks: int) -> None:
    """Send each task to the host that is chosen."""
    for _ in range(tasks):
        host = ("ada", "bob")[await me.choose(("ada", "bob"))]
        await me.mailbox(host).put_async(1e9 * (0.5 + me.random.random()), 1e3)
        await me.sleep_for(0.4)
    for host in ("ada", "bob"):
        await me.mailbox(host).put(None, 0)


async def work(me: Any) -> None:
    """Compute what comes."""
    while (flops := await me.mailbox(me.host.name).get()) is not None:
        await me.execute(flops)


def seconds_of(function: Callable[[], object]) -> float:
    """Return the time that a call takes [s]."""
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin


def branch(sim: Simulation) -> None:
    """Make a branch, and end it."""
    with sim.branch(quiet=True):
        pass


def unshared(pid: int) -> float:
    """Return the memory of a process that no other has [MB]."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    private = [line.split() for line in lines if line.startswith("Private_")]
    return sum(int(each[1]) for each in private) / 1000


def size(file: Path, *, quick: bool) -> dict[str, Any]:
    """Measure a branch by the memory of the process."""
    found = {}
    for megabytes in (0, 100) if quick else (0, 100, 400, 1000):
        with simulation(file, [("ada", hold, megabytes)]) as sim:
            sim.run_until(1.5)
            (process,) = [
                each for server in server_client.server_processes() for each in descendants(server)
            ]
            resident = int(Path(f"/proc/{process}/statm").read_text().split()[1]) * 4096 / 1e6
            times = [seconds_of(lambda: branch(sim)) for _ in range(20)]
            with sim.branch(quiet=True) as other:
                (copy,) = [
                    each
                    for server in server_client.server_processes()
                    for each in descendants(server)
                    if each != process
                ]
                at_first = unshared(copy)
                other.run_until(99.5)
                later = unshared(copy)
            found[f"{resident:.0f} MB"] = {
                "branch and end [ms]": round(1e3 * median(times), 2),
                "unshared at first [MB]": round(at_first, 1),
                "unshared after 98 s simulated [MB]": round(later, 1),
            }
    return found


def replay(file: Path, *, quick: bool) -> dict[str, Any]:
    """Compare alternatives by branches and by replays, in turns."""
    rounds, count = (4_000, 10) if quick else (150_000, 100)
    actors = [("ada", send, rounds), ("bob", receive, rounds)]
    whole = simulate(file, actors, trace=False)
    pause = 0.98 * whole.clock
    reach, alternative, again = [], [], []

    def ends() -> set[float]:
        return set(sim.map(lambda each, _: each.run().clock, range(count)))

    with simulation(file, actors, trace=False) as sim:
        reached = seconds_of(lambda: sim.run_until(pause))
        for _ in range(3):
            reach.append(median(seconds_of(lambda: branch(sim)) for _ in range(10)))
            alternative.append(seconds_of(ends))
            assert ends() == {whole.clock}
            again.append(seconds_of(lambda: simulate(file, actors, trace=False)))
    return {
        "to the pause from 0 [s]": round(reached, 3),
        "to the pause by a branch [s]": round(median(reach), 5),
        "ratio": round(reached / median(reach), 1),
        "alternatives to their ends, by branches [1/s]": round(count / median(alternative), 1),
        "by replays, one core [1/s]": round(1 / median(again), 2),
    }


def row(file: Path, *, quick: bool) -> dict[str, Any]:
    """Make many branches in a row, and nested ones; look for what is left."""

    def left() -> dict[str, int]:
        below = [len(descendants(server)) for server in server_client.server_processes()]
        return {"descriptors": len(os.listdir("/proc/self/fd")), "processes": sum(below)}

    many, deep = (200, 20) if quick else (5_000, 200)
    actors = [("ada", send, 50), ("bob", receive, 50)]
    whole = simulate(file, actors)
    before = left()
    with simulation(file, actors) as sim:
        sim.run_until(whole.clock / 2)
        took = seconds_of(lambda: [branch(sim) for _ in range(many)])
        with contextlib.ExitStack() as stack:
            latest = sim
            for _ in range(deep):
                latest = stack.enter_context(latest.branch(quiet=True))
            assert latest.run() == whole
        assert sim.run() == whole
    return {
        "in a row": many,
        "nested": deep,
        "a branch in a row [ms]": round(1e3 * took / many, 2),
        "before": before,
        "after": left(),
    }


CALLER = """
import sys
from branches import receive, send
from simplugin.simulation import simulation
with simulation(sys.argv[1], [("ada", send, 10**6), ("bob", receive, 10**6)]) as sim:
    sim.run_until(0.1)
    while True:
        with sim.branch(quiet=True) as other:
            print("branched", flush=True)
            other.run_until(sim.clock + 5.0)
"""


def kill(file: Path, *, quick: bool) -> dict[str, Any]:
    """Kill processes at random moments; count what is left, and survivors with other ends."""
    draws, wrong, remain = random.Random(0), 0, 0
    instants = 6 if quick else 50
    actors = [("ada", send, 2_000), ("bob", receive, 2_000)]
    whole = simulate(file, actors)
    for number in range(instants):
        with simulation(file, actors) as sim:
            sim.run_until(draws.uniform(0, whole.clock / 2))
            with sim.branch(quiet=True) as other:
                pids = [sim._supervision._process.pid, other._supervision._process.pid]
                victim, survivor = ((0, other), (1, sim))[number % 2]
                time.sleep(draws.uniform(0, 0.01))
                os.kill(pids[victim] or 0, signal.SIGKILL)
                wrong += survivor.run() != whole
                with contextlib.suppress(SimpluginError):
                    (sim, other)[victim].run()
                    wrong += 1
        remain += sum(len(descendants(server)) for server in server_client.server_processes())
    for _ in range(instants):
        caller = subprocess.Popen(
            [sys.executable, "-c", CALLER, str(file)],
            stdout=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": str(Path(__file__).parent)},
        )
        assert caller.stdout is not None
        caller.stdout.readline()
        below = descendants(caller.pid)
        time.sleep(draws.uniform(0, 0.05))
        below += descendants(caller.pid)
        caller.kill()
        caller.wait()
        deadline = time.monotonic() + 10
        while any(Path(f"/proc/{pid}").exists() for pid in below) and time.monotonic() < deadline:
            time.sleep(0.01)
        remain += sum(Path(f"/proc/{pid}").exists() for pid in below)
    return {"instants": 2 * instants, "processes left": remain, "wrong ends": wrong}


def choice(file: Path, *, quick: bool) -> dict[str, Any]:
    """Measure a choice: actors that offer many, beside actors that offer none."""
    rounds = 20_000 if quick else 300_000
    times = {
        count: median(
            seconds_of(lambda count=count: simulate(file, [("ada", choose, count)]))
            for _ in range(5)
        )
        for count in (0, rounds)
    }
    return {"a choice, with its record [us]": round(1e6 * (times[rounds] - times[0]) / rounds, 2)}


def rollout(file: Path, *, quick: bool) -> dict[str, Any]:
    """Compare a rollout with its base."""
    actors = [("ada", serve, 8 if quick else 40), ("ada", work), ("bob", work)]

    def alternate(given: Any) -> int:
        return int(given.number) % 2

    found: dict[str, Any] = {}
    for name, chooser in (("base", alternate), ("rollout", Rollout(alternate))):
        begin = time.perf_counter()
        found[f"{name}, end [s]"] = round(simulate(file, actors, chooser=chooser).clock, 3)
        found[f"{name}, takes [s]"] = round(time.perf_counter() - begin, 2)
    return found


CASES = {each.__name__: each for each in (size, replay, row, kill, choice, rollout)}


def main() -> None:
    """Run the cases that the command line names, or all."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(CASES))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if unknown := set(arguments.cases) - set(CASES):
        parser.error(f"no case {', '.join(sorted(unknown))}; there are {', '.join(CASES)}")
    found = {}
    with tempfile.TemporaryDirectory(prefix="simplugin-") as directory:
        file = Path(directory) / "platform.xml"
        file.write_text(PLATFORM)
        for name in arguments.cases or CASES:
            found[name] = CASES[name](file, quick=arguments.quick)
            print(f"{name}: {json.dumps(found[name])}", file=sys.stderr)
    if arguments.json:
        print(json.dumps(found))


if __name__ == "__main__":
    main()
