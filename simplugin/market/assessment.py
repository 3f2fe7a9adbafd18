"""Metrics, tables and curves of executed bundles, compared with the optimum."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from simplugin.core.elementary import exp
from simplugin.market.execution import BundleExecution, sites_of
from simplugin.market.model import Deal, PricedAssignment, heterogeneity, jain_index
from simplugin.optimum.bundle_benefit import BestBundle, largest_benefit
from simplugin.platforms.peers import PeerSite
from simplugin.results.curves import CurvePlot
from simplugin.results.row import Best, Metric
from simplugin.results.tables import Cell, OpenPoint, ResultTable, left_open
from simplugin.workloads.bundle_markets import BundleMarket, Floats
from simplugin.workloads.bundles import MEGA

# The unit of prices: grid dollars.
DOLLAR = "G$"
_MOST_LINES = 20
# Largest demand that is drawn, relative to the number of tasks.
_BEYOND = 1.5
# Number of points of the demand curve.
_MOST_POINTS = 1000


@dataclass(frozen=True, eq=False)
class BundleAssessment:
    """Executed bundles, compared with the largest benefit of each.

    Where there are several bundles, the optimum of each is that of its own market, at the values
    that the discount counters leave. Another sale of a bundle would change the values of later
    bundles, and so their optima: the sum is the best for each bundle in turn, not for all.

    Attributes
    ----------
    execution : BundleExecution
        The execution.
    left_open : sequence of (str, sequence of OpenPoint)
        Facts that its logs leave open, by the names of the logs.
    """

    execution: BundleExecution
    left_open: Sequence[tuple[str, Sequence[OpenPoint]]] = ()

    @property
    def deals(self) -> tuple[Deal, ...]:
        """Deals of all bundles."""
        return self.execution.deals

    @cached_property
    def sites(self) -> tuple[PeerSite, ...]:
        """Sites of the execution."""
        return sites_of(self.execution.site)

    @cached_property
    def site_names(self) -> tuple[str, ...]:
        """Names of the sites."""
        site = self.execution.site
        return (site.scheduler,) if isinstance(site, PeerSite) else site.names

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of all peers, one site after the other."""
        return tuple(name for site in self.sites for name in site.names)

    @cached_property
    def optima(self) -> tuple[BestBundle, ...]:
        """The largest benefit of each deal's market."""
        return tuple(largest_benefit(*deal.market.arguments) for deal in self.deals)

    @cached_property
    def measured(self) -> tuple[PricedAssignment, ...]:
        """The outcome of each deal, with measured times."""
        return tuple(deal.outcome() for deal in self.deals)

    @cached_property
    def estimated(self) -> tuple[PricedAssignment, ...]:
        """The outcome of each deal with estimated completion times."""
        return tuple(deal.estimated() for deal in self.deals)

    @property
    def best(self) -> Best:
        """The largest benefit; for several bundles the sum."""
        return Best("benefit", sum(each.benefit for each in self.optima), "optimum", "max")

    def by_peer(self, values: Callable[[int], ArrayLike]) -> Floats:
        """Return sums over deals for all peers, one site after the other.

        Parameters
        ----------
        values : callable
            Function of the number of a deal that returns array_like, shape (n_peers of its site,).
        """
        first = np.cumsum([0, *(site.n_peers for site in self.sites)])
        total = np.zeros(first[-1])
        for number, deal in enumerate(self.deals):
            total[first[deal.site] : first[deal.site + 1]] += np.asarray(values(number))
        return total

    @cached_property
    def errors(self) -> Floats:
        """Largest relative deviation of a peer's time from its estimate, for each deal."""
        worst = []
        for measured, estimated in zip(self.measured, self.estimated, strict=True):
            some = measured.amounts > 0
            apart = measured.times[some] / estimated.times[some] - 1
            worst.append(float(apart[np.argmax(np.abs(apart))]))
        return np.array(worst)

    @cached_property
    def responses(self) -> Floats:
        """Time from the submission of each bundle to its end [s]."""
        return np.array([deal.response for deal in self.deals])

    def metrics(self) -> tuple[Metric, ...]:
        """Return the metrics of the execution."""
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
        """Return the lowest and the highest price at which peers buy exactly all tasks."""
        [best] = self.optima
        return (
            Metric("clears_above", best.next_price, DOLLAR),
            Metric("clears_up_to", best.price, DOLLAR),
        )

    def _responses(self) -> tuple[Metric, ...]:
        """Return the number of bundles, and their waiting and response times."""
        waits = [deal.called - deal.submitted for deal in self.deals]
        return (
            Metric("bundles", len(self.deals)),
            Metric("mean_wait", float(np.mean(waits)), "s"),
            Metric("mean_response", float(self.responses.mean()), "s"),
            Metric("response_95", float(np.quantile(self.responses, 0.95)), "s"),
        )

    def listings(self, most: int = _MOST_LINES) -> tuple[ResultTable, ...]:
        """Return a table of the bundles, if there are several, and one of the peers."""
        tables = (self._peers(most), *left_open(self.left_open))
        return tables if len(self.deals) == 1 else (self._bundles(most), *tables)

    def figures(self) -> tuple[CurvePlot, ...]:
        """Return allocation and prices; for several bundles, also queue and response times."""
        deals, measured = self.deals, self.measured
        peers, bundles = (f"{each}, in the order of the table" for each in ("peer", "bundle"))
        amounts = {
            "sold": self.by_peer(lambda k: measured[k].amounts),
            "optimum": self.by_peer(lambda k: self.optima[k].amounts),
        }
        allocation = _bars("allocation", "Tasks of each peer", peers, "tasks", amounts)
        if len(deals) == 1:
            return allocation, _prices(measured[0], peers), _demand(measured[0])
        waits = np.array([deal.called - deal.submitted for deal in deals])
        times = {"response": self.responses, "waiting": waits}
        prices = {
            "worth, mean": np.array([each.benefit / each.market.m for each in measured]),
            "market price": np.array([each.price for each in measured]),
        }
        return (
            allocation,
            _queue(deals),
            _bars("responses", "From submission to end", bundles, "time [s]", times),
            _bars("paid", "Price of a task", bundles, "price [G$]", prices),
        )

    def _peers(self, most: int) -> ResultTable:
        """Return the tasks, income, payment and times of each peer."""
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
        return ResultTable.of_columns("Peers", columns, words, most)

    def _bundles(self, most: int) -> ResultTable:
        """Return the dates and prices of each bundle."""
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
        return ResultTable.of_columns("Bundles", columns, words, most)

    def _gaps(self) -> list[Cell]:
        """Return the relative gap of each bundle's benefit to the largest [%]."""
        pairs = zip(self.measured, self.optima, strict=True)
        return [
            Best("benefit", best.benefit, sense="max").gap(each.benefit) for each, best in pairs
        ]


