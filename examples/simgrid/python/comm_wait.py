"""A sender that waits for its messages one after the other: SimGrid's ``comm-wait``."""

from pathlib import Path

from simplugin import simulate


async def sender(me, messages, size, receivers):
    boxes = [me.mailbox(f"receiver-{number}") for number in range(receivers)]
    comms = []
    for number in range(messages):
        text, box = f"Message {number}", boxes[number % receivers]
        me.log(f"Send '{text}' to 'Mailbox({box.name})'")
        comms.append(box.put_async(text, size))
    for box in boxes:
        me.log(f"Send 'finalize' to 'Mailbox({box.name})'")
        comms.append(box.put_async("finalize", 0))
    me.log("Done dispatching all messages")

    for comm in comms:
        await comm
    me.log("Goodbye now!")


async def receiver(me, number):
    me.log("Wait for my first message")
    text = ""
    while text != "finalize":
        text = await me.mailbox(f"receiver-{number}").get()
        me.log(f"I got a '{text}'.")


def main(examples: Path, platform: str):
    simulate(platform, [("Tremblay", sender, 3, 5e7, 1), ("Ruby", receiver, 0)])
