"""No node reads anything that it did not receive.

The same runs with copies of all messages; and each decision and each node's part in a negotiation
again in another process, which has nothing but what that node had received.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simplugin.bags import execution
from simplugin.bags.actors.hosts import run_host
from simplugin.bags.actors.mortal import mortal_host
from simplugin.bags.execution import execute
from simplugin.bags.policies.shipped import POLICIES
from simplugin.bags.policy import Known, NodePlan, NodeState, Place, Policy, servable
from simplugin.platforms.topologies.random_trees import random_tree
from simplugin.workloads.applications import Bags


def copied(value: Any) -> Any:
    """Return a copy that shares nothing with a value."""
    return pickle.loads(pickle.dumps(value))


class Far:
    """An actor's `me` whose messages are copies of what it sends."""

    def __init__(self, me: Any) -> None:
        self._me = me

    def __getattr__(self, name: str) -> Any:
        return getattr(self._me, name)

    def mailbox(self, name: str) -> Any:
        return FarBox(self._me.mailbox(name))

    def spawn(self, function: Any, *args: Any, **others: Any) -> Any:
        async def run(me: Any, *inner: Any) -> Any:
            return await function(Far(me), *inner)

        return self._me.spawn(run, *args, **others)


class FarBox:
    """A mailbox that copies what is put into it."""

    def __init__(self, box: Any) -> None:
        self._box = box

    def get(self, **others: Any) -> Any:
        return self._box.get(**others)

    def put(self, payload: Any, *args: Any, **others: Any) -> Any:
        return self._box.put(copied(payload), *args, **others)

    def put_async(self, payload: Any, *args: Any, **others: Any) -> Any:
        return self._box.put_async(copied(payload), *args, **others)

    def put_detached(self, payload: Any, *args: Any, **others: Any) -> None:
        self._box.put_detached(copied(payload), *args, **others)


async def far_host(me: Any, *args: Any) -> Any:
    """Run the nodes of a host on copies of what they are given."""
    return await run_host(Far(me), *copied_but_functions(args))  # type: ignore[arg-type]


async def far_mortal_host(me: Any, *args: Any) -> Any:
    """Do the same where hosts may fail."""
    return await mortal_host(Far(me), *copied_but_functions(args))  # type: ignore[arg-type]


