"""Parallel tasks: with a limit, watched, on fewer hosts: SimGrid's ``exec-ptask``."""

from pathlib import Path

from simplugin import Placement, SimGridOptions, simulate
from simplugin.core.errors import TimeoutException


async def test(me):
    hosts = me.hosts
    me.log(
        "First, build a classical parallel activity, with 1 Gflop to execute on each node, and"
        " 10MB to exchange between each pair"
    )
    flops = [1e9] * len(hosts)
    sizes = [[1e7 if row < column else 0 for column in range(3)] for row in range(3)]
    await me.parallel_execute(hosts, flops, sizes)

    me.log("We can do the same with a timeout of 10 seconds enabled.")
    task = me.parallel_async(hosts, flops, sizes)
    try:
        await task.wait(timeout=10)
    except TimeoutException:
        me.log("Caught the expected timeout exception.")
        task.cancel()

    me.log(
        "Then, build a parallel activity involving only computations (of different amounts) and"
        " no communication"
    )
    await me.parallel_execute(hosts, [3e8, 6e8, 1e9], None)
    me.log("Then, build a parallel activity with no computation nor communication (synchro only)")
    await me.parallel_execute(hosts, None, None)

    me.log("Then, Monitor the execution of a parallel activity")
    flops = [1e6] * len(hosts)
    task = me.parallel_async(hosts, flops, [[0, 1e6, 0], [0, 0, 1e6], [1e6, 0, 0]])
    while not task.test():
        me.log(f"Remaining flop ratio: {100 * task.remaining:.0f}%")
        await me.sleep_for(5)

    me.log(
        "Finally, simulate a malleable task (a parallel execution that gets reconfigured after"
        " its start)."
    )
    me.log("  - Start a regular parallel execution, with both comm and computation")
    task = me.parallel_async(hosts, flops, [[0, 1e6, 0], [0, 1e6, 0], [1e6, 0, 0]])
    await me.sleep_for(10)
    left = task.remaining
    me.log(
        f"  - After 10 seconds, {100 * left:.2f}% remains to be done. Change it from 3 hosts to 2"
        " hosts only."
    )
    me.log("    Let's first suspend the task.")
    task.suspend()
    me.log(
        "  - Now, simulate the reconfiguration (modeled as a comm from the removed host to the"
        " remaining ones)."
    )
    await me.parallel_execute(hosts, None, [[0, 0, 0], [0, 0, 0], [25000, 25000, 0]])
    me.log(
        "  - Now, let's cancel the old task and create a new task with modified comm and"
        " computation vectors:"
    )
    me.log(
        "    What was already done is removed, and the load of the removed host is shared between"
        " remaining ones."
    )
    task.cancel()
    work, size = 1.5 * left * 1e6, 1.5 * left * 1e6
    task = me.parallel_async(hosts[:2], [work, work], [[0, size], [size, 0]])
    me.log("  - Done, let's wait for the task completion")
    await task
    me.log("Goodbye now!")


def main(examples: Path, platform: str, *, language: str):
    name = {"python": "foo", "cpp": "test"}[language]
    actor = Placement("MyHost1", test, name=name)
    clock = simulate(platform, [actor], options=SimGridOptions(host_model="ptask_L07")).clock
    if language == "cpp":
        print(f"[{clock:.6f}] Simulation done.")