def _bars(
    name: str,
    title: str,
    x: str,
    y: str,
    heights: Mapping[str, Floats],
    lines: Mapping[str, float] | None = None,
) -> CurvePlot:
    """Return a figure of bars at 1, 2, ..."""
    curves = {label: (np.arange(0.5, len(values) + 1), values) for label, values in heights.items()}
    return CurvePlot(name, title, x, y, curves, lines or {}, bars=True)


def _prices(outcome: PricedAssignment, peers: str) -> CurvePlot:
    """Return the values of the first, the last and the mean task of each peer."""
    market, amounts = outcome.market, outcome.amounts
    last = np.where(amounts > 0, market.worth(np.maximum(amounts, 1)), market.values)
    worths = {
        "first task": market.values,
        "mean of all its tasks": market.mean_prices(amounts),
        "its last task": last,
    }
    lines = {"market price": outcome.price}
    return _bars("prices", "What a task is worth to each peer", peers, "price [G$]", worths, lines)


def _demand(outcome: PricedAssignment) -> CurvePlot:
    """Return the demand curve."""
    market = outcome.market
    price, tasks = demand_curve(market)
    there = np.full(2, float(market.m)), np.array([0.0, float(market.values.max())])
    curves, lines = {"demand": (tasks, price), "tasks": there}, {"market price": outcome.price}
    title = "Demand at a price, and the tasks that there are"
    return CurvePlot("demand", title, "tasks", "price [G$]", curves, lines)


def demand_curve(market: BundleMarket) -> tuple[Floats, Floats]:
    """Return falling prices, and the number of tasks that all peers buy at each.

    Prices range from the value of the most valuable task to the price at which 1.5 times the tasks
    would be bought, or all that the caps allow.
    """
    # All peers want worthless tasks at the price 0, which has no logarithm.
    if not np.any(market.valuable):
        return np.zeros(1), np.array([float(market.caps.sum())])
    some = market.valuable > 0
    high = start = float(market.log_value[some].max())
    low = float(market.log_worth(market.valuable)[some].min())
    # Demand only grows as the price falls.
    wanted = min(_BEYOND * market.m, float(market.valuable.sum()))
    for _ in range(60):
        middle = 0.5 * (low + high)
        if market.above(middle).sum() >= wanted:
            low = middle
        else:
            high = middle
    logs = np.linspace(start, low, _MOST_POINTS)
    return exp(logs), np.array([float(market.response_to_log(log).sum()) for log in logs.tolist()])


def _queue(deals: Sequence[Deal]) -> CurvePlot:
    """Return the numbers of waiting and of all bundles over time."""
    submitted = np.array([deal.submitted for deal in deals])
    called = np.array([deal.called for deal in deals])
    finished = np.array([deal.finished for deal in deals])
    curves = {"all": _present(submitted, finished), "waiting": _present(submitted, called)}
    return CurvePlot("queue", "Bundles in the system", "simulated time [s]", "bundles", curves)


def _present(come: Floats, go: Floats) -> tuple[Floats, Floats]:
    """Return how many have come and not gone, as a curve with steps."""
    dates, place = np.unique(np.concatenate([[0.0], come, go]), return_inverse=True)
    # Who comes and goes at one date was never there.
    change = np.concatenate([[0.0], np.ones(len(come)), -np.ones(len(go))])
    counts: Floats = np.cumsum(np.bincount(place, change), dtype=np.float64)
    return np.repeat(dates, 2)[1:], np.repeat(counts, 2)[:-1]
