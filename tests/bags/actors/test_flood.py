"""A flood of executions that must all come to their end, whatever the policy and the weather."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from simplugin.bags.execution import execute
from simplugin.bags.policies.load_balancing import balanced
from simplugin.bags.policies.shipped import POLICIES
from simplugin.bags.policy import Choice, Known, NodePlan, NodeState, Place, Policy, servable
from simplugin.platforms.graphs import Tree
from simplugin.platforms.profiles import Profile, ProfileUse
from simplugin.platforms.topologies.random_trees import random_tree
from simplugin.simulation import SimGridOptions
from simplugin.workloads.applications import Bags

if TYPE_CHECKING:
    from simplugin.platforms import Platform
    from simplugin.simulation.api import Actor

# Tasks of about a second, transfers from a tenth of one to several.
FLOP = 1e8


def shapes(generator: np.random.Generator) -> Iterator[tuple[str, list[int]]]:
    """Yield parents of each host of trees of several shapes."""
    yield "single", [-1]
    yield "chain", [-1, 0, 1, 2, 3, 4]
    yield "star", [-1, 0, 0, 0, 0, 0]
    yield "binary", [-1, 0, 0, 1, 1, 2, 2, 3, 3]
    yield "random", random_tree(11, 4, generator).parent.tolist()


def drawn(parent: list[int], generator: np.random.Generator) -> Tree:
    """Return a tree, some of whose hosts may not compute, the root among them."""
    count = len(parent)
    speed = generator.uniform(0.3e8, 2e8, count) * (generator.random(count) < 0.75)
    if not speed.any():
        speed[-1] = 1e8
    bandwidth = np.exp(generator.uniform(np.log(1e5), np.log(1e7), count))
    late = generator.choice([0.0, 0.05]) * np.ones(count)
    bandwidth[0], late[0] = math.inf, 0.0
    names = tuple(f"n{number}" for number in range(count))
    return Tree(names, np.array(parent), speed, bandwidth, late)


def work(generator: np.random.Generator) -> Bags:
    """Return bags of one to three types, one of which may need no data."""
    kinds = int(generator.integers(1, 4))
    byte = np.exp(generator.uniform(np.log(1e4), np.log(5e6), kinds))
    byte[0] *= generator.random() < 0.7
    return Bags(
        tuple("abc"[:kinds]),
        generator.uniform(0.2, 2, kinds) * FLOP,
        byte,
        generator.choice([1.0, 2.0, 2.5], kinds),
        generator.integers(1, 20, kinds),
    )


def varying(tree: Tree, generator: np.random.Generator) -> Platform:
    """Return the tree's platform with speeds and bandwidths that vary, down to a hundredth."""
    platform = tree.platform()
    extra: list[Profile | ProfileUse] = []
    for number, name in enumerate(tree.hosts):
        uses = [(name, "SPEED", 1.0)]
        if number:
            link = f"{tree.hosts[tree.parent[number]]}->{name}"
            uses.append((link, "BANDWIDTH", float(tree.bandwidth[number])))
        for element, kind, scale in uses:
            points = [
                (10.0 * step, scale * float(part))
                for step, part in enumerate(generator.choice([0.01, 0.3, 1.0], 8))
            ]
            title = f"{kind} of {element}"
            extra += [Profile.of_points(title, points, 80.0), ProfileUse(title, element, kind)]
    return replace(platform, elements=(*platform.elements, *extra))


