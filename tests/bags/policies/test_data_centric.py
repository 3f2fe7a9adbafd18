"""DATA-CENTRIC: its operations against the paper's formulas, its rates against the optimum."""

import math
import pickle
from dataclasses import replace
from itertools import product

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_trees import assert_feasible, bags_of, changing, execute, tree_of

from simplugin.bags.assessment import experimental, fair, slope
from simplugin.bags.policies.data_centric import data_centric, trade
from simplugin.bags.policies.trading import (
    NO_OFFER,
    ORDERS,
    Rates,
    TradeOffer,
    Trader,
    cpu_room,
    first_offers,
    next_question,
    port_room,
    pour,
    sequence,
    tradable,
)
from simplugin.bags.policy import NodeKnowledge
from simplugin.core.errors import InfeasibleError
from simplugin.optimum.steady_state import steady_state
from simplugin.papers.beaumont.instances import instance
from simplugin.platforms.topologies.random_graphs import random_tree


@pytest.mark.parametrize(("reading", "number"), [("A", 11), ("C", 3), ("D", 8)])
def test_it_has_the_throughput_that_it_expects(reading, number):
    tree, work = instance(reading, 2008, number)
    policy = data_centric(tree, work)
    execution = execute(tree, work, policy)
    assert [len(dates) for dates in execution.completion] == work.count.tolist()
    assert fair(experimental(execution), work.weight) == pytest.approx(
        policy.expected_throughput, rel=0.15
    )


def test_it_follows_a_bandwidth():
    tree, work = (
        tree_of([-1, 0, 0], [1e6, 1e8, 1e8], [4e6, 2e6]),
        bags_of([1e9] * 2, [2e6, 2e7], 400),
    )
    slower = replace(tree, bandwidth=[math.inf, 2e5, 2e6])
    # After 1500 s, the link to h1 has a twentieth of its bandwidth.
    platform = changing(tree, [("h0->h1", "BANDWIDTH", [(1500.0, 2e5)])])
    kept, followed = (
        slope(execute(tree, work, data_centric(tree, work, period=period), platform=platform))
        for period in (math.inf, None)
    )
    expected = trade(slower, work).fair
    assert kept.min() < 0.5 * expected
    assert expected < followed.min() < trade(tree, work).fair


# ---- closed forms ----


def test_a_host_alone_trades_until_throughputs_per_weight_are_equal():
    work = bags_of([2.0, 5.0, 1.0], [1.0, 1.0, 3.0], weight=np.array([1.0, 2.0, 4.0]))
    found = trade(tree_of([-1], 32.0), work, balance=1e-7)
    # x (1 * 2 + 2 * 5 + 4 * 1) = 32 flop/s.
    assert found.throughput == pytest.approx([2.0, 4.0, 8.0])
    assert found.is_balanced
    assert found.operations["root"] == found.rounds - 1


def test_communication_trading_takes_no_more_than_the_node_has():
    known = NodeKnowledge([1.0, 0.3], [4.0, 1.0], [1.0, 1.0], 10.0, [])
    rates = Rates(known, is_root=False)
    rates.compute = [0.5, 0.0]
    # The printed minimum would let go of 9.5 / (0.3 / 1 - 1 / 4) / 4 = 47.5 tasks/s.
    assert tradable(rates, 0, 1) == 0.5 * 4.0


def test_the_tunable_balance():
    known = NodeKnowledge([1.0, 1.0], [2.0, 1.0], [1.0, 2.0], 10.0, [])
    assert next_question(known, [1.04, 2.0], 0.05) is None
    assert next_question(known, [1.06, 2.0], 0.05) == (0, 1)
    assert next_question(known, [1.0, 2.12], 0.05) == (1, 0)
    assert next_question(known, [1.0, 0.0], 0.05) == (0, 1)


def test_who_comes_first():
    bandwidth = [2.0, 9.0, 2.0]
    assert [sequence(bandwidth, order) for order in ORDERS] == [
        (0, 2, 1, 3),
        (0, 1, 2, 3),
        (1, 3, 2, 0),
    ]
    below = [TradeOffer(2, 1.0), TradeOffer(1, 1.0), NO_OFFER]
    assert first_offers(0.0, below, "breadth") == (2, [0, 0, 1, 0])
    assert first_offers(3.0, below, "breadth") == (0, [3, 0, 0, 0])
    assert first_offers(3.0, below, "fast") == (0, [3, 1, 1, 0])
    assert pour(5.0, [1.0, 3.0, 9.0], [0.0, 0.5, 0.25], 2.0, (0, 1, 2)) == [1.0, 3.0, 1.0]
    assert pour(9.0, [1.0, 3.0, 9.0], [0.0, 0.5, math.inf], 1.0, (2, 1, 0)) == [1.0, 2.0, 0.0]


# ---- any tree ----


@st.composite
def scenes(draw):
    """Trees and applications of all kinds: hosts without a speed, tasks without data, weights."""
    seed = draw(st.integers(0, 10**6))
    generator = np.random.default_rng(seed)
    tree = random_tree(
        draw(st.integers(1, 12)),
        draw(st.integers(1, 4)),
        generator,
        root_computes=draw(st.booleans()),
    )
    tree.speed[1:] *= generator.random(tree.n_hosts - 1) < draw(st.sampled_from([0.5, 1.0]))
    types = draw(st.integers(1, 4))
    byte = 8e9 * 10 ** generator.uniform(-3, 1, types)
    byte[generator.random(types) < draw(st.sampled_from([0.0, 0.3]))] = 0.0
    flop = 8e10 * 10 ** generator.uniform(-1, 1, types)
    return tree, bags_of(flop, byte, weight=generator.integers(1, 4, types).astype(float))


