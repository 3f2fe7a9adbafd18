"""Shipped generators of platforms, as scenarios and the command call them."""

from __future__ import annotations

# As module:function; loaded when one is asked for.
GENERATORS: dict[str, str] = {
    "grid5000_subset": f"{__name__}.multi_clusters:grid5000_subset",
    "multi_cluster": f"{__name__}.multi_clusters:multi_cluster",
    "peer_grid": f"{__name__}.peers:peer_grid",
    "peer_site": f"{__name__}.peers:peer_site",
    "random_graph": f"{__name__}.graphs:random_graph",
    "random_tree": f"{__name__}.graphs:random_tree",
}
