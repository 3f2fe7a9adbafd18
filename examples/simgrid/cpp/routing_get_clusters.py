"""The clusters of a platform and their hosts: SimGrid's ``routing-get-clusters``."""

from itertools import product
from pathlib import Path

from simplugin import Cluster
from simplugin.formats import read_platform


def tell(text):
    print(f"[0.000000] {text}")


def main(examples: Path, file: str):
    parts = [part for part, _ in read_platform(file).walk()]
    clusters = [part for part in parts if isinstance(part, Cluster)]
    for cluster in clusters:
        tell(cluster.id)
        for name in sorted(cluster.host_names()):
            tell(f"   {name}")
    for cluster in clusters:
        if cluster.topology == "DRAGONFLY":
            tell(f"{cluster.id}' dragonfly topology:")
            sizes = [int(part.split(",")[0]) for part in cluster.topology_parameters.split(";")]
            for rank, place in enumerate(product(*map(range, sizes))):
                tell(f"   {rank}: ({', '.join(map(str, place))})")
