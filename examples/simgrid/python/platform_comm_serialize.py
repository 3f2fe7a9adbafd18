"""A link that two transfers at most cross at a time: SimGrid's ``platform-comm-serialize``."""

from pathlib import Path

from simplugin import Host, Link, Platform, Route, SimGridOptions, Zone, simulate
from simplugin.platforms import LinkUse

PLATFORM = Platform(
    Zone(
        "world",
        "Full",
        [Host("sender", 1), Host("receiver", 1), Link("link1", 10e9, 10e-6, "SPLITDUPLEX")],
        [Route("sender", "receiver", [LinkUse("link1", "UP")])],
    )
)


async def sender(me, messages, size):
    box, comms = me.mailbox("receiver"), []
    for number in range(messages):
        me.log(f"Send 'Message {number}' to '{box.name}'")
        comms.append(box.put_async(f"Message {number}", size))
    me.log("Done dispatching all messages")
    await me.wait_all(comms)
    me.log("Goodbye now!")


async def receiver(me, messages):
    me.log(f"Wait for {messages} messages asynchronously")
    comms = [me.mailbox("receiver").get_async() for _ in range(messages)]
    while comms:
        # Of those that end at the same date, the latest first.
        comm = await me.wait_any(comms[::-1])
        comms.remove(comm)
        me.log(f"I got '{comm.result}'.")


def main(examples: Path):
    actors = [("receiver", receiver, 10), ("sender", sender, 10, 1e6)]
    options = SimGridOptions(extra={"maxmin/concurrency-limit": "2"})
    simulate(PLATFORM, actors, options=options)
