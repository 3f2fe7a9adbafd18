"""Metrics, tables and curves of a negotiation, compared with the optimum."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from simplugin.optimum.fair_sharing import FairShare
from simplugin.pricing.changes import CapacityChange, ProblemInterval
from simplugin.pricing.execution import PeriodicRun
from simplugin.pricing.iteration import Trajectory, objective_error, settled, throughput_error
from simplugin.results.curves import CurvePlot
from simplugin.results.row import Best, Metric
from simplugin.results.tables import Cell, ResultTable
from simplugin.workloads import AlphaFair, Application, SharedDeployment
from simplugin.workloads.shared_deployment import Floats

# Suffixes of metrics, and the largest relative errors.
LEVELS = {"5_percent": 0.05, "1_percent": 0.01, "half_percent": 0.005, "millionth": 1e-6}
# Those whose date and bytes are metrics, too.
_HEADLINES = ("1_percent", "millionth")
_MOST_CURVES = 8
_LEAST = np.finfo(float).tiny


@dataclass(frozen=True, eq=False)
class PricingAssessment:
    """A negotiation and the optimum.

    Attributes
    ----------
    sharing : SharedDeployment
        The problem.
    utility : AlphaFair
        Of every application; not max-min, which has no objective.
    trajectory : Trajectory
        With the prices of every round.
    optimum : FairShare
        The best that there is.
    """

    sharing: SharedDeployment
    utility: AlphaFair
    trajectory: Trajectory
    optimum: FairShare

    @cached_property
    def objective(self) -> Floats:
        """Weighted sum of utilities after each round, shape (n_rounds + 1,)."""
        return self.utility.objective(self.trajectory.throughput, self.sharing.weight)

    @cached_property
    def errors(self) -> dict[str, Floats]:
        """Relative errors of each round, shape (n_rounds + 1,) each.

        "objective" is that of the report, which depends on the unit of tasks and forgives
        overloads; "every throughput" is the worst application's, or the overload; "overload" is
        the largest excess of a load over its capacity.
        """
        with np.errstate(all="ignore"):
            throughput = throughput_error(self.trajectory, self.optimum.throughput)
        errors = {"every throughput": throughput}
        if self.optimum.objective != 0:
            errors["objective"] = objective_error(
                self.trajectory, self.sharing, self.utility, self.optimum.objective
            )
        return errors | {"overload": self.trajectory.overload}

    @property
    def best(self) -> Best:
        """The optimum of the objective."""
        return Best("objective", self.optimum.objective, "optimum", "max")

    def metrics(self) -> tuple[Metric, ...]:
        """Return the metrics of the negotiation."""
        worst = self.errors["every throughput"]
        rounds = [
            Metric(f"rounds_to_{name}", settled(worst, level)) for name, level in LEVELS.items()
        ]
        # Simulated time and bytes until every throughput stays near the optimum.
        for name in _HEADLINES:
            date, sent = self._spent(settled(worst, LEVELS[name]))
            rounds.append(Metric(f"seconds_to_{name}", date, "s"))
            rounds.append(Metric(f"bytes_to_{name}", sent, "byte"))
        return (
            Metric("objective", float(self.objective[-1])),
            Metric("worst_error", float(worst[-1])),
            Metric("overload", float(self.trajectory.overload[-1])),
            Metric("rounds", self.trajectory.n_rounds),
            *rounds,
            Metric("negotiation_bytes", float(self.trajectory.bytes_sent), "byte"),
        )

    def _spent(self, first: int | None) -> tuple[float | None, float | None]:
        """Return the date at which a round ended, and the bytes sent by then, if known."""
        date, sent = self.trajectory.date, self.trajectory.sent
        if first is None or not np.isfinite(date[first]):
            return None, None
        return float(date[first]), None if sent is None else float(sent[first])

    def listings(self, most: int = 8) -> tuple[ResultTable, ...]:
        """Return tables of applications, busiest resources and numbers of rounds."""
        reached = self.trajectory
        prices = reached.host_price[-1], reached.link_price[-1]
        busiest = _busiest(self.sharing, reached.rate, prices, self.optimum, most)
        # Gaps below the certificate are meaningless.
        certificate = self.optimum.gap
        note = f"optimum certified to {certificate:.0e}" if certificate > 1e-8 else ""
        throughputs = reached.throughput[-1], self.optimum.throughput
        applications = _applications(self.sharing.applications, *throughputs, note)
        return (applications, *busiest, self._rounds())

    def _rounds(self) -> ResultTable:
        """Return the rounds from which errors stay small, their dates, and bytes by then."""
        lines = []
        for what, error in self.errors.items():
            for level in LEVELS.values():
                first = settled(error, level)
                lines.append((what, f"{100 * level:g} %", first, *self._spent(first)))
        dated = ("from round", ""), ("date", "s"), ("sent", "byte")
        columns = (("error of", ""), ("within", ""), *dated)
        note = f"to the end, after {self.trajectory.n_rounds} rounds"
        return ResultTable("Convergence", columns, tuple(lines), note)

    def figures(self) -> tuple[CurvePlot, ...]:
        """Return the curves of objective, throughputs, overload and prices against rounds.

        The objective is that of rates divided by 1 plus the overload, which overload nothing.
        """
        reached, best = self.trajectory.throughput, self.optimum.throughput
        overload = self.trajectory.overload
        fitting = self.utility.objective(reached / (1 + overload)[:, None], self.sharing.weight)
        names = self.sharing.applications[:_MOST_CURVES]
        ratios = {name: reached[:, k] / best[k] for k, name in enumerate(names) if best[k] > 0}
        largest, optimum = {"overload": overload}, {"optimum": self.optimum.objective}
        one = {"optimum": 1.0}
        title, y = "Objective, of rates reduced to fit", "sum of utilities"
        return (
            _by_round("objective", title, y, {"objective": fitting}, optimum),
            _by_round("throughputs", "Throughputs", "throughput / optimum", ratios, one, names),
            _by_round("overload", "Largest overload of a resource", "excess / capacity", largest),
            self._prices(),
        )

    def _prices(self) -> CurvePlot:
        """Return the curves of prices times capacities.

        In this unit hosts and links of all sizes can be compared.
        """
        sharing, reached = self.sharing, self.trajectory
        names = [*sharing.hosts, *sharing.links]
        worth = np.concatenate(
            [reached.host_price * sharing.speed, reached.link_price * sharing.bandwidth], axis=1
        )
        order = np.argsort(-worth[-1], kind="stable")[:_MOST_CURVES].tolist()
        curves = {names[each]: worth[:, each] for each in order}
        # All resources, so that each has its colour in every chart.
        return _by_round("prices", "Prices", "price times capacity", curves, groups=names)


def _by_round(
    name: str,
    title: str,
    y: str,
    curves: Mapping[str, Floats],
    lines: Mapping[str, float] | None = None,
    groups: Sequence[str] = (),
) -> CurvePlot:
    """Return a plot of values after each round."""
    series = {label: (np.arange(len(values)), values) for label, values in curves.items()}
    return CurvePlot(name, title, "round", y, series, lines or {}, groups=groups)


def _busiest(
    sharing: SharedDeployment,
    rate: Floats,
    prices: tuple[Floats, Floats],
    best: FairShare,
    most: int,
) -> list[ResultTable]:
    """Return the hosts and the links of the highest worth at their prices, then load."""
    hosts = sharing.hosts, sharing.speed, sharing.host_load(rate), prices[0], best.host_price
    links = sharing.links, sharing.bandwidth, sharing.link_load(rate), prices[1], best.link_price
    found = []
    for what, unit, large, (names, capacity, load, price, optimal) in (
        ("host", "flop", "Gflop", hosts),
        ("link", "byte", "GB", links),
    ):
        share = np.where(capacity > 0, load / np.maximum(capacity, _LEAST), 0.0)
        worth = capacity * price
        # Smaller values are remainders of the iteration.
        worth = np.where(worth > 1e-9 * worth.sum(), worth, 0.0)
        order = [each for each in np.lexsort((-share, -worth)) if share[each] or worth[each]]
        columns: list[tuple[str, str, Sequence[Cell]]] = [
            (what, "", [names[each] for each in order]),
            ("capacity", f"{unit}/s", capacity[order].tolist()),
            ("load", "%", share[order].tolist()),
            (f"price [utility/{large}]", "", (1e9 * price[order]).tolist()),
            ("optimal price", "", (1e9 * optimal[order]).tolist()),
        ]
        found.append(ResultTable.of_columns(f"Busiest {what}s", columns, most=most))
    return found


def _applications(names: Sequence[str], reached: Floats, best: Floats, note: str) -> ResultTable:
    """Return throughput, optimum and gap of each application."""
    lines = tuple(
        (name, float(x), float(y), float((y - x) / y) if y > 0 else None)
        for name, x, y in zip(names, reached, best, strict=True)
    )
    columns = (("application", ""), ("throughput", "task/s"), ("optimum", "task/s"), ("gap", "%"))
    return ResultTable("Applications", columns, lines, note)


# Largest errors of throughputs, and largest overloads, after a return to the optimum.
_RETURN_LEVELS = (0.05, 0.01)
_MOST_EVENTS = 4
# Lower end of the curves.
_LEAST_ERROR = 1e-6


@dataclass(frozen=True, eq=False)
class Stretch:
    """An interval between changes, as a run went through it.

    Attributes
    ----------
    kept : PeriodicRun
        The run.
    interval : ProblemInterval
        The problem.
    optimum : FairShare
        Its optimum.
    """

    kept: PeriodicRun
    interval: ProblemInterval
    optimum: FairShare

    @cached_property
    def samples(self) -> tuple[Floats, Floats]:
        """Throughputs and overloads, as `PeriodicRun.during` returns them."""
        return self.kept.during(self.interval)

    @cached_property
    def errors(self) -> Floats:
        """The worst relative error of a throughput, or the overload, of each sample."""
        return self.kept.errors(self.interval, self.optimum.throughput)

    def back_after(self, level: float) -> float | None:
        """Return after how long the error stays within a level [s]; None if it does not."""
        time = self.kept.return_time(self.interval, self.optimum.throughput, level)
        # Dates are sums of periods, with rounding errors.
        return None if time is None else float(f"{time:.9g}")


@dataclass(frozen=True, eq=False)
class Recovery:
    """A run through changes, and the optimum of each interval between them.

    Attributes
    ----------
    sharing : SharedDeployment
        The deployment of all applications.
    utility : AlphaFair
        Of every application; not max-min, which has no objective.
    kept : PeriodicRun
        The run.
    stretches : sequence of Stretch
        The intervals between changes; at least one.
    events : mapping of float to list of str
        Descriptions of the changes by date.
    """

    sharing: SharedDeployment
    utility: AlphaFair
    kept: PeriodicRun
    stretches: Sequence[Stretch]
    events: dict[float, list[str]]

    @property
    def last(self) -> Stretch:
        """The last interval with an application."""
        return self.stretches[-1]

    @property
    def best(self) -> Best:
        """The optimum of the last interval's objective."""
        return Best("objective", self.last.optimum.objective, "optimum", "max")

    def metrics(self) -> tuple[Metric, ...]:
        """Return the metrics of the end, and the slowest return to the optimum."""
        last = self.last
        times = [each.back_after(_RETURN_LEVELS[-1]) for each in self.stretches]
        known = [time for time in times if time is not None]
        throughput, overload = last.samples
        seen = len(overload) > 0
        reached = throughput[-1] if seen else np.zeros(last.interval.sharing.n_applications)
        objective = float(self.utility.objective(reached, last.interval.sharing.weight))
        return (
            Metric("objective", objective if math.isfinite(objective) else None),
            Metric("worst_error", float(last.errors[-1]) if seen else None),
            Metric("overload", float(overload[-1]) if seen else None),
            Metric("intervals", len(times)),
            Metric("intervals_within_1_percent", len(known)),
            Metric("longest_return_to_1_percent", max(known) if known == times else None, "s"),
            Metric("period", self.kept.period, "s"),
            Metric("negotiation_bytes", self.kept.bytes_sent, "byte"),
        )

    def listings(self, most: int = 8) -> tuple[ResultTable, ...]:
        """Return tables of the intervals, of the applications and the resources at the end."""
        seen = self.kept.seen(self.last.interval)
        interval, best = self.last.interval, self.last.optimum
        part = interval.sharing
        rate = self.kept.rates[seen[-1], interval.agents] if len(seen) else np.zeros(part.n_agents)
        prices = self.kept.host_price, self.kept.link_price
        note = f"from {interval.start:g} s to {interval.end:g} s"
        throughputs = part.throughput(rate), best.throughput
        applications = _applications(part.applications, *throughputs, note)
        return (self._intervals(), applications, *_busiest(part, rate, prices, best, most))

    def _intervals(self) -> ResultTable:
        """Return the changes, and the times to the new optimum."""
        lines = []
        for each in self.stretches:
            line: list[Cell] = [each.interval.start, self._what(each.interval.start)]
            for level in _RETURN_LEVELS:
                time = each.back_after(level)
                periods = None if time is None else math.ceil(time / self.kept.period - 1e-6)
                line += [time, periods]
            ends = (each.errors, each.samples[1])
            line += [float(end[-1]) if len(end) else None for end in ends]
            lines.append(tuple(line))
        columns = (
            ("from", "s"),
            ("what changed", ""),
            ("to 5 %", "s"),
            ("periods to 5 %", ""),
            ("to 1 %", "s"),
            ("periods to 1 %", ""),
            ("worst error at end", "%"),
            ("overload at end", "%"),
        )
        note = (
            "time from the change until every throughput stays that near to the new optimum;"
            f" a dash: never before the next change; a period is {self.kept.period:g} s"
        )
        return ResultTable("Changes", columns, tuple(lines), note)

    def _what(self, date: float) -> str:
        """Return a short description of the changes at a date."""
        events = self.events.get(date, []) or ["start" if date == 0 else ""]
        shown = ", ".join(events[:_MOST_EVENTS])
        rest = len(events) - _MOST_EVENTS
        return f"{shown} and {rest} more" if rest > 0 else shown

    def figures(self) -> tuple[CurvePlot, ...]:
        """Return throughputs relative to the optimum of each interval, and errors, over time."""
        date = self.kept.date
        ratio = np.full((len(date), self.sharing.n_applications), np.nan)
        error = np.full(len(date), np.nan)
        for each in self.stretches:
            seen, best = self.kept.seen(each.interval), each.optimum.throughput
            there = np.flatnonzero(best > 0)
            columns = each.interval.applications[there]
            ratio[np.ix_(seen, columns)] = each.samples[0][:, there] / best[there]
            error[seen] = each.errors
        shown, x = self.sharing.applications[:_MOST_CURVES], "date [s]"
        ratios = {name: (date, ratio[:, k]) for k, name in enumerate(shown)}
        title, y = "Throughputs, relative to the optimum between changes", "throughput / optimum"
        throughputs = CurvePlot("throughputs", title, x, y, ratios, {"optimum": 1.0}, groups=shown)
        curves = {"error": (date, np.maximum(error, _LEAST_ERROR))}
        levels = {f"{level:.0%}": level for level in _RETURN_LEVELS}
        title, y = (
            "Worst error of a throughput, or overload",
            f"relative error, or {_LEAST_ERROR:g}",
        )
        return throughputs, CurvePlot("errors", title, x, y, curves, levels, log_y=True)


