"""A link that fails under one of two transfers: SimGrid's ``comm-failure``."""

from pathlib import Path

from simplugin import Host, Link, Placement, Platform, Route, Zone, simulate
from simplugin.core.errors import NetworkFailureException

PLATFORM = Platform(
    Zone(
        "world",
        "Full",
        [
            *[Host(f"Host{number}", "1f") for number in (1, 2, 3)],
            Link("link_to_2", "1bps"),
            Link("link_to_3", "1bps"),
        ],
        [Route("Host1", "Host2", ["link_to_2"]), Route("Host1", "Host3", ["link_to_3"])],
    )
)


async def sender(me, first, second):
    comms = {}
    for name, size in ((first, 5), (second, 2)):
        me.log(f"Initiating asynchronous send to {name}")
        comms[name] = me.mailbox(name).put_async(666, size)

    me.log("Calling wait_any..")
    try:
        await me.wait_any(list(comms.values()))
        me.log("Wait any returned")
    except NetworkFailureException:
        me.log(
            "Sender has experienced a network failure exception, so it knows that something went"
            " wrong"
        )
        me.log(
            "Now it needs to figure out which of the two comms failed by looking at their state:"
        )
    for name, comm in comms.items():
        me.log(f"  Comm to {name} has state: {comm.state}")

    try:
        await comms[first]
    except NetworkFailureException as error:
        me.log(f"Waiting on a FAILED comm raises an exception: '{error}'")
    me.log("Wait for remaining comm, just to be nice")
    await comms[second]


async def receiver(me, name):
    me.log(f"Receiver posting a receive ({name})...")
    try:
        await me.mailbox(name).get()
        me.log(f"Receiver has received successfully ({name})!")
    except NetworkFailureException:
        me.log(f"Receiver has experience a network failure exception ({name})")


async def link_killer(me, name):
    link = me.link_by_name(name)
    await me.sleep_for(10)
    me.log(f"Turning off link '{link.name}'")
    link.turn_off()


def main(examples: Path):
    simulate(
        PLATFORM,
        [
            Placement("Host1", sender, ("mailbox2", "mailbox3"), name="Sender"),
            Placement("Host2", receiver, ("mailbox2",), name="Receiver-1", daemon=True),
            Placement("Host3", receiver, ("mailbox3",), name="Receiver-2", daemon=True),
            Placement("Host2", link_killer, ("link_to_2",), name="LinkKiller", daemon=True),
        ],
    )
