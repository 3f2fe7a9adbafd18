"""The condensed catalogue of Grid'5000."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simplugin.errors import PlatformError
from simplugin.formats.grid5000.catalogue import (
    SHIPPED,
    catalogue_text,
    read_catalogue,
    read_facts,
    shipped_catalogue,
    write_catalogue,
)
from simplugin.formats.grid5000.reference import read_reference
from simplugin.platforms.grid5000.facts import (
    Adapter,
    BackboneLink,
    ClusterFacts,
    Grid5000,
    NodeGroup,
    Place,
    Remark,
    SiteFacts,
    Uplink,
)

CHECKOUT = Path(__file__).resolve().parents[2]

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
# What a name in the facts may be made of; XML is strict about the rest.
NAME = st.text(st.sampled_from("abé-.\"'\\ 1"), min_size=1, max_size=5)
RATE = st.floats(1e-3, 1e25) | st.integers(1, 10**20).map(float)
ADAPTER = st.builds(Adapter, NAME, RATE, TEXT)
GROUP = st.builds(
    NodeGroup,
    st.sampled_from(["1", "1-3,7", "0-9"]),
    st.integers(1, 10**6),
    RATE,
    ADAPTER,
    st.none() | ADAPTER,
)
CLUSTER = st.builds(ClusterFacts, NAME, st.lists(GROUP, max_size=2).map(tuple))
SITE = st.builds(
    SiteFacts,
    NAME,
    NAME,
    st.lists(CLUSTER, max_size=3).map(tuple),
    st.lists(st.builds(Uplink, NAME, NAME, RATE), max_size=2).map(tuple),
)
FACTS = st.builds(
    Grid5000,
    TEXT,
    st.lists(SITE, max_size=3).map(tuple),
    st.lists(st.builds(BackboneLink, st.tuples(NAME, NAME), RATE, st.booleans()), max_size=3).map(
        tuple
    ),
    st.lists(st.builds(Place, NAME, st.floats(-90, 90), st.floats(-180, 180)), max_size=2).map(
        tuple
    ),
)
ABOUT = st.lists(TEXT, max_size=4).map(tuple)
REMARKS = st.lists(st.builds(Remark, TEXT, TEXT, TEXT, ABOUT), max_size=2).map(tuple)


@given(FACTS, REMARKS)
def test_what_is_written_is_read_back_exactly(
    tmp_path_factory: pytest.TempPathFactory, facts: Grid5000, remarks: tuple[Remark, ...]
) -> None:
    path = tmp_path_factory.getbasetemp() / "catalogue.json"
    write_catalogue(facts, remarks, path)
    assert read_catalogue(path) == (facts, remarks)
    assert read_facts(path) == (facts, remarks)
    assert path.read_text(encoding="utf-8") == catalogue_text(facts, remarks)


def test_the_shipped_one_is_made_of_the_reference(shared_data: Path, tmp_path: Path) -> None:
    reference = shared_data / "grid5000/reference-2026-03.tar.xz"
    if not reference.is_file():
        pytest.skip(f"there is no {reference}")
    facts, remarks = read_reference(reference)
    assert shipped_catalogue() == (facts, remarks) == read_facts(reference)
    path = tmp_path / SHIPPED
    write_catalogue(facts, remarks, path)
    assert path.read_bytes() == (CHECKOUT / "simplugin/formats/grid5000" / SHIPPED).read_bytes()


def test_the_shipped_one_is_small_with_a_line_a_group() -> None:
    path = CHECKOUT / "simplugin/formats/grid5000" / SHIPPED
    facts, _ = shipped_catalogue()
    groups = sum(len(cluster.groups) for site in facts.sites for cluster in site.clusters)
    lines = path.read_text(encoding="utf-8").splitlines()
    assert sum('"numbers"' in line for line in lines) == groups
    assert path.stat().st_size < 100_000
    assert facts.date == "2026-03"
    assert sum(site.node_count for site in facts.sites) == 939
    assert '"source": "Grid\'5000 reference repository, https://gitlab.inria.fr' in lines[3]


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ('"cores": 18,', '"cores": 18.5,', "cores", "cores is 18.5; give a whole number"),
        ('"cores": 18,', '"cores": true,', "cores", "cores is True; give a whole number"),
        ('"cores": 18,', '"cores": 0,', "numbers", "cores of nodes"),
        ('"cores": 18,', "", "numbers", "key .*cores' is missing"),
        ('"cores": 18,', '"cores": 18, "disks": 2,', "numbers", "unknown key .*disks"),
        ('"cores": 18,', '"cores": 18, "cores": 18,', "cores", "there are two of this name"),
        ('"1-124"', '"1-x"', "numbers", "malformed"),
        (
            '["Ethernet", 25000000000',
            '["Ethernet", "25 Gbps"',
            "adapter",
            "adapter.rate is '25 Gbps'; give a number",
        ),
        ('["Ethernet", 25000000000', '["Ethernet", -1', "adapter", "rate"),
        ('["Ethernet", 25000000000', '["Ethernet", 0', "adapter", "rate"),
        (
            '["Ethernet", 25000000000',
            '["Ethernet"',
            "adapter",
            "give a list of interface, rate, switch",
        ),
        ('"assumed": true', '"assumed": 1', "assumed", "assumed is 1; give true or false"),
        ('"ends": ["louvain", ', '"ends": [', "ends", "at least 2 items"),
        ('["lille", 50.65, ', '["lille", 500.65, ', "lille", "the place of 'lille' is 500.65"),
        ('["lille", 50.65, ', '["lille", 150.65, ', "lille", "the place of 'lille' is 150.65"),
        ('["lille", 50.65, ', '["lille", true, ', "lille", "latitude is True; give a number"),
        (', ["site", "bordeaux"]]', "]", "left-out", "give a list of kind, place, message, about"),
    ],
)
def test_wrong_catalogues_are_refused_with_the_line(
    old: str, new: str, line: str, message: str, tmp_path: Path
) -> None:
    text = (CHECKOUT / "simplugin/formats/grid5000" / SHIPPED).read_text(encoding="utf-8")
    assert old in text
    broken = text.replace(old, new, 1)
    path = tmp_path / "catalogue.json"
    path.write_text(broken, encoding="utf-8")
    with pytest.raises(PlatformError, match=message) as caught:
        read_catalogue(path)
    pairs = zip(text.splitlines(), broken.splitlines(), strict=True)
    changed = [at for at, (a, b) in enumerate(pairs, start=1) if a != b]
    assert [caught.value.line] == changed
    assert line in broken.splitlines()[changed[0] - 1]
    assert caught.value.remedy


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "no",
        '{"format": "simplugin catalogue of Grid\'5000, version 2"}',
        '{"format": "simplugin catalogue of Grid\'5000, version 1"}',
        '{"format": ["simplugin"]}',
    ],
)
def test_what_is_no_catalogue_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text(text)
    for read in (read_catalogue, read_facts):
        with pytest.raises(PlatformError) as caught:
            read(path)
        assert caught.value.file == path
        assert caught.value.remedy
        assert "--reference PATH" not in caught.value.remedy


def test_cut_catalogue_is_refused(tmp_path: Path) -> None:
    text = (CHECKOUT / "simplugin/formats/grid5000" / SHIPPED).read_text(encoding="utf-8")
    path = tmp_path / "catalogue.json"
    for length in (len(text) // 3, len(text) - 3):
        path.write_text(text[:length], encoding="utf-8")
        with pytest.raises(PlatformError, match="this is no JSON"):
            read_facts(path)


def test_a_catalogue_of_other_numbers_is_the_same_json(tmp_path: Path) -> None:
    facts, remarks = shipped_catalogue()
    path = tmp_path / "indented.json"
    path.write_text(json.dumps(json.loads(catalogue_text(facts, remarks)), indent=2))
    assert read_catalogue(path) == (facts, remarks)


def test_lost_directories_are_named(tmp_path: Path) -> None:
    with pytest.raises(PlatformError, match="No such file"):
        write_catalogue(Grid5000("", ()), (), tmp_path / "lost" / "catalogue.json")
    with pytest.raises(PlatformError, match="No such file"):
        read_facts(tmp_path / "lost")
