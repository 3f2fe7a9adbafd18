import numpy as np
import pytest

from simplugin.errors import WorkloadError
from simplugin.market.model import Terms, completion_times
from simplugin.platforms.peers import PeerSite
from simplugin.workloads.bundle_markets import largest_share
from simplugin.workloads.bundles import Bundle

SITE = PeerSite.numbered(np.array([25e6, 50e6]), np.array([10e6, 20e6]))


def test_estimated_times_add_setup_transfer_and_execution() -> None:
    times = completion_times(SITE, Bundle("b", 10, 1e9, 40e6), setup=0.5)
    assert times == pytest.approx([0.5 + 4 + 40, 0.5 + 2 + 20])


def test_a_task_that_takes_an_hour_is_worth_one() -> None:
    assert Terms().values([3600.0, 36.0]).tolist() == [1.0, 100.0]
    assert Terms(price_unit=1.0).values([4.0]).tolist() == [0.25]


def test_terms_make_the_market_that_they_describe() -> None:
    market = Terms(alpha=[0.5, 0.25], n_max=7).market([3600.0, 1800.0], 10)
    assert market.values.tolist() == [1.0, 2.0]
    assert market.q.tolist() == [0.5, 0.75]
    assert market.caps.tolist() == [7, 7]
    assert Terms().market([1.0, 1.0], 10).caps.tolist() == [10, 10]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"alpha": [0.5, 0.0]}, "alpha is"),
        ({"alpha": [0.5, 1e-300]}, "alpha is .*1e-300.*; give discount rates from 1.2e-16 on"),
        ({"alpha": "ab"}, "alpha is 'ab'"),
        ({"n_max": -1}, "n_max is -1; give whole numbers of tasks from 0 on, or None or inf"),
        ({"n_max": [4, np.nan]}, "n_max is .*nan"),
        ({"n_max": "ab"}, "n_max is 'ab'"),
        ({"discounts": [1.0, 0.5, 0.6]}, "discounts rise from 0.5 for task 2 to 0.6 for the next"),
        ({"discounts": [1.1]}, r"discounts are \[1.1\]; give factors from 0 to 1"),
        ({"discounts": []}, "discounts are"),
        ({"discounts": [1.0], "alpha": 0.5}, "alpha says nothing beside discounts"),
        ({"price_unit": 0.0}, "price_unit is 0.0"),
        ({"setup": -1.0}, "setup is -1.0"),
    ],
)
def test_senseless_terms_are_refused(fields: dict[str, object], message: str) -> None:
    with pytest.raises(WorkloadError, match=message):
        Terms(**fields)  # type: ignore[arg-type]


def test_the_largest_share_counts_in_means_rounded_up() -> None:
    assert [largest_share(1000, 12, factor) for factor in (1, 1.5, 2)] == [84, 126, 168]
    with pytest.raises(WorkloadError, match=r"lambda is 0\.9"):
        largest_share(1000, 12, 0.9)


def test_a_share_that_is_whole_but_for_rounding_is_whole() -> None:
    hundredths = range(100, 500)
    shares = [largest_share(1200, 12, number / 100) for number in hundredths]
    assert shares == list(hundredths)
    # No more of many tasks, however many.
    assert largest_share(12 * 10**14, 12, 1) == 10**14
    assert largest_share(2**52, 1, 1) == 2**52


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (np.inf, None),
        ([5, np.inf], [5, 2**53]),
        (10**30, 2**53),
        ([0, 10], [0, 10]),
    ],
)
def test_no_limit_is_one_beyond_all_bundles(given: object, kept: object) -> None:
    terms = Terms(n_max=given)  # type: ignore[arg-type]
    found = terms.n_max
    assert (found.tolist() if isinstance(found, np.ndarray) else found) == kept
    market = terms.market([1.0, 1.0], 10)
    limits = np.broadcast_to(np.minimum(np.array(given, dtype=float), 10), 2)
    assert market.caps.tolist() == limits.tolist()


def test_terms_keep_what_they_were_given() -> None:
    alpha, n_max = np.array([0.5, 0.25]), np.array([5, 6])
    terms = Terms(alpha, n_max)
    alpha[0], n_max[0] = 0.1, 0
    market = terms.market([1.0, 1.0], 10)
    assert market.q.tolist() == [0.5, 0.75]
    assert market.caps.tolist() == [5, 6]
    for kept in (terms.alpha, terms.n_max):
        with pytest.raises(ValueError, match="read-only"):
            kept[0] = 1  # type: ignore[index]
