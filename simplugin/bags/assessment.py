"""How well tasks went through a tree: metrics, tables and curves beside the optimum."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from simplugin.bags.message_sizes import message_size
from simplugin.bags.throughput import experimental, fair, least_count, slope
from simplugin.figures import Figure
from simplugin.listings import Listing
from simplugin.rows import Best, Metric

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simplugin.bags.execution import Execution
    from simplugin.optimum.steady_state import SteadyState

    Floats = NDArray[np.float64]

# Over how many stretches of time throughputs are drawn, and for how many applications.
_STRETCHES, _MOST_CURVES = 20, 8
_MOST_NODES = 20


@dataclass(frozen=True, eq=False)
class Assessment:
    """An execution beside the optimum.

    Attributes
    ----------
    execution : Execution
        What was done when.
    optimum : SteadyState
        The best steady state of the same tree and applications.
    theory : float
        Fair throughput that the policy expected [tasks/s]; nan if unknown.
    changes : bool
        Whether the platform changed while tasks ran, so that the optimum, which is that of its
        start, bounds nothing.
    """

    execution: Execution
    optimum: SteadyState
    theory: float = math.nan
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
        """When the last task was done [s]; 0 if none was."""
        return max((float(d[-1]) for d in self.execution.completion if len(d)), default=0.0)

    @property
    def best(self) -> Best | None:
        """The optimum of the fair throughput; None where the platform changed."""
        if self.changes:
            return None
        return Best("fair_throughput", self.optimum.fair, "optimum", "max")

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences on figures that are missing, or mean less than they seem to."""
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
        wait, name = self._longest_request()
        if wait > 1:
            found.append(
                "Tasks are so small that requests dominate, which the optimum does not count: one"
                f" of {name!r} lasts as long as {wait:.2g} of its tasks at the optimum's rate; give"
                " tasks of more flop and bytes."
            )
        return tuple(found)

    def _longest_request(self) -> tuple[float, str]:
        """Return how many tasks a host is to get while it requests one, and the worst host."""
        tree = self.optimum.tree
        lasts = tree.latency + message_size(1) / tree.bandwidth
        tasks = lasts[1:] * self.optimum.sent[1:].sum(axis=1)
        worst = max(range(1, tree.n_hosts), key=lambda host: float(tasks[host - 1]), default=0)
        return (float(tasks[worst - 1]) if worst else 0.0), tree.hosts[worst]

    def metrics(self) -> tuple[Metric, ...]:
        """Return what the execution came to, in numbers."""
        weight = self.execution.bags.weight
        lost = (Metric("tasks_lost", self.execution.lost),) if self.changes else ()
        return (
            Metric("fair_throughput", _known(fair(self.throughput, weight)), "task/s"),
            Metric("fair_slope", _known(fair(self.slope, weight)), "task/s"),
            Metric("theory", _known(self.theory), "task/s"),
            Metric("makespan", self.makespan, "s"),
            Metric("tasks", int(self.execution.computed.sum())),
            Metric("hosts_used", int(np.count_nonzero(self.execution.computed.sum(axis=1)))),
            *lost,
        )

    def listings(self, most: int = _MOST_NODES) -> tuple[Listing, ...]:
        """Return tables of the applications and of the nodes nearest to the root."""
        return self._applications(), self._nodes(most)

    def _applications(self) -> Listing:
        """Return throughput, optimum and gap of each application."""
        lines = []
        for k, name in enumerate(self.execution.bags.names):
            reached, best = _known(self.throughput[k]), float(self.optimum.throughput[k])
            gap = None if reached is None or best <= 0 else (best - reached) / best
            done = len(self.execution.completion[k])
            lines.append((name, done, reached, _known(self.slope[k]), best, gap))
        columns = (
            ("name", ""),
            ("tasks", ""),
            ("throughput", "task/s"),
            ("slope", "task/s"),
            ("optimum", "task/s"),
            ("gap", "%"),
        )
        return Listing("Applications", columns, tuple(lines), " ".join(self.warnings))

    def _nodes(self, most: int) -> Listing:
        """Return what each node computed, and how busy its CPU and its port were."""
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
        return Listing("Nodes", columns, tuple(lines), note)

    def _share(self, busy: float) -> float | None:
        """Return for which part of the makespan something was busy."""
        return busy / self.makespan if self.makespan > 0 else None

    def figures(self) -> tuple[Figure, ...]:
        """Return the curves of tasks done and of throughputs over time."""
        return self._completions(), self._throughputs()

    def _completions(self) -> Figure:
        """Return tasks done over time, beside those that the optimum would have done."""
        names = self.execution.bags.names[:_MOST_CURVES]
        series: dict[str, tuple[Floats, Floats]] = {}
        for name, dates in zip(names, self.execution.completion, strict=False):
            done = np.arange(len(dates) + 1, dtype=np.float64)
            series[name] = (np.append(0.0, dates), done)
        optimal = {} if self.changes else self._optimal_lines(names)
        return Figure(
            "completions",
            "Tasks done",
            "simulated time [s]",
            "tasks",
            series | optimal,
            # Each beside its own optimum, dashed; one for all has a colour of its own.
            cycle=len(names) if len(optimal) == len(names) else None,
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

    def _throughputs(self) -> Figure:
        """Return the throughputs in stretches of time, in units of the optimum."""
        edges = np.linspace(0.0, self.makespan or 1.0, _STRETCHES + 1)
        middle = (edges[:-1] + edges[1:]) / 2
        series = {}
        for k, name in enumerate(self.execution.bags.names[:_MOST_CURVES]):
            best = self.optimum.throughput[k]
            if best > 0:
                counts, _ = np.histogram(self.execution.completion[k], edges)
                series[name] = (middle, counts / np.diff(edges) / best)
        label = "throughput / optimum" + (" at the start" if self.changes else "")
        return Figure(
            "throughputs", "Throughputs", "simulated time [s]", label, series, {"optimum": 1.0}
        )


def _known(value: float) -> float | None:
    """Return a number; None if it is not known."""
    return float(value) if math.isfinite(value) else None
