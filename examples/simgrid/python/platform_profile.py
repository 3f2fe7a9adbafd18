"""Hosts and links whose speeds and latencies follow profiles: SimGrid's ``platform-profile``."""

from dataclasses import replace
from pathlib import Path

from simplugin import Host, simulate
from simplugin.formats import read_platform
from simplugin.platforms import Profile, ProfileUse


async def watcher(me):
    route = me.route("Jupiter", "Fafard")
    path = ", ".join(f"link '{link.name}'" for link in route.links)
    me.log(f"Path from Jupiter to Fafard: {path} (latency: {route.latency:.6f}s).")
    hosts = [me.host_by_name(name) for name in ("Fafard", "Jupiter", "Lilibeth")]
    one, two = me.link_by_name("1"), me.link_by_name("2")
    for _ in range(10):
        fafard, jupiter, lilibeth = (host.speed * host.available_speed / 1e6 for host in hosts)
        me.log(
            f"Fafard: {fafard:.0f}Mflops, Jupiter: {jupiter:4.0f}Mflops,"
            f" Lilibeth: {lilibeth:3.1f}Mflops,"
            f" Link1: ({one.bandwidth / 1000:.2f}MB/s {one.latency * 1000:.0f}ms),"
            f" Link2: ({two.bandwidth / 1000:.2f}MB/s {two.latency * 1000:.0f}ms)"
        )
        await me.sleep_for(1)


def main(examples: Path, platform: str):
    found = read_platform(platform)
    [zone] = found.elements
    lilibeth = Host("Lilibeth", 25e6)
    profile = Profile.of_points("lilibeth_profile", [(0, 1), (2, 0.5)], period=4)
    follows = ProfileUse(profile.id, lilibeth.id, "SPEED")
    zone = replace(zone, elements=(*zone.elements, lilibeth, profile, follows))
    simulate(replace(found, elements=(zone,)), [("Fafard", watcher)])
