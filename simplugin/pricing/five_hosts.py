"""The report's platform of five hosts, and all the trees that it may be."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from simplugin.platforms.graphs import Graph
from simplugin.pricing.deployment import deploy
from simplugin.pricing.gradient import Reading
from simplugin.workloads.applications import Application
from simplugin.workloads.sharing import Sharing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

HOSTS = ("A", "B", "C", "D", "E")
# Of every host [flop/s], and of every link in each direction [byte/s].
SPEED = BANDWIDTH = 5e8
APPLICATIONS = (
    Application("1", "D", flop=5000.0, byte=1000.0),
    Application("2", "A", flop=800.0, byte=2000.0),
    Application("3", "C", flop=1500.0, byte=1500.0),
)
# Figure 2 is a drawing without words. Heard one round late, throughputs give the report's 17
# rounds on most trees; on this one (like its mirror image, with B and E exchanged) also unscaled
# throughputs of between 5e5 and 6e5, as Figure 5 has them, and the count nearest to 498.
TREE = ("AD", "AB", "BC", "CE")
# Not a tree but a ring with a host beside: where throughputs are heard in the same round, the
# count nearest to 83.
RING = ("AB", "AC", "CD", "BD", "BE")

# The reading of the report's experiments: an agent forwards the throughput that it last heard.
REPORTED = Reading(late=True)


def five_hosts(edges: Sequence[str] = TREE) -> Sharing:
    """Return the report's three applications, deployed over five hosts.

    Parameters
    ----------
    edges : sequence of str
        The neighbours, two letters an edge.

    Returns
    -------
    Sharing
        Each application has the breadth-first tree from its master.
    """
    ends = np.array([[HOSTS.index(end) for end in edge] for edge in edges], dtype=np.int64)
    speed = np.full(len(HOSTS), SPEED)
    graph = Graph.duplex(HOSTS, speed, ends, np.full(len(ends), BANDWIDTH))
    return deploy(graph, APPLICATIONS)


def all_trees() -> tuple[tuple[str, ...], ...]:
    """Return the edges of each of the 125 trees over the five hosts, by their Prüfer sequences."""
    return tuple(_tree(code) for code in product(range(len(HOSTS)), repeat=len(HOSTS) - 2))


def _tree(code: tuple[int, ...]) -> tuple[str, ...]:
    """Return the edges of the tree that has a Prüfer sequence."""
    degree = [1 + code.count(host) for host in range(len(HOSTS))]
    edges = []
    for host in code:
        leaf = degree.index(1)
        edges.append((leaf, host))
        degree[leaf] -= 1
        degree[host] -= 1
    edges.append((degree.index(1), len(HOSTS) - 1))
    return tuple("".join(HOSTS[end] for end in sorted(edge)) for edge in edges)


def side_by_side(parts: Sequence[Sharing]) -> Sharing:
    """Return problems that have nothing to do with each other as one.

    An iteration of all is then the iterations of each, to the last bit, in one go.

    Parameters
    ----------
    parts : sequence of Sharing
        The problems; names get their number before them.

    Returns
    -------
    Sharing
        Applications, hosts and links of each follow those of the one before.
    """
    agents = np.cumsum([0] + [part.n_agents for part in parts])
    depth = np.concatenate([part.depth for part in parts])
    order = np.argsort(depth, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    father = _shifted([part.father for part in parts], agents.tolist())[order]
    hosts = np.cumsum([0] + [part.n_hosts for part in parts]).tolist()
    links = np.cumsum([0] + [part.n_links for part in parts]).tolist()
    owners = np.cumsum([0] + [part.n_applications for part in parts]).tolist()
    return Sharing(
        tuple(f"{i}:{name}" for i, part in enumerate(parts) for name in part.applications),
        tuple(f"{i}:{name}" for i, part in enumerate(parts) for name in part.hosts),
        tuple(f"{i}:{name}" for i, part in enumerate(parts) for name in part.links),
        np.concatenate([part.flop for part in parts]),
        np.concatenate([part.byte for part in parts]),
        np.concatenate([part.weight for part in parts]),
        np.concatenate([part.speed for part in parts]),
        np.concatenate([part.bandwidth for part in parts]),
        _shifted([part.application for part in parts], owners)[order],
        _shifted([part.host for part in parts], hosts)[order],
        np.where(father >= 0, place[father], -1),
        _shifted([part.link for part in parts], links)[order],
        np.concatenate([part.computes for part in parts])[order],
    )


def _shifted(columns: Sequence[NDArray[np.int64]], offsets: Sequence[int]) -> NDArray[np.int64]:
    """Return columns one after the other, numbers from 0 on shifted by an offset each."""
    pairs = zip(columns, offsets, strict=False)
    return np.concatenate([np.where(column >= 0, column + start, -1) for column, start in pairs])
