"""Deployments that every method of negotiation is tried on."""

from itertools import permutations

import numpy as np
import pytest

from simplugin import Host, Link, Platform, Route, Zone
from simplugin.platforms.graphs import Graph
from simplugin.platforms.topologies import shapes
from simplugin.pricing.deployment import deploy, sharing_of
from simplugin.workloads import Application
from simplugin.workloads.applications import FIVE_HOSTS_APPLICATIONS


def five_hosts():
    """The report's applications, on its five equal hosts."""
    graph = shapes.five_hosts(("AB", "AC", "CD", "DE"))
    return graph, FIVE_HOSTS_APPLICATIONS, deploy(graph, FIVE_HOSTS_APPLICATIONS)


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
    speed = {"m": 2e8, "u": 3e8, "v": 5e8, "w": 8e8}
    up, down = (4e8, 3e8, 5e8, 6e8), (5e8, 1e8, 2e8, 6e8)
    links = [Link(f"{name}-up", each, 1e-3) for name, each in zip(speed, up, strict=True)]
    links += [Link(f"{name}-down", each, 1e-3) for name, each in zip(speed, down, strict=True)]
    links.append(Link("backbone", 3e8, 2e-3))
    routes = [
        Route(a, b, [f"{a}-up", "backbone", f"{b}-down"], symmetrical=False)
        for a, b in permutations(speed, 2)
    ]
    hosts = [Host(name, each) for name, each in speed.items()]
    platform = Platform(Zone("star", "Full", [*hosts, *links], routes))
    applications = [
        Application("k0", "m", 2000.0, 1000.0),
        Application("k1", "u", 1000.0, 500.0, weight=2.0),
    ]
    return platform, applications, sharing_of(platform, applications)


CASES = {"five hosts": five_hosts, "random graph": random_graph, "backbone": backbone}


@pytest.fixture(params=CASES, scope="session")
def deployment(request):
    """A platform, applications and their deployment."""
    return CASES[request.param]()


@pytest.fixture(scope="session")
def uneven():
    """The deployment of the random graph, the most general one."""
    return random_graph()[2]
