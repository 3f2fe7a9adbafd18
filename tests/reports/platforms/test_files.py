"""Drawings of platform files: those shipped, SimGrid's own, and others."""

import shutil
from functools import cache
from pathlib import Path

import pytest

from simplugin.errors import PlatformError
from simplugin.formats.platform_xml import read_platform
from simplugin.reports.platforms.drawing import platform_figure
from simplugin.reports.platforms.items import Detail, Survey

FILES = sorted((Path(__file__).parents[3] / "platforms_xml").glob("*.xml"))


@cache
def shipped(path):
    """A platform, read once for all tests; none changes it."""
    return read_platform(path)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_shipped_platform_is_drawn_legibly(path, texts_of, illegible):
    figure = platform_figure(shipped(path))
    width, height = figure.get_size_inches()
    assert width <= 1650 / 150
    assert height <= 13.5
    assert min(text.get_fontsize() for text in texts_of(figure)) >= 6.0
    assert illegible(texts_of(figure)) == []


DETAILS = [
    Detail(fold=2),
    Detail(hosts=False),
    Detail(hosts=False, sites=True, rows=2),
    Detail(hosts=False, sites=True, rows=0, boxes=3, frame=100),
    Detail(boxes=2),
]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_all_hosts_are_in_some_item(path):
    platform = shipped(path)
    for detail in (Detail(), *DETAILS):
        item = Survey(platform).item(detail)
        leaves = [each for each in item.walk() if each.kind != "zone"]
        assert sum(leaf.contents.host_count for leaf in leaves) == platform.host_count
        assert item.contents.host_count == platform.host_count


def test_every_platform_of_simgrid_is_drawn(simgrid_prefix, tmp_path, covered):
    examples = simgrid_prefix / "share/examples/platforms"
    if not examples.is_dir():
        pytest.skip(f"no platforms in {examples}; tools/build_simgrid.py puts them there")
    # Not where they are: files that include others, or that a reader refuses, are left out.
    directory = shutil.copytree(examples, tmp_path / "platforms")
    drawn = 0
    for path in sorted(directory.glob("*.xml"))[::2]:
        try:
            platform = read_platform(path)
        except PlatformError:
            continue
        if 0 < platform.host_count <= 100:
            drawn += 1
            assert covered(platform_figure(platform)) == [], path.name
    assert drawn > 15
