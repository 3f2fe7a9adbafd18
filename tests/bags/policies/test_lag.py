"""LAG against a plain version of its rules, and the worth of its rules."""

import math
from collections import deque

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_trees import bags_of, execute, tree_of

from simplugin.bags.assessment import experimental, fair
from simplugin.bags.policies.lag import LEFT, Steering, lag, lagging, prices
from simplugin.bags.policy import NodeKnowledge, NodeState
from simplugin.optimum.steady_state import steady_state

STEERING = Steering(eta=0.3)


def state(asked, given, *, stock=(9, 9), weight=(1.0, 1.0), **fields):
    """Return the state of an inner node with types of equal size."""
    kinds = len(stock)
    known = NodeKnowledge([1e8] * kinds, [1e6] * kinds, list(weight), 1e8, [1e6] * (len(asked) - 1))
    return NodeState(known, True, 10, list(stock), asked=asked, given=given, **fields)


class TestPrices:
    def test_grow_with_lags_by_weight(self):
        root = state([0, 0, 0], [[1, 2], [3, 0], [1, 1]])
        assert prices(STEERING, root) == pytest.approx((1.0, math.exp(0.3 * (5 - 3))))
        # In units of the smallest weight, 6 and 3 tasks are as good as 6 and 1.
        for scale in (1e-3, 1.0, 1e3):
            root = state([0], [[6, 3]], weight=(scale, 3 * scale))
            assert prices(STEERING, root) == pytest.approx((1.0, math.exp(0.3 * (6 - 1))))

    def test_ended_types_set_no_level(self):
        root = state([0], [[9, 4, 2]], stock=(0, 5, 5), weight=(1.0,) * 3)
        assert prices(STEERING, root) == pytest.approx([math.exp(0.3 * n) for n in (-5, 0, 2)])

    def test_stay_finite(self):
        assert prices(STEERING, state([0], [[100_000, 0]]))[1] == pytest.approx(math.exp(60))


# ---- the rules, word by word ----


class Child:
    """Knowledge of a child, from its requests and the tasks given to it."""

    def __init__(self, node, target):
        known, row, now = node.known, node.given[target], node.now
        times = [
            sum(n * byte / width for n, byte in zip(got, known.byte, strict=True))
            for got, width in zip(node.given[1:], known.bandwidth, strict=True)
        ]
        self.bandwidth, self.free = known.bandwidth[target - 1], node.asked[target]
        total = sum(row)
        self.stock = max(min(node.capacity - self.free, total), 0)
        gone = total - self.stock
        self.rate = (gone - 1) / now if gone > 1 and now else 0.0
        self.pace = 1 / known.speed if known.speed else 0.0
        if self.rate:
            flop = sum(n * each for n, each in zip(row, known.flop, strict=True)) / total
            self.pace = 1 / (flop * self.rate)
        # The port left it this time; less than a tenth of all counts as if it had starved.
        left = max(now - sum(times) + times[target - 1], times[target - 1])
        self.appetite = self.rate * (max(LEFT * now / left, 1) if left else 1)
        self.supply = self.stock
        if total and not self.rate:
            self.appetite = max(known.speed / max(known.flop), 2 / now if now else 0)
            self.supply = node.capacity
        sizes = [byte for byte, n in zip(known.byte, row, strict=True) if n]
        self.longest = max(sizes, default=0) / self.bandwidth


def plain(steering, node):
    """Return the choice as the docstring of `lagging` has it."""
    known, lead = node.known, steering.lead
    price = (prices(steering, node) if node.is_root else node.tag) or [1.0] * len(node.stock)
    kinds = [kind for kind, tasks in enumerate(node.stock) if tasks]
    waiting = zip(node.arrivals, node.passed, strict=True)
    due = next((kind for kind, passed in waiting if passed >= lead), None)
    if node.asked[0] and kinds:
        ratio = [byte / flop for byte, flop in zip(known.byte, known.flop, strict=True)]
        own = max(kinds, key=lambda k: (node.is_root * price[k] / known.flop[k], ratio[k]))
        return 0, own if due is None else due
    if not node.port_free or not kinds:
        return None
    if node.is_root:
        ahead = np.sum(node.given, axis=0) * min(known.weight) / known.weight
        kinds = [kind for kind in kinds if ahead[kind] <= min(ahead[kinds]) + lead]
    children = {u: Child(node, u) for u, away in enumerate(node.away) if u and not away}
    longest = max((each.longest for each in children.values()), default=0)
    worth = {}
    for u, child in children.items():
        enough = steering.spare + steering.window * child.rate * longest
        if child.free and not child.stock + 1 > enough:
            for k in kinds:
                cost = known.byte[k] / child.bandwidth
                crowded = steering.crowding * child.stock / (1 + child.free)
                cost += crowded * known.flop[k] * child.pace
                worth[u, k] = child.free * price[k] / cost if cost else math.inf
    order = sorted(worth, key=lambda pair: (pair[1] != due, -worth[pair]))
    if steering.refuses and (known.speed or any(each.stock for each in children.values())):
        got = np.sum(node.given[1:], axis=0)
        usual = got @ price / got.sum() if got.sum() else 1.0
        for u, k in order:
            time = known.byte[k] / children[u].bandwidth
            lacks = sum(max(each.appetite * time - each.supply, 0) for each in children.values())
            if lacks * usual <= price[k]:
                return u, k
        return None
    return order[0] if order else None


