"""Grids of two tiers on SimGrid: who serves which bundle, and when."""

from itertools import pairwise

import numpy as np
import pytest

from simplugin.market.dispatch import DISPATCHERS, estimated_completion
from simplugin.market.execution import execute
from simplugin.market.model import Terms
from simplugin.platforms.peer_grids import PeerGrid
from simplugin.platforms.peer_sites import PeerSite
from simplugin.workloads.bundles import Bundle

TERMS = Terms(alpha=0.02)
LATENCY = 0.125


def _site(name, factor):
    """Return a site that is so many times as fast as the first."""
    speed, bandwidth = np.array([3e7, 1e7, 2e7]) * factor, np.array([1e7, 4e7, 2e7]) * factor
    return PeerSite.numbered(speed, bandwidth, name, scheduler=f"{name}-ls")


SITES = (_site("a", 1.0), _site("b", 2.0), _site("c", 0.5))
GRID = PeerGrid(("a", "b", "c"), SITES, latency=LATENCY)


def _bundles(count, gap=0.0):
    return [Bundle.of_class("neutral", 40, str(n), n * gap) for n in range(count)]


def _run(bundles, **further):
    return execute(GRID, bundles, TERMS, "optimum", **further).deals


def _overlaps(deals):
    """Return whether a site served two bundles at a time."""
    by_site = {deal.site: sorted((d for d in deals if d.site == deal.site), key=lambda d: d.called)
               for deal in deals}  # fmt: skip
    return any(
        later.called < earlier.finished
        for own in by_site.values()
        for earlier, later in pairwise(own)
    )


@pytest.mark.parametrize("dispatch", DISPATCHERS)
def test_every_bundle_is_served_once(dispatch):
    bundles = _bundles(7, gap=100.0)
    deals = _run(bundles, dispatch=dispatch)
    assert [deal.bundle for deal in deals] == list(range(7))
    assert not _overlaps(deals)
    for deal, bundle in zip(deals, bundles, strict=True):
        assert bundle.release + LATENCY <= deal.called < deal.agreed < deal.finished
        assert deal.amounts.sum() == 40
        estimate = estimated_completion(SITES[deal.site], bundle, TERMS)
        assert deal.outcome().completion == pytest.approx(estimate, rel=1e-6)


def test_first_idle_waits_for_reports():
    deals = _run(_bundles(5))
    times = [estimated_completion(site, _bundles(1)[0], TERMS) for site in SITES]
    assert times[1] < times[0] < times[2]
    # The fastest first; then whoever is done first.
    assert [deal.site for deal in deals[:4]] == [1, 0, 2, 1]
    # A report and a bundle cross the backbone between one bundle and the next.
    assert deals[3].called == pytest.approx(deals[0].finished + 2 * LATENCY, abs=1e-6)
    assert deals[0].called == pytest.approx(LATENCY, abs=1e-6)


def test_round_robin_queues_at_sites():
    deals = _run(_bundles(6), dispatch="round_robin")
    assert [deal.site for deal in deals] == [0, 1, 2, 0, 1, 2]
    # The second bundle is there already.
    for first, second in zip(deals[:3], deals[3:], strict=True):
        assert second.called == first.finished


def test_earliest_is_a_list_schedule():
    bundles = _bundles(9)
    deals = _run(bundles, dispatch="earliest")
    times = np.array([estimated_completion(site, bundles[0], TERMS) for site in SITES])
    ready = np.zeros(3)
    for deal in deals:
        site = int(np.argmin(ready + times))
        assert deal.site == site
        ready[site] += times[site]
        assert deal.finished == pytest.approx(ready[site], rel=1e-3)


def test_sites_keep_counters_of_their_own():
    deals = _run(_bundles(6), dispatch="round_robin", counters="kept")
    for first, second in zip(deals[:3], deals[3:], strict=True):
        expected = first.market.values * 0.98**first.amounts
        np.testing.assert_allclose(second.market.values, expected, rtol=1e-12)


def test_each_site_has_terms_of_its_own():
    terms = (TERMS, Terms(alpha=[0.01, 0.02, 0.03]), Terms(n_max=15))
    deals = execute(GRID, _bundles(3), terms, "optimum", dispatch="round_robin").deals
    np.testing.assert_allclose(deals[1].market.q, [0.99, 0.98, 0.97])
    assert deals[2].market.caps.tolist() == [15] * 3
    assert deals[2].amounts.max() <= 15


def test_a_grid_of_one_site_is_that_site():
    one = execute(PeerGrid(("a",), SITES[:1]), _bundles(2), TERMS, "optimum")
    alone = execute(SITES[0], _bundles(2), TERMS, "optimum")
    for deal, other in zip(one.deals, alone.deals, strict=True):
        np.testing.assert_array_equal(deal.amounts, other.amounts)
        assert deal.finished == pytest.approx(other.finished, rel=1e-9)


def test_back_ends_agree():
    coroutines = _run(_bundles(4, 50.0))
    threads = _run(_bundles(4, 50.0), back_end="threads")
    for one, other in zip(coroutines, threads, strict=True):
        assert one.site == other.site
        np.testing.assert_allclose(one.peer_finish, other.peer_finish, rtol=1e-9)
