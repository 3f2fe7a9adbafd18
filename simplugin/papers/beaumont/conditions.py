"""Conditions that the plain model leaves out: networks, changes of the platform, failures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplugin.elementary import exp, log
from simplugin.errors import WorkloadError
from simplugin.optimum.steady_state import steady_state
from simplugin.papers.beaumont.instances import FLOP, LEAST_RATIO, TASKS
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
# The conditions that depend on the applications.
SLOWS = "one host slows"
# A latency of a wide-area link, and the range that section 6.1.2 prints [s].
LATENCY, LATENCIES = 6e-3, (6e-3, 10.0)

# Arguments of `execute` besides the tree, the bags and the policy.
Arguments = dict[str, Any]


def arguments(
    name: str,
    tree: Tree,
    generator: np.random.Generator,
    horizon: float | None = None,
    bags: Bags | None = None,
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
    horizon : float, optional
        Approximate duration of a run [s], as changes come a number of times in a run; by default
        that of two applications of the campaign if all hosts compute all the time.
    bags : Bags, optional
        The applications, on which the host that slows depends; by default products of matrices
        with the least data of the campaign.

    Returns
    -------
    dict
        ``platform`` and ``options``, and where needed ``failures`` or ``others``.

    Raises
    ------
    WorkloadError
        The conditions are unknown.
    """
    if name not in CONDITIONS:
        raise WorkloadError(f"no condition is called {name!r}; give {', '.join(CONDITIONS)}")
    if horizon is None:
        horizon = 2 * TASKS * FLOP / float(tree.speed.sum())
    usual = {"platform": tree.platform(), "options": SimGridOptions.linear()}
    if name == SLOWS:
        return usual | _one_slows(tree, generator, horizon, bags)
    return usual | CONDITIONS[name](tree, generator, horizon)


def _plain(tree: Tree, generator: np.random.Generator, horizon: float) -> Arguments:
    """Let nothing happen."""
    del tree, generator, horizon
    return {}


def _default_model(tree: Tree, generator: np.random.Generator, horizon: float) -> Arguments:
    """Take SimGrid's default model, LV08 with cross-traffic.

    Headers take 3 % of bandwidths, acknowledgements 5 % of the way back: of tasks, which go down,
    these slow requests only, which go up.
    """
    del tree, generator, horizon
    return {"options": SimGridOptions()}


def _no_cross_traffic(tree: Tree, generator: np.random.Generator, horizon: float) -> Arguments:
    """Take the default model without acknowledgements."""
    del tree, generator, horizon
    return {"options": SimGridOptions(crosstraffic=False)}


def _latency(tree: Tree, generator: np.random.Generator, horizon: float) -> Arguments:
    """Give every link the latency of a wide-area link."""
    del generator, horizon
    return {"platform": _late(tree, np.full(tree.n_hosts, LATENCY)).platform()}


def _latencies(tree: Tree, generator: np.random.Generator, horizon: float) -> Arguments:
    """Give links latencies in the range that the paper prints, drawn log-uniformly."""
    del horizon
    low, high = log(LATENCIES).tolist()
    late = exp(generator.uniform(low, high, tree.n_hosts))
    return {"platform": _late(tree, late).platform()}


def _default_latencies(tree: Tree, generator: np.random.Generator, horizon: float) -> Arguments:
    """Take these under SimGrid's default model, whose TCP window then bounds bandwidths."""
    return _latencies(tree, generator, horizon) | {"options": SimGridOptions()}


def _speeds_vary(tree: Tree, generator: np.random.Generator, horizon: float) -> Arguments:
    """Draw the speed of every host anew now and then; its mean is that of the tree."""
    return {"platform": _varying(tree, generator, horizon, ("SPEED",))}


def _bandwidths_vary(tree: Tree, generator: np.random.Generator, horizon: float) -> Arguments:
    """Draw the bandwidth of every link anew now and then."""
    return {"platform": _varying(tree, generator, horizon, ("BANDWIDTH",))}


def _both_vary(tree: Tree, generator: np.random.Generator, horizon: float) -> Arguments:
    """Draw speeds and bandwidths anew now and then."""
    return {"platform": _varying(tree, generator, horizon, ("SPEED", "BANDWIDTH"))}


def _load_comes(tree: Tree, generator: np.random.Generator, horizon: float) -> Arguments:
    """Take half of some speeds and bandwidths away early in the run, for good."""
    values = {}
    for kind in ("SPEED", "BANDWIDTH"):
        loaded = generator.random(tree.n_hosts) < LOADED
        after = np.where(loaded, LEFT, 1.0)
        values[kind] = [(0.0, np.ones(tree.n_hosts)), (ONSET * horizon, after)]
    return {"platform": _following(tree, values)}


