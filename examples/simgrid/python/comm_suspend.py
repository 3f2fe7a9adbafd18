"""A transfer that is suspended and resumed: SimGrid's ``comm-suspend``."""

from pathlib import Path

from simplugin import simulate


async def sender(me, digits):
    size = 13194230
    me.log(
        f"Suspend the communication before it starts (remaining: {size} bytes) and wait a second."
    )
    await me.sleep_for(1)
    me.log(f"Now, start the communication (remaining: {size} bytes) and wait another second.")
    comm = me.mailbox("receiver").put_async("Sent message", size)
    await me.sleep_for(1)

    me.log(
        f"There is still {comm.remaining:.0f} bytes to transfer in this communication."
        " Suspend it for one second."
    )
    comm.suspend()
    me.log(
        f"Now there is {comm.remaining:.0f} bytes to transfer."
        " Resume it and wait for its completion."
    )
    comm.resume()
    await comm

    left = f"{comm.remaining:.{digits}f}"
    me.log(f"There is {left} bytes to transfer after the communication completion.")
    me.log("Suspending a completed activity is a no-op.")
    comm.suspend()


async def receiver(me):
    me.log("Wait for the message.")
    received = await me.mailbox("receiver").get()
    me.log(f"I got '{received}'.")


def main(examples: Path, platform: str, *, language: str):
    digits = {"python": 0, "cpp": 6}[language]
    simulate(platform, [("Tremblay", sender, digits), ("Jupiter", receiver)])
