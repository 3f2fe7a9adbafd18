"""A simulation that pauses at a date: SimGrid's ``debug/breakpoint``."""

from pathlib import Path

from simplugin.simulation import simulation


async def pinger(me, inbox, outbox):
    me.log(f"Ping from mailbox {inbox} to mailbox {outbox}")
    await me.mailbox(outbox).put(me.now, 1)
    await me.mailbox(inbox).get()
    me.log("Payload received : large communication (bandwidth bound)")


async def ponger(me, inbox, outbox):
    me.log(f"Pong from mailbox {inbox} to mailbox {outbox}")
    sent = await me.mailbox(inbox).get()
    me.log("Payload received : small communication (latency bound)")
    me.log(f"Ping time (latency bound) {me.now - sent:f}")
    me.log(f"payload = {me.now:.3f}")
    await me.mailbox(outbox).put(me.now, 1e9)


def main(examples: Path, platform: str, settings: dict[str, str]):
    one, two = "Mailbox 1", "Mailbox 2"
    actors = [("Tremblay", pinger, one, two), ("Jupiter", ponger, two, one)]
    with simulation(platform, actors) as sim:
        sim.run_until(float(settings["debug/breakpoint"]))
