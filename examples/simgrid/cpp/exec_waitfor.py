"""Executions that are awaited up to a limit: SimGrid's ``exec-waitfor``."""

from pathlib import Path

from simplugin import SimGridOptions, simulate
from simplugin.core.errors import TimeoutException


async def worker(me):
    async def wait(execution, limit, what):
        try:
            await execution.wait(timeout=limit)
            me.log(f"{what} complete")
        except TimeoutException:
            me.log(f"{what} Wait Timeout!")

    flops = 5 * me.host.speed
    me.log("Create an activity that should run for 5 seconds")
    execution = me.exec_async(flops)
    me.log("But let it end after 3 seconds")
    await wait(execution, 3, "Execution")
    me.log("Create another activity that should run for 5 seconds and wait for it for 6 seconds")
    await wait(me.exec_async(flops), 6, "Execution")
    me.log("Finally test with a parallel execution")
    hosts = me.hosts
    await wait(me.parallel_async(hosts, [1e9] * len(hosts), None), 2, "Parallel Execution")


def main(examples: Path, platform: str):
    simulate(platform, [("Tremblay", worker)], options=SimGridOptions(host_model="ptask_L07"))
