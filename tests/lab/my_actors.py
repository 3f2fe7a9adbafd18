"""Actors of a scenario that tests copy and change."""


async def send(me, size):
    await me.mailbox("box").put(None, float(size), label="data")


async def work(me, flops):
    await me.mailbox("box").get()
    await me.execute(float(flops), label="crunch")
    return me.now
