"""Waits with a time limit: SimGrid's ``comm-waituntil``."""

from pathlib import Path

from simplugin import simulate


async def sender(me, box, messages, size):
    box, comms = me.mailbox(box), []
    for number in range(messages):
        me.log(f"Send 'Message {number}' to '{box.name}'")
        comms.append(box.put_async(f"Message {number}", size))
    me.log(f"Send 'finalize' to '{box.name}'")
    comms.append(box.put_async("finalize", 0))
    me.log("Done dispatching all messages")

    while comms:
        await comms.pop().wait(timeout=1)
    me.log("Goodbye now!")


async def receiver(me, box):
    me.log("Wait for my first message")
    text = ""
    while text != "finalize":
        text = await me.mailbox(box).get()
        me.log(f"I got a '{text}'.")


def main(examples: Path, platform: str, *, language: str):
    box = {"python": "receiver", "cpp": "receiver-0"}[language]
    simulate(platform, [("Tremblay", sender, box, 3, 5e7), ("Ruby", receiver, box)])
