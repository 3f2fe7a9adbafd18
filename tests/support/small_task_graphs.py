"""Small task graphs and sites: given ones, and ones drawn from seeds."""

from dataclasses import replace

import numpy as np
import small_graphs

from simplugin.platforms.sites import MultiCluster, Site
from simplugin.workloads.task_graphs import GraphSet, TaskGraph

# Nothing of the paper's sites has such numbers: bounds are easy to compute by hand.
EVEN = MultiCluster("even", (("a", 4, 1e9),)).site()
TWO = MultiCluster("two", (("a", 3, 1e9), ("b", 2, 2e9)), one_switch=False).site()


def graph_of(flop, edges=(), *, alpha=0.0, byte=0.0, name="g") -> TaskGraph:
    """Return a graph from its tasks' sizes and its edges, with as many bytes on each."""
    return small_graphs.graph_of(name, flop, edges, byte, alpha)


def random_graph(rng: np.random.Generator, n: int, name: str) -> TaskGraph:
    """Return a graph of tasks of very different sizes; some have no data, some no work."""
    pairs = [(u, v) for u in range(n) for v in range(u + 1, n) if rng.random() < 0.35]
    return graph_of(
        1e9 * 10 ** rng.uniform(-1, 1, n) * (rng.random(n) > 0.1),
        pairs,
        alpha=rng.choice([0.0, 0.1, 0.25, 1.0], n),
        byte=2e8 * rng.random(len(pairs)) * (rng.random(len(pairs)) > 0.3),
        name=name,
    )


def random_site(rng: np.random.Generator, most: int) -> Site:
    """Return one to three clusters, each of at most so many processors."""
    clusters = tuple(
        (f"c{k}", int(rng.integers(1, most + 1)), 1e9 * rng.uniform(0.5, 2))
        for k in range(rng.integers(1, 4))
    )
    site = MultiCluster("site", clusters, one_switch=bool(rng.random() < 0.5)).site()
    return replace(site, bandwidth=site.bandwidth * rng.uniform(0.5, 2, len(clusters)))


def random_set(seed: int, n_graphs: int, n_tasks: int, most: int) -> tuple[GraphSet, Site]:
    """Return graphs that arrive over time, and a site for them."""
    rng = np.random.default_rng(seed)
    graphs = tuple(random_graph(rng, n_tasks, f"g{i}") for i in range(n_graphs))
    release = rng.uniform(0, 3, n_graphs) * (rng.random(n_graphs) > 0.4)
    return GraphSet(graphs, release), random_site(rng, most)
