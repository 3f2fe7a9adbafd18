"""Workloads of kind "bundles": bundles of identical tasks that are sold to computing peers."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field

from simplugin.core.errors import InfeasibleError, PlatformError, WorkloadError
from simplugin.inputs.messages import suggestion
from simplugin.inputs.quantities import Time
from simplugin.inputs.references import place_of_failure
from simplugin.inputs.sections import Section
from simplugin.inputs.validation import one_of
from simplugin.market.actors.stations import ServiceRules
from simplugin.market.assessment import BundleAssessment
from simplugin.market.execution import execute, sites_of
from simplugin.market.model import MarketTerms, completion_times
from simplugin.market.policies.dispatch import DISPATCHERS
from simplugin.market.policies.negotiation import BundleNegotiation, negotiate
from simplugin.market.policies.shipped import (
    NEGOTIATIONS,
    POLICIES,
    as_negotiation,
    assigned,
    decide,
)
from simplugin.market.sites import hosts_beside, shared_site, site_of
from simplugin.optimum.verification import bundle_optimum
from simplugin.platforms import Platform
from simplugin.platforms.peers import PeerGrid, PeerSite
from simplugin.scenarios.kinds.market_workload import BundlesWorkload, bundles_of
from simplugin.scenarios.scenario import Scenario, ScenarioResult, Schedulers, WorkloadKind
from simplugin.scenarios.schedulers import PARAMETERS, ChosenScheduler, policy_of, read_scheduler
from simplugin.simulation.resolve import resolve
from simplugin.workloads.bundle_markets import BundleMarket, largest_share
from simplugin.workloads.bundles import Bundle


class MarketSchedulerSection(Section):
    """The parameters of the scheduler that are not those of the policy.

    Attributes
    ----------
    decides : {"assignment", "negotiation"}
        The kind of a user's function: a `MarketPolicy`, or one that returns a `BundleNegotiation`.
    overlap : bool
        True if a peer fetches its next task while it computes one.
    counters : {"reset", "kept"} or float
        As in `simplugin.market.actors.stations.ServiceRules`.
    dispatch : str
        The rule by which the global scheduler of several sites chooses one.
    patience : float, optional
        Where hosts of peers and links may fail, by state profiles of the platform: after how long
        without a sign of it a peer is taken for absent [s], longer than a task takes.
    """

    decides: Literal["assignment", "negotiation"] = "assignment"
    overlap: bool = False
    counters: Literal["reset", "kept"] | Annotated[Time, Field(gt=0)] = "reset"
    dispatch: Annotated[str, one_of(DISPATCHERS)] = "first_idle"
    patience: Annotated[Time, Field(gt=0)] | None = None


def run(scenario: Scenario) -> ScenarioResult:
    """Sell all bundles, execute their tasks, and compare with the largest benefit.

    Speeds and bandwidths that prices follow from are those that SimGrid has for the platform; the
    latencies of routes, and what transfers share, show in measured times only.
    """
    chosen = check(scenario)
    settings = chosen.settings
    workload: BundlesWorkload = scenario.workload
    bundles, left_open = bundles_of(scenario)
    platform = scenario.make_platform()
    site = site_in(scenario, platform)
    terms = terms_of(scenario, site, bundles)
    markets = markets_of(sites_of(site), terms, bundles[0])
    negotiation = negotiation_of(scenario, chosen.parameters, markets[0], settings.decides)
    believed = site
    if workload.estimates != "alone":
        # With the bandwidths that peers expect.
        counts = [bundle.count for bundle in bundles]
        flop, byte = (
            float(np.average([getattr(bundle, size) for bundle in bundles], weights=counts))
            for size in ("flop", "byte")
        )
        mean = Bundle("mean", sum(counts), flop, byte)
        known = [shared_site(platform, each, mean, workload.setup) for each in sites_of(site)]
        believed = known[0] if isinstance(site, PeerSite) else replace(site, sites=tuple(known))
    key, unusable = ("scheduler", "name"), f"{scenario.scheduler.name!r} cannot be used: "
    with scenario.errors_at(*key, of=(InfeasibleError, WorkloadError), before=unusable):
        done = execute(
            site,
            bundles,
            terms,
            negotiation,
            believed=believed,
            platform=platform,
            rules=ServiceRules(
                overlap=settings.overlap,
                counters=settings.counters,
                dispatch=settings.dispatch,
                patience=settings.patience,
            ),
            **scenario.simulation.keywords(),
        )
    found = BundleAssessment(done, left_open)
    optima = tuple(
        bundle_optimum(deal.market, best, f"benefit of {bundles[deal.bundle].name}")
        for deal, best in zip(found.deals, found.optima, strict=True)
    )
    return ScenarioResult.of(found, done.result, figures=found.figures(), optima=optima)


def check(scenario: Scenario) -> ChosenScheduler[MarketSchedulerSection]:
    """Return the policy of a scenario with its parameters.

    Raises
    ------
    ScenarioError
        A parameter is unknown or invalid, or has no effect.
    """
    policy = policy_of(scenario, SCHEDULERS)
    own = ":" in scenario.scheduler.name
    # All that a negotiation has by position its two sides are given.
    negotiates = own and scenario.scheduler.parameters.get("decides") == "negotiation"
    reserved = {"seed": "give simulation.seed, from which all draws follow"}
    if own and not negotiates and "seed" in inspect.signature(policy).parameters:
        # It follows from simulation.seed if the scenario does not give it.
        drawing = functools.partial(policy, seed=None)
        drawing.__module__ = policy.__module__
        policy, reserved = drawing, {}
    by_position = 0 if negotiates else SCHEDULERS.by_position
    chosen = read_scheduler(
        scenario, SCHEDULERS, policy, by_position=by_position, reserved=reserved
    )
    settings = chosen.settings
    if "decides" in settings.model_fields_set and not own:
        message = f"scheduler.parameters.decides has no effect with {scenario.scheduler.name!r}"
        raise scenario.error(message, *PARAMETERS, "decides", remedy="remove it")
    if settings.patience is not None and (settings.overlap or scenario.workload.sites):
        message = "scheduler.parameters.patience does not go with overlap, nor with several sites"
        raise scenario.error(message, *PARAMETERS, "patience", remedy="remove it")
    if "dispatch" in settings.model_fields_set and not scenario.workload.sites:
        message = "scheduler.parameters.dispatch has no effect with one site"
        raise scenario.error(message, *PARAMETERS, "dispatch", remedy="remove it")
    return chosen


def _negotiated(
    values: ArrayLike, n_tasks: int, capacities: ArrayLike, discounts: ArrayLike
) -> None:
    """Serve as the signature of negotiations, which have no parameters."""


def _guarded(policy: Callable[..., Any]) -> Callable[..., Any]:
    """Return a policy of one's own that says where it failed, whatever it raises.

    Otherwise it would be reported as a failure of this package or of an actor.
    """

    @functools.wraps(policy)
    def decide(*market: Any, **given: Any) -> Any:
        """Ask the policy."""
        try:
            return policy(*market, **given)
        except (InfeasibleError, WorkloadError):
            raise
        except Exception as error:
            message = f"it raises {type(error).__name__}: {error}{place_of_failure(error)}"
            raise WorkloadError(message) from error

    return decide


def negotiation_of(
    scenario: Scenario, parameters: dict[str, Any], market: BundleMarket, decides: str
) -> BundleNegotiation:
    """Return the negotiation between the local scheduler and its peers.

    A policy that is no negotiation of several rounds gets what peers post, and if it takes a
    `seed` another one for each negotiation, which follow from ``simulation.seed``. It is asked
    once before anything is simulated, so that its errors are those of the scenario.

    Parameters
    ----------
    scenario : Scenario
        Names it.
    parameters : dict
        Of the policy.
    market : BundleMarket
        The market on which it is tried.
    decides : {"assignment", "negotiation"}
        The kind of a user's own function, see `MarketSchedulerSection`.

    Raises
    ------
    ScenarioError
        A policy of a user's own is missing or fails, or a policy refuses the market or its
        parameters, does not place all tasks, or has no finite price.
    """
    name = scenario.scheduler.name.removeprefix("market.")
    if name in NEGOTIATIONS and not parameters:
        return NEGOTIATIONS[name]
    policy = policy_of(scenario, SCHEDULERS)
    if ":" in name:
        policy = _guarded(policy)
    key = ("scheduler", "parameters" if parameters else "name")
    kinds = (InfeasibleError, WorkloadError, TypeError, ValueError)
    unusable = f"{scenario.scheduler.name!r} cannot be used: "
    seed = scenario.simulation.seed
    with scenario.errors_at(*key, of=kinds, before=unusable):
        if decides == "negotiation":
            found = policy(**parameters)
            if not isinstance(found, BundleNegotiation):
                raise WorkloadError(
                    f"it returns {type(found).__name__}; return a BundleNegotiation"
                )
            _guarded(negotiate)(found, *market.arguments, seed=seed)
            return found
        assigned(decide(policy, market, seed, parameters), market)
    return as_negotiation(policy, name, parameters)


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
    with scenario.errors_at("workload", "sites", of=PlatformError):
        return PeerGrid(tuple(names), tuple(sites), scheduler=workload.global_scheduler)


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
        raise scenario.error(str(error), "workload", *table, error.argument) from error


def terms_of(
    scenario: Scenario, site: PeerSite | PeerGrid, bundles: Sequence[Bundle]
) -> list[MarketTerms]:
    """Return the terms of each site.

    Raises
    ------
    ScenarioError
        A bundle cannot be placed under the caps of any site, or has no finite prices; lambda gives
        several caps; or the discount rates are not of the peers.
    """
    workload: BundlesWorkload = scenario.workload
    sites = sites_of(site)
    _check_peers(scenario, sites)
    terms = []
    for each in sites:
        alpha: Any = workload.alpha
        n_max: Any = workload.n_max
        if isinstance(alpha, dict):
            alpha = [alpha[name] for name in each.names]
        if isinstance(n_max, dict):
            n_max = [n_max.get(name, math.inf) for name in each.names]
        elif workload.lambda_ is not None:
            factor = workload.lambda_
            found = {largest_share(bundle.count, each.n_peers, factor) for bundle in bundles}
            if len(found) > 1:
                message = f"lambda determines N_max from {min(found)} to {max(found)}"
                message, remedy = f"{message}, as bundles differ", "give n_max instead"
                raise scenario.error(message, "workload", "lambda", remedy=remedy)
            n_max = found.pop()
        rest = workload.price_unit, workload.setup, workload.discounts
        terms.append(MarketTerms(alpha, n_max, *rest))
    for bundle in bundles:
        what = f"bundle {bundle.name!r}"
        with (
            scenario.errors_at("workload", "n_max", of=InfeasibleError, before=f"{what}: "),
            scenario.errors_at("workload", of=WorkloadError, before=f"{what} has no market: "),
        ):
            markets_of(sites, terms, bundle)
    return terms


def markets_of(
    sites: Sequence[PeerSite], terms: Sequence[MarketTerms], bundle: Bundle
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


def _check_peers(scenario: Scenario, sites: Sequence[PeerSite]) -> None:
    """Raise ScenarioError unless names are of peers, and each has a discount rate."""
    workload: BundlesWorkload = scenario.workload
    peers = [name for site in sites for name in site.names]
    for key, given in (("alpha", workload.alpha), ("n_max", workload.n_max)):
        for name in given if isinstance(given, dict) else ():
            if name not in peers:
                remedy = suggestion(name, peers, "the peers are")
                message = f"workload.{key} names {name!r}, which is no peer"
                raise scenario.error(message, "workload", key, name, remedy=remedy)
    alpha = workload.alpha
    if not isinstance(alpha, dict):
        return
    lacking = [name for name in peers if name not in alpha]
    if lacking:
        message = f"workload.alpha has no rate of peer {lacking[0]!r}"
        remedy = f"give one to each of {len(peers)} peers, or one number for all"
        raise scenario.error(message, "workload", "alpha", remedy=remedy)


SHIPPED: dict[str, Callable[..., Any]] = {**dict.fromkeys(NEGOTIATIONS, _negotiated), **POLICIES}
SCHEDULERS = Schedulers("market", SHIPPED, MarketSchedulerSection, by_position=4)
OUTPUTS = ("result", "trace", "gantt", "curves")
KIND = WorkloadKind(BundlesWorkload, run, SCHEDULERS, check, OUTPUTS)
