"""Drawings of platform files: those shipped, SimGrid's own, and others."""

import contextlib
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


COARSE = Detail(hosts=False, sites=True, rows=0, boxes=3, frame=100)
DETAILS = [Detail(), Detail(fold=2), Detail(hosts=False), Detail(boxes=2), COARSE]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_all_hosts_are_in_some_item(path):
    platform = shipped(path)
    for detail in DETAILS:
        item = Survey(platform).item(detail)
        leaves = [each.contents.host_count for each in item.walk() if each.kind != "zone"]
        assert sum(leaves) == item.contents.host_count == platform.host_count


def test_every_platform_of_simgrid_is_drawn(simgrid_prefix, covered):
    examples = simgrid_prefix / "share/examples/platforms"
    if not examples.is_dir():
        pytest.skip(f"no platforms in {examples}; tools/build_simgrid.py puts them there")
    # Files that the reader refuses are left out.
    drawn = 0
    for path in sorted(examples.glob("*.xml"))[::2]:
        with contextlib.suppress(PlatformError):
            platform = read_platform(path)
            if 0 < platform.host_count <= 100:
                drawn += 1
                assert covered(platform_figure(platform)) == [], path.name
    assert drawn > 15
