"""Executions of several threads on a host of four cores: SimGrid's ``exec-threads``."""

from pathlib import Path

from simplugin import simulate


async def runner(me):
    def tell(text):
        print(f"[{me.now:.6f}] {text}")

    async def compute(threads):
        start = me.now
        await me.execute(1e9, threads=threads)
        tell(f"Computed {threads}-thread activity on a 4-core host. Took {me.now - start:g} s")

    for threads in (2, 4, 6):
        await compute(threads)
    background = me.exec_async(2.5e9)
    tell("Start a 1-thread background task on the 4-core host.")
    for threads in (2, 4):
        await compute(threads)
    await background
    tell("The background task has ended.")

    background = me.exec_async(2e9, threads=4)
    tell("Start a 4-thread background task on the 4-core host.")
    tell("Sleep for 5 seconds before starting another competing task")
    await me.sleep_for(5)
    await compute(1)
    await background
    tell("The background task has ended.")

    start = me.now
    tell("Asynchronously start two 2-thread tasks on the 4-core host.")
    pending = [me.exec_async(1e9, threads=2) for _ in range(2)]
    while pending:
        pending.remove(await me.wait_any(pending))
        tell("Activity completed")
    tell(f"Computed two 2-thread activities on a 4-core host. Took {me.now - start:g} s")


def main(examples: Path, platform: str):
    result = simulate(platform, [("MyHost1", runner)])
    print(f"[{result.clock:.6f}] Simulation done.")
