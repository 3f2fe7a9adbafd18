"""Bundles of the LCG grid, submitted over eleven days to a grid of sites of computing peers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from simplugin.elementary import exp
from simplugin.errors import WorkloadError
from simplugin.market.execution import Execution, execute
from simplugin.market.model import Terms
from simplugin.market.outcomes import jain_index
from simplugin.platforms.peers import PeerGrid, PeerSite
from simplugin.workloads.bundles import lcg_bundles

if TYPE_CHECKING:
    from simplugin.market.agents.counters import Counters
    from simplugin.workloads.bundle_markets import Floats
    from simplugin.workloads.bundles import Bundle

N_SITES, N_PEERS = 4, 12
ALPHA = 0.01
# Work over what all peers could do between the first and the last submission.
LOAD = 0.5
# Of the processors of the trace, which does not say it: only the ratio to peers' speeds matters,
# and that follows from the load.
SPEED = 1e9
# Data of a task and median bandwidth of a peer, invented: a transfer takes about a second of tasks
# that take an hour.
BYTE, BANDWIDTH = 1e8, 1.25e8
# Standard deviation of logarithms of speeds and bandwidths.
SPREAD = 0.5
_GRID_DRAW, _SIZE_DRAW = 6, 7


def lcg_grid(seed: int, load: float = LOAD) -> PeerGrid:
    """Return a grid of four sites of twelve peers that the bundles load as wanted.

    Speeds and bandwidths are drawn from lognormal distributions; speeds are then scaled by one
    factor.

    Parameters
    ----------
    seed : int
        Of the draw; the load only scales speeds.
    load : float
        Work of all bundles over what all peers compute from the first submission to the last.
        Sites wait for their slowest peer, so that they are busy for more than this.
    """
    if not 0 < load < np.inf:
        raise WorkloadError(f"load is {load!r}; give a positive number")
    generator = np.random.default_rng([seed, _GRID_DRAW])
    draws = exp(SPREAD * generator.standard_normal((2, N_SITES, N_PEERS)))
    speed, bandwidth = draws[0], BANDWIDTH * draws[1]
    rows = lcg_bundles()
    work = sum(row.count * row.mean for row in rows) * SPEED
    speed *= work / (load * (rows[-1].release - rows[0].release) * speed.sum())
    sites = tuple(
        PeerSite.numbered(
            speed[site],
            bandwidth[site],
            prefix=f"site-{site + 1}-peer",
            scheduler=f"site-{site + 1}-scheduler",
        )
        for site in range(N_SITES)
    )
    return PeerGrid(tuple(f"site-{site + 1}" for site in range(N_SITES)), sites)


def lcg_workload(sizes: int | None = None) -> list[Bundle]:
    """Return all bundles.

    Parameters
    ----------
    sizes : int, optional
        Seed of what tasks really compute, with the coefficient of variation of each bundle;
        without, all tasks of a bundle are alike. A bundle's draw does not depend on the others.
    """
    return [
        row.bundle(
            SPEED,
            BYTE,
            None if sizes is None else np.random.default_rng([sizes, _SIZE_DRAW, number]),
        )
        for number, row in enumerate(lcg_bundles())
    ]


@dataclass(frozen=True, eq=False)
class Arrivals:
    """What bundles that arrive over time came to.

    Attributes
    ----------
    benefit : float
        Sum of the bundles' global benefits, at the values of their time [G$].
    response : float64, shape (n_bundles,)
        From submission to the end of the last task [s].
    completion : float64, shape (n_bundles,)
        From the agreement to the end of the last task [s].
    estimated : float64, shape (n_bundles,)
        The same as peers expected it [s].
    fairness : float
        Jain's index of the time that each peer of the grid was busy.
    busy : float
        Part of the time that sites had a bundle, until the last one was done.
    """

    benefit: float
    response: Floats
    completion: Floats
    estimated: Floats
    fairness: float
    busy: float

    @classmethod
    def of(cls, execution: Execution) -> Arrivals:
        """Return the measures of an execution on a grid."""
        deals = execution.deals
        grid = execution.site
        sites = grid.sites if isinstance(grid, PeerGrid) else (grid,)
        peers = [np.zeros(site.n_peers) for site in sites]
        for deal in deals:
            peers[deal.site] += deal.peer_finish - deal.agreed
        held = sum(deal.finished - deal.called for deal in deals)
        end = max(deal.finished for deal in deals)
        begin = min(deal.submitted for deal in deals)
        return cls(
            benefit=sum(deal.outcome().benefit for deal in deals),
            response=np.array([deal.response for deal in deals]),
            completion=np.array([deal.finished - deal.agreed for deal in deals]),
            estimated=np.array([deal.estimated().completion for deal in deals]),
            fairness=jain_index(np.concatenate(peers)),
            busy=held / (len(sites) * (end - begin)),
        )


@cache
def arrivals(
    seed: int,
    load: float = LOAD,
    counters: Counters = "reset",
    negotiation: str = "optimum",
    sizes: int | None = None,
) -> Arrivals:
    """Return what the bundles come to on a grid, on SimGrid.

    The trace's own sites are left aside: the global scheduler hands the first bundle of its queue
    to the idle site that is quickest for it. Terms are an alpha of 0.01, no N_max, prices in G$
    for a task an hour, t_setup 5 ms.

    Parameters
    ----------
    seed, load
        Of `lcg_grid`.
    counters, negotiation
        As those of `simplugin.market.execution.execute`.
    sizes : int, optional
        Of `lcg_workload`.
    """
    terms = Terms(alpha=ALPHA)
    grid = lcg_grid(seed, load)
    return Arrivals.of(
        execute(grid, lcg_workload(sizes), terms, negotiation, counters=counters, seed=seed)
    )
