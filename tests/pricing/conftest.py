"""Deployments that every method of negotiation is tried on."""

from __future__ import annotations

import numpy as np
import pytest

from simplugin import Host, Link, Platform, Route, Zone
from simplugin.platforms.graphs import Graph
from simplugin.pricing.deployment import deploy
from simplugin.workloads import Application, Sharing


def five_hosts():
    """The report's applications, on its five equal hosts."""
    graph = Graph.duplex("ABCDE", np.full(5, 5e8), [(0, 1), (0, 2), (2, 3), (3, 4)], 5e8)
    applications = [
        Application("1", "D", 5000, 1000),
        Application("2", "A", 800, 2000),
        Application("3", "C", 1500, 1500),
    ]
    return graph, applications, deploy(graph, applications)


def random_graph(seed=3, n_hosts=14):
    """A tree with three more edges, nothing equal, some hosts that may not compute."""
    rng = np.random.default_rng(seed)
    ends = [(int(rng.integers(0, i)), i) for i in range(1, n_hosts)]
    more = {tuple(sorted(rng.choice(n_hosts, 2, replace=False).tolist())) for _ in range(3)}
    ends += [pair for pair in more if pair not in ends]
    graph = Graph.duplex(
        [f"h{i}" for i in range(n_hosts)],
        np.where(np.arange(n_hosts) % 5 == 4, 0.0, 5e8 * 10 ** rng.uniform(-1, 1, n_hosts)),
        ends,
        5e8 * 10 ** rng.uniform(-1, 1, (len(ends), 2)),
        1e-3 * 10 ** rng.uniform(-1, 1, len(ends)),
    )
    masters = rng.choice(n_hosts, 4, replace=False).tolist()
    applications = [
        Application(
            f"k{k}",
            f"h{master}",
            float(1000 * 10 ** rng.uniform(0, 1)),
            float(1000 * 10 ** rng.uniform(-1, 0)),
            weight=1.0 + k,
            hosts=tuple(f"h{i}" for i in range(n_hosts) if (i + k) % 3) if k == 1 else None,
        )
        for k, master in enumerate(masters)
    ]
    return graph, applications, deploy(graph, applications)


def backbone():
    """A star whose routes have three links, the middle one the same for all, and two masters.

    The agents of a route stand in a chain on its last host, and those of all routes of one
    master share the link from it.
    """
    names = ("m", "u", "v", "w")
    speed = np.array([2e8, 3e8, 5e8, 8e8])
    bandwidth = {"up": (4e8, 3e8, 5e8, 6e8), "down": (5e8, 1e8, 2e8, 6e8)}
    links = {
        f"{name}-{way}": Link(f"{name}-{way}", bandwidth[way][i], 1e-3)
        for i, name in enumerate(names)
        for way in ("up", "down")
    }
    links["backbone"] = Link("backbone", 3e8, 2e-3)
    routes = {(a, b): [f"{a}-up", "backbone", f"{b}-down"] for a in names for b in names if a != b}
    zone = Zone(
        "star",
        "Full",
        (*(Host(n, s) for n, s in zip(names, speed.tolist(), strict=True)), *links.values()),
        tuple(Route(*ends, way, symmetrical=False) for ends, way in routes.items()),
    )
    rows = []
    for k, master in enumerate("mu"):
        rows.append((0, k, names.index(master), None, -1, True, (k, master, -1)))
        for other in names:
            if other == master:
                continue
            for hop, link in enumerate(routes[master, other]):
                before = (k, master, -1) if hop == 0 else (k, other, hop - 1)
                rows.append(
                    (
                        hop + 1,
                        k,
                        names.index(other),
                        before,
                        list(links).index(link),
                        hop == 2,
                        (k, other, hop),
                    )
                )
    rows.sort(key=lambda row: (row[0], row[1]))
    place = {row[6]: i for i, row in enumerate(rows)}
    sharing = Sharing(
        ("k0", "k1"),
        names,
        tuple(links),
        np.array([2000.0, 1000.0]),
        np.array([1000.0, 500.0]),
        np.array([1.0, 2.0]),
        speed,
        np.array([link.bandwidth for link in links.values()]),
        np.array([row[1] for row in rows]),
        np.array([row[2] for row in rows]),
        np.array([-1 if row[3] is None else place[row[3]] for row in rows]),
        np.array([row[4] for row in rows]),
        np.array([row[5] for row in rows]),
    )
    return Platform((zone,)), None, sharing


CASES = {"five hosts": five_hosts, "random graph": random_graph, "backbone": backbone}


@pytest.fixture(params=CASES, scope="session")
def deployment(request):
    """A platform, applications (or None) and their deployment."""
    return CASES[request.param]()


@pytest.fixture(scope="session")
def uneven():
    """The deployment of the random graph, the most general one."""
    return random_graph()[2]
