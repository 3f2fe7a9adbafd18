"""Real bundles on a grid, against plain re-implementations of sites and counters."""

import numpy as np
import pytest

from simplugin.market.actors.stations import ServiceRules
from simplugin.market.execution import execute
from simplugin.market.model import MarketTerms
from simplugin.optimum.bundle_benefit import largest_benefit
from simplugin.papers.zheng import arrivals
from simplugin.papers.zheng.arrivals import (
    N_PEERS,
    N_SITES,
    kept_parts,
    lcg_grid,
    lcg_workload,
    serve,
)
from simplugin.papers.zheng.settings import ALPHA
from simplugin.workloads.bundles import lcg_bundles

SETUP = 0.005


def test_the_load_is_as_wanted():
    rows = lcg_bundles()
    work = sum(row.count * row.mean * arrivals.SPEED for row in rows)
    span = rows[-1].release - rows[0].release
    grids = [lcg_grid(3, load) for load in (0.25, 0.5)]
    for grid, load in zip(grids, (0.25, 0.5), strict=True):
        assert (len(grid.sites), {site.n_peers for site in grid.sites}) == (N_SITES, {N_PEERS})
        speed = sum(site.speed.sum() for site in grid.sites)
        assert work / (speed * span) == pytest.approx(load)
    assert grids[0].sites[1].speed == pytest.approx(2 * grids[1].sites[1].speed)
    assert grids[0].sites[1].bandwidth.tolist() == grids[1].sites[1].bandwidth.tolist()
    assert not np.allclose(lcg_grid(4).sites[0].speed, lcg_grid(3).sites[0].speed)


def peer_times(site, bundle, amounts):
    """Return the time of each peer for its tasks, which are dealt in order."""
    work = [bundle.flop] * bundle.count if bundle.work is None else bundle.work.tolist()
    parts = np.split(np.array(work), np.cumsum(amounts)[:-1])
    each = SETUP + bundle.byte / site.bandwidth
    return [np.sum(each[peer] + mine / site.speed[peer]) for peer, mine in enumerate(parts)]


@pytest.mark.parametrize("sizes", [None, 1])
def test_a_grid_by_hand(sizes):
    grid, bundles = lcg_grid(0, 1.0), lcg_workload(sizes)[:25]
    execution = execute(grid, bundles, MarketTerms(alpha=ALPHA), "optimum")
    deals = execution.deals
    busy = np.zeros((N_SITES, N_PEERS))
    for bundle, deal in zip(bundles, deals, strict=True):
        site = grid.sites[deal.site]
        times = SETUP + bundle.byte / site.bandwidth + bundle.flop / site.speed
        best = largest_benefit(3600 / times, bundle.count, bundle.count, 1 - ALPHA)
        assert deal.amounts.tolist() == best.amounts.tolist()
        taken = peer_times(site, bundle, deal.amounts.tolist())
        busy[deal.site] += taken
        assert deal.finished - deal.agreed == pytest.approx(max(taken), rel=1e-6)
    found = arrivals.Arrivals.of(execution)
    expected = busy.sum() ** 2 / (busy.size * (busy**2).sum())
    assert found.fairness == pytest.approx(expected, rel=1e-6)
    ends = np.array([deal.finished for deal in deals])
    assert found.response == pytest.approx(ends - [bundle.release for bundle in bundles])
    held = sum(deal.finished - deal.called for deal in deals)
    assert found.busy == pytest.approx(held / (N_SITES * (ends.max() - bundles[0].release)))
    assert found.benefit == pytest.approx(sum(d.market.benefit(d.amounts) for d in deals))
    if sizes is None:
        assert found.longer == pytest.approx(np.ones(25), rel=1e-6)


@pytest.mark.parametrize("counters", ["kept", 20_000.0])
def test_actors_keep_counters_as_the_mathematics_do(counters):
    site = lcg_grid(1, 1.0).sites[0]
    bundles = lcg_workload()[:25]
    deals = execute(
        site, bundles, MarketTerms(alpha=ALPHA), "optimum", rules=ServiceRules(counters=counters)
    ).deals
    times = [SETUP + each.byte / site.bandwidth + each.flop / site.speed for each in bundles]
    values = [3600 / each for each in times]
    counts = [bundle.count for bundle in bundles]
    dates = [deal.agreed for deal in deals]
    served = serve(values, counts, 1 - ALPHA, kept_parts(counters, dates))
    for deal, own, (sold, best) in zip(deals, values, served, strict=True):
        assert best.amounts.tolist() == deal.amounts.tolist()
        assert deal.market.values == pytest.approx(own * (1 - ALPHA) ** sold, rel=1e-9)
        assert best.benefit == pytest.approx(deal.outcome().benefit)
