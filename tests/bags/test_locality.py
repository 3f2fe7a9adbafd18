"""No node reads anything that it did not receive.

The same runs with copies of all messages; and each decision, and each node's part in a negotiation,
again in another process, which has nothing but what that node had received.
"""

import pickle
import sys
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_trees import execute

from simplugin.bags import execution
from simplugin.bags.actors.fault_tolerant_node import run_fault_tolerant_host
from simplugin.bags.actors.hosts import run_host
from simplugin.bags.policies.shipped import POLICIES
from simplugin.bags.policy import NodeState
from simplugin.platforms.topologies.random_graphs import random_tree
from simplugin.workloads.applications import Bags


def copied(value):
    """Return a copy that shares nothing with a value."""
    return pickle.loads(pickle.dumps(value))


class Far:
    """An actor's `me` whose messages are copies of what it sends; it notes all of them."""

    def __init__(self, me):
        self._me, self.came, self.went = me, [], []

    def __getattr__(self, name):
        return getattr(self._me, name)

    def mailbox(self, name):
        return FarBox(self, self._me.mailbox(name), name)

    def spawn(self, function, *args, **others):
        async def run(me, *inner):
            return await function(Far(me), *inner)

        return self._me.spawn(run, *args, **others)


class FarBox:
    """A mailbox that copies what is put into it."""

    def __init__(self, me, box, name):
        self._me, self._box, self._name = me, box, name

    @property
    def empty(self):
        """True if no receiver waits: a transfer starts when both sides are there."""
        return self._box.empty

    async def get(self, **others):
        got = await self._box.get(**others)
        self._me.came.append((self._name, copied(got)))
        return got

    def _noted(self, payload, *size):
        self._me.went.append((self._name, copied(payload), *size))
        return copied(payload), *size

    def put(self, *message, **others):
        return self._box.put(*self._noted(*message), **others)

    def put_async(self, *message, **others):
        return self._box.put_async(*self._noted(*message), **others)

    def put_detached(self, *message, **others):
        self._box.put_detached(*self._noted(*message), **others)


class Replay:
    """An actor's `me` for whom there is nothing but the messages that came."""

    now = 0.0

    def __init__(self, came):
        self.boxes = defaultdict(ReplayBox)
        for name, payload in came:
            self.boxes[name].append(payload)

    def mailbox(self, name):
        return self.boxes[name]


class ReplayBox(deque):
    """A mailbox of messages that came; without one, an IndexError."""

    async def get(self):
        return self.popleft()

    async def put(self, *_, **__):
        pass

    put_async = put


@dataclass(frozen=True)
class Recorded:
    """A decision that also writes what it was asked and what it said."""

    kind: str
    function: Callable[[NodeState], Any]
    path: Path

    def __call__(self, state):
        given = pickle.dumps(state)
        found = self.function(state)
        write(self.path, (self.kind, given, found, state == pickle.loads(given)))
        return found


async def recorded_planner(me, place, known, *, planner, path):
    """Plan, and write which messages came and went."""
    given, far = pickle.dumps((place, known)), Far(me)
    plan = await planner(far, place, known)
    write(path, ("plan", given, (far.went, plan), far.came))
    return plan


def write(path, record):
    """Add to a file: simulations run in a process of their own."""
    with path.open("ab") as out:
        pickle.dump(record, out)


def records(path):
    """Return what was written, the last first, so that nothing kept from decisions is the same."""
    found = []
    with path.open("rb") as file:
        while file.peek(1):
            found.append(pickle.load(file))
    return found[::-1]


def planned_alone(planner, given, came):
    """Return the messages that go and the plan, if there is nothing but those that came."""
    me = Far(Replay(came))
    with pytest.raises(StopIteration) as end:
        planner(me, *pickle.loads(given)).send(None)
    return me.went, end.value.value


async def on_copies(me, stations, *others, run):
    """Run the nodes of a host on copies of what they are given."""
    return await run(Far(me), copied(stations), *others)


WHERE = random_tree(9, 3, np.random.default_rng(4))
WORK = Bags(("a", "b"), [1e9, 2e9], [1e6, 2e7], 1.0, [12, 15])


@pytest.mark.parametrize("failures", [False, True])
@pytest.mark.parametrize("name", POLICIES)
def test_nodes_read_what_they_received(name, failures, monkeypatch, tmp_path):
    policy, path = POLICIES[name](WHERE, WORK), tmp_path / "decisions"
    plain = execute(WHERE, WORK, policy, failures=failures)
    monkeypatch.setattr(execution, "run_host", partial(on_copies, run=run_host))
    monkeypatch.setattr(
        execution, "run_fault_tolerant_host", partial(on_copies, run=run_fault_tolerant_host)
    )
    parts = {"decide": policy.decide, "tag": policy.tag}
    spies = {kind: Recorded(kind, part, path) for kind, part in parts.items() if part is not None}
    if policy.planner is not None:
        spies["planner"] = partial(recorded_planner, planner=policy.planner, path=path)
    far = execute(WHERE, WORK, replace(policy, **spies), failures=failures)
    assert np.array_equal(far.computed, plain.computed)
    assert all(map(np.array_equal, far.completion, plain.completion))
    count = Counter()
    for kind, given, said, extra in records(path):
        count[kind] += 1
        if kind == "plan":
            with np.printoptions(floatmode="unique", threshold=sys.maxsize):
                assert repr(planned_alone(policy.planner, given, extra)) == repr(said)
        else:
            # The state is as before, and the same is decided again.
            assert extra
            assert parts[kind](pickle.loads(given)) == said
    assert len(count) == len(spies)
    assert count["decide"] >= WORK.count.sum() / 2
    assert count["plan"] in (0, WHERE.n_hosts)
