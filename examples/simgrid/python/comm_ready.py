"""Peers that take messages only when they have arrived: SimGrid's ``comm-ready``.

Messages flow as soon as they are put, since gets wait for them: there is no permanent receiver.
"""

from pathlib import Path

from simplugin import simulate


class Inbox:
    """A mailbox with gets that wait for messages."""

    def __init__(self, box, ahead=16):
        self.box = box
        self.gets = [box.get_async() for _ in range(ahead)]

    @property
    def is_ready(self):
        return self.gets[0].test()

    def take(self):
        self.gets.append(self.box.get_async())
        return self.gets.pop(0).result


async def peer(me, number, messages, size, peers):
    inbox = Inbox(me.mailbox(f"peer-{number}"))
    boxes = [me.mailbox(f"peer-{other}") for other in range(peers) if other != number]
    texts = [f"Message {count} from peer {number}" for count in range(messages)]
    comms = []
    for text in [*texts, "finalize"]:
        for box in boxes:
            me.log(f"Send '{text}' to '{box.name}'")
            comms.append(box.put_async(text, size))
            await me.yield_()
    me.log("Done dispatching all messages")

    running = len(boxes)
    while running > 0:
        if inbox.is_ready:
            text = inbox.take()
            me.log(f"I got a '{text}'.")
            running -= text == "finalize"
        else:
            me.log("Nothing ready to consume yet, I better sleep for a while")
            await me.sleep_for(0.01)

    me.log("I'm done, just waiting for my peers to receive the messages before exiting")
    await me.wait_all(comms)
    me.log("Goodbye now!")


def main(examples: Path, platform: str):
    peers = [("Tremblay", 2, 5e7), ("Ruby", 6, 2.5e5), ("Perl", 0, 5e7)]
    simulate(
        platform,
        [(host, peer, number, *given, len(peers)) for number, (host, *given) in enumerate(peers)],
    )
