"""Parallel tasks where links have latencies: SimGrid's ``exec-ptask-multicore-latency``."""

from pathlib import Path

from simplugin import SimGridOptions, simulate


async def test(me):
    def tell(text):
        print(f"[{me.now:.6f}] {text}")

    async def compute(hosts, what, sizes=None):
        start = me.now
        await me.parallel_execute(hosts, [1e9] * len(hosts), sizes)
        tell(f"{what}. Took {me.now - start:g} s")

    host = me.host
    different, same = ["MyHost1", "MyHost2"], [host, host]
    await compute(different, "Computed 2-core activity on two different hosts")
    await compute(same, "Computed 2-core activity on one 4-core host")
    await compute([host] * 6, "Computed 6-core activity on a 4-core host")
    await compute(
        same,
        "Computed 2-core activity on a 4-core host with some communication",
        [[0, 1e7], [1e7, 0]],
    )

    tell("Switching machine multicore to pstate 1.")
    host.pstate = 1
    tell("Switching back to pstate 0.")
    host.pstate = 0
    await compute(same, "Computed 2-core activity on one 4-core host")
    await compute(different, "Computed 2-core activity on two different hosts")


def main(examples: Path, platform: str):
    result = simulate(platform, [("MyHost1", test)], options=SimGridOptions(host_model="ptask_L07"))
    print(f"[{result.clock:.6f}] Simulation done.")
