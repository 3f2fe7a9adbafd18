"""Curves of the report's Figures 3 to 11, and of markets beside the scaled rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from simplugin.figures import Figure
from simplugin.optimum.fair_sharing import FairShare, fair_sharing
from simplugin.papers.bertin.five_hosts import (
    PERIOD,
    PROPORTIONAL,
    RELAXATION,
    REPORTED,
    ROUNDS,
    SMALL,
    averaged,
    live_through,
    negotiated,
    optimum,
    run,
    sharing,
)
from simplugin.papers.bertin.seeded_platforms import runs
from simplugin.platforms.topologies.shapes import FIVE_HOSTS, FIVE_HOSTS_SPEED
from simplugin.pricing.iteration import Trajectory, settled, throughput_error
from simplugin.pricing.policies.gradient import Gradient, task_price
from simplugin.pricing.policies.market import Market
from simplugin.pricing.policies.shipped import POLICIES
from simplugin.pricing.seeded_instances import Instance
from simplugin.workloads.applications import FIVE_HOSTS_APPLICATIONS

Floats = NDArray[np.float64]


_SHOWN = 400
_OBJECTIVE = "sum of log throughput"
# Of the unscaled version nothing is shown before round 2: it starts five times above the rest.
_FROM = 2


def _objective(trajectory: Trajectory) -> Floats:
    """Return the objective of each round; NaN where a throughput is 0."""
    value = PROPORTIONAL.objective(trajectory.throughput, np.ones(trajectory.throughput.shape[1]))
    return np.where(np.isfinite(value), value, np.nan)


def _levels() -> dict[str, float]:
    """Return the horizontal lines of the report's objectives."""
    best = optimum()[0]
    return {"optimum": best, "99.5 %": 0.995 * best, "99 %": 0.99 * best, "95 %": 0.95 * best}


def _objectives(name: str, title: str, trajectory: Trajectory, shown: int = _SHOWN) -> Figure:
    """Return an objective over rounds."""
    rounds = np.arange(_FROM, shown + 1)
    curve = {"objective": (rounds, _objective(trajectory)[_FROM : shown + 1])}
    return Figure(name, title, "round", _OBJECTIVE, curve, _levels())


def figure3(quick: bool) -> list[Figure]:
    """Return the objective of the unscaled version."""
    del quick
    title = "Unscaled version: objective"
    return [_objectives("figure3", title, run(_SHOWN, scaled=False))]


def figure4(quick: bool) -> list[Figure]:
    """Return the objective of the unscaled version with small steps."""
    del quick
    title = "Unscaled version with small steps: objective"
    return [_objectives("figure4", title, run(_SHOWN, scaled=False, steps=SMALL))]


def _throughputs(
    name: str, title: str, trajectory: Trajectory, lines: dict[str, float] | None = None
) -> Figure:
    """Return throughputs over rounds."""
    rounds = np.arange(_FROM, trajectory.n_rounds + 1)
    series = {
        f"application {application}": (rounds, trajectory.throughput[_FROM:, number])
        for number, application in enumerate(sharing().applications)
    }
    return Figure(name, title, "round", "throughput [tasks/s]", series, lines or {})


def figure5(quick: bool) -> list[Figure]:
    """Return the throughputs of the unscaled version."""
    del quick
    title = "Unscaled version: throughputs"
    return [_throughputs("figure5", title, run(_SHOWN, scaled=False))]


def figure6(quick: bool) -> list[Figure]:
    """Return the rates of application 1 in the unscaled version, host by host."""
    del quick
    problem = sharing()
    trajectory = run(_SHOWN, scaled=False, rates=True)
    rounds = np.arange(_FROM, _SHOWN + 1)
    series = {
        problem.hosts[problem.host[agent]]: (rounds, np.asarray(trajectory.rates)[_FROM:, agent])
        for agent in np.flatnonzero(problem.application == 0)
    }
    series["all hosts"] = (rounds, trajectory.throughput[_FROM:, 0])
    title = "Unscaled version: rates of application 1"
    return [Figure("figure6", title, "round", "rate [tasks/s]", series)]


def figure7(quick: bool) -> list[Figure]:
    """Return a rate of application 1 in the unscaled version, and the price that it meets."""
    del quick
    problem = sharing()
    trajectory = run(_SHOWN, scaled=False, rates=True)
    agent = int(np.flatnonzero((problem.application == 0) & (problem.depth == 2))[0])
    host = problem.hosts[problem.host[agent]]
    rounds = np.arange(_FROM, _SHOWN + 1)
    both = zip(trajectory.host_price, trajectory.link_price, strict=True)
    price = np.array([task_price(problem, at_host, on_link)[agent] for at_host, on_link in both])
    rate = {f"rate on {host}": (rounds, np.asarray(trajectory.rates)[_FROM:, agent])}
    cost = {f"price of a task on {host}": (rounds, price[_FROM:])}
    title = f"Unscaled version: application 1 on host {host}"
    return [
        Figure("figure7-rate", title, "round", "rate [tasks/s]", rate),
        Figure("figure7-price", title, "round", "price [utility/task]", cost),
    ]


def figure8(quick: bool) -> list[Figure]:
    """Return the objective of the scaled version, the first rounds and more of them."""
    del quick
    trajectory = run(ROUNDS)
    title = "Scaled version: objective"
    return [
        _objectives("figure8-left", title, trajectory, 50),
        _objectives("figure8-right", title, trajectory, 200),
    ]


