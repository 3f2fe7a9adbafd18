"""Control messages, which take no simulated time: SimGrid's ``mess-wait``."""

from pathlib import Path

from simplugin import simulate


async def sender(me, messages):
    queue = me.message_queue("control")
    await me.sleep_for(0.5)
    me.log("Send 'hello' to 'receiver'")
    await queue.put("hello")
    for number in range(messages):
        message = queue.put_async(f"Message {number}")
        me.log(f"Send 'Message {number}' to '{queue.name}'")
        await message
    me.log("Send 'finalize' to 'receiver'")
    await queue.put("finalize")


async def receiver(me):
    queue = me.message_queue("control")
    await me.sleep_for(1)
    me.log(f"I got a '{await queue.get()}'.")
    me.log("Wait for my first message")
    text = ""
    while text != "finalize":
        message = queue.get_async()
        await me.sleep_for(0.1)
        text = await message
        me.log(f"I got a '{text}'.")


def main(examples: Path, platform: str):
    simulate(platform, [("Tremblay", sender, 3), ("Fafard", receiver)])