def events_of(
    sharing: SharedDeployment,
    applications: Sequence[Application],
    changes: Sequence[CapacityChange],
) -> dict[float, list[str]]:
    """Return descriptions of all changes by date.

    Parameters
    ----------
    sharing : SharedDeployment
        The deployment before any change.
    applications : sequence of Application
        They arrive at `start` and leave at `end`.
    changes : sequence of CapacityChange
        All of them, in any order.

    Returns
    -------
    dict of float to list of str
        By date [s].
    """
    capacity = dict(zip(sharing.links, sharing.bandwidth.tolist(), strict=True))
    capacity |= dict(zip(sharing.hosts, sharing.speed.tolist(), strict=True))
    off: set[str] = set()
    events: dict[float, list[str]] = {}
    for change in sorted(changes, key=lambda change: change.date):
        name, events_then = change.resource, events.setdefault(change.date, [])
        if change.fails:
            events_then.append(f"{name} fails")
            off.add(name)
            continue
        if name in off:
            events_then.append(f"{name} comes back")
            off.remove(name)
        if name in capacity and change.capacity != capacity[name]:
            unit = "flop/s" if name in sharing.hosts else "B/s"
            events_then.append(f"{name} has {_capacity(change.capacity, unit)}")
            capacity[name] = change.capacity
    for each in applications:
        if each.start > 0:
            events.setdefault(each.start, []).append(f"{each.name} arrives")
        if math.isfinite(each.end):
            events.setdefault(each.end, []).append(f"{each.name} leaves")
    return events


def _capacity(value: float, unit: str) -> str:
    """Write a speed or bandwidth."""
    for factor, prefix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= factor:
            return f"{value / factor:.4g} {prefix}{unit}"
    return f"{value:.4g} {unit}"
