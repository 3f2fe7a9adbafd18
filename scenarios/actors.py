"""A master that hands out the tasks of several applications to whichever worker is idle."""

import itertools


async def master(me, workers, *applications):
    """Send every task to a worker that asks, applications in turn; tell the workers the end.

    An application is written ``name:tasks:flop:byte``.
    """
    requests = me.mailbox("requests")
    for name, flops, size in bag(applications):
        worker = await requests.get()
        # Not waited for: transfers to several workers share the master's link.
        me.mailbox(worker).put_detached((name, flops), size, label=name)
    for _ in range(int(workers)):
        worker = await requests.get()
        me.mailbox(worker).put_detached(None, 1e3, label="end")


async def worker(me):
    """Ask for a task, execute it, ask again; return how many there were."""
    requests, tasks = me.mailbox("requests"), me.mailbox(me.host.name)
    done = 0
    await requests.put(me.host.name, 1e3, label="request")
    while task := await tasks.get():
        name, flops = task
        await me.execute(flops, label=name)
        done += 1
        await requests.put(me.host.name, 1e3, label="request")
    return done


def bag(applications):
    """Return the tasks (name, flop, byte), one of each application in turn."""
    columns = []
    for application in applications:
        name, tasks, flops, size = application.split(":")
        columns.append([(name, float(flops), float(size))] * int(tasks))
    rounds = itertools.zip_longest(*columns)
    return [task for tasks in rounds for task in tasks if task is not None]
