"""Hosts joined by links between neighbours, as scenarios ask for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from simplugin.platforms import Platform, random_graphs, random_trees


def random_graph(seed: int = 0, **parameters: Any) -> Platform:
    """Return a random platform of hosts and links between neighbours.

    Parameters
    ----------
    seed : int
        Of the draws.
    **parameters
        Those of `simplugin.platforms.random_graphs.random_graph`, the generator apart.
    """
    generator = np.random.default_rng(seed)
    return random_graphs.random_graph(generator=generator, **parameters).platform()


def random_tree(seed: int = 0, **parameters: Any) -> Platform:
    """Return a random tree of hosts, ``n0`` its root.

    Parameters
    ----------
    seed : int
        Of the draws.
    **parameters
        Those of `simplugin.platforms.random_trees.random_tree`, the generator apart.
    """
    generator = np.random.default_rng(seed)
    return random_trees.random_tree(generator=generator, **parameters).platform()
