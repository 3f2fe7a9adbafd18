"""A flood of executions that must all come to their end, whatever the policy and the weather."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from small_trees import assert_all_done, bags_of, changing, execute, failing, tree_of

from simplugin.bags.policies.load_balancing import balanced
from simplugin.bags.policies.shipped import POLICIES
from simplugin.bags.policy import BagPolicy, NodePlan, servable
from simplugin.platforms.topologies.random_graphs import random_tree
from simplugin.simulation import SimGridOptions

BUFFERS = (1, 2, 3, 10)


def cases(*seed):
    """Yield a generator, a tree of each of several shapes, bags, and small and large buffers."""
    generator = np.random.default_rng(seed)
    shapes = [
        [-1],
        [-1, 0, 1, 2, 3, 4],
        [-1, 0, 0, 0, 0, 0],
        [-1, 0, 0, 1, 1, 2, 2, 3, 3],
        random_tree(11, 4, generator).parent,
    ]
    for number, parent in enumerate(shapes):
        # One host has nobody to ask for tasks.
        for buffer in BUFFERS[number % 2 :: 2] if number else BUFFERS[:1]:
            yield generator, drawn_tree(parent, generator), drawn_bags(generator), buffer


def drawn_tree(parent, generator):
    """Return a tree, some of whose hosts may not compute, the root among them."""
    count = len(parent)
    speed = generator.uniform(0.3e8, 2e8, count) * (generator.random(count) < 0.75)
    if not speed.any():
        speed[-1] = 1e8
    bandwidth = np.exp(generator.uniform(np.log(1e5), np.log(1e7), count - 1))
    return tree_of(parent, speed, bandwidth, generator.choice([0.0, 0.05]))


def drawn_bags(generator):
    """Return bags of one to three types of about a second, one of which may need no data."""
    kinds = int(generator.integers(1, 4))
    byte = np.exp(generator.uniform(np.log(1e4), np.log(5e6), kinds))
    byte[0] *= generator.random() < 0.7
    flop, count = generator.uniform(0.2e8, 2e8, kinds), generator.integers(1, 20, kinds)
    return bags_of(flop, byte, count, generator.choice([1.0, 2.0, 2.5], kinds))


def varying(tree, generator):
    """Return the tree's platform with speeds and bandwidths that vary, down to a hundredth."""
    elements = [(name, "SPEED", 1.0) for name in tree.hosts]
    for name, parent, bandwidth in zip(tree.hosts, tree.parent, tree.bandwidth, strict=True):
        if parent >= 0:
            elements.append((f"{tree.hosts[parent]}->{name}", "BANDWIDTH", bandwidth))
    changes = [
        (name, kind, [(10.0 * step, scale * part) for step, part in enumerate(parts)])
        for name, kind, scale in elements
        for parts in [generator.choice([0.01, 0.3, 1.0], 8)]
    ]
    return changing(tree, changes, 80.0)


def run(policy, tree, bags, buffer, generator):
    """Execute, and see that all was done within bounds."""
    weather, lot = {}, generator.random()
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
def test_shipped_policies(name):
    for generator, tree, bags, buffer in cases(*map(ord, name)):
        parameters = {"buffer": buffer} if name == "prices" else {}
        run(POLICIES[name](tree, bags, **parameters), tree, bags, buffer, generator)


def test_plans_for_other_buffers():
    # Plans whose slots are more than there are, or are not for each type.
    for generator, tree, bags, buffer in cases(7):
        run(POLICIES["prices"](tree, bags), tree, bags, min(buffer, 3), generator)


async def shifting(me, place, known, *, seed, typed):
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


@pytest.mark.parametrize(("typed", "period"), [(False, 25.0), (True, 6.0)])
def test_plans_that_change(typed, period):
    for number, (generator, tree, bags, buffer) in enumerate(cases(typed, int(period))):
        planner = partial(shifting, seed=number, typed=typed)
        policy = BagPolicy("shifting", balanced, planner=planner, period=period, tolerance=-1.0)
        run(policy, tree, bags, min(buffer, 3), generator)


def anyhow(state, *, salt):
    """Choose any pair that can be served, as if by lot."""
    pairs = list(servable(state))
    lot = hash((state.now, salt, sum(map(sum, state.given))))
    return pairs[lot % len(pairs)] if pairs else None


@pytest.mark.parametrize("bundled", [False, True])
def test_random_choices(bundled):
    for generator, tree, bags, buffer in cases(8, bundled):
        policy = BagPolicy("any", partial(anyhow, salt=buffer), bundled=bundled)
        run(policy, tree, bags, buffer, generator)


@pytest.mark.parametrize("name", POLICIES)
def test_hosts_that_fail(name):
    for generator, tree, bags, buffer in cases(3, *map(ord, name)):
        # Plans are negotiated before anything fails. One host that computes, and those on its way,
        # are not off for good.
        tree = replace(tree, latency=0 * tree.latency)
        spared = [int(np.argmax(tree.speed))]
        while spared[-1]:
            spared.append(int(tree.parent[spared[-1]]))
        outages = {}
        for host in range(1, tree.n_hosts):
            dates = 5 + np.cumsum(generator.exponential(8.0, 10))
            if generator.random() < 0.2 and host not in spared:
                dates = np.array([dates[0], np.inf])
            outages[tree.hosts[host]] = dates.reshape(-1, 2).tolist()
        how = {"platform": failing(tree, outages), "failures": True, "until": 1e6}
        done = execute(tree, bags, POLICIES[name](tree, bags), buffer=buffer, **how)
        assert_all_done(done)
        assert done.most[1:].max(initial=0) <= buffer
