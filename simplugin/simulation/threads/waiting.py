"""Waiting for several activities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from simplugin.errors import TimeoutException
from simplugin.simulation.threads.activity import Activity, block
from simplugin.simulation.threads.blocking import Blocking, time_limit
from simplugin.simulation.threads.world import World


def checked(activities: Sequence[Activity]) -> list[Activity]:
    """Refuse what is no activity."""
    for each in activities:
        if not isinstance(each, Activity):
            raise TypeError(f"expected activities, not {each!r}")
    return list(activities)


def wait_any(
    world: World, activities: Sequence[Activity], timeout: float | None
) -> Blocking[Activity]:
    """Return an operation that gives the first activity that is over, in list order at ties."""
    wanted, limit = checked(activities), time_limit(timeout)
    if not wanted:
        raise ValueError("wait_any needs at least one activity")

    def perform() -> Activity:
        over = _block(wanted, limit)
        if over is None:
            raise TimeoutException(f"{_describe('any of', wanted)}: the time limit was reached")
        over.outcome()
        return over

    return Blocking(world, lambda: _describe("any of", wanted), perform)


def wait_all(
    world: World, activities: Sequence[Activity], timeout: float | None
) -> Blocking[list[Any]]:
    """Return an operation that gives all results, or raises at the first failure."""
    wanted, limit = checked(activities), time_limit(timeout)

    def perform() -> list[Any]:
        deadline = world.now + limit
        left = wanted
        while left:
            over = _block(left, limit if limit < 0 else max(0.0, deadline - world.now))
            if over is None:
                raise TimeoutException(f"{_describe('all of', left)}: the time limit was reached")
            over.outcome()
            left = [each for each in left if each is not over]
        return [each.outcome() for each in wanted]

    return Blocking(world, lambda: _describe("all of", wanted), perform)


def _block(activities: list[Activity], limit: float) -> Activity | None:
    """Block until one is over; None after the time limit."""
    over = _first_over(activities)
    if over is None:
        block(activities, limit)
        over = _first_over(activities)
    return over


def _first_over(activities: list[Activity]) -> Activity | None:
    """Return the first in the list that is over."""
    return next((each for each in activities if each.test()), None)


def _describe(which: str, activities: list[Activity]) -> str:
    """Name at most three of those that are not over."""
    left = [each.describe() for each in activities if not each.over]
    return f"{which} {', '.join(left[:3])}{', ...' if len(left) > 3 else ''}"
