"""An execution that waits to be assigned to a host: SimGrid's ``exec-unassigned``."""

from pathlib import Path

from simplugin import simulate


async def worker(me):
    execution = me.exec_init(me.host.speed, label="exec")
    execution.host = None
    execution.start()
    await me.sleep_for(10)
    execution.host = me.host
    await execution
    me.log(f"Exec '{execution.label}' is complete")


def main(examples: Path, platform: str):
    result = simulate(platform, [("Fafard", worker)])
    print(f"[{result.clock:.6f}] Simulation time {result.clock:g}")
