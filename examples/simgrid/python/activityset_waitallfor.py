"""Activities that are awaited for one second at a time: SimGrid's ``activityset-waitallfor``."""

from pathlib import Path

from simplugin import simulate
from simplugin.core.errors import TimeoutException


async def bob(me, has_messages):
    disk = me.host.disks[0]
    me.log("Create my asynchronous activities")
    kinds = {
        me.exec_async(5e9): "an Exec",
        me.mailbox("mbox").get_async(): "a Comm",
        disk.read_async(3e8): "an I/O",
    }
    if has_messages:
        kinds[me.message_queue("mqueue").get_async()] = "a Mess"
    pending = list(kinds)
    me.log("Wait for asynchronous activities to complete")
    while pending:
        try:
            await me.wait_all(pending, timeout=1)
        except TimeoutException:
            me.log("Not all activities are terminated yet.")
        while completed := me.test_any(pending):
            pending.remove(completed)
            me.log(f"Completed {kinds[completed]}")
    me.log("Last activity is complete")


async def alice(me):
    me.log("Send 'Message'")
    await me.mailbox("mbox").put("Message", 6e8)


async def carl(me):
    await me.sleep_for(1.99)
    me.log("Send 'Control Message'")
    await me.message_queue("mqueue").put("Control Message")


def main(examples: Path, platform: str, *, language: str):
    is_cpp = language == "cpp"
    actors = [("bob", bob, is_cpp), ("alice", alice)]
    simulate(platform, [*actors, ("carl", carl)] if is_cpp else actors)