async def shifting(me: Actor, place: Place, known: Known, *, seed: int, typed: bool) -> NodePlan:
    """Plan anew at random: who gets which type changes, up to a date, from plan to plan."""
    able = [0] if known.speed > 0 else []
    for target, child in enumerate(place.children, 1):
        if await me.mailbox(f"plan up {child}").get():
            able.append(target)
    if place.parent is None:
        turn, inflow = min(int(me.now), 50), [1.0] * len(known.flop)
    else:
        await me.mailbox(f"plan up {place.name}").put(bool(able), 48, label="plan")
        turn, inflow = await me.mailbox(f"plan down {place.name}").get()
    draws = np.random.default_rng([seed, turn, *map(ord, place.name)])
    rates = np.zeros((1 + len(place.children), len(inflow)))
    for kind, rate in enumerate(inflow):
        if rate > 0:
            chosen = draws.choice(able, int(draws.integers(1, len(able) + 1)), replace=False)
            rates[chosen, kind] = draws.uniform(0.1, 1.0, len(chosen))
    for target, child in enumerate(place.children, 1):
        told = (turn, rates[target].tolist())
        await me.mailbox(f"plan down {child}").put(told, 48 + 8 * len(inflow), label="plan")
    slots = tuple(3 * int(rate > 0) for rate in inflow) if typed and place.parent else ()
    return NodePlan(tuple(map(tuple, rates.tolist())), slots)


BUFFERS = (1, 2, 3, 10)


def run(
    policy: Policy, tree: Tree, bags: Bags, buffer: int, generator: np.random.Generator
) -> None:
    """Execute, and see that all was done within bounds."""
    weather: dict[str, Any] = {}
    lot = generator.random()
    if lot < 0.5:
        weather["platform"] = varying(tree, generator)
    elif lot < 0.7:
        weather["options"] = SimGridOptions()
    # A run that is stuck while its planners go on would never end.
    done = execute(tree, bags, policy, buffer=buffer, until=1e6, **weather)
    assert [len(dates) for dates in done.completion] == bags.count.tolist()
    assert done.computed.sum(axis=0).tolist() == bags.count.tolist()
    assert not done.computed[tree.speed == 0].any()
    assert done.most[1:].max(initial=0) <= buffer


@pytest.mark.parametrize("name", POLICIES)
def test_shipped_policies(name: str) -> None:
    for buffer in BUFFERS:
        generator = np.random.default_rng([buffer, *map(ord, name)])
        for _, parent in shapes(generator):
            tree, bags = drawn(parent, generator), work(generator)
            parameters = {"buffer": buffer} if name == "prices" else {}
            run(POLICIES[name](tree, bags, **parameters), tree, bags, buffer, generator)


def test_plans_for_other_buffers() -> None:
    # Plans whose slots are more than there are, or are not for each type.
    generator = np.random.default_rng(7)
    for buffer in BUFFERS[:3]:
        for _, parent in shapes(generator):
            tree, bags = drawn(parent, generator), work(generator)
            run(POLICIES["prices"](tree, bags), tree, bags, buffer, generator)


@pytest.mark.parametrize("typed", [False, True], ids=["untyped", "typed"])
@pytest.mark.parametrize("period", [6.0, 25.0])
def test_plans_that_change(typed: bool, period: float) -> None:
    for buffer in (1, 3):
        generator = np.random.default_rng([buffer, int(period)])
        for number, (_, parent) in enumerate(shapes(generator)):
            tree, bags = drawn(parent, generator), work(generator)
            planner = partial(shifting, seed=number, typed=typed)
            policy = Policy("shifting", balanced, planner=planner, period=period, tolerance=-1.0)
            run(policy, tree, bags, buffer, generator)


@pytest.mark.parametrize("bundled", [False, True])
def test_random_choices(bundled: bool) -> None:
    # Any choice among what can be served will do.
    generator = np.random.default_rng(8)
    for buffer in BUFFERS:
        for _, parent in shapes(generator):
            tree, bags = drawn(parent, generator), work(generator)
            policy = Policy("any", partial(anyhow, salt=buffer), bundled=bundled)
            run(policy, tree, bags, buffer, generator)


def anyhow(state: NodeState, *, salt: int) -> Choice | None:
    """Choose any pair that can be served, as if by lot."""
    pairs = list(servable(state))
    lot = hash((state.now, salt, sum(map(sum, state.given))))
    return pairs[lot % len(pairs)] if pairs else None
