"""Shipped platforms and deployments are what the command in their first comment makes."""

import re
import shlex
from pathlib import Path

import pytest

from simplugin.formats.check import check
from simplugin.formats.platform_xml import read_platform
from simplugin.platforms.census import census_of, telling_pairs
from simplugin.simulation.resolve import load

ROOT = Path(__file__).parents[2]
PLATFORMS = sorted((ROOT / "platforms_xml").glob("*.xml"))
DEPLOYMENTS = sorted((ROOT / "deployments").glob("*.xml"))
# Pricing and bags use hosts that have routes to their neighbours only.
NEIGHBOURS_ONLY = {"five_hosts", "tree"}


@pytest.mark.parametrize("file", [*PLATFORMS, *DEPLOYMENTS], ids=lambda file: file.stem)
def test_a_file_is_what_its_command_makes(file, tmp_path, simplugin):
    match = re.search("<!-- (.*?) -->", file.read_text(encoding="utf-8"))
    assert match is not None
    words = shlex.split(match[1])
    path = file.relative_to(ROOT).as_posix()
    assert words[0] == "simplugin"
    assert words[-2:] == ["-o", path]
    made = tmp_path / file.name
    simplugin(*words[1:-1], made, cwd=ROOT).check_returncode()
    assert made.read_bytes().replace(str(made).encode(), path.encode()) == file.read_bytes()


@pytest.mark.parametrize("file", PLATFORMS, ids=lambda file: file.stem)
def test_simgrid_counts_the_same_and_all_hosts_reach_each_other(file):
    platform = read_platform(file)
    pairs = telling_pairs(platform)
    assert pairs.complete
    # The first of many pairs are a sample.
    loading = load(file, pairs.pairs[:500])
    counted = census_of(platform).computing
    assert (counted.hosts, counted.cores) == (loading.hosts, loading.cores)
    assert counted.speed == pytest.approx(loading.speed, rel=1e-12)
    if file.stem in NEIGHBOURS_ONLY:
        assert loading.unreachable
        assert [finding.severity for finding in check([file])] == ["warning"]
        return
    assert loading.unreachable == ()
    assert check([file]) == []
