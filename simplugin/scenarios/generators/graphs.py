"""Hosts joined by links between neighbours, as scenarios ask for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from simplugin.platforms import Platform
from simplugin.platforms.topologies import random_graphs, random_trees
from simplugin.platforms.topologies.random_trees import BANDWIDTHS, SPEEDS
from simplugin.scenarios.generators.capacities import Quantity, read_quantity, read_range
from simplugin.scenarios.generators.seeds import draws


def random_graph(
    shape: str,
    n_hosts: int,
    decades: float = 0.0,
    forwarding: float = 0.0,
    latency: Quantity = 1e-3,
    routing: str = "Full",
    seed: int = 0,
) -> Platform:
    """Return a random graph of hosts: one of the shapes on which prices are tried.

    Parameters
    ----------
    shape, n_hosts, decades, forwarding, latency
        Those of `simplugin.platforms.topologies.random_graphs.random_graph`.
    routing : str
        As in `simplugin.platforms.graphs.Graph.platform`: routes between neighbours only, or
        between all.
    seed : int
        Of the draws.
    """
    graph = random_graphs.random_graph(
        shape,
        n_hosts,
        draws(seed),
        decades=decades,
        forwarding=forwarding,
        latency=read_quantity("latency", latency),
    )
    return graph.platform(routing)


def random_tree(
    n_hosts: int,
    max_degree: int,
    speeds: Sequence[Any] = SPEEDS,
    bandwidths: Sequence[Any] = BANDWIDTHS,
    bandwidth_law: str = "log-uniform",
    latency: Quantity = 0.0,
    latencies: Sequence[Any] | None = None,
    root_computes: bool = True,
    routing: str = "Full",
    seed: int = 0,
) -> Platform:
    """Return a random tree of hosts, ``n0`` its root: those of Beaumont et al., but for latencies.

    Links have none if nothing is said; the paper's are ``latencies = ["6ms", "10s"]``.

    Parameters
    ----------
    n_hosts, max_degree, speeds, bandwidths, bandwidth_law, latency, latencies, root_computes
        Those of `simplugin.platforms.topologies.random_trees.random_tree`.
    routing : str
        As in `simplugin.platforms.graphs.Graph.platform`: routes between parents and children
        only, or between all.
    seed : int
        Of the draws.
    """
    tree = random_trees.random_tree(
        n_hosts,
        max_degree,
        draws(seed),
        speeds=read_range("speeds", speeds),
        bandwidths=read_range("bandwidths", bandwidths),
        bandwidth_law=bandwidth_law,  # type: ignore[arg-type]  # it looks itself
        latency=read_quantity("latency", latency),
        latencies=None if latencies is None else read_range("latencies", latencies),
        root_computes=root_computes,
    )
    return tree.platform(routing)
