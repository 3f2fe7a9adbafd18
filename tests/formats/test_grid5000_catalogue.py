"""The condensed catalogue of Grid'5000."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked import assert_refused

from simplugin.errors import PlatformError
from simplugin.formats.grid5000.catalogue import (
    SHIPPED,
    read_catalogue,
    read_facts,
    shipped_catalogue,
    write_catalogue,
)
from simplugin.platforms.grid5000.facts import Grid5000

CHECKOUT = Path(__file__).resolve().parents[2]
SHIPPED_TEXT = (CHECKOUT / "simplugin/formats/grid5000" / SHIPPED).read_text(encoding="utf-8")


def test_the_shipped_one_is_small_with_a_line_a_group() -> None:
    facts, _ = shipped_catalogue()
    groups = sum(len(cluster.groups) for site in facts.sites for cluster in site.clusters)
    lines = SHIPPED_TEXT.splitlines()
    assert sum('"numbers"' in line for line in lines) == groups
    assert len(SHIPPED_TEXT) < 100_000
    assert facts.date == "2026-03"
    assert sum(site.node_count for site in facts.sites) == 939
    assert '"source": "Grid\'5000 reference repository, https://gitlab.inria.fr' in lines[3]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"cores": 18,', '"cores": ¶18.5,', "cores is 18.5; give a whole number"),
        ('"cores": 18,', '¶"cores": 0,', "cores of nodes"),
        ('"cores": 18,', "¶", "cores' is missing"),
        ('"cores": 18,', '"cores": 18, "disks": 2,¶', "disks"),
        ('"1-124"', '¶"1-x"', "malformed"),
        ('["Ethernet", 25000000000', '["Ethernet", ¶"25 Gbps"', "adapter.1 is '25 Gbps'; give"),
        ('["Ethernet", 25000000000', '["Ethernet", ¶0', "rate"),
        ('["Ethernet", 25000000000', '¶["Ethernet"', "give a list of interface, rate, switch"),
        ('"assumed": true', '"assumed": ¶1', "assumed is 1; give true or false"),
        ('"ends": ["louvain", ', '"ends": ¶[', "give at least 2"),
        ('["lille", 50.65, ', '["lille", ¶150.65, ', "the place of 'lille' is 150.65"),
        (', ["site", "bordeaux"]]', "¶]", "give a list of kind, place, message, about"),
    ],
)
def test_wrong_catalogues_are_refused_with_the_line(
    old: str, new: str, message: str, tmp_path: Path
) -> None:
    assert old in SHIPPED_TEXT
    text = SHIPPED_TEXT.replace(old, new, 1)
    assert_refused(read_catalogue, tmp_path / "catalogue.json", text, message)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", SHIPPED_TEXT.replace(" 1", " 2", 1), '{"format": ["simplugin"]}']
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


def test_lost_directories_are_named(tmp_path: Path) -> None:
    with pytest.raises(PlatformError, match="No such file"):
        write_catalogue(Grid5000("", ()), (), tmp_path / "lost" / "catalogue.json")
    with pytest.raises(PlatformError, match="No such file"):
        read_facts(tmp_path / "lost")