def _one_slows(
    tree: Tree, generator: np.random.Generator, horizon: float, bags: Bags | None = None
) -> Arguments:
    """Let the host with most work at the optimum be half as fast from some time on, for good."""
    del generator
    if bags is None:
        # The products of matrices of the campaign, with the least data.
        flop, byte = np.array([FLOP]), np.array([LEAST_RATIO * FLOP])
        bags = Bags(("product",), flop, byte, np.ones(1), np.ones(1, dtype=np.int64))
    host = int(np.argmax((steady_state(tree, bags).compute * bags.flop).sum(axis=1)))
    factors = np.ones(tree.n_hosts)
    factors[host] = LEFT
    values = {"SPEED": [(0.0, np.ones(tree.n_hosts)), (ONSET * horizon, factors)]}
    return {"platform": _following(tree, values)}


def _others_transfer(tree: Tree, generator: np.random.Generator, horizon: float) -> Arguments:
    """Let others transfer data over half of the links, on and off."""
    used = np.flatnonzero(generator.random(tree.n_hosts) < SHARED)
    others: list[Placement] = []
    for host in used[used > 0].tolist():
        name, parent = tree.hosts[host], tree.hosts[tree.parent[host]]
        mean = horizon / TRANSFERS
        given = (name, int(generator.integers(2**62)), mean, float(tree.bandwidth[host]))
        others.append(Placement(parent, _give, given, name=f"gives {name}", daemon=True))
        others.append(Placement(name, _take, (name,), name=f"{name} takes", daemon=True))
    return {"others": others}


def _hosts_fail(tree: Tree, generator: np.random.Generator, horizon: float) -> Arguments:
    """Let some hosts, not the root, fail once and come back; their tasks are lost."""
    failing = np.flatnonzero(generator.random(tree.n_hosts) < FAILING)
    start = generator.uniform(0.0, 1.0, tree.n_hosts) * horizon
    extra: list[Profile | ProfileUse] = []
    for host in failing[failing > 0].tolist():
        name = f"state of {tree.hosts[host]}"
        points = [(float(start[host]), 0.0), (float(start[host]) + OUTAGE * horizon, 1.0)]
        extra += _use(name, tree.hosts[host], "HOST_AVAIL", points)
    return {"platform": _with(tree.platform(), extra), "failures": True}


# Conditions by name.
CONDITIONS: Mapping[str, Callable[[Tree, np.random.Generator, float], Arguments]] = {
    "plain": _plain,
    "default model": _default_model,
    "default model, no cross-traffic": _no_cross_traffic,
    "latency 6 ms": _latency,
    "latency 6 ms to 10 s": _latencies,
    "default model, latency 6 ms to 10 s": _default_latencies,
    "others transfer": _others_transfer,
    "speeds vary": _speeds_vary,
    "bandwidths vary": _bandwidths_vary,
    "availability": _both_vary,
    "load comes": _load_comes,
    SLOWS: _one_slows,
    "hosts fail": _hosts_fail,
}


def _late(tree: Tree, latency: NDArray[np.float64]) -> Tree:
    """Return the tree with other latencies."""
    return replace(tree, latency=np.where(tree.parent < 0, 0.0, latency))


def _varying(
    tree: Tree, generator: np.random.Generator, horizon: float, kinds: Iterable[str]
) -> Platform:
    """Return the platform on which what is named varies, each host and link on dates of its own.

    The draws last for two runs, then come again.
    """
    extra: list[Profile | ProfileUse] = []
    for kind in kinds:
        for host in range(tree.n_hosts):
            dates = np.cumsum(generator.exponential(horizon / DRAWS, 2 * DRAWS))
            values = generator.uniform(1 - SPREAD, 1 + SPREAD, 2 * DRAWS)
            if not _has(tree, host, kind):
                continue
            title, element, scale = _element(tree, host, kind, 1 + SPREAD)
            points = list(zip([0.0, *dates[:-1].tolist()], (values * scale).tolist(), strict=True))
            profile = Profile.of_points(title, points, period=float(dates[-1]))
            extra += [profile, ProfileUse(title, element, kind)]
    # A profile gives parts of the speed that a host has at most.
    peak = replace(tree, speed=tree.speed * (1 + SPREAD)) if "SPEED" in kinds else tree
    return _with(peak.platform(), extra)


def _following(
    tree: Tree, values: Mapping[str, list[tuple[float, NDArray[np.float64]]]]
) -> Platform:
    """Return the platform whose speeds and bandwidths are multiplied by values from dates on."""
    extra: list[Profile | ProfileUse] = []
    for kind, dated in values.items():
        for host in range(tree.n_hosts):
            if _has(tree, host, kind):
                title, element, scale = _element(tree, host, kind, 1.0)
                points = [(date, float(factors[host]) * scale) for date, factors in dated]
                extra += _use(title, element, kind, points)
    return _with(tree.platform(), extra)


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
