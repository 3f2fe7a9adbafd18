"""What the report says of its agents, beside what actors on SimGrid do."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from simplugin.claims import Claim
from simplugin.optimum.fair_sharing import fair_sharing
from simplugin.platforms.graphs import Graph
from simplugin.pricing.agents.negotiation import negotiate
from simplugin.pricing.dispatch import dispatch
from simplugin.pricing.five_hosts import (
    APPLICATIONS,
    BANDWIDTH,
    HOSTS,
    REPORTED,
    SPEED,
    TREE,
    five_hosts,
)
from simplugin.pricing.gradient import Gradient
from simplugin.pricing.markets import Market
from simplugin.pricing.trajectory import iterate, objective_error, settled
from simplugin.workloads import AlphaFair

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from simplugin.pricing.agents.negotiation import Negotiation
    from simplugin.pricing.trajectory import Method, Trajectory

# Of every link [s]; the report gives none.
LATENCY = 1e-3
PROPORTIONAL = AlphaFair(1.0)
# The report's counts, by how near the objective is.
COUNTS = ((0.05, 17), (0.01, 83), (0.005, 498))
# As for the counts of pure iterations: the edges of Figure 2 are unknown.
_FACTOR = 2.0
# What dispatched tasks may miss of the rates' throughput and still be said to follow them.
_DEVIATION = 0.02
# Simulated tasks of each application in a second, and rounds of rates that are negotiated.
_TASKS_A_SECOND, _NEGOTIATED = 100, 80


@dataclass(frozen=True, eq=False)
class Pair:
    """The same rounds as messages and as arrays."""

    done: Negotiation
    pure: Trajectory


def platform() -> Graph:
    """Return the five hosts as a graph."""
    ends = np.array([[HOSTS.index(end) for end in edge] for edge in TREE])
    speed, bandwidth = np.full(len(HOSTS), SPEED), np.full(len(TREE), BANDWIDTH)
    return Graph.duplex(HOSTS, speed, ends, bandwidth, LATENCY)


@lru_cache(maxsize=4)
def run(rounds: int, *, scaled: bool = True) -> Pair:
    """Run the report's iteration both ways."""
    method = Gradient(scaled=scaled, reading=REPORTED)
    done = negotiate(platform(), five_hosts(), method, rounds, PROPORTIONAL)
    return Pair(done, iterate(method, five_hosts(), PROPORTIONAL, rounds))


def rounds_of_agents(quick: bool) -> list[Claim]:
    """Return the counts of rounds, read from the agents' messages."""
    rounds = 1000 if quick else 2000
    trajectory = run(rounds).done.trajectory
    best = fair_sharing(five_hosts()).objective
    error = objective_error(trajectory, five_hosts(), PROPORTIONAL, best)
    claims = []
    for level, reported in COUNTS:
        measured = settled(error, level)
        date = "" if measured is None else f", at {trajectory.date[measured]:.3g} s"
        per_round = trajectory.bytes_sent / rounds
        claims.append(
            Claim(
                f"Scaled, as actors: rounds until within {100 * level:g} % of the objective",
                reported,
                f"over {rounds}" if measured is None else measured,
                measured is not None and reported / _FACTOR <= measured <= reported * _FACTOR,
                f"from messages over links of {1e3 * LATENCY:g} ms{date}, {per_round:.0f} bytes a"
                f" round; the first round from which it stays there until round {rounds}; agrees"
                " within a factor of 2",
                "section 5.3, Figures 8 and 9",
                best,
                provenance(rounds),
            )
        )
    return claims


def local_agents(quick: bool) -> list[Claim]:
    """Return what sections 4.1 and 5.1.1 say of agents."""
    rounds = 400 if quick else 2000
    pairs = [run(rounds, scaled=scaled) for scaled in (True, False)]
    apart = max(_apart(pair.done.trajectory, pair.pure) for pair in pairs)
    dates = pairs[0].done.trajectory.date
    latencies = float((dates[-1] - dates[0]) / rounds / LATENCY)
    deepest = int(five_hosts().depth.max())
    return [
        Claim(
            "All updates can be done from local variables (Algorithms 3 and 4)",
            "can",
            f"actors are {apart:.1g} apart from the equations",
            apart <= 1e-9,
            f"largest relative difference of a throughput or price in {rounds} rounds, scaled and"
            " unscaled; actors know what messages brought and no more; agrees up to 1e-9",
            "section 4.1",
            provenance=provenance(rounds),
        ),
        Claim(
            "Each step requires a complete traversal of the deployment tree",
            "a traversal",
            f"{latencies:.2f} latencies a round",
            2 * deepest <= latencies <= 2 * deepest + 1,
            f"the deepest tree has {deepest} links, to be gone up and down; agrees up to one"
            " latency more, which messages take to be sent",
            "section 5.1.1",
            provenance=provenance(rounds),
        ),
    ]


