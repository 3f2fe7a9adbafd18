"""Actors that do random things, described by plain data so that both back ends do the same.

Short sleeps of random lengths keep actors from competing at the very same date, where the order of
events may differ.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from worlds import HOSTS, LINKS, ROUTES
from xml_zones import zone_xml

from simplugin.core.errors import ActivityError, TimeoutException
from simplugin.simulation import Placement

_PARTS = f"""{HOSTS}<host id="safe" speed="1Gf"/>{LINKS}
    <link id="s" bandwidth="4MBps" latency="110ms"/>{ROUTES}""" + "".join(
    f'<route src="{host}" dst="safe"><link_ctn id="s"/></route>' for host in ("ada", "bob", "cyd")
)
PLATFORM = zone_xml(_PARTS)
PROFILED = zone_xml(
    _PARTS
    + "".join(
        f'<trace id="{kind}" periodicity="{period}">{points}</trace>'
        f'<trace_connect kind="{kind}" trace="{kind}" element="{element}"/>'
        for kind, element, period, points in (
            ("HOST_AVAIL", "bob", 7.3, "2.1 0\n2.9 1\n"),
            ("LINK_AVAIL", "bc1", 5.7, "1.7 0\n2.3 1\n"),
            ("SPEED", "ada", 3.1, "0.4 0.5\n1.9 1.0\n"),
            ("BANDWIDTH", "ac", 4.3, "0.9 1e6\n2.2 3e6\n"),
        )
    )
)
"""The same with profiles of availability and capacity."""

PLACES = ("ada", "bob", "cyd")
END = 100.0  # s; later than any program ends by itself
BASIC = ("execute", "sleep", "put", "get", "put", "get", "put_async", "get_async", "work")
WAITS = ("wait_any", "wait_all", "test")
KINDS = {
    "transfers": (*BASIC, *WAITS, "detach"),
    "cancelled": (*BASIC, *WAITS, "cancel", "cancel"),
    "messages": (*BASIC, *WAITS, "say", "hear", "say_async", "hear_async"),
    "synchronised": (*BASIC, *WAITS, "lock", "acquire", "wait", "notify", "meet"),
    "killed": (*BASIC, *WAITS, "spawn", "spawn", "join", "kill"),
    "failing": (*BASIC, *WAITS, "fail_host", "fail_link", "transfer", "transfer_async", "change"),
}
KINDS["suspended"] = (*BASIC, *WAITS, "stop", "stop", "go_on", "go_on", "pause", "unpause", "nap")
KINDS["leaving"] = (*BASIC, *WAITS, "wait_one", "wait_other", "leave", "spawn", "kill", "go_away")
SAME = (*KINDS, "mixed")
"""Kinds whose every word runs on both back ends."""

KINDS["mixed"] = tuple(sorted({*sum(KINDS.values(), ())}))
# `threads` refuses the rest.
KINDS["moving"] = (*KINDS["leaving"], "move")
KINDS["everything"] = tuple(sorted({*sum(KINDS.values(), ())}))
# Not of everything: the bindings do not suspend reads and writes.
KINDS["planned"] = (*BASIC, *WAITS, "work", "read_async", "plan", "plan", "plan", "cancel", "kill")
KINDS["disks"] = (*BASIC, *WAITS, "read", "write", "read_async", "write_async", "cancel", "kill")

# What the actors of this process did and started; each simulation has its own process.
DIARIES: dict[Any, list[Any]] = {}
HANDLES: list[tuple[int, Any]] = []


class Step(NamedTuple):
    """One thing to do: the name of a method of `Follower`, and whatever it may need."""

    word: str
    pause: float  # s
    name: str
    host: str
    other: str
    part: float  # 0 to 1
    limit: float | None  # s
    inner: list[Any]


def program(draw: np.random.Generator, kind: str, depth: int = 0) -> list[Step]:
    """Return random steps."""
    steps = []
    words = KINDS[kind]
    for _ in range(draw.integers(3, 9 if kind != "everything" else 13)):
        word = str(draw.choice(words))
        pause, part = float(draw.uniform(1e-3, 5e-2)), float(draw.random())
        limit = None if draw.random() < 0.3 else float(draw.uniform(0.1, 3))
        name, host, other = (str(draw.choice(some)) for some in (list("xyz"), PLACES, PLACES))
        inner = program(draw, kind, depth + 1) if word == "spawn" and depth < 2 else []
        steps.append(Step(word, pause, name, host, other, part, limit, inner))
    return steps


def placements(kind: str, seed: int, *, crowded: bool = False) -> tuple[Placement, ...]:
    """Return the keeper and actors with random programs.

    They are few, or many of which much is at the very same date.
    """
    draw = np.random.default_rng((seed, list(KINDS).index(kind)))
    actors = [Placement("safe", keep)]
    for number in range(20 if crowded else draw.integers(2, 6)):
        steps = program(draw, kind)
        start, host = float(draw.uniform(0, 1)), str(draw.choice(PLACES))
        again, end = bool(draw.random() < 0.2), float(draw.uniform(1, 9))
        if crowded:
            steps = at_once([*steps, *program(draw, kind)])
            start, end = float(draw.choice([0.0, 0.0, 0.5])), 3.0
        actors.append(
            Placement(
                host,
                follow,
                (steps,),
                name=f"actor{number}",
                start_time=0.0 if again else start,
                restart=again,
                kill_time=end if draw.random() < 0.2 else None,
                daemon=crowded and bool(draw.random() < 0.1),
            )
        )
    return tuple(actors)


def at_once(steps: list[Step]) -> list[Step]:
    """Return the steps without pauses, and a few only of those that end or stop actors."""
    ends = ("fail_host", "go_away", "kill", "leave", "meet", "nap", "stop")
    return [
        step._replace(pause=0.0, inner=at_once(step.inner))
        for step in steps
        if step.word not in ends or step.part < 0.15
    ]


async def keep(me: Any) -> dict[Any, Any]:
    """Return what everybody wrote down, and end those who are stuck."""
    await me.sleep_for(END)
    found = {key: list(lines) for key, lines in DIARIES.items()}
    found["left"] = [actor.pid for actor in me.actors if actor.pid != me.pid]
    for actor in me.actors:
        if actor.pid != me.pid:
            actor.kill()
    return found


async def follow(me: Any, steps: list[Step]) -> None:
    """Follow a program, and write down what happens when."""
    diary = DIARIES.setdefault((me.name, me.pid), [])
    me.on_exit(lambda failed: diary.append(("exit", failed, me.now)))
    follower = Follower(me)
    for step in steps:
        await me.sleep_for(step.pause)
        try:
            done = await follower.take(step)
        except ActivityError as error:
            done = type(error).__name__
        diary.append((step.word, done, me.now))
    await me.sleep_for(
        steps[0].pause if steps else 0.0
    )  # the actor that it resumed last goes first


def disk(me: Any) -> Any:
    """Return the disk that all actors share."""
    return me.host_by_name("ada").disks[0]


def shape(step: Step) -> dict[str, Any]:
    """Return priority and bound of an execution; most have none."""
    last = int(step.part * 1e6) % 10
    return {"priority": 1.0 + last if last < 4 else 1.0, "bound": 4e8 if last in (0, 5) else None}


# What an actor waits for, and what it starts and keeps a handle of.
WAITED: dict[str, Callable[[Any, Step], Any]] = {
    "execute": lambda me, step: me.execute(1e8 + 3e9 * step.part, host=step.host, **shape(step)),
    "sleep": lambda me, step: me.sleep_for(2 * step.part),
    "put": lambda me, step: me.mailbox(step.name).put(
        me.pid, int(3e6 * step.part), timeout=step.limit
    ),
    "get": lambda me, step: me.mailbox(step.name).get(timeout=step.limit),
    "say": lambda me, step: me.message_queue(step.name).put(me.pid, timeout=step.limit),
    "hear": lambda me, step: me.message_queue(step.name).get(timeout=step.limit),
    "meet": lambda me, step: me.barrier(2, step.name).wait(),
    "nap": lambda me, _step: me.suspend(),
    "read": lambda me, step: disk(me).read(1e8 * step.part),
    "write": lambda me, step: disk(me).write(1e8 * step.part),
    "transfer": lambda me, step: me.sendto(step.host, step.other, int(3e6 * step.part)),
}
STARTED: dict[str, Callable[[Any, Step], Any]] = {
    "work": lambda me, step: me.exec_async(1e8 + 3e9 * step.part, host=step.host, **shape(step)),
    "put_async": lambda me, step: me.mailbox(step.name).put_async(me.pid, int(3e6 * step.part)),
    "get_async": lambda me, step: me.mailbox(step.name).get_async(),
    "say_async": lambda me, step: me.message_queue(step.name).put_async(me.pid),
    "hear_async": lambda me, step: me.message_queue(step.name).get_async(),
    "read_async": lambda me, step: disk(me).read_async(1e8 * step.part),
    "write_async": lambda me, step: disk(me).write_async(1e8 * step.part),
    "transfer_async": lambda me, step: me.sendto_async(step.host, step.other, int(3e6 * step.part)),
}


PLANNED: list[Callable[[Any, Step], Any]] = [
    lambda me, step: me.exec_init(1e8 + 3e9 * step.part, host=step.host),
    lambda me, step: me.sendto_init(step.host, step.other, int(3e6 * step.part)),
    lambda me, step: disk(me).write_init(1e8 * step.part),
    lambda me, step: me.mailbox(step.name).put_init(me.pid, int(3e6 * step.part)),
    lambda me, step: me.mailbox(step.name).get_init(),
]


# Methods of a handle of the actor's, and of another actor.
OF_HANDLES = {"cancel": "cancel", "pause": "suspend", "unpause": "resume"}
OF_OTHERS = {"stop": "suspend", "go_on": "resume", "kill": "kill"}


def pick(some: list[Any], step: Step) -> Any:
    """Return one of some objects, None if there is none."""
    return some[int(step.part * len(some))] if some else None


class Follower:
    """The interpreter of programs."""

    def __init__(self, me: Any) -> None:
        self.me = me
        self.handles: list[Any] = []
        self.children: list[Any] = []

    async def take(self, step: Step) -> Any:
        if step.word in WAITED:
            return await WAITED[step.word](self.me, step)
        if step.word in STARTED:
            handle = STARTED[step.word](self.me, step)
            self.handles.append(handle)
            HANDLES.append((self.me.pid, handle))
            HANDLES.sort(key=lambda each: each[0])
            return None
        if step.word in OF_HANDLES:
            handle = pick(self.handles, step)
            return None if handle is None else getattr(handle, OF_HANDLES[step.word])()
        if step.word in OF_OTHERS:
            return await self._do_to_another(step)
        return await getattr(self, step.word)(step)

    async def _do_to_another(self, step: Step) -> Any:
        other = self._other(step)
        if other is None:
            return None
        done = getattr(other, OF_OTHERS[step.word])()
        if step.word == "stop":
            await done
        return other.pid, other.is_suspended

    async def detach(self, step: Step) -> None:
        self.me.mailbox(step.name).put_detached(self.me.pid, int(3e6 * step.part))

    async def wait_any(self, step: Step) -> Any:
        if not self.handles:
            return None
        try:
            first = await self.me.wait_any(self.handles, step.limit)
        except TimeoutException:
            raise
        except ActivityError as error:
            self.handles.remove(error.activity)
            raise
        index = self.handles.index(first)
        del self.handles[index]
        return index, first.result

    async def wait_all(self, step: Step) -> Any:
        try:
            return await self.me.wait_all(self.handles, step.limit)
        finally:
            self.handles = [handle for handle in self.handles if not handle.test()]

    async def test(self, step: Step) -> Any:
        return step.part, [handle.test() for handle in self.handles]

    async def plan(self, step: Step) -> Any:
        planned = PLANNED[int(step.part * 997) % len(PLANNED)](self.me, step)
        for each in self.handles[-2:]:
            if each.state not in ("FAILED", "CANCELED"):
                each.add_successor(planned)
        self.handles.append(planned.start())
        return len(planned.dependencies)

    async def lock(self, step: Step) -> None:
        async with self.me.mutex(step.name):
            await self.me.sleep_for(step.part)

    async def acquire(self, step: Step) -> None:
        places = self.me.semaphore(2, step.name)
        await places.acquire(step.limit)
        try:
            await self.me.sleep_for(step.part)
        finally:
            places.release()

    async def wait(self, step: Step) -> Any:
        mutex = self.me.mutex(f"of {step.name}")
        async with mutex:
            return await self.me.condition(mutex, step.name).wait(step.limit or 3.7)

    async def notify(self, step: Step) -> None:
        mutex = self.me.mutex(f"of {step.name}")
        condition = self.me.condition(mutex, step.name)
        async with mutex:
            (condition.notify_one if step.part < 0.5 else condition.notify_all)()

    async def wait_one(self, step: Step) -> Any:
        handle = pick(self.handles, step)
        return None if handle is None else await handle.wait(step.limit)

    async def wait_other(self, step: Step) -> Any:
        handle = pick([handle for _, handle in HANDLES], step)
        return None if handle is None else await handle.wait(step.limit)

    async def move(self, step: Step) -> Any:
        other = self._other(step) if step.part < 0.5 else self.me
        if other is not None and self.me.host_by_name(step.host).is_on:
            other.set_host(step.host)
            return other.pid
        return None

    async def leave(self, step: Step) -> None:
        if step.part < 0.3:
            self.me.exit()

    async def go_away(self, step: Step) -> None:
        if step.part < 0.3:
            self.me.host.turn_off()

    def _other(self, step: Step) -> Any:
        others = [actor for actor in self.me.actors if actor.pid not in (1, self.me.pid)]
        return pick(others, step)

    async def spawn(self, step: Step) -> None:
        daemon, restart = step.part < 0.3, step.part > 0.8
        child = self.me.spawn(follow, step.inner, host=step.host, daemon=daemon, restart=restart)
        self.children.append(child)

    async def join(self, step: Step) -> Any:
        child = pick(self.children, step)
        return None if child is None else await child.join(step.limit)

    async def fail_host(self, step: Step) -> None:
        await self._fail(self.me.host_by_name(step.host), step.part)

    async def fail_link(self, step: Step) -> None:
        await self._fail(self.me.route(*PLACES[:2]).links[0], step.part)

    async def _fail(self, resource: Any, part: float) -> None:
        resource.turn_off()
        # Two that turn it on at the same date start restartable actors twice in SimGrid.
        await self.me.sleep_for(0.1 + part + 1e-4 * self.me.pid)
        resource.turn_on()

    async def change(self, step: Step) -> None:
        self.me.link_by_name("ab").bandwidth = 5e5 + 4e6 * step.part
