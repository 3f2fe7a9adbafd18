"""A producer and a consumer with two semaphores: SimGrid's ``synchro-semaphore``."""

from pathlib import Path

from simplugin import simulate

buffer = []


async def producer(me, words):
    empty, full = me.semaphore(1, "empty"), me.semaphore(0, "full")
    for word in words:
        await empty.acquire()
        me.log(f"Pushing '{word}'")
        buffer[:] = [word]
        full.release()
    me.log("Bye!")


async def consumer(me):
    empty, full = me.semaphore(1, "empty"), me.semaphore(0, "full")
    word = None
    while word != "":
        await full.acquire()
        word = buffer.pop()
        me.log(f"Receiving '{word}'")
        empty.release()
    me.log("Bye!")


def main(examples: Path):
    words = ["one", "two", "three", ""]
    actors = [("Tremblay", producer, words), ("Jupiter", consumer)]
    simulate(examples / "platforms/two_hosts.xml", actors)
