"""Plans on SimGrid, and nodes that negotiate them by messages, once or again and again."""

import math
from collections import deque
from dataclasses import replace
from functools import partial

import networkx as nx
import numpy as np
import pytest
from naming import raises_naming
from numpy.testing import assert_allclose
from small_trees import bags_of, changing, execute, tree_of

from simplugin.bags.actors.planning import negotiate
from simplugin.bags.policies.data_centric import data_centric, trade
from simplugin.bags.policies.load_balancing import balanced
from simplugin.bags.policies.price_curves import Posted
from simplugin.bags.policies.price_negotiation import CurveOffer, LinkFilter, NegotiationParameters
from simplugin.bags.policies.prices import negotiate_prices, negotiator
from simplugin.bags.policies.trading import Trader
from simplugin.bags.policy import (
    PARENT,
    BagPolicy,
    NodeKnowledge,
    NodePlan,
    TreePosition,
    count_numbers,
    message_size,
    time_between_looks,
)
from simplugin.core.errors import WorkloadError
from simplugin.papers.beaumont.instances import instance
from simplugin.simulation import SimGridOptions, simulate
from simplugin.workloads.applications import Bags

SIEVE = LinkFilter(10)
trader = partial(Trader, balance=0.05, limit=2000)
MAKERS = {
    "trading": partial(trader, order="fast"),
    "prices": partial(negotiator, link_filter=SIEVE),
}


async def agree(me, make, place, known):
    """Negotiate once."""
    return await negotiate(me, place, make(known, is_root=place.parent is None))


def negotiated(make, work, tree):
    """Return the results of the nodes, and that of the simulation."""
    actors = [
        (name, agree, make, TreePosition.of(tree, host), NodeKnowledge.of(tree, work, host))
        for host, name in enumerate(tree.hosts)
    ]
    result = simulate(tree.platform(), actors, options=SimGridOptions.linear())
    return [each.value for each in result.returned], result


def assert_same(nodes, plans):
    """All nodes have the rates of the negotiation without a simulation."""
    scale = 1e-9 * max(max(row) for rates in plans for row in rates)
    for node, rates in zip(nodes, plans, strict=True):
        assert np.array(node.plan.rates) == pytest.approx(np.array(rates), rel=1e-9, abs=scale)
        assert node.plan.slots == ()


READINGS = [
    ("A", 7, None, False),
    ("A", 36, SIEVE, True),
    ("C", 12, None, False),
    ("D", 8, SIEVE, False),
    ("B", 3, SIEVE, False),
]


@pytest.mark.parametrize(("reading", "number", "link_filter", "again"), READINGS)
def test_prices_on_simgrid_give_the_rates_of_the_pure_negotiation(
    reading, number, link_filter, again
):
    tree, work = instance(reading, 2008, number)
    nodes, result = negotiated(partial(negotiator, link_filter=link_filter), work, tree)
    found = negotiate_prices(tree, work, link_filter=link_filter)
    assert (found.negotiations > 1) == again
    assert_same(nodes, [each.rates for each in found.plans])
    assert {each.node.sweeps for each in nodes} == {found.rounds}
    # Each message crosses one link; each link carries two in a round, and a few at the end.
    assert result.links.bytes.sum() == pytest.approx(sum(each.bytes for each in nodes))
    ends = 1 if link_filter is None else 2 * found.negotiations + 1
    links = tree.n_hosts - 1
    assert sum(each.messages for each in nodes) == links * (2 * found.rounds + ends)
    # It is over before a thousandth of the run.
    assert 0 < nodes[0].duration < 1e-3 * 200 / found.fair


@pytest.mark.parametrize(
    ("reading", "number", "order"),
    [("A", 11, "breadth"), ("C", 6, "slow"), ("D", 8, "fast")],
)
def test_trading_on_simgrid_gives_the_rates_of_the_pure_iteration(reading, number, order):
    tree, work = instance(reading, 2008, number)
    nodes, result = negotiated(partial(trader, order=order), work, tree)
    traded = trade(tree, work, order=order)
    assert traded.rounds > 1
    assert_same(nodes, [each.rates for each in traded.plans])
    # Each message crosses one link, and has four numbers.
    assert sum(each.messages for each in nodes) == traded.messages
    assert result.links.bytes.sum() == pytest.approx(message_size(4) * traded.messages)


