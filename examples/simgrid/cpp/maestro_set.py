"""The thread in which actors run: SimGrid's ``maestro-set``."""

import threading
from pathlib import Path

from simplugin import simulate


def thread():
    is_main = threading.current_thread() is threading.main_thread()
    return f"I am {'the' if is_main else 'not the'} main thread, as expected"


async def sender(me):
    me.log(thread())
    me.log(thread())
    await me.mailbox("some mailbox").put("some message", 10e8)


async def receiver(me):
    me.log(thread())
    await me.mailbox("some mailbox").get()
    me.log("Task received")


def main(examples: Path, platform: str):
    result = simulate(platform, [("Tremblay", sender), ("Jupiter", receiver)])
    print(f"[{result.clock:.6f}] Detached")
    print(f"[{result.clock:.6f}] {thread()}")
