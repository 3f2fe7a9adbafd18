"""Curves of the method without step sizes beside those of the report's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simplugin.figures import Figure
from simplugin.optimum.fair_sharing import fair_sharing
from simplugin.pricing.agents.negotiation import negotiate
from simplugin.pricing.changing_claims import PERIOD, RELAXATION, live_through
from simplugin.pricing.five_hosts import APPLICATIONS, HOSTS, REPORTED, SPEED, five_hosts
from simplugin.pricing.gradient import Gradient
from simplugin.pricing.markets import Market
from simplugin.pricing.past_claims import PROPORTIONAL, runs
from simplugin.pricing.policies import POLICIES
from simplugin.pricing.simulated_claims import platform
from simplugin.pricing.trajectory import settled, throughput_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from simplugin.optimum.fair_sharing import FairShare
    from simplugin.pricing.instances import Instance
    from simplugin.pricing.trajectory import Trajectory

_ROUNDS = 200
_SLOWEST = 500
_CURVES = {"market": "markets", "market_accelerated": "markets, accelerated"}


def side_by_side(quick: bool) -> list[Figure]:
    """Return throughputs and host prices of markets and of the scaled rule, both as actors."""
    del quick
    best = fair_sharing(five_hosts())
    scaled = _negotiated(Gradient(reading=REPORTED))
    market = _negotiated(Market())
    rounds = np.arange(_ROUNDS + 1)
    throughputs, prices = {}, {}
    for what, trajectory in (("markets", market), ("scaled rule", scaled)):
        for k, application in enumerate(APPLICATIONS):
            ratio = trajectory.throughput[:, k] / best.throughput[k]
            throughputs[f"{application.name}, {what}"] = (rounds, ratio)
        for host, name in enumerate(HOSTS):
            prices[f"{name}, {what}"] = (rounds, trajectory.host_price[:, host] * SPEED)
    level = {"optimum": float(best.host_price[0] * SPEED)}
    label = "price times capacity"
    return [
        Figure(
            "markets-throughputs",
            "Throughputs of markets and of the scaled rule",
            "round",
            "throughput / optimum",
            throughputs,
            {"optimum": 1.0},
            cycle=len(APPLICATIONS),
        ),
        Figure(
            "markets-prices",
            "Prices of hosts under markets and under the scaled rule",
            "round",
            label,
            prices,
            level,
            log_y=True,
            cycle=len(HOSTS),
        ),
    ]


def changes(quick: bool) -> list[Figure]:
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
            for k, each in enumerate(APPLICATIONS)
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


def _negotiated(method: Gradient | Market) -> Trajectory:
    """Let actors negotiate on the five hosts."""
    return negotiate(platform(), five_hosts(), method, _ROUNDS, PROPORTIONAL).trajectory


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
    "markets": side_by_side,
    "changes": changes,
    "platforms": platforms,
}