def drawn(rng):
    """Return random steering and a random state; some numbers are alike."""
    kinds, children = int(rng.integers(1, 4)), int(rng.integers(0, 5))
    if rng.random() < 0.1:
        children += 32
    known = NodeKnowledge(
        rng.choice([1e8, 4e8, 10 ** rng.uniform(7, 9)], kinds).tolist(),
        rng.choice([0.0, 1e6, 4e6, 10 ** rng.uniform(6, 8)], kinds).tolist(),
        rng.choice([1.0, 2.0], kinds).tolist(),
        float(rng.choice([0.0, 1e6, 1e8])),
        rng.choice([1e6, 2e6, *10 ** rng.uniform(5, 7.5, 3)], children).tolist(),
    )
    stock = rng.choice([0, 1, 4], kinds).tolist()
    arrivals = rng.permutation(np.repeat(np.arange(kinds), stock)).tolist()
    given = rng.integers(0, rng.choice([3, 6, 30]), (1 + children, kinds))
    is_root = bool(rng.random() < 0.4)
    node = NodeState(
        known, is_root, 10, stock,
        now=float(rng.choice([0.0, 4.0, *10 ** rng.uniform(0, 2.5, 4)])),
        arrivals=deque([] if is_root else arrivals),
        passed=deque([] if is_root else rng.integers(0, 11, len(arrivals)).tolist()),
        asked=[int(rng.random() < 0.1), *rng.integers(0, 11, children).tolist()],
        given=(given * (rng.random((1 + children, 1)) < 0.9)).tolist(),
        away=[False, *(rng.random(children) < 0.1).tolist()],
        port_free=bool(rng.random() < 0.97),
        tag=() if is_root or rng.random() < 0.1 else tuple(10 ** rng.uniform(-0.5, 1.5, kinds)),
    )  # fmt: skip
    return Steering(
        eta=float(rng.choice([0.02, 0.3])),
        lead=float(rng.choice([3.0, 8.0])),
        crowding=float(rng.choice([0.0, 0.75, 9.0])),
        window=float(rng.choice([0.0, 1.5, 20.0, math.inf, math.inf])),
        spare=int(rng.choice([1, 3])),
        refuses=bool(rng.random() < 0.8),
    ), node


@settings(max_examples=75)
@given(st.integers(0, 2**32 - 1))
def test_choices_are_those_of_the_plain_version(seed):
    rng = np.random.default_rng(seed)
    for _ in range(20):
        steering, node = drawn(rng)
        assert lagging(steering, node) == plain(steering, node)


# ---- on SimGrid ----


def share(tree, bags, **steering):
    """Return what part of the optimum LAG reaches."""
    done = execute(tree, bags, lag(tree, bags, **steering))
    return fair(experimental(done), bags.weight) / steady_state(tree, bags).fair


def test_reaches_the_optimum_of_a_star():
    # Type b belongs on the root and the wide link, type a on the narrow ones (Proposition 1).
    tree = tree_of([-1, 0, 0, 0], 1e8, [8e6, 1e6, 5e5])
    bags = bags_of([1e8] * 2, [2e5, 4e6], 500)
    assert share(tree, bags) > 0.97
    # If port time alone counts, the wide link gets what is quick to send.
    assert share(tree, bags, crowding=0.0) < share(tree, bags)


def test_refuses_what_buffers_cannot_hide():
    # A task of type b takes 100 s to send, in which the child would do 300 of type a.
    tree, bags = tree_of([-1, 0], [1e8, 3e8], 1e6), bags_of([1e8] * 2, [1e4, 1e8], 300)
    assert share(tree, bags) > 0.97
    assert share(tree, bags, refuses=False) < 0.8


@pytest.mark.parametrize(("root", "late"), [(0.0, 300.0), (1e4, 0.0), (1e6, 300.0)])
def test_a_child_that_starved_does_not_starve_for_ever(root, late):
    # Child 1 does a task a second. One for child 2 takes 100 s to send: a task that is worth it
    # only until child 1 is there.
    tree, bags = tree_of([-1, 0, 0], [root, 1e6, 1e6], [1e7, 1e4]), bags_of([1e6], [1e6], 600)
    done = execute(tree, bags, lag(tree, bags), delays=np.array([0, late, 0]))
    assert done.completion[0][-1] < 1.2 * (600 + late)


@pytest.mark.parametrize(("length", "inner"), [(3, 0.02), (20, 0.0)])
def test_long_chains_serve_all_applications_alike(length, inner):
    # Between them, the nodes of a long chain hold more tasks than an application has.
    speed = [0.0] + [inner * 1e8] * (length - 2) + [1e8]
    tree, bags = (
        tree_of(range(-1, length - 1), speed, 1e8),
        bags_of([1e8] * 3, [1e6, 2e6, 4e6], 100),
    )
    rate = experimental(execute(tree, bags, lag(tree, bags)))
    assert rate.min() > 0.85 * rate.mean()
    if not inner:
        assert fair(rate, bags.weight) > 0.9 * steady_state(tree, bags).fair


def test_keeps_slow_children_from_hoarding():
    # Ten children of a fortieth of the root's speed would take eleven tasks each, for 440 s.
    tree = tree_of([-1] + [0] * 10, [1e8] + [2.5e6] * 10, 1e7)
    bags = bags_of([1e8] * 2, [1e4, 1e4])
    tight, loose = (
        execute(tree, bags, lag(tree, bags, window=window)) for window in (0.0, math.inf)
    )
    assert loose.most[1:].tolist() == [10] * 10
    assert tight.most[1:].tolist() == [3] * 10
    tight, loose = (fair(experimental(each), bags.weight) for each in (tight, loose))
    assert tight > 1.4 * loose


def test_a_host_that_never_asks_freezes_nobody():
    tree = tree_of([-1, 0, 0, 0], [0.0, 0.0, 3.1e8, 3.03e9], [1e6, 4.3e5, 3.78e6])
    bags = bags_of([1e9] * 2, [40.71e6, 1.49e6], 12)
    assert execute(tree, bags, lag(tree, bags)).computed.sum() == 24
