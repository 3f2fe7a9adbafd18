"""The order of actors that are ready at one date: drawn by a seed, and where it matters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from naming import raises_naming

from simplugin.core.errors import SimpluginError
from simplugin.simulation import Result, simulate
from simplugin.simulation.simulate import DrawnOrder


async def ask(me: Any, number: int, delay: float) -> None:
    await me.sleep_for(delay)
    await me.mailbox("box").put(number, 1e3)


async def serve(me: Any, count: int) -> list[int]:
    return [await me.mailbox("box").get() for _ in range(count)]


def asked(file: Path, delays: list[float], order: int | None = None, seed: int = 0) -> Result:
    actors: list[Any] = [("ada", ask, number, delay) for number, delay in enumerate(delays)]
    return simulate(file, [*actors, ("bob", serve, len(delays))], order=order, seed=seed)


def test_a_seed_draws_the_order(two_hosts: Path) -> None:
    usual = asked(two_hosts, [1.0] * 4)
    assert usual.value_of("serve") == [0, 1, 2, 3]
    drawn = {order: asked(two_hosts, [1.0] * 4, order) for order in range(8)}
    assert len({tuple(each.value_of("serve")) for each in drawn.values()}) > 3
    assert all(sorted(each.value_of("serve")) == [0, 1, 2, 3] for each in drawn.values())
    assert asked(two_hosts, [1.0] * 4, 3) == drawn[3]
    assert drawn[3].provenance["order"] == 3
    assert "order" not in usual.provenance
    # Without competition nothing depends on it.
    alone = {asked(two_hosts, [1.0, 2.0, 3.0], order).trace for order in (None, 1, 2)}
    assert len({tuple(each.end) for each in alone}) == 1


@pytest.mark.parametrize(
    ("delays", "ties"), [([1.0, 1.0, 1.0], 1), ([1.0, 2.0], 0), ([1.0, 1.0, 2.0, 2.0], 2)]
)
def test_ties(delays: list[float], ties: int, two_hosts: Path) -> None:
    assert asked(two_hosts, delays).ties == ties


async def lock(me: Any) -> None:
    async with me.mutex("one"):
        await me.sleep_for(0.5)


async def acquire(me: Any) -> None:
    async with me.semaphore(1, "places"):
        await me.sleep_for(0.5)


async def choose(me: Any) -> None:
    await me.choose([0, 1])


async def give(me: Any) -> None:
    me.message_queue("queue").put_detached(1)


@pytest.mark.parametrize("function", [lock, acquire, choose, give])
def test_what_actors_compete_for(function: Any, two_hosts: Path) -> None:
    actors = [("ada", function), ("bob", function)]
    assert simulate(two_hosts, actors[:1]).ties == 0
    assert simulate(two_hosts, actors).ties == 1


def test_refusals(two_hosts: Path) -> None:
    choices: Any
    for choices in ({"order": -1}, {"order": True}, {"order": "1"}):
        with raises_naming(SimpluginError, "order"):
            simulate(two_hosts, [], **choices)
    with raises_naming(SimpluginError, "order", str(2**64)):
        simulate(two_hosts, [], order=2**64)
    with raises_naming(SimpluginError, "order", "threads"):
        simulate(two_hosts, [], back_end="threads", order=1)
    assert simulate(two_hosts, [("ada", choose)], back_end="threads").ties is None


def test_an_order_for_all_simulations_of_a_block(two_hosts: Path) -> None:
    with DrawnOrder(3) as drawn:
        inside = asked(two_hosts, [1.0] * 4)
        assert asked(two_hosts, [1.0] * 4, 5).provenance["order"] == 5
    assert inside == asked(two_hosts, [1.0] * 4, 3)
    assert drawn.simulations == 1
    assert "order" not in asked(two_hosts, [1.0] * 4).provenance
