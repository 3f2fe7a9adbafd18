"""Platforms with their clusters written out, against what SimGrid and the writer make of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from simplugin import Cluster, Platform, Zone
from simplugin.errors import PlatformError
from simplugin.formats.expansion import expanded_platform
from simplugin.formats.platform_xml import read_platform, write_platform

PLATFORMS = Path(__file__).parents[2] / "platforms_xml"


@pytest.mark.parametrize("name", ["nancy", "three_sites"])
def test_it_is_what_writing_and_reading_gives(name: str, tmp_path: Path) -> None:
    platform = read_platform(PLATFORMS / f"{name}.xml")
    expanded = expanded_platform(platform)
    write_platform(platform, tmp_path / "expanded.xml", expand=True)
    assert expanded.elements == read_platform(tmp_path / "expanded.xml").elements
    assert not [part for part, _ in expanded.walk() if isinstance(part, Cluster)]
    assert list(expanded.host_names()) == list(platform.host_names())


def test_clusters_with_a_topology_cannot_be_written_out() -> None:
    torus = Cluster("t", "0-7", 1e9, 1e6, 0.0, topology="TORUS", topology_parameters="2,2,2")
    with pytest.raises(PlatformError, match="its topology is TORUS; leave the clusters as they"):
        expanded_platform(Platform(Zone("z", "Full", (torus,))))