def figure9(quick: bool) -> list[Figure]:
    """Return the objective of the scaled version, averaged over 20 rounds each."""
    del quick
    mean = averaged(_objective(run(ROUNDS)))
    rounds = 20.0 * np.arange(1, len(mean) + 1)
    best = optimum()[0]
    title = "Scaled version: objective, averages of 20 rounds"
    # The first average has rounds without throughput in it.
    curve = {"objective": (rounds[1:], mean[1:])}
    lines = {"optimum": best, "99.5 %": 0.995 * best}
    return [Figure("figure9", title, "round", _OBJECTIVE, curve, lines)]


def figure10(quick: bool) -> list[Figure]:
    """Return the throughputs of the scaled version, and the optimal ones."""
    del quick
    names = sharing().applications
    best = {f"optimum of {name}": float(x) for name, x in zip(names, optimum()[1], strict=True)}
    return [_throughputs("figure10", "Scaled version: throughputs", run(ROUNDS), best)]


def figure11(quick: bool) -> list[Figure]:
    """Return the prices of the scaled version: all hosts, and the links that are used."""
    del quick
    problem = sharing()
    trajectory = run(ROUNDS)
    rounds = np.arange(_FROM, ROUNDS + 1)
    hosts = {
        name: (rounds, trajectory.host_price[_FROM:, host])
        for host, name in enumerate(problem.hosts)
    }
    links = {
        problem.links[link]: (rounds, trajectory.link_price[_FROM:, link])
        for link in np.unique(problem.link[problem.link >= 0])
    }
    title = "Scaled version: prices"
    # At the optimum only computation is scarce, and every host costs the same.
    best = {"optimum": len(problem.applications) / float(problem.speed.sum())}
    return [
        Figure("figure11-hosts", title, "round", "price [utility/flop]", hosts, best, log_y=True),
        Figure("figure11-links", title, "round", "price [utility/byte]", links, log_y=True),
    ]


_ROUNDS = 200
_SLOWEST = 500
_CURVES = {"market": "markets", "market_accelerated": "markets, accelerated"}


def side_by_side(quick: bool) -> list[Figure]:
    """Return throughputs and host prices of markets and of the scaled rule, both as actors."""
    del quick
    best = fair_sharing(sharing())
    scaled = negotiated(Gradient(reading=REPORTED), _ROUNDS)
    market = negotiated(Market(), _ROUNDS)
    rounds = np.arange(_ROUNDS + 1)
    throughputs, prices = {}, {}
    for what, trajectory in (("markets", market), ("scaled rule", scaled)):
        for k, application in enumerate(FIVE_HOSTS_APPLICATIONS):
            ratio = trajectory.throughput[:, k] / best.throughput[k]
            throughputs[f"{application.name}, {what}"] = (rounds, ratio)
        for host, name in enumerate(FIVE_HOSTS):
            prices[f"{name}, {what}"] = (rounds, trajectory.host_price[:, host] * FIVE_HOSTS_SPEED)
    level = {"optimum": float(best.host_price[0] * FIVE_HOSTS_SPEED)}
    label = "price times capacity"
    return [
        Figure(
            "markets-throughputs",
            "Throughputs of markets and of the scaled rule",
            "round",
            "throughput / optimum",
            throughputs,
            {"optimum": 1.0},
            cycle=len(FIVE_HOSTS_APPLICATIONS),
        ),
        Figure(
            "markets-prices",
            "Prices of hosts under markets and under the scaled rule",
            "round",
            label,
            prices,
            level,
            log_y=True,
            cycle=len(FIVE_HOSTS),
        ),
    ]


def live_changes(quick: bool) -> list[Figure]:
    """Return throughputs of agents without rounds while hosts, links and applications change."""
    del quick
    figures = []
    for name, title, method in (
        ("changes-markets", "Markets, without rounds", Market(relaxation=RELAXATION)),
        ("changes-scaled", "Scaled rule, without rounds", Gradient()),
    ):
        kept, parts = live_through(method)
        share = np.full(kept.throughput.shape, np.nan)
        for each in parts:
            seen = (kept.date >= each.start) & (kept.date < each.end)
            best = fair_sharing(each.sharing).throughput
            there = np.ix_(seen, each.applications)
            share[there] = kept.throughput[there] / best
        series = {
            f"application {each.name}": (kept.date, share[:, k])
            for k, each in enumerate(FIVE_HOSTS_APPLICATIONS)
        }
        title += f", a decision every {1e3 * PERIOD:g} ms"
        label = "throughput / optimum of the time"
        figures.append(Figure(name, title, "simulated time [s]", label, series, {"optimum": 1.0}))
    return figures


def platforms(quick: bool) -> list[Figure]:
    """Return on how many platforms every throughput is within 1 %, by round."""
    series = {
        name: _share(runs(POLICIES[method](), _SLOWEST, quick))
        for method, name in _CURVES.items()
        if method in POLICIES
    }
    series["scaled rule, Table 1"] = _share(runs(Gradient(), _SLOWEST, quick))
    title = "Every throughput within 1 %, for good"
    return [Figure("platforms", title, "round", "part of the platforms", series, {"all": 1.0})]


def _share(
    done: Iterable[tuple[Instance, FairShare, Trajectory]],
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return rounds, and the part of the platforms that has settled by then."""
    errors = (throughput_error(trajectory, best.throughput) for _, best, trajectory in done)
    first = [settled(error, 0.01) for error in errors]
    known = np.array([_SLOWEST + 1 if each is None else each for each in first])
    rounds = np.arange(_SLOWEST + 1)
    return rounds, np.mean(known[:, None] <= rounds, axis=0)


FIGURES: dict[str, Callable[[bool], list[Figure]]] = {
    **{
        f"figure {number}": figure
        for number, figure in enumerate(
            (figure3, figure4, figure5, figure6, figure7, figure8, figure9, figure10, figure11), 3
        )
    },
    "markets": side_by_side,
    "changes": live_changes,
    "platforms": platforms,
}