def test_a_message_takes_as_long_as_its_link_says():
    tree, work = tree_of([-1, 0], 1.0, 100.0, 0.5), bags_of([1.0], [1.0], 1)
    (root, leaf), _ = negotiated(negotiator, work, tree)
    # A round down: 5 numbers; up: idleness and the busy CPU, 3 numbers each, and a loss. At the
    # end: a share of each of them that counts, of 3 numbers; 2 of the type, and if it is all.
    rounds = root.node.sweeps
    assert (leaf.node.sweeps, leaf.messages) == (rounds, rounds)
    assert leaf.bytes == rounds * (40 + 8 * 7)
    shares = (root.bytes - rounds * (40 + 8 * 5) - (40 + 8 * 3)) / 24
    assert shares == 1
    lasts = (2 * rounds + 1) * 0.5 + (root.bytes + leaf.bytes) / 100
    assert root.duration == pytest.approx(lasts)


# ---- knowledge of nodes ----


def steps(make, tree, work):
    """Yield each decision: step, host, source, message and posts.

    A message posted in a step is heard in the next one.
    """
    place = {child: at for row in tree.children for at, child in enumerate(row, 1)}
    nodes = [
        make(NodeKnowledge.of(tree, work, host), is_root=host == 0) for host in range(tree.n_hosts)
    ]
    posts = nodes[0].begin()
    yield 0, 0, None, None, posts
    waiting = deque((1, 0, *post) for post in posts)
    while waiting:
        step, sender, target, message = waiting.popleft()
        if target == PARENT:
            host, source = int(tree.parent[sender]), place[sender]
        else:
            host, source = tree.children[sender][target - 1], PARENT
        posts = nodes[host].hear(source, message)
        yield step, host, source, message, posts
        waiting.extend((step + 1, host, *post) for post in posts)
    assert all(node.plan is not None for node in nodes)


@pytest.mark.parametrize("name", MAKERS)
def test_a_speed_is_news_no_earlier_than_messages_travel(name):
    tree, work = instance("A", 2008, 3)
    leaf = int(np.argmax(tree.depth))
    speed = tree.speed.copy()
    speed[leaf] *= 3.0
    with np.printoptions(floatmode="unique"):
        seen, other = (
            {
                (step, host, source): repr(posts)
                for step, host, source, _, posts in steps(MAKERS[name], each, work)
            }
            for each in (tree, replace(tree, speed=speed))
        )
    differ = {
        (step, host)
        for step, host, source in seen.keys() | other.keys()
        if seen.get((step, host, source)) != other.get((step, host, source))
    }
    # The leaf has something to say when it first hears a message, and no earlier.
    way = nx.single_source_shortest_path_length(nx.Graph(enumerate(tree.parent.tolist())), leaf)
    assert max(way[host] for _, host in differ) >= 2
    assert all(step >= tree.depth[leaf] + way[host] for step, host in differ)


def test_of_links_a_node_learns_that_from_its_parent_only():
    tree, work = instance("A", 2008, 36)
    capacities = {float(x) for x in (*tree.speed, *tree.bandwidth) if math.isfinite(x)}
    posted = 0
    for _, host, _, message, posts in steps(MAKERS["prices"], tree, work):
        if isinstance(message, Posted):
            posted += 1
            assert message.most == tree.bandwidth[host]
            assert not capacities & {*message.prices, message.rent}
        for _, sent in posts:
            if isinstance(sent, CurveOffer):
                assert not capacities & {number for point in sent.points for number in point[1:]}
                assert len(sent.points) <= NegotiationParameters().segments * 4 + 1
            assert message_size(count_numbers(sent)) < 1500
    assert posted > tree.n_hosts


# Two children of a root that only distributes; a transfer of a task takes 1 s.
FORK = tree_of([-1, 0, 0], [0, 1e8, 1e8], 1e6)


async def by_speed(me, place, known):
    """Plan that each subtree gets tasks in proportion to its speed: speeds up, the total down."""
    speeds = [known.speed] + [
        await me.mailbox(f"plan up {child}").get() for child in place.children
    ]
    if place.parent is None:
        total = sum(speeds)
    else:
        await me.mailbox(f"plan up {place.name}").put(sum(speeds), 48, label="plan")
        total = await me.mailbox(f"plan down {place.name}").get()
    for child in place.children:
        await me.mailbox(f"plan down {child}").put(total, 48, label="plan")
    return NodePlan(tuple((each / total,) for each in speeds))


