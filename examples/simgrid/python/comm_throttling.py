"""A transfer at full speed and a slower one: SimGrid's ``comm-throttling``."""

from pathlib import Path

from simplugin import simulate


async def sender(me, box):
    me.log("Send at full bandwidth")
    await me.mailbox(box).put(me.now, 2.5e8)
    me.log("Throttle the bandwidth at the Comm level")
    await me.mailbox(box).put(me.now, 2.5e8, rate=1.25e8 / 2)


async def receiver(me, box, form):
    for speed in ("full bandwidth", "throttled"):
        sent = await me.mailbox(box).get()
        me.log(f"Payload received ({speed}) in {me.now - sent:{form}} seconds")


def main(examples: Path, platform: str, *, language: str):
    form = {"python": "", "cpp": "f"}[language]
    ends = [("node-0.simgrid.org", sender, "box"), ("node-1.simgrid.org", receiver, "box", form)]
    simulate(platform, ends)
