"""A condition on which a worker tells its end: SimGrid's ``synchro-condition-variable``."""

from pathlib import Path

from simplugin import Placement, simulate


async def worker(me, condition, mutex, work):
    async with mutex:
        me.log(f"Start processing data which is '{work['data']}'.")
        work["data"] += " after processing"
        me.log("Signal to master that the data processing is completed, and exit.")
        work["is_done"] = True
        condition.notify_one()


async def master(me):
    mutex = me.mutex()
    condition = me.condition(mutex)
    work = {"data": "Example data", "is_done": False}
    actor = me.spawn(worker, condition, mutex, work, host="Jupiter")
    async with mutex:
        while not work["is_done"]:
            await condition.wait()
    me.log(f"data is now '{work['data']}'.")
    await actor.join()


def main(examples: Path):
    platform = examples / "platforms/two_hosts.xml"
    simulate(platform, [Placement("Tremblay", master, name="main")])