async def in_turn(me, place, _, *, change):
    """Plan that h1 gets the first type and h2 the second, and after a date the other way round."""
    if place.parent is None:
        swapped = me.now >= change
        for child in place.children:
            await me.mailbox(f"plan down {child}").put(swapped, 48, label="plan")
        rows = ((1.0, 0.0), (0.0, 1.0))
        return NodePlan(((0.0, 0.0), *(rows[::-1] if swapped else rows)), (1, 1))
    swapped = await me.mailbox(f"plan down {place.name}").get()
    first = (place.name == "h1") != swapped
    return NodePlan(((1.0, 0.0) if first else (0.0, 1.0),), (2, 0) if first else (0, 2))


BY_SPEED = BagPolicy("by speed", balanced, planner=by_speed)


def plan_messages(done):
    """Return how many messages there were about plans; negotiating takes two a link."""
    return int((done.result.trace.label == "plan").sum())


class TestOnce:
    def test_tasks_wait_for_the_plan_and_follow_it(self):
        # A port-bound chain: h0 sends on what h1, and h2 behind it, are to get.
        tree = tree_of([-1, 0, 1, 0], [1e8, 1e8, 2e8, 4e8], 1e6)
        done = execute(tree, bags_of([1e8], [1e6], 400), BY_SPEED, trace=True)
        # h2 to h1, h1 to h0, h3 to h0, h0 to h1, h0 to h3: 48 bytes each, one after the other.
        assert_allclose(done.first, 5 * 48e-6, rtol=1e-6)
        assert plan_messages(done) == 6
        # The port of h0 gives h1's subtree 3 tasks for each 4 of h3.
        served = done.computed[:, 0]
        assert abs((served[1] + served[2]) / served[3] - 3 / 4) < 0.03

    @pytest.mark.parametrize("back_end", ["coroutines", "threads"])
    def test_known_is_what_was_measured(self, back_end):
        known = replace(FORK, speed=[0, 1e8, 3e8])
        work = bags_of([1.0], [1e6], 80)
        done = execute(FORK, work, BY_SPEED, known=known, back_end=back_end)
        assert done.computed[:, 0].tolist() == [0, 20, 60]


class TestAgain:
    def test_requests_for_types_that_the_plan_dropped_do_not_block(self):
        # When plans change, both have requests waiting for types that they no longer get.
        planner = partial(in_turn, change=10.0)
        policy = BagPolicy("in turn", balanced, planner=planner, period=10.5, tolerance=-1.0)
        done = execute(FORK, bags_of([1e6] * 2, [1e6] * 2, 20), policy, buffer=2, until=1e5)
        assert done.computed.sum(axis=0).tolist() == [20, 20]
        first, second = done.computed[1]
        # Until 10.5 s the port takes turns: five or six tasks each.
        assert 5 <= first <= 6
        assert 14 <= second <= 15
        assert done.most.max() <= 2
        # Nor does one child wait until the type that the other gets has ended.
        last = [dates[-1] for dates in done.completion]
        assert abs(last[0] - last[1]) < 3.0

    def test_planners_see_what_was_measured_last(self):
        # h2 is thought to be nine times as fast as h1, until both have computed.
        known, work = replace(FORK, speed=[0, 1e8, 9e8]), bags_of([1e6], [1e6], 220)
        once, late = (
            execute(FORK, work, replace(BY_SPEED, period=period), known=known).computed[:, 0]
            for period in (math.inf, 20.0)
        )
        assert once.tolist() == [0, 22, 198]
        # Two of the first twenty go to h1, then half of the two hundred others.
        assert abs(late[1] - (2 + 100)) <= 2


def run(changes=(), tree=FORK, **how):
    """Execute tasks that take 1 s of the port: ten looks, the last of them 10 s before the end."""
    how = {"policy": replace(BY_SPEED, period=20.0), "platform": changing(tree, changes)} | how
    return execute(tree, bags_of([1e6], [1e6], 210), trace=True, **how)


