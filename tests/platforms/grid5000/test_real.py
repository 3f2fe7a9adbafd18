"""The platform that the real reference of Grid'5000 comes to, against its nodes as they stand."""

import json
import math
import tarfile
from collections import defaultdict

import pytest

from simplugin.formats.grid5000.reference import read_reference
from simplugin.platforms import Cluster
from simplugin.platforms.grid5000.platform import grid5000_platform
from simplugin.simulation.resolve import resolve


@pytest.fixture(scope="module")
def reference(shared_data):
    return shared_data / "grid5000/reference-2026-03.tar.xz"


@pytest.fixture(scope="module")
def nodes(reference):
    """Nodes as the reference has them, by the host's name."""
    found = {}
    with tarfile.open(reference) as archive:
        for member in archive:
            parts = member.name.split("/")
            if member.isfile() and "nodes" in parts:
                node = json.load(archive.extractfile(member))
                site = parts[parts.index("sites") + 1]
                found[f"{node['uid']}.{site}.grid5000.fr"] = node
    return found


@pytest.fixture(scope="module")
def real(reference):
    facts, _ = read_reference(reference)
    return facts


def test_totals_are_the_reference_s(real, nodes):
    found = resolve(grid5000_platform(real))
    assert {host.name for host in found.hosts} == set(nodes)
    cores, speed, printed = defaultdict(int), defaultdict(list), defaultdict(list)
    for host in found.hosts:
        node, site = nodes[host.name], host.name.split(".")[1]
        assert host.cores == node["architecture"]["nb_cores"]
        cores[site] += host.cores
        speed[site].append(host.cores * host.speed)
        printed[site].append(node["performance"]["node_flops"])
    assert len(found.hosts) == 939
    assert len(cores) == 11
    for site in real.sites:
        assert cores[site.uid] == site.core_count
        assert math.fsum(speed[site.uid]) == site.speed
        assert site.speed == pytest.approx(math.fsum(printed[site.uid]), rel=1e-14)


def test_adapters_have_the_reference_s_rates(real, nodes):
    platform = grid5000_platform(real)
    clusters = [part for part, _ in platform.walk() if isinstance(part, Cluster)]
    for cluster in clusters:
        for name in cluster.host_names():
            rates = [
                adapter["rate"]
                for adapter in nodes[name]["network_adapters"]
                if adapter.get("mounted") and adapter["interface"] == "Ethernet"
            ]
            # Where there are several, which one is used is the reader's choice.
            assert cluster.bandwidth * 8 in rates
    assert sum(cluster.host_count for cluster in clusters) == len(nodes)
