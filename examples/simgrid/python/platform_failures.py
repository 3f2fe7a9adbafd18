"""Hosts and links that fail and come back: SimGrid's ``platform-failures``."""

from dataclasses import replace
from pathlib import Path

from simplugin import Host, Placement, SimGridOptions, simulate
from simplugin.core.errors import NetworkFailureException, TimeoutException
from simplugin.formats import read_deployment, read_platform
from simplugin.platforms import Profile, ProfileUse


async def send(me, box, flops, size, limit):
    try:
        await box.put(flops, size, timeout=limit)
    except TimeoutException:
        me.log(f"Mmh. Got timeouted while speaking to '{box.name}'. Nevermind. Let's keep going!")
    except NetworkFailureException:
        me.log(f"Mmh. The communication with '{box.name}' failed. Nevermind. Let's keep going!")
    else:
        return True
    return False


async def master(me, tasks, flops, size, workers):
    tasks, flops, size, workers = (int(float(each)) for each in (tasks, flops, size, workers))
    me.log(f"Got {workers} workers and {tasks} tasks to process")
    boxes = [me.mailbox(f"worker-{number}") for number in range(workers)]
    for number in range(tasks):
        box = boxes[number % workers]
        me.log(f"Send a message to {box.name}")
        if await send(me, box, flops, size, 10):
            me.log(f"Send to {box.name} completed")

    me.log("All tasks have been dispatched. Let's tell everybody the computation is over.")
    for box in boxes:
        await send(me, box, -1, 0, 1)
    me.log("Goodbye now!")


async def worker(me, number):
    box, flops = me.mailbox(f"worker-{number}"), 0
    while flops >= 0:
        try:
            me.log(f"Waiting a message on {box.name}")
            flops = await box.get()
            if flops > 0:
                me.log("Start execution...")
                await me.execute(flops)
                me.log("Execution complete.")
        except NetworkFailureException:
            me.log("Mmh. Something went wrong. Nevermind. Let's keep going!")
    me.log("I'm done. See you!")


async def sleeper(me):
    me.log("Start sleeping...")
    await me.sleep_for(1)
    me.log("done sleeping.")


def main(examples: Path, platform: str, deployment: str, settings: dict[str, str]):
    found = read_platform(platform)
    [zone] = found.elements
    lilibeth = Host("Lilibeth", 1e15)
    profile = Profile.of_points("lilibeth_profile", [(4, 0), (5, 1)], period=10)
    follows = ProfileUse(profile.id, lilibeth.id)
    zone = replace(zone, elements=(*zone.elements, lilibeth, profile, follows))

    functions = {"master": master, "worker": worker}
    deployed = [
        Placement(each.host, functions[each.function], each.arguments, restart=True)
        for each in read_deployment(deployment).actors
    ]
    result = simulate(
        replace(found, elements=(zone,)),
        [*deployed, Placement("Lilibeth", sleeper, restart=True)],
        options=SimGridOptions(crosstraffic="network/crosstraffic" not in settings),
    )
    print(f"[{result.clock:.6f}] Simulation time {result.clock:.4f}")
