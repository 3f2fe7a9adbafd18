"""Small trees and bags, trees that change, and the constraints of rates on a tree."""

import math
from dataclasses import fields, replace

import numpy as np
import pytest

from simplugin.bags import execution
from simplugin.platforms import Platform, Profile, ProfileUse
from simplugin.platforms.graphs import Tree
from simplugin.workloads.applications import Bags


def tree_of(parent, speed, bandwidth=1.0, latency=0.0) -> Tree:
    """Return a tree of hosts h0, h1, ...; bandwidths and latencies are those of its links."""
    links = len(parent) - 1
    names = tuple(f"h{host}" for host in range(1 + links))
    width, late = (np.broadcast_to(each, links).tolist() for each in (bandwidth, latency))
    return Tree(names, parent, np.broadcast_to(speed, 1 + links), [math.inf, *width], [0.0, *late])


def execute(tree, bags, policy, **how) -> execution.BagExecution:
    """Execute bags by a policy; fields of `BagConditions` are keywords, too."""
    names = how.keys() & {each.name for each in fields(execution.BagConditions)}
    conditions = execution.BagConditions(**{name: how.pop(name) for name in names})
    return execution.execute(tree, bags, policy, conditions, **how)


def bags_of(flop, byte, count=200, weight=1.0) -> Bags:
    """Return bags a, b, ..."""
    return Bags(tuple("abcd"[: len(flop)]), np.array(flop), np.array(byte), weight, count)


def restricted_instance(seed, whole=False, most=10):
    """Return a random tree, and bags of which some hosts may compute some, each at least one."""
    rng = np.random.default_rng(seed)
    n, types = int(rng.integers(2, most)), int(rng.integers(1, 4))
    parent = [-1] + [int(rng.integers(host)) for host in range(1, n)]
    if whole:
        speed, width = np.append(rng.integers(0, 9, n - 1), 5), rng.integers(1, 20, n - 1)
        flop, byte = rng.integers(1, 9, types), rng.integers(0, 9, types)
    else:
        speed, width = rng.uniform(0.2, 2.0, n) * 1e8 * (rng.random(n) > 0.2), None
        speed[-1], width = 1e8, 10 ** rng.uniform(5.5, 7.5, n - 1)
        flop, byte = 10 ** rng.uniform(7.5, 8.5, types), 10 ** rng.uniform(4.5, 6.5, types)
    able = [f"h{host}" for host in np.flatnonzero(speed > 0)]
    chosen = [rng.choice(able, int(rng.integers(1, len(able) + 1)), False) for _ in range(types)]
    hosts = [None if rng.random() < 0.2 else tuple(map(str, each)) for each in chosen]
    bags = bags_of(flop, byte, 60, rng.integers(1, 4, types).astype(float))
    return tree_of(parent, speed.astype(float), width), replace(bags, hosts=hosts)


def assert_feasible(tree, bags, found, rel=1e-9):
    """Assert that rates are conserved and that no CPU or port is overloaded; return ports' use."""
    assert np.all(found.compute >= 0)
    assert np.all(found.sent >= 0)
    assert np.all(found.compute @ bags.flop <= tree.speed * (1 + rel))
    passed, port = found.compute.copy(), np.zeros(tree.n_hosts)
    for host in range(1, tree.n_hosts):
        passed[tree.parent[host]] += found.sent[host]
        port[tree.parent[host]] += found.sent[host] @ bags.byte / tree.bandwidth[host]
    assert np.all(port <= 1 + rel)
    assert passed == pytest.approx(found.sent, rel=rel, abs=rel * found.sent[0].max())
    assert found.fair == pytest.approx((found.compute.sum(axis=0) / bags.weight).min())
    return port


def changing(tree, changes, period=-1.0) -> Platform:
    """Return a tree's platform whose elements change: (element, kind, [(date, value), ...])."""
    extra = []
    for element, kind, points in changes:
        name = f"{kind} of {element}"
        extra += [Profile.of_points(name, points, period), ProfileUse(name, element, kind)]
    return Platform((*tree.platform().elements, *extra))


def failing(tree, outages) -> Platform:
    """Return a tree's platform with hosts and links, by name, off from and to some dates."""
    changes = []
    for name, times in outages.items():
        points = [(date, float(state)) for pair in times for state, date in enumerate(pair)]
        kind = "LINK_AVAIL" if "->" in name else "HOST_AVAIL"
        changes.append((name, kind, [point for point in points if math.isfinite(point[0])]))
    return changing(tree, changes)


def assert_all_done(done):
    """Assert that each task counted once in an execution with failures."""
    count = done.bags.count.tolist()
    assert [len(dates) for dates in done.completion] == count
    assert done.computed.sum(axis=0).tolist() == count
    _, notices = done.result.returned[0].value
    numbers = sorted(part[:2] for notice in notices for part in notice.parts)
    assert numbers == [(kind, i) for kind, size in enumerate(count) for i in range(size)]
