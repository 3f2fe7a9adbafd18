"""Factors of bandwidth and latency that depend on the size: SimGrid's ``network-factors``."""

from bisect import bisect
from itertools import permutations
from pathlib import Path

from simplugin import Host, Link, Placement, Platform, Route, SimGridOptions, Zone, simulate
from simplugin.platforms import LinkUse
from simplugin.simulation import Callbacks

LOCAL, REMOTE, LATENCY = 25e9, 12.5e9, 0.1e-6  # of links [byte/s, s]
# Sizes [byte] from which on the factors of bandwidth and of latency hold.
FACTORS = {
    "Local": (
        (0, 0.17591906192813994, 0.0),
        (16000, 0.12119203247138953, 650.2212383180362),
        (6000000, 0.07551057012803415, 0.0),
        (36900419, 0.04281516758309203, 0.0),
        (160097505, 0.17440518795992602, 1017885.3518765072),
    ),
    "Remote": (
        (0, 1.0000000000000002, 0.0),
        (8000, 1.0000000000000002, 1731.7102918851567),
        (15798, 0.07435006650635523, 1441.073993161278),
        (64000, 0.3163352696348148, 1761.4784830658123),
        (6000000, 0.13003278960133288, 0.0),
        (42672591, 0.10354740223279707, 0.0),
        (160097505, 0.40258935729656503, 970913.4558162984),
    ),
}


def factors(size, source, destination):
    """Return the kind of a transfer, and its factors of bandwidth and latency."""
    kind = "Local" if source == destination else "Remote"
    steps = FACTORS[kind]
    return kind, *steps[bisect(steps, size, key=lambda step: step[0]) - 1][1:]


async def sender(me, hosts, crosstraffic):
    for size in (64e3, 64e6, 64e9):
        for host in hosts:
            kind, bandwidth, latency = factors(size, me.host.name, host)
            # On the loopback, what comes back shares the one link.
            capacity = LOCAL / (1.05 if crosstraffic else 1) if kind == "Local" else REMOTE
            links = 1 if kind == "Local" else 2
            estimated = me.now + size / (capacity * bandwidth) + LATENCY * latency * links
            text = (
                f"{kind} communication: size={size:f}. Use bw_factor={bandwidth:f}"
                f" lat_factor={latency:f}. Estimated finished time={estimated:f}"
            )
            await me.mailbox(host).put(text, size)
    me.log("Done dispatching all messages")
    for host in hosts:
        await me.mailbox(host).put("finalize", 0)


async def receiver(me):
    text = ""
    while text != "finalize":
        text = await me.mailbox(me.host.name).get()
        me.log(f"I got a '{text}'.")


def main(examples: Path, mode: str = ""):
    crosstraffic = mode != "disable_crosstraffic"
    here, there = "dahu-1.grid5000.fr", "dahu-10.grid5000.fr"
    elements, routes = [], []
    for name in (here, there):
        loopback = Link(f"{name}_loopback", LOCAL, LATENCY)
        elements += [Host(name, 1, 32), Link(name, REMOTE, LATENCY, "SPLITDUPLEX"), loopback]
        routes.append(Route(name, name, [loopback.id]))
    for source, destination in permutations((here, there)):
        uses = [LinkUse(source, "UP"), LinkUse(destination, "DOWN")]
        routes.append(Route(source, destination, uses, symmetrical=False))
    simulate(
        Platform(Zone("dahu", "Full", elements, routes)),
        [
            Placement(here, receiver, name="receiver-local"),
            Placement(there, receiver, name="receiver-remote"),
            Placement(here, sender, ([here, there], crosstraffic), name=f"sender{here}"),
        ],
        options=SimGridOptions(network_model="CM02", crosstraffic=crosstraffic),
        callbacks=Callbacks(
            bandwidth_factor=lambda size, source, destination, links, zones: factors(
                size, source.name, destination.name
            )[1],
            latency_factor=lambda size, source, destination, links, zones: factors(
                size, source.name, destination.name
            )[2],
        ),
    )
