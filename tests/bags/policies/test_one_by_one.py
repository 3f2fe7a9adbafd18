"""DATA-CENTRIC's propagations against the paper's operations, one node after the other."""

from __future__ import annotations

import math

import numpy as np
import pytest

from simplugin.bags.policies.data_centric import trade
from simplugin.bags.policies.trading import ORDERS
from simplugin.papers.beaumont.instances import instance


class OneByOne:
    """The same iteration as the paper words it: one node after the other, with its formulas."""

    def __init__(self, tree, work, order):
        self.tree, self.work, self.order = tree, work, order
        self.compute = np.zeros((tree.n_hosts, work.n_applications))
        self.sent = np.zeros_like(self.compute)

    def groups(self, order):
        """Nodes as they take part in an operation; breadth first, a level at a time."""
        if order == "breadth":
            levels = range(int(self.tree.depth.max()) + 1)
            return [np.flatnonzero(self.tree.depth == level).tolist() for level in levels]
        found = []

        def visit(host):
            children = sorted(
                self.tree.children[host],
                key=lambda child: self.tree.bandwidth[child] * (1 if order == "slow" else -1),
            )
            found.extend([host] if order == "fast" else [])
            for child in children:
                visit(child)
            found.extend([host] if order == "slow" else [])

        visit(0)
        return [found]

    def path(self, host):
        while host > 0:
            yield host
            host = int(self.tree.parent[host])

    def idle(self, host):
        """1 - CPU of the paper, and 0 where there is no CPU."""
        speed = self.tree.speed[host]
        idle = 1 - self.compute[host] @ self.work.flop / speed if speed else 0.0
        return idle if idle > 1e-9 else 0.0

    def bus_room(self, host):
        children = list(self.tree.children[host])
        occupation = ((self.sent[children] @ self.work.byte) / self.tree.bandwidth[children]).sum()
        return 1 - occupation if occupation < 1 - 1e-9 else 0.0

    def gap(self, host, low, most):
        b, flop = self.tree.bandwidth, self.work.flop[low]
        room = [self.bus_room(self.tree.parent[i]) * b[i] for i in self.path(host)]
        epsilon = min([self.tree.speed[host] * self.idle(host) / flop, most])
        if self.work.byte[low] > 0:
            epsilon = min([epsilon, *(each / self.work.byte[low] for each in room)])
        self.add(host, low, epsilon)
        return epsilon

    def trade(self, host, high, low, gap):
        """Epsilon of H, with the bound by what the node has, and weights of 1."""
        b, c = self.work.byte, self.work.flop
        if host == 0 or not self.tree.speed[host]:
            return 0.0
        more = c[high] * c[low] / (b[low] * self.tree.speed[host])
        more *= b[high] / c[high] - b[low] / c[low]
        epsilon = min(
            gap / (1 + b[high] / b[low]), self.idle(host) / more, self.compute[host, high]
        )
        self.add(host, high, -epsilon)
        self.add(host, low, epsilon * b[high] / b[low])
        return epsilon

    def add(self, host, kind, rate):
        self.compute[host, kind] += rate
        for each in self.path(host):
            self.sent[each, kind] += rate

    def throughput(self):
        return self.compute.sum(axis=0)

    def run(self, balance):
        c, ratio = self.work.flop, self.work.ratio
        for group in self.groups("fast"):
            for host in group:
                self.gap(host, int(np.argmax(ratio)), math.inf)
        for _ in range(3000):
            x = self.throughput()
            near = np.abs(x - x.max()) <= 1e-9 * x.max(), np.abs(x - x.min()) <= 1e-9 * x.min()
            high = int(np.argmax(np.where(near[0], ratio, -1)))
            low = int(np.argmin(np.where(near[1], ratio, np.inf)))
            if x[high] - x[low] < balance * x[low]:
                return True
            if self.step(high, low, c, ratio):
                continue
            return False
        return False

    def step(self, high, low, c, ratio):
        """Do the first operation that changes anything."""
        if ratio[high] > ratio[low] and self.sweep(self.trade, high, low):
            return True
        if self.sweep(lambda host, _, low, gap: self.gap(host, low, gap), high, low):
            return True
        x = self.throughput()
        gap = x[high] - x[low]
        used = [child for child in self.tree.children[0] if self.sent[child, high] > 0]
        if used:
            branch = min(used, key=lambda child: self.tree.bandwidth[child])
            flow = self.sent[branch, high]
            factor = max(0.9, 1 - 0.5 * gap / flow) if flow > 1e-3 * x[high] else 0.0
            below = [u for u in range(1, self.tree.n_hosts) if branch in self.path(u)]
            self.compute[below, high] *= factor
            self.sent[below, high] *= factor
            return True
        epsilon = min(self.compute[0, high], gap / (1 + c[high] / c[low]))
        self.compute[0, high] -= epsilon
        self.compute[0, low] += epsilon * c[high] / c[low]
        return epsilon > 1e-9 * x[high]

    def sweep(self, operation, high, low):
        for group in self.groups(self.order):
            total = 0.0
            for host in group:
                x = self.throughput()
                total += operation(host, high, low, max(x[high] - x[low], 0.0))
            if total > 1e-9 * self.throughput()[high]:
                return True
        return False


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("reading", "number"), [("A", 5), ("A", 7), ("C", 1)])
def test_one_propagation_is_one_trade_after_the_other(reading, number, order):
    tree, work = instance(reading, 2008, number)
    literal = OneByOne(tree, work, order)
    assert literal.run(0.05)
    found = trade(tree, work, order=order)
    scale = found.throughput.max()
    assert found.throughput == pytest.approx(literal.throughput(), rel=1e-9)
    assert found.compute == pytest.approx(literal.compute, rel=1e-9, abs=1e-9 * scale)
    assert found.sent[1:] == pytest.approx(literal.sent[1:], rel=1e-9, abs=1e-9 * scale)
