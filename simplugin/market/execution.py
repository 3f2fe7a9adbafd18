"""Running markets for bundles of tasks on SimGrid."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np

from simplugin.core.errors import ActorError, InfeasibleError, WorkloadError
from simplugin.market.actors.global_schedulers import grid, one_site
from simplugin.market.actors.messages import Capacity
from simplugin.market.actors.stations import (
    PeerRecords,
    PeerStation,
    SchedulerStation,
    ServiceRules,
)
from simplugin.market.model import Deal, DealRecord, MarketTerms
from simplugin.market.policies.negotiation import BundleNegotiation
from simplugin.market.policies.shipped import MarketPolicy, negotiation_called
from simplugin.platforms import Platform
from simplugin.platforms.peers import PeerGrid, PeerSite
from simplugin.simulation import Result, SimGridOptions
from simplugin.simulation.options import SimulationKeywords, with_defaults
from simplugin.simulation.placement import Placement
from simplugin.simulation.simulate import simulate
from simplugin.workloads.bundle_markets import BundleMarket, rows_of
from simplugin.workloads.bundles import Bundle

# Name of the actor that returns the records.
_MARKET = "market"


@dataclass(frozen=True, eq=False)
class BundleExecution:
    """The execution of all bundles.

    Attributes
    ----------
    site : PeerSite or PeerGrid
        The site or grid.
    bundles : tuple of Bundle
        The bundles.
    deals : tuple of Deal, shape (n_bundles,)
        The deal of each bundle.
    result : Result
        The simulation's.
    """

    site: PeerSite | PeerGrid
    bundles: tuple[Bundle, ...]
    deals: tuple[Deal, ...]
    result: Result


def execute(
    site: PeerSite | PeerGrid,
    bundles: Sequence[Bundle] | Bundle,
    terms: MarketTerms | Sequence[MarketTerms] | None = None,
    negotiation: str | MarketPolicy | BundleNegotiation = "isgbmat",
    *,
    rules: ServiceRules | None = None,
    believed: PeerSite | PeerGrid | None = None,
    platform: Platform | str | os.PathLike[str] | None = None,
    **simulation: Unpack[SimulationKeywords],
) -> BundleExecution:
    """Sell bundles of tasks to computing peers on SimGrid, and execute all tasks.

    A local scheduler announces a bundle to its peers, negotiates with them over the network, and
    sends each the tasks that it has bought, all peers side by side. A peer takes one after the
    other: it sets up, fetches the data, computes and acknowledges. A site serves one bundle after
    the other, in the order of submission.

    In a grid, users submit to a global scheduler, which forwards descriptions of bundles to sites;
    the data come from the local scheduler. When a bundle reaches the head of the queue, the global
    scheduler asks each site for an estimate, one message there and one back. A local scheduler
    estimates from the capacities that its peers reported when they started, one message each,
    without the discounts of earlier bundles; it may answer that it cannot take the bundle. These
    messages cross the network, but are not counted as messages of a negotiation.

    Parameters
    ----------
    site : PeerSite or PeerGrid
        The site or grid.
    bundles : Bundle or sequence of Bundle
        The bundles, submitted at their release dates.
    terms : MarketTerms or sequence of MarketTerms, optional
        Terms of all sites, or of each site of a grid; None for ``MarketTerms()``.
    negotiation : str, callable or BundleNegotiation
        Negotiation: a name of `NEGOTIATIONS`; or a policy, its name in `POLICIES` or its
        ``module:function``, to which peers report all that they know.
    rules : ServiceRules, optional
        The service of bundles by sites and peers; None for ``ServiceRules()``.
    believed : PeerSite or PeerGrid, optional
        Speeds and bandwidths as peers believe them; None for the true ones.
    platform : Platform or path, optional
        The platform to simulate, with hosts of the site's names and routes between schedulers and
        their peers; None for ``site.platform()``.
    **simulation
        Options of the simulation, fields of `simplugin.simulation.SimulationOptions`; by default
        ``options=SimGridOptions.linear()`` and ``trace=False``. Each negotiation draws from
        `seed`: the first bundle is dealt as by `negotiate` with it.

    Returns
    -------
    BundleExecution
        A deal for each bundle.

    Raises
    ------
    WorkloadError
        There is no bundle, the negotiation is unknown or does not place all tasks, or an argument
        is out of its range.
    InfeasibleError
        No site can place a bundle under the caps, the negotiation ended without an agreement, or
        the peers that answer cannot take the remaining tasks.
    """
    given = (bundles,) if isinstance(bundles, Bundle) else tuple(bundles)
    if not given:
        raise WorkloadError("there is no bundle; give at least one")
    sites = sites_of(site)
    thought = sites if believed is None else sites_of(believed)
    if [each.names for each in thought] != [each.names for each in sites]:
        raise WorkloadError("believed has other peers than the site; give a site of the same names")
    if terms is None or isinstance(terms, MarketTerms):
        agreed: Sequence[MarketTerms] = (terms or MarketTerms(),) * len(sites)
    else:
        agreed = terms
    if len(agreed) != len(sites):
        raise WorkloadError(
            f"there are terms for {len(agreed)} sites; give one for each: {len(sites)}"
        )
    for bundle in given:
        _require_place(bundle, site, agreed)
    rules, several = rules or ServiceRules(), isinstance(site, PeerGrid)
    if rules.patience is not None and several:
        raise WorkloadError(
            "patience is given with a grid of sites, where no host may fail; remove one"
        )
    talks, seed = negotiation_called(negotiation), simulation.get("seed", 0)
    schedulers, peers = [], []
    for number, (each, own) in enumerate(zip(sites, agreed, strict=True)):
        schedulers.append(
            SchedulerStation(each.scheduler, each.names, number, seed, several, rules.patience)
        )
        capacities = zip(each.names, _capacities(thought[number], own), strict=True)
        peers.append(
            [
                PeerStation(name, capacity, rules, number, seed, several, peer)
                for peer, (name, capacity) in enumerate(capacities)
            ]
        )
    if several:
        parties = (site.scheduler, rules.dispatch, schedulers, peers, talks, given)
        actor = Placement(site.scheduler, grid, parties, name=_MARKET)
    else:
        own_site = (schedulers[0], peers[0], talks, given)
        actor = Placement(site.scheduler, one_site, own_site, name=_MARKET)
    model = site.platform() if platform is None else platform
    try:
        result = simulate(model, [actor], **with_defaults(simulation, SimGridOptions.linear()))
    except ActorError as error:
        # Errors of a negotiation about its market are for the caller.
        if isinstance(error.__cause__, InfeasibleError | WorkloadError):
            raise error.__cause__ from error
        raise
    records, ledgers = result.value_of(_MARKET)
    records.sort(key=lambda each: each.bundle)
    deals = [_deal(each, given, agreed[each.site], ledgers[each.site]) for each in records]
    return BundleExecution(site, given, tuple(deals), result)


def sites_of(site: PeerSite | PeerGrid) -> tuple[PeerSite, ...]:
    """Return the sites of a grid, or the only one."""
    return site.sites if isinstance(site, PeerGrid) else (site,)


def _require_place(bundle: Bundle, site: PeerSite | PeerGrid, terms: Sequence[MarketTerms]) -> None:
    """Raise InfeasibleError if no site can take a bundle."""
    refusals, sites = [], sites_of(site)
    for each, own in zip(sites, terms, strict=True):
        try:
            own.market(np.ones(each.n_peers), bundle.count)
        except InfeasibleError as error:
            refusals.append(str(error))
    if len(refusals) < len(sites):
        return
    if not isinstance(site, PeerGrid):
        raise InfeasibleError(f"bundle {bundle.name!r}: {refusals[0]}")
    reasons = "; ".join(
        f"site {name!r}: {why}" for name, why in zip(site.names, refusals, strict=True)
    )
    raise InfeasibleError(f"no site can take bundle {bundle.name!r}: {reasons}")


def _capacities(thought: PeerSite, terms: MarketTerms) -> list[Capacity]:
    """Return the believed capacities of each peer of a site, and its terms."""
    n_max = np.inf if terms.n_max is None else np.asarray(terms.n_max, dtype=np.float64)
    columns = np.broadcast_arrays(
        thought.speed, thought.bandwidth, 1 - np.asarray(terms.alpha), n_max
    )
    setup, unit = float(terms.setup), float(terms.price_unit)
    discounts = () if terms.discounts is None else tuple(np.asarray(terms.discounts).tolist())
    return [
        Capacity(speed, bandwidth, setup, unit, ratio, limit, discounts)
        for speed, bandwidth, ratio, limit in np.transpose(columns).tolist()
    ]


def _deal(
    record: DealRecord,
    bundles: Sequence[Bundle],
    terms: MarketTerms,
    ledgers: Sequence[PeerRecords],
) -> Deal:
    """Return the deal from the records of the local scheduler and its peers."""
    number, bundle = record.bundle, bundles[record.bundle]
    # Peers without an announcement of the bundle take no task.
    heard = np.array([number in ledger.values for ledger in ledgers])
    caps = np.where(heard, bundle.count if terms.n_max is None else terms.n_max, 0)
    worths = [np.atleast_1d(ledger.values.get(number, 0.0)) for ledger in ledgers]
    if terms.discounts is None:
        q = 1 - np.asarray(terms.alpha)
        market = BundleMarket(np.concatenate(worths), bundle.count, caps, q)
    else:
        market = BundleMarket(rows_of(worths), bundle.count, caps)
    seen = vars(record) | {
        "amounts": market.check(record.amounts),
        "peer_finish": np.array(record.peer_finish),
    }
    times = np.array([ledger.times.get(number, 0.0) for ledger in ledgers])
    return Deal(**seen, market=market, times=times, submitted=bundle.release)
