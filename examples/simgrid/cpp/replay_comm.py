"""Actors that do what a trace file says: SimGrid's ``replay-comm``."""

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
            case ["compute", flops]:
                await me.execute(float(flops))
            case ["send", receiver, size]:
                await me.mailbox(f"{me.name}_{receiver}").put(size, float(size))
            case ["recv", sender]:
                await me.mailbox(f"{sender}_{me.name}").get()
        me.log(f"{' '.join(words)} {me.now - start:f}")


def main(examples: Path, platform: str, deployment: str, file: str = ""):
    directory = Path(deployment).parent
    actors = [
        Placement(
            each.host,
            replay,
            (str(directory / (each.arguments[0] if each.arguments else file)),),
            name=each.function,
        )
        for each in read_deployment(deployment).actors
    ]
    result = simulate(platform, actors)
    print(f"[{result.clock:.6f}] Simulation time {result.clock:g}")
