"""An execution, a message and a read, awaited together: SimGrid's ``activityset-waitall``."""

from pathlib import Path

from simplugin import simulate


async def bob(me):
    disk = me.host.disks[0]
    me.log("Create my asynchronous activities")
    pending = [me.exec_async(5e9), me.mailbox("mbox").get_async(), disk.read_async(3e8)]
    me.log("Wait for asynchronous activities to complete, all in one shot.")
    await me.wait_all(pending)
    me.log("All activities are completed.")


async def alice(me):
    me.log("Send 'Message'")
    await me.mailbox("mbox").put("Message", 6e8)


def main(examples: Path, platform: str):
    simulate(platform, [("bob", bob), ("alice", alice)])
