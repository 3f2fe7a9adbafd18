"""Seeded problems on which methods are compared: platforms of all kinds, and what shares them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from simplugin.core.elementary import exp, log
from simplugin.platforms.graphs import Graph
from simplugin.platforms.topologies.random_graphs import random_graph
from simplugin.pricing.deployment import deploy
from simplugin.workloads.applications import FIVE_HOSTS_APPLICATIONS, Application
from simplugin.workloads.shared_deployment import SharedDeployment

SEED = 20061
HOSTS = 5, 200
APPLICATIONS = 2, 20

# The shapes of each family, taken in turn.
FAMILIES: dict[str, tuple[str, ...]] = {
    "trees": ("recursive", "preferential", "binary", "deep", "path"),
    "stars": ("star",),
    "clusters": ("clusters",),
    "cycles": ("small_world", "grid"),
}


@dataclass(frozen=True)
class Spread:
    """Heterogeneity of a platform and its applications.

    Attributes
    ----------
    decades : float
        Of speeds and bandwidths.
    forwarding : float
        The probability that a host only forwards.
    flop : pair of float, optional
        Computation of a task, least and most, log-uniform [flop]; None for the report's tasks.
    intensity : pair of float
        Data of a task per computation, least and most, log-uniform [byte/flop].
    """

    decades: float
    forwarding: float
    flop: tuple[float, float] | None
    intensity: tuple[float, float] = (0.1, 1.0)


SPREADS: dict[str, Spread] = {
    "homogeneous": Spread(0.0, 0.0, None),
    "mild": Spread(1.0, 0.0, (1e3, 1e4)),
    "strong": Spread(3.0, 0.1, (1e2, 1e6), (1e-3, 1e-1)),
}


@dataclass(frozen=True, eq=False)
class Instance:
    """A problem, and how it came about.

    Attributes
    ----------
    name : str
        Number, shape, hosts, spread and applications, e.g. ``000-recursive-17-mild-4``.
    family : str
        A key of `FAMILIES`.
    spread : str
        A key of `SPREADS`.
    graph : Graph
        The platform.
    applications : tuple of Application
        The applications, deployed breadth-first.
    sharing : SharedDeployment
        The problem.
    """

    name: str
    family: str
    spread: str
    graph: Graph
    applications: tuple[Application, ...]
    sharing: SharedDeployment


def instances(count: int = 200, seed: int = SEED) -> Iterator[Instance]:
    """Yield problems of all families and spreads in turn.

    Parameters
    ----------
    count : int
        Number of problems; fewer are the first of more.
    seed : int
        Of the draws.

    Yields
    ------
    Instance
        5 to 200 hosts (log-uniform), 2 to 20 applications (uniform), masters drawn evenly.
    """
    for number in range(count):
        yield instance(number, seed)


def instance(number: int, seed: int = SEED) -> Instance:
    """Return one problem; see `instances`."""
    generator = np.random.default_rng([seed, number])
    families = tuple(FAMILIES)
    family = families[number % len(families)]
    turn = number // len(families)
    kind = tuple(SPREADS)[turn % len(SPREADS)]
    shapes = FAMILIES[family]
    shape = shapes[turn // len(SPREADS) % len(shapes)]
    spread = SPREADS[kind]
    low, high = log(HOSTS)
    n_hosts = round(exp(generator.uniform(low, high)))
    n_applications = int(generator.integers(APPLICATIONS[0], APPLICATIONS[1] + 1))
    graph = random_graph(
        shape, n_hosts, generator, decades=spread.decades, forwarding=spread.forwarding
    )
    drawn = random_applications(graph, n_applications, spread, generator)
    name = f"{number:03d}-{shape}-{n_hosts}-{kind}-{n_applications}"
    return Instance(name, family, kind, graph, drawn, deploy(graph, drawn))


def random_applications(
    graph: Graph, count: int, spread: Spread, generator: np.random.Generator, first: int = 0
) -> tuple[Application, ...]:
    """Return applications with masters drawn evenly.

    Parameters
    ----------
    graph : Graph
        The platform.
    count : int
        Number of applications.
    spread : Spread
        Ranges of their tasks.
    generator : numpy.random.Generator
        Source of the draws.
    first : int
        The number in the name of the first, ``a<number>``.
    """
    drawn = []
    for number in range(first, first + count):
        master = graph.hosts[int(generator.integers(graph.n_hosts))]
        if spread.flop is None:
            task = FIVE_HOSTS_APPLICATIONS[number % len(FIVE_HOSTS_APPLICATIONS)]
            flop, byte = task.flop, task.byte
        else:
            flop = exp(generator.uniform(*log(spread.flop)))
            byte = flop * exp(generator.uniform(*log(spread.intensity)))
        drawn.append(Application(f"a{number}", master, flop, byte))
    return tuple(drawn)
