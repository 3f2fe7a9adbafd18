"""Measurement of speeds and bandwidths by the hosts of a tree, within the simulation."""

from __future__ import annotations

import math
import os
from dataclasses import replace
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from simplugin.bags.policy import TreePosition
from simplugin.core.errors import PlatformError
from simplugin.platforms import Platform
from simplugin.platforms.graphs import Tree
from simplugin.simulation import SimGridOptions, simulate
from simplugin.simulation.api import Actor
from simplugin.simulation.options import SimulationKeywords, with_defaults
from simplugin.simulation.placement import Placement
from simplugin.workloads.applications import Bags

# The first probes [flop, byte], from which the size of the second ones follows.
FIRST_FLOP, FIRST_BYTE = 1e6, 1e4
# Duration of the second ones [s].
LENGTH = 1.0
# Least difference of dates in SimGrid [s].
INSTANT = 1e-9


def measure(
    tree: Tree,
    bags: Bags | None = None,
    *,
    platform: Platform | str | os.PathLike[str] | None = None,
    **simulation: Unpack[SimulationKeywords],
) -> Tree:
    """Return a tree with the speeds and bandwidths that its hosts measure.

    Each host computes two small probes, and each parent sends two to each child, one child after
    the other, so that what a byte takes and what a message takes come apart. No probe is as large
    as a task; what a task would get follows from the two.

    Parameters
    ----------
    tree : Tree
        Whose hosts; those of speed 0 compute nothing, and keep it.
    bags : Bags, optional
        The tasks. The bandwidths are what transfers of one task of each application get, latencies
        included; what the transfer of many bytes gets without.
    platform : Platform or path, optional
        The platform to simulate instead of ``tree.platform()``.
    **simulation
        Options of the simulation, fields of `simplugin.simulation.SimulationOptions`; by default
        ``options=SimGridOptions.linear()`` and ``trace=False``.

    Returns
    -------
    Tree
        The same hosts. Its latencies are those of small messages, for information: they are part
        of the bandwidths of tasks already.
    """
    placements = []
    for number, name in enumerate(tree.hosts):
        given = TreePosition.of(tree, number), bool(tree.speed[number] > 0)
        placements.append(Placement(name, _probe, given, name=f"probe {name}"))
    result = simulate(
        tree.platform() if platform is None else platform,
        placements,
        **with_defaults(simulation, SimGridOptions.linear()),
    )
    speed = np.zeros(tree.n_hosts)
    bandwidth, latency = np.full(tree.n_hosts, math.inf), np.zeros(tree.n_hosts)
    # Of one task of each application.
    byte = 0.0 if bags is None else float(bags.byte.sum())
    for number, each in enumerate(result.returned[: tree.n_hosts]):
        speed[number], links = each.value
        for child, (rate, late) in zip(tree.children[number], links, strict=True):
            bandwidth[child], latency[child] = rate, late
            if bags is not None and byte:
                bandwidth[child] = byte / (bags.n_applications * late + byte / rate)
    return replace(tree, speed=speed, bandwidth=bandwidth, latency=latency)


def with_errors(
    tree: Tree, spread: float, generator: np.random.Generator
) -> tuple[Tree, NDArray[np.float64]]:
    """Return a tree as measured with errors, and the errors.

    Parameters
    ----------
    tree : Tree
        As it is.
    spread : float
        By what part measurements may be off, either way; in [0, 1).
    generator : numpy.random.Generator
        Source of the errors, which are uniform.

    Returns
    -------
    tree : Tree
        As measured.
    bias : float64, shape (n_hosts, 2)
        Factors of each speed, and of the bandwidth from the parent; see `execute`.

    Raises
    ------
    PlatformError
        The spread is out of its range.
    """
    if not 0 <= spread < 1:
        raise PlatformError(f"spread is {spread!r}; give a part of 1, for instance 0.2")
    bias = generator.uniform(1 - spread, 1 + spread, (tree.n_hosts, 2))
    return replace(tree, speed=tree.speed * bias[:, 0], bandwidth=tree.bandwidth * bias[:, 1]), bias


async def _probe(
    me: Actor, place: TreePosition, computes: bool
) -> tuple[float, list[tuple[float, float]]]:
    """Return the host's speed, and the bandwidth and latency to each child."""
    if place.parent is not None:
        me.spawn(_receive, place.name, name=f"{place.name} receives", daemon=True)
    speed, links = 0.0, []
    if computes:
        start = me.now
        await me.execute(FIRST_FLOP, label="probe")
        flop = FIRST_FLOP * max(LENGTH / max(me.now - start, INSTANT), 1.0)
        start = me.now
        await me.execute(flop, label="probe")
        speed = flop / (me.now - start)
    for child in place.children:
        box = me.mailbox(f"probes for {child}")
        start = me.now
        await box.put(None, FIRST_BYTE, label="probe")
        first = me.now - start
        size = float(math.ceil(2 * FIRST_BYTE + FIRST_BYTE / max(first, INSTANT) * LENGTH))
        start = me.now
        await box.put(None, size, label="probe")
        rate = (size - FIRST_BYTE) / (me.now - start - first)
        links.append((rate, max(first - FIRST_BYTE / rate, 0.0)))
    return speed, links


async def _receive(me: Actor, name: str) -> None:
    """Take the parent's probes."""
    while True:
        await me.mailbox(f"probes for {name}").get()
