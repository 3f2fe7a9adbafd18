"""The energy of parallel tasks: SimGrid's ``energy-exec-ptask``."""

from pathlib import Path

from simplugin import SimGridOptions, simulate
from simplugin.core.errors import TimeoutException


async def energy_ptask_test(me):
    hosts = [me.host, me.host_by_name("MyHost2")]
    before = [host.energy for host in hosts]

    def tell(text, unit=" flop/s", digits=0):
        me.log(f"{text} (duration: {me.now - start:.2f} s).")
        for number, host in enumerate(hosts):
            energy = host.energy
            print(
                f"[{host.name}] Current peak speed={host.speed:.0E}{unit}; Energy dissipated"
                f" during this step={energy - before[number]:.2f} J; Total energy"
                f" dissipated={energy:.{digits}f} J"
            )
            before[number] = energy

    for host in hosts:
        me.log(f"[{host.name}] Energetic profile: {host.properties['wattage_per_state']}")
        me.log(
            f"[{host.name}] Initial peak speed={host.speed:.0E} flop/s; Total energy dissipated"
            f" ={host.energy:.0E} J"
        )
    start = me.now
    me.log("Sleep for 10 seconds")
    await me.sleep_for(10)
    tell("Done sleeping", unit="", digits=2)

    start, flops = me.now, [1e9, 1e9]
    me.log(f"Run a task of {1e9:.0E} flops on two hosts")
    await me.parallel_execute(hosts, flops, None)
    tell("Task done")

    for host in hosts:
        host.pstate = 2
    me.log(
        "========= Requesting pstate 2 for both hosts (speed should be of"
        f" {me.host.pstate_speed(2):.0E} flop/s and is of {me.host.speed:.0E} flop/s)"
    )
    start = me.now
    me.log(f"Run a task of {1e9:.0E} flops on MyHost1 and {1e9:.0E} flops on MyHost2.")
    await me.parallel_execute(hosts, flops, None)
    tell("Task done")

    start, sizes = me.now, [[0, 1e7], [1e7, 0]]
    me.log("Run a task with computation and communication on two hosts.")
    await me.parallel_execute(hosts, flops, sizes)
    tell("Task done")

    start = me.now
    me.log("Run a task with only communication on two hosts.")
    await me.parallel_execute(hosts, None, sizes)
    tell("Task done")

    start = me.now
    me.log("Run a task with computation on two hosts and a timeout of 20s.")
    try:
        await me.parallel_async(hosts, flops, None).wait(timeout=20)
    except TimeoutException:
        me.log("Finished WITH timeout")
    tell("Task ended")
    me.log("Now is time to quit!")


def main(examples: Path, platform: str):
    options = SimGridOptions(host_model="ptask_L07")
    result = simulate(platform, [("MyHost1", energy_ptask_test)], options=options, energy=True)
    hosts = result.hosts
    total = sum(hosts.energy)
    used = sum(joule for joule, busy in zip(hosts.energy, hosts.busy, strict=True) if busy)
    print(
        f"[{result.clock:.6f}] Total energy consumption: {total:f} Joules (used hosts: {used:f}"
        f" Joules; unused/idle hosts: {total - used:f})"
    )
    print(f"[{result.clock:.6f}] End of simulation.")
    for name, joule in zip(hosts.name, hosts.energy, strict=True):
        print(f"[{result.clock:.6f}] Energy consumption of host {name}: {joule:f} Joules")
