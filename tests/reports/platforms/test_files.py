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
def test_every_shipped_platform_is_drawn_legibly(path, texts_of, covered):
    figure = platform_figure(shipped(path))
    width, height = figure.get_size_inches()
    assert width <= 1650 / 150
    assert height <= 13.5
    assert min(text.get_fontsize() for text in texts_of(figure)) >= 6.0
    assert covered(figure) == []
    for text in texts_of(figure):
        left, low, right, high = text.get_window_extent().extents
        assert left >= 0
        assert low >= 0
        assert right <= figure.bbox.width
        assert high <= figure.bbox.height


@pytest.mark.parametrize(
    "detail",
    [
        Detail(),
        Detail(fold=2),
        Detail(hosts=False),
        Detail(hosts=False, sites=True, rows=2),
        Detail(hosts=False, sites=True, rows=0, boxes=3),
        Detail(hosts=False, sites=True, rows=0, boxes=3, frame=100),
        Detail(boxes=2),
    ],
)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_all_hosts_are_in_some_item(path, detail):
    platform = shipped(path)
    item = Survey(platform).item(detail)
    leaves = [each for each in item.walk() if each.kind != "zone"]
    assert sum(leaf.contents.host_count for leaf in leaves) == platform.host_count
    assert item.contents.host_count == platform.host_count


def all_platforms(directory):
    for path in sorted(directory.rglob("*.xml")):
        text = path.read_text(encoding="utf-8", errors="replace")
        if "<platform" in text and any(tag in text for tag in ("<zone", "<AS", "<cluster")):
            try:
                platform = read_platform(path)
            except PlatformError:
                continue
            if platform.host_count:
                yield path.stem, platform


def test_every_platform_of_simgrid_is_drawn(simgrid_prefix, tmp_path, covered):
    share = simgrid_prefix / "share"
    if not (share / "examples/platforms").is_dir():
        pytest.skip(f"no example platforms in {share}; tools/build_simgrid.py puts them there")
    for name in ("examples/platforms", "teshsuite"):
        shutil.copytree(share / name, tmp_path / name)
    drawn, wrong = 0, []
    for name, platform in all_platforms(tmp_path):
        figure = platform_figure(platform)
        drawn += 1
        if covered(figure):
            wrong.append((name, covered(figure)))
    assert drawn > 60
    assert wrong == []


def test_shared_platforms_are_drawn(shared_data):
    drawn = [
        name
        for name, platform in all_platforms(shared_data / "platforms")
        if platform_figure(platform)
    ]
    assert len(drawn) >= 5
