"""Running scenarios whose bundles are sold to computing peers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simplugin.errors import InfeasibleError, WorkloadError
from simplugin.inputs.kinds import Outcome, Progress
from simplugin.market.assessment import Assessment
from simplugin.market.execution import execute
from simplugin.rows import Row
from simplugin.scenarios.bundle_schedulers import negotiation_of, wishes_of
from simplugin.scenarios.bundle_workloads import (
    bundles_of,
    markets_of,
    site_in,
    sites_of,
    terms_of,
)
from simplugin.simulation.metrics import metrics

if TYPE_CHECKING:
    from simplugin.scenarios.scenario import Scenario


def run(scenario: Scenario, progress: Progress | None) -> Outcome:
    """Sell all bundles, execute their tasks, and compare with the largest benefit.

    Speeds and bandwidths that prices follow from are those that SimGrid has for the platform; the
    latencies of routes, and what transfers share, show in measured times only.
    """
    wishes = wishes_of(scenario)
    bundles = bundles_of(scenario)
    platform = scenario.make_platform()
    site = site_in(scenario, platform)
    terms = terms_of(scenario, site, bundles)
    markets = markets_of(sites_of(site), terms, bundles[0])
    negotiation = negotiation_of(scenario, wishes, markets[0])
    try:
        done = execute(
            site,
            bundles,
            terms,
            negotiation,
            platform=platform,
            overlap=wishes.overlap,
            counters=wishes.counters,
            progress=progress,
            dispatch=wishes.dispatch,
            **scenario.simulation.arguments(),
        )
    except (InfeasibleError, WorkloadError) as error:
        message = f"{scenario.scheduler.name!r} cannot be used: {error}"
        raise scenario.error(message, "scheduler", "name") from error
    told = Assessment(done)
    energy = [metric for metric in metrics(done.result) if metric.name == "energy"]
    row = Row((*told.metrics(), *energy), done.result.provenance, told.best)
    return Outcome(row, done.result, told.listings(), told.figures())
