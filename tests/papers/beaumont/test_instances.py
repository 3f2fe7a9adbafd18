from collections import Counter

import numpy as np
import pytest

from simplugin.papers.beaumont import instances
from simplugin.papers.beaumont.instances import NODES, SEEDS, TREES, instance

SEED = SEEDS[0]


def test_ten_trees_of_each_shape():
    found = [instance("A", SEED, number)[0] for number in range(TREES)]
    nodes = Counter(tree.n_hosts for tree in found)
    assert nodes == dict.fromkeys(NODES, 30)
    for number, tree in enumerate(found):
        degree = instances.DEGREES[number // 5 % 3]
        assert max(map(len, tree.children)) <= degree
    # Of the large trees with up to so many children, some node has as many.
    for turn, degree in enumerate(instances.DEGREES):
        large = found[5 * turn + 4 :: 15]
        assert len(large) == 10
        assert max(len(children) for tree in large for children in tree.children) == degree


def test_ratios_are_evenly_spaced_and_their_largest_log_uniform():
    largest = []
    for number in range(TREES):
        _, bags = instance("A", SEED, number)
        assert bags.ratio[0] == pytest.approx(0.001)
        assert np.ptp(np.diff(bags.ratio)) < 1e-12
        assert bags.flop == pytest.approx(2 * 3500**3)
        assert list(bags.count) == [200] * bags.n_applications
        largest.append(bags.ratio[-1])
    assert 0.002 <= min(largest) < 0.0025
    assert 3.5 < max(largest) <= 4.6
    # Log-uniform: the median is near the geometric mean of the ends, within four deviations.
    middle = np.log(0.002 * 4.6) / 2
    spread = np.log(4.6 / 0.002) / 2 / np.sqrt(TREES)
    assert abs(np.median(np.log(largest)) - middle) < 4 * spread


@pytest.mark.parametrize("number", [0, 31, 149])
def test_readings_change_what_they_say_and_nothing_else(number):
    first, tasks = instance("A", SEED, number)
    for name in instances.MAIN:
        tree, bags = instance(name, SEED, number)
        assert list(tree.parent) == list(first.parent)
        assert np.array_equal(tree.bandwidth, first.bandwidth)
        assert np.array_equal(tree.speed[1:], first.speed[1:])
        assert tree.speed[0] == (first.speed[0] if name in "AC" else 0)
        assert bags.ratio == pytest.approx(tasks.ratio)
    _, alike = instance("C", SEED, number)
    assert alike.byte == pytest.approx(98e6)
    _, between = instance("E", SEED, number)
    assert between.ratio == pytest.approx(tasks.ratio)
    assert between.flop * between.byte == pytest.approx(tasks.flop[0] * tasks.byte[0])


def test_variants():
    first, tasks = instance("A", SEED, 14)
    _, bits = instance("A, kilobits", SEED, 14)
    assert bits.ratio == pytest.approx(8 * tasks.ratio)
    assert bits.flop == pytest.approx(tasks.flop)
    even, _ = instance("A, uniform bandwidths", SEED, 14)
    assert np.array_equal(even.speed, first.speed)
    assert np.median(even.bandwidth[1:]) > 2 * np.median(first.bandwidth[1:])
    late, _ = instance("A, 6 ms to 10 s", SEED, 14)
    assert late.latency[0] == 0
    assert 6e-3 <= late.latency[1:].min() < 0.1 < 1 < late.latency.max() <= 10
    workers, _ = instance("A, n workers", SEED, 14)
    assert workers.n_hosts == first.n_hosts + 1
    assert instance("A, two applications", SEED, 1)[1].n_applications == 2
    assert instance("A, three applications", SEED, 0)[1].n_applications == 3


def test_draws_are_determined_by_seed_and_number():
    for name in instances.READINGS:
        one, two = (instance(name, SEED, 7) for _ in range(2))
        assert np.array_equal(one[0].bandwidth, two[0].bandwidth)
        assert np.array_equal(one[1].byte, two[1].byte)
    other = instance("A", SEED + 1, 7)
    assert not np.array_equal(other[0].speed, instance("A", SEED, 7)[0].speed)