def tasks_of_rates(quick: bool) -> list[Claim]:
    """Return what the slides say of rates: they are enough to dispatch tasks by demand."""
    duration = 20.0 if quick else 200.0
    pace = duration / _NEGOTIATED
    methods: dict[str, Method[Any]] = {"markets": Market(), "scaled": Gradient(reading=REPORTED)}
    reached = {
        name: negotiate(platform(), five_hosts(), method, _NEGOTIATED, PROPORTIONAL).trajectory
        for name, method in methods.items()
    }
    final = _deviation(reached["markets"].rate, duration, warm_up=duration / 4)
    growing = {}
    for name, trajectory in reached.items():
        assert trajectory.rates is not None
        dated = zip(pace * np.arange(_NEGOTIATED + 1), trajectory.rates, strict=True)
        growing[name] = _deviation(list(dated), duration, warm_up=0.0)
    shown = {name: _percents(each) for name, each in growing.items()}
    statement = "The rates are sufficient for simple demand-driven scheduling"
    source = "slides, Decentralized Scheduling"
    provenance = {"platform": _PLATFORM, "duration": duration}
    return [
        Claim(
            statement,
            "small deviation",
            f"deviation of {_percents(final)}",
            bool(np.all(np.abs(final) <= _DEVIATION)),
            f"final rates, those of round {_NEGOTIATED} of markets: theoretical minus experimental"
            f" throughput over theoretical of each application's tasks on SimGrid, {duration:g} s,"
            f" the first quarter apart; agrees up to {_DEVIATION:.0%}",
            source,
            provenance=provenance,
        ),
        Claim(
            f"{statement}, also while they are negotiated",
            "small deviation",
            f"deviation of {shown['markets']}",
            bool(np.all(np.abs(growing["markets"]) <= _DEVIATION)),
            f"rates of {_NEGOTIATED} rounds of markets from a cold start, replayed a round every"
            f" {pace:g} s, nothing apart; agrees up to {_DEVIATION:.0%}. With the scaled rule,"
            f" whose first rates ask for more than there is: {shown['scaled']}",
            source,
            provenance=provenance,
        ),
    ]


def _deviation(rates: Any, duration: float, warm_up: float) -> NDArray[np.float64]:
    """Return what tasks on SimGrid miss of the rates, shape (n_applications,)."""
    grain = five_hosts().throughput(fair_sharing(five_hosts()).rate) / _TASKS_A_SECOND
    done = dispatch(
        platform(), five_hosts(), rates, duration=duration, warm_up=warm_up, grain=grain
    )
    return done.deviation


def _percents(values: NDArray[np.float64]) -> str:
    """Write ratios in percent."""
    return ", ".join(f"{100 * each:.2g} %" for each in values)


def _apart(one: Trajectory, other: Trajectory) -> float:
    """Return the largest difference of throughputs and prices, relative to the value."""
    # A link that no tree uses has no manager.
    links = np.unique(five_hosts().link[five_hosts().link >= 0])
    columns = (
        (one.throughput, other.throughput),
        (one.host_price, other.host_price),
        (one.link_price[:, links], other.link_price[:, links]),
    )
    return max(
        float(np.max(np.abs(a - b) / np.maximum(np.abs(b), np.finfo(float).tiny)))
        for a, b in columns
    )


_PLATFORM = "five hosts, edges " + " ".join(TREE)


def provenance(rounds: int) -> dict[str, Any]:
    """Return what determines a negotiation."""
    return {
        "platform": _PLATFORM,
        "latency": LATENCY,
        "rounds": rounds,
        "applications": [each.name for each in APPLICATIONS],
    }


PARTS: dict[str, Callable[[bool], list[Claim]]] = {
    "rounds of agents": rounds_of_agents,
    "local agents": local_agents,
    "tasks of rates": tasks_of_rates,
}
