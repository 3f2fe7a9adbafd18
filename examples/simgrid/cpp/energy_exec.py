"""The energy of hosts that compute, idle, slow down and go off: SimGrid's ``energy-exec``."""

from pathlib import Path

from simplugin import SimGridOptions, simulate


async def dvfs_test(me):
    host, other = me.host, me.host_by_name("MyHost2")

    async def sleep(duration):
        start = me.now
        await me.sleep_for(duration)
        return (
            f"Done sleeping (duration: {me.now - start:.2f} s). Current peak speed={host.speed:.0E}"
        )

    async def compute(flops):
        me.log(f"Run a computation of {flops:.0E} flops")
        start = me.now
        await me.execute(flops)
        return (
            f"Computation done (duration: {me.now - start:.2f} s). Current peak"
            f" speed={host.speed:.0E} flop/s"
        )

    me.log(f"Energetic profile: {host.properties['wattage_per_state']}")
    me.log(f"Initial peak speed={host.speed:.0E} flop/s; Energy dissipated ={host.energy:.0E} J")
    me.log("Sleep for 10 seconds")
    me.log(f"{await sleep(10)}; Energy dissipated={host.energy:.2f} J")

    done = await compute(100e6)
    watts = host.properties["wattage_per_state"].split(",")[host.pstate].split(":")
    me.log(
        f"{done}; Current consumption: from {float(watts[1]):.0f}W to {float(watts[2]):.0f}W"
        f" depending on load; Energy dissipated={host.energy:.0f} J"
    )
    host.pstate = 2
    me.log(
        f"========= Requesting pstate 2 (speed should be of {host.pstate_speed(2):.0E} flop/s and"
        f" is of {host.speed:.0E} flop/s)"
    )
    me.log(f"{await compute(100e6)}; Energy dissipated={host.energy:.0f} J")
    me.log("Sleep for 4 seconds")
    me.log(f"{await sleep(4)} flop/s; Energy dissipated={host.energy:.0f} J")

    me.log(
        f"Turning MyHost2 off, and sleeping another 10 seconds. MyHost2 dissipated"
        f" {other.energy:.0f} J so far."
    )
    other.turn_off()
    me.log(f"{await sleep(10)} flop/s; Energy dissipated={host.energy:.0f} J")


def main(examples: Path, platform: str, settings: dict[str, str]):
    result = simulate(
        platform,
        [("MyHost1", dvfs_test)],
        options=SimGridOptions(host_model=settings.get("host/model")),
        energy=True,
    )
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
