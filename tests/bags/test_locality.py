"""No node reads anything that it did not receive: the same runs with copies of all messages."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from simplugin.bags import execution
from simplugin.bags.agents.actors import host
from simplugin.bags.agents.mortal_actors import mortal_host
from simplugin.bags.execution import execute
from simplugin.bags.policies import POLICIES
from simplugin.platforms.random_trees import random_tree
from simplugin.workloads.bags import Bags


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
    return await host(Far(me), *copied_but_functions(args))  # type: ignore[arg-type]


async def far_mortal_host(me: Any, *args: Any) -> Any:
    """Do the same where hosts may fail."""
    return await mortal_host(Far(me), *copied_but_functions(args))  # type: ignore[arg-type]


def copied_but_functions(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return copies of stations; policies, whose functions are pure, stay."""
    stations, *others = args
    return copied(stations), *others


@pytest.mark.parametrize("failures", [False, True])
@pytest.mark.parametrize("name", POLICIES)
def test_copies_change_nothing(name: str, failures: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    where = random_tree(9, 3, np.random.default_rng(4))
    work = Bags(("a", "b"), [1e9, 2e9], [1e6, 2e7], 1.0, [12, 15])
    policy = POLICIES[name](where, work)
    plain = execute(where, work, policy, failures=failures)
    monkeypatch.setattr(execution, "host", far_host)
    monkeypatch.setattr(execution, "mortal_host", far_mortal_host)
    far = execute(where, work, policy, failures=failures)
    assert np.array_equal(far.computed, plain.computed)
    for mine, theirs in zip(far.completion, plain.completion, strict=True):
        assert np.array_equal(mine, theirs)
