"""A link that degrades with the number of transfers: SimGrid's ``network-nonlinear``."""

from functools import partial
from pathlib import Path

from simplugin import Host, Link, Platform, Route, Zone, simulate
from simplugin.platforms import LinkUse
from simplugin.simulation import Callbacks


async def sender(me, count):
    box = me.mailbox("receiver")
    comms = []
    for number in range(count):
        text, size = f"Message {number}", 1_000_000 * (number + 1)
        me.log(f"Send '{text}' to '{box.name}, msg size: {size}'")
        comms.append(box.put_async(text, size))
    me.log("Done dispatching all messages")
    await me.wait_all(comms)
    me.log("Goodbye now!")


async def receiver(me, clock, count):
    clock.append(me)
    me.log(f"Wait for {count} messages asynchronously")
    pending = [me.mailbox("receiver").get_async() for _ in range(count)]
    while pending:
        comm = await me.wait_any(pending)
        pending.remove(comm)
        me.log(f"I got '{comm.result}'.")


def main(examples: Path):
    clock = []

    def degraded(link, capacity, count):
        new = min(capacity, capacity * (1 - (count - 1) / 10))
        now = clock[0].now
        print(f"[{now:.6f}] Link {link}, {count} active communications, new capacity {new:f}")
        return new

    link = Link("link1", 1e6, 10e-6, "SPLITDUPLEX")
    elements = [Host("sender", 1), Host("receiver", 1), link]
    route = Route("sender", "receiver", [LinkUse("link1", "UP")])
    simulate(
        Platform(Zone("world", "Full", elements, [route])),
        [("receiver", receiver, clock, 9), ("sender", sender, 9)],
        callbacks=Callbacks(
            link_sharing={name: partial(degraded, name) for name in link.simgrid_names}
        ),
    )