@settings(max_examples=30)
@given(scenes(), st.sampled_from(ORDERS), st.integers(1, 40))
def test_rates_are_feasible_after_each_operation_and_it_ends(scene, order, limit):
    tree, work = scene
    if not np.any(tree.speed > 0):
        with pytest.raises(InfeasibleError):
            trade(tree, work)
        return
    found = trade(tree, work, order=order, limit=limit)
    assert_feasible(tree, work, found)
    assert found.throughput == pytest.approx(found.compute.sum(axis=0), rel=1e-9)
    assert found.rounds <= limit
    assert found.stopped in ("balanced", "stuck", "limit")
    assert found.fair <= steady_state(tree, work).fair * (1 + 1e-6)
    level = found.throughput / work.weight
    assert found.is_balanced == (level.max() == level.min() or np.ptp(level) < 0.05 * level.min())
    assert trade(tree, work, order=order, balance=0.01).stopped in ("balanced", "stuck")


# ---- against the optimum ----


def shortfalls(order, readings):
    """Return the optimum over the fair throughput of each of some instances."""
    found = []
    for reading, number in product(readings, range(0, 30, 4)):
        tree, work = instance(reading, 2008, number)
        traded = trade(tree, work, order=order)
        assert traded.is_balanced
        found.append(steady_state(tree, work).fair / traded.fair)
    assert min(found) > 1 - 1e-6
    return np.array(found)


def test_it_is_near_the_optimum_on_most_trees():
    ratio = shortfalls("fast", "ABCD")
    assert np.exp(np.log(ratio).mean()) < 1.08
    assert np.mean(ratio < 1.05) > 0.6
    assert ratio.max() < 2.5


def test_the_order_of_nodes_decides():
    fast, breadth, slow = (np.log(shortfalls(order, "C")).mean() for order in ORDERS)
    assert fast < breadth < slow
    assert np.exp(slow) > 1.3


# ---- the policy ----


def test_the_policy_knows_what_to_expect():
    tree, work = instance("A", 2008, 7)
    traded = trade(tree, work)
    told = data_centric(tree, work, decentralised=False)
    assert told.planner is None
    assert told.expected_throughput == traded.fair
    for host, plan in enumerate(told.plans):
        rows = np.array([traded.compute[host], *traded.sent[list(tree.children[host])]])
        assert np.array_equal(plan.rates, rows)
    policy = data_centric(tree, work, period=100.0)
    assert policy.planner is not None
    assert (policy.period, policy.plans, policy.expected_throughput) == (100.0, (), traded.fair)
    assert pickle.loads(pickle.dumps(policy)).expected_throughput == traded.fair


def test_a_tree_that_can_do_nothing_is_stuck():
    known = NodeKnowledge([1.0, 1.0], [1.0, 2.0], [1.0, 1.0], 0.0, [])
    node = Trader(known, is_root=True, balance=0.1, order="fast", limit=9)
    assert (node.begin(), node.stopped) == ([], "stuck")


def test_rooms_are_free_of_rounding():
    known = NodeKnowledge([3.0], [1.0], [1.0], 1.0, [1.0, 0.0])
    rates = Rates(known, is_root=True)
    rates.compute, rates.sent = [(1 - 1e-12) / 3], [[1 - 1e-12], [0.0]]
    assert (cpu_room(rates), port_room(rates)) == (0.0, 0.0)
    rates.sent[0][0] = 0.75
    assert port_room(rates) == 0.25


class OneByOne:
    """The same iteration as the paper words it: one node after the other, with its formulas."""

    def __init__(self, tree, work, order):
        self.tree, self.work, self.order = tree, work, order
        self.compute = np.zeros((tree.n_hosts, work.n_applications))
        # The tasks for each host, by column, pass these hosts.
        self.way = np.eye(tree.n_hosts, dtype=bool)
        for host in range(1, tree.n_hosts):
            self.way[:, host] |= self.way[:, tree.parent[host]]

    @property
    def sent(self):
        return self.way @ self.compute

    def groups(self, order):
        """Nodes as they take part in an operation; breadth first, a level at a time."""
        if order == "breadth":
            levels = range(int(self.tree.depth.max()) + 1)
            return [np.flatnonzero(self.tree.depth == level).tolist() for level in levels]
        widths = self.tree.bandwidth[1:]
        edges = 1 + np.argsort(widths if order == "slow" else -widths, kind="stable")
        graph = nx.DiGraph((int(self.tree.parent[host]), host) for host in edges.tolist())
        walk = nx.dfs_postorder_nodes if order == "slow" else nx.dfs_preorder_nodes
        return [list(walk(graph, 0))]

    def path(self, host):
        return 1 + np.flatnonzero(self.way[1:, host])

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
        self.compute[host, low] += epsilon
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
        self.compute[host, high] -= epsilon
        self.compute[host, low] += epsilon * b[high] / b[low]
        return epsilon

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
            if not self.step(high, low, c, ratio):
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
            self.compute[self.way[branch], high] *= factor
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


@settings(max_examples=50)
@given(seed=st.integers(0, 10**6))
def test_ratios_that_are_equal_but_for_rounding_are_equal(seed):
    draws = np.random.default_rng(seed)
    tree = tree_of([-1, 0], draws.uniform(1e9, 9e9, 2), draws.uniform(1e6, 9e6, 1))
    flop = draws.uniform(1e9, 9e9, 2)
    # A power of 2 keeps them equal.
    even = trade(tree, bags_of(flop, 2.0**-8 * flop, 20))
    odd = trade(tree, bags_of(flop, 2.0**-8 * flop * (1 + draws.uniform(-1, 1, 2) * 1e-15), 20))
    assert odd.fair == pytest.approx(even.fair, rel=1e-6)


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
