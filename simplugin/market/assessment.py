"""How well bundles were sold and executed: metrics, tables and curves beside the optimum."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from simplugin.listings import Listing
from simplugin.market.assessment_figures import figures_of
from simplugin.market.outcomes import heterogeneity, jain_index
from simplugin.optimum.bundle_benefit import largest_benefit
from simplugin.platforms.peer_sites import PeerSite
from simplugin.rows import Best, Metric
from simplugin.workloads.bundles import MEGA

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from simplugin.figures import Figure
    from simplugin.listings import Cell
    from simplugin.market.deals import Deal
    from simplugin.market.execution import Execution
    from simplugin.market.outcomes import Outcome
    from simplugin.optimum.bundle_benefit import BestBundle
    from simplugin.workloads.bundle_markets import Floats

# What prices are in: grid dollars.
DOLLAR = "G$"
_MOST_LINES = 20


@dataclass(frozen=True, eq=False)
class Assessment:
    """Bundles that were sold and executed, beside the largest benefit of each.

    Where there are several bundles, the optimum of each is that of its own market, with the prices
    that discount counters had come to. A bundle that is sold otherwise changes the prices of later
    ones, and so their optima: their sum is the best for each bundle in its turn, not for all.

    Attributes
    ----------
    execution : Execution
        What was done when.
    """

    execution: Execution

    @property
    def deals(self) -> tuple[Deal, ...]:
        """Of each bundle."""
        return self.execution.deals

    @cached_property
    def sites(self) -> tuple[PeerSite, ...]:
        """Sites whose peers were sold tasks."""
        site = self.execution.site
        return (site,) if isinstance(site, PeerSite) else tuple(site.sites)

    @cached_property
    def site_names(self) -> tuple[str, ...]:
        """What they are called."""
        site = self.execution.site
        return (site.scheduler,) if isinstance(site, PeerSite) else site.names

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Of all peers, one site after the other."""
        return tuple(name for site in self.sites for name in site.names)

    @cached_property
    def optima(self) -> tuple[BestBundle, ...]:
        """The largest benefit of each deal's market."""
        markets = [deal.market for deal in self.deals]
        return tuple(largest_benefit(each.values, each.m, each.caps, each.q) for each in markets)

    @cached_property
    def measured(self) -> tuple[Outcome, ...]:
        """What each deal came to, with the times that peers really took."""
        return tuple(deal.outcome() for deal in self.deals)

    @cached_property
    def estimated(self) -> tuple[Outcome, ...]:
        """What each deal would have come to by estimated completion times."""
        return tuple(deal.estimated() for deal in self.deals)

    @property
    def best(self) -> Best:
        """The largest benefit; of several bundles the sum."""
        return Best("benefit", sum(each.benefit for each in self.optima), "optimum", "max")

    def by_peer(self, values: Callable[[int], ArrayLike]) -> Floats:
        """Return sums over deals for all peers, one site after the other.

        Parameters
        ----------
        values : callable
            For the number of a deal, its values; array_like, shape (n_peers of its site,).
        """
        first = np.cumsum([0, *(site.n_peers for site in self.sites)])
        total = np.zeros(first[-1])
        for number, deal in enumerate(self.deals):
            total[first[deal.site] : first[deal.site + 1]] += np.asarray(values(number))
        return total

    @cached_property
    def errors(self) -> Floats:
        """Of each deal, the largest deviation of a peer's time from its estimate, relative."""
        worst = []
        for measured, estimated in zip(self.measured, self.estimated, strict=True):
            some = measured.amounts > 0
            apart = measured.times[some] / estimated.times[some] - 1
            worst.append(float(apart[np.argmax(np.abs(apart))]))
        return np.array(worst)

    @cached_property
    def responses(self) -> Floats:
        """From the submission of each bundle to its end [s]."""
        return np.array([deal.response for deal in self.deals])

    def metrics(self) -> tuple[Metric, ...]:
        """Return the numbers that sum it up."""
        deals, measured = self.deals, self.measured
        speed = np.concatenate([site.speed for site in self.sites])
        bandwidth = np.concatenate([site.bandwidth for site in self.sites])
        times = self.by_peer(lambda k: measured[k].times)
        tasks = sum(each.market.m for each in measured)
        revenue = sum(each.revenue for each in measured)
        several = len(deals) > 1
        return (
            Metric("benefit", sum(each.benefit for each in measured), DOLLAR),
            Metric("revenue", revenue, DOLLAR),
            Metric("profits", float(sum(each.profits.sum() for each in measured)), DOLLAR),
            Metric("price", revenue / tasks, DOLLAR),
            *(() if several else self._clearing()),
            Metric("completion", float(np.mean([each.completion for each in measured])), "s"),
            Metric("total_time", float(times.sum()), "s"),
            Metric("fairness", jain_index(times)),
            Metric("heterogeneity", heterogeneity(speed / MEGA, bandwidth / MEGA)),
            Metric("makespan", max(deal.finished for deal in deals), "s"),
            *(self._responses() if several else ()),
            Metric("ect_error", float(self.errors[np.argmax(np.abs(self.errors))])),
            Metric("negotiation", sum(deal.negotiation for deal in deals), "s"),
            Metric("rounds", sum(deal.rounds for deal in deals)),
            Metric("messages", sum(deal.messages for deal in deals)),
            Metric("exchanged", sum(deal.bytes for deal in deals), "byte"),
            Metric("tasks", tasks),
            Metric("peers_used", int(np.count_nonzero(times))),
        )

    def _clearing(self) -> tuple[Metric, ...]:
        """Return between which prices peers buy exactly all tasks."""
        [best] = self.optima
        return (
            Metric("clears_above", best.next_price, DOLLAR),
            Metric("clears_up_to", best.price, DOLLAR),
        )

    def _responses(self) -> tuple[Metric, ...]:
        """Return how long bundles took from their submission on."""
        waits = [deal.called - deal.submitted for deal in self.deals]
        return (
            Metric("bundles", len(self.deals)),
            Metric("mean_wait", float(np.mean(waits)), "s"),
            Metric("mean_response", float(self.responses.mean()), "s"),
            Metric("response_95", float(np.quantile(self.responses, 0.95)), "s"),
        )

    def listings(self, most: int = _MOST_LINES) -> tuple[Listing, ...]:
        """Return a table of the bundles, if there are several, and one of the peers."""
        tables = (self._peers(most),)
        return tables if len(self.deals) == 1 else (self._bundles(most), *tables)

    def figures(self) -> tuple[Figure, ...]:
        """Return allocation and prices; of several bundles, the queue and response times."""
        return figures_of(self)

    def _peers(self, most: int) -> Listing:
        """Return what each peer bought, earned and took."""
        measured, sites = self.measured, self.sites
        tasks = self.by_peer(lambda k: measured[k].amounts)
        best = self.by_peer(lambda k: self.optima[k].amounts)
        columns: list[tuple[str, str, list[Cell]]] = [("peer", "", list(self.names))]
        if len(sites) > 1:
            pairs = zip(self.site_names, sites, strict=True)
            columns.append(("site", "", [name for name, site in pairs for _ in site.names]))
        if len(self.deals) == 1:
            [deal] = self.deals
            site = sites[deal.site]
            columns += [
                ("speed", "flop/s", site.speed.tolist()),
                ("bandwidth", "byte/s", site.bandwidth.tolist()),
                ("ECT", "s", deal.times.tolist()),
                ("base price", DOLLAR, deal.market.values.tolist()),
            ]
        income = self.by_peer(lambda k: measured[k].market.sums(measured[k].amounts))
        payment = self.by_peer(lambda k: measured[k].paid)
        columns += [
            ("tasks", "", [int(each) for each in tasks]),
            ("best", "", [int(each) for each in best]),
            ("income", DOLLAR, income.tolist()),
            ("payment", DOLLAR, payment.tolist()),
            ("profit", DOLLAR, (income - payment).tolist()),
            ("by ECT", "s", self.by_peer(lambda k: self.estimated[k].times).tolist()),
            ("real", "s", self.by_peer(lambda k: measured[k].times).tolist()),
        ]
        words = (
            "best: tasks where the benefit is largest; by ECT, real: estimated and measured time"
            " for all tasks"
        )
        return _table("Peers", columns, words, most)

    def _bundles(self, most: int) -> Listing:
        """Return when each bundle was sold and executed, and for how much."""
        deals, measured = self.deals, self.measured
        columns: list[tuple[str, str, list[Cell]]] = [
            ("bundle", "", [self.execution.bundles[deal.bundle].name for deal in deals]),
            ("tasks", "", [deal.market.m for deal in deals]),
        ]
        if len(self.sites) > 1:
            columns.append(("site", "", [self.site_names[deal.site] for deal in deals]))
        columns += [
            ("from", "s", [deal.submitted for deal in deals]),
            ("called", "s", [deal.called for deal in deals]),
            ("agreed", "s", [deal.agreed for deal in deals]),
            ("until", "s", [deal.finished for deal in deals]),
            ("took", "s", self.responses.tolist()),
            ("price", DOLLAR, [each.price for each in measured]),
            ("benefit", DOLLAR, [each.benefit for each in measured]),
            ("gap", "%", self._gaps()),
        ]
        words = (
            "from, until: submitted, finished; called: the negotiation began; gap: of the benefit,"
            " below the largest of the bundle's own market, whose prices are those that earlier"
            " bundles left. Among the metrics, completion is the mean of all bundles, price that of"
            " all tasks"
        )
        return _table("Bundles", columns, words, most)

    def _gaps(self) -> list[Cell]:
        """Return by which part each bundle's benefit is below its largest."""
        pairs = zip(self.measured, self.optima, strict=True)
        return [
            Best("benefit", best.benefit, sense="max").gap(each.benefit) for each, best in pairs
        ]


def _table(
    title: str, columns: list[tuple[str, str, list[Cell]]], words: str, most: int
) -> Listing:
    """Return columns as a listing of not too many lines."""
    lines = list(zip(*(values for _, _, values in columns), strict=True))
    rest = len(lines) - most
    note = f"and {rest} more; {words}" if rest > 0 else words
    head = tuple((name, unit) for name, unit, _ in columns)
    return Listing(title, head, tuple(lines[:most]), note)
