"""Curves of what a subtree makes of each byte, and matrix games, against linear programs."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from simplugin.bags.policies.price_curves import (
    FIRST,
    at,
    condensed,
    cpu_curve,
    node_curve,
    replayed,
    total_of,
    worth,
)
from simplugin.bags.policies.price_negotiation import LinkFilter, Posted, slots_for, solve_game
from simplugin.bags.policy import NodeKnowledge

EVERYTHING = 10**6


def posted(prices, rent=0.0, most=math.inf, segments=EVERYTHING):
    return Posted(0, tuple(prices), rent, most, segments)


def worth_of(point, prices):
    return float(worth(point[None], prices)[0])


def drawn(seed, children=4, kinds=3):
    """Return the curves of the worker and the children, bandwidths, and prices."""
    generator = np.random.default_rng(seed)
    flop = tuple(generator.uniform(1, 5, kinds))
    byte = tuple(np.exp(generator.uniform(-3, 2, kinds)))
    if generator.random() < 0.3:
        byte = (0.0, *byte[1:])
    prices = posted(generator.dirichlet(np.ones(kinds)), generator.choice([0.0, 0.05]))
    speeds = np.exp(generator.uniform(-2, 2, children)).tolist()
    if generator.random() < 0.3:
        speeds[1] = speeds[0]
    cpus = generator.uniform(0, 4, children).tolist()
    cpus.insert(0, float(generator.uniform(0, 4)))
    parts = [cpu_curve(cpu, flop, byte, prices.prices)[0] for cpu in cpus]
    return parts, speeds, prices


def best_by_program(parts, speeds, prices, most):
    """Return the best value of a knapsack over the segments of all parts, by linear programming."""
    value, width, port, base = [], [], [], 0.0
    for target, points in enumerate(parts):
        # What needs no bytes.
        base += worth_of(points[0], prices)
        for low, high in itertools.pairwise(points):
            bytes_ = high[0] - low[0]
            each = 1 / speeds[target - 1] if target else 0.0
            gain = worth_of(high, prices) - worth_of(low, prices)
            value.append(gain / bytes_ - prices.rent * each)
            width.append(bytes_)
            port.append(each)
    if not value:
        return base
    rows = [[1.0] * len(value), port]
    found = linprog(
        -np.array(value),
        A_ub=rows,
        b_ub=[min(most, sum(width)), 1.0],
        bounds=[(0, w) for w in width],
    )
    assert found.status == 0
    return base - found.fun


def test_a_worker_needs_no_bytes_for_a_type_without_data_and_takes_no_type_without_a_price():
    flop, byte = (1.0, 1.0, 1.0), (0.0, 1.0, 2.0)
    points, values = cpu_curve(1.0, flop, byte, (1.0, 0.0, 3.0))
    assert points.tolist() == [[0.0, 0.0, 1.0, 0.0, 0.0], [2.0, 0.0, 0.0, 0.0, 1.0]]
    assert values == [1.0, 3.0]
    assert cpu_curve(0.0, flop, byte, (1.0,) * 3)[0].tolist() == [[0.0] * 5]


@pytest.mark.parametrize("seed", range(20))
def test_each_point_of_a_curve_is_the_best_for_its_bytes(seed):
    parts, speeds, prices = drawn(seed)
    curve = node_curve(parts, speeds, prices)
    points = curve.points
    for first, second in itertools.pairwise(points):
        for received in (second[0], (first[0] + second[0]) / 2):
            found = worth_of(at(points, received), prices)
            best = best_by_program(curve.parts, speeds, prices, received)
            assert found == pytest.approx(best, rel=1e-7)
    # More bytes are worth nothing.
    end = worth_of(points[-1], prices)
    assert end == pytest.approx(best_by_program(curve.parts, speeds, prices, 1e9), rel=1e-7)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("segments", [1, 2, EVERYTHING])
def test_a_node_can_do_what_it_told(seed, segments):
    parts, speeds, prices = drawn(seed)
    prices = posted(prices.prices, prices.rent, segments=segments)
    curve = node_curve(parts, speeds, prices)
    curve.kept, _ = condensed(curve.points[:, 0].tolist(), curve.values, segments)
    told = curve.points[curve.kept]
    for received in np.linspace(0, told[-1][0], 7).tolist():
        mix = replayed(curve, received)
        assert sum(weight for weight, _ in mix) == pytest.approx(1)
        done = np.zeros(len(told[0]))
        for weight, shares in mix:
            port = sum(x / y for x, y in zip(shares[1:], speeds, strict=True))
            assert port <= 1 + 1e-9
            done += weight * np.array(total_of(shares, curve.parts, speeds))
        assert done == pytest.approx(np.array(at(told, received)), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_the_loss_of_points_left_out_is_what_it_is(seed):
    generator = np.random.default_rng(seed)
    received = np.append(0.0, np.cumsum(generator.uniform(0.1, 1, 12)))
    slopes = np.sort(generator.uniform(0, 1, 12))[::-1]
    value = np.append(0.0, np.cumsum(slopes * np.diff(received)))
    points = np.stack([received, np.zeros(13), value], axis=1)
    kept, loss = condensed(received.tolist(), value.tolist(), 3)
    assert len(kept) == 4
    assert kept[0] == 0
    assert kept[-1] == 12
    told = points[kept]
    # Both are piecewise linear, so that the distance is largest at a point of either.
    lost = [point[FIRST] - at(told, point[0])[FIRST] for point in points]
    assert min(lost) >= -1e-12
    assert loss == pytest.approx(max(lost))
    assert loss > 0


SPLITS = [
    ((1e3, 1.0), 10, (9, 1)),
    ((0.0, 1.0), 10, (0, 10)),
    ((5.0, 3.0, 2.0), 10, (5, 3, 2)),
    ((1.0, 1.0, 1.0), 3, (1, 1, 1)),
    ((1.0, 1.0, 1.0), 2, ()),
    ((0.0, 0.0), 10, ()),
]


@pytest.mark.parametrize(("inflow", "capacity", "slots"), SPLITS)
def test_slots_are_split_in_proportion(inflow, capacity, slots):
    assert slots_for([[x / 2 for x in inflow], [x / 2 for x in inflow]], capacity) == slots


# Tasks of b go to the second child, where they are rare.
RATES = [[0.0, 1.0], [2.0, 0.0], [0.98, 0.02]]


def known(byte, weight=1.0):
    """Return what a node knows of two types and of two children with links of 1 byte/s."""
    return NodeKnowledge([1.0] * 2, [0.1, byte], [1.0, weight], 1.0, [1.0, 1.0])


def test_a_transfer_costs_what_children_could_have_used_after_their_buffers():
    # Nine tasks last the first child 4.5 s, the second 9 s. A task of b takes 10 s to the second.
    lost, banned = LinkFilter(10).judge(known(10.0), RATES)
    assert lost == pytest.approx((0.02 * (5.5 * 2 + 1.0 * 0.98), 0.02 * 1.0 * 0.02))
    # Each brings one task of b, and costs twelve of a.
    assert banned == {(1, 1)}


def test_what_a_buffer_hides_costs_nothing():
    assert LinkFilter(10).judge(known(4.5), RATES) == ((0.0, 0.0), frozenset())
    assert LinkFilter(21).judge(known(10.0), RATES) == ((0.0, 0.0), frozenset())


@pytest.mark.parametrize(
    ("ban_threshold", "weight", "banned"), [(13, 1.0, False), (11, 1.0, True), (13, 2.0, True)]
)
def test_a_ban_needs_a_loss_above_what_the_flow_brings(ban_threshold, weight, banned):
    # 11.98 tasks of a are lost for one of b.
    lost, found = LinkFilter(10, ban_threshold).judge(known(10.0, weight), RATES)
    assert lost[0] == pytest.approx(0.02 * 11.98)
    assert bool(found) is banned


def test_children_that_get_nothing_lose_nothing():
    rates = [[1.0, 1.0], [0.0, 0.0], [0.0, 0.0]]
    assert LinkFilter(10).judge(known(10.0), rates) == ((0.0, 0.0), frozenset())


def test_a_single_row_takes_its_best_column():
    assert solve_game(np.array([[1.0], [3.0], [2.0]])) == (
        [0.0, 1.0, 0.0],
        [1.0],
        pytest.approx(3.0),
    )


def test_a_row_that_gets_nothing_has_the_whole_price():
    weights, prices, value = solve_game(np.array([[5.0, 0.0], [7.0, 0.0]]))
    assert sum(weights) == pytest.approx(1)
    assert prices == pytest.approx([0.0, 1.0])
    assert value == pytest.approx(0.0, abs=1e-15)


@settings(max_examples=40)
@example(22839)  # a price that rounds to less than 0
@given(st.integers(0, 10**6))
def test_games_have_the_value_of_their_linear_program(seed):
    generator = np.random.default_rng(seed)
    columns, rows = int(generator.integers(1, 25)), int(generator.integers(1, 6))
    payoffs = generator.uniform(-1, 2, (columns, rows)) * 10.0 ** generator.integers(-9, 9)
    if seed % 3 == 0:
        # Ties and zeros, as rounds have them that serve one type only.
        payoffs = np.round(payoffs / np.abs(payoffs).max() * 2) * np.abs(payoffs).max()
    weights, prices, value = solve_game(payoffs)
    scale = np.abs(payoffs).max()
    found = linprog(
        np.append(np.zeros(columns), -1.0),
        A_ub=np.hstack([-payoffs.T / scale, np.ones((rows, 1))]),
        b_ub=np.zeros(rows),
        A_eq=[[1.0] * columns + [0.0]],
        b_eq=[1.0],
        bounds=[(0, None)] * columns + [(None, None)],
    )
    assert value / scale == pytest.approx(-found.fun, abs=1e-9)
    for each in (weights, prices):
        assert min(each) >= 0
        assert sum(each) == pytest.approx(1)
    # Either side has what the value says, whatever the other does.
    assert np.min(np.array(weights) @ payoffs) / scale == pytest.approx(value / scale, abs=1e-12)
    assert np.max(payoffs @ np.array(prices)) / scale == pytest.approx(value / scale, abs=1e-12)
