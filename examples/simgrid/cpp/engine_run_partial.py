"""A simulation that pauses every second: SimGrid's ``engine-run-partial``."""

from pathlib import Path

from simplugin.simulation import simulation


async def runner(me):
    await me.execute(10 * me.host.speed)
    me.log("Goodbye now!")


def main(examples: Path, platform: str):
    with simulation(platform, [("Fafard", runner)]) as sim:
        sim.run_until(0)
        while sim.activities:
            [work] = sim.activities
            print(
                f"[{sim.clock:.6f}] Remaining amount of flops:"
                f" {work.remaining:g} ({work.remaining / work.amount:.0%})"
            )
            sim.run_until(sim.clock + 1)
        result = sim.run()
    print(f"[{result.clock:.6f}] Simulation time {result.clock:g}")
