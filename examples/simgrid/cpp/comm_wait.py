"""Messages that are awaited, and tested now and then: SimGrid's ``comm-wait``."""

from pathlib import Path

from simplugin import simulate


async def sender(me, messages, size):
    box, start, pause = me.mailbox("receiver"), 5, 0
    me.log(f"sleep_start_time : {start:f} , sleep_test_time : {pause:f}")
    await me.sleep_for(start)
    for number in range(messages):
        comm = box.put_async(f"Message {number}", size)
        me.log(f"Send 'Message {number}' to '{box.name}'")
        await comm
    me.log("Send 'finalize' to 'receiver'")
    await box.put("finalize", 0)


async def receiver(me):
    box, start, pause = me.mailbox("receiver"), 1, 0.1
    me.log(f"sleep_start_time : {start:f} , sleep_test_time : {pause:f}")
    await me.sleep_for(start)
    me.log("Wait for my first message")
    text = ""
    while text != "finalize":
        comm = box.get_async()
        while not comm.test():
            await me.sleep_for(pause)
        text = comm.result
        me.log(f"I got a '{text}'.")


def main(examples: Path, platform: str):
    simulate(platform, [("Tremblay", sender, 3, 482117300), ("Ruby", receiver)])
