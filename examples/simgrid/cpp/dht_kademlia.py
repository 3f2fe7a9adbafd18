"""Nodes that find each other by the distances of their numbers: SimGrid's ``dht-kademlia``."""

from dataclasses import dataclass
from pathlib import Path

from simplugin import simulate

BITS, BUCKET, PARALLEL, JOIN_QUERIES, STEPS = 32, 20, 3, 5, 10
LIMIT, ALL_LIMIT, LOOKUP_PERIOD, LOOKUP = 10, 50, 100, 0


@dataclass
class Message:
    sender: int
    wanted: int
    nodes: list[int] | None = None  # of an answer


def nearest(nodes, wanted):
    """Return the nodes that are nearest to a number."""
    return sorted(dict.fromkeys(nodes), key=lambda node: node ^ wanted)[:BUCKET]


class Node:
    def __init__(self, me, number):
        self.me = me
        self.number = number
        self.box = me.mailbox(str(number))
        self.buckets = [[] for _ in range(BITS + 1)]
        self.coming = None
        self.found = self.looked = 0

    def rank(self, number):
        return (self.number ^ number).bit_length()

    def know(self, number):
        """Put a node first into its bucket."""
        bucket = self.buckets[self.rank(number)]
        if number in bucket:
            bucket.remove(number)
        bucket[:] = [number, *bucket[: BUCKET - 1]]

    def closest(self, wanted):
        """Return the nodes nearest to a number, from its bucket and those beside it."""
        rank = self.rank(wanted)
        found = list(self.buckets[rank])
        step = 1
        while len(found) < BUCKET and (rank - step > 0 or rank + step < BITS):
            for other in (rank - step, rank + step):
                if 0 <= other <= BITS:
                    found += self.buckets[other]
            step += 1
        return nearest(found, wanted)

    def receive(self):
        """Return a message that has come, or None."""
        if self.coming is None:
            self.coming = self.box.get_async()
        if not self.coming.test():
            return None
        message, self.coming = self.coming.result, None
        return message

    def ask(self, number, wanted):
        self.me.mailbox(str(number)).put_detached(Message(self.number, wanted), 1)

    def answer(self, message):
        self.know(message.sender)
        answer = Message(self.number, message.wanted, self.closest(message.wanted))
        self.me.mailbox(str(message.sender)).put_detached(answer, 1)

    def ask_best(self, nodes, wanted):
        """Ask the nearest nodes for theirs; return how many nodes were looked at."""
        asked = 0
        for looked, number in enumerate(nodes, 1):
            if number != self.number:
                self.ask(number, wanted)
                asked += 1
            if asked == PARALLEL:
                return looked
        return len(nodes)

    async def join(self, known):
        self.know(self.number)
        self.know(known)
        self.ask(known, self.number)
        while (message := self.receive()) is None:
            await self.me.sleep_for(1)
        if message.nodes is None:
            self.answer(message)
        for number in message.nodes or ():
            self.know(number)

        rank = self.rank(known)
        for step in range(JOIN_QUERIES):
            for other in (rank - step, rank + step):
                if 0 < other <= BITS:
                    await self.find(self.number ^ 1 << (other - 1))

    async def find(self, wanted):
        """Look for a node; return whether it was found."""
        nodes = self.closest(wanted)
        end = self.me.now + ALL_LIMIT
        for _ in range(STEPS):
            asked, answers, added = self.ask_best(nodes, wanted), 0, 0
            start, limit = self.me.now, self.me.now + LIMIT
            while True:
                if (message := self.receive()) is None:
                    await self.me.sleep_for(1)
                elif message.nodes is not None and message.wanted == wanted:
                    for number in (message.sender, *nodes):
                        self.know(number)
                    answers += 1
                    added = len(set(message.nodes) - set(nodes))
                    nodes = nearest([*nodes, *message.nodes], wanted)
                else:
                    if message.nodes is None:
                        self.answer(message)
                    else:
                        self.know(message.sender)
                    limit += self.me.now - start
                    start = self.me.now
                if self.me.now >= limit or answers >= asked:
                    break
            is_found = nodes[:1] == [wanted]
            if is_found or (added == 0 and answers > 0) or self.me.now >= end:
                break
        if is_found:
            self.know(wanted)
        return is_found

    async def run(self, end):
        """Answer, and look for a node now and then."""
        next_lookup = self.me.now + LOOKUP_PERIOD
        while self.me.now < end:
            if (message := self.receive()) is not None:
                self.answer(message)
            elif self.me.now >= next_lookup:
                self.looked += 1
                self.found += await self.find(LOOKUP)
                next_lookup += LOOKUP_PERIOD
            else:
                await self.me.sleep_for(1)
        self.me.log(f"{self.found}/{self.looked} FIND_NODE have succeeded")


async def node(me, number, *others):
    self = Node(me, int(number, 0))
    if len(others) == 2:
        me.log(f"Hi, I'm going to join the network with id {self.number}")
        await self.join(int(others[0], 0))
    else:
        me.log(f"Hi, I'm going to create the network with id {self.number}")
        self.know(self.number)
    await self.run(float(others[-1]))


def main(examples: Path, platform: str, deployment: str):
    result = simulate(platform, deployment, functions={"node": node})
    print(f"[{result.clock:.6f}] Simulated time: {result.clock:g}")
