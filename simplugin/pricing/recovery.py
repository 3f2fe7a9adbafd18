"""How agents that wait for nobody followed changes: metrics, tables and curves per interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from simplugin.figures import Figure
from simplugin.listings import Listing
from simplugin.pricing.assessment import Resources, gap
from simplugin.rows import Best, Metric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from simplugin.listings import Cell
    from simplugin.optimum.fair_sharing import FairShare
    from simplugin.pricing.agents.changes import Change, Interval
    from simplugin.pricing.agents.upkeep import Upkeep
    from simplugin.workloads import AlphaFair, Application, Sharing

    Floats = NDArray[np.float64]

# What "back" means: every throughput this near to the new optimum, no resource overloaded by more.
LEVELS = (0.05, 0.01)
_MOST_CURVES = 8
_MOST_EVENTS = 4
# What curves do not tell from none.
_LEAST_ERROR = 1e-6


@dataclass(frozen=True, eq=False)
class Stretch:
    """What was seen within an interval between changes.

    Attributes
    ----------
    interval : Interval
        What there was to share.
    optimum : FairShare
        The best that could be done then.
    date : float64, shape (n_samples,)
        When it was looked at [s].
    throughput : float64, shape (n_samples, n_applications of the interval)
        [tasks/s].
    overload : float64, shape (n_samples,)
        The worst of a resource, relative to its capacity.
    """

    interval: Interval
    optimum: FairShare
    date: Floats
    throughput: Floats
    overload: Floats

    @classmethod
    def of(cls, kept: Upkeep, interval: Interval, optimum: FairShare) -> Stretch:
        """Return what was seen; rates of agents that are cut off do not count."""
        seen, sharing = kept.seen(interval), interval.sharing
        rates = kept.rates[np.ix_(seen, interval.agents)]
        throughput = [sharing.throughput(rate) for rate in rates]
        return cls(
            interval,
            optimum,
            kept.date[seen],
            np.array(throughput).reshape(-1, sharing.n_applications),
            np.array([sharing.overload(rate) for rate in rates]),
        )

    @cached_property
    def errors(self) -> Floats:
        """The worst relative error of a throughput, or the overload, of each sample."""
        with np.errstate(all="ignore"):
            relative = np.abs(self.throughput / self.optimum.throughput - 1)
        worst = np.where(np.isnan(relative), 0.0, relative).max(axis=1)
        return np.asarray(np.maximum(worst, self.overload))

    def back_after(self, level: float) -> float | None:
        """Return after how long the error stays within a level [s]; None if it does not."""
        outside = np.flatnonzero(~(self.errors <= level))
        first = int(outside[-1]) + 1 if len(outside) else 0
        if first >= len(self.date):
            return None
        # Dates are sums of periods, with rounding errors.
        return round(float(self.date[first] - self.interval.start), 9)


@dataclass(frozen=True, eq=False)
class Recovery:
    """A run through changes, beside the optimum of each interval between them.

    Attributes
    ----------
    sharing : Sharing
        The deployment of all applications.
    utility : AlphaFair
        Of every application; not max-min, which has no objective.
    kept : Upkeep
        What agents did.
    stretches : sequence of Stretch
        What was seen between changes; at least one.
    events : mapping of float to list of str
        What happened at which date.
    """

    sharing: Sharing
    utility: AlphaFair
    kept: Upkeep
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
        """Return what the run came to at its end, and the slowest return to the optimum."""
        last = self.last
        times = [each.back_after(LEVELS[-1]) for each in self.stretches]
        known = [time for time in times if time is not None]
        seen = len(last.date) > 0
        reached = last.throughput[-1] if seen else np.zeros(last.interval.sharing.n_applications)
        objective = float(self.utility.objective(reached, last.interval.sharing.weight))
        return (
            Metric("objective", objective if math.isfinite(objective) else None),
            Metric("worst_error", float(last.errors[-1]) if seen else None),
            Metric("overload", float(last.overload[-1]) if seen else None),
            Metric("intervals", len(times)),
            Metric("intervals_within_1_percent", len(known)),
            Metric("longest_return_to_1_percent", max(known) if known == times else None, "s"),
            Metric("period", self.kept.period, "s"),
            Metric("negotiation_bytes", self.kept.bytes_sent, "byte"),
        )

    def listings(self, most: int = 8) -> tuple[Listing, ...]:
        """Return tables of the intervals, of the applications and the resources at the end."""
        seen = self.kept.seen(self.last.interval)
        interval, best = self.last.interval, self.last.optimum
        part = interval.sharing
        rate = self.kept.rates[seen[-1], interval.agents] if len(seen) else np.zeros(part.n_agents)
        hosts = Resources(
            part.hosts, part.speed, part.host_load(rate), self.kept.host_price, best.host_price
        )
        links = Resources(
            part.links, part.bandwidth, part.link_load(rate), self.kept.link_price, best.link_price
        )
        return (
            self._intervals(),
            self._applications(part.throughput(rate)),
            hosts.listing("host", "flop", "Gflop", most),
            links.listing("link", "byte", "GB", most),
        )

    def _intervals(self) -> Listing:
        """Return what changed when, and how long it took to come back to the optimum."""
        lines = []
        for each in self.stretches:
            line: list[Cell] = [each.interval.start, self._what(each.interval.start)]
            for level in LEVELS:
                time = each.back_after(level)
                periods = None if time is None else math.ceil(time / self.kept.period - 1e-6)
                line += [time, periods]
            ends = (each.errors, each.overload)
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
        return Listing("Changes", columns, tuple(lines), note)

    def _what(self, date: float) -> str:
        """Return what happened at a date in a few words."""
        events = self.events.get(date, []) or ["start" if date == 0 else ""]
        shown = ", ".join(events[:_MOST_EVENTS])
        rest = len(events) - _MOST_EVENTS
        return f"{shown} and {rest} more" if rest > 0 else shown

    def _applications(self, reached: Floats) -> Listing:
        """Return throughput, optimum and gap of each application at the end."""
        best = self.last.optimum.throughput
        names = self.last.interval.sharing.applications
        lines = tuple(
            (name, float(reached[k]), float(best[k]), gap(reached[k], best[k]))
            for k, name in enumerate(names)
        )
        columns = (("application", ""), ("throughput", "task/s"), ("optimum", "task/s"))
        note = f"from {self.last.interval.start:g} s to {self.last.interval.end:g} s"
        return Listing("Applications", (*columns, ("gap", "%")), lines, note)

    def figures(self) -> tuple[Figure, ...]:
        """Return throughputs relative to the optimum of each interval, and errors, over time."""
        date = self.kept.date
        ratio = np.full((len(date), self.sharing.n_applications), np.nan)
        error = np.full(len(date), np.nan)
        for each in self.stretches:
            seen, best = self.kept.seen(each.interval), each.optimum.throughput
            there = np.flatnonzero(best > 0)
            columns = each.interval.applications[there]
            ratio[np.ix_(seen, columns)] = each.throughput[:, there] / best[there]
            error[seen] = each.errors
        shown = self.sharing.applications[:_MOST_CURVES]
        worst = np.maximum(error, _LEAST_ERROR)
        return (
            Figure(
                "throughputs",
                "Throughputs, relative to the optimum between changes",
                "date [s]",
                "throughput / optimum",
                {name: (date, ratio[:, k]) for k, name in enumerate(shown)},
                {"optimum": 1.0},
            ),
            Figure(
                "errors",
                "Worst error of a throughput, or overload",
                "date [s]",
                f"relative error, or {_LEAST_ERROR:g}",
                {"error": (date, worst)},
                {f"{level:.0%}": level for level in LEVELS},
                log_y=True,
            ),
        )


def events_of(
    sharing: Sharing, applications: Sequence[Application], changes: Sequence[Change]
) -> dict[float, list[str]]:
    """Return in words what happens when.

    Parameters
    ----------
    sharing : Sharing
        The deployment before any change.
    applications : sequence of Application
        They arrive at `start` and leave at `end`.
    changes : sequence of Change
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
        name, told = change.resource, events.setdefault(change.date, [])
        if change.fails:
            told.append(f"{name} fails")
            off.add(name)
            continue
        if name in off:
            told.append(f"{name} comes back")
            off.remove(name)
        if name in capacity and change.capacity != capacity[name]:
            unit = "flop/s" if name in sharing.hosts else "B/s"
            told.append(f"{name} has {_capacity(change.capacity, unit)}")
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
