"""Executions that fail with their host and are done elsewhere: SimGrid's ``dag-failure``."""

from pathlib import Path

from simplugin import SimGridOptions, simulate
from simplugin.core.errors import HostFailureException


async def planner(me):
    def tell(text):
        print(f"[{me.now:.6f}] {text}")

    async def run(activity, name):
        await activity
        tell(
            f"Activity '{name}' is complete (start time: {activity.start_time:f},"
            f" finish time: {activity.finish_time:f})"
        )

    async def child_of(parent):
        child = me.exec_init(2e10, host="Safe Host")
        parent.add_successor(child)
        child.start()
        await run(parent, parent.label)
        await run(child, "Child")

    tell("First test: sequential Exec activity")
    name = "Poor task"
    tell(f"Schedule Activity '{name}' on 'Faulty Host'")
    task = me.exec_async(2e10, host="Faulty Host")
    tell("Run the simulation")
    try:
        await task
    except HostFailureException:
        tell(f"Activity '{name}' has failed. {task.remaining:.0f} flops remain to be done")
    tell(f"let's unschedule Activity '{name}' and reschedule it on the 'Safe Host'")
    task = me.exec_init(2e10, host="Safe Host", label=name)
    tell("Run the simulation again")
    await child_of(task)

    tell("Second test: parallel Exec activity")
    name = "Poor parallel task"
    tell(f"Schedule Activity '{name}' on 'Safe Host' and 'Faulty Host'")
    task = me.parallel_async(["Safe Host", "Faulty Host"], [2e10, 2e10], None)
    tell("Run the simulation")
    try:
        await task
    except HostFailureException:
        tell(f"Activity '{name}' has failed. {100 * task.remaining:.0f} % remain to be done")
    tell(f"let's unschedule Activity '{name}' and reschedule it only on the 'Safe Host'")
    task = me.exec_init(4e10, host="Safe Host", label=name)
    tell("Run the simulation again")
    await child_of(task)


def main(examples: Path, platform: str):
    options = SimGridOptions(host_model="ptask_L07")
    simulate(platform, [("Safe Host", planner)], options=options)
