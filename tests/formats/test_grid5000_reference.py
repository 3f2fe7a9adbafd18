"""The real reference of March 2026 against its own JSON, read here a second time."""

import json
import re
import tarfile
from collections import Counter
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from simplugin.formats.grid5000.catalogue import SHIPPED, catalogue_text, shipped_catalogue
from simplugin.formats.grid5000.reference import read_reference
from simplugin.platforms import radical
from simplugin.platforms.grid5000.facts import DataWarning, Grid5000

Facts = tuple[Grid5000, tuple[DataWarning, ...]]


@pytest.fixture(scope="module")
def archive(shared_data: Path) -> Path:
    path = shared_data / "grid5000/reference-2026-03.tar.xz"
    if not path.is_file():
        pytest.skip(f"there is no {path}")
    return path


@pytest.fixture(scope="module")
def raw(archive: Path) -> dict[str, dict[str, Any]]:
    """Every JSON file, by its path below data/grid5000."""
    with tarfile.open(archive) as tar:
        return {
            member.name.removeprefix("data/grid5000/"): json.load(stream)
            for member in tar
            if member.name.endswith(".json") and (stream := tar.extractfile(member)) is not None
        }


@pytest.fixture(scope="module")
def answer(archive: Path) -> Facts:
    return read_reference(archive)


@pytest.fixture(scope="module")
def nodes(raw: dict[str, dict[str, Any]]) -> dict[str, tuple[str, str, dict[str, Any]]]:
    """Site, cluster and content of each node."""
    found = {}
    for name, content in raw.items():
        match = re.fullmatch(r"sites/(\w+)/clusters/(\w+)/nodes/.*", name)
        if match:
            found[content["uid"]] = (match[1], match[2], content)
    return found


def test_each_node_is_in_one_group_that_says_what_its_file_says(answer, nodes):
    facts, _ = answer
    seen = []
    clusters = [(site, cluster) for site in facts.sites for cluster in site.clusters]
    groups = [(site, cluster, group) for site, cluster in clusters for group in cluster.groups]
    for site, cluster, group in groups:
        adapters = [group.adapter, group.fast_adapter]
        rates = {(each.interface, each.rate) for each in adapters if each}
        for number in radical.numbers(group.numbers):
            seen.append(f"{cluster.uid}-{number}")
            where, of, content = nodes[seen[-1]]
            assert (where, of) == (site.uid, cluster.uid)
            assert group.cores == content["architecture"]["nb_cores"]
            assert group.speed == content["performance"]["core_flops"]
            given = content["network_adapters"]
            assert {(each["interface"], each["rate"]) for each in given if each["mounted"]} == rates
            assert group.adapter.switch in {each.get("switch") for each in given}
    assert sorted(seen) == sorted(nodes)
    assert len(nodes) == 939


def test_sites_are_those_with_clusters(answer):
    facts, warnings = answer
    assert (len(facts.sites), facts.date) == (11, "2026-03")
    assert sum(len(site.clusters) for site in facts.sites) == 158
    about = ("site", "bordeaux")
    assert DataWarning("left-out", "sites/bordeaux", "bordeaux has no nodes", about) in warnings


def test_uplinks_that_were_looked_up_by_hand(answer):
    # In the files: nancy/sgravillon2 and sgros1 (40 Gbit/s ports to each other, sgros1 to gw);
    # rennes/gw lag1 (200), lag3 to swcore-01-rba (20), its port-channel50 (20);
    # lyon/salome 1 at its end, 10 at gw; nantes/gw bond_econome (20).
    uplinks = {
        (site.uid, uplink.switch): (uplink.towards, uplink.rate)
        for site in answer[0].sites
        for uplink in site.uplinks
    }
    known = """nancy sgravillon2 sgros1 40, nancy sgros1 gw 40, rennes sw-1 gw 200,
        rennes swdc-a035-01-02-rba swcore-01-rba 20, rennes swcore-01-rba gw 20,
        lyon salome gw 1, nantes econome-prod gw 20, sophia sw-9 sw-1 10"""
    for site, switch, towards, rate in (each.split() for each in known.split(",")):
        assert uplinks[site, switch] == (towards, float(rate) * 1e9)


def test_backbone_has_the_links_that_points_of_presence_list(answer, raw):
    points = [content for name, content in raw.items() if name.startswith("network_equipments/")]
    listed = {
        frozenset((point["uid"], port.get("site_uid", port["uid"])))
        for point in points
        for port in filter(None, point["linecards"][0]["ports"])
    }
    links = answer[0].backbone
    assert {frozenset(link.ends) for link in links if not link.assumed} == listed
    assumed = [("louvain", "renater-lille"), ("strasbourg", "renater-nancy")]
    assert [link.ends for link in links if link.assumed] == assumed
    assert {link.rate for link in links} == {10e9}


def test_warnings_name_what_is_odd_and_nothing_else(answer):
    kinds = Counter((warning.kind, warning.place) for warning in answer[1])
    assert kinds == {
        ("contradiction", "network_equipments/renater-lyon.json"): 1,  # toulouse lists lyon
        ("contradiction", "network_equipments/renater-sophia.json"): 1,  # 10 here, 25 at gw
        ("contradiction", "sites/toulouse/network_equipments/gw.json"): 1,  # no port to Renater
        ("contradiction", "sites/lyon/network_equipments/salome.json"): 1,  # 1 here, 10 at gw
        ("contradiction", "sites/lille/network_equipments/sw-1.json"): 1,  # lag2: 200, 2 x 25
        ("contradiction", "sites/grenoble/network_equipments/skinovis2-prod-01.json"): 1,
        ("left-out", "sites/grenoble/network_equipments/gw.json"): 1,  # drac-4 to drac-6
        ("left-out", "sites/grenoble/network_equipments/sw-ib-mellanox.json"): 1,
        ("left-out", "sites/bordeaux"): 1,
        ("assumed", "sites/louvain"): 1,
        ("assumed", "sites/strasbourg"): 1,
    }


def test_places_are_those_of_the_files(answer, raw):
    places = {place.name: (place.latitude, place.longitude) for place in answer[0].places}
    told = {
        content["uid"]: (content["latitude"], content["longitude"])
        for name, content in raw.items()
        if re.fullmatch(r"sites/(\w+)/\1\.json", name)
    }
    assert len(told) == 12
    assert places == told


def test_the_shipped_catalogue_is_made_of_it(answer):
    assert shipped_catalogue() == answer
    shipped = resources.files("simplugin.formats.grid5000") / SHIPPED
    assert catalogue_text(*answer) == shipped.read_text(encoding="utf-8")
