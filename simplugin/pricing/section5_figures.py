"""The curves of the report's Figures 3 to 11."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simplugin.figures import Figure
from simplugin.pricing.five_hosts import five_hosts
from simplugin.pricing.gradient import task_price
from simplugin.pricing.section5 import PROPORTIONAL, ROUNDS, SMALL, averaged, optimum, run

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from simplugin.pricing.trajectory import Trajectory

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
        for number, application in enumerate(five_hosts().applications)
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
    sharing = five_hosts()
    trajectory = run(_SHOWN, scaled=False, rates=True)
    rounds = np.arange(_FROM, _SHOWN + 1)
    series = {
        sharing.hosts[sharing.host[agent]]: (rounds, np.asarray(trajectory.rates)[_FROM:, agent])
        for agent in np.flatnonzero(sharing.application == 0)
    }
    series["all hosts"] = (rounds, trajectory.throughput[_FROM:, 0])
    title = "Unscaled version: rates of application 1"
    return [Figure("figure6", title, "round", "rate [tasks/s]", series)]


def figure7(quick: bool) -> list[Figure]:
    """Return a rate of application 1 in the unscaled version, and the price that it meets."""
    del quick
    sharing = five_hosts()
    trajectory = run(_SHOWN, scaled=False, rates=True)
    agent = int(np.flatnonzero((sharing.application == 0) & (sharing.depth == 2))[0])
    host = sharing.hosts[sharing.host[agent]]
    rounds = np.arange(_FROM, _SHOWN + 1)
    both = zip(trajectory.host_price, trajectory.link_price, strict=True)
    price = np.array([task_price(sharing, at_host, on_link)[agent] for at_host, on_link in both])
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
    names = five_hosts().applications
    best = {f"optimum of {name}": float(x) for name, x in zip(names, optimum()[1], strict=True)}
    return [_throughputs("figure10", "Scaled version: throughputs", run(ROUNDS), best)]


def figure11(quick: bool) -> list[Figure]:
    """Return the prices of the scaled version: all hosts, and the links that are used."""
    del quick
    sharing = five_hosts()
    trajectory = run(ROUNDS)
    rounds = np.arange(_FROM, ROUNDS + 1)
    hosts = {
        name: (rounds, trajectory.host_price[_FROM:, host])
        for host, name in enumerate(sharing.hosts)
    }
    links = {
        sharing.links[link]: (rounds, trajectory.link_price[_FROM:, link])
        for link in np.unique(sharing.link[sharing.link >= 0])
    }
    title = "Scaled version: prices"
    # At the optimum only computation is scarce, and every host costs the same.
    best = {"optimum": len(sharing.applications) / float(sharing.speed.sum())}
    return [
        Figure("figure11-hosts", title, "round", "price [utility/flop]", hosts, best, log_y=True),
        Figure("figure11-links", title, "round", "price [utility/byte]", links, log_y=True),
    ]


FIGURES: dict[str, Callable[[bool], list[Figure]]] = {
    f"figure {number}": figure
    for number, figure in enumerate(
        (figure3, figure4, figure5, figure6, figure7, figure8, figure9, figure10, figure11), 3
    )
}