class TestLooking:
    # Two links: word down and answers up in each look, and two each in the negotiation.
    QUIET = 10 * 4 + 4

    def test_nobody_negotiates_where_nothing_changes(self):
        kept, looked = run(policy=BY_SPEED), run()
        assert (plan_messages(kept), plan_messages(looked)) == (4, self.QUIET)
        assert np.array_equal(kept.computed, looked.computed)
        # Each word takes 48 bytes from the port's link, or from what the other child gets next.
        late = looked.completion[0] - kept.completion[0]
        assert -1e-9 < late.min() <= late.max() < 20 * 48e-6 * (1 + 1e-9)

    def test_one_change_below_is_one_negotiation(self):
        # h2 is to be half as fast as h1 from now on: a look later, h1 gets two thirds.
        done = run([("h2", "SPEED", [(50.0, 0.5)])])
        assert plan_messages(done) == self.QUIET + 2 + 4
        assert abs(done.computed[1, 0] - (60 / 2 + 150 * 2 / 3)) <= 1

    def test_a_change_that_the_root_sees_needs_no_answers(self):
        # Tasks for h1 take 1.25 s each, for the rates are those of the speeds: fewer are sent.
        done = run([("h0->h1", "BANDWIDTH", [(50.0, 0.8e6)])])
        looks = int((done.result.clock - 1e-3) // 20)
        assert plan_messages(done) == looks * 4 - 4 + 4 + 2 + 4
        assert done.computed[1, 0] == 105

    @pytest.mark.parametrize("tolerance", [0.1, 0.3])
    def test_the_tolerance_says_what_counts(self, tolerance):
        policy = replace(BY_SPEED, period=20.0, tolerance=tolerance)
        for loss in (0.2, 0.05):
            done = run([("h2", "SPEED", [(50.0, 1 - loss)])], policy=policy)
            assert plan_messages(done) - self.QUIET == (6 if loss > tolerance else 0)

    def test_wrong_measurements_that_stay_as_wrong_are_no_change(self):
        bias = np.array([[1.0, 1.0], [0.8, 1.2], [1.2, 0.8]])
        known = replace(FORK, speed=FORK.speed * bias[:, 0], bandwidth=FORK.bandwidth * bias[:, 1])
        for told, more in ((known, 0), (FORK, -4 + 2 + 4)):
            done = run(known=told, bias=bias)
            # Twenty per cent off what was told is a change, which the root sees, but only once.
            assert plan_messages(done) - self.QUIET == more
            assert abs(done.computed[1, 0] - 210 * 0.4) <= 2 + (more > 0) * 20 * 0.1

    def test_the_whole_tree_negotiates_if_a_leaf_has_changed(self):
        tree = tree_of([-1, 0, 1, 0], [0, 0, 3e8, 1e8], 1e6)
        done = run([("h2", "SPEED", [(50.0, 1 / 3)])], tree)
        assert plan_messages(done) == 10 * 6 + 6 + 3 + 6
        assert abs(done.computed[2, 0] - (60 * 3 / 4 + 150 / 2)) <= 3


def test_looks_stay_few_where_a_run_lasts_far_longer_than_expected():
    bags = bags_of([1e6], [1e2], [40])
    expected, tree = (tree_of([-1, 0], [0.0, speed], 1e9) for speed in (1e9, 1e6))
    policy = data_centric(expected, bags)
    done = execute(tree, bags, policy, trace=True)
    longer = done.result.clock / policy.horizon
    assert longer > 900
    # Each look takes two messages; 20 000 looks would be as often as at the start.
    looks = 40 + 40 * math.log(longer / 2)
    assert 2 * looks < plan_messages(done) < 2.2 * looks + 20


def test_time_between_looks():
    # Twenty by default.
    bags = Bags(("a", "b"), [1, 1], [1, 1], [1, 4], [100, 200])
    assert time_between_looks(None, bags, 0.5) == 100 / 1 / 0.5 / 20
    for given in (7.0, math.inf):
        assert time_between_looks(given, bags, 0.5) == given
    # Never where nothing is expected.
    for fair in (0.0, math.nan, math.inf):
        assert time_between_looks(None, bags, fair) == math.inf
    for wrong in (0.0, math.nan):
        with raises_naming(WorkloadError, "period", wrong):
            time_between_looks(wrong, bags, 1.0)
