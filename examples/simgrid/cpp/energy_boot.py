"""The energy that a host takes to boot and to shut down: SimGrid's ``energy-boot``."""

from pathlib import Path

from simplugin import Placement, SimGridOptions, simulate

BOOTING, SHUTTING_DOWN = 3, 4  # states of the platform that only consume energy


async def boot(me, host):
    pstate = host.pstate
    me.log(
        f"Switch to virtual pstate {BOOTING}, that encodes the 'booting up' state in that platform"
    )
    host.pstate = BOOTING
    me.log("Actually start the host")
    host.turn_on()
    me.log("Wait 150s to simulate the boot time.")
    await me.sleep_for(150)
    me.log(f"The host is now up and running. Switch back to previous pstate {pstate}")
    host.pstate = pstate


async def shut_down(me, host):
    pstate = host.pstate
    me.log(
        f"Switch to virtual pstate {SHUTTING_DOWN}, that encodes the 'shutting down' state in that"
        " platform"
    )
    host.pstate = SHUTTING_DOWN
    me.log("Wait 7 seconds to simulate the shutdown time.")
    await me.sleep_for(7)
    me.log(f"Switch back to previous pstate {pstate}, that will be used on reboot.")
    host.pstate = pstate
    me.log("Actually shutdown the host")
    host.turn_off()


async def monitor(me, name):
    def tell(what):
        pstate, energy = host.pstate, host.energy
        me.log(f"{what} Current pstate: {pstate}; Energy dissipated so far: {energy:.2f} J")

    host = me.host_by_name(name)
    me.log(f"Initial pstate: {host.pstate}; Energy dissipated so far:{host.energy:.0E} J")
    me.log("Sleep for 10 seconds")
    await me.sleep_for(10)
    tell("Done sleeping.")
    await shut_down(me, host)
    tell("Host1 is now OFF.")
    me.log("Sleep for 10 seconds")
    await me.sleep_for(10)
    tell("Done sleeping.")
    await boot(me, host)
    tell("Host1 is now ON again.")


def main(examples: Path, platform: str, settings: dict[str, str]):
    result = simulate(
        platform,
        [Placement("MyHost2", monitor, ("MyHost1",), name="Boot Monitor")],
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
