"""A ring of nodes that look for keys, join and leave: SimGrid's ``dht-chord``."""

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from simplugin import simulate
from simplugin.core.errors import TimeoutException

BITS = 3
KEYS = 2**BITS
LIMIT, END, SIZE = 50, 1000, 10
SLEEP = 4.9999


@dataclass
class Message:
    kind: str
    request: int
    answer_to: str = ""
    answer: int = -1


def is_between(key, start, end):
    """Return whether a key is in [start, end] on the ring."""
    key, start, end = key % KEYS, start % KEYS, end % KEYS
    return (key - start) % KEYS <= (end - start) % KEYS


GENERATOR = np.random.RandomState()


def draws(seed):
    """Yield SimGrid's numbers from the Mersenne Twister; one generator serves all nodes."""
    known = 0
    while True:
        GENERATOR.seed(seed)
        block = GENERATOR.randint(0, 2**32, size=2 * known + 32, dtype=np.uint32).tolist()
        yield from block[known:]
        known = len(block)


def below(count, numbers):
    """Return the next of some numbers, modulo a count, as SimGrid does without bias."""
    most = 2**32 - 1
    return next(value for value in numbers if value < most - most % count) % count


@dataclass
class Node:
    me: object
    number: int
    predecessor: int = -1
    fingers: list[int] = field(default_factory=list)
    next_finger: int = 0

    def __post_init__(self):
        self.fingers = [self.number] * BITS
        self.numbers = draws(self.number)

    def set_finger(self, index, number):
        if number != self.fingers[index]:
            self.fingers[index] = number
            self.me.log(f"My new finger #{index} is {number}")

    def set_predecessor(self, number):
        if number != self.predecessor:
            self.predecessor = number
            self.me.log(f"My new predecessor is {number}")

    def tell_fingers(self):
        self.me.log("My finger table:")
        self.me.log("Start | Succ")
        for index, finger in enumerate(self.fingers):
            self.me.log(f" {(self.number + 2**index) % KEYS:3}  | {finger:3}")
        self.me.log(f"Predecessor: {self.predecessor}")

    async def ask(self, other, kind, request, topic):
        """Send a request; return the answer to it, None if it does not come in time."""
        message = Message(kind, request, f"{self.number}_{topic}")
        try:
            await self.me.mailbox(str(other)).put(message, SIZE, timeout=LIMIT)
            return await self.me.mailbox(message.answer_to).get(timeout=LIMIT)
        except TimeoutException:
            return None

    async def ask_successor(self, other, key):
        found = await self.ask(other, "find successor", self.number, "succ")
        return found.answer if found else -1

    async def find_successor(self, key):
        if is_between(key, self.number + 1, self.fingers[0]):
            return self.fingers[0]
        return await self.ask_successor(self.closest_finger(key), key)

    def closest_finger(self, key):
        """Return the last finger before a key."""
        for finger in reversed(self.fingers):
            if is_between(finger, self.number + 1, key - 1):
                return finger
        return self.number

    async def join(self, known):
        self.me.log(f"Joining the ring with id {self.number}, knowing node {known}")
        successor = await self.ask_successor(known, self.number)
        if successor == -1:
            self.me.log("Cannot join the ring.")
            return False
        self.set_finger(0, successor)
        self.tell_fingers()
        return True

    async def leave(self):
        self.me.log("Well Guys! I Think it's time for me to leave ;)")
        leaving = Message("predecessor leaving", self.predecessor)
        with suppress(TimeoutException):
            await self.me.mailbox(str(self.fingers[0])).put(leaving, SIZE, timeout=LIMIT)
        if self.predecessor not in (-1, self.number):
            leaving = Message("successor leaving", self.fingers[0])
            with suppress(TimeoutException):
                await self.me.mailbox(str(self.predecessor)).put(leaving, SIZE, timeout=LIMIT)

    async def stabilize(self):
        """Ask the successor who its predecessor is, which may be a nearer successor."""
        successor, candidate = self.fingers[0], self.predecessor
        if successor != self.number:
            found = await self.ask(successor, "get predecessor", self.number, "pred")
            candidate = found.answer if found else -1
        if candidate != -1 and is_between(candidate, self.number + 1, successor - 1):
            self.set_finger(0, candidate)
        if successor != self.number:
            self.send(str(successor), Message("notify", self.number))

    async def fix_fingers(self):
        found = await self.find_successor(self.number + 2**self.next_finger)
        if found != -1:
            if found != self.fingers[self.next_finger]:
                self.set_finger(self.next_finger, found)
                self.tell_fingers()
            self.next_finger = (self.next_finger + 1) % BITS

    async def check_predecessor(self):
        if self.predecessor == -1:
            return
        message = Message("predecessor alive", self.predecessor, f"{self.number}_is_alive")
        with suppress(TimeoutException):
            await self.me.mailbox(str(self.predecessor)).put(message, SIZE, timeout=LIMIT)
            try:
                await self.me.mailbox(message.answer_to).get(timeout=LIMIT)
            except TimeoutException:
                self.predecessor = -1

    async def look_up(self):
        key = self.fingers[below(BITS, self.numbers)]
        if key != self.number:
            await self.find_successor(key)

    def send(self, box, message):
        self.me.mailbox(box).put_detached(message, SIZE)

    def handle(self, message):
        request = message.request
        match message.kind:
            case "find successor":
                if is_between(request, self.number + 1, self.fingers[0]):
                    answer = Message("answer", request, answer=self.fingers[0])
                    self.send(message.answer_to, answer)
                else:
                    self.send(str(self.closest_finger(request)), message)
            case "get predecessor":
                self.send(message.answer_to, Message("answer", request, answer=self.predecessor))
            case "predecessor alive":
                self.send(message.answer_to, Message("answer", request))
            case "notify":
                first, last = self.predecessor + 1, self.number - 1
                if self.predecessor == -1 or is_between(request, first, last):
                    self.set_predecessor(request)
                    self.tell_fingers()
            case "predecessor leaving":
                self.set_predecessor(request)
            case "successor leaving":
                self.set_finger(0, request)

    async def run(self, end, start):
        """Handle messages; between them, do what is to be done from time to time."""
        tasks = [
            (self.stabilize, 20),
            (self.fix_fingers, 120),
            (self.check_predecessor, 120),
            (self.look_up, 10),
        ]
        dates = [start + period for _, period in tasks]
        me, box = self.me, self.me.mailbox(str(self.number))
        coming = box.get_async()
        while (now := me.now) < end:
            if coming.test():
                if coming.state == "FINISHED":
                    self.handle(coming.result)
                coming = box.get_async()
            elif now < min(dates):
                await me.sleep_for(SLEEP)
                await me.yield_()
            else:
                index = next(i for i, date in enumerate(dates) if now >= date)
                task, period = tasks[index]
                await task()
                dates[index] = me.now + period
        coming.cancel()


async def node(me, *arguments):
    number, known, start, lifetime = (
        arguments if len(arguments) == 4 else (arguments[0], -1, 0, arguments[1])
    )
    number, known, start, lifetime = int(number), int(known), float(start), float(lifetime)
    self = Node(me, number)
    await me.sleep_for(start)
    if known == -1:
        self.tell_fingers()
    elif not await self.join(known):
        return
    await self.run(min(start + lifetime, END), start)
    await self.leave()


def main(examples: Path, _: str, platform: str, deployment: str):
    result = simulate(platform, deployment, functions={"node": node})
    print(f"[{result.clock:.6f}] Simulated time: {result.clock:g}")
