"""Actors that do anything to each other: the engine neither crashes nor hangs nor differs."""

import random
from collections.abc import Callable

import pytest

from simplugin.errors import ActivityError, DeadlockError
from simplugin.simulation import Placement, SimGridOptions, simulate

HOSTS = [f"host-{i}" for i in range(10)]
BOXES = [f"box-{i}" for i in range(5)]


class Chaos:
    """One actor's random deeds; all draw from the same generator."""

    def __init__(self, me, dice, depth):
        self.me = me
        self.dice = dice
        self.depth = depth
        self.handles = []

    def box(self):
        return self.me.mailbox(self.dice.choice(BOXES))

    def someone(self):
        return self.dice.choice(self.me.actors)

    async def act(self):
        deeds: list[Callable] = [
            getattr(self, name) for name in dir(self) if name.startswith("do_")
        ]
        await self.dice.choice(deeds)()

    async def do_execute(self):
        await self.me.execute(self.dice.random() * 1e9, priority=self.dice.choice([1, 2]))

    async def do_execute_elsewhere(self):
        await self.me.execute(self.dice.random() * 1e9, host=self.dice.choice(HOSTS))

    async def do_exec_async(self):
        self.handles.append(self.me.exec_async(self.dice.random() * 1e9))

    async def do_put(self):
        await self.box().put(self.me.name, self.dice.random() * 1e7, timeout=0.5)

    async def do_get(self):
        await self.box().get(timeout=self.dice.choice([2, 0.5]))

    async def do_put_async(self):
        self.handles.append(self.box().put_async(1, self.dice.random() * 1e7))

    async def do_get_async(self):
        self.handles.append(self.box().get_async())

    async def do_put_detached(self):
        self.box().put_detached(1, 1e6)

    async def do_sleep(self):
        await self.me.sleep_for(self.dice.random())

    async def do_sendto(self):
        await self.me.sendto("host-1", self.dice.choice(HOSTS), 1e6 * self.dice.random())

    async def do_wait_any(self):
        if self.handles:
            await self.me.wait_any(self.handles, timeout=1)

    async def do_wait_all(self):
        await self.me.wait_all(self.handles, timeout=1)

    async def do_cancel(self):
        if self.handles:
            self.dice.choice(self.handles).cancel()

    async def do_pause(self):
        if self.handles:
            self.dice.choice(self.handles).suspend()

    async def do_unpause(self):
        for handle in self.handles:
            handle.resume()

    async def do_spawn(self):
        if self.depth < 3:
            self.me.spawn(
                riot,
                self.dice,
                self.depth + 1,
                host=self.dice.choice(HOSTS),
                restart=self.dice.random() < 0.2,
                daemon=self.dice.random() < 0.2,
            )

    async def do_kill(self):
        if self.dice.random() < 0.3:
            self.someone().kill()

    async def do_suspend(self):
        if self.dice.random() < 0.2:
            await self.someone().suspend()

    async def do_resume_all(self):
        for other in self.me.actors:
            other.resume()

    async def do_lock(self):
        async with self.me.mutex("mutex"):
            await self.me.sleep_for(0.1)

    async def do_acquire(self):
        async with self.me.semaphore(2, "semaphore"):
            await self.me.sleep_for(0.1)

    async def do_condition(self):
        mutex = self.me.mutex("mutex")
        async with mutex:
            await self.me.condition(mutex, "condition").wait(timeout=0.3)

    async def do_notify(self):
        self.me.condition(self.me.mutex("mutex"), "condition").notify_all()

    async def do_message(self):
        queue = self.me.message_queue("queue")
        await (queue.put(3, timeout=0.2) if self.dice.random() < 0.5 else queue.get(timeout=0.2))

    async def do_host_off(self):
        if self.dice.random() < 0.3:
            self.dice.choice(self.me.hosts).turn_off()

    async def do_hosts_on(self):
        for host in self.me.hosts:
            host.turn_on()

    async def do_link_off(self):
        if self.dice.random() < 0.3:
            self.dice.choice(self.me.links).turn_off()

    async def do_links_on(self):
        for link in self.me.links:
            link.turn_on()

    async def do_join(self):
        await self.someone().join(timeout=0.5)

    async def do_migrate(self):
        self.me.set_host(self.dice.choice([host for host in self.me.hosts if host.is_on]))


async def riot(me, dice, depth):
    chaos = Chaos(me, dice, depth)
    failures = 0
    for _ in range(dice.randrange(3, 25)):
        try:
            await chaos.act()
        except ActivityError:
            failures += 1
    return me.now, failures


@pytest.fixture(scope="module")
def star(tmp_path_factory):
    path = tmp_path_factory.mktemp("chaos") / "star.xml"
    path.write_text(
        "<?xml version='1.0'?>\n"
        '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
        '<platform version="4.1"><cluster id="star" prefix="host-" suffix="" radical="0-9"'
        ' speed="1Gf" bw="125MBps" lat="50us"/></platform>\n'
    )
    return path


def outcome(platform, seed):
    dice = random.Random(seed)
    crowd = [
        Placement(
            HOSTS[i % 10],
            riot,
            (dice, 0),
            name=f"actor-{i}",
            start_time=dice.choice([0.0, 0.0, 0.5]),
            kill_time=dice.choice([None, None, 3.0]),
            restart=dice.random() < 0.1,
            daemon=dice.random() < 0.1,
        )
        for i in range(20)
    ]
    options = SimGridOptions(crosstraffic=False)
    try:
        result = simulate(platform, crowd, options=options, until=1000.0, wall_limit=30, seed=seed)
    except DeadlockError as error:
        return str(error)
    assert result.trace.start.size > 20
    assert (result.trace.end >= result.trace.start).all()
    assert result.clock >= result.trace.end.max()
    return result.digest()


@pytest.mark.parametrize("seed", range(12))
def test_chaos_ends_the_same_way_twice(star, seed):
    assert outcome(star, seed) == outcome(star, seed)
