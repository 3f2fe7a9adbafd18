"""Throughput of an execution: metrics, tables and curves, compared with the optimum."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from simplugin.bags.execution import BagExecution
from simplugin.bags.policy import message_size
from simplugin.core.errors import WorkloadError
from simplugin.optimum.steady_state import SteadyState
from simplugin.results.curves import CurvePlot
from simplugin.results.row import Best, Metric
from simplugin.results.tables import Cell, ResultTable

Floats = NDArray[np.float64]

# Fraction of the time that is left out at either end, section 6.1.1.
EPSILON = 0.1
# Number of time intervals of the throughput curves, and maximum number of their applications.
_STRETCHES, _MOST_CURVES = 20, 8
_MOST_NODES = 20


def experimental(execution: BagExecution, epsilon: float = EPSILON) -> NDArray[np.float64]:
    """Return the experimental throughput of each application, section 6.1.1 of [1]_.

    With T the earliest date by which all tasks of some application are done, it is the number of
    tasks done between epsilon T and (1 - epsilon) T, over that time. One task that ends late can
    distort T, and with it every throughput; `slope` depends on it less.

    Parameters
    ----------
    execution : BagExecution
        Dates of all completions.
    epsilon : float
        In [0, 0.5).

    Returns
    -------
    float64, shape (n_applications,)
        Throughputs [tasks/s]; nan if there are too few tasks: fewer than `least_count`, so that
        the part left out at either end is less than a task, or all tasks of the application that
        determines T end after (1 - epsilon) T. All are nan if no application has ended.

    Raises
    ------
    WorkloadError
        `epsilon` is out of its range.

    References
    ----------
    .. [1] O. Beaumont, L. Carter, J. Ferrante, A. Legrand, L. Marchal and Y. Robert (2008).
       Centralized versus distributed schedulers for bag-of-tasks applications. IEEE TPDS 19(5).
    """
    count = execution.bags.count.tolist()
    least = least_count(epsilon)
    ends = [
        dates[-1] if len(dates) == tasks else math.inf
        for dates, tasks in zip(execution.completion, count, strict=True)
    ]
    end = min(ends)
    if not 0 < end < math.inf:
        return np.full(len(ends), math.nan)
    low, high = epsilon * end, (1 - epsilon) * end
    rates = []
    for dates, tasks, last in zip(execution.completion, count, ends, strict=True):
        before, until = np.searchsorted(dates, (low, high), side="right").tolist()
        is_few = tasks < least or (last == end and not until)
        rates.append(math.nan if is_few else (until - before) / (high - low))
    return np.array(rates)


def least_count(epsilon: float = EPSILON) -> int:
    """Return the minimum number of tasks for an experimental throughput.

    Parameters
    ----------
    epsilon : float
        In [0, 0.5).

    Raises
    ------
    WorkloadError
        `epsilon` is out of its range.
    """
    if not 0 <= epsilon < 0.5:
        raise WorkloadError(f"epsilon is {epsilon!r}; give a number from 0 on, under 0.5")
    return math.ceil(1 / epsilon) if epsilon else 2


def slope(execution: BagExecution, low: float = 0.1, high: float = 0.9) -> NDArray[np.float64]:
    """Return each application's tasks per time between two fractions of its completions.

    Parameters
    ----------
    execution : BagExecution
        Dates of all completions.
    low, high : float
        The fractions, 0 <= low < high <= 1.

    Returns
    -------
    float64, shape (n_applications,)
        Throughputs [tasks/s]; 0 if too few tasks were done, nan if the application has too few
        tasks for different dates at the two fractions.

    Raises
    ------
    WorkloadError
        A fraction is out of its range.
    """
    if not 0 <= low < high <= 1:
        raise WorkloadError(f"low is {low!r}, high {high!r}; give numbers 0 <= low < high <= 1")
    rates = []
    for dates, count in zip(execution.completion, execution.bags.count.tolist(), strict=True):
        first, last = max(int(low * count), 1) - 1, max(int(high * count), 1) - 1
        if len(dates) <= last and last > first:
            rates.append(0.0)
        elif last > first and dates[last] > dates[first]:
            rates.append((last - first) / (dates[last] - dates[first]))
        else:
            rates.append(math.nan)
    return np.array(rates)


def fair(throughput: NDArray[np.float64], weight: NDArray[np.float64]) -> float:
    """Return the fair throughput, the smallest per unit of weight [tasks/s]; nan if one is."""
    return float(np.min(throughput / weight))


@dataclass(frozen=True, eq=False)
class BagAssessment:
    """Comparison of an execution with the optimum.

    Attributes
    ----------
    execution : BagExecution
        The execution.
    optimum : SteadyState
        The best steady state of the same tree and applications.
    expected_throughput : float
        Fair throughput that the policy expected [tasks/s]; nan if unknown.
    changes : bool
        True if the platform changed during the run, so that the optimum, for its initial state,
        is no bound.
    """

    execution: BagExecution
    optimum: SteadyState
    expected_throughput: float = math.nan
    changes: bool = False

    @cached_property
    def throughput(self) -> Floats:
        """Throughput of each application by the formula of the paper, see `experimental`."""
        return experimental(self.execution)

    @cached_property
    def slope(self) -> Floats:
        """Throughput of each application between its first and last tenth, see `slope`."""
        return slope(self.execution)

    @cached_property
    def makespan(self) -> float:
        """End of the last task [s]; 0 if none was done."""
        return max((float(d[-1]) for d in self.execution.completion if len(d)), default=0.0)

    @property
    def best(self) -> Best | None:
        """The optimum of the fair throughput; None if the platform changed."""
        if self.changes:
            return None
        return Best("fair_throughput", self.optimum.fair, "optimum", "max")

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences on missing or unreliable figures."""
        execution, found = self.execution, []
        if self.changes:
            found.append("The optimum is that of the platform before it changed.")
        bags = execution.bags
        undone = [
            count - len(dates)
            for dates, count in zip(execution.completion, bags.count.tolist(), strict=True)
        ]
        if any(undone):
            missing = ", ".join(
                f"{tasks} of {name!r}"
                for name, tasks in zip(bags.names, undone, strict=True)
                if tasks
            )
            found.append(
                f"Not all tasks were done ({missing} are left): the policy's plan gives them to no"
                " host, or the run ended before."
            )
        if all(undone):
            found.append("No application ended, so that there is no throughput to measure.")
        elif few := [
            repr(name)
            for name, rate in zip(bags.names, self.throughput, strict=True)
            if math.isnan(rate)
        ]:
            found.append(
                f"Too few tasks to measure the throughput of {', '.join(few)}: give a count of"
                f" {least_count()} at least, and of several for each host."
            )
        # Duration of a request in tasks at the optimum's rate, for each host.
        tree = self.optimum.tree
        lasts = tree.latency + message_size(1) / tree.bandwidth
        waits = lasts[1:] * self.optimum.sent[1:].sum(axis=1)
        wait = float(waits.max(initial=0.0))
        if wait > 1:
            name = tree.hosts[1 + int(waits.argmax())]
            found.append(
                "Tasks are so small that requests dominate, which the optimum does not count: one"
                f" of {name!r} lasts as long as {wait:.2g} of its tasks at the optimum's rate; give"
                " tasks of more flop and bytes."
            )
        return tuple(found)

    def metrics(self) -> tuple[Metric, ...]:
        """Return the metrics of the execution."""
        weight = self.execution.bags.weight
        lost = (Metric("tasks_lost", self.execution.lost),) if self.changes else ()
        return (
            Metric("fair_throughput", _known(fair(self.throughput, weight)), "task/s"),
            Metric("fair_slope", _known(fair(self.slope, weight)), "task/s"),
            Metric("theory", _known(self.expected_throughput), "task/s"),
            Metric("makespan", self.makespan, "s"),
            Metric("tasks", int(self.execution.computed.sum())),
            Metric("hosts_used", int(np.count_nonzero(self.execution.computed.sum(axis=1)))),
            *lost,
        )

    def listings(self, most: int = _MOST_NODES) -> tuple[ResultTable, ...]:
        """Return tables of the applications and of the nodes nearest to the root."""
        return self._applications(), self._nodes(most)

    def _applications(self) -> ResultTable:
        """Return throughput, optimum and gap of each application."""
        reached, optimum = list(map(_known, self.throughput)), self.optimum.throughput.tolist()
        gaps = [
            None if own is None or best <= 0 else (best - own) / best
            for own, best in zip(reached, optimum, strict=True)
        ]
        columns: list[tuple[str, str, Sequence[Cell]]] = [
            ("name", "", self.execution.bags.names),
            ("tasks", "", [len(dates) for dates in self.execution.completion]),
            ("throughput", "task/s", reached),
            ("slope", "task/s", list(map(_known, self.slope))),
            ("optimum", "task/s", optimum),
            ("gap", "%", gaps),
        ]
        return ResultTable.of_columns("Applications", columns, " ".join(self.warnings))

    def _nodes(self, most: int) -> ResultTable:
        """Return the tasks computed by each node, and the use of its CPU and its port."""
        execution = self.execution
        tree = execution.tree
        busy = dict(zip(execution.result.hosts.name, execution.result.hosts.busy, strict=True))
        lines = []
        for node, name in enumerate(tree.hosts[:most]):
            parent = int(tree.parent[node])
            computes, sends = tree.speed[node] > 0, bool(tree.children[node])
            lines.append(
                (
                    name,
                    tree.hosts[parent] if parent >= 0 else "",
                    float(tree.speed[node]) if computes else None,
                    float(tree.bandwidth[node]) if parent >= 0 else None,
                    *execution.computed[node].tolist(),
                    self._share(float(busy[name])) if computes else None,
                    self._share(float(execution.port_busy[node])) if sends else None,
                )
            )
        columns = (
            ("node", ""),
            ("parent", ""),
            ("speed", "flop/s"),
            ("bandwidth", "byte/s"),
            *((name, "") for name in execution.bags.names),
            ("CPU", "%"),
            ("port", "%"),
        )
        rest = tree.n_hosts - len(lines)
        note = "below each application, the tasks of it that a node computed"
        if rest > 0:
            note = f"and {rest} more, farther from the root; {note}"
        return ResultTable("Nodes", columns, tuple(lines), note)

    def _share(self, busy: float) -> float | None:
        """Return a busy time as a fraction of the makespan."""
        return busy / self.makespan if self.makespan > 0 else None

    def figures(self) -> tuple[CurvePlot, ...]:
        """Return the curves of completed tasks and of throughputs over time."""
        return self._completions(), self._throughputs()

    def _completions(self) -> CurvePlot:
        """Return completed tasks over time, with those of the optimum."""
        names = self.execution.bags.names[:_MOST_CURVES]
        series: dict[str, tuple[Floats, Floats]] = {}
        for name, dates in zip(names, self.execution.completion, strict=False):
            series[name] = (np.append(0.0, dates), np.arange(len(dates) + 1, dtype=np.float64))
        optimal = {} if self.changes else self._optimal_lines(names)
        return CurvePlot(
            "completions",
            "Tasks done",
            "simulated time [s]",
            "tasks",
            series | optimal,
            # Each curve with its dashed optimum; a common optimum has a separate colour.
            cycle=len(names) if len(optimal) == len(names) else None,
            groups=names,
        )

    def _optimal_lines(self, names: tuple[str, ...]) -> dict[str, tuple[Floats, Floats]]:
        """Return one straight line for each application, or one for all if they are alike."""
        rates, counts = self.optimum.throughput, self.execution.bags.count
        alike = np.ptp(rates) <= 1e-6 * rates.max() and np.ptp(counts) == 0
        lines = {}
        for k, name in enumerate(names[:1] if alike else names):
            end = counts[k] / rates[k] if rates[k] > 0 else self.makespan
            end = min(end, self.makespan)
            label = "optimum" if alike else f"{name}, optimum"
            lines[label] = (np.array([0.0, end]), np.array([0.0, rates[k] * end]))
        return lines

    def _throughputs(self) -> CurvePlot:
        """Return the throughputs in intervals of time, relative to the optimum."""
        edges = np.linspace(0.0, self.makespan or 1.0, _STRETCHES + 1)
        middle = (edges[:-1] + edges[1:]) / 2
        series = {}
        for k, name in enumerate(self.execution.bags.names[:_MOST_CURVES]):
            best = self.optimum.throughput[k]
            if best > 0:
                counts, _ = np.histogram(self.execution.completion[k], edges)
                series[name] = (middle, counts / np.diff(edges) / best)
        label = "throughput / optimum" + (" at the start" if self.changes else "")
        return CurvePlot(
            "throughputs",
            "Throughputs",
            "simulated time [s]",
            label,
            series,
            {"optimum": 1.0},
            groups=self.execution.bags.names[:_MOST_CURVES],
        )


def _known(value: float) -> float | None:
    """Return a finite number, else None."""
    return float(value) if math.isfinite(value) else None
