"""Hosts chosen by what they are and what they do: SimGrid's ``engine-filtering``."""

from pathlib import Path

from simplugin import SimGridOptions, simulate


async def program(me):
    def tell(text):
        print(f"[{me.now:.6f}] {text}")

    tell(f"Hosts currently registered with this engine: {len(me.hosts)}")
    for host in me.hosts:
        if host.cores > 1:
            tell(f"The following hosts have more than one core: {host.name}")
    for host in me.hosts:
        if host.cores == 1:
            tell(f"The following hosts are SingleCore: {host.name}")

    tell("A simple example: Let's retrieve all hosts that changed their frequency")
    before = {host.name: host.pstate for host in me.hosts}
    me.host_by_name("MyHost2").pstate = 2
    for host in me.hosts:
        if host.pstate != before[host.name]:
            old = host.pstate_speed(before[host.name])
            tell(
                "The following hosts changed their frequency:"
                f" {host.name} (from {old:.1f}f to {host.speed:.1f}f)"
            )
    for host in me.hosts:
        if host.speed > 50e6:
            tell(f"The following hosts have a frequency > 50Mf: {host.name}")


def main(examples: Path, platform: str):
    options = SimGridOptions(network_model="CM02", crosstraffic=False)
    simulate(platform, [("MyHost1", program)], options=options)
