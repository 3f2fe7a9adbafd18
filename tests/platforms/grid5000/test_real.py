"""The platform that the real reference of Grid'5000 comes to, against its nodes as they stand."""

import json
import math
import tarfile
from collections import defaultdict
from itertools import permutations

import pytest

from simplugin.formats.check import check
from simplugin.formats.grid5000.reference import read_reference
from simplugin.formats.platform_xml import read_platform, write_platform
from simplugin.platforms import Cluster, radical
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


@pytest.mark.parametrize("interconnect", ["ethernet", "fast"])
def test_totals_are_the_reference_s(real, nodes, interconnect):
    found = resolve(grid5000_platform(real, interconnect=interconnect))
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


def ways(facts):
    """From the first host of each group to its site and the way from the router to its switch."""
    found = {}
    for site in facts.sites:
        towards = {uplink.switch: uplink.towards for uplink in site.uplinks}
        for cluster in site.clusters:
            for group in cluster.groups:
                way = [group.adapter.switch or site.router]
                while way[-1] != site.router:
                    way.append(towards[way[-1]])
                number = next(radical.numbers(group.numbers))
                found[f"{cluster.uid}-{number}.{site.uid}.grid5000.fr"] = site.uid, way[::-1]
    return found


def cables_between(way, other):
    """Count the cables between two switches of a site, each given by the way to it."""
    same = sum(one == two for one, two in zip(way, other, strict=False))
    return len(way) + len(other) - 2 * same


def test_all_groups_connect_over_their_cables(real):
    way = ways(real)
    first = {}
    for host, (site, _) in way.items():
        first.setdefault(site, host)
    # All pairs of a site. Between sites a route is that to the router, the backbone, and that from
    # the other router: each group goes to the first one of each other site, and back.
    pairs = [(one, two) for one, two in permutations(way, 2) if way[one][0] == way[two][0]]
    for host, (site, _) in way.items():
        for there in (other for name, other in first.items() if name != site):
            pairs += [(host, there), (there, host)]
    pairs = list(dict.fromkeys(pairs))
    found = resolve(grid5000_platform(real), pairs)
    assert not found.unreachable
    assert len(found.routes) == len(pairs) > 20 * len(way)
    for route in found.routes:
        (site, up), (other, down) = way[route.source], way[route.destination]
        crossed = [link for link in route.links if "renater" in link]
        assert bool(crossed) == (site != other)
        # Between sites each way leads to its router, the first of it.
        cables = cables_between(up, down) if site == other else len(up) + len(down) - 2
        rest = [link for link in route.links if "patch" not in link and link not in crossed]
        assert len(rest) == 2 + cables, route


@pytest.mark.parametrize("interconnect", ["ethernet", "fast"])
def test_all_hosts_of_a_group_connect(real, interconnect):
    platform = grid5000_platform(real, interconnect=interconnect)
    names = [list(part.host_names()) for part, _ in platform.walk() if isinstance(part, Cluster)]
    pairs = [(first, last) for first, *_, last in (each for each in names if len(each) > 1)]
    assert len(pairs) > 50
    found = resolve(platform, [*pairs, *((last, first) for first, last in pairs)])
    assert not found.unreachable
    assert {len(route.links) for route in found.routes} == {2}


@pytest.mark.parametrize("interconnect", ["ethernet", "fast"])
def test_the_file_is_small_and_in_order(real, tmp_path, interconnect):
    platform = grid5000_platform(real, interconnect=interconnect)
    path = tmp_path / "grid5000.xml"
    write_platform(platform, path)
    assert path.stat().st_size < 150_000
    assert check([path]) == []
    assert read_platform(path) == platform
