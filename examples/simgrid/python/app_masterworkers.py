"""A master that hands out tasks in turn: SimGrid's ``app-masterworkers``."""

from pathlib import Path

from simplugin import simulate


async def master(me, tasks, flops, size, *workers):
    tasks, flops, size = int(tasks), int(flops), int(size)
    boxes = [me.mailbox(name) for name in workers]
    me.log(f"Got {len(boxes)} workers and {tasks} tasks to process")
    for number in range(tasks):
        box = boxes[number % len(boxes)]
        me.log(f"Sending task {number} of {tasks} to mailbox '{box.name}'")
        await box.put(flops, size)

    me.log("All tasks have been dispatched. Request all workers to stop.")
    for box in boxes:
        await box.put(-1, 0)


async def worker(me):
    box = me.mailbox(me.host.name)
    while (flops := await box.get()) > 0:
        await me.execute(flops)
    me.log("Exiting now.")


def main(examples: Path, platform: str, deployment: str):
    functions = {"master": master, "worker": worker}
    result = simulate(platform, deployment, functions=functions)
    print(f"[{result.clock:.6f}] Simulation is over")
