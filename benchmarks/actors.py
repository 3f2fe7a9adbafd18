"""Messages per second of Python actors, official bindings and C++ actors, side by side.

Pairs of actors exchange messages of 1 kB over a star; a master sends tasks to workers that compute
them. Each cell is a process of its own; the rounds of the three systems alternate, and medians are
quoted. Tracing is off. The simulated end dates of the three must agree.

    .venv/bin/python benchmarks/actors.py [--quick] [--json] [--million]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from compiled import compiled_program

SYSTEMS = ("official", "coroutines", "cpp")
SIZES = {"ping_pong": (2, 200, 2_000, 10_000, 100_000), "master_worker": (1, 100, 5_000)}
QUICK_SIZES = {"ping_pong": (2, 200, 10_000, 100_000), "master_worker": (1, 100)}
# Messages in a cell, full and quick: enough for about a second, more where the system is slow.
MESSAGES = {
    "official": {
        2: 20_000,
        200: 10_000,
        2_000: 8_000,
        10_000: 10_000,
        1: 10_000,
        100: 10_000,
        5_000: 10_000,
    },
    "coroutines": {100_000: 200_000},
    "cpp": {2_000: 100_000, 10_000: 100_000, 5_000: 100_000},
}
IMPOSSIBLE = {
    ("official", 100_000): "one OS thread per actor: this many cannot be created",
    ("cpp", 100_000): "one memory mapping per stack: this many cannot be created",
}
MILLION = 1_000_000


def write_star(hosts: int, directory: Path) -> Path:
    """Write a star of hosts as one cluster element."""
    path = directory / f"star-{hosts}.xml"
    path.write_text(
        "<?xml version='1.0'?>\n"
        '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
        '<platform version="4.1">\n'
        f'  <cluster id="star" prefix="host-" suffix="" radical="0-{hosts - 1}" speed="1Gf"'
        ' bw="125MBps" lat="50us"/>\n'
        "</platform>\n"
    )
    return path


# ---- the same programs in the two Pythons -----------------------------------------------------


async def ping(me, number, rounds):
    """Send and receive in turn, `rounds` messages in all."""
    out, back = me.mailbox(f"ping-{number}"), me.mailbox(f"pong-{number}")
    for _ in range(rounds // 2):
        await out.put(None, 1000)
        await back.get()
    if rounds % 2:
        await out.put(None, 1000)


async def pong(me, number, rounds):
    """Receive and send in turn."""
    out, back = me.mailbox(f"pong-{number}"), me.mailbox(f"ping-{number}")
    for _ in range(rounds // 2):
        await back.get()
        await out.put(None, 1000)
    if rounds % 2:
        await back.get()


async def master(me, workers, rounds):
    """Send a task to each worker in turn."""
    for _ in range(rounds):
        for worker in range(workers):
            await me.mailbox(f"worker-{worker}").put(None, 1000)


async def work(me, number, rounds):
    """Compute each task received."""
    tasks = me.mailbox(f"worker-{number}")
    for _ in range(rounds):
        await tasks.get()
        await me.execute(1e6)


async def sleeper(me, date):
    """Wait, as most actors of a large system do."""
    await me.sleep_until(date)
    await me.execute(1e6)


def placed(program, actors, rounds):
    """Yield (function, arguments, host number, name)."""
    if program == "ping_pong":
        for i in range(actors // 2):
            yield ping, (i, rounds), 2 * i, "ping"
            yield pong, (i, rounds), 2 * i + 1, "pong"
    elif program == "master_worker":
        yield master, (actors, rounds), 0, "master"
        for i in range(actors):
            yield work, (i, rounds), i + 1, "worker"
    else:
        for i in range(actors):
            yield sleeper, (1.0 + i % 1000,), i % 1000, "sleeper"


def run_coroutines(platform, program, actors, rounds):
    """One cell on the compiled driver."""
    from simplugin.simulation.coroutines import CoroutinesBackEnd
    from simplugin.simulation.protocol import ActorJob

    back_end = CoroutinesBackEnd(["--log=root.thres:warning"], trace_limit=0, energy=False, seed=0)
    back_end.load_platform(platform)
    start = time.perf_counter()
    for function, args, host, name in placed(program, actors, rounds):
        back_end.spawn(ActorJob(function, args, f"host-{host}", name, 0.0, None, False, False, {}))
    back_end.run(None, None)
    seconds = time.perf_counter() - start
    from simplugin.simulation import _driver

    return seconds, _driver.clock()


def run_official(platform, program, actors, rounds):
    """One cell on SimGrid's own Python bindings."""
    import simgrid
    from simgrid import Engine, Mailbox, this_actor

    def ping(number):
        out, back = Mailbox.by_name(f"ping-{number}"), Mailbox.by_name(f"pong-{number}")
        for _ in range(rounds // 2):
            out.put(None, 1000)
            back.get()
        if rounds % 2:
            out.put(None, 1000)

    def pong(number):
        out, back = Mailbox.by_name(f"pong-{number}"), Mailbox.by_name(f"ping-{number}")
        for _ in range(rounds // 2):
            back.get()
            out.put(None, 1000)
        if rounds % 2:
            back.get()

    def master(workers):
        for _ in range(rounds):
            for worker in range(workers):
                Mailbox.by_name(f"worker-{worker}").put(None, 1000)

    def work(number):
        tasks = Mailbox.by_name(f"worker-{number}")
        for _ in range(rounds):
            tasks.get()
            this_actor.execute(1e6)

    engine = Engine(["official", "--log=root.thres:warning"])
    engine.load_platform(platform)
    translation = {"ping": ping, "pong": pong, "master": master, "worker": work}
    start = time.perf_counter()
    for _, args, host, name in placed(program, actors, rounds):
        simgrid.Host.by_name(f"host-{host}").add_actor(name, translation[name], args[0])
    engine.run()
    seconds = time.perf_counter() - start
    return seconds, Engine.clock


# ---- the cells ----------------------------------------------------------------------------------


def cell(system, platform, program, actors, rounds, compiled):
    """Run one cell in a process of its own; return (seconds, end date) or a reason."""
    arguments = [str(platform), program, str(actors), str(rounds)]
    if system == "cpp":
        options = [
            "--cfg=contexts/factory:raw",
            "--cfg=contexts/stack-size:64",
            "--log=root.thres:warning",
        ]
        command = [str(compiled), *options, *arguments]
    else:
        command = [sys.executable, __file__, "--cell", system, *arguments]
    outcome = subprocess.run(command, capture_output=True, text=True)
    words = outcome.stdout.split()
    if outcome.returncode != 0 or len(words) < 2:
        return None, (outcome.stderr.strip().splitlines() or [f"exit {outcome.returncode}"])[-1][
            :200
        ]
    return float(words[-2]), float(words[-1])


def channels(program, actors):
    """Return how many messages a round has."""
    return actors // 2 if program == "ping_pong" else actors


def measure(program, actors, repeats, quick, directory, compiled):
    """Measure one size on all systems in turn; return messages/s or None, and reasons."""
    hosts = max(actors + 1, 2)
    platform = write_star(hosts, directory)
    rates = {system: [] for system in SYSTEMS}
    dates, reasons = {}, {}
    for _ in range(repeats):
        for system in SYSTEMS:
            if (system, actors) in IMPOSSIBLE:
                reasons[system] = IMPOSSIBLE[system, actors]
                continue
            wanted = MESSAGES[system].get(actors, 200_000) // (4 if quick else 1)
            rounds = max(1, wanted // channels(program, actors))
            seconds, date = cell(system, platform, program, actors, rounds, compiled)
            if seconds is None:
                reasons[system] = date
                continue
            rates[system].append(channels(program, actors) * rounds / seconds)
            dates.setdefault(rounds, set()).add(date)
    for rounds, found in dates.items():
        if max(found) - min(found) > 1e-9 * max(found):
            raise SystemExit(
                f"{program}, {actors} actors, {rounds} rounds: end dates differ: {found}"
            )
    medians = {s: statistics.median(rates[s]) if rates[s] else None for s in SYSTEMS}
    return medians, reasons


def million(directory):
    """Run a million actors in one simulation; return seconds and peak memory."""
    platform = write_star(1000, directory)
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, __file__, "--cell", "coroutines", platform, "sleep", str(MILLION), "1"],
        check=True,
        capture_output=True,
    )
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    return {"actors": MILLION, "seconds": time.perf_counter() - start, "peak_bytes": peak}


def show(results):
    """Print a table a program."""
    for program in SIZES:
        print(f"\n{program}: messages/s (median)")
        print(
            f"{'actors':>8} " + " ".join(f"{s:>12}" for s in SYSTEMS) + "   ours/official  ours/C++"
        )
        for actors, row in results[program].items():
            cells = " ".join(f"{row[s]:12,.0f}" if row[s] else f"{'-':>12}" for s in SYSTEMS)
            ours = row["coroutines"]
            ratios = " ".join(
                f"{ours / row[s]:13.2f}" if row[s] and ours else f"{'-':>13}"
                for s in ("official", "cpp")
            )
            print(f"{actors:>8} {cells}  {ratios}")
            for system, reason in row.get("reasons", {}).items():
                print(f"{'':>8} {system}: {reason}")
    if "million" in results:
        one = results["million"]
        peak = one["peak_bytes"] / 2**30
        print(f"\na million actors: {one['seconds']:.1f} s, {peak:.2f} GiB at most")


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one short round, under 50 s")
    parser.add_argument("--json", action="store_true", help="print one JSON line last")
    parser.add_argument("--million", action="store_true", help="a million actors too")
    parser.add_argument("--cell", nargs=5, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.cell:
        system, platform, program, actors, rounds = arguments.cell
        run = run_coroutines if system == "coroutines" else run_official
        seconds, date = run(platform, program, int(actors), int(rounds))
        print(f"{seconds:.9f} {date:.12g}", flush=True)
        os._exit(0)
    compiled = compiled_program("actors")
    results = {}
    with tempfile.TemporaryDirectory() as directory:
        for program, sizes in (QUICK_SIZES if arguments.quick else SIZES).items():
            results[program] = {}
            for actors in sizes:
                repeats = 1 if arguments.quick else 5
                medians, reasons = measure(
                    program, actors, repeats, arguments.quick, Path(directory), compiled
                )
                results[program][str(actors)] = medians | ({"reasons": reasons} if reasons else {})
        if arguments.million or not arguments.quick:
            results["million"] = million(Path(directory))
    show(results)
    if arguments.json:
        print(json.dumps(results))


if __name__ == "__main__":
    main()
