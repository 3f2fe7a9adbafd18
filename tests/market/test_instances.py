import numpy as np
import pytest

from simplugin.errors import WorkloadError
from simplugin.market.instances import ALPHA, CAPS, PEERS, TASKS, instance

DRAWN = [instance(seed) for seed in range(1000)]


def test_ranges():
    peers = [len(each.values) for each in DRAWN]
    assert (min(peers), max(peers)) == PEERS
    tasks = [each.m for each in DRAWN]
    assert min(tasks) == TASKS[0]
    assert 1400 < max(tasks) <= TASKS[1]
    assert np.median(tasks) == pytest.approx(np.sqrt(TASKS[0] * TASKS[1]), rel=0.15)
    alpha = np.array([each.alpha for each in DRAWN])
    assert ALPHA[0] <= alpha.min() < 1.1e-4
    assert 0.45 < alpha.max() <= ALPHA[1]
    for kind in CAPS:
        assert 280 < sum(each.kind == kind for each in DRAWN) < 390


def test_all_are_feasible():
    for each in DRAWN:
        assert each.caps.sum() >= each.m
        assert each.market.caps.tolist() == each.caps.tolist()
        if each.kind == "none":
            assert set(each.caps) == {each.m}


def test_the_same_in_any_order():
    again = instance(7)
    assert again.m == DRAWN[7].m
    np.testing.assert_array_equal(again.values, DRAWN[7].values)
    np.testing.assert_array_equal(again.caps, DRAWN[7].caps)
    assert again.q == DRAWN[7].q == 1 - again.alpha


def test_fewer_tasks():
    assert max(instance(seed, most_tasks=30).m for seed in range(100)) <= 30
    with pytest.raises(WorkloadError, match="most_tasks"):
        instance(0, most_tasks=1)


def test_nobody_writes_to_a_cached_market():
    drawn = instance(3)
    for array in (drawn.values, drawn.caps):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
