"""The bundles that a scenario names, the sites that they go to, and the terms of the market."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from simplugin.errors import InfeasibleError, PlatformError, WorkloadError
from simplugin.formats.swf import read_swf
from simplugin.inputs.messages import suggestion
from simplugin.market.model import Terms, completion_times
from simplugin.market.platform_sites import hosts_beside, site_of
from simplugin.platforms.peers import PeerGrid, PeerSite
from simplugin.simulation.resolve import resolve
from simplugin.workloads.bundle_markets import largest_share
from simplugin.workloads.bundles import CLASSES, MEGA, Bundle, lcg_bundles, trace_bundles

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from simplugin.platforms import Platform
    from simplugin.scenarios.bundles import BundlesWorkload, BundleTable
    from simplugin.scenarios.scenario import Scenario
    from simplugin.workloads.bundle_markets import BundleMarket

_KEY = ("workload", "bundles")
# Each is simulated: some 10 s and 0.5 GB for so many, on one core.
MOST_TASKS = 1_000_000


def bundles_of(scenario: Scenario) -> list[Bundle]:
    """Return the bundles of a scenario of kind "bundles", by their release dates.

    They are called as their table says, else after their class or file; those of the same name are
    numbered through.

    Raises
    ------
    ScenarioError
        A log has no bundle, or there are more tasks than can be simulated.
    WorkloadFileError
        A log says something wrong.
    """
    tables: list[BundleTable] = scenario.workload.bundles
    bundles: list[Bundle] = []
    tasks = 0
    for place, table in enumerate(tables):
        if table.source in ("class", "sizes"):
            # Before they are made: copies may be too many, too.
            _check_tasks(scenario, place, tasks + table.count * table.copies)
        made = _MAKERS[table.source](scenario, place)
        tasks += sum(bundle.count for bundle in made)
        _check_tasks(scenario, place, tasks)
        bundles += made
    bundles.sort(key=lambda bundle: bundle.release)
    counts = Counter(bundle.name for bundle in bundles)
    used: Counter[str] = Counter()
    for number, bundle in enumerate(bundles):
        used[bundle.name] += 1
        if counts[bundle.name] > 1:
            bundles[number] = replace(bundle, name=f"{bundle.name}-{used[bundle.name]}")
    return bundles


def _check_tasks(scenario: Scenario, place: int, tasks: int) -> None:
    """Refuse more tasks than can be simulated, at the table with which they become too many."""
    if tasks <= MOST_TASKS:
        return
    table: BundleTable = scenario.workload.bundles[place]
    key = {"file": "file", "log": "log"}.get(table.source, "count")
    if key not in table.model_fields_set:
        key = "copies" if table.copies > 1 else table.source
    message = f"{tasks:,} tasks are too many to simulate each; at most {MOST_TASKS:,} are"
    fewer = "the first bundles of the log only" if key in ("file", "log") else "fewer"
    remedy = (
        f"give {fewer}, or allocate them without simulation, from Python:"
        " simplugin.optimum.bundle_benefit.largest_benefit, or a policy of"
        " simplugin.market.policies.POLICIES"
    )
    raise scenario.error(message, *_KEY, place, key, remedy=remedy)


def _alike(scenario: Scenario, place: int) -> list[Bundle]:
    """Return one bundle, or copies of it one period after the other."""
    table: BundleTable = scenario.workload.bundles[place]
    flop, byte = table.flop or 0.0, table.byte or 0.0
    if table.class_ is not None:
        flop, byte = (size * MEGA for size in CLASSES[table.class_])
    name = table.name or table.class_ or "bundle"
    dates = [table.release + number * table.period for number in range(table.copies)]
    return [Bundle(name, table.count, flop, byte, date) for date in dates]


def _from_file(scenario: Scenario, place: int) -> list[Bundle]:
    """Return the bundles of a trace."""
    table: BundleTable = scenario.workload.bundles[place]
    assert table.file is not None
    found = trace_bundles(read_swf(table.file), gap=table.gap, least=table.least)
    if not found:
        message = f"{table.file.name} has no {table.least} jobs of a user close to each other"
        remedy = "give a smaller least or a longer gap"
        raise scenario.error(message, *_KEY, place, "file", remedy=remedy)
    made = [
        each.bundle(table.speed, table.byte or 0.0, table.real_sizes)
        for each in found[: table.first]
    ]
    return _logged(table, table.file.name.partition(".")[0], made)


def _shipped(scenario: Scenario, place: int) -> list[Bundle]:
    """Return the bundles of the LCG grid."""
    table: BundleTable = scenario.workload.bundles[place]
    assert table.log is not None
    made = []
    for number, each in enumerate(lcg_bundles()[: table.first]):
        draws = None
        if table.real_sizes:
            draws = np.random.default_rng([scenario.simulation.seed, place, number])
        made.append(each.bundle(table.speed, table.byte or 0.0, draws))
    return _logged(table, table.log, made)


def _logged(table: BundleTable, name: str, bundles: list[Bundle]) -> list[Bundle]:
    """Name bundles of a log, and let the first of them be submitted when the table says."""
    later = table.release - bundles[0].release
    name = table.name or name
    return [replace(each, name=name, release=max(each.release + later, 0.0)) for each in bundles]


_MAKERS: dict[str, Callable[[Scenario, int], list[Bundle]]] = {
    "class": _alike,
    "sizes": _alike,
    "file": _from_file,
    "log": _shipped,
}


def site_in(scenario: Scenario, platform: Platform | Path) -> PeerSite | PeerGrid:
    """Return the site of a scenario's peers, or the grid of its sites.

    Raises
    ------
    ScenarioError
        A host is not there, computes nothing, or cannot be reached.
    PlatformError
        SimGrid refuses the platform.
    """
    workload: BundlesWorkload = scenario.workload
    if not workload.sites:
        return _site(scenario, platform, workload.scheduler, workload.peers)
    names = [table.name or table.scheduler for table in workload.sites]
    sites = [
        _site(scenario, platform, table.scheduler, table.peers, "sites", place)
        for place, table in enumerate(workload.sites)
    ]
    assert workload.global_scheduler is not None
    hosts = [host.name for host in resolve(platform).hosts]
    if workload.global_scheduler not in hosts:
        message = f"global_scheduler {workload.global_scheduler!r} is no host"
        remedy = suggestion(workload.global_scheduler, hosts, "there are")
        raise scenario.error(message, "workload", "global_scheduler", remedy=remedy)
    try:
        return PeerGrid(tuple(names), tuple(sites), scheduler=workload.global_scheduler)
    except PlatformError as error:
        raise scenario.error(str(error), "workload", "sites") from error


def _site(
    scenario: Scenario,
    platform: Platform | Path,
    scheduler: str,
    peers: Sequence[str] | None,
    *table: str | int,
) -> PeerSite:
    """Return one site."""
    try:
        if table and peers is None:
            peers = hosts_beside(platform, scheduler)
        return site_of(platform, scheduler, peers)
    except WorkloadError as error:
        key = str(error).partition(" ")[0]
        raise scenario.error(str(error), "workload", *table, key) from error


def terms_of(
    scenario: Scenario, site: PeerSite | PeerGrid, bundles: Sequence[Bundle]
) -> list[Terms]:
    """Return what prices follow from at each site.

    Raises
    ------
    ScenarioError
        A bundle cannot be placed under the caps of any site, or has no finite prices; lambda stands
        for several caps; or the discount rates are not of the peers.
    """
    workload: BundlesWorkload = scenario.workload
    sites = sites_of(site)
    _check_peers(scenario, sites)
    terms = [
        Terms(
            _rates(scenario, each),
            _most(scenario, each, bundles),
            workload.price_unit,
            workload.setup,
        )
        for each in sites
    ]
    for bundle in bundles:
        try:
            markets_of(sites, terms, bundle)
        except InfeasibleError as error:
            message = f"bundle {bundle.name!r}: {error}"
            raise scenario.error(message, "workload", "n_max") from error
        except WorkloadError as error:
            message = f"bundle {bundle.name!r} has no market: {error}"
            raise scenario.error(message, "workload") from error
    return terms


def markets_of(
    sites: Sequence[PeerSite], terms: Sequence[Terms], bundle: Bundle
) -> list[BundleMarket]:
    """Return the markets of a bundle at the sites that can take it.

    Raises
    ------
    InfeasibleError
        No site can; said of the one with most peers.
    """
    markets, refusals = [], {}
    for own, each in zip(terms, sites, strict=True):
        times = completion_times(each, bundle, own.setup)
        try:
            # Values that are infinite are refused.
            with np.errstate(over="ignore"):
                markets.append(own.market(times, bundle.count))
        except InfeasibleError as error:
            refusals[each.n_peers] = error
    if not markets:
        raise refusals[max(refusals)]
    return markets


def sites_of(site: PeerSite | PeerGrid) -> tuple[PeerSite, ...]:
    """Return the sites of a grid, or the only one."""
    return (site,) if isinstance(site, PeerSite) else site.sites


def _check_peers(scenario: Scenario, sites: Sequence[PeerSite]) -> None:
    """Refuse discount rates that are not one for each peer."""
    alpha: float | dict[str, float] = scenario.workload.alpha
    if not isinstance(alpha, dict):
        return
    peers = [name for site in sites for name in site.names]
    for name in alpha:
        if name not in peers:
            remedy = suggestion(name, peers, "the peers are")
            message = f"workload.alpha names {name!r}, which is no peer"
            raise scenario.error(message, "workload", "alpha", name, remedy=remedy)
    lacking = [name for name in peers if name not in alpha]
    if lacking:
        message = f"workload.alpha has no rate of peer {lacking[0]!r}"
        remedy = f"give one to each of {len(peers)} peers, or one number for all"
        raise scenario.error(message, "workload", "alpha", remedy=remedy)


def _rates(scenario: Scenario, site: PeerSite) -> float | list[float]:
    """Return the discount rate of all peers of a site, or of each."""
    alpha: float | dict[str, float] = scenario.workload.alpha
    return [alpha[name] for name in site.names] if isinstance(alpha, dict) else alpha


def _most(scenario: Scenario, site: PeerSite, bundles: Sequence[Bundle]) -> int | None:
    """Return N_max at a site."""
    workload: BundlesWorkload = scenario.workload
    if workload.lambda_ is None:
        return workload.n_max
    factor = workload.lambda_
    found = {largest_share(bundle.count, site.n_peers, factor) for bundle in bundles}
    if len(found) > 1:
        message = f"lambda stands for N_max from {min(found)} to {max(found)}, as bundles differ"
        raise scenario.error(message, "workload", "lambda", remedy="give n_max instead")
    return found.pop()
