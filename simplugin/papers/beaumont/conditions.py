"""Conditions that the plain model leaves out: networks, changes of the platform, failures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplugin.core.elementary import exp, log
from simplugin.optimum.steady_state import steady_state
from simplugin.platforms import Platform, Profile, ProfileUse
from simplugin.platforms.graphs import Tree
from simplugin.simulation import SimGridOptions
from simplugin.simulation.api import Actor
from simplugin.simulation.placement import Placement
from simplugin.workloads.applications import Bags

# Speeds and bandwidths that vary are drawn anew so many times in a run, from their means times
# 1 - SPREAD to 1 + SPREAD.
DRAWS, SPREAD = 20, 0.5
# Which part of the hosts and links is loaded, what that leaves of them, and when it starts, as a
# part of the run.
LOADED, LEFT, ONSET = 1 / 3, 0.5, 0.25
# Which part of the hosts fails once in a run, and for which part of it.
FAILING, OUTAGE = 1 / 2, 0.1
# Which part of the links carries transfers of others, and how many of these fit into a run; as
# long as they last alone, they pause.
SHARED, TRANSFERS = 1 / 2, 40
# The condition that depends on the applications.
SLOWS = "one host slows"
# A latency of a wide-area link, and the range that section 6.1.2 prints [s].
LATENCY, LATENCIES = 6e-3, (6e-3, 10.0)

# Further arguments of `execute`.
Arguments = dict[str, Any]


@dataclass(frozen=True)
class _Run:
    """A run with drawn conditions."""

    tree: Tree
    draws: np.random.Generator
    horizon: float
    bags: Bags


def arguments(
    name: str, tree: Tree, generator: np.random.Generator, horizon: float, bags: Bags
) -> Arguments:
    """Return the further arguments of `execute` for some conditions.

    Parameters
    ----------
    name : str
        A key of `CONDITIONS`.
    tree : Tree
        The platform; its speeds and bandwidths are the means of those that vary.
    generator : numpy.random.Generator
        Source of the draws.
    horizon : float
        Approximate duration of a run [s], as changes come a number of times in a run.
    bags : Bags
        The applications, on which the host that slows depends.

    Returns
    -------
    dict
        ``platform`` and ``options``, and where needed ``failures`` or ``others``.
    """
    usual = {"platform": tree.platform(), "options": SimGridOptions.linear()}
    return usual | CONDITIONS[name](_Run(tree, generator, horizon, bags))


def _latency(run: _Run) -> Arguments:
    """Give every link the latency of a wide-area link."""
    return {"platform": _late(run.tree, np.full(run.tree.n_hosts, LATENCY))}


def _latencies(run: _Run) -> Arguments:
    """Give links latencies in the range that the paper prints, drawn log-uniformly."""
    low, high = log(LATENCIES).tolist()
    return {"platform": _late(run.tree, exp(run.draws.uniform(low, high, run.tree.n_hosts)))}


def _varying(run: _Run, *kinds: str) -> Arguments:
    """Draw speeds or bandwidths anew now and then, each host and link on dates of its own.

    Means are those of the tree. The draws last for two runs, then come again.
    """
    tree, draws = run.tree, run.draws
    extra: list[Profile | ProfileUse] = []
    for kind in kinds:
        for host in range(tree.n_hosts):
            dates = np.cumsum(draws.exponential(run.horizon / DRAWS, 2 * DRAWS))
            values = draws.uniform(1 - SPREAD, 1 + SPREAD, 2 * DRAWS)
            if not _has(tree, host, kind):
                continue
            title, element, scale = _element(tree, host, kind, 1 + SPREAD)
            points = list(zip([0.0, *dates[:-1].tolist()], (values * scale).tolist(), strict=True))
            profile = Profile.of_points(title, points, period=float(dates[-1]))
            extra += [profile, ProfileUse(title, element, kind)]
    # A profile gives parts of the speed that a host has at most.
    peak = replace(tree, speed=tree.speed * (1 + SPREAD)) if "SPEED" in kinds else tree
    return {"platform": _with(peak.platform(), extra)}


def _load_comes(run: _Run) -> Arguments:
    """Take half of some speeds and bandwidths away early in the run, for good."""
    loaded = {kind: run.draws.random(run.tree.n_hosts) < LOADED for kind in ("SPEED", "BANDWIDTH")}
    return _halved(run, loaded)


def _one_slows(run: _Run) -> Arguments:
    """Let the host with most work at the optimum be half as fast from some time on, for good."""
    work = steady_state(run.tree, run.bags).compute * run.bags.flop
    return _halved(run, {"SPEED": np.arange(run.tree.n_hosts) == np.argmax(work.sum(axis=1))})


def _halved(run: _Run, loaded: Mapping[str, NDArray[np.bool_]]) -> Arguments:
    """Halve the loaded capacities early in the run, permanently."""
    tree = run.tree
    extra: list[Profile | ProfileUse] = []
    for kind, hosts in loaded.items():
        for host in range(tree.n_hosts):
            if _has(tree, host, kind):
                title, element, scale = _element(tree, host, kind, 1.0)
                left = (LEFT if hosts[host] else 1.0) * scale
                extra += _use(title, element, kind, [(0.0, scale), (ONSET * run.horizon, left)])
    return {"platform": _with(tree.platform(), extra)}


def _others_transfer(run: _Run) -> Arguments:
    """Let others transfer data over half of the links, on and off."""
    tree, mean = run.tree, run.horizon / TRANSFERS
    used = np.flatnonzero(run.draws.random(tree.n_hosts) < SHARED)
    others: list[Placement] = []
    for host in used[used > 0].tolist():
        name, parent = tree.hosts[host], tree.hosts[tree.parent[host]]
        given = (name, int(run.draws.integers(2**62)), mean, float(tree.bandwidth[host]))
        others.append(Placement(parent, _give, given, name=f"gives {name}", daemon=True))
        others.append(Placement(name, _take, (name,), name=f"{name} takes", daemon=True))
    return {"others": others}


def _hosts_fail(run: _Run) -> Arguments:
    """Let some hosts, not the root, fail once and come back; their tasks are lost."""
    tree = run.tree
    failing = np.flatnonzero(run.draws.random(tree.n_hosts) < FAILING)
    start = run.draws.uniform(0.0, 1.0, tree.n_hosts) * run.horizon
    extra: list[Profile | ProfileUse] = []
    for host in failing[failing > 0].tolist():
        name = f"state of {tree.hosts[host]}"
        points = [(float(start[host]), 0.0), (float(start[host]) + OUTAGE * run.horizon, 1.0)]
        extra += _use(name, tree.hosts[host], "HOST_AVAIL", points)
    return {"platform": _with(tree.platform(), extra), "failures": True}


# Conditions by name. In SimGrid's default model, LV08 with cross-traffic, headers take 3 % of
# bandwidths and acknowledgements 5 % of the way back: of tasks, which go down, these slow requests
# only, which go up. With long latencies its TCP window bounds bandwidths.
CONDITIONS: Mapping[str, Callable[[_Run], Arguments]] = {
    "plain": lambda _: {},
    "default model": lambda _: {"options": SimGridOptions()},
    "default model, no cross-traffic": lambda _: {"options": SimGridOptions(crosstraffic=False)},
    "latency 6 ms": _latency,
    "latency 6 ms to 10 s": _latencies,
    "default model, latency 6 ms to 10 s": (
        lambda run: _latencies(run) | {"options": SimGridOptions()}
    ),
    "others transfer": _others_transfer,
    "speeds vary": lambda run: _varying(run, "SPEED"),
    "bandwidths vary": lambda run: _varying(run, "BANDWIDTH"),
    "availability": lambda run: _varying(run, "SPEED", "BANDWIDTH"),
    "load comes": _load_comes,
    SLOWS: _one_slows,
    "hosts fail": _hosts_fail,
}


def _late(tree: Tree, latency: NDArray[np.float64]) -> Platform:
    """Return the platform with other latencies."""
    return replace(tree, latency=np.where(tree.parent < 0, 0.0, latency)).platform()


def _has(tree: Tree, host: int, kind: str) -> bool:
    """Return True if a host has a speed, or a link from its parent."""
    return bool(tree.speed[host] > 0) if kind == "SPEED" else host > 0


def _element(tree: Tree, host: int, kind: str, peak: float) -> tuple[str, str, float]:
    """Return the name of a profile, who follows it, and what makes its values of factors."""
    name = tree.hosts[host]
    if kind == "SPEED":
        return f"speed of {name}", name, 1 / peak
    parent = tree.hosts[tree.parent[host]]
    return f"bandwidth to {name}", f"{parent}->{name}", float(tree.bandwidth[host])


def _use(
    title: str, element: str, kind: str, points: list[tuple[float, float]]
) -> list[Profile | ProfileUse]:
    """Return a profile and its only user."""
    return [Profile.of_points(title, points), ProfileUse(title, element, kind)]


def _with(platform: Platform, extra: list[Profile | ProfileUse]) -> Platform:
    """Return a platform with profiles."""
    return replace(platform, elements=(*platform.elements, *extra))


async def _give(me: Actor, name: str, seed: int, mean: float, bandwidth: float) -> None:
    """Transfer data of others to a host, and pause, in turn."""
    draws, box = np.random.default_rng(seed), me.mailbox(f"of others for {name}")
    while True:
        await me.sleep_for(float(draws.exponential(mean)))
        await box.put(None, float(draws.exponential(mean)) * bandwidth, label="of others")


async def _take(me: Actor, name: str) -> None:
    """Receive data of others."""
    box = me.mailbox(f"of others for {name}")
    while True:
        await box.get()
