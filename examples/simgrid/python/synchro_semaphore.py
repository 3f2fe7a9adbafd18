"""A producer and a consumer with two semaphores: SimGrid's ``synchro-semaphore``."""

from pathlib import Path

from simplugin import simulate

END = ""
buffer = []


async def producer(me, words):
    empty, full = me.semaphore(1, "empty"), me.semaphore(0, "full")
    me.log("starting consuming")
    for word in [*words, END]:
        await empty.acquire()
        await me.sleep_for(1)
        me.log(f"Pushing '{word}'")
        buffer[:] = [word]
        full.release()
    me.log("Bye!")


async def consumer(me):
    empty, full = me.semaphore(1, "empty"), me.semaphore(0, "full")
    me.log("starting producing")
    word = None
    while word != END:
        await full.acquire()
        word = buffer.pop()
        empty.release()
        me.log(f"Receiving '{word}'")
    me.log("Bye!")


def main(examples: Path, platform: str, words: str):
    simulate(platform, [("Tremblay", producer, words.split(",")), ("Jupiter", consumer)])
