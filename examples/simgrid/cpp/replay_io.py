"""Reads from a disk that a trace file lists: SimGrid's ``replay-io``."""

from pathlib import Path

from simplugin import Placement, simulate
from simplugin.formats import read_deployment


async def replay(me, file):
    for line in Path(file).read_text(encoding="utf-8").splitlines():
        words = line.split()
        if not words or words[0] != me.name:
            continue
        start = me.now
        match words[1:]:
            case ["read", _, size]:
                await me.host.disks[0].read(float(size))
            case ["open" | "close", _]:
                pass  # takes no time
        me.log(f"{line} {me.now - start:f}")


def main(examples: Path, platform: str, deployment: str, file: str):
    actors = [
        Placement(each.host, replay, (file,), name=each.function)
        for each in read_deployment(deployment).actors
    ]
    result = simulate(platform, actors)
    print(f"[{result.clock:.6f}] Simulation time {result.clock:g}")
