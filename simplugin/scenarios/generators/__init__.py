"""Shipped generators of platforms, as scenarios and the command call them."""

from __future__ import annotations

# As module:function; loaded when one is asked for.
GENERATORS: dict[str, str] = {
    "chain": f"{__name__}.topologies:chain",
    "complete_tree": f"{__name__}.topologies:complete_tree",
    "dragonfly": f"{__name__}.topologies:dragonfly",
    "fat_tree": f"{__name__}.topologies:fat_tree",
    "federation": f"{__name__}.sites:federation",
    "five_hosts": f"{__name__}.topologies:five_hosts",
    "flat_cluster": f"{__name__}.topologies:flat_cluster",
    "grid": f"{__name__}.topologies:grid",
    "grid5000": f"{__name__}.sites:grid5000",
    "grid5000_subset": f"{__name__}.sites:grid5000_subset",
    "multi_cluster": f"{__name__}.sites:multi_cluster",
    "peer_grid": f"{__name__}.peers:peer_grid",
    "peer_site": f"{__name__}.peers:peer_site",
    "preferential_attachment": f"{__name__}.topologies:preferential_attachment",
    "random_geometric": f"{__name__}.topologies:random_geometric",
    "random_graph": f"{__name__}.topologies:random_graph",
    "random_tree": f"{__name__}.topologies:random_tree",
    "ring": f"{__name__}.topologies:ring",
    "small_world": f"{__name__}.topologies:small_world",
    "star": f"{__name__}.topologies:star",
    "torus": f"{__name__}.topologies:torus",
    "two_topologies": f"{__name__}.topologies:two_topologies",
}