def copied_but_functions(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return copies of stations; policies, whose functions are pure, stay."""
    stations, *others = args
    return copied(stations), *others


WHERE = random_tree(9, 3, np.random.default_rng(4))
WORK = Bags(("a", "b"), [1e9, 2e9], [1e6, 2e7], 1.0, [12, 15])


@pytest.mark.parametrize("failures", [False, True])
@pytest.mark.parametrize("name", POLICIES)
def test_copies_change_nothing(name: str, failures: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    where, work = WHERE, WORK
    policy = POLICIES[name](where, work)
    plain = execute(where, work, policy, failures=failures)
    monkeypatch.setattr(execution, "run_host", far_host)
    monkeypatch.setattr(execution, "mortal_host", far_mortal_host)
    far = execute(where, work, policy, failures=failures)
    assert np.array_equal(far.computed, plain.computed)
    for mine, theirs in zip(far.completion, plain.completion, strict=True):
        assert np.array_equal(mine, theirs)


# ---- what is decided, again where there is nothing else to read ----


@dataclass(frozen=True)
class Recorded:
    """A decision that also writes what it was asked and what it said."""

    kind: str
    function: Callable[[NodeState], Any]
    path: Path

    def __call__(self, state: NodeState) -> Any:
        given = pickle.dumps(state)
        found = self.function(state)
        write(self.path, (self.kind, given, found, state == pickle.loads(given)))
        return found


async def recorded_planner(
    me: Any, place: Place, known: Known, *, planner: Any, path: Path
) -> NodePlan:
    """Plan, and write which messages came and went."""
    given, came, went = pickle.dumps((place, known)), [], []
    plan = await planner(Heard(me, came, went), place, known)
    write(path, ("plan", given, (went, plan), came))
    return plan


class Heard:
    """An actor's `me` that notes messages."""

    def __init__(self, me: Any, came: list[Any], went: list[Any]) -> None:
        self._me, self._came, self._went = me, came, went

    def __getattr__(self, name: str) -> Any:
        return getattr(self._me, name)

    def mailbox(self, name: str) -> Any:
        return HeardBox(self._me.mailbox(name), name, self._came, self._went)


class HeardBox:
    """A mailbox that notes what is put into it and what is got."""

    def __init__(self, box: Any, name: str, came: list[Any], went: list[Any]) -> None:
        self._box, self._name, self._came, self._went = box, name, came, went

    async def get(self) -> Any:
        got = await self._box.get()
        self._came.append((self._name, copied(got)))
        return got

    def put(self, payload: Any, size: float, **others: Any) -> Any:
        self._went.append((self._name, copied(payload), size))
        return self._box.put(payload, size, **others)

    def put_async(self, payload: Any, size: float, **others: Any) -> Any:
        self._went.append((self._name, copied(payload), size))
        return self._box.put_async(payload, size, **others)


class Alone:
    """An actor's `me` for whom there is nothing but the messages that came."""

    now = 0.0

    def __init__(self, came: list[tuple[str, Any]]) -> None:
        self.boxes: dict[str, deque[Any]] = defaultdict(deque)
        for name, payload in came:
            self.boxes[name].append(payload)
        self.went: list[Any] = []

    def mailbox(self, name: str) -> Any:
        return AloneBox(self, name)


class AloneBox:
    """A mailbox of someone alone."""

    def __init__(self, me: Alone, name: str) -> None:
        self._me, self._name = me, name

    async def get(self) -> Any:
        # Without a message, an IndexError: it had come in the run.
        return self._me.boxes[self._name].popleft()

    async def put(self, payload: Any, size: float, **_: Any) -> None:
        self._me.went.append((self._name, payload, size))

    def put_async(self, payload: Any, size: float, **_: Any) -> Any:
        self._me.went.append((self._name, copied(payload), size))
        return AloneBox.nothing()

    @staticmethod
    async def nothing() -> None:
        """Be over at once."""


def write(path: Path, record: Any) -> None:
    """Add to a file; simulations run in a process of their own."""
    with path.open("ab") as out:
        pickle.dump(record, out)


def records(path: Path) -> Iterator[Any]:
    """Yield what was written."""
    with path.open("rb") as file:
        while file.peek(1):
            yield pickle.load(file)


def judge(policies: dict[str, Policy], folder: Path) -> dict[str, dict[str, list[int]]]:
    """Return, by policy and kind of decision, how many there were and how many differ alone."""
    found: dict[str, dict[str, list[int]]] = {}
    for name, policy in policies.items():
        found[name] = defaultdict(lambda: [0, 0])
        # The last first: what is kept from one decision to another is not the same then.
        for kind, given, said, extra in reversed(list(records(folder / name))):
            if kind == "plan":
                same = planned_alone(policy.planner, given, extra) == said
            else:
                function = policy.decide if kind == "decide" else policy.tag
                assert function is not None
                same = function(pickle.loads(given)) == said and extra
            found[name][kind][0] += 1
            found[name][kind][1] += not same
        found[name] = dict(found[name])
    return found


def planned_alone(planner: Any, given: bytes, came: list[tuple[str, Any]]) -> Any:
    """Return the messages that go and the plan, if there is nothing but those that came."""
    me = Alone(came)
    turn = planner(me, *pickle.loads(given))
    try:
        turn.send(None)
    except StopIteration as end:
        return me.went, end.value
    except IndexError:
        return None
    raise AssertionError("a planner waits for more than messages")


SEEN: dict[int, NodeState] = {}
SPEEDS: list[float] = []


def peek(state: NodeState) -> Any:
    """Choose by what all nodes have in stock."""
    SEEN[id(state)] = state
    pairs = list(servable(state))
    return pairs[sum(sum(each.stock) for each in SEEN.values()) % len(pairs)] if pairs else None


def meddle(state: NodeState) -> Any:
    """Choose the first pair, and change what was measured."""
    state.known.bandwidth.reverse()
    return next(servable(state), None)


async def peek_planner(me: Any, place: Place, known: Known) -> NodePlan:
    """Plan with the speeds of all who have planned before."""
    del me, place
    SPEEDS.append(known.speed)
    return NodePlan(((sum(SPEEDS),) * 2,) * (1 + len(known.bandwidth)))


PLANTED = {
    "peeks": Policy("peeks", peek),
    "meddles": Policy("meddles", meddle),
    "plans with a peek": replace(POLICIES["lp"](WHERE, WORK), plans=(), planner=peek_planner),
}


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, list[int]]]:
    """Run all policies, and let another process decide again."""
    folder = tmp_path_factory.mktemp("decisions")
    policies = {name: make(WHERE, WORK) for name, make in POLICIES.items()} | PLANTED
    for name, policy in policies.items():
        path = folder / name
        spied = replace(policy, decide=Recorded("decide", policy.decide, path))
        if policy.tag is not None:
            spied = replace(spied, tag=Recorded("tag", policy.tag, path))
        if policy.planner is not None:
            planner = partial(recorded_planner, planner=policy.planner, path=path)
            spied = replace(spied, planner=planner)
        execute(WHERE, WORK, spied)
    program = (
        f"import pickle, sys; from {__name__} import judge;"
        " sys.stdout.buffer.write(pickle.dumps(judge(*pickle.load(sys.stdin.buffer))))"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=pickle.dumps((policies, folder)),
        stdout=subprocess.PIPE,
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
        check=True,
        timeout=600,
    )
    return pickle.loads(done.stdout)


@pytest.mark.parametrize("name", POLICIES)
def test_decisions_are_the_same_alone(name: str, judged: Any) -> None:
    policy = POLICIES[name](WHERE, WORK)
    expected = {"decide"}
    expected |= {"tag"} if policy.tag is not None else set()
    expected |= {"plan"} if policy.planner is not None else set()
    assert set(judged[name]) == expected
    for kind, (number, different) in judged[name].items():
        assert number >= (WHERE.n_hosts if kind == "plan" else WORK.count.sum() / 2)
        assert different == 0, kind


@pytest.mark.parametrize(
    ("name", "kind"),
    [("peeks", "decide"), ("meddles", "decide"), ("plans with a peek", "plan")],
)
def test_those_who_peek_are_found_out(name: str, kind: str, judged: Any) -> None:
    assert judged[name][kind][1] > 0
