"""How far a negotiation got: metrics, tables and curves beside the optimum."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from simplugin.figures import Figure
from simplugin.listings import Listing
from simplugin.pricing.trajectory import objective_error, settled, throughput_error
from simplugin.rows import Best, Metric

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simplugin.optimum.fair_sharing import FairShare
    from simplugin.pricing.trajectory import Trajectory
    from simplugin.workloads import AlphaFair, Sharing

    Floats = NDArray[np.float64]

# What "close" means: name of the metric, and the largest relative error.
LEVELS = {"5_percent": 0.05, "1_percent": 0.01, "half_percent": 0.005}
_MOST_CURVES = 8
_LEAST = np.finfo(float).tiny


@dataclass(frozen=True, eq=False)
class Assessment:
    """A negotiation beside the optimum.

    Attributes
    ----------
    sharing : Sharing
        The problem.
    utility : AlphaFair
        Of every application; not max-min, which has no objective.
    trajectory : Trajectory
        With the prices of every round.
    optimum : FairShare
        The best that there is.
    """

    sharing: Sharing
    utility: AlphaFair
    trajectory: Trajectory
    optimum: FairShare

    @cached_property
    def objective(self) -> Floats:
        """Weighted sum of utilities after each round, shape (n_rounds + 1,)."""
        return self.utility.objective(self.trajectory.throughput, self.sharing.weight)

    @cached_property
    def errors(self) -> dict[str, Floats]:
        """What is to become small: relative errors of each round, shape (n_rounds + 1,) each.

        "objective" is that of the report, which depends on the unit of tasks and forgives
        overloads; "every throughput" is the worst application's, or the overload.
        """
        with np.errstate(all="ignore"):
            throughput = throughput_error(self.trajectory, self.optimum.throughput)
        errors = {"every throughput": throughput}
        if self.optimum.objective != 0:
            errors["objective"] = objective_error(
                self.trajectory, self.sharing, self.utility, self.optimum.objective
            )
        return errors

    @property
    def best(self) -> Best:
        """The optimum of the objective."""
        return Best("objective", self.optimum.objective, "optimum", "max")

    def metrics(self) -> tuple[Metric, ...]:
        """Return what the negotiation came to, in numbers."""
        worst = self.errors["every throughput"]
        rounds = [
            Metric(f"rounds_to_{name}", settled(worst, level)) for name, level in LEVELS.items()
        ]
        return (
            Metric("objective", float(self.objective[-1])),
            Metric("worst_error", float(worst[-1])),
            Metric("overload", float(self.trajectory.overload[-1])),
            Metric("rounds", self.trajectory.n_rounds),
            *rounds,
            Metric("negotiation_bytes", float(self.trajectory.bytes_sent), "byte"),
        )

    def listings(self, most: int = 8) -> tuple[Listing, ...]:
        """Return tables of the applications, the busiest resources, and the rounds it took."""
        sharing, reached, best = self.sharing, self.trajectory, self.optimum
        hosts = Resources(
            sharing.hosts,
            sharing.speed,
            sharing.host_load(reached.rate),
            reached.host_price[-1],
            best.host_price,
        )
        links = Resources(
            sharing.links,
            sharing.bandwidth,
            sharing.link_load(reached.rate),
            reached.link_price[-1],
            best.link_price,
        )
        return (
            self._applications(),
            hosts.listing("host", "flop", "Gflop", most),
            links.listing("link", "byte", "GB", most),
            self._rounds(),
        )

    def _applications(self) -> Listing:
        """Return throughput, optimum and gap of each application."""
        reached, best = self.trajectory.throughput[-1], self.optimum.throughput
        lines = [
            (name, float(reached[k]), float(best[k]), gap(reached[k], best[k]))
            for k, name in enumerate(self.sharing.applications)
        ]
        columns = (
            ("application", ""),
            ("throughput", "task/s"),
            ("optimum", "task/s"),
            ("gap", "%"),
        )
        # Gaps under this say nothing.
        certificate = self.optimum.gap
        note = f"optimum certified to {certificate:.0e}" if certificate > 1e-8 else ""
        return Listing("Applications", columns, tuple(lines), note)

    def _rounds(self) -> Listing:
        """Return from which round on errors stay small, and the simulated date."""
        date = self.trajectory.date
        lines = []
        for what, error in self.errors.items():
            for level in LEVELS.values():
                first = settled(error, level)
                known = first is not None and np.isfinite(date[first])
                lines.append((what, level, first, float(date[first]) if known else None))
        columns = (("error of", ""), ("within", "%"), ("from round", ""), ("date", "s"))
        note = f"to the end, after {self.trajectory.n_rounds} rounds"
        return Listing("Convergence", columns, tuple(lines), note)

    def figures(self) -> tuple[Figure, ...]:
        """Return the curves of objective, throughputs and prices against rounds."""
        rounds = np.arange(self.trajectory.n_rounds + 1)
        reached, best = self.trajectory.throughput, self.optimum.throughput
        applications = self.sharing.applications[:_MOST_CURVES]
        chosen = [k for k in range(len(applications)) if best[k] > 0]
        return (
            Figure(
                "objective",
                "Objective",
                "round",
                "sum of utilities",
                {"objective": (rounds, self.objective)},
                {"optimum": self.optimum.objective},
            ),
            Figure(
                "throughputs",
                "Throughputs",
                "round",
                "throughput / optimum",
                {applications[k]: (rounds, reached[:, k] / best[k]) for k in chosen},
                {"optimum": 1.0},
            ),
            self._prices(rounds),
        )

    def _prices(self, rounds: NDArray[np.int64]) -> Figure:
        """Return the curves of what the whole capacity of a resource costs.

        So hosts and links, large and small, have one unit.
        """
        sharing, reached = self.sharing, self.trajectory
        names = [*sharing.hosts, *sharing.links]
        worth = np.concatenate(
            [reached.host_price * sharing.speed, reached.link_price * sharing.bandwidth], axis=1
        )
        order = np.argsort(-worth[-1], kind="stable")[:_MOST_CURVES].tolist()
        series = {names[each]: (rounds, worth[:, each]) for each in order}
        return Figure("prices", "Prices", "round", "price times capacity", series, {})


@dataclass(frozen=True, eq=False)
class Resources:
    """Hosts or links at the end of a negotiation.

    Attributes
    ----------
    names : tuple of str
        Of each.
    capacity, load : float64, shape (n_resources,)
        Of each [flop/s or byte/s].
    price, best : float64, shape (n_resources,)
        The price that was found, and that of the optimum [utility/flop or utility/byte].
    """

    names: tuple[str, ...]
    capacity: Floats
    load: Floats
    price: Floats
    best: Floats

    def listing(self, what: str, unit: str, large: str, most: int) -> Listing:
        """Return those that are worth most at their prices, then those loaded most."""
        share = np.where(self.capacity > 0, self.load / np.maximum(self.capacity, _LEAST), 0.0)
        worth = self.capacity * self.price
        # What is below this is a rest of the iteration, no price.
        worth = np.where(worth > 1e-9 * worth.sum(), worth, 0.0)
        order = [each for each in np.lexsort((-share, -worth)) if share[each] or worth[each]]
        columns = (
            (what, ""),
            ("capacity", f"{unit}/s"),
            ("load", "%"),
            (f"price [utility/{large}]", ""),
            ("optimal price", ""),
        )
        lines = tuple(
            (
                self.names[each],
                float(self.capacity[each]),
                float(share[each]),
                1e9 * float(self.price[each]),
                1e9 * float(self.best[each]),
            )
            for each in order[:most]
        )
        rest = len(order) - len(lines)
        note = f"and {rest} more" if rest > 0 else ""
        return Listing(f"Busiest {what}s", columns, lines, note)


def gap(reached: float, best: float) -> float | None:
    """Return how much is missing to the best, relative to it."""
    return float((best - reached) / best) if best > 0 else None
