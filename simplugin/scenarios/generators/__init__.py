"""Shipped generators of platforms, as scenarios and the command call them."""

from __future__ import annotations

_OF_MODULES = {
    "peers": ("peer_grid", "peer_site"),
    "sites": ("federation", "grid5000", "grid5000_subset", "multi_cluster", "switched_hosts"),
    "topologies": (
        *("chain", "complete_tree", "dragonfly", "fat_tree", "five_hosts", "flat_cluster", "grid"),
        *("preferential_attachment", "random_geometric", "random_graph", "random_tree", "ring"),
        *("small_world", "star", "torus", "two_topologies"),
    ),
}
# As module:function; each is loaded on first use.
GENERATORS = {
    name: f"{__name__}.{module}:{name}"
    for name, module in sorted(
        (name, module) for module, names in _OF_MODULES.items() for name in names
    )
}
