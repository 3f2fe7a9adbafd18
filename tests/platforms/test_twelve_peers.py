"""Sites of twelve peers have the three numbers of the paper."""

from __future__ import annotations

import numpy as np
import pytest

from simplugin.errors import PlatformError
from simplugin.market.model import heterogeneity
from simplugin.platforms.twelve_peers import DEGREES, chosen_site, consistent_site, scaled_site


def first_prices(site, flop=1000.0, byte=1.0):
    """Eqs. (4) and (6), written anew: a task an hour, sizes and capacities in millions."""
    return 3600 / (0.005 + byte / (site.bandwidth / 1e6) + flop / (site.speed / 1e6))


def degree_of(site):
    """Eq. (13) in millions."""
    return heterogeneity(site.speed / 1e6, site.bandwidth / 1e6)


@pytest.mark.parametrize("seed", range(4))
def test_the_three_numbers_of_the_paper(seed):
    site = consistent_site(seed)
    prices = first_prices(site)
    assert site.n_peers == 12
    assert prices[9] == pytest.approx(4.5, rel=1e-12)
    assert prices.mean() == pytest.approx(83.3, rel=1e-12)
    spreads = [np.std(each) / 1e6 for each in (site.speed, site.bandwidth)]
    assert sum(spreads) / 2 == pytest.approx(11.0468, rel=1e-12)
    assert prices.argmin() == 9


@pytest.mark.parametrize("spread", [0.2, 0.8])
def test_other_spreads_fit_too(spread):
    site = consistent_site(3, spread)
    assert first_prices(site).mean() == pytest.approx(83.3, rel=1e-12)
    assert degree_of(site) == pytest.approx(11.0468, rel=1e-12)
    others = np.delete(np.log(site.speed), 9)
    assert others.std() == pytest.approx(spread, rel=0.6)


def test_sites_of_different_seeds_differ_and_those_of_one_do_not():
    assert np.all(consistent_site(0).speed == chosen_site().speed)
    assert np.all(consistent_site(1).speed[:9] != chosen_site().speed[:9])


@pytest.mark.parametrize("degree", [0.0, 0.5, *DEGREES])
def test_degrees_are_those_wanted_and_means_stay(degree):
    site, whole = scaled_site(4, degree), consistent_site(4)
    assert degree_of(site) == pytest.approx(degree, rel=1e-12, abs=1e-12)
    assert site.speed.mean() == pytest.approx(whole.speed.mean(), rel=1e-12)
    assert site.bandwidth.mean() == pytest.approx(whole.bandwidth.mean(), rel=1e-12)


def test_degrees_out_of_range_are_refused():
    with pytest.raises(PlatformError, match=r"degree is 12; give a number from 0 to 11\.0468"):
        scaled_site(0, 12)
    with pytest.raises(PlatformError, match="no draw of spread"):
        consistent_site(0, 30.0)
