import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simplugin.errors import WorkloadError
from simplugin.market.model import Outcome, heterogeneity, jain_index
from simplugin.workloads.bundle_markets import BundleMarket

MARKET = BundleMarket([7.0, 12.0], 4, 4, 0.5)


def test_benefit_is_shared_out_between_scheduler_and_peers() -> None:
    # Peer 1 has 7 + 3.5, peer 2 has 12 + 6; all pay 3.5 a task.
    outcome = Outcome.estimated(MARKET, np.array([2, 2]), 3.5, np.array([3.0, 1.5]))
    assert outcome.benefit == pytest.approx(28.5)
    assert outcome.revenue == pytest.approx(14.0)
    assert outcome.profits == pytest.approx([3.5, 11.0])
    assert outcome.revenue + outcome.profits.sum() == pytest.approx(outcome.benefit)


def test_times_are_those_of_tasks_one_after_the_other() -> None:
    outcome = Outcome.estimated(MARKET, np.array([1, 3]), 1.0, np.array([3.0, 2.0]))
    assert (outcome.completion, outcome.total) == (6.0, 9.0)
    assert outcome.fairness == pytest.approx(81 / (2 * 45))


def test_amounts_that_leave_tasks_over_are_refused() -> None:
    with pytest.raises(WorkloadError, match="place all 4"):
        Outcome(MARKET, np.array([1, 2]), 1.0, np.zeros(2))


def test_times_of_another_shape_are_refused() -> None:
    with pytest.raises(WorkloadError, match="one a peer"):
        Outcome(MARKET, np.array([2, 2]), 1.0, np.zeros(3))


@given(st.lists(st.floats(0, 1e300), min_size=1, max_size=20).filter(any))
def test_fairness_is_between_one_over_n_and_one(times: list[float]) -> None:
    index = jain_index(times)
    assert 1 / len(times) - 1e-12 <= index <= 1 + 1e-12


def test_fairness_counts_peers_without_tasks() -> None:
    assert jain_index([5.0] * 11 + [0.0]) == pytest.approx(11 / 12)
    with pytest.raises(WorkloadError, match="nobody"):
        jain_index([0.0, 0.0])


def test_heterogeneity_is_the_mean_of_two_standard_deviations_of_populations() -> None:
    # Deviations of 1, 3 from their mean are 1; those of 0, 0, 6 (not of a sample) sqrt(8).
    assert heterogeneity([1.0, 3.0], [5.0, 5.0]) == pytest.approx(0.5)
    assert heterogeneity([0.0, 0.0, 6.0], [1.0, 1.0, 1.0]) == pytest.approx(np.sqrt(8) / 2)
