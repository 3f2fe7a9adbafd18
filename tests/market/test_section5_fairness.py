"""Figure 5: fairness against N_max, against allocations and a threshold made anew."""

from __future__ import annotations

import numpy as np
import pytest

from simplugin.market.section5 import Setting
from simplugin.market.section5_fairness import THRESHOLD, curve, ends, turning_rate
from simplugin.market.section5_sites import DEGREE, DEGREES, consistent_site, scaled_site
from simplugin.optimum.bundle_benefit import largest_benefit


def fairness(site, alpha, cap):
    """FI of the most valuable thousand of all values, sorted; computation-intensive tasks."""
    times = 0.005 + 1 / (site.bandwidth / 1e6) + 1000 / (site.speed / 1e6)
    worth = (3600 / times)[:, None] * (1 - alpha) ** np.arange(cap)
    peers = np.argsort(-worth, axis=None, kind="stable")[:1000] // cap
    each = np.bincount(peers, minlength=12) * times
    return each.sum() ** 2 / (12 * np.sum(each**2))


@pytest.mark.parametrize("degree", DEGREES)
@pytest.mark.parametrize("alpha", [0.002, 0.02])
def test_points_are_those_of_the_sorted_values(degree, alpha):
    found = curve(2, degree, Setting("computation", alpha), 0.25)
    site = scaled_site(2, degree)
    caps = np.floor(found.factors * 84 + 1e-9).astype(int)
    expected = [fairness(site, alpha, cap) for cap in caps]
    np.testing.assert_allclose(found.fairness, expected, rtol=1e-9)
    assert found.fairness[-1] == pytest.approx(fairness(site, alpha, 1000), rel=1e-9)
    equal, free = ends(2, degree, Setting("computation", alpha))
    assert (found.fairness[0], found.fairness[-1]) == pytest.approx((equal, free), rel=1e-9)


def test_caps_bind_until_the_end_that_is_told():
    found = curve(2, DEGREE, Setting("neutral", 0.002), 0.05)
    before = found.factors < found.free
    assert np.all(found.fairness[~before] == found.fairness[-1])
    assert found.fairness[before][-1] != found.fairness[-1]
    assert np.count_nonzero(~before) >= 2


def test_equal_peers_are_fair_whatever_the_cap():
    found = curve(1, 0.0, Setting("neutral", 0.02))
    # 4 peers have 84 tasks and 8 have 83, or the last 76 and all others 84.
    assert found.fairness.min() > 1 - 1e-3
    assert not found.is_rising or found.rise < 1e-3


def test_at_the_turning_rate_both_ends_are_as_fair():
    rate = turning_rate(1, DEGREES[1], "computation")
    below, above = (Setting("computation", rate * factor) for factor in (0.9, 1.1))
    equal, free = ends(1, DEGREES[1], below)
    assert free < equal
    equal, free = ends(1, DEGREES[1], above)
    assert free > equal


@pytest.mark.parametrize(("factor", "freer"), [(0.95, False), (1.05, True)])
def test_the_threshold_holds_for_many_tasks_of_peers_that_differ_little(factor, freer):
    m = 1200 * 1000
    speed = consistent_site(0).speed
    values = (speed / speed.mean()) ** 0.02
    # alpha m / n stays what it is for the paper's thousand tasks.
    q = 1 - factor * THRESHOLD * 1000 / m
    times = [largest_benefit(values, m, cap, q).amounts / values for cap in (m, m // 12)]
    free, equal = (each.sum() ** 2 / (12 * np.sum(each**2)) for each in times)
    assert (free > equal) == freer
