"""Processor time of Python actors, of SimGrid's C++ actors and of its Python bindings.

Each cell is a process of its own; the rounds of the systems alternate, and medians are quoted. The
simulated end dates must be equal. Tracing is off.

    .venv/bin/python benchmarks/actors.py [--quick] [--json] [--repeat N] [--systems ...]
        [--unreleased PREFIX] [CASE ...]
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from bisect import bisect, insort
from dataclasses import dataclass, field
from pathlib import Path

from compiled import compiled_program

SYSTEMS = ("coroutines", "cpp", "official", "unreleased")
CHORD = Path(__file__).resolve().parent.parent / "examples/simgrid/cpp/dht_chord.py"
BITS = 24  # of Chord's keys
NO_CROSSTRAFFIC = (
    *("--cfg=network/latency-factor:1", "--cfg=network/bandwidth-factor:1"),
    *("--cfg=network/weight-S:0", "--cfg=network/crosstraffic:0"),
)


@dataclass(frozen=True)
class Case:
    """A program, and how large it is.

    Attributes
    ----------
    program : str
    actors : int
    rounds : dict of str to int
        Of each system; all dates are compared where two have the same.
    hosts : int
        Of the star.
    peers : int
        To which an actor of `exchange` sends.
    options : tuple of str
        SimGrid's.
    """

    program: str
    actors: int
    rounds: dict[str, int]
    hosts: int = 0
    peers: int = 0
    options: tuple[str, ...] = field(default=())

    @property
    def messages(self):
        """Return the number of messages of a round, 0 if it is unknown."""
        per_round = {
            "ping_pong": self.actors // 2,
            "exchange": 2 * self.actors,
            "master_worker": self.actors,
        }
        return per_round.get(self.program, 0)


def ping_pong(actors, messages, slow=None):
    """Return a case of pairs, in which `messages` are sent, and `slow` by Python's threads."""
    rounds = {"coroutines": messages, "cpp": messages} | (
        {"official": slow, "unreleased": messages} if slow else {"unreleased": messages}
    )
    pairs = actors // 2
    return Case("ping_pong", actors, {k: max(1, n // pairs) for k, n in rounds.items()}, actors)


def master_worker(workers, messages):
    """Return a case in which a master sends tasks to workers that compute them."""
    rounds = {"coroutines": messages, "cpp": messages, "official": 10_000, "unreleased": messages}
    counts = {system: max(1, count // workers) for system, count in rounds.items()}
    return Case("master_worker", workers, counts, workers + 1)


def exchange(actors, peers, rounds):
    """Return a case of DSLab's comparison: actors send to some random peers, and answer all."""
    both = {"coroutines": rounds, "cpp": rounds}
    return Case("exchange", actors, both, actors, peers, NO_CROSSTRAFFIC)


def chord(nodes, seconds):
    """Return a case of SimGrid's example dht-chord, for some seconds after all have joined."""
    return Case("chord", nodes, {"coroutines": seconds, "cpp": seconds}, nodes)


CASES = {
    "pairs-2": ping_pong(2, 200_000, 10_000),
    "pairs-200": ping_pong(200, 200_000, 10_000),
    "pairs-2000": ping_pong(2_000, 200_000, 8_000),
    "pairs-10000": ping_pong(10_000, 200_000, 10_000),
    "pairs-100000": ping_pong(100_000, 200_000),
    "pairs-1000000": Case("ping_pong", 1_000_000, {"coroutines": 4}, 1_000),
    "master-1": master_worker(1, 200_000),
    "master-100": master_worker(100, 200_000),
    "master-5000": master_worker(5_000, 200_000),
    "exchange-1000": exchange(1_000, 10, 100),
    "exchange-10000": exchange(10_000, 100, 20),
    "chord-10000": chord(10_000, 100),
    "chord-100000": chord(100_000, 50),
    "sleepers-1000000": Case("sleepers", 1_000_000, {"coroutines": 1}, 1_000),
}
QUICK = ("pairs-2", "pairs-200", "pairs-10000", "master-1", "master-100", "exchange-1000")


def write_star(hosts: int, directory: Path) -> Path:
    """Write a star of hosts as one cluster element."""
    path = directory / f"star-{hosts}.xml"
    path.write_text(
        "<?xml version='1.0'?>\n"
        '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
        '<platform version="4.1">\n'
        f'  <cluster id="star" prefix="host-" suffix="" radical="0-{hosts - 1}" speed="1Gf"'
        ' bw="125MBps" lat="50us" loopback_bw="100GBps" loopback_lat="0"/>\n'
        "</platform>\n"
    )
    return path


def chord_nodes(count, seconds):
    """Return (key, key of a known node, start, lifetime) of each node.

    A node answers every 5 s, so the ring doubles every 40 s, and a new node knows the last one
    before it that has been there for so long. All stay for some seconds after the last one's start.
    """
    keys = [(42 + number * 0x9E3779) % 2**BITS for number in range(count)]
    starts = [40 * math.log2(number + 1) for number in range(count)]
    end = starts[-1] + seconds
    nodes, ring = [(keys[0], end)], []
    for number in range(1, count):
        if number % 2:
            insort(ring, keys[number // 2])
        known = ring[bisect(ring, keys[number]) - 1]
        nodes.append((keys[number], known, starts[number], end - starts[number]))
    return nodes


def write_deployment(nodes, directory: Path) -> Path:
    """Write Chord's nodes as SimGrid's program reads them."""
    path = directory / "chord.xml"
    actors = (
        f'<actor host="host-{number}" function="node">'
        + "".join(f'<argument value="{value!r}"/>' for value in node)
        + "</actor>\n"
        for number, node in enumerate(nodes)
    )
    path.write_text(
        "<?xml version='1.0'?>\n"
        '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
        f'<platform version="4.1">\n{"".join(actors)}</platform>\n'
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


def draw(state):
    """Return the next number of a generator that is simple enough for two languages."""
    return (state * 1103515245 + 12345) & 0x7FFFFFFF


async def starter(me, actors):
    """Start all actors of an exchange, and stop them when each has had its answers."""
    boxes = [me.mailbox(f"peer-{number}") for number in range(actors)]
    for number, box in enumerate(boxes):
        box.put_detached(("start", None), 1000 * (number + 1))
    for _ in range(actors):
        await me.mailbox("starter").get()
    for box in boxes:
        box.put_detached(("stop", None), 1)


async def peer(me, number, actors, peers, rounds):
    """Send to random peers, one after the other has answered, and answer all."""
    state, others = number, []
    for _ in range(peers):
        state = draw(state)
        others.append(me.mailbox(f"peer-{(state >> 8) % actors}"))
    box = me.mailbox(f"peer-{number}")
    kind, sender = await box.get()
    while kind != "stop":
        if kind == "ping":
            sender.put_detached(("pong", None), 1000 + number)
        elif rounds:
            rounds -= 1
            state = draw(state)
            others[(state >> 8) % peers].put_detached(("ping", box), 1000 + state % 65536)
        else:
            await me.mailbox("starter").put(None, 1)
        kind, sender = await box.get()


def load(name, path):
    """Import a module from a file."""
    spec = importlib.util.spec_from_file_location(name, path)
    sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


def placed(case, rounds):
    """Yield (function, arguments, host number, name)."""
    if case.program == "ping_pong":
        for i in range(case.actors // 2):
            yield ping, (i, rounds), 2 * i % case.hosts, "ping"
            yield pong, (i, rounds), (2 * i + 1) % case.hosts, "pong"
    elif case.program == "master_worker":
        yield master, (case.actors, rounds), 0, "master"
        for i in range(case.actors):
            yield work, (i, rounds), i + 1, "worker"
    elif case.program == "exchange":
        yield starter, (case.actors,), 0, "starter"
        for i in range(case.actors):
            yield peer, (i, case.actors, case.peers, rounds), i % case.hosts, "peer"
    elif case.program == "chord":
        chord = load("dht_chord", CHORD)
        chord.BITS, chord.KEYS = BITS, 2**BITS
        chord.Node.tell_fingers = lambda _: None  # nobody reads it, in C++ neither
        for i, node in enumerate(chord_nodes(case.actors, rounds)):
            yield chord.node, node, i, "node"
    else:
        for i in range(case.actors):
            yield sleeper, (1.0 + i % 1000,), i % case.hosts, "sleeper"


def run_coroutines(platform, case, rounds):
    """Run one cell on the compiled driver; return processor time and end date."""
    from simplugin.simulation import _driver
    from simplugin.simulation.coroutines import CoroutinesBackEnd
    from simplugin.simulation.protocol import ActorJob

    options = ["--log=root.thres:warning", *case.options]
    back_end = CoroutinesBackEnd(options, trace_limit=0, energy=False, seed=0)
    back_end.load_platform(platform)
    start = time.process_time()
    for function, args, host, name in placed(case, rounds):
        back_end.spawn(ActorJob(function, args, f"host-{host}", name, 0.0, None, False, False, {}))
    back_end.run(None, None)
    return time.process_time() - start, _driver.clock()


def run_bindings(platform, case, rounds):
    """Run one cell on SimGrid's own Python bindings; return processor time and end date."""
    if unreleased := os.environ.get("UNRELEASED"):
        load("simgrid", next(Path(unreleased).glob("python/simgrid.*.so")))
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

    options = ["--cfg=contexts/stack-size:64", "--cfg=contexts/guard-size:0"]
    engine = Engine(["bindings", "--log=root.thres:warning", *options])
    engine.load_platform(platform)
    translation = {"ping": ping, "pong": pong, "master": master, "worker": work}
    start = time.process_time()
    for _, args, host, name in placed(case, rounds):
        simgrid.Host.by_name(f"host-{host}").add_actor(name, translation[name], args[0])
    engine.run()
    return time.process_time() - start, Engine.clock


# ---- the cells ----------------------------------------------------------------------------------


def command_of(system, name, rounds, directory):
    """Return the command of a cell."""
    case = CASES[name]
    platform = write_star(max(case.hosts, 2), directory)
    if system != "cpp":
        return [sys.executable, __file__, "--cell", system, platform, name, str(rounds)]
    options = ["--cfg=contexts/factory:raw", "--cfg=contexts/stack-size:64", *case.options]
    if case.actors > 20_000:  # a guard page each takes more memory maps than there are
        options += ["--cfg=contexts/guard-size:0"]
    options += ["--log=root.thres:warning", platform]
    if case.program == "chord":
        deployment = write_deployment(chord_nodes(case.actors, rounds), directory)
        return [compiled_program("chord", "dht-chord"), *options, str(BITS), deployment]
    numbers = (case.actors, rounds, case.hosts, case.peers)
    return [compiled_program("actors"), *options, case.program, *map(str, numbers)]


def cell(system, name, rounds, directory, unreleased):
    """Run one cell; return (processor time [s], end date [s], memory [MB]), or a reason."""
    command = command_of(system, name, rounds, directory)
    more = {"UNRELEASED": unreleased} if system == "unreleased" else {}
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(command, stdout=out, stderr=err, env=os.environ | more)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0), err.seek(0)
        words, lines = out.read().split(), err.read().decode().splitlines()
    if process.returncode != 0 or len(words) < 2:
        return (lines or [f"exit {process.returncode}"])[-1][:200]
    return float(words[-2]), float(words[-1]), usage.ru_maxrss / 1e3


def measure(name, systems, repeats, directory, unreleased):
    """Return {system: figures, or a reason}, of rounds in turn; raise if dates differ."""
    case = CASES[name]
    cells, dates, reasons = {system: [] for system in systems}, {}, {}
    for _ in range(repeats):
        for system in (each for each in systems if each not in reasons):
            result = cell(system, name, case.rounds[system], directory, unreleased)
            if isinstance(result, str):
                reasons[system] = result
                continue
            cells[system].append(result)
            dates.setdefault(case.rounds[system], {})[system] = result[1]
    for rounds, each in dates.items():
        if max(each.values()) - min(each.values()) > 1e-9 * max(each.values()):
            raise SystemExit(f"{name}, {rounds} rounds: end dates differ: {each}")
    figures = {}
    for system in systems:
        if system in reasons:
            figures[system] = {"reason": reasons[system]}
            continue
        seconds = statistics.median(each[0] for each in cells[system])
        figures[system] = {
            "seconds": seconds,
            "round": seconds / case.rounds[system],
            "memory": max(each[2] for each in cells[system]),
        }
    return figures


def row(name, figures):
    """Return a row of the table: our rate, time and memory; of each other the ratio and memory."""
    ours = figures["coroutines"]
    rate = CASES[name].messages / ours["round"]
    cells = [f"{rate:,.0f}" if rate else "", f"{ours['seconds']:.2f}", f"{ours['memory']:,.0f}"]
    for system in SYSTEMS[1:]:
        other = figures.get(system, {})
        if "round" in other:
            cells += [f"{other['round'] / ours['round']:.2f}", f"{other['memory']:,.0f}"]
        else:
            cells += ["", other.get("reason", "")]
    return f"| {name} | " + " | ".join(cells) + " |"


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(CASES))
    parser.add_argument("--quick", action="store_true", help="one round of some, under 50 s")
    parser.add_argument("--json", action="store_true", help="print one JSON line last")
    parser.add_argument("--repeat", type=int, default=5, help="rounds (5)")
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=SYSTEMS)
    parser.add_argument("--unreleased", metavar="PREFIX", help="a later SimGrid with bindings")
    parser.add_argument("--cell", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.cell:
        system, platform, name, rounds = arguments.cell
        run = run_coroutines if system == "coroutines" else run_bindings
        seconds, date = run(platform, CASES[name], int(rounds))
        print(f"{seconds:.9f} {date:.12g}", flush=True)
        os._exit(0)
    if unknown := [case for case in arguments.cases if case not in CASES]:
        sys.exit(f"no such case: {', '.join(unknown)}; choose from {', '.join(CASES)}")
    heads = [f"ours / {system} | MB" for system in SYSTEMS[1:]]
    print(f"| case | messages/s | s | MB | {' | '.join(heads)} |")
    print("| --- |" + " ---: |" * 9)
    results = {}
    with tempfile.TemporaryDirectory() as directory:
        for name in arguments.cases or (QUICK if arguments.quick else CASES):
            systems = [
                each
                for each in arguments.systems
                if each in CASES[name].rounds and (each != "unreleased" or arguments.unreleased)
            ]
            repeats = 1 if arguments.quick else arguments.repeat
            results[name] = measure(name, systems, repeats, Path(directory), arguments.unreleased)
            print(row(name, results[name]), flush=True)
    if arguments.json:
        print(json.dumps(results))


if __name__ == "__main__":
    main()
