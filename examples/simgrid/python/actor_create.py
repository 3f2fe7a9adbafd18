"""Actors that are created by a program and by a deployment file: SimGrid's ``actor-create``."""

from pathlib import Path

from simplugin import Placement, simulate
from simplugin.formats import read_deployment


async def receiver(me, name):
    box = me.mailbox(name)
    me.log(f"Hello s4u, I'm ready to get any message you'd want on {name}")
    one, two, three = [await box.get() for _ in range(3)]
    me.log(f"I received '{one}', '{two}' and '{three}'")
    me.log("I'm done. See you.")


async def sender(me, text="GaBuZoMeu", name="mb42"):
    me.log("Hello s4u, I have something to send")
    await me.mailbox(name).put(text, len(text))
    me.log("I'm done. See you.")


async def forwarder(me, source, target):
    text = await me.mailbox(source).get()
    me.log(f"Forward '{text}'.")
    await me.mailbox(target).put(text, len(text))


def main(examples: Path):
    deployed = read_deployment(examples / "python/actor-create/actor-create_d.xml")
    functions = {"sender": sender, "forwarder": forwarder}
    others = [(each.host, functions[each.function], *each.arguments) for each in deployed.actors]
    simulate(
        examples / "platforms/small_platform.xml",
        [
            Placement("Fafard", receiver, ("mb42",)),
            Placement("Tremblay", sender, name="sender1"),
            Placement("Jupiter", sender, ("GloubiBoulga",), name="sender2"),
            *others,
        ],
    )
